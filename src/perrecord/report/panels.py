"""Panels of a chart: which rows stand in which, side by side or below each other.

Names of categories go to Vega as data alone: never as a field, never into an expression.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import pyarrow as pa

from perrecord.report.text import plain
from perrecord.report.theme import TOTAL, ChartSpec, Width

_FACET = "panel"
_BETWEEN = " · "
"""What joins the names of a panel; they stand below each other."""

_MOST_BESIDE = 4
_AXIS = 90
"""Pixels beside the panels, for the y axis and what is written there."""

_GAP = 18
_HEIGHT = {"wide": 210, "narrow": 190}

_RESERVED = frozenset({"__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"})
"""Names that every object of JavaScript has; Vega cannot group by them."""


@dataclass(frozen=True, slots=True)
class Panels:
    """Which columns of the table make panels, and the order of every category that is known."""

    column: str | None = None
    row: str | None = None
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The columns that make panels, rows of panels first."""
        return [each for each in (self.row, self.column) if each is not None]

    def order(self, table: pa.Table, name: str) -> list[str]:
        """Return the categories of a column: those that are known in order, then the others."""
        found = dict.fromkeys(map(str, table[name].to_pylist()))
        known = [each for each in map(_harmless_name, self.orders.get(name, ())) if each in found]
        return list(dict.fromkeys([*known, *found]))


def panel_width(table: pa.Table, width: Width, panels: Panels) -> int:
    """Return how wide each panel is, in pixels."""
    names = panels.names
    if not names or width == "narrow":
        return TOTAL[width] - _AXIS
    columns = [table[name].to_pylist() for name in names]
    if len(names) == 2 and _is_complete(columns):
        beside = len(set(columns[1]))
    else:
        beside = min(len(set(zip(*columns, strict=True))), _MOST_BESIDE)
    return (TOTAL["wide"] - _AXIS - 10 - _GAP * (beside - 1)) // beside


def in_panels(
    layers: Sequence[alt.Chart], table: pa.Table, width: Width, panels: Panels
) -> ChartSpec:
    """Return the layers as one chart, or as one for each panel, with one legend for all."""
    names, inner, height = panels.names, panel_width(table, width, panels), _HEIGHT[width]
    if not names:
        chart = alt.layer(*layers, data=table)
        return written(chart.properties(width=inner, height=height + 40))
    columns = [table[name].to_pylist() for name in names]
    if width == "wide" and len(names) == 2 and _is_complete(columns):
        return _crossed(layers, table, (inner, height), panels)
    joined, count = _joined(table, names, panels)
    beside = min(count, _MOST_BESIDE) if width == "wide" else 1
    chart = _over(layers, joined).properties(width=inner, height=height)
    header = alt.Header(labelLimit=inner, labelExpr=f"split(datum.value, {_BETWEEN!r})")
    facet = alt.Facet(f"{_FACET}:N", sort=_by_rank(_FACET), title=None, header=header)
    chart = chart.facet(facet, columns=beside, spacing=_GAP)
    if width == "narrow" or count % beside:  # panels that no other stands below
        chart = chart.resolve_axis(x="independent")
    return written(chart)


def written(chart: Any) -> ChartSpec:
    """Return a chart as Vega-Lite, however many rows its lines have together."""
    with alt.data_transformers.disable_max_rows():
        return dict(chart.to_dict())


def _crossed(
    layers: Sequence[alt.Chart], table: pa.Table, size: tuple[int, int], panels: Panels
) -> ChartSpec:
    """Return rows and columns of panels."""
    row, column = panels.row or "", panels.column or ""
    inner, height = size
    ranked = _ranked(_ranked(table, row, panels), column, panels)
    chart = _over(layers, ranked).properties(width=inner, height=height)
    faceted = chart.facet(
        column=alt.Column(f"{column}:N", sort=_by_rank(column), title=None).header(
            labelLimit=inner
        ),
        row=alt.Row(f"{row}:N", sort=_by_rank(row), title=None).header(labelLimit=height),
        spacing=_GAP,
    )
    return written(faceted)


def _over(layers: Sequence[alt.Chart], table: pa.Table) -> Any:
    return alt.layer(*(each.properties(data=alt.Undefined) for each in layers), data=table)


def _by_rank(name: str) -> Any:
    """Return the order of panels, by a number: an order of names would become an expression."""
    return alt.EncodingSortField(field=f"{name}_rank", op="min")


def _ranked(table: pa.Table, name: str, panels: Panels) -> pa.Table:
    ranks = {each: place for place, each in enumerate(panels.order(table, name))}
    return table.append_column(
        f"{name}_rank", pa.array([ranks[each] for each in table[name].to_pylist()], pa.int64())
    )


def _joined(table: pa.Table, names: Sequence[str], panels: Panels) -> tuple[pa.Table, int]:
    """Return the table with one column that names the panel, and how many panels there are."""
    ranks = [{each: n for n, each in enumerate(panels.order(table, name))} for name in names]
    every = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    order = sorted(
        dict.fromkeys(every),
        key=lambda parts: [rank[part] for rank, part in zip(ranks, parts, strict=True)],
    )
    found = table.append_column(_FACET, pa.array([_BETWEEN.join(each) for each in every]))
    orders = Panels(orders={_FACET: [_BETWEEN.join(each) for each in order]})
    return _ranked(found, _FACET, orders), len(order)


def _is_complete(columns: Sequence[Sequence[str]]) -> bool:
    """Tell whether every row meets every column: Vega-Lite misplaces panels where one is absent."""
    met = len(set(zip(*columns, strict=True)))
    return met == len(set(columns[0])) * len(set(columns[1]))


def harmless(table: pa.Table) -> pa.Table:
    """Return the table with its names as XML can hold them."""
    for place, column in enumerate(table.columns):
        if pa.types.is_string(column.type):
            names = pa.array([_harmless_name(each) for each in column.to_pylist()], pa.string())
            table = table.set_column(place, table.column_names[place], names)
    return table


def _harmless_name(name: str | None) -> str:
    shown = plain(name)
    return f"{shown}\N{ZERO WIDTH SPACE}" if shown in _RESERVED else shown
