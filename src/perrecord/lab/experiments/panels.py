"""Charts in a grid of panels: side by side on wide paper, in one column on a telephone."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pyarrow as pa

from perrecord.report.panels import written
from perrecord.report.theme import TOTAL, ChartSpec, Width

_GAP = 14
_MARGIN = {"wide": 116, "narrow": 90}
_JOINED = "row_and_column"
_BETWEEN = " · "


def in_grid(
    layers: Sequence[alt.Chart],
    table: pa.Table,
    width: Width,
    *,
    row: str | None,
    column: str,
    height: int,
) -> ChartSpec:
    """Return the layers once for each row and column of the table, with one legend for all.

    Every row meets every column; both are in the order in which the table names them.
    """
    columns, rows = _order(table, column), [] if row is None else _order(table, row)
    joined = [_BETWEEN.join(each) for each in _joined(table, row, column)]
    data = table.append_column(_JOINED, pa.array(joined))
    beside = len(columns) if width == "wide" else 1
    inner = (TOTAL[width] - _MARGIN[width] - _GAP * (beside - 1)) // beside
    chart: Any = alt.layer(*layers, data=data).properties(width=inner, height=height)
    across = alt.Column(f"{column}:N", sort=columns, title=None)
    if width == "wide" and row is not None:
        down = alt.Row(f"{row}:N", sort=rows, title=None)
        return written(chart.facet(column=across, row=down, spacing=_GAP))
    if width == "wide":
        return written(chart.facet(column=across, spacing=_GAP))
    below = alt.Facet(f"{_JOINED}:N", sort=list(dict.fromkeys(joined)), title=None)
    chart = chart.facet(below, columns=1, spacing=_GAP)
    return written(chart.resolve_axis(x="independent"))


def _order(table: pa.Table, name: str) -> list[str]:
    return list(dict.fromkeys(table[name].to_pylist()))


def _joined(table: pa.Table, row: str | None, column: str) -> list[tuple[str, ...]]:
    names = [each for each in (row, column) if each is not None]
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))
