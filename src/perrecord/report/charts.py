"""Charts for reports: boxes, shares, curves and points, as Vega-Lite made with Altair.

Every chart takes a table of the numbers it shows, a column for each role, and a width: panels
stand side by side on wide paper and below each other on a telephone. Names of categories go to
Vega as data alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.report.panels import Panels, harmless, in_panels, panel_width, written
from perrecord.report.scales import AxisScale, log_scale
from perrecord.report.theme import BAD, COLOURS, DASHES, GOOD, SHAPES, TOTAL, ChartSpec, Width

__all__ = ["Axis", "Panels", "boxes", "curves", "nothing", "points", "shares"]

_LABEL_WIDTH = 150
_WIDEST = 40
_LETTER = 6.5
_SYMBOL = 34
_LEGEND_WIDTH = {"wide": 280, "narrow": 240}
"""Pixels: of a letter, of a legend's symbol, of a whole entry at most."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A column of the table on a logarithmic axis: its title, and whether it is in per cent."""

    column: str
    title: str
    unit: Literal["number", "percent"] = "number"


_ONE = Panels()


def boxes(
    table: pa.Table,
    width: Width,
    *,
    x: str,
    colour: str,
    y_title: str,
    panels: Panels = _ONE,
    side_by_side: bool = False,
    limits: Sequence[tuple[float, str]] = ((0.05, GOOD), (0.2, BAD)),
    least: float = 0.0,
) -> ChartSpec:
    """Return box plots from five numbers each: columns low, lower, middle, upper and high.

    Boxes without numbers are left out; the values behind them never get here. Limits are drawn as
    dashed lines. Numbers below the least stretch no axis on which others are above it: they stand
    at its lower edge.
    """
    table = harmless(table)
    five = ("low", "lower", "middle", "upper", "high")
    whole = table.filter(pc.is_valid(table["middle"])) if table.num_rows else table
    values = [value for name in five for value in _numbers(whole, name)]
    spanned = [value for value in values if value >= least] or values
    scale = log_scale([*spanned, *(value for value, _ in limits)])
    if scale is None or not any(value > 0 for value in values):
        return nothing(width)
    whole = whole.filter(pc.greater(whole["high"], 0))
    for name in five:
        whole = _replaced(whole, name, scale.clipped(_numbers(whole, name)))
    order = panels.order(table, x)
    base = alt.Chart(whole).encode(
        x=alt.X(f"{x}:N", sort=None, title=None, scale=alt.Scale(domain=order)).axis(
            labelAngle=-90, labelLimit=_LABEL_WIDTH, ticks=False, domain=False
        ),
        color=_colour(panels.order(table, colour), colour, width),
    )
    if side_by_side:
        base = base.encode(
            xOffset=alt.XOffset(f"{colour}:N", sort=None).scale(domain=panels.order(table, colour))
        )
    y = _y(scale, y_title, "percent")
    beside = len(panels.order(table, colour)) if side_by_side else 1
    # In pixels: parts of a band are not centred where bands stand side by side.
    size = min(_WIDEST, 0.6 * panel_width(whole, width, panels) / len(order) / beside)
    layers = [
        base.mark_rule(strokeWidth=1.2).encode(y=y("low"), y2="high:Q"),
        base.mark_bar(opacity=0.4, size=size).encode(y=y("lower"), y2="upper:Q"),
        base.mark_tick(thickness=2.5, size=size).encode(y=y("middle")),
        *(
            alt.Chart(whole).mark_rule(strokeDash=[4, 3], color=shade).encode(y=alt.datum(value))
            for value, shade in limits
        ),
    ]
    return in_panels(layers, whole, width, panels)


def shares(
    table: pa.Table,
    width: Width,
    *,
    colour: str,
    x_title: str,
    y_title: str,
    panels: Panels = _ONE,
    rule: float | None = None,
) -> ChartSpec:
    """Return empirical distribution functions: columns value and share, a step at each value.

    A value of 0 has no place on a logarithmic axis; it stands at the left edge, marked 0.
    """
    table = harmless(table)
    scale = log_scale(_numbers(table, "value"), with_zero=True)
    if scale is None:
        return nothing(width)
    whole = _from_zero(table, [each for each in (colour, panels.column, panels.row) if each])
    whole = _replaced(whole, "value", scale.clipped(_numbers(whole, "value")))
    order = panels.order(table, colour)
    line = (
        alt.Chart(whole)
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            x=_x(scale, x_title)("value"),
            y=alt.Y("share:Q", title=y_title, scale=alt.Scale(domain=[0, 1])).axis(format=".0%"),
            color=_colour(order, colour, width),
            strokeDash=_dash(order, colour),
            order=alt.Order("share:Q"),  # up along the first value, then from step to step
        )
    )
    layers = [line]
    if rule is not None and rule > 0:
        mark = alt.Chart(whole).mark_rule(strokeDash=[4, 3], color=GOOD)
        layers.append(mark.encode(x=alt.datum(scale.clipped([rule])[0])))
    return in_panels(layers, whole, width, panels)


def _from_zero(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the table with a row at the least value of every line, where the share is still 0."""
    least: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in table.to_pylist():
        key = tuple(row[name] for name in names)
        if key not in least or row["value"] < least[key]["value"]:
            least[key] = row
    first = [{**row, "share": 0.0} for row in least.values()]
    return pa.concat_tables([pa.Table.from_pylist(first, table.schema), table])


def curves(
    table: pa.Table,
    width: Width,
    *,
    x: Axis,
    y: Axis,
    colour: str,
    panels: Panels = _ONE,
    with_points: bool = False,
    steps: bool = False,
) -> ChartSpec:
    """Return lines of one column against another; with steps, each value holds up to its x."""
    table = harmless(table)
    whole, across, up = _on_scales(table, x, y)
    if across is None or up is None:
        return nothing(width)
    order = panels.order(table, colour)
    line = (
        alt.Chart(whole)
        .mark_line(
            strokeWidth=1.8,
            point={"size": 36} if with_points else False,
            interpolate="step-before" if steps else "linear",
        )
        .encode(
            x=_x(across, x.title, x.unit)(x.column),
            y=_y(up, y.title, y.unit)(y.column),
            color=_colour(order, colour, width),
            strokeDash=_dash(order, colour),
        )
    )
    return in_panels([line], whole, width, panels)


def points(
    table: pa.Table,
    width: Width,
    *,
    x: Axis,
    y: Axis,
    colour: str,
    panels: Panels = _ONE,
) -> ChartSpec:
    """Return a point for each row; the legend says which colour and shape is what."""
    table = harmless(table)
    whole, across, up = _on_scales(table, x, y)
    if across is None or up is None:
        return nothing(width)
    order = panels.order(table, colour)
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(order))]
    dots = (
        alt.Chart(whole)
        .mark_point(filled=True, size=75, opacity=0.85)
        .encode(
            x=_x(across, x.title, x.unit)(x.column),
            y=_y(up, y.title, y.unit)(y.column),
            color=_colour(order, colour, width),
            shape=alt.Shape(f"{colour}:N", sort=None, title=None).scale(domain=order, range=shapes),
        )
    )
    return in_panels([dots], whole, width, panels)


def _on_scales(
    table: pa.Table, x: Axis, y: Axis
) -> tuple[pa.Table, AxisScale | None, AxisScale | None]:
    """Return the rows that have both numbers, moved into the ends of their axes."""
    if not table.num_rows:
        return table, None, None
    known = table.filter(pc.and_(pc.is_valid(table[x.column]), pc.is_valid(table[y.column])))
    scales = []
    for axis in (x, y):
        numbers = _numbers(known, axis.column)
        scale = log_scale(numbers)
        scales.append(scale)
        if scale is not None:
            known = _replaced(known, axis.column, scale.clipped(numbers))
    return known, scales[0], scales[1]


def nothing(width: Width) -> ChartSpec:
    """Return a picture that says that there is nothing to show."""
    words = alt.Chart(pa.table({"text": ["nothing to show"]})).mark_text(fontSize=13)
    chart = words.encode(text="text:N").properties(width=TOTAL[width] - 40, height=80)
    return written(chart)


# -- parts ------------------------------------------------------------------------------------


def _colour(order: Sequence[str], name: str, width: Width) -> Any:
    longest = max(map(len, order), default=1) * _LETTER + _SYMBOL
    columns = max(1, int((TOTAL[width] - 90) // min(longest, _LEGEND_WIDTH[width])))
    return (
        alt.Color(f"{name}:N", sort=None, title=None)
        .scale(domain=list(order), range=[COLOURS[n % len(COLOURS)] for n in range(len(order))])
        .legend(orient="top", columns=columns, labelLimit=_LEGEND_WIDTH[width] - _SYMBOL)
    )


def _dash(order: Sequence[str], name: str) -> Any:
    return alt.StrokeDash(f"{name}:N", sort=None, title=None).scale(
        domain=list(order),
        range=[DASHES[(n + n // len(COLOURS)) % len(DASHES)] for n in range(len(order))],
    )


def _x(scale: AxisScale, title: str, unit: str = "number") -> Any:
    return lambda name: alt.X(f"{name}:Q", title=title, scale=_log(scale)).axis(
        **scale.axis(unit), labelOverlap="greedy"
    )


def _y(scale: AxisScale, title: str, unit: str) -> Any:
    return lambda name: alt.Y(f"{name}:Q", title=title, scale=_log(scale)).axis(**scale.axis(unit))


def _log(scale: AxisScale) -> Any:
    return alt.Scale(type="log", domain=[scale.low, scale.high], nice=False)


def _numbers(table: pa.Table, name: str) -> list[float]:
    return [float(each) for each in table[name].to_pylist()] if table.num_rows else []


def _replaced(table: pa.Table, name: str, values: Sequence[float]) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values, pa.float64()))
