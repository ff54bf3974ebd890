"""How much of the data lies in the keys that a workload declares. CONFIDENTIAL, charged to nobody.

A record whose key is not declared enters no cell. A few such records are the curator's choice;
where nearly all are outside, the file is another one than the keys were written for.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from perrecord.errors import InputError, listing
from perrecord.queries.groupings import Grouping, SelectCells
from perrecord.queries.query import Query
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.domains import Domain
from perrecord.tables.engines import RESERVED
from perrecord.tables.expressions import Expression, columns_of, to_sql
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table

_FOUND = f"{RESERVED}_found"
_INDEX = f"{RESERVED}_index"
_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Coverage:
    """A grouping of a query: the records that pass its filter, and those without a declared key."""

    query: str
    columns: tuple[str, ...]
    domain: Domain = field(repr=False)
    records: int
    outside: int
    outside_keys: int
    """How many different keys these have."""
    shares: tuple[tuple[str, float], ...]
    """For each measure that the query adds up, the share of the total, in size, that is outside."""

    @property
    def is_empty(self) -> bool:
        """Whether no record enters a cell."""
        return self.outside == self.records


def coverage(table: Table, queries: Mapping[str, Query]) -> tuple[Coverage, ...]:
    """Return how many records lie outside the keys of each grouping that declares its keys.

    >>> from perrecord import Keys, Query, table
    >>> farms = table(
    ...     pa.table({"state": ["NM", "TX", "TX", "VA"], "cattle": [12, 40, 9000, 8]}),
    ...     dimensions=["state"], measures=["cattle"],
    ... )
    >>> by_state = Query().group_by("state", keys=Keys.from_dict({"state": ["NM", "TX"]}))
    >>> coverage(farms, {"states": by_state.sum("cattle", clamp=(0, 50), rho=1)})
    (Coverage(query='states', columns=('state',), records=4, outside=1, outside_keys=1,
     shares=(('cattle', 0.0008...),)),)
    """
    return tuple(
        _covered(table, name, query, grouping.columns, domain)
        for name, query in queries.items()
        for grouping in query.groupings
        if (domain := _declared(grouping)) is not None
    )


def check_coverage(
    found: Sequence[Coverage], table: Table, *, is_public: bool, place: str = "the source"
) -> None:
    """Refuse data of which no record enters some table, because it declares other keys.

    The message names declared keys, which are public, and keys of the data only if that is public.
    """
    missed = [each for each in found if each.records and each.is_empty]
    if missed:
        first = missed[0]
        raise InputError(
            f"no record of {place} has a key that the spec declares for {listing(_names(missed))}. "
            f"{first.query} is by {', '.join(first.columns)}, with {_shown(first)}"
            f"{_found_keys(table, first) if is_public else ''}. Check that both are of the same "
            "places and coded alike: leading zeros, digits, upper and lower case, spaces."
        )
    if not found or any(each.records for each in found):
        return
    if _integers(table, f"SELECT count(*) FROM {table.engine.relation} AS source")[0]:
        raise InputError(
            f"no record of {place} passes the filter of {listing(_names(found))}, so there is "
            "nothing to look at. Check the filter (where: ...) and the file."
        )


def _names(found: Sequence[Coverage]) -> list[str]:
    return list(dict.fromkeys(each.query for each in found))


def _shown(each: Coverage) -> str:
    """Return the first declared keys, column by column where they are a product."""
    said = []
    for keys in each.domain.factors:
        shown = ", ".join(map(_key, keys.table.slice(0, _MOST_SHOWN).to_pylist()))
        more = ", ..." if len(keys) > _MOST_SHOWN else ""
        said.append(f"{len(keys):,} declared keys of {', '.join(keys.columns)}: {shown}{more}")
    return "; ".join(said)


def _found_keys(table: Table, each: Coverage) -> str:
    """Return some keys of public data, the first ones in their order."""
    dialect = table.engine.dialect
    shown = ", ".join(f"records.{dialect.identifier(column)}" for column in each.columns)
    records = f"({table.select(sorted(each.columns))}) AS records"
    rows = pa.Table.from_batches(
        list(
            table.engine.batches(
                f"SELECT DISTINCT {shown} FROM {records} ORDER BY {shown} LIMIT {_MOST_SHOWN}"
            )
        )
    )
    return f"; in the data there are {', '.join(map(_key, rows.to_pylist()))}, ..."


def _key(row: Mapping[str, Any]) -> str:
    values = [repr(value) for value in row.values()]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


# -- counting ---------------------------------------------------------------------------------


def _declared(grouping: Grouping) -> Domain | None:
    match grouping.cells:
        case Keys() as keys:
            return Domain(keys)
        case SelectCells(domain=domain):
            return domain
        case _:
            return None


def _covered(
    table: Table, query: str, asked: Query, columns: tuple[str, ...], domain: Domain
) -> Coverage:
    added = [step.measure for answer in asked.answers for step in answer.measurements]
    measures = [each for each in dict.fromkeys(added) if each is not None]
    dialect, engine, name = table.engine.dialect, table.engine, f"{RESERVED}_{uuid4().hex[:12]}"
    shown = ", ".join(f"records.{dialect.identifier(column)}" for column in columns)
    sizes = "".join(
        f", sum(abs({dialect.as_double(f'records.{dialect.identifier(each)}')})) AS {_FOUND}{place}"
        for place, each in enumerate(measures)
    )
    needed = {*columns, *measures, *(() if asked.filter is None else columns_of(asked.filter))}
    cells = (
        f"SELECT {shown}, count(*) AS {_FOUND}{sizes} "
        f"FROM ({table.select(sorted(needed))}) AS records"
        f"{_where(table, asked.filter)} GROUP BY {shown}"
    )
    factors = {f"{name}_{index}": keys for index, keys in enumerate(domain.factors)}
    joins = "".join(
        f" LEFT JOIN {alias} ON {_same(alias, keys.columns)}" for alias, keys in factors.items()
    )
    is_outside = " OR ".join(f"{alias}.{_INDEX} IS NULL" for alias in factors)
    chosen = [_total("1", is_outside)]
    for column in (_FOUND, *(f"{_FOUND}{place}" for place in range(len(measures)))):
        chosen += [_total(f"cells.{column}"), _total(f"cells.{column}", is_outside)]
    with _dropped(table, [name, *factors]):
        engine.keep(name, cells)
        for alias, keys in factors.items():
            index = pa.array(np.arange(len(keys), dtype=np.int64))
            engine.add_local(alias, keys.table.append_column(_INDEX, index))
        batches = engine.local(f"SELECT {', '.join(chosen)} FROM {name} AS cells{joins}")
        row = pa.Table.from_batches(list(batches)).to_pylist()[0].values()
    strangers, records, outside, *totals = row
    shares = [
        (measure, float(part) / float(whole) if whole else 0.0)
        for measure, whole, part in zip(measures, totals[::2], totals[1::2], strict=True)
    ]
    return Coverage(
        query, columns, domain, int(records), int(outside), int(strangers), tuple(shares)
    )


def _same(alias: str, columns: Sequence[str]) -> str:
    names = [DUCKDB.identifier(column) for column in columns]
    return " AND ".join(DUCKDB.is_same(f"cells.{name}", f"{alias}.{name}") for name in names)


def _total(value: str, condition: str = "TRUE") -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN {value} ELSE 0 END), 0)"


def _where(table: Table, condition: Expression | None) -> str:
    if condition is None:
        return ""
    dialect, fields = table.engine.dialect, table.schema.fields
    known = {name: f"records.{dialect.identifier(name)}" for name in fields}
    return f" WHERE {to_sql(condition, fields, known, dialect)}"


def _integers(table: Table, sql: str) -> tuple[int, ...]:
    rows = pa.Table.from_batches(list(table.engine.batches(sql)))
    return tuple(int(column[0].as_py()) for column in rows.columns)


@contextmanager
def _dropped(table: Table, names: Sequence[str]) -> Iterator[None]:
    """Forget these tables at the end, whatever happens."""
    try:
        yield
    finally:
        for name in names:
            table.engine.drop(name)
