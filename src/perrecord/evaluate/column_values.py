"""What the columns of a table hold: the commonest values of dimensions, sizes of measures.

These are values of records, and confidential unless the data was declared public or drawn.
"""

from dataclasses import dataclass
from fractions import Fraction

from perrecord.evaluate.workspace import Workspace, workspace
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table

_MOST = 5
"""How many values of a dimension are shown."""
_SHARES = (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(1))


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """One column: how many records lack a value, and what the others hold."""

    name: str
    records: int
    missing: int
    different: int
    common: tuple[tuple[str, int], ...] = ()
    """Of a dimension: its commonest values, and how many records have each."""
    sizes: tuple[tuple[Fraction, Fraction], ...] = ()
    """Of a measure: shares of the records that have one, and what they have at most."""


def column_values(table: Table) -> tuple[ColumnValues, ...]:
    """Return what the dimensions and measures of a table hold; all of it values of records."""
    schema = table.schema
    with workspace(table) as space:
        dimensions = [_dimension(table, space, each.name) for each in schema.dimensions]
        return (*dimensions, *(_measure(table, space, name, schema) for name, _ in schema.measures))


def _counted(table: Table, space: Workspace, name: str) -> str:
    """Return where the different values of a column stand, each with its number of records."""
    column = table.engine.dialect.identifier(name)
    kept = space.keep(
        f"SELECT {column} AS held, count(*) AS number FROM ({table.select([name])}) AS records "
        f"GROUP BY {column}",
        {},
    )
    return DUCKDB.identifier(kept)


_ALL = (
    "CAST(coalesce(sum(number), 0) AS BIGINT) AS records, "
    "CAST(coalesce(sum(number) FILTER (held IS NULL), 0) AS BIGINT) AS missing, "
    "count(held) AS different"
)


def _dimension(table: Table, space: Workspace, name: str) -> ColumnValues:
    counted = _counted(table, space, name)
    (every,) = space.read(f"SELECT {_ALL} FROM {counted}").to_pylist()
    common = space.read(
        f"SELECT held, number FROM {counted} WHERE held IS NOT NULL "
        f"ORDER BY number DESC, held LIMIT {_MOST}"
    ).to_pylist()
    return ColumnValues(
        name, **every, common=tuple((str(row["held"]), int(row["number"])) for row in common)
    )


def _measure(table: Table, space: Workspace, name: str, schema: Schema) -> ColumnValues:
    counted = _counted(table, space, name)
    (every,) = space.read(f"SELECT {_ALL} FROM {counted}").to_pylist()
    reached = ", ".join(
        f"min(held) FILTER ({share.denominator} * up_to >= {share.numerator} * most)"
        for share in _SHARES
    )
    ranked = (
        "SELECT held, sum(number) OVER (ORDER BY held) AS up_to, sum(number) OVER () AS most "
        f"FROM {counted} WHERE held IS NOT NULL"
    )
    found = space.read(f"SELECT {reached} FROM ({ranked}) AS ranked")
    step = schema.measure(name).resolution
    sizes = (column[0].as_py() for column in found.columns)
    return ColumnValues(
        name,
        **every,
        sizes=tuple(
            (share, int(size) * step)
            for share, size in zip(_SHARES, sizes, strict=True)
            if size is not None
        ),
    )
