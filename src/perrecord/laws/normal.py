"""The normal law in floats, which wide discrete Gaussians are near to: no guarantee rests on it."""

import math

import numpy as np

from perrecord.laws.law import Floats


def normal_size(sigma: Floats | float, biases: Floats) -> Floats:
    """Return E|N + b| for normal noise."""
    scores = biases / sigma
    return np.asarray(2 * sigma * normal_density(scores) + biases * (1 - 2 * normal_below(-scores)))


def normal_below(scores: Floats) -> Floats:
    """Return Pr[N <= score] for a standard normal."""
    return 0.5 * np.asarray(_ERFC(-scores / math.sqrt(2)), dtype=np.float64)


def normal_density(scores: Floats) -> Floats:
    """Return the density of a standard normal."""
    return np.asarray(np.exp(-(scores**2) / 2) / math.sqrt(2 * math.pi))


_ERFC = np.frompyfunc(math.erfc, 1, 1)
