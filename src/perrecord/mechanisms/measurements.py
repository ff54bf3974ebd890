"""OpenDP measurements: what one costs, and a column brought into the domain that it is proved for.

A measurement's map is a promise about inputs in its input domain alone; on others it says nothing,
and OpenDP does not look. So a measurement is run only if its domain is one that is understood
here, which is checked by building that domain again and comparing, and only on values brought
into it row by row: NULL is left out, numbers are clamped to the bounds. A row becomes at most one
row, whatever the other rows are, so neighbours stay neighbours and the map's rho holds (T8).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import pyarrow as pa

from perrecord.errors import QueryError
from perrecord.exact import text
from perrecord.queries.rows import RowsQuery
from perrecord.tables.fields import Kind
from perrecord.tables.kinds import kind_of_column
from perrecord.tables.schema import Schema

_UNBOUNDED = {
    Kind.MEASURE: ("i64", "f64"),
    Kind.INTEGER: ("i64", "f64"),
    Kind.TEXT: ("String",),
    Kind.TRUTH: ("bool",),
}
"""The types of OpenDP that hold every value of a column, by the column's kind."""

_NUMBERS = (Kind.MEASURE, Kind.INTEGER)
_BOUNDED = ("i64", "f64", "i32", "u32", "u64", "usize")
"""The types of numbers that hold every value between bounds of theirs."""


@dataclass(frozen=True, slots=True)
class Atoms:
    """The values of a measurement's input vectors: their type and, for numbers, their bounds."""

    carrier: str
    bounds: tuple[Any, Any] | None

    def hold(self, kind: Kind) -> bool:
        """Tell whether every value of a column of this kind is among them, once clamped."""
        if self.carrier in _UNBOUNDED[kind]:
            return True
        return kind in _NUMBERS and self.bounds is not None and self.carrier in _BOUNDED

    def values(self, column: pa.ChunkedArray) -> list[Any]:
        """Return a column as a vector of the domain: NULL left out, numbers clamped, sorted."""
        found = column.drop_null().to_pylist()
        if self.carrier not in ("String", "bool"):
            # Engines give wide whole numbers as decimals; floats round whole numbers beyond 2^53.
            number: Callable[[Any], Any] = float if self.carrier == "f64" else int
            found = [self._clamped(number(value)) for value in found]
        return sorted(found)

    def _clamped(self, value: Any) -> Any:
        if self.bounds is None:
            return value
        low, high = self.bounds
        return min(max(value, low), high)


def is_of_opendp(mechanism: object) -> bool:
    """Tell whether something given as a mechanism comes from OpenDP."""
    return type(mechanism).__module__.partition(".")[0] == "opendp"


def on_column(measurement: Any, query: RowsQuery, schema: Schema) -> Callable[[pa.Table], Any]:
    """Return the measurement as a function of rows of one column, or refuse it by name."""
    if len(query.columns) != 1:
        raise QueryError("an OpenDP measurement is run on one column; name just one.")
    (column,) = query.columns
    kind, domain = _kind(column, schema), measurement.input_domain
    atoms = _atoms(domain)
    if kind is None or atoms is None or not atoms.hold(kind):
        raise QueryError(
            f"the measurement is for {domain}, and perrecord cannot bring {column!r} into that "
            f"domain: {_advice(kind)}"
        )
    return lambda rows: measurement(atoms.values(rows.column(0)))


def rho_of(measurement: Any, declared: Fraction | None) -> Fraction:
    """Return the rho of an OpenDP measurement by its own map, refusing other notions of privacy."""
    from opendp.measures import zero_concentrated_divergence  # noqa: PLC0415 - optional
    from opendp.metrics import insert_delete_distance, symmetric_distance  # noqa: PLC0415
    from opendp.mod import Measurement  # noqa: PLC0415

    if not isinstance(measurement, Measurement):
        raise QueryError(
            f"a {type(measurement).__name__} of OpenDP was given; expected a Measurement, such as "
            "a transformation >> dp.m.then_gaussian(scale)."
        )
    if measurement.output_measure != zero_concentrated_divergence():
        raise QueryError(
            f"the measurement is private in the sense of {measurement.output_measure}; expected "
            "zero-concentrated divergence without delta: build it with "
            "dp.zero_concentrated_divergence()."
        )
    # Vectors are handed over sorted, so that one row more is one insertion.
    if measurement.input_metric not in (symmetric_distance(), insert_delete_distance()):
        raise QueryError(
            f"the measurement's neighbours are by {measurement.input_metric}; expected "
            "dp.symmetric_distance(), where one record is added or removed."
        )
    own = _mapped(measurement)
    if declared is not None and Fraction(own) > declared:
        raise QueryError(
            f"the measurement's own map says {own!r} for one record, more than the declared rho "
            f"{text(declared)}; declare as much, or leave rho out to take the map's."
        )
    return Fraction(own) if declared is None else declared


def _mapped(measurement: Any) -> float:
    try:
        own = float(measurement.map(1))
    except Exception as error:  # OpenDP's errors are of several kinds; no data was read yet
        raise QueryError(
            f"the measurement's own map fails for one record: {str(error).strip()} Build one whose "
            "measurement.map(1) gives a rho."
        ) from None
    if not isfinite(own):
        raise QueryError(f"the measurement's own map says {own!r} for one record; expected a rho.")
    return own


def _kind(column: str, schema: Schema) -> Kind | None:
    """Return the kind of a column of the table, its id and its unit included."""
    if column in schema.fields:
        return schema.fields[column].kind
    return kind_of_column(dict(schema.columns)[column])


def _advice(kind: Kind | None) -> str:
    if kind is None:
        return "the column's type is none that queries use. Name a dimension or a measure."
    types = " or ".join(f"atom_domain(T={name!r})" for name in _UNBOUNDED[kind])
    bounds = "; bounds=(least, greatest) may be added, and values are clamped to them"
    return (
        f"it holds {kind.value}. Build the measurement with dp.vector_domain, without size, of "
        f"{types}{bounds if kind in _NUMBERS else ''}."
    )


def _atoms(domain: Any) -> Atoms | None:
    """Return what a domain is proved to hold, by building it again; None for what is not equal.

    An attribute that is not read here, of this OpenDP or of a later one, makes the domains
    different, and so does a size: of neighbours both of one size the map of one record is 0. So
    does a domain of the user's own that is only named alike.
    """
    from opendp import domains  # noqa: PLC0415 - optional
    from opendp.mod import AtomDomain, VectorDomain  # noqa: PLC0415

    if type(domain) is not VectorDomain or type(domain.element_domain) is not AtomDomain:
        return None
    element = domain.element_domain
    carrier = str(element.carrier_type)
    if carrier not in {*_BOUNDED, "String", "bool"}:
        return None
    bounds = _bounds(element) if carrier in _BOUNDED else None
    nan = element.nan if carrier == "f64" else None
    same = domains.vector_domain(domains.atom_domain(bounds=bounds, nan=nan, T=carrier))
    return Atoms(carrier, bounds) if same == domain else None


def _bounds(element: Any) -> tuple[Any, Any] | None:
    try:
        found: tuple[Any, Any] | None = element.bounds
    except Exception:  # bounds that are not closed; the domain built without them will differ
        return None
    return found
