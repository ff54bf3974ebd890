"""Tables: a source with declared roles, as the one relation that queries run on."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa

from perrecord.errors import InputError, SchemaError, listing
from perrecord.exact import Exact
from perrecord.tables.columns import checked_names
from perrecord.tables.engines import Engine
from perrecord.tables.expressions import Column, columns_of, kind_of
from perrecord.tables.fields import Kind, TypedColumn
from perrecord.tables.given import Linked, Source
from perrecord.tables.kinds import (
    check_header,
    kind_of_column,
    missing_column,
    unusable_column,
)
from perrecord.tables.linking import CHANGE_KIND, check_kinds, linked_measure
from perrecord.tables.lookups import Lookup
from perrecord.tables.measures import Measure, check_measure, scaled_on
from perrecord.tables.parse import parse_expression
from perrecord.tables.reading import ColumnUse
from perrecord.tables.records import expression_fields, lookup_name, records_sql
from perrecord.tables.schema import Dimension, Schema
from perrecord.tables.sources import open_source
from perrecord.tables.weights import Weight, weighted

Dimensions = Sequence[str] | Mapping[str, str]
Measures = Sequence[str] | Mapping[str, "Exact | Measure"]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A confidential source and what its columns are; its rows are reached through a charge."""

    schema: Schema
    engine: Engine

    def select(self, names: Iterable[str]) -> str:
        """Return the relation of these columns, measures on their grid."""
        return records_sql(self.schema, names, self.engine.dialect, self.engine.relation)

    def close(self) -> None:
        """Close the source."""
        self.engine.close()

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        roles = [*sorted(self.schema.dimension_names), *(name for name, _ in self.schema.measures)]
        return f"Table({self.schema.name!r}: {listing(roles)})"


def table(  # noqa: PLR0913 -- a role for every kind of column
    source: Source,
    *,
    id: str | None = None,  # noqa: A002 - the column's role
    unit: str | None = None,
    dimensions: Dimensions = (),
    measures: Measures = (),
    weight: Weight | None = None,
    lookups: Sequence[Lookup] = (),
    name: str = "records",
    relation: str | None = None,
    memory_limit: str | None = None,
    spill_folder: str | Path | None = None,
) -> Table:
    """Open a source and declare what its columns are.

    Parquet files, frames and databases are opened for their columns alone; text files, workbooks
    and files of SAS, Stata and SPSS are read in full, so that no later query fails on a line.

    Dimensions are columns or row-wise expressions, `{"naics2": "substr(naics, 1, 2)"}`; measures
    have a resolution, `{"emp": 1, "rent": "0.01"}`, or a `Measure` that says more, such as what it
    is computed from: `Measure("0.01", expression="hours * wage")`. The `id` names a record, the
    `unit` the firm it belongs to. A `weight` is a measure too, and each measure gets another, such
    as `weighted_emp`. A lookup adds columns of a public table. With two periods,
    `Linked(this, last)`, the records are changes, and the id is needed.

    >>> source = pa.table({"naics": ["111110", "212220"], "emp": [12, 7]})
    >>> table(source, dimensions={"naics2": "substr(naics, 1, 2)"}, measures=["emp"])
    Table('records': naics2, emp)
    """
    if weight is not None:
        measures = weighted(_declared(measures), weight)
    roles = [each for each in (id, unit) if each is not None]
    use = column_use(roles, dimensions, measures, lookups)
    engine = open_source(
        source, relation=relation, memory_limit=memory_limit, spill_folder=spill_folder, use=use
    )
    try:
        named = [*roles, *_columns_read(dimensions, measures, lookups)]
        if engine.is_text:
            check_header(named, engine.columns)
        engine.use(name for name in named if name in engine.columns)
        columns = _with_lookups(engine.columns, lookups)
        found = _measures(measures, columns, may_be_text=engine.is_text)
        _role("id", id, columns)
        _role("unit", unit, columns)
        is_linked = isinstance(source, Linked)
        if is_linked:
            _check_id(id, columns)
            _check_stored(found)
            found = {each: linked_measure(measure) for each, measure in found.items()}
            columns[CHANGE_KIND] = pa.string()
        schema = Schema(
            name,
            id,
            unit,
            _dimensions(dimensions, columns, found),
            tuple(found.items()),
            tuple(columns.items()),
            tuple(lookups),
            is_linked,
            uuid4().hex[:12],
        )
        for each in schema.dimensions:
            check_kinds(each.name, each.expression)
        _check_roles(schema)
        checked_names([*columns], "the table with its lookups")
        if declared := [*dict.fromkeys([*schema.fields, *roles])]:
            checked_names(declared, "the table with its roles")
        for index, lookup in enumerate(lookups):
            engine.add(lookup_name(schema, index), lookup.table)
    except BaseException:
        engine.close()
        raise
    return Table(schema, engine)


def _check_roles(schema: Schema) -> None:
    """Refuse an id or a unit that a public list finds by a measure: no document could tell."""
    columns = (measure.stored(name) for name, measure in schema.measures)
    stored = {each for each in columns if each is not None}
    for role, column in (("id", schema.id), ("unit", schema.unit)):
        if column is None:
            continue
        found = sorted(stored & {*schema.keys_of(column)})
        if found:
            raise SchemaError(
                f"the {role} {column!r} follows from {listing(found)}, which a measure is of; "
                f"expected a column that stays when a value changes. Leave the {role} out, or give "
                "another column."
            )


def column_use(
    roles: Sequence[str],
    dimensions: Dimensions,
    measures: Measures,
    lookups: Sequence[Lookup] = (),
) -> ColumnUse:
    """Return which columns these declarations read as numbers, and which as they are."""
    by_name = _by_name(measures, "measures", 1)
    stored = _columns_read((), measures, ())
    others = [*roles, *_columns_read(dimensions, (), lookups)]
    # A measure's name in an expression is the measure, whatever the column of that name holds.
    return ColumnUse(
        frozenset(stored),
        frozenset(each for each in others if each not in by_name),
        frozenset(stored).difference(_columns_read((), _with_decimals(by_name), ())),
    )


def _with_decimals(measures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the measures whose resolution is no whole number; one that is wrong is among them."""
    found = dict(measures)
    for name, given in measures.items():
        with suppress(InputError, TypeError, ValueError):
            measure = given if isinstance(given, Measure) else Measure(given)
            if measure.resolution.denominator == 1:
                del found[name]
    return found


def _columns_read(
    dimensions: Dimensions, measures: Measures, lookups: Sequence[Lookup]
) -> list[str]:
    """Return the columns that these declarations name; what is wrong with them is said later."""
    found = [ours for lookup in lookups for ours, _ in lookup.on]
    for name, measure in _by_name(measures, "measures", 1).items():
        column = measure.stored(name) if isinstance(measure, Measure) else name
        found += [] if column is None else [column]
    for name, written in _by_name(dimensions, "dimensions", None).items():
        if written is None:
            found.append(name)
            continue
        with suppress(InputError):
            found += sorted(columns_of(parse_expression(written, f"the dimension {name!r}")))
    return found


def _with_lookups(
    columns: Mapping[str, pa.DataType], lookups: Sequence[Lookup]
) -> dict[str, pa.DataType]:
    every = dict(columns)
    for lookup in lookups:
        lookup.check(every)
        every.update(lookup.types())
    return every


def _measures(
    given: Measures, columns: Mapping[str, pa.DataType], *, may_be_text: bool
) -> dict[str, Measure]:
    found = _declared(given)
    before: dict[str, Measure] = {}
    for name, measure in found.items():
        column = measure.stored(name)
        if column is None:
            scaled_on(name, measure, before)
        elif column not in columns:
            raise missing_column(column, f"the measure {name!r}", columns)
        else:
            check_measure(name, measure, columns[column], may_be_text=may_be_text)
        before[name] = measure
    return found


def _declared(given: Measures) -> dict[str, Measure]:
    return {
        name: each if isinstance(each, Measure) else Measure(each)
        for name, each in _by_name(given, "measures", 1).items()
    }


def _dimensions(
    given: Dimensions, columns: Mapping[str, pa.DataType], measures: Mapping[str, Measure]
) -> tuple[Dimension, ...]:
    fields = expression_fields(columns.items())
    for name, measure in measures.items():
        fields[name] = TypedColumn(name, Kind.MEASURE, measure.resolution)
    found = []
    for name, written in _by_name(given, "dimensions", None).items():
        if name in measures:
            raise SchemaError(f"{name!r} is declared as a dimension and as a measure; choose one.")
        found.append(_dimension(name, written, columns, fields))
    return tuple(found)


def _role(role: str, name: str | None, columns: Mapping[str, pa.DataType]) -> None:
    if name is not None and name not in columns:
        raise missing_column(name, f"the {role}", columns)


def _check_stored(measures: Mapping[str, Measure]) -> None:
    """Refuse measures that are computed from others: a change of a product is no product."""
    derived = [name for name, measure in measures.items() if measure.expression is not None]
    if derived:
        raise SchemaError(
            f"the measure {listing(derived)} is computed from others, or weighted, and records are "
            "changes between two periods, of which it does not follow. Compute it in both files."
        )


def _check_id(name: str | None, columns: Mapping[str, pa.DataType]) -> None:
    """Refuse an id that two periods cannot be linked by."""
    if name is None:
        raise SchemaError(
            "two periods are linked by the id of their records, and none is declared; name its "
            'column, such as id="establishment".'
        )
    if kind_of_column(columns[name]) is None:
        raise SchemaError(
            f"the id {name!r} is {columns[name]}; two periods are linked by text, whole numbers or "
            "dates. Write it as one of these in both."
        )


def _dimension(
    name: str,
    written: str | None,
    columns: Mapping[str, pa.DataType],
    fields: Mapping[str, TypedColumn],
) -> Dimension:
    if written is None:
        if name not in columns:
            raise missing_column(name, "a dimension", columns)
        if name not in fields:
            raise unusable_column(name, columns[name])
        return Dimension(name, fields[name].kind, Column(name))
    expression = parse_expression(written, f"the dimension {name!r}")
    for each in sorted(columns_of(expression) - fields.keys()):
        if each in columns:
            raise unusable_column(each, columns[each])
    kind = kind_of(expression, fields)
    if kind is Kind.MEASURE:
        raise SchemaError(
            f"the dimension {name!r} is a measure as it stands; leave it out, because measures can "
            "be filtered and grouped by under their own name."
        )
    return Dimension(name, kind, expression)


def _by_name(given: Any, what: str, default: Any) -> dict[str, Any]:
    """Return a declaration as a dictionary; a list of names takes the default for each."""
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError(f"{what} is a {type(given).__name__}; expected a list or a dictionary.")
    names = list(given)
    if len(set(names)) < len(names):
        raise SchemaError(f"{what} names a column twice: {listing(names)}.")
    return dict.fromkeys(names, default)
