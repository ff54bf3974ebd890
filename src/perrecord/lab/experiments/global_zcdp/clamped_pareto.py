"""The clamped Gaussian sum of Pareto(1, a) data: its error in closed form (T23).

n records X with Pr[X > x] = x^-a for x >= 1 are cut at D and added up, with the noise that rho-zCDP
then asks for, sigma^2 = D^2/(2 rho) (T12).
"""

import math
from dataclasses import dataclass

import numpy as np

from perrecord.evaluate.accuracy.noise_size import Floats


@dataclass(frozen=True, slots=True)
class ClampedSum:
    """n records of tail index a > 1, summed under rho-zCDP; bounds D are at least 1.

    >>> asked = ClampedSum(1000, 1.2, 1.0)
    >>> round(asked.best_bound), round(asked.expected)
    (825, 6000)
    >>> float(asked.root_ratio(asked.best_bound))     # the error is a quarter of the sum ...
    0.238...
    >>> float(asked.ratio(asked.best_bound))          # ... which the paper's ratio calls 341
    340.6...
    """

    records: int
    tail: float
    rho: float

    @property
    def expected(self) -> float:
        """E[sum] = n a / (a - 1)."""
        return self.records * self.tail / (self.tail - 1)

    @property
    def best_bound(self) -> float:
        """The bound of least error, (2 rho n^2 / (a - 1))^(1/(2a)); 1 where that is less."""
        found = 2 * self.rho * self.records**2 / (self.tail - 1)
        return max(1.0, math.pow(found, 1 / (2 * self.tail)))

    def bias(self, bound: Floats | float) -> Floats:
        """Return what clamping takes off the expected sum: n D^(1-a) / (a - 1)."""
        return np.asarray(self.records * np.power(bound, 1 - self.tail) / (self.tail - 1))

    def noise(self, bound: Floats | float) -> Floats:
        """Return the standard deviation of the noise, D / sqrt(2 rho)."""
        return np.asarray(bound / math.sqrt(2 * self.rho))

    def sampling_variance(self, bound: Floats | float) -> Floats:
        """Return n Var(min(X, D)): what the clamped sum varies by from one data set to another."""
        a = self.tail
        mean = (a - np.power(bound, 1 - a)) / (a - 1)
        growth = np.log(bound) if a == 2 else (np.power(bound, 2 - a) - 1) / (2 - a)
        square = 1 + 2 * growth
        return np.asarray(self.records * (square - mean**2))

    def squared_error(self, bound: Floats | float, *, with_sampling: bool = False) -> Floats:
        """Return the mean square error: bias^2 + noise^2, and the sampling variance if asked."""
        found = self.bias(bound) ** 2 + self.noise(bound) ** 2
        return found + self.sampling_variance(bound) if with_sampling else found

    def ratio(self, bound: Floats | float, *, with_sampling: bool = False) -> Floats:
        """Return the paper's MSE / E[sum], which is in the units of the data."""
        return self.squared_error(bound, with_sampling=with_sampling) / self.expected

    def root_ratio(self, bound: Floats | float, *, with_sampling: bool = False) -> Floats:
        """Return RMSE / E[sum], which has no units."""
        found = np.sqrt(self.squared_error(bound, with_sampling=with_sampling))
        return np.asarray(found / self.expected)
