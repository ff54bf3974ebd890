"""Several snapshots of one period: what is charged on all of them, beside one part (T35).

A revision is another state of the same period's data. What is charged on it comes out of the same
part of the budget. A record that was revised has several values in the period, r_1, ..., r_k, and
loses S_1(r_1) + ... + S_k(r_k), S_j being the charges on snapshot j. Its part holds, at the
largest of its values, if either of these is proved:

    largest losses   sup S_1 + ... + sup S_k  <=  part(r)                     for every record r
    shares           S_j  <=  a_j part  for every record,  a_1 + ... + a_k  <=  1

With shares a record loses at most a_1 part(r_1) + ... + a_k part(r_k), a weighted mean of what its
values may lose, or less. Losses that grow with the size of a record have shares and no largest.
"""

from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction

from perrecord.policy.policy import Policy

REVISION = (
    "the data is a revision: the period was charged on another snapshot before. Both are charged "
    "to the period's part, and a record that was revised may lose what the larger of its values may"
)
REVISED = (
    "the data is a revision, and what was charged on each snapshot of the period can be covered "
    "neither by its largest loss nor by a share of the part that leaves enough for the others. "
    "Nothing was charged. Ask for less: all revisions of a period share its part."
)

_SHARES = 64
"""Shares that are no plain ratio are rounded up to parts of this."""


def have_shares(sums: Iterable[Policy], budget: Policy) -> bool:
    """Tell whether each sum is below a share of the budget, the shares at most 1 in all (T35).

    >>> from perrecord import Policy, Split
    >>> scheme = Split(employees=50)
    >>> part, half = Policy.split(1, scheme), Policy.split("0.5", scheme)
    >>> have_shares([half, half], part), have_shares([half, Policy.split("0.6", scheme)], part)
    (True, False)

    Deltas have no such mean: where keys are selected, it is false.
    """
    every = list(sums)
    if any(each.slots for each in (budget, *every)):
        return False
    left = Fraction(1)
    for each in every:
        share = _share(each, budget)
        if share is None or share > left:
            return False
        left -= share
    return True


def _share(policy: Policy, budget: Policy) -> Fraction | None:
    """Return a share of the budget that the policy is proved to stay below."""
    least = budget.minimum()
    if least > 0:
        ratio = policy.minimum() / least  # no share is smaller, and often it is enough
        if policy.is_below(budget * ratio):
            return ratio

    def is_enough(parts: int) -> bool:
        return policy.is_below(budget * Fraction(parts, _SHARES))

    if not is_enough(_SHARES):
        return None
    return Fraction(bisect_left(range(_SHARES), True, key=is_enough), _SHARES)
