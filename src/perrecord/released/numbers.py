"""Whole numbers in steps of a resolution, as Arrow columns in a measure's own units."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm, prod
from typing import Any, NewType, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Integers = npt.NDArray[Any]
"""int64, or Python ints in an object array where 64 bits are not enough."""

NoisyIntegers = NewType("NoisyIntegers", np.ndarray[Any, np.dtype[Any]])
"""Integers that noise was added to, or that noise chose. Only `mechanisms` makes them."""

SHORT = 18
"""Decimals of so many digits are whole numbers of 64 bits in a Parquet file."""

_FITS = 2**62
_STRETCH = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class NoisyColumn:
    """A noisy whole number of steps for each cell, whatever may be said of its noise."""

    name: str
    numbers: NoisyIntegers
    step: Fraction

    @property
    def parts(self) -> tuple[Self, ...]:
        """What was drawn for it: itself."""
        return (self,)

    @property
    def drawn(self) -> NoisyIntegers:
        """What came out of the mechanism."""
        return self.numbers

    def values(self) -> pa.Array:
        """Return the noisy numbers in the measure's own units."""
        return to_arrow(self.numbers, self.step)

    def floored(self) -> pa.Array | None:
        """Return the numbers with 0 in the place of what noise made negative."""
        return to_arrow(np.maximum(self.numbers, 0), self.step)

    def rounded(self, places: int) -> pa.Array:
        """Return the numbers rounded to so many decimals, exactly, ties away from zero."""
        unit = Fraction(10) ** -places
        return to_arrow(rounded_to(self.numbers, self.step / unit), unit)


def added(first: Integers, second: Integers, *, into: Integers | None = None) -> Integers:
    """Return the sum, in Python ints where 64 bits might not hold it, else in `into` if given."""
    if first.dtype == second.dtype == np.int64 and _is_small(first) and _is_small(second):
        return np.asarray(np.add(first, second, out=into))
    return np.asarray(first.astype(np.object_) + second.astype(np.object_))


def whole_numbers(numbers: Sequence[int]) -> Integers:
    """Return numbers as int64 where all of them are small enough to be added, else as they are."""
    is_small = all(-_FITS < each < _FITS for each in numbers)
    return np.array(numbers, dtype=np.int64 if is_small else np.object_)


def narrowed(numbers: Integers) -> Integers:
    """Return numbers as int64 where all of them fit, whichever way they were computed.

    What type a column has then depends on its numbers alone.
    """
    kind = np.int64 if _is_small(numbers) else np.object_
    return numbers.astype(kind, copy=False)


def to_arrow(numbers: Integers, step: Fraction, *, is_short: bool = False) -> pa.Array:
    """Return numbers * step exactly: int64 where they are whole and fit, else decimals.

    Decimals have 38 digits, or 76 if need be; with `is_short` 18, which files hold as integers, if
    those are enough. Only what no decimal holds, beyond 76 digits or without end, is given in
    floats.

    >>> to_arrow(np.array([3, -7]), Fraction(1, 100)).to_pylist()
    [Decimal('0.03'), Decimal('-0.07')]
    """
    places = _places(step)
    if places is None:
        return pa.array(floats(numbers) * float(step))
    factor = int(step * 10**places)
    most = largest(numbers) * factor
    if numbers.dtype != np.int64 or max(most, factor) >= _FITS:  # also where all of them are 0
        numbers = numbers.astype(np.object_) * factor
        if most < _FITS:
            numbers = numbers.astype(np.int64)
    elif factor != 1:
        numbers = numbers * factor
    if places == 0 and numbers.dtype == np.int64:
        return pa.array(numbers)
    if numbers.dtype == np.int64:
        return _decimals(numbers, places, is_short=is_short and most < 10**SHORT)
    if most >= 10**76:
        return pa.array(floats(numbers) / 10.0**places)
    kind = pa.decimal128(38, places) if most < 10**38 else pa.decimal256(76, places)
    shown = [f"{each}e-{places}" for each in numbers]
    return pa.array(shown).cast(kind)


def as_floats(table: pa.Table, digits: int = 0) -> pa.Table:
    """Return the table with the nearest floats for its decimals of more than so many digits.

    >>> as_floats(pa.table({"rent": to_arrow(np.array([3, -7]), Fraction(1, 100))})).to_pydict()
    {'rent': [0.03, -0.07]}
    """
    for place, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type) and field.type.precision > digits:
            column = table.column(place).cast(pa.string()).cast(pa.float64())
            table = table.set_column(place, field.name, column)
    return table


def rounded_to(numbers: Integers, size: Fraction) -> Integers:
    """Return numbers * size rounded to whole numbers, ties away from zero, exactly.

    >>> rounded_to(np.array([149, 150, -250]), Fraction(1, 100)).tolist()
    [1, 2, -3]
    """
    up, down = 2 * size.numerator, size.denominator
    if numbers.dtype != np.int64 or not _is_small(numbers, max(_FITS - down, 0) // up):
        numbers = numbers.astype(np.object_)
    sizes = (np.abs(numbers) * up + down) // (2 * down)
    return np.where(numbers < 0, -sizes, sizes)


def rounded_floats(values: npt.NDArray[np.float64], places: int) -> npt.NDArray[np.float64]:
    """Return floats rounded to so many decimals, ties away from zero as far as floats hold them.

    >>> rounded_floats(np.array([0.5, 2.5, -2.5, 0.49999999999999994, np.nan]), 0).tolist()
    [1.0, 3.0, -3.0, 0.0, nan]
    >>> rounded_floats(np.array([0.25, -14.5, 1e300]), 1).tolist()
    [0.3, -14.5, 1e+300]
    """
    unit = 10.0 ** abs(places)
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.abs(values) * unit if places > 0 else np.abs(values) / unit
        below = np.floor(sizes)
        nearest = below + (sizes - below >= 0.5)
        found = np.copysign(nearest / unit if places > 0 else nearest * unit, values)
    return np.where(np.isfinite(sizes), found, values)


def floats(numbers: Integers) -> npt.NDArray[np.float64]:
    """Return whole numbers of any size as floats; infinite where no float is so large."""
    try:
        return np.asarray(numbers, dtype=np.float64)
    except OverflowError:
        return np.array([_float(int(each)) for each in numbers])


def _float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def common_step(numbers: tuple[Fraction, ...]) -> Fraction:
    """Return the largest 1/n that all the numbers are multiples of."""
    return Fraction(1, lcm(*(each.denominator for each in numbers)))


def repeated(value: float, count: int) -> pa.ChunkedArray:
    """Return a column of one number, whose chunks are one stretch of memory.

    >>> repeated(1.5, 3).to_pylist()
    [1.5, 1.5, 1.5]
    """
    stretch = pa.array(np.full(min(count, _STRETCH), value))
    times, rest = divmod(count, _STRETCH)
    return pa.chunked_array([*[stretch] * times, stretch.slice(0, rest)], pa.float64())


def tiled(values: npt.NDArray[np.float64], shape: tuple[int, ...]) -> pa.ChunkedArray:
    """Return values that are repeated to a shape as a column; what comes again takes no memory.

    >>> tiled(np.array([[1.5, 2.5]]), (2, 2)).to_pylist()
    [1.5, 2.5, 1.5, 2.5]
    """
    if len(values) != 1 or not prod(shape):
        return pa.chunked_array([np.broadcast_to(values, shape).ravel()])
    together = min(shape[0], max(1, _STRETCH // prod(shape[1:])))
    stretch = pa.array(np.broadcast_to(values, (together, *shape[1:])).ravel())
    times, rest = divmod(shape[0], together)
    return pa.chunked_array([*[stretch] * times, stretch.slice(0, rest * prod(shape[1:]))])


def _decimals(numbers: Integers, places: int, *, is_short: bool) -> pa.Array:
    """Return int64 numbers as decimals whose last place they count, without going through text.

    Short ones are the numbers themselves, in place.
    """
    if is_short and places <= SHORT:
        kind, held = pa.decimal64(SHORT, places), np.ascontiguousarray(numbers)
        return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(held)])
    halves = np.empty((len(numbers), 2), dtype=np.int64)
    halves[:, 0], halves[:, 1] = numbers, numbers >> 63
    return pa.Array.from_buffers(
        pa.decimal128(38, places), len(numbers), [None, pa.py_buffer(halves)]
    )


def _places(step: Fraction) -> int | None:
    """Return how many decimals a step has; None if they never end."""
    for places in range(31):
        if (step * 10**places).denominator == 1:
            return places
    return None


def _is_small(numbers: Integers, bound: int = _FITS) -> bool:
    return largest(numbers) < bound


def largest(numbers: Integers) -> int:
    """Return the largest size of whole numbers; 0 of none."""
    return max(-int(numbers.min()), int(numbers.max())) if len(numbers) else 0
