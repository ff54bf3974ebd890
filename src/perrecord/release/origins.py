"""Which columns of the source a field follows from, and so which fields change with a measure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from perrecord.errors import InputError
from perrecord.release.fields import CHANGE, Field
from perrecord.tables.completing import completed
from perrecord.tables.expressions import Expression, columns_of
from perrecord.tables.parse import parse_expression

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Origins:
    """For each field the columns of the source that it follows from, through all others.

    An expression reads a measure as it is counted where one has the name, and a column otherwise; a
    lookup goes by columns alone. What cannot be read may follow from every measure.

    >>> from fractions import Fraction
    >>> emp = Field("emp", "measure", resolution=Fraction(1), expression="staff")
    >>> size = Field("size", "text", expression="CASE WHEN emp > 9 THEN 'large' ELSE 'small' END")
    >>> origins = Origins.of([emp, size, Field("county", "text")])
    >>> [each.name for each in origins.decided_by("emp")]
    ['size']
    """

    fields: tuple[Field, ...]
    columns: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, fields: Iterable[Field]) -> Self:
        """Return the origins of fields."""
        every = tuple(fields)
        found: dict[str, frozenset[str]] = {}
        for field in every:
            if field.computed is not None:
                found[field.name] = _all(found[each] for each in field.computed.names)
            elif field.kind == "measure":
                found[field.name] = _stored(field) | {*field.looked_up}
        measures = dict(found)
        for field in every:
            if field.kind != "measure":
                own = _read(field)
                read = measures.keys() if own is None else own
                known = (measures.get(each, frozenset((each,))) for each in read)
                found[field.name] = _all(known) | {*field.looked_up}
        return cls(every, found)

    def is_shared(self, name: str, others: Iterable[str]) -> bool:
        """Tell whether a field follows from a column that one of the others follows from, too.

        What is no field, such as the column of units, follows from itself alone.
        """
        own = self.columns.get(name, frozenset((name,)))
        return any(own & self.columns.get(each, frozenset((each,))) for each in others)

    def decided_by(self, measure: str) -> Iterator[Field]:
        """Yield the dimensions that may follow from a measure."""
        for each in self.fields:
            if each.kind != "measure" and self.is_shared(each.name, [measure]):
                yield each

    def followed(self, measure: str, before: Row, after: Row) -> tuple[Row, Row]:
        """Return two records that differ in a measure with what follows from it as it follows.

        What is computed from it is as the second record has it. Where it cannot be told what
        another field is, neither record has it.
        """
        decided = {each.name: each for each in self.decided_by(measure)}
        # An expression reads measures as they are counted, and columns of the source.
        plain = {
            each.name
            for each in self.fields
            if not each.expression or (each.kind == "measure" and not each.is_change)
        }
        known = {name: value for name, value in after.items() if name in plain - decided.keys()}
        expressions = {name: _expression(each) for name, each in decided.items()}
        found = completed({name: each for name, each in expressions.items() if each}, known)
        lost = decided.keys() - (before.keys() & found.keys())
        lost |= {name for name in self._stored_alike(measure) if before.get(name) is not None}
        anew = {name: found[name] for name in decided.keys() - lost}
        return (
            {name: value for name, value in before.items() if name not in lost},
            {name: value for name, value in after.items() if name not in lost} | anew,
        )

    def _stored_alike(self, measure: str) -> Iterator[str]:
        """Yield the other measures that a column holds beside this one."""
        for each in self.fields:
            is_stored = each.kind == "measure" and each.computed is None
            if is_stored and each.name != measure and self.is_shared(each.name, [measure]):
                yield each.name


def _all(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _stored(measure: Field) -> frozenset[str]:
    """Return the column that holds a measure; of a change, the one that it is a change of."""
    column = measure.expression.partition(CHANGE)[0] if measure.is_change else measure.expression
    return columns_of(parse_expression(column)) if column else frozenset((measure.name,))


def _read(dimension: Field) -> frozenset[str] | None:
    """Return the columns that a dimension's expression reads; None if that cannot be told."""
    if not dimension.expression:
        return frozenset((dimension.name,))
    expression = _expression(dimension)
    return None if expression is None else columns_of(expression)


def _expression(dimension: Field) -> Expression | None:
    """Return the expression of a dimension; None where there is none that can be read."""
    try:
        return parse_expression(dimension.expression) if dimension.expression else None
    except InputError:
        return None
