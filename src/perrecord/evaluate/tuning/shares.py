"""The amounts of consistent tables shared anew among levels, at the same cost (T32).

No data is read: public keys and public noise decide, so what is found is public too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import prod

import numpy as np
import pyarrow as pa

from perrecord.errors import InputError
from perrecord.evaluate.accuracy.fitted import Deviations, deviations_of, keys_of_member
from perrecord.evaluate.accuracy.summaries import middle
from perrecord.evaluate.tuning.levels import Levels, best_shares
from perrecord.evaluate.variants import WorkloadTable, one_set_each, with_answers
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer
from perrecord.queries.hierarchies import Family, Member, families_of
from perrecord.queries.hierarchies.placing import declared_trees, layout_of, one_tree
from perrecord.queries.methods import Leaf, Method
from perrecord.queries.plan import Plan, plan
from perrecord.queries.query import Query
from perrecord.released.fitting.trees import walk
from perrecord.tables.lookups import Lookup
from perrecord.tables.schema import Schema

LEVELS, CELLS = "levels count equally", "cells count equally"
COUNTED = (LEVELS, CELLS)
"""What may be asked for: the mean over levels of mean variances, or the mean over all cells."""

AS_GIVEN = "amounts are given"
"""What is said of amounts that somebody chose."""

_DIGITS = Context(prec=4, rounding=ROUND_FLOOR)


@dataclass(frozen=True, slots=True, eq=False)
class SharedAnswer:
    """One answer of one table: its amount before and after, and standard errors of the middle."""

    table: str
    before: Answer
    after: Answer
    errors_before: Deviations
    errors_after: Deviations
    family: int
    """Which of the numbers in several tables it is, from 0: amounts are shared within one."""


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """A workload whose amounts are shared anew among levels, and what stays as it is."""

    counted: str
    answers: tuple[SharedAnswer, ...]
    untouched: tuple[tuple[str, str], ...]
    """Fitted answers whose amounts stay, as table.answer, with the reason."""
    queries: tuple[WorkloadTable, ...]
    """The workload with the new amounts, each table by itself."""
    before: Policy
    policy: Policy

    def to_arrow(self) -> pa.Table:
        """Return a row for each answer: amounts, and standard errors of the median cell."""
        return pa.Table.from_pylist([_row(each) for each in self.answers])


def _row(each: SharedAnswer) -> dict[str, object]:
    def error(found: Deviations) -> float | None:
        return None if found.fitted is None else middle(found.fitted)

    return {
        "table": each.table,
        "answer": each.before.name,
        "amount_before": float(each.before.amounts[0]),
        "amount_after": float(each.after.amounts[0]),
        "consistent_error_before": error(each.errors_before),
        "consistent_error_after": error(each.errors_after),
    }


def shared(
    queries: Mapping[str, Query], schema: Schema, counted: str, declared: Sequence[Lookup] = ()
) -> Sharing:
    """Return the workload with the amounts of each family shared so that fitted numbers err least.

    The sum over the tables of a family stays what it is, to the last digit, so what counts and
    split or clamped totals cost stays, too. A tapered total costs a record of the taper's size as
    much as before. `counted` is one of `COUNTED`.

    >>> import perrecord
    >>> with perrecord.table(pa.table({"place": ["a"]}), dimensions=["place"]) as source:
    ...     keys = perrecord.Keys.from_dict({"place": [f"{n}" for n in range(100)]})
    ...     asked = perrecord.Query().group_by_sets([("place",), ()], keys=keys).count(rho=1)
    ...     found = shared({"n": asked}, source.schema, "cells count equally")
    >>> found.to_arrow()["amount_after"].to_pylist(), found.policy == found.before
    ([1.8..., 0.1...], True)
    """
    if counted not in COUNTED:
        raise InputError(f"what counts equally is {counted!r}; expected {LEVELS!r} or {CELLS!r}.")
    asked = one_set_each(queries)
    planned = plan([each.query for each in asked], schema)
    amounts: dict[Member, Fraction] = {}
    untouched: list[tuple[Member, str]] = []
    for family in families_of(planned, declared).fitted:
        found = _amounts(family, planned, declared, is_by_cells=counted == CELLS)
        if isinstance(found, str):
            untouched += [(member, found) for member in family.members]
        else:
            amounts |= dict(zip(family.members, found, strict=True))
    return _sharing(counted, asked, planned, amounts, untouched, declared)


def divided(
    queries: Mapping[str, Query],
    schema: Schema,
    given: Mapping[tuple[str, str], Fraction],
    declared: Sequence[Lookup] = (),
) -> Sharing:
    """Return the workload with other amounts, by table and answer, beside the errors they make.

    Levels that nothing is given for keep their amounts; families whose amounts do not add up are
    left alone, with the reason.

    >>> import perrecord
    >>> with perrecord.table(pa.table({"place": ["a"]}), dimensions=["place"]) as source:
    ...     keys = perrecord.Keys.from_dict({"place": [f"{n}" for n in range(100)]})
    ...     asked = perrecord.Query().group_by_sets([("place",), ()], keys=keys).count(rho=1)
    ...     found = divided({"n": asked}, source.schema, {("n_total", "count"): Fraction(1, 2)})
    >>> found.to_arrow().select(["table", "amount_after"]).to_pylist()
    [{'table': 'n_by_place', 'amount_after': 1.0}, {'table': 'n_total', 'amount_after': 0.5}]
    """
    asked = one_set_each(queries)
    planned = plan([each.query for each in asked], schema)
    amounts: dict[Member, Fraction] = {}
    untouched: list[tuple[Member, str]] = []
    for family in families_of(planned, declared).fitted:
        methods = _methods(family, planned)
        for place, member in enumerate(family.members):
            if isinstance(methods, str):
                untouched.append((member, methods))
            else:
                named = asked[member.grouping].name, member.answer
                amounts[member] = given.get(named, methods[place].amount)
    return _sharing(AS_GIVEN, asked, planned, amounts, untouched, declared)


def _sharing(
    counted: str,
    asked: Sequence[WorkloadTable],
    planned: Plan,
    amounts: Mapping[Member, Fraction],
    untouched: Sequence[tuple[Member, str]],
    declared: Sequence[Lookup],
) -> Sharing:
    tables = tuple(
        replace(each, query=_with_amounts(each.query, place, amounts))
        for place, each in enumerate(asked)
    )
    after = plan([each.query for each in tables], planned.schema)
    names = [each.name for each in asked]
    return Sharing(
        counted,
        tuple(
            each
            for number, family in enumerate(families_of(planned, declared).fitted)
            if family.members[0] in amounts
            for each in _answers(family, number, planned, after, declared, names)
        ),
        tuple((f"{names[each.grouping]}.{each.answer}", why) for each, why in untouched),
        tables,
        planned.policy,
        after.policy,
    )


def _answers(
    family: Family,
    number: int,
    planned: Plan,
    after: Plan,
    declared: Sequence[Lookup],
    names: Sequence[str],
) -> Iterator[SharedAnswer]:
    errors = (deviations_of(family, each, declared, {}) for each in (planned, after))
    for first, second in zip(*errors, strict=True):
        yield SharedAnswer(
            names[first.member.grouping],
            _answer(planned, first.member),
            _answer(after, first.member),
            first,
            second,
            number,
        )


def _with_amounts(query: Query, place: int, amounts: Mapping[Member, Fraction]) -> Query:
    def changed(answer: Answer) -> Answer:
        amount = amounts.get(Member(place, answer.name))
        return (
            answer if amount is None else answer.mapped(lambda method: method.with_amount(amount))
        )

    return with_answers(query, changed)


def _answer(planned: Plan, member: Member) -> Answer:
    answers = (each.answer for each in planned.groupings[member.grouping].answers)
    return next(each for each in answers if each.name == member.answer)


# -- one family -------------------------------------------------------------------------------


def _amounts(
    family: Family, planned: Plan, declared: Sequence[Lookup], *, is_by_cells: bool
) -> list[Fraction] | str:
    """Return the amount of each member, or why they stay as they are."""
    methods = _methods(family, planned)
    if isinstance(methods, str):
        return methods
    sizes = [len(keys_of_member(planned, member, {})) for member in family.members]
    shares = _of_product(family, planned, declared, sizes, is_by_cells=is_by_cells)
    if shares is None and family.is_chain:
        shares = _of_chain(family, planned, declared, sizes, is_by_cells=is_by_cells)
    if shares is None:
        return (
            "not all combinations of its levels are published with the same noise in all cells, "
            "and not each table lies below the next"
        )
    return in_digits(sum((each.amount for each in methods), Fraction(0)), shares)


def _methods(family: Family, planned: Plan) -> list[Method] | str:
    """Return how each member is made private, or why their amounts do not add up."""
    answers = [_answer(planned, member) for member in family.members]
    every = [answer.measurements[0].methods for answer in answers]
    methods = [each for each in every if isinstance(each, Method)]
    if any(family.selected):
        return "keys are selected from the data, so how many there are is not public"
    queries = [planned.queries[planned.groupings[e.grouping].query] for e in family.members]
    if any((query.currency or Currency.RHO) is not Currency.RHO for query in queries):
        return "its amounts are in epsilon, and shares are of rho"
    if len(methods) < len(every):
        return "its amounts differ from part to part"
    if any(method.widening is not None for method in methods):
        return "its noise grows with public sizes of cells, and not by its amount alone"
    if len({method.with_amount(Fraction(1)) for method in methods}) > 1:
        return "its tables are made private in different ways, so their amounts do not add up"
    return methods


def _of_product(
    family: Family,
    planned: Plan,
    declared: Sequence[Lookup],
    sizes: Sequence[int],
    *,
    is_by_cells: bool,
) -> list[float] | None:
    """Return shares that are products over hierarchies, where all combinations are published.

    Then variances are products too (T32), and so is their mean: each hierarchy goes by itself.
    """
    trees = [each for each in declared_trees(family, planned, declared) if each is not None]
    levels_of = [list(walk(tree.starts)) for tree in trees]
    lengths = [[each.stop - each.start for each in own] for own in levels_of]
    whole = [
        prod(own[level] for own, level in zip(lengths, levels, strict=True))
        for levels in family.levels
    ]
    is_complete = (
        list(sizes) == whole
        and len(set(family.levels)) == len(family.levels) == prod(map(len, lengths))
        and all(
            isinstance(_answer(planned, each).measurements[0].tree, Leaf) for each in family.members
        )
    )
    if not is_complete:
        return None
    of_axes = []
    for tree, slices, own in zip(trees, levels_of, lengths, strict=True):
        weights = [size / sum(own) if is_by_cells else 1 / len(own) for size in own]
        nodes = tuple(np.arange(each.start, each.stop) for each in slices)
        of_axes.append(best_shares(Levels(tree, nodes, (1.0,) * len(own), tuple(weights))))
    return [
        prod(shares[level] for shares, level in zip(of_axes, levels, strict=True))
        for levels in family.levels
    ]


def _of_chain(
    family: Family,
    planned: Plan,
    declared: Sequence[Lookup],
    sizes: Sequence[int],
    *,
    is_by_cells: bool,
) -> list[float]:
    """Return the shares of tables that lie one below the other, as one tree of their cells."""
    keys = [keys_of_member(planned, member, {}) for member in family.members]
    one = one_tree(family, layout_of(family, planned.schema, keys, declared))
    amounts = [float(_answer(planned, each).amounts[0]) for each in family.members]
    noise = deviations_of(family, planned, declared, {})
    variances = tuple(each.noise**2 * amount for each, amount in zip(noise, amounts, strict=True))
    weights = [size / sum(sizes) if is_by_cells else 1 / len(sizes) for size in sizes]
    return list(best_shares(Levels(one.tree, one.places, variances, tuple(weights))))


def in_digits(total: Fraction, shares: Sequence[float]) -> list[Fraction]:
    """Return amounts of four digits, the largest with what is left, so that their sum is exact.

    >>> [str(each) for each in in_digits(Fraction(1), [1 / 3, 2 / 3])]
    ['3333/10000', '6667/10000']
    """
    found = [Fraction(_DIGITS.create_decimal(Decimal(float(total) * share))) for share in shares]
    largest = max(range(len(found)), key=found.__getitem__)
    found[largest] += total - sum(found)
    return found
