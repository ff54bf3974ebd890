"""Exact integer noise from the operating system's randomness. Internal: sessions charge first."""

from perrecord.noise.binomial import binomial, passing
from perrecord.noise.choice import choose
from perrecord.noise.samplers import (
    discrete_gaussian,
    discrete_gaussian_each,
    discrete_laplace,
    gaussian_tail,
)

__all__ = [
    "binomial",
    "choose",
    "discrete_gaussian",
    "discrete_gaussian_each",
    "discrete_laplace",
    "gaussian_tail",
    "passing",
]
