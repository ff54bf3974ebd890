"""A query against the public description of its table, before any row is read."""

from collections.abc import Callable, Container, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import assert_never

import pyarrow as pa

from perrecord.errors import QueryError, about, listing, suggestion
from perrecord.policy.cases import Cases
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer
from perrecord.queries.answers.errors import ENDINGS
from perrecord.queries.groupings import KEYS_CHARGE, Grouping, SelectCells, SelectKeys, WhichCells
from perrecord.queries.methods import Branch, Splitting, Tree, Widening, has_default, tree_of
from perrecord.queries.methods.fitting import check_scheme
from perrecord.queries.query import Query
from perrecord.tables.expressions import Expression, Value, columns_of, evaluate, kind_of
from perrecord.tables.fields import Kind
from perrecord.tables.keys import Keys
from perrecord.tables.roles import Roles
from perrecord.tables.schema import Schema


def check(query: Query, schema: Schema) -> None:
    """Refuse a query that the table cannot answer, saying why."""
    for each in checks_of(query, schema):
        each()


def checks_of(query: Query, schema: Schema) -> Iterator[Callable[[], None]]:
    """Yield the checks of a query one by one, for who wants to hear of all that is wrong."""
    if query.table != schema.name:
        raise QueryError(
            f"the query asks the table {query.table!r}; this one is {schema.name!r}. "
            "Name it with table(..., name=...)."
        )
    yield partial(check_asked, query)
    yield partial(check_filter, query.filter, schema)
    yield partial(_check_names, query)
    for grouping in query.groupings:
        yield partial(_check_grouping, grouping, query, schema)
    for answer in query.answers:
        yield partial(_check_answer, answer, query, schema)


def check_asked(query: Query) -> None:
    """Refuse a query without answers."""
    if not query.answers:
        raise QueryError("the query asks for nothing; add an answer, such as a count.")


def check_filter(condition: Expression | None, schema: Schema) -> None:
    """Refuse a filter that is no condition on the table's columns."""
    with about("where"):
        if condition is not None and kind_of(condition, schema.fields) is not Kind.TRUTH:
            raise QueryError("the filter is not a condition; expected one such as state = 'NC'.")


def check_columns(answers: Iterable[str], grouped: Container[str]) -> None:
    """Refuse an answer that is named like a grouping column."""
    taken = [name for name in answers if name in grouped]
    if taken:
        raise QueryError(
            f"{listing(taken)} names a grouping column and an answer; give the answer another "
            "name.",
            about=("answers", taken[0], "name"),
        )


def check_answer(answer: Answer, currency: Currency | None, roles: Roles) -> None:
    """Refuse an answer that does not fit what is declared of the table."""
    with about("answers", answer.name):
        answer.check(roles)
        for measurement in answer.measurements:
            measurement.check(answer.name, roles, currency)


def _check_answer(answer: Answer, query: Query, schema: Schema) -> None:
    check_answer(answer, query.currency, schema.roles)
    for measurement in answer.measurements:
        methods = measurement.methods
        with about(
            "answers", answer.name, "parts" if isinstance(methods, Cases) else methods.option
        ):
            for branch in _branches(measurement.tree):
                _check_default(branch, query, schema)
        if measurement.widening is not None:
            with about("answers", answer.name, "blur"):
                _check_scale(measurement.widening, query, schema)


def _check_names(query: Query) -> None:
    """The errors of an answer stand beside it, in columns of their own."""
    names = {answer.name for answer in query.answers}
    columns = {name for grouping in query.groupings for name in grouping.columns}
    for answer in query.answers:
        for ending in ENDINGS:
            if f"{answer.name}{ending}" in names | columns:
                raise QueryError(
                    f"{answer.name}{ending} is the name of an answer or a column, and of what "
                    f"stands beside the answer {answer.name!r}; give one of them another name.",
                    about=("answers", answer.name, "name"),
                )


def _check_grouping(grouping: Grouping, query: Query, schema: Schema) -> None:
    kinds: dict[str, Kind] = {}
    for name in grouping.columns:
        with about("group_by", name):
            kinds[name] = schema.grouping_kind(name)
    check_columns([answer.name for answer in query.answers], kinds)
    with about("keys"):
        _check_cells(grouping.cells, query, kinds, schema)


def _check_cells(
    cells: WhichCells | None, query: Query, kinds: dict[str, Kind], schema: Schema
) -> None:
    match cells:
        case None:
            pass
        case Keys(factors=factors):
            _check_key_types(factors, kinds)
        case SelectCells(domain=domain, answer=name):
            for keys in domain.factors:
                _check_key_types(keys.factors, kinds)
            with about("answer"):
                _check_kept(name, query)
        case SelectKeys(split=split):
            if query.currency is None or not query.currency.selects_keys:
                raise QueryError("keys are selected under zCDP; give the answers rho, not epsilon.")
            if split is not None:
                check_scheme(split, schema.roles)
                if not has_default(tree_of(Splitting(Fraction(1), split))):
                    raise QueryError(
                        "keys are selected with a split that has no default, so some records would "
                        "have no number of pieces; give Split.by(..., default=Split(...))."
                    )
            _check_selection_names(cells, query, kinds)
        case _:
            assert_never(cells)


def _check_selection_names(cells: SelectKeys, query: Query, kinds: dict[str, Kind]) -> None:
    taken = {KEYS_CHARGE, cells.rows_as} & {answer.name for answer in query.answers}
    if taken or cells.rows_as in kinds:
        raise QueryError(
            f"{listing(taken or [cells.rows_as])} names an answer or a column and also what keys "
            "are selected by; give one of them another name."
        )


def _check_kept(name: str, query: Query) -> None:
    found = [answer for answer in query.answers if answer.name == name]
    known = [answer.name for answer in query.answers]
    if not found or not found[0].is_additive:
        raise QueryError(
            f"the cells are kept by {name!r}, which is not a count or total of the query. It "
            f"has {listing(known)}.{suggestion(name, known)}"
        )
    if query.currency is None or not query.currency.selects_keys:
        raise QueryError("cells are kept under zCDP; give the answers rho, not epsilon.")
    kept = found[0].measurements[0]
    if isinstance(kept.tree, Branch):
        raise QueryError(
            f"the cells are kept by {name!r}, whose noise differs between parts; keep them by an "
            "answer with one method."
        )
    if not kept.tree.method.is_gaussian:
        raise QueryError(
            f"the cells are kept by {name!r}, whose noise is not Gaussian; keep them by a count, "
            "or by a total that is split or clamped."
        )


def _check_key_types(tables: Iterable[pa.Table], kinds: dict[str, Kind]) -> None:
    for table in tables:
        for column in table.schema:
            is_filled = table[column.name].null_count < table.num_rows
            if is_filled and not column.type.equals(kinds[column.name].types.arrow):
                raise _other_keys(column, kinds[column.name])


def _other_keys(column: pa.Field, wanted: Kind) -> QueryError:
    """Return the error for keys of another kind than the table's column."""
    is_kind = (each.value for each in Kind if column.type.equals(each.types.arrow))
    keys = next(is_kind, str(column.type))
    advice = "write the keys as values of that kind"
    if (keys, wanted) == (Kind.TEXT.value, Kind.INTEGER):
        advice += (
            ", or make the dimension text, with the expression "
            f"CAST({column.name} AS VARCHAR). Every column of a CSV file is text: take whole "
            "numbers from a list or a Parquet file"
        )
    elif wanted is Kind.TEXT:
        advice += ", in quotes"
    return QueryError(
        f"the keys of {column.name!r} are {keys}, but the table's column holds {wanted.value}; "
        f"{advice}."
    )


def _check_scale(widening: Widening, query: Query, schema: Schema) -> None:
    """Refuse public sizes by other columns than those of the one grouping, or of another kind."""
    for grouping in query.groupings:
        widening.check(grouping.columns)
        kinds = {name: schema.grouping_kind(name) for name in grouping.columns}
        with about("scale"):
            _check_key_types(widening.sizes.keys.factors, kinds)


def _branches(tree: Tree) -> Iterator[Branch]:
    if isinstance(tree, Branch):
        for part in tree.cases.values():
            yield from _branches(part)
        yield tree


def _check_default(tree: Branch, query: Query, schema: Schema) -> None:
    """Every record that reaches a cell must fall into a part: by a default, or by its key."""
    if has_default(tree):
        return
    for grouping in query.groupings:
        fixed = schema.fixed_by(grouping.columns)
        known: set[tuple[Value, ...]] = {key for key, _ in tree.cases.entries}
        names = tree.cases.dimensions
        if not isinstance(grouping.cells, Keys) or not fixed.keys() >= set(names):
            raise QueryError(
                f"the parts by {listing(names)} have no default, and the grouping does not say "
                "which part a record is in; add a default (in Python the key ... of the parts), "
                "which holds for all other records."
            )
        needed = tuple(sorted({each for name in names for each in columns_of(fixed[name])}))
        for row in grouping.cells.project(needed):
            key = dict(zip(needed, row, strict=True))
            values = tuple(evaluate(fixed[name], key) for name in names)
            if values not in known:
                raise QueryError(
                    f"the keys hold {listing(names)} = {listing(values)}, for which there is no "
                    "part and no default; add it, or a default for all others."
                )
