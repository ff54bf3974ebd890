"""Exact integer noise from the operating system's randomness. Internal: sessions charge first."""

from perrecord.noise.binomial import binomial, passing
from perrecord.noise.choice import choose
from perrecord.noise.samplers import (
    discrete_gaussian,
    discrete_gaussian_each,
    discrete_laplace,
    discrete_student,
    discrete_student_each,
    draw,
    gaussian_tail,
    student_of_squares,
)

__all__ = [
    "binomial",
    "choose",
    "discrete_gaussian",
    "discrete_gaussian_each",
    "discrete_laplace",
    "discrete_student",
    "discrete_student_each",
    "draw",
    "gaussian_tail",
    "passing",
    "student_of_squares",
]
