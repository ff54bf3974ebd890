"""The noise itself: discrete Gaussian, Laplace and Student, and a Gaussian's upper tail.

These are what the rest of perrecord calls. Users reach noise through a session or a release,
which charge for it first.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from perrecord.errors import InputError, InternalError
from perrecord.exact import Exact, whole
from perrecord.laws import DiscreteGaussian, DiscreteLaplace, DiscreteStudent, Law
from perrecord.noise.bits import BitSource, system_bits
from perrecord.noise.blocks import FINE_BITS, Blocks, Integers, draw_many
from perrecord.noise.buckets import KEPT_LAWS, Buckets, buckets
from perrecord.noise.potential import Potential
from perrecord.noise.shapes import Exponential, Shape
from perrecord.noise.spreads import Listed, Squares
from perrecord.noise.students import Student, draw_students
from perrecord.noise.uniform import CERTAIN, Certainty

_WORTH_A_TABLE = 1 << 13
"""Once a law has been asked for so many values in all, its table is built and kept."""

_FITS = 1 << 61


def discrete_gaussian(
    sigma_squared: Exact,
    size: int,
    *,
    _bits: BitSource | None = None,
    _certainty: Certainty = CERTAIN,
) -> Integers:
    """Return `size` independent integers with Pr[Z = z] proportional to exp(-z^2/(2 sigma^2)).

    Exactly so: no probability is rounded (docs/noise.md). They are int64, or Python ints in an
    object array when sigma is so large (from about 2^54) that values could exceed 2^62. Adding them
    to an answer of sensitivity D costs D^2 / (2 sigma^2) zCDP (T11).

    >>> discrete_gaussian("0.5", 3).dtype
    dtype('int64')
    """
    potential = Potential.gaussian(DiscreteGaussian(sigma_squared).sigma_squared)
    return _symmetric(potential, _size_of(size), _bits, _certainty)


def discrete_laplace(
    scale: Exact,
    size: int,
    *,
    _bits: BitSource | None = None,
    _certainty: Certainty = CERTAIN,
) -> Integers:
    """Return `size` independent integers with Pr[Z = z] proportional to exp(-|z|/scale), exactly.

    Adding them to an answer of sensitivity D costs D / scale of pure epsilon (T16).

    >>> len(discrete_laplace("10", 5))
    5
    """
    potential = Potential.laplace(DiscreteLaplace(scale).scale)
    return _symmetric(potential, _size_of(size), _bits, _certainty)


def discrete_gaussian_each(
    sigma_squared: Sequence[Exact],
    *,
    _bits: BitSource | None = None,
    _certainty: Certainty = CERTAIN,
) -> Integers:
    """Return one discrete Gaussian for each sigma^2: many different ones, a few cells each.

    >>> discrete_gaussian_each(["0.5", "1e6", "1/3"]).shape
    (3,)
    """
    different, which = _different(sigma_squared, "sigma squared")
    laws = [
        Blocks.of(Potential.gaussian(DiscreteGaussian(each).sigma_squared), both_sides=True)
        for each in different
    ]
    return draw_many(laws, which, _bits or system_bits(), _certainty)


def discrete_student(
    spread: Exact,
    size: int,
    *,
    nu: int = 7,
    _bits: BitSource | None = None,
    _certainty: Certainty = CERTAIN,
) -> Integers:
    """Return `size` independent integers with Pr[Z = z] proportional to (A + z^2)^-m, exactly.

    A is the spread, m = (nu + 1) / 2. They are int64, or Python ints in an object array when
    sqrt A is large (from about 2^49) and whenever a value does not fit. Adding them to an answer
    costs a record about the logarithm of its size (T26).

    >>> discrete_student("1250", 3).dtype
    dtype('int64')
    """
    law, count = Student.of(DiscreteStudent(spread, nu)), _size_of(size)
    if not law.is_wide:
        table = _table(law, count, _bits, _certainty)
        if table is not None:
            return table.draw(_bits or system_bits(), count)
    which = np.zeros(count, dtype=np.intp)
    return draw_students(Listed.of([law], which), _bits or system_bits(), _certainty)


def discrete_student_each(
    spread: Sequence[Exact],
    *,
    nu: int = 7,
    _bits: BitSource | None = None,
    _certainty: Certainty = CERTAIN,
) -> Integers:
    """Return one discrete Student for each spread A: many different ones, a few cells each.

    >>> discrete_student_each(["25", "1e6", "100/3"]).shape
    (3,)
    """
    different, which = _different(spread, "the spread")
    laws = [Student.of(DiscreteStudent(each, nu)) for each in different]
    return draw_students(Listed.of(laws, which), _bits or system_bits(), _certainty)


def student_of_squares(
    spread: Fraction,
    growth: Fraction,
    squares: Integers,
    *,
    nu: int = 7,
    _bits: BitSource | None = None,
    _certainty: Certainty = CERTAIN,
) -> Integers:
    """Return one discrete Student for each square Q, of spread A = spread + growth Q (T28).

    >>> student_of_squares(Fraction(100, 3), Fraction(7, 100), np.array([0, 10**12, 10**40])).shape
    (3,)
    """
    source, power = _bits or system_bits(), DiscreteStudent(spread, nu).power
    cells = Squares(spread, growth, squares, power)
    filled = np.flatnonzero(squares)
    table = _table_of_empty(spread, nu, len(squares) - len(filled), _certainty)
    if table is None:
        return draw_students(cells, source, _certainty)
    values = table.draw(source, len(squares))
    return draw_students(cells, source, _certainty, places=filled, values=values)


def draw(
    law: Law, size: int, *, _bits: BitSource | None = None, _certainty: Certainty = CERTAIN
) -> Integers:
    """Return `size` independent integers of a law.

    >>> len(draw(DiscreteLaplace(10), 5))
    5
    """
    match law:
        case DiscreteGaussian(sigma_squared=variance):
            return discrete_gaussian(variance, size, _bits=_bits, _certainty=_certainty)
        case DiscreteLaplace(scale=scale):
            return discrete_laplace(scale, size, _bits=_bits, _certainty=_certainty)
        case DiscreteStudent(spread=spread, nu=nu):
            return discrete_student(spread, size, nu=nu, _bits=_bits, _certainty=_certainty)
    raise InternalError(f"{law} has no sampler.")


def gaussian_tail(
    sigma_squared: Exact,
    at_least: int,
    size: int,
    *,
    _bits: BitSource | None = None,
    _certainty: Certainty = CERTAIN,
) -> Integers:
    """Return `size` independent discrete Gaussians given that each is `at_least` this (T9).

    As fast for a threshold that one value in 10^300 passes as for one that half of them pass.

    >>> bool((gaussian_tail("5", 13, 1000) >= 13).all())
    True
    """
    law = Potential.gaussian(DiscreteGaussian(sigma_squared).sigma_squared)
    start, count = whole(at_least, "the threshold"), _size_of(size)
    if start > 0:
        beyond = Blocks.of(law.beyond(start), both_sides=False)
        which = np.zeros(count, dtype=np.intp)
        values = draw_many([beyond], which, _bits or system_bits(), _certainty)
        return (values if start < _FITS else values.astype(np.object_)) + start
    kept: Integers = np.empty(0, dtype=np.int64)
    while len(kept) < count:  # each try keeps half or more
        tried = _symmetric(law, 2 * (count - len(kept)) + 8, _bits, _certainty)
        kept = np.concatenate([kept, tried[tried >= start]])
    return kept[:count]


def count_of(size: object, what: str = "the number of draws") -> int:
    """Return the size as an int of 0 or more."""
    count = whole(size, what)
    if count < 0:
        found = str(count) if count > -sys.maxsize else "below zero"
        raise InputError(f"{what} is {found}; expected 0 or more.")
    return count


def _size_of(size: object) -> int:
    """Return the number of values asked for, at most as many as an array can hold."""
    count = count_of(size)
    if count > sys.maxsize // 8:
        raise InputError("the number of draws is larger than any array; expected fewer.")
    return count


@dataclass(slots=True)
class _Demand:
    """How many values of one law have been asked for; both are public."""

    values: int = 0


@lru_cache(maxsize=KEPT_LAWS)
def _demand(_shape: Shape) -> _Demand:
    return _Demand()


def _table(
    shape: Shape, count: int, bits: BitSource | None, certainty: Certainty
) -> Buckets | None:
    """Return the table of a law that has been asked for often enough, if tables serve it."""
    asked = count
    if bits is None:  # a replayed source must meet the same path every time
        demand = _demand(shape)
        demand.values += count
        asked = demand.values
    return buckets(shape, certainty) if asked >= _WORTH_A_TABLE else None


def _table_of_empty(spread: Fraction, nu: int, count: int, certainty: Certainty) -> Buckets | None:
    """Return the table of cells without records if so many are worth one, and tables serve them.

    How many there are is confidential, so demand is not counted. The law is the same either way.
    """
    law = Student.of(DiscreteStudent(spread, nu))
    if count < _WORTH_A_TABLE or law.is_wide:
        return None
    return buckets(law, certainty)


def _symmetric(
    potential: Potential, count: int, bits: BitSource | None, certainty: Certainty
) -> Integers:
    law = Blocks.of(potential, both_sides=True)
    source = bits or system_bits()
    if law.bits <= FINE_BITS:  # wider laws give Python ints, with few values as with many
        table = _table(Exponential(potential), count, bits, certainty)
        if table is not None:
            return table.draw(source, count)
    return draw_many([law], np.zeros(count, dtype=np.intp), source, certainty)


def _different(values: object, what: str) -> tuple[list[Exact], NDArray[np.intp]]:
    """Return the different numbers of a list, and which of them each is."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(
            f"{what} is a {type(values).__name__}; expected a list with one for each value."
        )
    # Equal numbers of different types stay apart, so that none escapes the check of its type.
    index: dict[tuple[type, Exact], int] = {}
    which = [index.setdefault((type(each), each), len(index)) for each in values]
    return [each for _, each in index], np.array(which, dtype=np.intp)
