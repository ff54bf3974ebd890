"""Whether cells come within an error: one decision for `evaluate` and `tune` (T22).

A cell comes within d if |noise + bias| < d |true| with the confidence that its errors were computed
for. Counts, totals and quantiles lie on a grid, so this is decided on whole numbers of steps, and
an exact tie is never within. `largest_variances` asks the same the other way round, for `fitness`
and `tune`: how much noise a cell may have and still come within d.
"""

from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from perrecord.evaluate.accuracy.errors import CellErrors
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.quantiles import QuantileErrors
from perrecord.exact import text
from perrecord.laws import DiscreteGaussian
from perrecord.laws.gaussian import gaussian_tails
from perrecord.laws.normal import normal_below, normal_density

Which = npt.NDArray[np.bool_]


_LARGE = 20.0
"""From this sigma on the corrected normal quantile errs by less than `_MARGIN`."""
_FAR = 6.0
"""Beyond so many standard deviations the exact law is asked whatever sigma is."""
_FLAT = 1e-3
"""Below so few of them, too."""
_OUT_OF_REACH = 200 * _LARGE
"""Farther than this, the tail of noise of sigma up to `_LARGE` is nothing."""
_MARGIN = 1e-6
_SURE = 1e-8
"""Two tails as floats err by less than this."""
_NEARLY = 1e-7
"""How far, relatively, a first guess of a sigma is from it at most, if it is right."""
_MOST_HALVINGS = 60
_NARROW = 1e-10
"""How far apart, relatively, two bounds of a sigma may stay."""


def is_within(errors: CellErrors | QuantileErrors, limit: Fraction) -> Which:
    """Return which cells come within an error; none whose true number is 0.

    >>> import pyarrow as pa, perrecord
    >>> from perrecord.evaluate.accuracy.errors import accuracy
    >>> from perrecord.queries.plan import plan
    >>> with perrecord.table(pa.table({"emp": [10, 20, 970]}), measures=["emp"]) as source:
    ...     asked = perrecord.Query().sum("emp", clamp=(0, 1000), rho="0.5")
    ...     (errors,) = accuracy(plan(asked, source.schema), source)
    >>> errors.reach, [is_within(errors, Fraction(each, 1000)) for each in (1960, 1961)]
    (array([1960.]), [array([False]), array([ True])])
    """
    if isinstance(errors, QuantileErrors):  # in whole steps already
        return np.asarray(
            errors.reach <= limits_below(np.where(errors.is_zero, 0.0, errors.true), limit)
        )
    truth = errors.truth
    if truth.count is not None:  # an average is on no grid
        return np.asarray(errors.reach < float(limit) * np.abs(errors.true))
    # The reach of noise on a grid is a whole number of steps.
    steps = np.rint(errors.reach / float(truth.total.step))
    return np.asarray(steps <= limits_below(truth.total.exact, limit))


def known_within(errors: CellErrors | QuantileErrors, limit: Fraction) -> Which:
    """Return the same for the cells whose true number is not 0, the others left out."""
    return is_within(errors, limit)[~errors.is_zero]


def share_of(which: Which) -> float | None:
    """Return the share of the cells that are so; None where there are none."""
    return float(which.mean()) if len(which) else None


def within_column(limit: Fraction) -> str:
    """Return the name of the column that holds the share of cells within a limit.

    >>> within_column(Fraction(1, 20))
    'within_5_percent'
    """
    return f"within_{text(100 * limit)}_percent"


def is_share(which: Which, share: Fraction) -> bool:
    """Tell whether at least this share of the cells is so, exactly."""
    return bool(len(which)) and int(which.sum()) >= share * len(which)


def largest_variances(limits: Floats, biases: Floats, confidence: Fraction) -> Floats:
    """Return the largest sigma^2, rounded down, with Pr[|Z + b| <= limit] >= confidence.

    Limits are whole numbers from 0. Where the bias alone is beyond the limit it is 0: no noise is
    small enough.

    >>> largest_variances(np.array([9.0, 9.0]), np.array([0.0, -10.0]), Fraction(95, 100)).round(3)
    array([23.577,  0.   ])
    """
    biases = np.abs(biases)
    near, far = limits - biases, limits + biases
    found = np.zeros(len(limits))
    reachable = near >= 0
    found[reachable] = _symmetric(near[reachable], confidence)
    biased = np.flatnonzero(reachable & (biases > 0))
    if len(biased):
        found[biased] = _lopsided(near[biased], far[biased], found[biased], confidence)
    return found


def largest_normal_variances(limits: Floats, biases: Floats, confidence: Fraction) -> Floats:
    """Return the largest sigma^2 with Pr[|N + b| < limit] >= confidence for normal noise.

    It is 0 where the bias alone reaches the limit.
    """
    near, far = limits - np.abs(biases), limits + np.abs(biases)
    reachable = near > 0
    score = normal_quantile(confidence)
    found = np.zeros(len(limits))
    low, high = near[reachable] / score, far[reachable] / score
    found[reachable] = _halved(low, high, 1 - float(confidence), near[reachable], far[reachable])
    return np.square(found)


def normal_quantile(confidence: Fraction) -> float:
    """Return what |N| of a standard normal stays within with a confidence."""
    return -NormalDist().inv_cdf(float(1 - confidence) / 2)


def _symmetric(limits: Floats, confidence: Fraction) -> Floats:
    score = normal_quantile(confidence)
    start = (limits + 0.5) / max(score, _FLAT)
    # Pr[Z > x] = Pr[N > y] - z phi(z) / (24 sigma^2), y = x + 1/2: so y/sigma is a little below
    # the normal quantile.
    found = np.square(start * (1 + 1 / (24 * start**2))) * (1 - _MARGIN)
    is_small = (start <= _LARGE) | (not _FLAT < score < _FAR)
    values, places = np.unique(limits[is_small], return_inverse=True)
    starts = np.square((values + 0.5) / max(score, _FLAT))
    found[is_small] = _bisected(values, values, starts, confidence)[places]
    return found


def _lopsided(near: Floats, far: Floats, least: Floats, confidence: Fraction) -> Floats:
    """Return the largest sigma^2 with Pr[-far <= Z <= near] >= confidence, from lower bounds."""
    low = np.sqrt(least)
    high = np.sqrt(_symmetric(far, confidence))  # [-far, far] is the wider
    outside = 1 - float(confidence)
    sigma = _halved(low, high, outside, near, far, corrected=True)
    found = np.square(sigma) * (1 - _MARGIN)
    is_small = (sigma <= 1.5 * _LARGE) | (normal_quantile(confidence) >= _FAR)
    ends = np.minimum(far, near + _OUT_OF_REACH * np.maximum(1, sigma / _LARGE))
    starts = np.maximum(least[is_small], 1e-9)
    found[is_small] = _bisected(near[is_small], ends[is_small], starts, confidence)
    return found


def _halved(
    low: Floats, high: Floats, outside: float, near: Floats, far: Floats, *, corrected: bool = False
) -> Floats:
    """Return the largest sigmas between two bounds that leave so little outside [-far, near]."""
    low, high = low.copy(), high.copy()

    def narrow(cells: Which, middle: Floats) -> None:
        tails = [_tail(end[cells], middle, corrected=corrected) for end in (near, far)]
        is_met = tails[0] + tails[1] <= outside
        low[cells] = np.where(is_met, middle, low[cells])
        high[cells] = np.where(is_met, high[cells], middle)

    # Where the far end is out of reach, the quantile of one side is nearly the answer.
    if (score := -NormalDist().inv_cdf(outside)) > _FLAT:
        guess = near / score
        if corrected:
            guess = (near + 0.5) / score * (1 + (score / (near + 0.5)) ** 2 / 24)
        for nearly in guess * (1 - _NEARLY), guess * (1 + _NEARLY):
            is_between = (low < nearly) & (nearly < high)
            narrow(is_between, nearly[is_between])
    for _ in range(_MOST_HALVINGS):
        is_open = high - low > _NARROW * low
        if not is_open.any():
            break
        narrow(is_open, ((low + high) / 2)[is_open])
    return low


def _tail(limits: Floats, sigma: Floats, *, corrected: bool) -> Floats:
    """Return Pr[noise > limit]; of discrete noise when corrected, of normal noise else."""
    if not corrected:
        return normal_below(-limits / sigma)
    scores = (limits + 0.5) / sigma
    return normal_below(-scores) - scores * normal_density(scores) / (24 * sigma**2)


def _bisected(near: Floats, far: Floats, starts: Floats, confidence: Fraction) -> Floats:
    """Return the largest sigma^2 with Pr[-far <= Z <= near] >= confidence, by the exact law."""
    every, places = np.unique(np.stack([near, far, starts]), axis=1, return_inverse=True)
    near, far, starts = every
    low, high = starts.copy(), starts.copy()

    def where_met(cells: Which, variances: Floats) -> Which:
        found = np.zeros(len(cells), np.bool_)
        found[cells] = _are_met(near[cells], far[cells], variances[cells], confidence)
        return found

    is_above = np.ones(len(starts), np.bool_)
    while (is_above := is_above & ~where_met(is_above, low)).any():
        high[is_above] = low[is_above]
        low[is_above] /= 2
    is_below = np.ones(len(starts), np.bool_)
    while (is_below := where_met(is_below, high)).any():
        low[is_below] = high[is_below]
        high[is_below] *= 2
    while (is_open := high - low > _MARGIN * low).any():
        middle = (low + high) / 2
        is_met = where_met(is_open, middle)
        low[is_met] = middle[is_met]
        high[is_open & ~is_met] = middle[is_open & ~is_met]
    return low[places.reshape(-1)]


def _are_met(near: Floats, far: Floats, variances: Floats, confidence: Fraction) -> Which:
    """Tell whether Pr[-far <= Z <= near] >= confidence under each variance."""
    outside = float(1 - confidence)
    nearly = gaussian_tails(variances, near + 1) + gaussian_tails(variances, far + 1)
    found = np.asarray(nearly < outside)
    for cell in np.flatnonzero(np.abs(nearly - outside) <= _SURE).tolist():
        found[cell] = _is_met(int(near[cell]), int(far[cell]), confidence, float(variances[cell]))
    return found


@lru_cache(maxsize=65536)
def _is_met(near: int, far: int, confidence: Fraction, variance: float) -> bool:
    law = DiscreteGaussian(Fraction(variance))
    return law.tail(near + 1).upper + law.tail(far + 1).upper <= 1 - confidence


def limits_below(numbers: npt.NDArray[np.generic], within: Fraction) -> Floats:
    """Return the largest whole numbers below `within` times |number|: ceil(d |number|) - 1.

    It is -1 where the number is 0.

    >>> limits_below(np.array([-20, 21, 0]), Fraction(1, 10))
    array([ 1.,  2., -1.])
    """
    top, bottom = within.numerator, within.denominator
    sizes = numbers.astype(np.object_)
    if numbers.dtype != np.object_ and len(numbers):
        largest = max(abs(int(numbers.min())), abs(int(numbers.max())))
        if largest * top < 2**62 and bottom < 2**62 and largest < 2**62:
            sizes = numbers.astype(np.int64)
    return np.asarray(-(-np.abs(sizes) * top // bottom) - 1, dtype=np.float64)
