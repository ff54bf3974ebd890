"""Suppressed tables of all states from records, and what suppression costs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.lab.experiments.agencies.cell_sizes import Floats, size_classes
from perrecord.lab.experiments.agencies.magnitudes import MagnitudeTable, magnitude_tables
from perrecord.lab.experiments.agencies.suppression import PERCENT, Suppression, suppressed

STATUSES = ("published", "primary", "complementary")
LEVELS = ("cell", "row margin", "column margin", "total")

Advance = Callable[[str, float], None]
"""Told which area is done, and the share of the areas that are."""


def suppressed_areas(
    records: pa.Table,
    measure: str,
    *,
    area: str = "state",
    row: str = "county",
    column: str = "sector",
    unit: str = "firm",
    p: int = PERCENT,
    advance: Advance | None = None,
) -> pa.Table:
    """Return a row for each cell and margin that holds records, over the tables of all areas.

    Columns: the area, the row and the column (null in margins), `level`, `records`, `total`,
    `status` and, of primary cells, `low` and `high`: values that an attacker cannot rule out.
    """
    tables = list(
        magnitude_tables(records, area=area, row=row, column=column, measure=measure, unit=unit)
    )
    names = [area, row, column, "level", "records", "total", "status", "low", "high"]
    schema = pa.schema(list(zip(names, _KINDS, strict=True)))
    found = [schema.empty_table()]
    for number, (name, table) in enumerate(tables, start=1):
        listed = _listed(name, table, suppressed(table, p))
        arrays = [pa.array(each, kind) for each, kind in zip(listed, _KINDS, strict=True)]
        found.append(pa.table(arrays, schema=schema))
        if advance is not None:
            advance(name, number / len(tables))
    return pa.concat_tables(found)


def suppression_costs(cells: pa.Table) -> pa.Table:
    """Return how many cells and how much of the total value are hidden, by level and size.

    Cells whose total is 0 are published and counted apart as `zeros`. `primary` and `complementary`
    are shares of the other cells, `hidden_value` of what all cells of that class add up to.
    """
    level, status = np.array(cells["level"].to_pylist()), np.array(cells["status"].to_pylist())
    counts, totals = cells["records"].to_numpy(), cells["total"].to_numpy()
    rows: list[dict[str, Any]] = []
    for each in LEVELS:
        for size, members in [("all", counts > 0), *size_classes(counts)]:
            own = members & (level == each)
            kept = own & (totals > 0)
            if not own.any():
                continue
            number, value = int(kept.sum()), int(totals[kept].sum())
            row = {"level": each, "size": size, "cells": number, "zeros": int(own.sum()) - number}
            for name in STATUSES[1:]:
                row[name] = int((kept & (status == name)).sum()) / number if number else None
            is_hidden = kept & (status != "published")
            row["hidden"] = int(is_hidden.sum()) / number if number else None
            row["hidden_value"] = int(totals[is_hidden].sum()) / value if value else None
            rows.append(row)
    return pa.Table.from_pylist(rows, schema=_COSTS)


_KINDS = (
    pa.string(), pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.string(),
    pa.float64(), pa.float64(),
)  # fmt: skip
_COSTS = pa.schema(
    {
        "level": pa.string(),
        "size": pa.string(),
        "cells": pa.int64(),
        "zeros": pa.int64(),
        **{name: pa.float64() for name in (*STATUSES[1:], "hidden", "hidden_value")},
    }
)


def _listed(name: str, table: MagnitudeTable, found: Suppression) -> list[Any]:
    """Return the columns of one area, without their names."""
    down, across = np.nonzero(table.records)
    is_row_margin, is_column_margin = across == len(table.columns), down == len(table.rows)
    rows, columns = np.array([*table.rows, None]), np.array([*table.columns, None])
    status = np.where(found.primary, 1, np.where(found.complementary, 2, 0))[down, across]
    return [
        [name] * len(down),
        rows[down],
        columns[across],
        np.array(LEVELS)[is_row_margin + 2 * is_column_margin],
        table.records[down, across],
        table.total[down, across],
        np.array(STATUSES)[status],
        _known(found.low[down, across]),
        _known(found.high[down, across]),
    ]


def _known(values: Floats) -> pa.Array:
    """Return values with null for nan."""
    return pa.array(values, mask=np.isnan(values))
