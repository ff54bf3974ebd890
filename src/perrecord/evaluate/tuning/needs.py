"""By how much an answer's amounts must change so that its cells meet a goal (T13, T22).

Every cell allows some most noise, and a share of the cells meets the goal at that percentile of the
factors. Gaussian noise scales as one over the amount: f = variance now / largest variance allowed.
Of a taper rho is what a record of its size loses, so f = P(size; largest A allowed) / rho (T26).
Of a blurred total the cell's own size has widened A already, and what is left is the taper's (T28).
An average's variance is the delta method's, and so approximate.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from perrecord.evaluate.accuracy.errors import cells_of, floats, mean_parts, means, tapered_cells
from perrecord.evaluate.accuracy.mixtures import mixture_widths
from perrecord.evaluate.accuracy.noise_size import Floats, gaussian
from perrecord.evaluate.accuracy.spreads import largest_spreads
from perrecord.evaluate.accuracy.truths import Noisy, Truth
from perrecord.evaluate.accuracy.within import (
    largest_normal_variances,
    largest_variances,
    limits_below,
    normal_quantile,
)
from perrecord.laws import DiscreteStudent, Law
from perrecord.laws.tapering import NARROWEST
from perrecord.laws.widths import deviation
from perrecord.policy.blurring import BlurredRho
from perrecord.policy.tapering import TaperedRho
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer
from perrecord.queries.methods import Blurring, Method, leaves
from perrecord.queries.noise_plan import NoisePlan
from perrecord.release.goals import Goal
from perrecord.tables.schema import Schema

_NARROWEST = 1.05 * NARROWEST
"""Amounts are rounded up to four digits, which makes noise a little narrower still."""

_HALVINGS = 50
_MOST_FACTOR = 1e12
"""No average's amounts are multiplied, or divided, by more."""


def asked_otherwise(truth: Truth, answer: Answer, schema: Schema) -> Truth:
    """Return the truth with the noise of an answer that differs in methods and amounts alone.

    Bounds that values are cut to must be the same: the bias is not computed anew.
    """
    first, *others = [
        _with_noise(noisy, step.noise(schema, truth.columns, Currency.RHO), truth)
        for noisy, step in zip(_numbers(truth), answer.measurements, strict=True)
    ]
    return replace(truth, answer=answer, total=first, count=others[0] if others else None)


def _numbers(truth: Truth) -> list[Noisy]:
    return [truth.total] if truth.count is None else [truth.total, truth.count]


def _with_noise(noisy: Noisy, noise: NoisePlan, truth: Truth) -> Noisy:
    if noise.blurred is None:
        laws, which = noise.laws(truth.keys)
        return replace(noisy, noise=noise, laws=laws, which=which)
    # What records add to their cell's noise depends on no amount.
    least = noise.law(noise.least_scale())
    assert isinstance(least, DiscreteStudent)  # noqa: S101 - blurred noise is Student's
    grown = [DiscreteStudent(least.spread + each, least.nu) for each in _widenings(noisy)]
    return replace(noisy, noise=noise, laws=tuple(grown))


def _widenings(noisy: Noisy) -> list[Fraction]:
    """Return by how much the A of each law is above that of a cell of size 0: not, if not blurred.

    Sizes are those of the cell's records, or public.
    """
    if noisy.noise.blurred is None and noisy.noise.widening is None:
        return [Fraction(0)] * len(noisy.laws)
    least = noisy.noise.least_scale().size / noisy.step**2
    return [law.spread - least for law in noisy.laws if isinstance(law, DiscreteStudent)]


def nu_of(law: Law) -> int | None:
    """Return the nu of Student noise; None of Gaussian noise."""
    return law.nu if isinstance(law, DiscreteStudent) else None


def is_tapered(truth: Truth) -> bool:
    """Tell whether some cells have Student noise."""
    return any(nu_of(law) is not None for law in truth.total.laws)


def is_too_narrow(truth: Truth) -> bool:
    """Tell whether some cells have Student noise so narrow that its loss is not known."""
    every = zip(truth.total.laws, _widenings(truth.total), strict=True)
    found = [law.spread - more for law, more in every if isinstance(law, DiscreteStudent)]
    return any(spread < NARROWEST for spread in found)


def methods_of(truth: Truth) -> tuple[Method, ...]:
    """Return, for each law of the noise that cells have, the method that asked for it."""
    only = truth.answer.measurements[0].methods
    if truth.answer.is_blurred and isinstance(only, Method):
        return (only,) * len(truth.total.laws)
    known = method_by_law(truth)
    return tuple(known[law] for law in truth.total.laws)


def method_by_law(truth: Truth) -> dict[Law, Method]:
    """Return the method that each law of an answer's noise was asked for by, part by part.

    Where methods differ from part to part, a cell's noise is that of one of them; of several that
    asked for the same, it is the one of the largest sensitivity (T11).
    """
    step, noisy = truth.answer.measurements[0], truth.total
    found: dict[Law, Method] = {}
    for leaf in leaves(step.tree):
        law = step.scale(leaf.method, Currency.RHO).law(noisy.step)
        known = found.setdefault(law, leaf.method)
        if known.sensitivity(step.measure) < leaf.method.sensitivity(step.measure):
            found[law] = leaf.method
    return found


def allowed(truth: Truth, goal: Goal, nu: int | None = None) -> Floats:
    """Return the most noise of each cell: NaN if its number is 0, and 0 if none will do.

    It is sigma^2, or the A of Student noise of some nu, in steps of the grid for counts and totals;
    of averages the variance in units. Tapered noise is never narrower than 5 steps.
    """
    if truth.count is not None:
        true, bias, _ = means(truth)
        limits = float(goal.within) * np.abs(true)
        is_known = ~np.isnan(true) & (true != 0)
        found = np.full(len(true), np.nan)
        found[is_known] = largest_normal_variances(
            limits[is_known], bias[is_known], goal.confidence
        )
        return found
    # |noise + bias| < d t on integers is |noise + bias| <= ceil(d t) - 1
    noisy = truth.total
    is_zero = noisy.exact == 0
    limits = np.where(is_zero, 0, limits_below(noisy.exact, goal.within))
    if nu is None:
        found = largest_variances(limits, floats(noisy.bias), goal.confidence)
    else:
        found = largest_spreads(limits, goal.confidence, nu)
        found[found < _NARROWEST] = 0
    found[is_zero] = np.nan
    return found


def allowed_by_law(truth: Truth, of: Callable[[int | None], Floats]) -> Floats:
    """Return the most noise of each cell by its own law, given that of every cell for each nu."""
    found = np.full(len(truth.total.exact), np.nan)
    for cells, law in cells_of(truth.total):
        found[cells] = of(nu_of(law))[cells]
    return found


def variances(truth: Truth) -> Floats:
    """Return sigma^2 of each cell's noise, in the same units as `allowed`, none of it tapered.

    It bounds the variance of discrete noise and scales as one over the amount, as that does not.
    """
    if truth.count is not None:
        return np.square(means(truth, _sigmas)[2])
    return np.square(_sigmas(truth.total))


def _sigmas(noisy: Noisy) -> Floats:
    every = [
        deviation(law) if nu_of(law) is not None else math.sqrt(gaussian(law).sigma_squared)
        for law in noisy.laws
    ]
    return np.array(every)[noisy.which]


def factors(truth: Truth, goal: Goal, of: Callable[[int | None], Floats]) -> Floats:
    """Return what each cell's amounts must be multiplied by, infinite where nothing helps.

    `of` gives what `allowed` says of every cell for a nu.
    """
    if not is_tapered(truth):
        with np.errstate(divide="ignore"):
            return np.asarray(variances(truth) / of(None))
    if truth.count is not None:
        return _mean_factors(truth, goal)
    found, methods = np.full(len(truth.total.exact), np.nan), methods_of(truth)
    widenings = _widenings(truth.total)
    for (cells, law), method, more in zip(cells_of(truth.total), methods, widenings, strict=True):
        most = of(nu_of(law))[cells]
        if more:
            most = most - float(more)
            most[most < _NARROWEST] = 0
        rhos = rhos_for(truth, law, method, most)
        found[cells] = rhos / float(method.amount)
    return found


def rhos_for(truth: Truth, law: Law, method: Method, most: Floats) -> Floats:
    """Return the rhos at which noise of one law is what cells allow at most, infinite if none."""
    size = float(method.sensitivity(truth.answer.measurements[0].measure) / truth.total.step)
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(law, DiscreteStudent):
            alone = Fraction(1)  # losses depend on the size beside sqrt A
            by = method.by if isinstance(method, Blurring) else None
            nu = law.nu
            price = TaperedRho(alone, nu) if by is None else BlurredRho(alone, by, nu)
            found = price.floats(size / np.sqrt(most))
            return np.where(most == 0, np.inf, np.asarray(found))
        return np.asarray(size**2 / (2 * most))


def _mean_factors(truth: Truth, goal: Goal) -> Floats:
    """Return the least factors for tapered averages, cell by cell, by halving."""
    true, bias, _ = means(truth)
    is_known = ~np.isnan(true) & (true != 0)
    limits = float(goal.within) * np.abs(true)
    found = np.full(len(true), np.nan)
    low = np.full(len(true), 1 / _MOST_FACTOR)
    high = np.full(len(true), _MOST_FACTOR)
    total, count = mean_parts(truth, _sigmas)
    shrinking = _shrinking(truth)
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        parts = total * shrinking(middle), count / np.sqrt(middle)
        is_met = _reach(truth, goal, parts, bias) < limits
        low, high = np.where(is_met, low, middle), np.where(is_met, middle, high)
    found[is_known] = high[is_known]
    found[is_known & (high >= _MOST_FACTOR)] = np.inf
    found[is_known & (_narrowest_factors(truth) < found)] = np.inf
    return found


def _reach(truth: Truth, goal: Goal, parts: tuple[Floats, Floats], bias: Floats) -> Floats:
    """Return what averages stay within; where they are cut, an upper bound of it."""
    found = np.hypot(*parts) * normal_quantile(goal.confidence) + np.abs(bias)
    for cells, nu in tapered_cells(truth.total):
        found[cells] = mixture_widths(parts[0][cells], parts[1][cells], goal.confidence, nu)
    return found


def _shrinking(truth: Truth) -> Callable[[Floats], Floats]:
    """Return by what the deviation of each cell's total is multiplied when amounts are."""
    every = list(zip(cells_of(truth.total), methods_of(truth), strict=True))

    def at(factor: Floats) -> Floats:
        found = 1 / np.sqrt(factor)
        for (cells, law), method in every:
            if isinstance(law, DiscreteStudent):
                now, then = (
                    _ratios(float(method.amount) * each, law.nu)
                    for each in (np.ones(1), factor[cells])
                )
                found[cells] = now / then  # B is as one over sqrt A
        return found

    return at


def _narrowest_factors(truth: Truth) -> Floats:
    """Return the factors at which tapered noise is 5 steps wide, infinite for other noise."""
    found = np.full(len(truth.total.exact), np.inf)
    for (cells, law), method in zip(cells_of(truth.total), methods_of(truth), strict=True):
        if isinstance(law, DiscreteStudent):
            most = np.full(len(cells), _NARROWEST)
            found[cells] = rhos_for(truth, law, method, most) / float(method.amount)
    return found


def _ratios(rhos: Floats, nu: int) -> Floats:
    """Return the B = size / (2 sqrt A) at which a record of the size loses each rho."""
    losses, ratios = _curve(nu)
    return np.asarray(np.exp(np.interp(np.log(rhos), losses, ratios)))


@lru_cache(maxsize=2)
def _curve(nu: int) -> tuple[Floats, Floats]:
    ratios = np.linspace(-40.0, 40.0, 80_001)
    found = TaperedRho(Fraction(1), nu).floats(2 * np.exp(ratios))
    return np.log(np.asarray(found)), ratios


def factor_for(found: Floats, share: Fraction) -> float | None:
    """Return the least factor with which this share of the cells, zeros apart, meets the goal."""
    known = found[~np.isnan(found)]
    if not len(known):
        return None
    place = math.ceil(share * len(known)) - 1
    return float(np.partition(known, place)[place])


def has_zeros_only(truth: Truth) -> bool:
    """Tell whether no cell of an answer has a number other than 0."""
    if truth.count is not None:
        true, _, _ = means(truth)
        return bool(np.all(np.isnan(true) | (true == 0)))
    return not np.any(truth.total.exact != 0)


def balanced(answer: Answer, truth: Truth) -> Answer:
    """Return an answer with its amount shared as suits the mean over all cells (T13)."""
    records = 0 if truth.count is None else floats(truth.count.exact).sum()
    if not records:
        return answer
    return answer.balanced(floats(truth.total.exact).sum() * float(truth.total.step) / records)
