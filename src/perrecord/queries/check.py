"""A query against the public description of its table, before any row is read."""

from collections.abc import Iterable
from fractions import Fraction
from typing import assert_never

import pyarrow as pa

from perrecord.errors import QueryError, listing
from perrecord.queries.answers.errors import ENDINGS
from perrecord.queries.groupings import KEYS_CHARGE, Grouping, SelectCells, SelectKeys
from perrecord.queries.methods import Branch, Splitting, Tree, has_default, tree_of
from perrecord.queries.methods.fitting import check_cases, check_scheme
from perrecord.queries.query import Query
from perrecord.tables.expressions import Value, columns_of, evaluate, kind_of
from perrecord.tables.fields import Kind
from perrecord.tables.keys import Keys
from perrecord.tables.schema import Schema


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
        answer.check(schema)
        for measurement in answer.measurements:
            measurement.check(answer.name, schema)
            _check_parts(measurement.tree, query, schema)


def _check_names(query: Query) -> None:
    """The errors of an answer stand beside it, in columns of their own."""
    names = {answer.name for answer in query.answers}
    columns = {name for grouping in query.groupings for name in grouping.columns}
    for answer in query.answers:
        for ending in ENDINGS:
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
            if query.currency is None or not query.currency.selects_keys:
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
    if not found or not found[0].is_additive:
        raise QueryError(
            f"the cells are kept by {name!r}, which is no count or total of the query. It has "
            f"{listing(answer.name for answer in query.answers)}."
        )
    if query.currency is None or not query.currency.selects_keys:
        raise QueryError("cells are kept under zCDP; give the answers rho, not epsilon.")
    if isinstance(found[0].measurements[0].tree, Branch):
        raise QueryError(
            f"the cells are kept by {name!r}, whose noise differs between parts; keep them by an "
            "answer with one method."
        )


def _check_key_types(tables: Iterable[pa.Table], kinds: dict[str, Kind]) -> None:
    for table in tables:
        for column in table.schema:
            is_filled = table[column.name].null_count < table.num_rows
            if is_filled and not column.type.equals(kinds[column.name].types.arrow):
                raise QueryError(
                    f"the keys of {column.name!r} are {column.type}, the table's column holds "
                    f"{kinds[column.name].value}; write the keys in the same kind."
                )


def _check_parts(tree: Tree, query: Query, schema: Schema) -> None:
    """Every record that reaches a cell must fall into a part: by a default, or by its key."""
    if not isinstance(tree, Branch):
        return
    check_cases(tree.cases, schema)
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
