"""Box plots in groups on a narrow page: a group for each scheme, a colour for each attribute."""

import json
from collections.abc import Sequence

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.evaluate.accuracy.summaries import FIVE
from perrecord.report.charts import nothing
from perrecord.report.panels import Panels, in_panels
from perrecord.report.scales import log_scale
from perrecord.report.theme import BAD, COLOURS, GOOD, ChartSpec

_BOX = 4
"""How many pixels wide a box is."""

_LIMITS = ((0.05, GOOD), (0.2, BAD))


def grouped_boxes(
    table: pa.Table, *, group: str, colour: str, y_title: str, panels: Panels
) -> ChartSpec:
    """Return the boxes of a table, those of a group side by side, panels below each other.

    Boxes are placed by numbers, 1 from group to group: offsets of Vega-Lite put whiskers beside
    their boxes.
    """
    shown = table.filter(pc.is_valid(table["middle"]))
    values = [value for name in FIVE for value in shown[name].to_pylist()]
    scale = log_scale([*values, *(limit for limit, _ in _LIMITS)])
    if scale is None or not values:
        return nothing("narrow")
    groups, colours = panels.order(shown, group), panels.order(shown, colour)
    for place, name in enumerate(shown.column_names):
        if name in FIVE:
            clipped = pa.array(scale.clipped(shown[name].to_pylist()), pa.float64())
            shown = shown.set_column(place, name, clipped)
    shown = shown.append_column("place", pa.array(_places(shown, group, colour, groups, colours)))
    across = alt.X("place:Q", title=None).scale(domain=[-0.5, len(groups) - 0.5], nice=False)
    base = alt.Chart(shown).encode(
        x=across.axis(
            values=list(range(len(groups))),
            labelExpr=f"{json.dumps(groups)}[datum.value]",
            labelAngle=-90,
            labelLimit=0,
            grid=False,
            ticks=False,
            domain=False,
        ),
        color=alt.Color(f"{colour}:N", sort=None, title=None)
        .scale(domain=colours, range=list(COLOURS[: len(colours)]))
        .legend(orient="top", columns=3),
    )
    up = alt.Scale(type="log", domain=[scale.low, scale.high], nice=False)

    def y(name: str) -> alt.Y:
        return alt.Y(f"{name}:Q", title=y_title, scale=up).axis(**scale.axis("percent"))

    layers = [
        base.mark_rule(strokeWidth=1.2).encode(y=y("low"), y2="high:Q"),
        base.mark_bar(opacity=0.4, width=_BOX).encode(y=y("lower"), y2="upper:Q"),
        base.mark_tick(thickness=2.5, width=_BOX, orient="horizontal").encode(y=y("middle")),
        *(
            alt.Chart(shown).mark_rule(strokeDash=[4, 3], color=shade).encode(y=alt.datum(value))
            for value, shade in _LIMITS
        ),
    ]
    return in_panels(layers, shown, "narrow", panels)


def _places(
    table: pa.Table, group: str, colour: str, groups: Sequence[str], colours: Sequence[str]
) -> list[float]:
    """Return where each box stands: colours take eight tenths of the way to the next group."""
    step = 0.8 / len(colours)
    middle = (len(colours) - 1) / 2
    return [
        groups.index(one) + (colours.index(other) - middle) * step
        for one, other in zip(table[group].to_pylist(), table[colour].to_pylist(), strict=True)
    ]
