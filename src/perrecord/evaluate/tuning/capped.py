"""The other way round: the least errors that keep the losses of named records below caps.

The errors of the goals are multiplied by t_i, answer by answer, with the least sum. For large sigma
an answer's loss falls as 1/t_i^2, and the t_i have a closed form; discrete noise makes stairs of
that, so what is found is then scaled until nothing can shrink any more.
"""

import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from perrecord.errors import AmountError
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.tuning.candidates import Candidate
from perrecord.evaluate.tuning.tuner import AnswerPlace, OutOfReach, Times, Tuner
from perrecord.evaluate.variants import rounded_up
from perrecord.queries.plan import plan

Record = Mapping[str, Any]
Caps = Mapping[str, tuple[Record, Fraction]]
"""By name, a hypothetical record and the most that it may lose."""

_PRICE_ROUNDS = 500
_LOSS_ROUNDS = 3
_CLOSE = 1.004
"""To so much the least errors are found."""

_FARTHEST = 1e-3
"""No error shrinks further than to this part of the closed form's."""


def least_errors(
    tuner: Tuner, candidate: Candidate, caps: Caps, start: Times | None = None
) -> dict[AnswerPlace, float]:
    """Return the multiples of the errors with the least sum that keep every cap.

    Losses are taken to fall as the square of the errors from those at the start, the goals' own.
    """
    times = start or tuner.even()
    squares = np.array([float(times[place]) ** 2 for place in tuner.targets])
    losses = _losses(tuner, candidate, caps, times) * squares
    found = least_sum(losses, np.array(_left(tuner, caps)))
    return dict(zip(tuner.targets, found.tolist(), strict=True))


def kept(
    tuner: Tuner, candidate: Candidate, caps: Caps, start: Mapping[AnswerPlace, float]
) -> Times:
    """Return multiples near the start that keep every cap, none of which can shrink by itself.

    An answer that costs no capped record anything keeps the error of its goal.
    """
    paid = _losses(tuner, candidate, caps, tuner.even()).max(axis=0) > 0
    shrinking = {place for place, is_paid in zip(tuner.targets, paid, strict=True) if is_paid}

    def is_kept(tried: Times) -> bool:
        try:
            policy = tuner.policy(candidate, tried)
        except OutOfReach:
            return False
        return all(policy.loss(record) <= cap for record, cap in caps.values())

    times = _rounded(start)
    with suppress(OutOfReach):  # what is clamped may not come so close; below it is let go again
        for _ in range(_LOSS_ROUNDS):  # what the losses really are there
            times = _rounded(least_errors(tuner, candidate, caps, times))
    while not is_kept(times):
        times = _scaled(times, shrinking, _CLOSE**8)
    while shrinking:
        low, high = _FARTHEST, 1.0
        while high / low > _CLOSE:
            middle = math.sqrt(low * high)
            fits = is_kept(_scaled(times, shrinking, middle))
            low, high = (low, middle) if fits else (middle, high)
        times = _scaled(times, shrinking, high)
        stuck = {p for p in shrinking if not is_kept(_scaled(times, {p}, 1 / _CLOSE**2))}
        shrinking = shrinking - stuck if stuck and high > 2 * _FARTHEST else set()
    return times


def _losses(tuner: Tuner, candidate: Candidate, caps: Caps, times: Times) -> Floats:
    """Return what each capped record loses by each answer with a target."""
    planned = plan(tuner.tuned(candidate, times), tuner.table.schema)
    charges = {
        (grouping.query, charged.answer.name): charged.policy
        for grouping in planned.groupings
        for charged in grouping.answers
    }
    return np.array(
        [
            [float(charges[place].loss(record)) for place in tuner.targets]
            for record, _ in caps.values()
        ]
    )


def _scaled(times: Times, places: Collection[AnswerPlace], factor: float) -> Times:
    return {
        place: rounded_up(each * Fraction(factor)) if place in places else each
        for place, each in times.items()
    }


def _rounded(times: Mapping[AnswerPlace, float]) -> Times:
    return {place: rounded_up(Fraction(each)) for place, each in times.items()}


def _left(tuner: Tuner, caps: Caps) -> list[float]:
    """Return what each cap leaves to answers with a target."""
    fixed, found = tuner.fixed(), []
    for name, (record, cap) in caps.items():
        constant = fixed.loss(record)
        if constant >= cap:
            raise AmountError(
                f"the cap of {name} is {float(cap):g}, and answers without a goal cost it "
                f"{float(constant):g} already; lower those amounts, or raise the cap."
            )
        found.append(float(cap - constant))
    return found


def least_sum(losses: Floats, caps: Floats) -> Floats:
    """Return the t with the least sum under sum_i losses[k, i] / t_i^2 <= caps[k] for every k.

    Where prices l_k weigh the caps, t_i = (2 sum_k l_k losses[k, i])^(1/3); for one cap the price
    is found in closed form, for several it rises while a cap is broken and falls while it is kept.
    What costs nothing keeps t = 1.

    >>> least_sum(np.array([[1.0, 8.0]]), np.array([3.0])).round(3).tolist()     # 1 : 2
    [1.0, 2.0]
    """
    prices = np.ones(len(caps))
    for _ in range(_PRICE_ROUNDS):
        used = (losses / np.square(_multiples(losses, prices))).sum(axis=1)
        prices = np.maximum(prices * (used / caps) ** (1.5 if len(caps) == 1 else 1), 1e-300)
    found = _multiples(losses, prices)
    used = (losses / np.square(found)).sum(axis=1)
    is_free = losses.max(axis=0) == 0
    return np.where(is_free, 1.0, found * math.sqrt((used / caps).max()))


def _multiples(losses: Floats, prices: Floats) -> Floats:
    """Return each t_i, 1 where nothing is paid."""
    return np.cbrt(np.where(losses.max(axis=0) > 0, 2 * prices @ losses, 1.0))
