"""By how much an answer's amounts must change so that its cells meet a goal (T13, T22).

Noise scales as one over the amount: rho times f makes every variance f times smaller. So for each
cell f = variance now / largest variance allowed, and a share of the cells meets the goal at that
percentile of the factors. An average's variance is the delta method's, and so approximate.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from perrecord.evaluate.accuracy.errors import floats, means
from perrecord.evaluate.accuracy.noise_size import Floats, gaussian
from perrecord.evaluate.accuracy.truths import Noisy, Truth
from perrecord.evaluate.accuracy.within import (
    largest_normal_variances,
    largest_variances,
    limits_below,
)
from perrecord.evaluate.tuning.goals import Goal
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer
from perrecord.queries.noise_plan import NoisePlan
from perrecord.tables.schema import Schema


def asked_otherwise(truth: Truth, answer: Answer, schema: Schema) -> Truth:
    """Return the truth with the noise of an answer that differs in schemes and amounts alone.

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


def balanced(answer: Answer, truth: Truth) -> Answer:
    """Return an answer with its amount shared as suits the mean over all cells (T13)."""
    records = 0 if truth.count is None else floats(truth.count.exact).sum()
    if not records:
        return answer
    return answer.balanced(floats(truth.total.exact).sum() * float(truth.total.step) / records)
