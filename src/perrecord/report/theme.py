"""How every figure looks: sizes, type, colours, and the Vega-Lite configuration that says so."""

from typing import Any, Literal

ChartSpec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""

Width = Literal["wide", "narrow"]
"""For a page on a desk or in print, or for a telephone."""

TOTAL: dict[Width, int] = {"wide": 920, "narrow": 340}
"""The width of a whole picture in pixels."""

FONT = "Arial, 'Liberation Sans', Helvetica, 'Nimbus Sans', 'DejaVu Sans Condensed', sans-serif"
"""Fonts of nearly the same widths, because a browser draws text that was measured elsewhere."""

LABEL_SIZE = 11
TITLE_SIZE = 12
LINE_HEIGHT = 14

INK = "#1d2426"
SOFT = "#566064"
GRID = "#e6e6e3"
AXIS = "#8b9295"
GOOD = "#1a7f37"
BAD = "#b42318"

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#8c6d1f",
)  # fmt: skip
"""Okabe and Ito's palette for the colour-blind; its yellow is darkened for white paper."""

DASHES: tuple[list[int], ...] = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

PADDING = {"left": 4, "top": 4, "right": 10, "bottom": 8}
"""Free on all sides, more where text ends that a browser may draw a little longer."""

_CONFIG: ChartSpec = {
    "font": FONT,
    "aria": False,
    "padding": PADDING,
    "view": {"stroke": None},
    "concat": {"spacing": 16},
    "axis": {
        "labelFont": FONT,
        "labelFontSize": LABEL_SIZE,
        "labelColor": SOFT,
        "labelPadding": 4,
        "labelLimit": 0,
        "titleFont": FONT,
        "titleFontSize": TITLE_SIZE,
        "titleFontWeight": "normal",
        "titleColor": INK,
        "titlePadding": 8,
        "titleLimit": 0,
        "gridColor": GRID,
        "domainColor": AXIS,
        "tickColor": AXIS,
        "tickSize": 4,
    },
    "header": {"labelFontSize": TITLE_SIZE, "titleFontSize": TITLE_SIZE},
    "legend": {
        "orient": "top",
        "labelFontSize": LABEL_SIZE,
        "labelLimit": 0,
        "titleFontSize": TITLE_SIZE,
        "titleFontWeight": "normal",
    },
    "title": {"anchor": "start", "fontSize": TITLE_SIZE, "color": INK, "limit": 0},
    "range": {"category": list(COLOURS)},
}


def themed(spec: ChartSpec) -> ChartSpec:
    """Return the specification with our looks; what it configures itself is kept.

    >>> themed({"mark": "bar", "config": {"axis": {"grid": False}}})["config"]["axis"]["grid"]
    False
    """
    return {
        "background": "white",
        **spec,
        "config": _merged(_CONFIG, spec.get("config", {})),
    }


def _merged(below: ChartSpec, above: ChartSpec) -> ChartSpec:
    """Return both, the one above winning, key by key."""
    found = dict(below)
    for key, value in above.items():
        is_part = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = _merged(found[key], value) if is_part else value
    return found
