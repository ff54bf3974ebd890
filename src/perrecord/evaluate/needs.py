"""By how much an answer's amounts must change so that its cells meet a goal (T13, T22).

Noise scales as one over the amount: rho times f makes every variance f times smaller. So for each
cell f = variance now / largest variance allowed, and a share of the cells meets the goal at that
percentile of the factors. An average's variance is the delta method's, and so approximate.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from perrecord.evaluate.accuracy import floats, means
from perrecord.evaluate.allowed import largest_normal_variances, largest_variances, limits_below
from perrecord.evaluate.goals import Goal
from perrecord.evaluate.noise_size import Floats, gaussian
from perrecord.evaluate.truths import Noisy, Truth
from perrecord.mechanisms.additive import NoisePlan, noise_plan
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer, Average, Quantile
from perrecord.queries.methods import (
    Clamping,
    Counting,
    Splitting,
    leaves,
    sensitivity,
    tree_of,
)
from perrecord.queries.policies import is_centred
from perrecord.tables.schema import Schema

_LEAST_SHARE = Fraction(1, 20)
"""Neither part of an average gets less of its amount than this."""


def asked_otherwise(truth: Truth, answer: Answer, schema: Schema) -> Truth:
    """Return the truth with the noise of an answer that differs in schemes and amounts alone.

    Bounds that values are cut to must be the same: the bias is not computed anew.
    """
    assert not isinstance(answer, Quantile)  # noqa: S101 - quantiles have no truth
    count = truth.count
    if isinstance(answer, Average) and count is not None:
        counting = NoisePlan.of(answer.count, None, schema, truth.columns, Currency.RHO)
        count = _with_noise(count, counting, truth)
    noise = noise_plan(answer, schema, truth.columns, Currency.RHO)
    return replace(truth, answer=answer, total=_with_noise(truth.total, noise, truth), count=count)


def _with_noise(noisy: Noisy, noise: NoisePlan, truth: Truth) -> Noisy:
    laws, which = noise.laws(truth.keys)
    return replace(noisy, noise=noise, laws=laws, which=which)


def allowed(truth: Truth, goal: Goal) -> Floats:
    """Return the largest variance of each cell's noise: NaN if the number is 0, 0 if none will do.

    It is in steps of the grid for counts and totals, in units for averages.
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
    found = largest_variances(limits, floats(noisy.bias), goal.confidence)
    found[is_zero] = np.nan
    return found


def variances(truth: Truth) -> Floats:
    """Return sigma^2 of each cell's noise, in the same units as `allowed`.

    It bounds the variance of discrete noise and scales as one over the amount, as that does not.
    """
    if truth.count is not None:
        return np.square(means(truth, _sigmas)[2])
    return np.square(_sigmas(truth.total))


def _sigmas(noisy: Noisy) -> Floats:
    every = [math.sqrt(gaussian(law).sigma_squared) for law in noisy.laws]
    return np.array(every)[noisy.which]


def factors(truth: Truth, most: Floats) -> Floats:
    """Return what each cell's amounts must be multiplied by, infinite where nothing helps."""
    with np.errstate(divide="ignore"):
        return np.asarray(variances(truth) / most)


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


def shared_best(answer: Average, truth: Truth) -> Average:
    """Return an average with its amount shared as T : |mean|, which errs least (T13).

    The mean is taken over all cells, about the centre of the bounds where values are clamped.
    """
    count, method = truth.count, answer.method
    assert count is not None  # noqa: S101 - the truth of an average
    records = floats(count.exact).sum()
    if not records or not isinstance(method, Splitting | Clamping):
        return answer
    mean = abs(floats(truth.total.exact).sum() * float(truth.total.step) / records)
    size = float(
        max(
            sensitivity(leaf.method, answer.measure, is_centred=is_centred(answer))
            for leaf in leaves(tree_of(method))
        )
    )
    share = Fraction(size / (size + mean)).limit_denominator(100)
    share = min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE)
    whole = method.amount + answer.count.amount
    return replace(
        answer, method=replace(method, amount=whole * share), count=Counting(whole * (1 - share))
    )
