"""A workload table by table, and asked otherwise: other schemes, top-codes, other amounts."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import partial

from perrecord.errors import AmountError, InputError, listing
from perrecord.exact import text
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.queries.answers import Answer
from perrecord.queries.methods import (
    Accounting,
    Clamping,
    Method,
    Methods,
    Splitting,
    has_default,
    leaves,
    tree_of,
)
from perrecord.queries.query import Query
from perrecord.release.goals import answer_names
from perrecord.release.names import table_names

_TOP_CODE = "top-code "
_BUDGET = " × budget"
_DIGITS = Context(prec=4, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Variant:
    """A workload under a name, and how its totals are made private."""

    name: str
    kind: str
    queries: tuple[Query, ...]


AS_WRITTEN, SPLITTING, TOP_CODING, BUDGET = "as written", "splitting", "top-coding", "budget"


def variants(
    queries: Iterable[Query],
    schemes: Mapping[str, Scheme],
    *,
    top_codes: bool = True,
    budgets: Iterable[Fraction] = (),
) -> tuple[Variant, ...]:
    """Return a workload as it is written, under each scheme, top-coded at it, at other budgets.

    A scheme takes the place of another in every split total and average whose measure it has a
    threshold for; where it has none for any of them, it is left out. Amounts stay. Budgets are what
    the amounts of all answers are multiplied by; equal ones are compared once.
    """
    written = tuple(queries)
    found = [Variant(AS_WRITTEN, AS_WRITTEN, written)]
    fitting = {name: scheme for name, scheme in schemes.items() if is_fitting(written, scheme)}
    for name, scheme in fitting.items():
        is_taken = name == AS_WRITTEN or name.startswith(_TOP_CODE) or name.endswith(_BUDGET)
        shown = f"split {name}" if is_taken else name
        found.append(Variant(shown, SPLITTING, resplit(written, partial(_the, scheme))))
    if top_codes:
        for name, scheme in fitting.items():
            if isinstance(scheme, Split) or _is_flat(scheme):
                coded = top_coded(written, scheme)
                found.append(Variant(f"{_TOP_CODE}{name}", TOP_CODING, coded))
    for factor in dict.fromkeys(budgets):
        if factor <= 0:
            raise AmountError(
                f"a budget is {float(factor):g} times the written one; expected more than 0, "
                "such as 2."
            )
        name = f"{text(factor)}{_BUDGET}"
        found.append(Variant(name, BUDGET, tuple(scaled(query, factor) for query in written)))
    names = Counter(each.name for each in found)
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise InputError(
            f"two of the ways that are compared are called {listing(twice)}; rename the split."
        )
    return tuple(found)


def _the(scheme: Scheme, measure: str) -> Scheme:  # noqa: ARG001 - one for every measure
    return scheme


def _is_flat(scheme: SplitBy) -> bool:
    return all(isinstance(inner, Split) for inner in scheme.cases.values())


def is_fitting(queries: Iterable[Query], scheme: Scheme) -> bool:
    """Tell whether a scheme can stand in place of that of some split total or average."""
    return any(
        answer.scheme is not None and covers(scheme, measure_of(answer))
        for query in queries
        for answer in query.answers
    )


def measure_of(answer: Answer) -> str:
    """Return the measure that a split total or average adds up."""
    return answer.measurements[0].measure or ""


def covers(scheme: Scheme, measure: str) -> bool:
    """Tell whether a scheme can split a total of a measure, whatever the record.

    It has a threshold for it in every case and by default, and no cap.
    """
    tree = tree_of(Splitting(Fraction(1), scheme))
    every = [leaf.method.scheme for leaf in leaves(tree)]
    return has_default(tree) and all(
        isinstance(scheme, Split) and scheme.cap is None and measure in scheme.measures
        for scheme in every
    )


def resplit(
    queries: Iterable[Query], scheme_of: Callable[[str], Scheme | None]
) -> tuple[Query, ...]:
    """Return the queries with the schemes of their split totals replaced, by measure."""

    def changed(answer: Answer) -> Answer:
        scheme = None if answer.scheme is None else scheme_of(measure_of(answer))
        if scheme is None or not covers(scheme, measure_of(answer)):
            return answer
        return answer.mapped(lambda method: method.with_scheme(scheme))

    return tuple(with_answers(query, changed) for query in queries)


def top_coded(queries: Iterable[Query], scheme: Scheme) -> tuple[Query, ...]:
    """Return the queries with values cut to [-T, T] where they would be split at T (T12).

    Noise and amounts are the same; what is lost is what lies beyond.
    """

    def changed(answer: Answer) -> Answer:
        if answer.scheme is None or not covers(scheme, measure_of(answer)):
            return answer
        return answer.mapped(lambda method: _clamped(method, scheme, measure_of(answer)))

    return tuple(with_answers(query, changed) for query in queries)


def _clamped(method: Method, scheme: Scheme, measure: str) -> Methods:
    def at(threshold: Fraction) -> Method:
        return Clamping(method.amount, -threshold, threshold)

    if method.scheme is None:
        return method
    if isinstance(scheme, SplitBy):
        return scheme.cases.map(lambda inner: at(inner.at({}).threshold(measure)))
    return at(scheme.threshold(measure))


def accounted(queries: Iterable[Query], accounting: Accounting) -> tuple[Query, ...]:
    """Return the queries with every split total accounted for this way (T11)."""

    def changed(answer: Answer) -> Answer:
        return answer.mapped(lambda method: method.accounted(accounting))

    return tuple(with_answers(query, changed) for query in queries)


def scaled(query: Query, factor: Fraction) -> Query:
    """Return the query with every amount of its answers multiplied."""
    return with_answers(query, lambda answer: with_factor(answer, factor))


def with_factor(answer: Answer, factor: Fraction) -> Answer:
    """Return an answer with its amounts multiplied, and rounded up to four digits."""
    return answer.mapped(lambda method: method.with_amount(rounded_up(method.amount * factor)))


def with_answers(query: Query, change: Callable[[Answer], Answer]) -> Query:
    """Return the query with its answers changed one by one."""
    return replace(query, answers=tuple(map(change, query.answers)))


def rounded_up(amount: Fraction) -> Fraction:
    """Return an amount rounded up to four digits, as it can be written in a spec.

    >>> rounded_up(Fraction(1, 3)), rounded_up(Fraction(1, 10))
    (Fraction(1667, 5000), Fraction(1, 10))
    """
    return Fraction(_DIGITS.divide(Decimal(amount.numerator), Decimal(amount.denominator)))


@dataclass(frozen=True, slots=True)
class WorkloadTable:
    """One table of a workload: a query over one set of columns."""

    name: str
    origin: str
    query: Query

    def names(self, answer: str) -> list[str]:
        """Return what an answer may be called, from the least precise name to the most."""
        return answer_names(self.origin, self.name, answer)


def one_set_each(
    queries: Mapping[str, Query] | Iterable[tuple[str, Query]],
) -> tuple[WorkloadTable, ...]:
    """Return the tables of a workload, as a release would name them."""
    named = queries.items() if isinstance(queries, Mapping) else queries
    return tuple(
        WorkloadTable(table, name, replace(query, groupings=(grouping,)))
        for name, query in named
        for table, grouping in zip(
            table_names(name, [each.columns for each in query.groupings]),
            query.groupings,
            strict=True,
        )
    )
