"""How losses add up over groups of records, and what replacing a record costs (T7, T20).

Results that are irrational are rounded up, never down.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from perrecord.errors import AmountError, InputError
from perrecord.exact import Exact, rational, round_up, sqrt_up

GroupBound = Literal["tight", "simple", "advanced"]


def group_loss(losses: Iterable[Exact], bound: GroupBound = "tight") -> Fraction:
    """Return the zCDP loss of several records changed together, from the loss of each (T7).

    - tight: (sum of sqrt P_j)^2, order-free, never above simple, attained by Gaussian noise;
    - simple: J * sum of P_j (the paper's Lemma "simple group privacy");
    - advanced: inf over k > 1 of sum_j k^j/(k-1) P_(j), P descending (the paper's Lemma
      "advanced group privacy"); any k gives a valid bound, a near-best one is taken.

    >>> group_loss([9, 4, 1]), group_loss([9, 4, 1], "simple")
    (Fraction(36, 1), Fraction(42, 1))
    >>> float(group_loss([9, 4, 1], "advanced"))
    41.5037...
    """
    if bound not in get_args(GroupBound):
        found = repr(bound) if isinstance(bound, str) else f"a {type(bound).__name__}"
        raise InputError(f"the group bound is {found}; expected 'tight', 'simple' or 'advanced'.")
    if isinstance(losses, str | Mapping) or not isinstance(losses, Iterable):
        raise InputError(
            f"the losses are a {type(losses).__name__}; expected a list of numbers, one a record."
        )
    amounts = sorted((_loss(loss) for loss in losses), reverse=True)
    positive = [amount for amount in amounts if amount]
    if len(positive) <= 1:
        return sum(positive, Fraction(0))
    match bound:
        case "tight":
            return min(_tight(positive), _simple(positive))
        case "simple":
            return _simple(positive)
        case "advanced":
            return _advanced(positive)


def substitution_loss(loss: Exact, other: Exact) -> Fraction:
    """Return what replacing a record of one loss by one of another costs (T20).

    One record leaves and one joins, so this is the tight bound for two.

    >>> substitution_loss(1, 4)
    Fraction(9, 1)
    """
    return group_loss([loss, other])


def realised_loss(changes: Iterable[tuple[Exact, Exact]]) -> Fraction:
    """Return what a unit really loses to Gaussian answers: sum of change^2 / (2 sigma^2) (T17).

    Each pair is by how much the unit's records together change one cell's exact answer, and that
    cell's sigma^2. It depends on the unit alone, never exceeds the policy, and is confidential.

    >>> realised_loss([(150, 1250), (1, 5)])   # a total and a count
    Fraction(91, 10)
    """
    total = Fraction(0)
    for change, sigma_squared in changes:
        variance = rational(sigma_squared, "sigma squared")
        if variance <= 0:
            raise InputError(f"sigma squared is {sigma_squared}; expected a number above 0.")
        total += rational(change, "the change") ** 2 / (2 * variance)
    return total


@dataclass(frozen=True, slots=True)
class OneSided:
    """What a policy promises to a set R of records whose loss is at most rho (T20).

    `join_or_leave` is for adding or removing a record of R; `replace_within` for replacing it by
    another of R; `replace_by_any` for replacing it by any record at all, which is what one-sided
    privacy asks. That last one is None when losses outside R are unbounded: no bound holds.
    """

    join_or_leave: Fraction
    replace_within: Fraction
    replace_by_any: Fraction | None


def one_sided(rho: Exact, rho_max: Exact | None = None) -> OneSided:
    """Return the corrected one-sided statement, given the suprema of P over R and over all.

    The paper's lemma claims 2 rho. That is false: with N(sum, 1), R = [-1, 1] and rho = 1/2,
    replacing 1 by -1 costs 2 and replacing 0 by 10 costs 50.

    >>> one_sided("1/2").replace_within, one_sided("1/2").replace_by_any
    (Fraction(2, 1), None)
    >>> one_sided(1, rho_max=4).replace_by_any
    Fraction(9, 1)
    """
    inside = _loss(rho)
    if rho_max is None:
        return OneSided(inside, 4 * inside, None)
    everywhere = _loss(rho_max)
    if everywhere < inside:
        raise AmountError(
            f"rho_max is {rho_max}, below rho = {rho}; expected the supremum over all records, "
            "which is at least the one over R."
        )
    return OneSided(inside, 4 * inside, substitution_loss(inside, everywhere))


def _loss(value: Exact) -> Fraction:
    amount = rational(value, "a loss")
    if amount < 0:
        raise AmountError(f"a loss is {value}; expected a number that is not negative.")
    return amount


def _simple(losses: list[Fraction]) -> Fraction:
    return len(losses) * sum(losses, Fraction(0))


def _tight(losses: list[Fraction]) -> Fraction:
    # Dividing by the largest keeps rho * pieces^2 exact: the ratios are squares of rationals.
    largest = losses[0]
    counts = Counter(losses)
    roots = (count * sqrt_up(loss / largest) for loss, count in counts.items())
    return largest * sum(roots, Fraction(0)) ** 2


def _advanced(losses: list[Fraction]) -> Fraction:
    # Convex in s = ln k: every k^j/(k-1) is log-convex there. Golden section in floats, then the
    # exact value, rounded up at each step, at the rational k that was found.
    ratios = [float(loss / losses[0]) for loss in losses]

    def log_bound(s: float) -> float:
        exponents = [j * s + math.log(ratio) for j, ratio in enumerate(ratios, 1) if ratio]
        top = max(exponents)
        return (
            top
            + math.log(math.fsum(math.exp(e - top) for e in exponents))
            - math.log(math.expm1(s))
        )

    low, high, golden = 1e-9, 40.0, (math.sqrt(5) - 1) / 2
    for _ in range(100):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if log_bound(left) < log_bound(right) else (left, high)
    k = Fraction(math.ceil(math.exp((low + high) / 2) * 2**40), 2**40)
    total = Fraction(0)
    for loss in reversed(losses):
        total = round_up((total + loss) * k)
    return round_up(total / (k - 1))
