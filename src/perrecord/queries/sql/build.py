"""`from_sql`: the parts that were read, put together as a `Query`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import TokenType, exp

from perrecord.errors import InputError, QueryError, listing
from perrecord.exact import Exact
from perrecord.policy.split import Scheme
from perrecord.queries.groupings import WhichCells
from perrecord.queries.methods import Accounting
from perrecord.queries.query import Query
from perrecord.queries.sql import options
from perrecord.queries.sql.asked import AnswerForm, AskedAnswer, Shown, read_item
from perrecord.queries.sql.clauses import select_of
from perrecord.queries.sql.complete import check_complete
from perrecord.queries.sql.groups import ColumnNames, read_groups
from perrecord.queries.sql.options import Amounts, Bounds
from perrecord.queries.sql.reader import WHAT, Reader
from perrecord.tables.expressions import Expression, kind_of
from perrecord.tables.expressions.kinds import field_of
from perrecord.tables.fields import Kind
from perrecord.tables.parse import from_sqlglot
from perrecord.tables.schema import Schema


def from_sql(
    text: str,
    *,
    schema: Schema,
    keys: WhichCells | Mapping[ColumnNames, WhichCells] | None = None,
    rho: Amounts | None = None,
    epsilon: Amounts | None = None,
    split: Scheme | Mapping[str, Scheme] | None = None,
    clamp: Bounds | Mapping[str, Bounds] | None = None,
    candidates: Iterable[Exact] | Mapping[str, Iterable[Exact]] | None = None,
    accounting: Accounting = "split",
) -> Query:
    """Return the query that the SQL asks: the same value as the fluent `Query` gives.

    The text is one `SELECT ... FROM ... WHERE ... GROUP BY ...` over the table of the schema. Its
    answers are COUNT(*), COUNT(column), COUNT(DISTINCT column), SUM, AVG, MEDIAN and quantiles,
    in the order of the SELECT list: QUANTILE(x, 0.9), QUANTILE_CONT(x, 0.9) and
    PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x) all pick one of the public candidates (T14) and
    never interpolate. COUNT(DISTINCT id), the id being the record's, is the number of records.
    Whatever else stands in the text is refused with a pointer to its place.

    What SQL cannot say comes as options, for all answers or by name. An answer's name is the one
    after AS, or the default such as sum_emp.

    - `rho` or `epsilon`: an amount that each answer pays, once per grouping set; or a mapping from
      answers to amounts. An average takes a pair too, of its sum and its count.
    - `split` or `clamp`: exactly one of them for each SUM and AVG, by answer or by measure. One
      scheme for all goes to the measures that it names, one pair of bounds to every SUM and AVG.
    - `candidates`: public numbers for the quantiles, by answer or by measure.
    - `keys`: what `Query.group_by_sets` takes; every GROUP BY needs them (T9).

    >>> from fractions import Fraction
    >>> from perrecord.tables.measures import Measure
    >>> farms = Schema("farms", None, None, (), (("rent", Measure(1)),))
    >>> query = from_sql(
    ...     "SELECT COUNT(*), SUM(rent) AS total FROM farms WHERE rent > 0",
    ...     schema=farms,
    ...     rho={"count": "0.1", "total": "0.2"},
    ...     clamp=(0, 500),
    ... )
    >>> [answer.name for answer in query.answers], query.answers[1].method.amount
    (['count', 'total'], Fraction(1, 5))
    """
    select, reader = select_of(text, schema)
    items = [read_item(node, reader) for node in select.expressions]
    asked = [item for item in items if isinstance(item, AskedAnswer)]
    sets = read_groups(select, items, reader)
    _check_items(items, sets or [()], reader)
    query = Query(schema.name, filter=_filter(select, reader))
    check_complete(select, reader)
    query = _grouped(query, sets, keys, reader)
    terms = zip(
        asked,
        options.amounts("rho", rho, asked),
        options.amounts("epsilon", epsilon, asked),
        options.splits(split, asked),
        options.clamps(clamp, asked),
        options.candidates(candidates, asked),
        strict=True,
    )
    for each in terms:
        query = _answered(query, _Terms(*each), accounting, reader)
    return query


@dataclass(frozen=True, slots=True)
class _Terms:
    """One answer and the options it got."""

    asked: AskedAnswer
    rho: Any
    epsilon: Any
    split: Scheme | None
    clamp: Bounds | None
    candidates: Iterable[Exact] | None


def _check_items(
    items: Sequence[AskedAnswer | Shown], sets: list[ColumnNames], reader: Reader
) -> None:
    grouped = {name for columns in sets for name in columns}
    if not any(isinstance(item, AskedAnswer) for item in items):
        message = "the SELECT list asks for no aggregate; add one, such as COUNT(*) or SUM(emp)."
        raise reader.refuse_word(message, TokenType.SELECT)
    seen: set[str] = set()
    for item in items:
        name = item.column if isinstance(item, Shown) else item.name
        if isinstance(item, Shown) and name not in grouped:
            with reader.placed(item.node):
                field_of(name, reader.schema.fields)
            message = f"{name!r} is not grouped by; add it to GROUP BY, or aggregate it."
            raise reader.refuse(item.node, message)
        if name in seen or (isinstance(item, AskedAnswer) and name in grouped):
            message = f"two columns of the result are named {name!r}; name an answer with AS."
            raise reader.refuse(item.node, message)
        seen.add(name)


def _filter(select: exp.Select, reader: Reader) -> Expression | None:
    where = select.args.get("where")
    if where is None:
        return None
    fields = reader.schema.fields
    condition = from_sqlglot(where.this, reader.text, WHAT, reader.table_names)
    for column in where.find_all(exp.Column):
        with reader.placed(column):
            field_of(column.name, fields)
    with reader.placed(where.this):
        if kind_of(condition, fields) is not Kind.TRUTH:
            raise QueryError("this is no condition; expected such as state = 'NC'.")
    return condition


def _grouped(
    query: Query,
    sets: list[ColumnNames] | None,
    keys: WhichCells | Mapping[ColumnNames, WhichCells] | None,
    reader: Reader,
) -> Query:
    if not sets or not any(sets):
        if keys is not None:
            raise QueryError("keys are given, but the SQL groups by no column; leave them out.")
        return query
    if isinstance(keys, Mapping):
        strays = [name for name in keys if name not in sets]
        if strays:
            raise QueryError(
                f"the keys name the grouping set {strays[0]!r}, which the SQL does not have. It "
                f"has {listing(columns for columns in sets if columns)}."
            )
    try:
        return query.group_by_sets(sets, keys=keys)
    except InputError as error:
        raise reader.refuse_word(str(error), TokenType.GROUP_BY) from None


def _answered(query: Query, terms: _Terms, accounting: Accounting, reader: Reader) -> Query:
    """Return the query with one more answer, or say at its place which option it lacks."""
    asked, price = terms.asked, {"rho": terms.rho, "epsilon": terms.epsilon}
    for message in _lacks(terms):
        raise reader.refuse(asked.node, message)
    column, name = asked.column or "", asked.name
    match asked.form:
        case AnswerForm.COUNT:
            return query.count(asked.column, **price, name=name)
        case AnswerForm.COUNT_DISTINCT:
            return query.count_distinct(column, **price, name=name)
        case AnswerForm.SUM | AnswerForm.AVERAGE:
            add = query.sum if asked.form is AnswerForm.SUM else query.average
            return add(
                column,
                split=terms.split,
                clamp=terms.clamp,
                rho=terms.rho,
                epsilon=terms.epsilon,
                accounting=accounting,
                name=name,
            )
        case AnswerForm.QUANTILE:
            found = terms.candidates or ()
            return query.quantile(column, asked.level or 0, candidates=found, **price, name=name)


def _lacks(terms: _Terms) -> Iterator[str]:
    """Yield what is missing or given twice, and how to give it."""
    name, column = terms.asked.name, terms.asked.column
    if (terms.rho is None) == (terms.epsilon is None):
        found = "has no amount" if terms.rho is None else "has both rho and epsilon"
        yield (
            f"the answer {name!r} {found}; give rho='0.1' for each answer, or by name: "
            f"rho={{{name!r}: '0.1', ...}}. For pure epsilon, epsilon=... instead."
        )
    takes_method = terms.asked.form in (AnswerForm.SUM, AnswerForm.AVERAGE)
    if takes_method and (terms.split is None) == (terms.clamp is None):
        found = "neither split nor clamp" if terms.split is None else "both split and clamp"
        yield (
            f"the answer {name!r} has {found}; give one: split=Split({column}=...), or "
            f"clamp={{{name!r}: (low, high)}}, where the measure's name {column!r} serves too."
        )
    if terms.asked.form is AnswerForm.QUANTILE and terms.candidates is None:
        yield (
            f"the answer {name!r} has no candidates; give public numbers to choose from, such as "
            f"candidates={{{name!r}: range(0, 1000, 10)}}."
        )
