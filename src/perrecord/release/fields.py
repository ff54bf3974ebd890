"""The fields of a record: dimensions with their public values, measures with their grid."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, get_args

from perrecord.errors import SchemaError, listing
from perrecord.exact import rational
from perrecord.policy.cases import DimensionValue
from perrecord.tables.arithmetic import Arithmetic
from perrecord.tables.expressions import Column, Expression, describe
from perrecord.tables.fields import Kind
from perrecord.tables.measures import LARGEST, Measure, Outside
from perrecord.tables.schema import Schema

FieldKind = Literal["text", "integer", "truth", "measure"]

TYPES: dict[str, type] = {
    kind.types.document: kind.types.python for kind in Kind if kind is not Kind.MEASURE
}
"""The Python type of a dimension's values, by its kind."""


_NOW, _BEFORE = " of this period - ", " of the period before"


def change_of(column: str) -> str:
    """Return how a measure is defined where records are changes between two periods.

    >>> change_of("emp")
    'emp of this period - emp of the period before'
    """
    return f"{column}{_NOW}{column}{_BEFORE}"


def changed_column(definition: str) -> str:
    """Return the column that a definition by `change_of` is about.

    >>> changed_column(change_of("emp"))
    'emp'
    """
    return definition[: (len(definition) - len(_NOW) - len(_BEFORE)) // 2]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record: a dimension with its public values, or a measure with its grid.

    A measure's value is rounded to a multiple of the resolution, ties away from zero; at most
    `largest` multiples are counted, and what lies outside becomes null or is cut (T15). How its
    source stores numbers changes nothing about that. `expression` defines a field that is no column
    of its own name; `computed` says how a derived measure follows from other fields, `looked_up` of
    which columns a field follows through lookups.

    >>> Field("payroll", "measure", resolution=Fraction(1000)).number("1500")
    Fraction(2000, 1)
    >>> Field("pay", "measure", resolution=Fraction(1, 100)).number("1.005")
    Fraction(101, 100)
    """

    name: str
    kind: FieldKind
    label: str = ""
    unit: str = ""
    values: tuple[DimensionValue, ...] = ()
    resolution: Fraction | None = None
    largest: int | None = None
    outside: Outside | None = None
    expression: str = ""
    names: tuple[str, ...] = ()
    """What the values are called, one for each; "" where one has no name."""
    computed: Arithmetic | None = None
    looked_up: tuple[str, ...] = ()
    """The columns of the source by which lookups find what the field reads."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SchemaError(f"a field's name is {self.name!r}; expected the name of a column.")
        if self.kind not in get_args(FieldKind):
            raise SchemaError(
                f"the field {self.name!r} is of kind {self.kind!r}; expected one of "
                f"{listing(get_args(FieldKind))}."
            )
        if self.kind == "measure":
            self._check_measure()
        else:
            self._check_dimension()

    def _check_measure(self) -> None:
        if self.values or self.names or self.resolution is None:
            raise SchemaError(
                f"the measure {self.name!r} has values or lacks a resolution; expected a "
                "resolution such as Fraction(1) and no list of values."
            )
        object.__setattr__(self, "largest", LARGEST if self.largest is None else self.largest)
        object.__setattr__(self, "outside", "null" if self.outside is None else self.outside)
        self.measure()

    def _check_dimension(self) -> None:
        if self.names and len(self.names) != len(self.values):
            raise SchemaError(
                f"the dimension {self.name!r} has {len(self.names)} names for {len(self.values)} "
                "values; expected one for each, or none."
            )
        if (self.resolution, self.largest, self.outside, self.computed) != (None,) * 4:
            raise SchemaError(
                f"the dimension {self.name!r} has a resolution, largest or outside, or is computed "
                "from measures; only measures are."
            )
        expected = TYPES[self.kind]
        if any(type(value) not in (expected, type(None)) for value in self.values):
            raise SchemaError(f"a value of the dimension {self.name!r} is not of its kind.")
        if len(set(self.values)) < len(self.values):
            raise SchemaError(f"the dimension {self.name!r} lists a value twice; list each once.")

    @property
    def is_change(self) -> bool:
        """Whether a measure is a change between two periods, and not what a row of one holds."""
        return self.kind == "measure" and self.expression.endswith(_BEFORE)

    def measure(self) -> Measure:
        """Return the rule that rounds a measure."""
        if self.resolution is None or self.largest is None or self.outside is None:
            raise SchemaError(f"the field {self.name!r} is not a measure; it is not rounded.")
        return _rule(self.resolution, self.largest, self.outside)

    def number(self, value: Any) -> Fraction | None:
        """Return the number that the policy sees; text is read exactly as it is written."""
        if isinstance(value, str):
            value = rational(value, f"the measure {self.name!r}")
        return self.measure().number(value)


@lru_cache(maxsize=1024)
def _rule(resolution: Fraction, largest: int, outside: Outside) -> Measure:
    return Measure(resolution, largest=largest * resolution, outside=outside)


def check_computed(fields: Iterable[Field]) -> None:
    """Refuse a measure that is computed from what is no measure listed before it."""
    before: set[str] = set()
    for field in fields:
        if field.computed is not None and not before >= {*field.computed.names}:
            raise SchemaError(
                f"the field {field.name!r} is computed from {listing(field.computed.names)}; "
                "expected measures, each listed before it."
            )
        if field.kind == "measure":
            before.add(field.name)


def fields_of(schema: Schema) -> tuple[Field, ...]:
    """Return the fields of a table's records, without labels, units and lists of values."""
    dimensions = (
        Field(
            each.name,
            each.kind.types.document,
            expression=_definition(each.name, each.expression),
            looked_up=schema.looked_up(each.name),
        )
        for each in schema.dimensions
    )
    measures = (
        Field(
            name,
            "measure",
            resolution=measure.resolution,
            largest=measure.largest,
            outside=measure.outside,
            expression=_measure_definition(name, measure, schema),
            computed=measure.expression,
            looked_up=schema.looked_up(name),
        )
        for name, measure in schema.rules.items()
    )
    return (*dimensions, *measures)


def _measure_definition(name: str, measure: Measure, schema: Schema) -> str:
    column = measure.stored(name)
    if column is None:
        return str(measure.expression or "")
    return (
        change_of(describe(Column(column)))
        if schema.is_linked
        else _definition(name, Column(column))
    )


def _definition(name: str, expression: Expression) -> str:
    return "" if expression == Column(name) else describe(expression)
