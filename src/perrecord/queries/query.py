"""The `Query`: a frozen value that says what is asked, built step by step or from SQL."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

from perrecord.errors import CurrencyError, QueryError, about, listing, suggestion
from perrecord.exact import Exact
from perrecord.policy.cases import Cases
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.policy.weighing import Weighting
from perrecord.queries.answers import Answer, Average, Count, CountDistinct, Quantile, Sum
from perrecord.queries.answers.average import halves
from perrecord.queries.answers.quantile import candidates_of, check_weighting, level_of
from perrecord.queries.groupings import Grouping, WhichCells
from perrecord.queries.methods import Accounting, Blur, Counting, Taper, blur_of, taper_of
from perrecord.queries.methods.parts import (
    Parts,
    cases_of,
    method_of,
    positive,
    priced_amount,
)
from perrecord.tables.expressions import Expression
from perrecord.tables.keys import names_of
from perrecord.tables.parse import parse_expression
from perrecord.tables.schema import Schema

AmountsByCase = Mapping[Any, Exact]
"""Amounts by a dimension's values, `...` for all others: no type says "text, or ..." of keys."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of a table: filter, grouping, answers, each with its price.

    Amounts are zCDP's rho, or pure epsilon when given as `epsilon=` (T16); one query has one
    currency. With several grouping sets each of them pays the amounts.

    >>> from perrecord import Keys, Query, Split
    >>> scheme = Split(emp=50)
    >>> query = (
    ...     Query("establishments")
    ...     .where("state = 'NC'")
    ...     .group_by("county", keys=Keys.from_dict({"county": ["37001", "37003"]}))
    ...     .count(rho="0.1")
    ...     .sum("emp", split=scheme, rho="0.2")
    ... )
    >>> [answer.name for answer in query.answers]
    ['count', 'sum_emp']
    """

    table: str = "records"
    filter: Expression | None = None
    groupings: tuple[Grouping, ...] = (Grouping((), None),)
    answers: tuple[Answer, ...] = ()
    currency: Currency | None = None

    # -- which records, which cells ---------------------------------------------------------

    def where(self, condition: str | Expression) -> "Query":
        """Return the query on the records that meet the condition, before any splitting."""
        with about("where"):
            if self.filter is not None:
                raise QueryError("the query has a filter already; join the two with AND.")
            parsed = parse_expression(condition) if isinstance(condition, str) else condition
            return replace(self, filter=parsed)

    def group_by(self, *columns: str | Sequence[str], keys: WhichCells | None = None) -> "Query":
        """Return the query answered for each key of these columns."""
        return self.group_by_sets([_names(columns)], keys=keys)

    def rollup(self, *columns: str | Sequence[str], keys: WhichCells | None = None) -> "Query":
        """Return the query answered by all columns, by all but the last, ..., and in total."""
        names = _names(columns)
        return self.group_by_sets(
            [names[:length] for length in range(len(names), -1, -1)], keys=keys
        )

    def group_by_sets(
        self,
        sets: Iterable[str | Sequence[str]],
        keys: WhichCells | Mapping[tuple[str, ...], WhichCells] | None = None,
    ) -> "Query":
        """Return the query answered for several grouping sets, each with its own cells.

        Keys over all columns serve every set; or give them per set: `{("state",): ..., ...}`.
        """
        every = [tuple(names_of(columns)) for columns in sets]
        with about("group_by"):
            if any(grouping.columns for grouping in self.groupings):
                raise QueryError("the query is grouped already; name all columns in one group_by.")
        check_sets(every, keys)
        found = [
            Grouping.of(columns, keys.get(columns) if isinstance(keys, Mapping) else keys)
            for columns in every
        ]
        return replace(self, groupings=tuple(found))

    # -- what is answered -------------------------------------------------------------------

    @overload
    def count(
        self,
        column: str | None = None,
        *,
        rho: Exact | None = None,
        epsilon: Exact | None = None,
        name: str | None = None,
    ) -> "Query": ...

    @overload
    def count(
        self,
        column: str | None = None,
        *,
        rho: AmountsByCase | None = None,
        epsilon: AmountsByCase | None = None,
        by: str | tuple[str, ...],
        name: str | None = None,
    ) -> "Query": ...

    def count(
        self,
        column: str | None = None,
        *,
        rho: Exact | AmountsByCase | None = None,
        epsilon: Exact | AmountsByCase | None = None,
        by: str | tuple[str, ...] | None = None,
        name: str | None = None,
    ) -> "Query":
        """Return the query with the number of records, or of those where the column is not NULL.

        With `by`, the amount is a dictionary from that dimension's values to amounts; the key
        `...` stands for all others.
        """
        named = name or ("count" if column is None else f"count_{column}")
        with about("answers", named):
            currency, method = _counting(rho, epsilon, by)
            return self._with(Count(named, method, column), currency)

    @overload
    def count_distinct(
        self,
        column: str,
        *,
        rho: Exact | None = None,
        epsilon: Exact | None = None,
        name: str | None = None,
    ) -> "Query": ...

    @overload
    def count_distinct(
        self,
        column: str,
        *,
        rho: AmountsByCase | None = None,
        epsilon: AmountsByCase | None = None,
        by: str | tuple[str, ...],
        name: str | None = None,
    ) -> "Query": ...

    def count_distinct(
        self,
        column: str,
        *,
        rho: Exact | AmountsByCase | None = None,
        epsilon: Exact | AmountsByCase | None = None,
        by: str | tuple[str, ...] | None = None,
        name: str | None = None,
    ) -> "Query":
        """Return the query with the number of different values of a column, such as firms."""
        named = name or f"count_distinct_{column}"
        with about("answers", named):
            currency, method = _counting(rho, epsilon, by)
            return self._with(CountDistinct(named, method, column), currency)

    def sum(
        self,
        measure: str,
        *,
        split: Scheme | None = None,
        clamp: tuple[Exact, Exact] | None = None,
        taper: Exact | Taper | None = None,
        blur: Exact | Blur | None = None,
        rho: Exact | None = None,
        epsilon: Exact | None = None,
        accounting: Accounting | None = None,
        parts: "Parts | None" = None,
        name: str | None = None,
    ) -> "Query":
        """Return the query with the total of a measure, by splitting, clamping or tapering.

        `taper` is the size of a record that loses the amount: a number, or a `Taper` with sizes of
        several measures (T26). `blur` makes its noise grow by this part of each record, or, as a
        `Blur` with a scale, of a public size of the cell (T28).
        With `parts`, each part of a public partition has its own method (T5):
        `parts=Parts("sector", {"farm": splitting(...), ...: clamping(...)})`.
        """
        named = name or f"sum_{measure}"
        with about("answers", named):
            if parts is not None:
                _check_beside_parts(
                    split=split,
                    clamp=clamp,
                    taper=taper,
                    blur=blur,
                    accounting=accounting,
                    rho=rho,
                    epsilon=epsilon,
                )
                return self._with(Sum(named, measure, parts.cases), parts.currency)
            priced = method_of(
                split=split,
                clamp=clamp,
                taper=taper_of(taper, measure),
                blur=blur_of(blur, measure),
                accounting=accounting,
                rho=rho,
                epsilon=epsilon,
            )
            return self._with(Sum(named, measure, priced.method), priced.currency)

    def average(
        self,
        measure: str,
        *,
        split: Scheme | None = None,
        clamp: tuple[Exact, Exact] | None = None,
        taper: Exact | Taper | None = None,
        rho: Exact | tuple[Exact, Exact] | None = None,
        epsilon: Exact | tuple[Exact, Exact] | None = None,
        accounting: Accounting | None = None,
        name: str | None = None,
    ) -> "Query":
        """Return the query with a measure's mean over the records where it is not NULL (T13).

        The amount is shared half and half between the total and the count, or given for each:
        `rho=("0.1", "0.05")`. The error is least at T : |mean| for an unsplit record.
        """
        named = name or f"avg_{measure}"
        with about("answers", named):
            currency, of_total, of_count = halves(rho, epsilon)
            priced = method_of(
                split=split,
                clamp=clamp,
                taper=taper_of(taper, measure),
                blur=None,
                accounting=accounting,
                **currency.amount(of_total),
            )
            counting = Counting(of_count)
            return self._with(Average(named, measure, priced.method, counting), currency)

    def quantile(
        self,
        measure: str,
        level: Exact,
        *,
        candidates: Iterable[Exact],
        weight: Weighting | None = None,
        rho: Exact | None = None,
        epsilon: Exact | None = None,
        name: str | None = None,
    ) -> "Query":
        """Return the query with a quantile of a measure, one of the public candidates (T14).

        With a weight, a record counts as often as it says, and loses by it (T37):
        `weight=Weighting("w", at=20)`.
        """
        with about("answers", name or f"quantile_{measure}"):
            exact = level_of(level)
        default = f"median_{measure}" if exact == Fraction(1, 2) else f"quantile_{measure}"
        named = name or default
        with about("answers", named):
            found = candidates_of(candidates)
            check_weighting(weight)
            currency, amount = priced_amount(rho, epsilon)
            return self._with(Quantile(named, measure, amount, exact, found, weight), currency)

    def median(
        self,
        measure: str,
        *,
        candidates: Iterable[Exact],
        weight: Weighting | None = None,
        rho: Exact | None = None,
        epsilon: Exact | None = None,
        name: str | None = None,
    ) -> "Query":
        """Return the query with the median of a measure, a quantile at the level 1/2."""
        price = {"rho": rho, "epsilon": epsilon}
        return self.quantile(
            measure, "1/2", candidates=candidates, weight=weight, **price, name=name
        )

    def sql(self, schema: Schema, engine: str = "duckdb") -> str:
        """Return the SQL that runs on the engine for this query, laid out for reading."""
        from perrecord.queries.plan import plan  # noqa: PLC0415 - a plan is made of queries

        return ";\n\n".join(plan(self, schema).sql(engine))

    def _with(self, answer: Answer, currency: Currency) -> "Query":
        if any(answer.name == other.name for other in self.answers):
            raise QueryError(
                f"two answers are named {answer.name!r}; give one of them another name.",
                about=("name",),
            )
        if self.currency not in (None, currency):
            raise CurrencyError(
                "the query has answers in rho and in epsilon; use one of the two, or two queries.",
                about=(currency.value,),
            )
        return replace(self, answers=(*self.answers, answer), currency=currency)


def _names(columns: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of columns, given one by one or as one list."""
    if len(columns) == 1 and isinstance(columns[0], list | tuple):
        columns = tuple(columns[0])
    wrong = [each for each in columns if not isinstance(each, str)]
    if wrong:
        raise QueryError(
            f"a grouping column is a {type(wrong[0]).__name__}; expected names, such as "
            'group_by("county", "naics2", keys=...).'
        )
    return columns


def _counting(
    rho: Exact | AmountsByCase | None,
    epsilon: Exact | AmountsByCase | None,
    by: str | tuple[str, ...] | None,
) -> tuple[Currency, Counting | Cases[Counting]]:
    if by is None:
        if isinstance(rho, Mapping) or isinstance(epsilon, Mapping):
            raise QueryError(
                "the amount is a dictionary; say whose values it goes by, such as by='sector'.",
                about=("by",),
            )
        currency, amount = priced_amount(rho, epsilon)
        return currency, Counting(amount)
    given = rho if epsilon is None else epsilon
    if not isinstance(given, Mapping):
        raise QueryError(
            'with by=..., the amount is a dictionary, such as {"farm": "0.1", ...: 1}.'
        )
    currency = Currency.RHO if epsilon is None else Currency.EPSILON
    with about(currency.value):
        amounts = {key: Counting(positive(each, currency.value)) for key, each in given.items()}
    return currency, cases_of(by, amounts)


def check_sets(sets: Sequence[tuple[str, ...]], keys: object) -> None:
    """Refuse grouping sets of which two are the same, and keys that none of them takes."""
    with about("group_by"):
        alike = [frozenset(columns) for columns in sets]
        if not sets:
            raise QueryError("there is no grouping set; give at least one, or leave grouping out.")
        for columns, each in zip(sets, alike, strict=True):
            if alike.count(each) > 1:
                raise QueryError(
                    f"the grouping set ({listing(columns)}) comes twice, and each is charged; give "
                    "it once."
                )
    with about("keys"):
        _check_keys(keys, sets)


def _check_keys(keys: object, sets: Sequence[tuple[str, ...]]) -> None:
    """Refuse keys that would be lost in silence."""
    is_given = bool(keys) if isinstance(keys, Mapping) else keys is not None
    if is_given and not any(sets):
        raise QueryError("keys are given, but the query groups by no column; leave them out.")
    if not isinstance(keys, Mapping):
        return
    if any(isinstance(each, str) for each in keys):
        raise QueryError(
            "the keys are a dictionary of values; make a key set of it: "
            'keys=Keys.from_dict({"state": ["TX", "NM"]}).'
        )
    known = [", ".join(columns) for columns in sets if columns]
    for columns in keys:
        if columns not in sets:
            name = ", ".join(columns)
            raise QueryError(
                f"no grouping set {name!r}. Grouping sets are {' | '.join(known)}."
                f"{suggestion(name, known)}",
                about=(name,),
            )


def _check_beside_parts(**given: object) -> None:
    for option, value in given.items():
        if value is not None:
            raise QueryError(
                f"each of the parts has its own {option}; leave it out here.", about=(option,)
            )
