"""What a loss means: (epsilon, delta), an attacker's power, and odds (T18, T19).

Three grounds, in the order of trust:

- generic: holds for every mechanism with that loss; the default;
- discrete: the law of one noisy answer itself, when its shift and sigma^2 are known;
- approximate: the continuous Gaussian's Phi forms. Our noise is discrete and they understate it
  (2.7 times in delta at sigma 0.707), so they are given only when every sigma is at least 10.

Figures are floats for people to read, rounded up by a margin far above their error.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Generic, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from perrecord.errors import ApproximationError, InputError, ProbabilityError
from perrecord.exact import Exact, float_up, rational, whole
from perrecord.laws import DiscreteGaussian

LEVELS = (0.01, 0.05, 0.10)
"""The false-alarm rates at which an attacker's power is given."""

FigureArray = npt.NDArray[np.float64]
Figure = TypeVar("Figure", bound=float | FigureArray)

LossSeries = Sequence[float | Fraction] | npt.NDArray[np.generic]

SMALLEST_SIGMA = 10
"""In grid steps: from here on the continuous Gaussian's figures are near enough to be shown."""

_MARGIN = 1e-9


@dataclass(frozen=True, slots=True)
class Meaning(Generic[Figure]):
    """What a privacy loss amounts to. Arrays in, arrays out.

    - `epsilon` with `delta`: the loss as (epsilon, delta)-DP; where keys are selected, `delta` is
      that of the record's key and the one asked for, together;
    - `power[a]` for a = 0.01, 0.05 and 0.1: the most an attacker who tests "is this record in the
      data?" with false-alarm rate a can succeed;
    - `odds`: with probability 95 %, what an attacker sees multiplies the odds of the right answer
      to "is this record in the data?", yes or no, by at most this.

    How closely a record's values could be estimated does not follow from its loss but from the
    noise of each answer: `perrecord.release.attack`.
    """

    loss: Figure
    delta: Figure
    epsilon: Figure
    power: dict[float, Figure]
    odds: Figure
    ground: Literal["generic", "discrete", "approximate"]


@overload
def meaning(  # type: ignore[overload-overlap]  # an array of integers is a SupportsIndex too
    loss: LossSeries,
    *,
    delta: Exact | float = "1e-6",
    key_delta: Exact | float | LossSeries = 0,
    approximate: bool = False,
    smallest_sigma: Exact | float | None = None,
) -> Meaning[FigureArray]: ...


@overload
def meaning(
    loss: Exact | float,
    *,
    delta: Exact | float = "1e-6",
    key_delta: Exact | float = 0,
    approximate: bool = False,
    smallest_sigma: Exact | float | None = None,
) -> Meaning[float]: ...


def meaning(
    loss: Exact | float | LossSeries,
    *,
    delta: Exact | float = "1e-6",
    key_delta: Exact | float | LossSeries = 0,
    approximate: bool = False,
    smallest_sigma: Exact | float | None = None,
) -> Meaning[Any]:
    """Return what a zCDP loss, or an array of them, means; `key_delta` is delta(r) of T9.

    >>> meaning(1).epsilon, meaning(1, approximate=True, smallest_sigma=20).epsilon
    (7.766..., 7.286...)
    """
    losses = _figures(loss, "the loss")
    revealed = _spread(_figures(key_delta, "key_delta"), losses)
    if (losses < 0).any() or not np.isfinite(losses).all():
        raise InputError("a loss is negative or not finite; expected numbers of at least 0.")
    if ((revealed < 0) | (revealed > 1)).any():
        raise ProbabilityError("key_delta lies outside 0 to 1; expected what policy.delta gives.")
    chance = _delta(delta)
    if approximate:
        _check_sigma(smallest_sigma)
        epsilon = np.vectorize(lambda p: _gaussian_epsilon(p, chance), otypes=[float])(losses)
        power = {
            a: np.vectorize(lambda p, a=a: gaussian_power(p, a), otypes=[float])(losses)
            for a in LEVELS
        }
    else:
        epsilon = _generic_epsilon(losses, chance)
        power = {a: _generic_power(losses, a) for a in LEVELS}
    return Meaning(
        loss=_plain(losses),
        delta=_plain(revealed + (1 - revealed) * chance),
        epsilon=_plain(epsilon),
        power={a: _plain(np.minimum(1.0, value + revealed)) for a, value in power.items()},
        odds=_plain(_generic_odds(losses, revealed)),
        ground="approximate" if approximate else "generic",
    )


def power_at_most(loss: Exact | float, *, key_delta: Exact | float = 0) -> float:
    """Return how often, at most, any test at 5 % false alarms finds a record of a loss (T19).

    >>> power_at_most(1) == meaning(1).power[0.05]
    True
    """
    losses, revealed = _figures(loss, "the loss"), _figures(key_delta, "key_delta")
    return float(np.minimum(1.0, _generic_power(losses, 0.05) + revealed))


def meaning_of_answer(
    shift: int, sigma_squared: Exact, *, delta: Exact | float = "1e-6"
) -> Meaning[float]:
    """Return what one noisy answer tells of a record that shifts it, from the discrete law itself.

    The shift and sigma^2 are in steps of the answer's grid. The best test rejects above a
    threshold, randomised at it (Neyman and Pearson); its power is enclosed and rounded up.

    >>> count = meaning_of_answer(1, 5)          # a count with rho = 0.1
    >>> count.loss, round(count.epsilon, 3), count.ground
    (0.1, 2.009, 'discrete')
    """
    law = DiscreteGaussian(sigma_squared)
    distance = abs(whole(shift, "the shift"))
    if distance == 0:
        raise InputError("the shift is 0: the answer tells nothing of the record.")
    chance = _delta(delta)
    loss = Fraction(distance**2) / (2 * law.sigma_squared)
    exponent = Fraction(2 * distance * law.quantile("0.95") + distance**2) / (2 * law.sigma_squared)
    return Meaning(
        loss=float_up(loss),
        delta=chance,
        epsilon=_discrete_epsilon(law, distance, chance),
        power={a: _discrete_power(law, distance, a) for a in LEVELS},
        odds=_exp(float_up(exponent)) * (1 + _MARGIN),
        ground="discrete",
    )


# -- generic ---------------------------------------------------------------------------------


def _generic_epsilon(losses: FigureArray, delta: float) -> FigureArray:
    """Return inf over alpha > 1 of the epsilon that T18's bound gives; any alpha is valid.

    epsilon(alpha) = alpha P + (ln 1/delta + alpha ln(1 - 1/alpha) - ln(alpha - 1)) / (alpha - 1)
    """
    distinct, place = np.unique(losses, return_inverse=True)
    least = np.concatenate(
        [
            _least_epsilon(part, delta)
            for part in np.array_split(distinct, len(distinct) // 5000 + 1)
        ]
    )
    rounded = np.maximum(0.0, least + np.abs(least) * _MARGIN + 1e-12)
    return np.where(distinct > 0, rounded, 0.0)[place].reshape(losses.shape)


def _least_epsilon(losses: FigureArray, delta: float) -> FigureArray:
    log_delta = -math.log(delta)

    def epsilon(log_order: FigureArray) -> FigureArray:
        above = np.exp(log_order)  # alpha - 1
        order = 1 + above
        # ln(1 - 1/alpha) = log_order - ln(alpha)
        bracket = log_delta + order * (log_order - np.log1p(above)) - log_order
        return np.asarray(order * losses + bracket / above)

    # One valley in ln(alpha - 1): a coarse look, then golden section, for all losses at once.
    steps = np.linspace(-40.0, 40.0, 161)
    best = steps[np.argmin(epsilon(steps[:, np.newaxis]), axis=0)]
    low, high, golden = best - 0.5, best + 0.5, (math.sqrt(5) - 1) / 2
    for _ in range(40):
        left, right = high - golden * (high - low), low + golden * (high - low)
        is_left = epsilon(left) < epsilon(right)
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    return epsilon((low + high) / 2)


def _generic_power(losses: FigureArray, level: float) -> FigureArray:
    surprise = math.log(1 / level)
    power = np.exp(-((math.sqrt(surprise) - np.sqrt(losses)) ** 2)) * (1 + _MARGIN)
    return np.where(losses <= surprise, np.minimum(power, 1.0), 1.0)


def _generic_odds(losses: FigureArray, revealed: FigureArray) -> FigureArray:
    """Return exp(P + 2 sqrt(P ln(1/(0.05 - delta)))) / (1 - delta), for both right answers (T19).

    What key selection reveals uses up some of the 5 % that may exceed the odds; and where it
    reveals nothing, that alone makes the record's absence 1/(1 - delta) times as likely.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        left = np.log(1 / np.maximum(0.05 - revealed, 0.0))
        odds = np.exp(losses + 2 * np.sqrt(losses) * np.sqrt(left)) / (1 - revealed)
        return np.where(revealed < 0.05, odds * (1 + _MARGIN), np.inf)


# -- discrete --------------------------------------------------------------------------------


def _discrete_epsilon(law: DiscreteGaussian, shift: int, delta: float) -> float:
    """Return the least epsilon, on a grid of 2^-32, at which the shift is within delta."""
    bound, grid = Fraction(delta), 2**32
    low, high = -1, grid
    while not law.delta_at_most(shift, Fraction(high, grid), bound):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if law.delta_at_most(shift, Fraction(middle, grid), bound):
            high = middle
        else:
            low = middle
    return float_up(Fraction(high, grid))


def _discrete_power(law: DiscreteGaussian, shift: int, level: float) -> float:
    size = Fraction(level)
    start = law.tail_point(size)
    share = (size - law.tail(start).lower) / law.pmf(start - 1).lower
    power = law.tail(start - shift).upper + share * law.pmf(start - 1 - shift).upper
    return min(1.0, float_up(power))


# -- approximate -----------------------------------------------------------------------------


def gaussian_delta(loss: float, epsilon: float) -> float:
    """Return delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), mu = sqrt(2 P) (T18).

    Exact for continuous Gaussian noise; too small for the discrete noise that perrecord draws.
    """
    if loss == 0:
        return 0.0
    mu = math.sqrt(2 * loss)
    first, second = _phi(mu / 2 - epsilon / mu), _phi(-mu / 2 - epsilon / mu)
    return first - (_exp(epsilon) * second if second else 0.0)


def _gaussian_epsilon(loss: float, delta: float) -> float:
    low, high = 0.0, 1.0
    if gaussian_delta(loss, low) <= delta:
        return 0.0
    while gaussian_delta(loss, high) > delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if gaussian_delta(loss, middle) <= delta else (middle, high)
    return high


def gaussian_power(loss: float, level: float = 0.05) -> float:
    """Return Phi(Phi^-1(level) + sqrt(2 P)): the best test of one Gaussian shift (T19).

    >>> round(gaussian_power(0.5), 3)
    0.26
    """
    return _phi(NormalDist().inv_cdf(level) + math.sqrt(2 * loss))


def _phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _check_sigma(smallest_sigma: Exact | float | None) -> None:
    if smallest_sigma is None or not _upward(smallest_sigma, "smallest_sigma") >= SMALLEST_SIGMA:
        found = "not given" if smallest_sigma is None else str(smallest_sigma)
        raise ApproximationError(
            f"smallest_sigma is {found}; the continuous Gaussian's figures understate discrete "
            f"noise unless every sigma is at least {SMALLEST_SIGMA}. Leave approximate out for "
            "figures that always hold."
        )


# -- numbers in and out ----------------------------------------------------------------------


def _figures(value: Any, what: str) -> FigureArray:
    if isinstance(value, np.ndarray | list | tuple):
        try:
            shape = np.shape(value)
        except ValueError:
            raise InputError(f"{what} is a ragged list; expected one number or an array.") from None
        return np.array([_upward(x, what) for x in np.ravel(value)], dtype=float).reshape(shape)
    return np.array(_upward(value, what))


def _upward(value: Any, what: str) -> float:
    if isinstance(value, float | np.floating):
        return float(value)
    return float_up(rational(value, what))


def _spread(values: FigureArray, like: FigureArray) -> FigureArray:
    if values.ndim and values.shape != like.shape:
        raise InputError("key_delta and the losses differ in length; give one delta a loss.")
    return np.broadcast_to(values, like.shape)


def _delta(value: Exact | float) -> float:
    chance = _upward(value, "delta")
    if not 0 < chance < 1:
        raise ProbabilityError(f"delta is {value}; expected a number between 0 and 1, say '1e-6'.")
    return chance


def _plain(values: FigureArray) -> float | FigureArray:
    return float(values) if values.ndim == 0 else values


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf
