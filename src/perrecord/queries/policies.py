"""The policy of each answer, from public facts alone: methods, grouping, filter.

A record that a filter shuts out loses nothing; where a filter cannot be written as cases of
dimensions the policy covers every record, which is never too little.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import assert_never

from perrecord.policy.cases import Cases, Dimension, Key
from perrecord.policy.policy import Policy
from perrecord.policy.split import Split
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer, Average, Count, CountDistinct, Quantile, Sum
from perrecord.queries.groupings import Grouping, SelectKeys
from perrecord.queries.methods import (
    Clamping,
    Leaf,
    Method,
    Methods,
    Splitting,
    Spread,
    Tree,
    has_default,
    leaves,
    sensitivity,
    spread,
    tree_of,
)
from perrecord.tables.expressions import And, Expression, as_cases

_MOST_CASES = 1000


def answer_policy(answer: Answer, fixed: frozenset[str], currency: Currency) -> Policy:
    """Return the policy of an answer in cells whose keys fix these dimensions."""
    match answer:
        case Count() | CountDistinct():
            return _additive(answer.method, None, fixed, currency)
        case Sum():
            return _additive(answer.method, answer.measure, fixed, currency)
        case Average():
            total = _additive(
                answer.method, answer.measure, fixed, currency, is_centred=is_centred(answer)
            )
            return total + _constant(answer.count.amount, currency)
        case Quantile():
            return _constant(answer.amount, currency)
        case _:
            assert_never(answer)


def is_centred(answer: Answer) -> bool:
    """Tell whether an answer's total is of distances from the middle of its bounds (T13)."""
    return isinstance(answer, Average) and isinstance(answer.method, Clamping)


def selection_policy(grouping: Grouping) -> Policy | None:
    """Return the policy of finding the keys, if the data is asked for them (T9)."""
    if not isinstance(grouping.cells, SelectKeys):
        return None
    cells = grouping.cells
    return Policy.selection(
        cells.rho, grouping.columns, split=cells.split, threshold=cells.threshold
    )


def on_filtered(policy: Policy, condition: Expression | None, dimensions: frozenset[str]) -> Policy:
    """Return the policy of a mechanism that runs on the records that meet the condition (T5)."""
    found = passing(condition, dimensions)
    if not found.names:
        return policy
    return Policy.by(found.names, dict.fromkeys(found.keys, policy), Policy.zero(policy.currency))


@dataclass(frozen=True, slots=True)
class Passing:
    """The records that meet a condition, by the values of some of their dimensions."""

    names: tuple[str, ...]
    """None where the condition could not be written so, or not briefly: all records are meant."""
    keys: tuple[Key, ...]
    is_whole: bool
    """Whether exactly these records pass; otherwise some of them may not."""


def passing(condition: Expression | None, dimensions: frozenset[str]) -> Passing:
    """Return the records that meet a condition, as far as values of dimensions tell.

    Conditions that list none are left out: more records then count as passing, never fewer.
    """
    allowed: dict[str, frozenset[Dimension]] = {}
    is_whole = True
    parts = condition.parts if isinstance(condition, And) else (condition,)
    for part in parts if condition is not None else ():
        cases = None if part is None else as_cases(part)
        is_whole &= cases is not None
        for name, values in (cases or {}).items():
            if name in dimensions:
                kept = frozenset(each for each in values if isinstance(each, Dimension))
                allowed[name] = allowed.get(name, kept) & kept
            else:
                is_whole = False
    names = tuple(sorted(allowed))
    if prod(len(allowed[name]) for name in names) > _MOST_CASES:
        return Passing((), (), False)
    keys = product(*(sorted(allowed[name], key=repr) for name in names)) if names else ()
    return Passing(names, tuple(keys), is_whole)


def _constant(amount: Fraction, currency: Currency) -> Policy:
    if currency is Currency.RHO:
        return Policy.constant(amount)
    return Policy.constant(epsilon=amount)


def _additive(
    methods: Methods,
    measure: str | None,
    fixed: frozenset[str],
    currency: Currency,
    *,
    is_centred: bool = False,
) -> Policy:
    if isinstance(methods, Splitting) and methods.accounting == "split":
        tree = tree_of(methods)
        if has_default(tree):  # as its author wrote it
            return _split(methods, currency)
    of = partial(spread, measure=measure, currency=currency, is_centred=is_centred)
    most = partial(sensitivity, measure=measure, is_centred=is_centred)
    return _by_parts(tree_of(methods), None, fixed, currency, _Price(measure, of, most, currency))


class _Price:
    """What a part costs in a cell of a given spread: D^2/(2 sigma^2), or D/scale (T11, T12)."""

    def __init__(
        self,
        measure: str | None,
        spread_of: Callable[[Method], Spread],
        most: Callable[[Method], Fraction],
        currency: Currency,
    ) -> None:
        self.measure, self.spread_of, self.most = measure, spread_of, most
        self.currency = currency

    def amount(self, method: Method, cell: Spread) -> Fraction:
        size = self.most(method)
        return size**2 / (2 * cell) if self.currency is Currency.RHO else size / cell

    def policy(self, method: Method, cell: Spread) -> Policy:
        match method:
            case Splitting(accounting="split"):
                return _split(method, self.currency)
            case Splitting(_, Split()):
                return _exact(
                    self.amount(method, cell), self.measure or "", self.most(method), self.currency
                )
            case _:
                return _constant(self.amount(method, cell), self.currency)


def _by_parts(
    tree: Tree, cell: Spread | None, fixed: frozenset[str], currency: Currency, price: _Price
) -> Policy:
    """Return the policy over a tree of parts; `cell` is the cell's spread once it is settled."""
    if isinstance(tree, Leaf):
        own = price.spread_of(tree.method)
        return price.policy(tree.method, own if cell is None else cell)
    if cell is None and not fixed.issuperset(tree.cases.dimensions):
        cell = max(price.spread_of(leaf.method) for leaf in leaves(tree))
    settled = cell
    cases = tree.cases.map(lambda part: _by_parts(part, settled, fixed, currency, price))
    return _piecewise(cases, currency)


def _piecewise(cases: Cases[Policy], currency: Currency) -> Policy:
    default = Policy.zero(currency) if cases.default is None else cases.default
    entries = {key if len(cases.dimensions) > 1 else key[0]: each for key, each in cases.entries}
    dimensions = cases.dimensions if len(cases.dimensions) > 1 else cases.dimensions[0]
    return Policy.by(dimensions, entries, default)


def _split(method: Splitting, currency: Currency) -> Policy:
    if currency is Currency.RHO:
        return Policy.split(method.amount, method.split)
    return Policy.split(epsilon=method.amount, split=method.split)


def _exact(amount: Fraction, measure: str, threshold: Fraction, currency: Currency) -> Policy:
    if currency is Currency.RHO:
        return Policy.exact(amount, measure=measure, threshold=threshold)
    return Policy.exact(epsilon=amount, measure=measure, threshold=threshold)
