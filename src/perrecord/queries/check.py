"""A query against the public description of its table, before any row is read."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, assert_never

import pyarrow as pa

from perrecord.errors import QueryError, listing, suggestion
from perrecord.policy.cases import Cases, Dimension
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer, Average, Count, CountDistinct, Quantile, Sum
from perrecord.queries.groupings import KEYS_CHARGE, Grouping, SelectCells, SelectKeys
from perrecord.queries.methods import (
    Branch,
    Clamping,
    Splitting,
    Tree,
    check_on_grid,
    check_split_grid,
    has_default,
    leaves,
    tree_of,
)
from perrecord.queries.query import Query
from perrecord.tables.expressions import Value, columns_of, evaluate, kind_of
from perrecord.tables.fields import Kind
from perrecord.tables.keys import Keys
from perrecord.tables.schema import Schema

_ARROW = {Kind.TEXT: pa.string(), Kind.INTEGER: pa.int64(), Kind.TRUTH: pa.bool_()}
_PYTHON: dict[Kind, type] = {Kind.TEXT: str, Kind.INTEGER: int, Kind.TRUTH: bool}
_MOST_CENTRED = 2**61

BESIDE = ("_se", "_low", "_high", "_few_records", "_floored", "_rounded")
"""How the columns end that are published beside an answer."""


def check(query: Query, schema: Schema) -> None:
    """Refuse a query that the table cannot answer, saying why."""
    if query.table != schema.name:
        raise QueryError(
            f"the query asks the table {query.table!r}; this one is {schema.name!r}. "
            "Name it with table(..., name=...)."
        )
    if not query.answers:
        raise QueryError("the query asks for nothing; add such as .count(rho='0.1').")
    if query.filter is not None and kind_of(query.filter, schema.fields) is not Kind.TRUTH:
        raise QueryError("the filter is no condition; expected such as state = 'NC'.")
    _check_names(query)
    for grouping in query.groupings:
        _check_grouping(grouping, query, schema)
    for answer in query.answers:
        _check_answer(answer, query, schema)


def _check_names(query: Query) -> None:
    """The errors of an answer stand beside it, in columns of their own."""
    names = {answer.name for answer in query.answers}
    columns = {name for grouping in query.groupings for name in grouping.columns}
    for answer in query.answers:
        for ending in BESIDE:
            if f"{answer.name}{ending}" in names | columns:
                raise QueryError(
                    f"{answer.name}{ending} is the name of an answer or a column, and of what "
                    f"stands beside the answer {answer.name!r}; give one of them another name."
                )


def _check_grouping(grouping: Grouping, query: Query, schema: Schema) -> None:
    kinds = {name: schema.grouping_kind(name) for name in grouping.columns}
    taken = [answer.name for answer in query.answers if answer.name in kinds]
    if taken:
        raise QueryError(
            f"{listing(taken)} names a grouping column and an answer; give the answer another name."
        )
    match grouping.cells:
        case None:
            pass
        case Keys(factors=factors):
            _check_key_types(factors, kinds)
        case SelectCells(domain=domain, answer=name):
            for keys in domain.factors:
                _check_key_types(keys.factors, kinds)
            _check_kept(name, query)
        case SelectKeys(split=split):
            if query.currency is not Currency.RHO:
                raise QueryError("keys are selected under zCDP; give the answers rho, not epsilon.")
            if split is not None:
                check_scheme(split, schema)
                if not has_default(tree_of(Splitting(Fraction(1), split))):
                    raise QueryError(
                        "keys are selected with a split that has no default, so some records would "
                        "have no number of pieces; give Split.by(..., default=Split(...))."
                    )
            _check_selection_names(grouping.cells, query, kinds)
        case _:
            assert_never(grouping.cells)


def _check_selection_names(cells: SelectKeys, query: Query, kinds: dict[str, Kind]) -> None:
    taken = {KEYS_CHARGE, cells.rows_as} & {answer.name for answer in query.answers}
    if taken or cells.rows_as in kinds:
        raise QueryError(
            f"{listing(taken or [cells.rows_as])} names an answer or a column and also what keys "
            "are selected by; give one of them another name."
        )


def _check_kept(name: str, query: Query) -> None:
    found = [answer for answer in query.answers if answer.name == name]
    if not found or not isinstance(found[0], Count | Sum | CountDistinct):
        raise QueryError(
            f"the cells are kept by {name!r}, which is no count or total of the query. It has "
            f"{listing(answer.name for answer in query.answers)}."
        )
    if query.currency is not Currency.RHO:
        raise QueryError("cells are kept under zCDP; give the answers rho, not epsilon.")
    if isinstance(tree_of(found[0].method), Branch):
        raise QueryError(
            f"the cells are kept by {name!r}, whose noise differs between parts; keep them by an "
            "answer with one method."
        )


def _check_key_types(tables: Iterable[pa.Table], kinds: dict[str, Kind]) -> None:
    for table in tables:
        for column in table.schema:
            is_filled = table[column.name].null_count < table.num_rows
            if is_filled and not column.type.equals(_ARROW[kinds[column.name]]):
                raise QueryError(
                    f"the keys of {column.name!r} are {column.type}, the table's column holds "
                    f"{kinds[column.name].value}; write the keys in the same kind."
                )


def _check_answer(answer: Answer, query: Query, schema: Schema) -> None:
    match answer:
        case Count(column=column):
            if column is not None and column not in schema.fields:
                schema.countable(column)
            _check_parts(tree_of(answer.method), query, schema)
        case CountDistinct(column=column):
            schema.countable(column)
            _check_parts(tree_of(answer.method), query, schema)
        case Sum() | Average():
            _check_total(answer, query, schema)
        case Quantile(measure=measure):
            schema.measure(measure)
        case _:
            assert_never(answer)


def _check_total(answer: Sum | Average, query: Query, schema: Schema) -> None:
    measure = schema.measure(answer.measure)
    tree = tree_of(answer.method)
    for leaf in leaves(tree):
        if isinstance(leaf.method, Splitting):
            check_scheme(leaf.method.split, schema)
            if isinstance(leaf.method.split, Split) and leaf.method.split.cap is not None:
                raise QueryError(
                    f"the split of {answer.name!r} has a cap, which cuts records that are written "
                    "out as rows. A total adds them up whole, so a cap would promise too much; "
                    "give the scheme without .capped(...)."
                )
        if isinstance(answer, Average) and isinstance(leaf.method, Clamping):
            most = max(abs(leaf.method.low), abs(leaf.method.high)) / measure.resolution
            if most > _MOST_CENTRED:
                raise QueryError(
                    f"the bounds of the average {answer.name!r} exceed 2^61 steps of its "
                    "resolution; give narrower ones."
                )
    check_on_grid(tree, answer.measure, measure.resolution)
    _check_parts(tree, query, schema)


def check_scheme(split: Scheme, schema: Schema) -> None:
    """Refuse a scheme that names other measures or dimensions than the table has."""
    check_split_grid(split, {name: measure.resolution for name, measure in schema.measures})
    if isinstance(split, SplitBy):
        _check_cases(split.cases, schema)
        for inner in split.cases.values():
            check_scheme(inner, schema)


def _check_cases(cases: Cases[Any], schema: Schema) -> None:
    """Cases are looked up by dimensions of the table, and written in the kind that these have."""
    kinds = {each.name: each.kind for each in schema.dimensions}
    for name, found in zip(cases.dimensions, cases.kinds, strict=True):
        if name not in kinds:
            raise QueryError(
                f"the parts are told apart by {name!r}, which is no dimension of the table. It has "
                f"{listing(sorted(kinds)) or 'none'}.{suggestion(name, kinds)}"
            )
        place = cases.dimensions.index(name)
        if any(_is_beyond(key[place]) for key, _ in cases.entries):
            raise QueryError(
                f"a part by {name!r} is a whole number beyond 64 bits, which no column holds."
            )
        if not found <= {_PYTHON[kinds[name]]}:
            raise QueryError(
                f"the parts by {name!r} are written as {listing(each.__name__ for each in found)}, "
                f"the table's column holds {kinds[name].value}; write them in the same kind: 11, "
                "'11' and True are different values."
            )


def _is_beyond(value: Dimension) -> bool:
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def _check_parts(tree: Tree, query: Query, schema: Schema) -> None:
    """Every record that reaches a cell must fall into a part: by a default, or by its key."""
    if not isinstance(tree, Branch):
        return
    _check_cases(tree.cases, schema)
    for part in tree.cases.values():
        _check_parts(part, query, schema)
    if has_default(tree):
        return
    for grouping in query.groupings:
        fixed = schema.fixed_by(grouping.columns)
        known: set[tuple[Value, ...]] = {key for key, _ in tree.cases.entries}
        names = tree.cases.dimensions
        if not isinstance(grouping.cells, Keys) or not fixed.keys() >= set(names):
            raise QueryError(
                f"the parts by {listing(names)} have no default, and the grouping does not say "
                "which part a record is in; add the key ... (default=... for a Split.by), which "
                "holds for all other records."
            )
        needed = tuple(sorted({each for name in names for each in columns_of(fixed[name])}))
        for row in grouping.cells.project(needed):
            key = dict(zip(needed, row, strict=True))
            values = tuple(evaluate(fixed[name], key) for name in names)
            if values not in known:
                raise QueryError(
                    f"the keys hold {listing(names)} = {listing(values)}, for which there is no "
                    "part and no default; add it, or the key ... for all others."
                )
