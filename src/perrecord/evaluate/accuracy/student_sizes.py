"""How large Student noise is under hundreds of laws at once, as the cells of a blurred answer have.

A law of its own for each cell takes milliseconds; here all of them are computed together in floats,
to one part in 10^8. No guarantee rests on it.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.spreads import TERMS, beyond, whole
from perrecord.laws import DiscreteStudent

_HALVINGS = 80


def student_deviations(laws: Sequence[DiscreteStudent]) -> Floats:
    """Return the standard deviation of each law: k^2 f_m(k) is A (f_(m-1)(k) - f_m(k))."""
    spreads, power = _spreads(laws)
    return np.sqrt(spreads * (whole(spreads, power - 1) / whole(spreads, power) - 1))


def student_means(laws: Sequence[DiscreteStudent]) -> Floats:
    """Return E|Z| under each law.

    >>> law = DiscreteStudent.for_rho("0.2", at=50)
    >>> abs(student_means([law])[0] / law.float_sizes(np.zeros(1))[0] - 1) < 1e-8
    np.True_
    """
    spreads, power = _spreads(laws)
    terms = np.arange(1.0, TERMS + 1)
    near = (terms * (1 + terms**2 / spreads[:, None]) ** -power).sum(axis=1)
    # Beyond, the integral of x (1 + x^2/A)^-m and the midpoint rule's first correction.
    end = TERMS + 0.5
    more = 1 + end**2 / spreads
    slope = more**-power - 2 * power * end**2 / spreads * more ** (-power - 1)
    far = spreads / (2 * (power - 1)) * more ** (1 - power) + slope / 24
    return np.asarray(2 * (near + far) / whole(spreads, power))


def student_reaches(laws: Sequence[DiscreteStudent], confidence: Fraction) -> Floats:
    """Return the least whole w with Pr[|Z| <= w] >= confidence under each law, by halving.

    >>> laws = [DiscreteStudent.for_rho("0.2", at=size) for size in (50, 4000)]
    >>> [int(each) for each in student_reaches(laws, Fraction(95, 100))]
    [166, 13304]
    """
    spreads, power = _spreads(laws)
    outside = float(1 - confidence) / 2
    low = np.full(len(spreads), -1.0)
    high = np.ceil(np.sqrt(spreads) * outside ** (-1 / (2 * power - 1))) + 1
    for _ in range(_HALVINGS):
        if np.all(high - low <= 1):
            break
        middle = np.floor((low + high) / 2)
        is_met = beyond(middle + 0.5, spreads, power) <= outside
        low, high = np.where(is_met, low, middle), np.where(is_met, middle, high)
    return np.asarray(high)


def _spreads(laws: Sequence[DiscreteStudent]) -> tuple[Floats, int]:
    return np.array([float(law.spread) for law in laws]), laws[0].power
