"""A policy over whole columns at once: numpy arrays, Arrow tables, data frames.

Piece counts are exact integers: 64 bits where everything fits, Python's own where not. Losses are
float64 rounded up: never below the exact loss, above it by less than one part in 2^40.
"""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar, assert_never

import numpy as np
import numpy.typing as npt

from perrecord.errors import InexactNumberError, InputError
from perrecord.exact import float_up, rational
from perrecord.policy.cases import Cases, missing_field
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import Constant, ExactLoss, Form, Largest, Piecewise, SplitLoss, Term

Columns = Mapping[str, Any]
"""Named columns: a dict of arrays, an Arrow table, a pandas or Polars frame."""

Integers = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
V = TypeVar("V")

_FITS = 1 << 62
_LEAST_AMOUNT = 1e-250


def pieces_of_columns(split: Scheme, columns: Columns) -> Integers:
    """Return m(r) of every row, exactly."""
    return _pieces(split, _Rows(columns))


def losses_of_columns(form: Form, columns: Columns, power: int) -> Floats:
    """Return the loss of every row, rounded up."""
    rounded = _losses(form, _Rows(columns), power)
    # Each term passes at most eight roundings of 2^-53, each addition one more.
    slack = (_size(form) + 8) * 2.0**-52
    return np.where(rounded > 0, np.nextafter(rounded * (1 + slack), np.inf), 0.0)


class _Rows:
    """Columns as exact integers and category codes, read once; `take` gives a view of some rows."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._measures: dict[str, tuple[Integers, int]] = {}
        self._dimensions: dict[str, tuple[list[Any], Integers]] = {}
        self._taken: Integers | slice = slice(None)

    def take(self, rows: Integers) -> "_Rows":
        """Return the same columns at these positions (counted from the present rows)."""
        view = _Rows.__new__(_Rows)
        view._columns, view._measures = self._columns, self._measures
        view._dimensions = self._dimensions
        view._taken = rows if isinstance(self._taken, slice) else self._taken[rows]
        return view

    def __len__(self) -> int:
        if not isinstance(self._taken, slice):
            return len(self._taken)
        return len(self._column(next(iter(_names(self._columns)), "")))

    def measure(self, name: str) -> tuple[Integers, int]:
        """Return sizes |x| times a common denominator, and that denominator."""
        if name not in self._measures:
            self._measures[name] = _sizes(self._column(name), name)
        sizes, denominator = self._measures[name]
        return sizes[self._taken], denominator

    def dimension(self, name: str) -> tuple[list[Any], Integers]:
        """Return the distinct values of a dimension and each row's position among them."""
        if name not in self._dimensions:
            self._dimensions[name] = _codes(self._column(name))
        values, codes = self._dimensions[name]
        return values, codes[self._taken]

    def _column(self, name: str) -> Any:
        try:
            return self._columns[name]
        except (KeyError, IndexError):
            role = "column"
            raise missing_field(role, name, dict.fromkeys(_names(self._columns))) from None


def _names(columns: Any) -> list[str]:
    names = getattr(columns, "column_names", None) or getattr(columns, "columns", None)
    return [str(name) for name in (columns if names is None else names)]


def _losses(form: Form, rows: _Rows, power: int) -> Floats:
    total = np.zeros(len(rows))
    for term in form.terms:
        total += _term(term, rows, power)
    return total


def _term(term: Term, rows: _Rows, power: int) -> Floats | float:
    match term:
        case Constant(amount):
            return _weight(amount)
        case SplitLoss(amount, split):
            return _weighted(_pieces(split, rows), amount, power)
        case ExactLoss(amount, name, threshold):
            sizes, denominator = rows.measure(name)
            return _weighted(sizes, amount / (threshold * denominator) ** power, power)
        case Largest(options):
            every = [_losses(option, rows, power) for option in options]
            return np.asarray(np.max(every, axis=0))
        case Piecewise(cases):
            return _by_case(cases, rows, lambda part, some: _losses(part, some, power))
        case _:
            assert_never(term)


def _weighted(counts: Integers, amount: Fraction, power: int) -> Floats:
    powered: Floats = counts.astype(np.float64) ** power
    return _weight(amount) * powered


def _weight(amount: Fraction) -> float:
    return max(float_up(amount), _LEAST_AMOUNT) if amount else 0.0


def _size(form: Form) -> int:
    """Return how many terms are added up for one row, at most."""
    total = 0
    for term in form.terms:
        match term:
            case Largest(options):
                total += 1 + max(_size(option) for option in options)
            case Piecewise(cases):
                total += 1 + max(_size(part) for part in cases.values())
            case _:
                total += 1
    return total


def _pieces(split: Scheme, rows: _Rows) -> Integers:
    match split:
        case Split(thresholds, cap):
            most: Integers = np.ones(len(rows), dtype=np.int64)
            for name, threshold in thresholds:
                most = np.maximum(most, _parts(*rows.measure(name), threshold))
            return most if cap is None else np.minimum(most, cap)
        case SplitBy(cases):
            return _by_case(cases, rows, _pieces)


def _parts(sizes: Integers, denominator: int, threshold: Fraction) -> Integers:
    """Return ceil(size / (denominator * threshold)) on integers."""
    ratio = 1 / (threshold * denominator)
    top = int(sizes.max(initial=0)) * ratio.numerator
    if sizes.dtype == object or top >= _FITS or ratio.denominator >= _FITS:
        sizes = sizes.astype(object)
    parts: Integers = -(-(sizes * ratio.numerator) // ratio.denominator)
    return parts


def _by_case(cases: Cases[V], rows: _Rows, evaluate: Callable[[V, _Rows], Integers]) -> Integers:
    """Evaluate each case on its own rows and put the results back in place."""
    labels: list[tuple[Any, ...]] = [()]
    codes: Integers = np.zeros(len(rows), dtype=np.int64)
    for name in cases.dimensions:
        values, own = rows.dimension(name)
        pairs, codes = np.unique(codes * len(values) + own, return_inverse=True)
        labels = [(*labels[pair // len(values)], values[pair % len(values)]) for pair in pairs]
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(labels) + 1))
    blocks = [
        evaluate(
            cases.at(dict(zip(cases.dimensions, label, strict=True))),
            rows.take(order[bounds[i] : bounds[i + 1]]),
        )
        for i, label in enumerate(labels)
    ]
    joined = np.concatenate(blocks) if blocks else np.zeros(0)
    result = np.empty(len(rows), dtype=joined.dtype)
    result[order] = joined
    return result


def _sizes(column: Any, name: str) -> tuple[Integers, int]:
    """Return |x| of a measure as integers over one denominator; null is 0 (T15)."""
    if hasattr(column, "fill_null") and hasattr(column, "type"):  # Arrow
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        kind = str(column.type)
        column = column.fill_null(0) if "int" in kind else column.to_pylist()
    values = np.asarray(column)
    if values.dtype.kind in "iu":
        if int(values.max(initial=0)) < _FITS and int(values.min(initial=0)) > -_FITS:
            return np.abs(values.astype(np.int64)), 1
        return np.abs(values.astype(object)), 1
    if values.dtype.kind == "f":
        raise InexactNumberError(
            f"the measure {name!r} is a column of floats. Round it to the measure's grid first, "
            "as whole numbers or decimals."
        )
    if values.dtype.kind != "O":
        raise InputError(
            f"the measure {name!r} is a column of {values.dtype}; expected whole numbers or "
            "decimals."
        )
    exact = [_exact(value, name) for value in values]
    denominator = math.lcm(*{value.denominator for value in exact}) if exact else 1
    return np.array([abs(int(value * denominator)) for value in exact], dtype=object), denominator


def _exact(value: object, name: str) -> Fraction:
    if value is None or (isinstance(value, Decimal) and not value.is_finite()):
        return Fraction(0)
    return rational(value, f"the measure {name!r}")


def _codes(column: Any) -> tuple[list[Any], Integers]:
    if hasattr(column, "dictionary_encode"):  # Arrow
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        values = column.to_pylist()
    else:
        values = np.asarray(column).tolist()
    known: dict[tuple[type, Any], int] = {}
    codes = np.fromiter(
        (known.setdefault((type(value), value), len(known)) for value in values),
        dtype=np.int64,
        count=len(values),
    )
    return [value for _, value in known], codes
