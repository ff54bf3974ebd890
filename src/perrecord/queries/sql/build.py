"""`from_sql`: the parts that were read, put together as a `Query`."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlglot import TokenType, exp

from perrecord.errors import InputError, SQLTextError
from perrecord.exact import Exact
from perrecord.policy.split import Scheme
from perrecord.policy.weighing import Weighting
from perrecord.queries.check import check, check_asked, check_columns, check_filter
from perrecord.queries.groupings import WhichCells
from perrecord.queries.methods import Accounting, Blur, Taper
from perrecord.queries.query import Query
from perrecord.queries.sql import options
from perrecord.queries.sql.asked import AnswerForm, AskedAnswer, Shown, read_item
from perrecord.queries.sql.clauses import select_of
from perrecord.queries.sql.complete import check_complete
from perrecord.queries.sql.groups import ColumnNames, read_groups
from perrecord.queries.sql.options import Amounts, Bounds
from perrecord.queries.sql.reader import WHAT, Reader
from perrecord.tables.expressions import Expression
from perrecord.tables.expressions.kinds import field_of
from perrecord.tables.parse import from_sqlglot
from perrecord.tables.places import place_of
from perrecord.tables.schema import Schema


def from_sql(  # noqa: PLR0913 - an option for whatever SQL cannot say
    text: str,
    *,
    schema: Schema,
    keys: WhichCells | Mapping[ColumnNames, WhichCells] | None = None,
    rho: Amounts | None = None,
    epsilon: Amounts | None = None,
    split: Scheme | Mapping[str, Scheme] | None = None,
    clamp: Bounds | Mapping[str, Bounds] | None = None,
    taper: Exact | Taper | Mapping[str, Exact | Taper] | None = None,
    blur: Exact | Blur | Mapping[str, Exact | Blur] | None = None,
    candidates: Iterable[Exact] | Mapping[str, Iterable[Exact]] | None = None,
    weight: Weighting | Mapping[str, Weighting] | None = None,
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
    - `split`, `clamp` or `taper`: exactly one of them for each SUM and AVG, by answer or by
      measure. One scheme or taper for all goes to the measures that it names, one pair of bounds
      to every SUM and AVG.
    - `blur`: with a taper, what widens the noise of a SUM, by answer or by measure (T28).
    - `candidates`: public numbers for the quantiles, by answer or by measure.
    - `weight`: by which measure their records are weighed, by answer or by measure (T37).
    - `accounting`: `"split"` charges split totals by whole pieces, `"exact"` by the value itself.
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
    grouped = {name for columns in sets or () for name in columns}
    _check_shown([item for item in items if isinstance(item, Shown)], grouped, reader)
    condition = _filter(select, reader)
    check_complete(select, reader)
    with _placed({item.name: item for item in asked}, bool(grouped), reader):
        if not asked:
            check_asked(Query())
        check_columns([item.name for item in asked], grouped)
        query = Query(schema.name, filter=condition).group_by_sets(sets or [()], keys=keys)
        terms = zip(
            asked,
            options.amounts("rho", rho, asked),
            options.amounts("epsilon", epsilon, asked),
            options.splits(split, asked),
            options.clamps(clamp, asked),
            options.tapers(taper, asked),
            options.blurs(blur, asked),
            options.candidates(candidates, asked),
            options.weights(weight, asked),
            strict=True,
        )
        for each in terms:
            query = _answered(query, _Terms(*each), accounting)
        check(query, schema)
    return query


@dataclass(frozen=True, slots=True)
class _Terms:
    """One answer and the options it got."""

    asked: AskedAnswer
    rho: Any
    epsilon: Any
    split: Scheme | None
    clamp: Bounds | None
    taper: Any
    blur: Any
    candidates: Any
    weight: Any


@contextmanager
def _placed(asked: Mapping[str, AskedAnswer], is_grouped: bool, reader: Reader) -> Iterator[None]:
    """Show what is wrong with the query where the text says what it is about.

    Columns were checked where they stand: what is left is about an answer's options or its name,
    about the keys of a grouping, or about an option that no answer takes, which has no place.
    """
    try:
        yield
    except SQLTextError:
        raise
    except InputError as error:
        word = TokenType.GROUP_BY if is_grouped else TokenType.SELECT
        match error.about:
            case ("answers", name, *_):
                place, whose = place_of(asked[name].node, reader.text), f"the answer {name!r}: "
                raise reader.shown(error, place, whose) from None
            case ():
                raise reader.shown(error, reader.place_of_word(TokenType.SELECT)) from None
            case ("group_by" | "keys", *_):
                raise reader.shown(error, reader.place_of_word(word)) from None
        raise


def _check_shown(shown: Sequence[Shown], grouped: Container[str], reader: Reader) -> None:
    """Refuse columns of the SELECT list that are not grouped by, or shown twice."""
    seen: set[str] = set()
    for item in shown:
        if item.column not in grouped:
            with reader.placed(item.node):
                field_of(item.column, reader.schema.fields)
            message = f"{item.column!r} is not grouped by; add it to GROUP BY, or aggregate it."
            raise reader.refuse(item.node, message)
        if item.column in seen:
            message = f"two columns of the result are named {item.column!r}; show it once."
            raise reader.refuse(item.node, message)
        seen.add(item.column)


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
        check_filter(condition, reader.schema)
    return condition


def _answered(query: Query, terms: _Terms, accounting: Accounting) -> Query:
    """Return the query with one more answer."""
    asked, price = terms.asked, {"rho": terms.rho, "epsilon": terms.epsilon}
    column, name = asked.column or "", asked.name
    match asked.form:
        case AnswerForm.COUNT:
            return query.count(asked.column, **price, name=name)
        case AnswerForm.COUNT_DISTINCT:
            return query.count_distinct(column, **price, name=name)
        case AnswerForm.SUM | AnswerForm.AVERAGE:
            method = {"split": terms.split, "clamp": terms.clamp, "taper": terms.taper}
            counted = None if terms.split is None else accounting
            if asked.form is AnswerForm.AVERAGE:
                return query.average(column, **method, **price, accounting=counted, name=name)
            blurred = {**method, "blur": terms.blur}
            return query.sum(column, **blurred, **price, accounting=counted, name=name)
        case AnswerForm.QUANTILE:
            chosen = {"candidates": terms.candidates, "weight": terms.weight}
            return query.quantile(column, asked.level or 0, **chosen, **price, name=name)
