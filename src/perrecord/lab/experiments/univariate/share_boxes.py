"""Boxes of errors that stand where the share of records above the least loss puts them."""

from typing import Any

import altair as alt
import pyarrow as pa

from perrecord.evaluate.accuracy.summaries import FIVE
from perrecord.lab.experiments.panels import in_grid
from perrecord.report.charts import nothing
from perrecord.report.scales import AxisScale, log_scale
from perrecord.report.theme import BAD, COLOURS, GOOD, INK, ChartSpec, Width

Row = dict[str, Any]

LIMITS = ((0.1, GOOD), (1.0, BAD))
"""The paper's green line at 10 % and red line at 100 %."""

_HEIGHT: dict[Width, int] = {"wide": 230, "narrow": 210}
_BOX = 13
_SHADE = COLOURS[0]
_ROOM = 3.0
"""Times which the axis goes on beyond the highest whisker, for the threshold above it."""


def share_boxes(
    table: pa.Table, width: Width, *, row: str | None, column: str, x_title: str, y_title: str
) -> ChartSpec:
    """Return box plots at numeric places, both axes logarithmic, a threshold over each box.

    Columns: share (of the records, 0 at the left edge), the five numbers and threshold; boxes
    without numbers are left out.
    """
    rows = [each for each in table.to_pylist() if each["middle"] is not None and each["high"] > 0]
    across = log_scale([each["share"] for each in rows], with_zero=True)
    limits = [value for value, _ in LIMITS]
    up = log_scale([*limits, *(_ROOM * each["high"] for each in rows), *_lows(rows)])
    if not rows or across is None or up is None:
        return nothing(width)
    whole = pa.Table.from_pylist([_within(each, across, up) for each in rows])
    x = alt.X("share:Q", title=x_title).axis(
        **across.axis("percent"), labelOverlap="greedy", labelFlush=True
    )
    x = x.scale(type="log", domain=[across.low, across.high], nice=False)

    def y(name: str) -> alt.Y:
        found = alt.Y(f"{name}:Q", title=y_title).axis(**up.axis("percent"))
        return found.scale(type="log", domain=[up.low, up.high], nice=False)

    base = alt.Chart().encode(x=x)
    written = base.mark_text(angle=270, align="left", dx=4, fontSize=10)
    labels = written.encode(y=y("high"), text="threshold:N")
    layers = [
        base.mark_rule(strokeWidth=1.2, color=_SHADE).encode(y=y("low"), y2="high:Q"),
        *(
            alt.Chart().mark_rule(strokeDash=[4, 3], color=shade).encode(y=alt.datum(value))
            for value, shade in LIMITS
        ),
        base.mark_rule(strokeWidth=_BOX, color=_SHADE, opacity=0.4).encode(
            y=y("lower"), y2="upper:Q"
        ),
        base.mark_tick(thickness=2.5, size=_BOX, color=_SHADE, orient="horizontal").encode(
            y=y("middle")
        ),
        labels.encode(stroke=alt.value("white"), strokeWidth=alt.value(4)),  # clear of the lines
        labels.encode(color=alt.value(INK)),
    ]
    return in_grid(layers, whole, width, row=row, column=column, height=_HEIGHT[width])


def _lows(rows: list[Row]) -> list[float]:
    return [each["low"] for each in rows]


def _within(row: Row, across: AxisScale, up: AxisScale) -> Row:
    """Return a row moved into the ends of its axes."""
    moved = dict(zip(FIVE, up.clipped(row[name] for name in FIVE), strict=True))
    place = across.clipped([row["share"]])[0]
    return {**row, **moved, "share": place, "threshold": _short(row["threshold"])}


def _short(threshold: int) -> str:
    return f"{threshold // 1000}k" if threshold % 1000 == 0 else str(threshold)
