"""A policy over whole columns at once: numpy arrays, Arrow tables, data frames.

Piece counts are exact integers: 64 bits where everything fits, Python's own where not. Losses are
float64 rounded up: never below the exact loss, and above it by less than one part in 2^40 for
policies of up to 4,000 terms. (Amounts below 1e-250 are taken as 1e-250.)
"""

import copy
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, TypeVar, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import InexactNumberError, InputError
from perrecord.exact import float_up
from perrecord.policy.cases import Cases, DimensionValue, dimension, missing_field
from perrecord.policy.growth import Growth
from perrecord.policy.split import Scheme, Split, SplitBy, measure
from perrecord.policy.terms import (
    Constant,
    ExactLoss,
    Form,
    Largest,
    Piecewise,
    SizeLoss,
    SplitLoss,
    Term,
)


class Columns(Protocol):
    """Named columns: a dict of arrays, an Arrow table, a pandas or Polars frame."""

    def __getitem__(self, name: str, /) -> Any:
        """Return a column by its name."""


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
        self._names = _names(columns)
        self._measures: dict[str, tuple[Integers, int]] = {}
        self._dimensions: dict[str, tuple[list[DimensionValue], Integers]] = {}
        self._taken: Integers | slice = slice(None)
        self._length = len(columns[self._names[0]]) if self._names else 0

    def take(self, rows: Integers) -> "_Rows":
        """Return the same columns at these positions (counted from the present rows)."""
        view = copy.copy(self)
        view._taken = rows if isinstance(self._taken, slice) else self._taken[rows]
        view._length = len(rows)
        return view

    def __len__(self) -> int:
        return self._length

    def measure(self, name: str) -> tuple[Integers, int]:
        """Return sizes |x| times a common denominator, and that denominator."""
        if name not in self._measures:
            self._measures[name] = _sizes(self._column(name), name)
        sizes, denominator = self._measures[name]
        return sizes[self._taken], denominator

    def dimension(self, name: str) -> tuple[list[DimensionValue], Integers]:
        """Return the distinct values of a dimension and each row's position among them."""
        if name not in self._dimensions:
            self._dimensions[name] = _codes(self._column(name), name)
        values, codes = self._dimensions[name]
        return values, codes[self._taken]

    def _column(self, name: str) -> Any:
        if name not in self._names:
            raise missing_field("column", name, dict.fromkeys(map(str, self._names)))
        column = _plain(self._columns[name])
        if len(column) != len(self._columns[self._names[0]]):
            raise InputError(
                f"the column {name!r} has {len(column)} rows and {self._names[0]!r} has "
                f"{len(self._columns[self._names[0]])}; expected columns of one length."
            )
        return column


def _names(columns: Any) -> list[Any]:
    for attribute in ("column_names", "columns", "keys"):
        names = getattr(columns, attribute, None)
        if names is not None:
            every = list(names() if callable(names) else names)
            twice = next((name for name in every if every.count(name) > 1), None)
            if twice is not None:
                raise InputError(f"the columns name {twice!r} twice; rename one of them.")
            return every
    raise InputError(
        f"the columns are a {type(columns).__name__}; expected a dictionary of arrays, an Arrow "
        "table or a data frame."
    )


def _plain(column: Any) -> Any:
    """Return a column as an Arrow array, a numpy array or a list: what keeps nulls and types."""
    if isinstance(column, np.ma.MaskedArray):
        return [None if value is np.ma.masked else value for value in column]
    if isinstance(column, pa.ChunkedArray | pa.Array | np.ndarray | list):
        return column
    if isinstance(column, tuple):
        return list(column)
    if hasattr(column, "to_arrow"):  # Polars
        return column.to_arrow()
    if hasattr(column, "to_numpy"):  # pandas
        return pa.array(column, from_pandas=True)
    raise InputError(f"a column is a {type(column).__name__}; expected an array or a list.")


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
        case SizeLoss(amount, name, growth):
            return _grown(*rows.measure(name), amount, growth)
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


def _grown(sizes: Integers, denominator: int, amount: Fraction, growth: Growth) -> Floats:
    """Return amount * growth of every size, each different size evaluated once."""
    if (quick := growth.floats(sizes.astype(np.float64) / denominator)) is not None:
        return np.asarray(_weight(amount) * quick)
    different, places = np.unique(sizes, return_inverse=True)
    found = (growth.loss(Fraction(int(size), denominator)).times(amount) for size in different)
    losses = np.array([_weight(loss.amount) for loss in found], dtype=np.float64)
    return np.asarray(losses[places], dtype=np.float64)


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
            if cap is None or (cap >= _FITS and most.dtype != object):
                return most
            return np.minimum(most, cap)
        case SplitBy(cases):
            return _by_case(cases, rows, _pieces)


def _parts(sizes: Integers, denominator: int, threshold: Fraction) -> Integers:
    """Return ceil(size / (denominator * threshold)) on integers."""
    ratio = 1 / (threshold * denominator)
    largest = max(int(sizes.max(initial=1)), 1) * ratio.numerator
    if sizes.dtype == object or max(largest, ratio.denominator) >= _FITS:
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
    """Return |x| of a measure as integers over one denominator; null is 0 (T15).

    What is accepted depends on the column's type alone, never on its values.
    """
    if isinstance(column, pa.ChunkedArray | pa.Array):
        column = _from_arrow(column, name)
    values = np.array(column, dtype=object) if isinstance(column, list) else column
    if values.dtype.kind in "iu":
        if int(values.max(initial=0)) < _FITS and int(values.min(initial=0)) > -_FITS:
            return np.abs(values.astype(np.int64)), 1
        return np.abs(values.astype(object)), 1
    if values.dtype.kind != "O":
        raise _wrong_type(name, str(values.dtype), inexact=values.dtype.kind == "f")
    exact = [Fraction(measure({name: value}, name) or 0) for value in values]
    denominator = math.lcm(*{value.denominator for value in exact}) if exact else 1
    return np.array([abs(int(value * denominator)) for value in exact], dtype=object), denominator


def _from_arrow(column: Any, name: str) -> Integers:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_integer(kind):
        return np.asarray(column.fill_null(0).to_numpy())
    if pa.types.is_decimal(kind) or pa.types.is_null(kind):
        values = np.empty(len(column), dtype=object)
        values[:] = column.to_pylist()
        return values
    raise _wrong_type(name, str(kind), inexact=pa.types.is_floating(kind))


def _wrong_type(name: str, kind: str, *, inexact: bool) -> InputError:
    if inexact:
        return InexactNumberError(
            f"the measure {name!r} is a column of floats. Round it to the measure's grid first, "
            "as whole numbers or decimals."
        )
    return InputError(
        f"the measure {name!r} is a column of {kind}; expected whole numbers or decimals."
    )


def _codes(column: Any, name: str) -> tuple[list[DimensionValue], Integers]:
    """Return the distinct values of a dimension, True and 1 apart, and each row's position."""
    if isinstance(column, pa.ChunkedArray | pa.Array):
        values = column.to_pylist()
    else:
        values = column.tolist() if isinstance(column, np.ndarray) else column
    known: dict[tuple[type, Any], int] = {}
    codes = np.fromiter(
        (known.setdefault((type(value), value), len(known)) for value in values),
        dtype=np.int64,
        count=len(values),
    )
    return [dimension({name: value}, name) for _, value in known], codes
