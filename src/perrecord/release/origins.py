"""Which columns of the source a field follows from, and so which fields change with a measure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from perrecord.errors import InputError
from perrecord.release.fields import Field, changed_column
from perrecord.tables.completing import completed
from perrecord.tables.expressions import Expression, columns_of
from perrecord.tables.parse import parse_expression

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Origins:
    """For each field the columns of the source that it follows from, through all others.

    An expression reads a measure as it is counted where one has the name, and a column otherwise; a
    lookup goes by columns alone. What cannot be read, None, may follow from any column.

    >>> from fractions import Fraction
    >>> emp = Field("emp", "measure", resolution=Fraction(1), expression="staff")
    >>> size = Field("size", "text", expression="CASE WHEN emp > 9 THEN 'large' ELSE 'small' END")
    >>> origins = Origins.of([emp, size, Field("county", "text")])
    >>> [each.name for each in origins.decided_by("emp")]
    ['size']
    """

    fields: tuple[Field, ...]
    columns: Mapping[str, frozenset[str] | None]

    @classmethod
    def of(cls, fields: Iterable[Field]) -> Self:
        """Return the origins of fields."""
        every = tuple(fields)
        found: dict[str, frozenset[str] | None] = {}
        for field in every:
            if field.computed is not None:
                found[field.name] = _all(found[each] for each in field.computed.names)
            elif field.kind == "measure":
                found[field.name] = _with(_stored(field), field.looked_up)
        measures = dict(found)
        for field in every:
            if field.kind != "measure":
                read = _read(field)
                if read is not None:
                    read = _all(measures.get(each, frozenset((each,))) for each in read)
                found[field.name] = _with(read, field.looked_up)
        return cls(every, found)

    def is_shared(self, name: str, others: Iterable[str]) -> bool:
        """Tell whether a field may follow from a column that one of the others follows from, too.

        What is no field, such as the column of units, follows from itself alone.
        """
        own = self._columns(name)
        every = [self._columns(each) for each in others]
        return any(own is None or each is None or own & each for each in every)

    def _columns(self, name: str) -> frozenset[str] | None:
        return self.columns.get(name, frozenset((name,)))

    def decided_by(self, measure: str) -> Iterator[Field]:
        """Yield the dimensions that may follow from a measure."""
        for each in self.fields:
            if each.kind != "measure" and self.is_shared(each.name, [measure]):
                yield each

    def moved_with(self, measure: str) -> Iterator[Field]:
        """Yield the other measures of which it cannot be told what they are where one is another.

        Those are of the same column, or computed from such. A computed measure is taken to be
        another by itself.
        """
        found: set[str] = set()
        is_computed = any(each.computed for each in self.fields if each.name == measure)
        for each in self.fields:
            if each.kind != "measure" or each.name == measure or is_computed:
                continue
            if each.computed is None:
                is_moved = self.is_shared(each.name, [measure])
            else:
                is_moved = not found.isdisjoint(each.computed.names)
            if is_moved:
                found.add(each.name)
                yield each

    def is_told(self, measure: str) -> bool:
        """Tell whether a record stays one record where a measure is another.

        A change between two periods becomes two if the rows of the periods are in other cells.
        """
        is_change = any(each.is_change for each in self.fields if each.name == measure)
        return not (is_change and any(self.decided_by(measure)))

    def followed(self, measure: str, before: Row, after: Row) -> tuple[Row, Row]:
        """Return two records that differ in a measure with what follows from it as it follows.

        What is computed from it is as the second record has it. Where it cannot be told what
        another field is, neither record has it.
        """
        expressions = {each.name: _expression(each) for each in self.decided_by(measure)}
        decided = expressions.keys()
        moved = {each.name for each in self.moved_with(measure)}
        found = completed(
            {name: each for name, each in expressions.items() if each is not None},
            {name: after[name] for name in {*self._known(measure)} - moved if name in after},
        )
        lost = moved | (decided - (before.keys() & found.keys()))
        anew = {name: found[name] for name in decided - lost}
        return (
            {name: value for name, value in before.items() if name not in lost},
            {name: value for name, value in after.items() if name not in lost} | anew,
        )

    def _known(self, measure: str) -> Iterator[str]:
        """Yield the fields that an expression may read where a measure is another.

        These are measures as they are counted, and columns of the source. Of a measure that is
        computed, and another by itself, it is not known what it is computed from.
        """
        is_computed = any(each.computed for each in self.fields if each.name == measure)
        for each in self.fields:
            is_shared = self.is_shared(each.name, [measure])
            if each.kind != "measure":
                if not each.expression and not is_shared:
                    yield each.name
            elif not each.is_change and not (is_computed and is_shared and each.name != measure):
                yield each.name


def _all(sets: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """Return all that sets hold; None if one of them may hold anything."""
    found = list(sets)
    known = [each for each in found if each is not None]
    return frozenset().union(*known) if len(known) == len(found) else None


def _with(found: frozenset[str] | None, others: Iterable[str]) -> frozenset[str] | None:
    return None if found is None else found | {*others}


def _stored(measure: Field) -> frozenset[str] | None:
    """Return the column that holds a measure, or that it is a change of; None if it is not told."""
    if not measure.expression:
        return frozenset((measure.name,))
    column = changed_column(measure.expression) if measure.is_change else measure.expression
    return _columns_of(column)


def _read(dimension: Field) -> frozenset[str] | None:
    """Return the columns that a dimension's expression reads; None if that cannot be told."""
    return (
        _columns_of(dimension.expression) if dimension.expression else frozenset((dimension.name,))
    )


def _columns_of(text: str) -> frozenset[str] | None:
    try:
        return columns_of(parse_expression(text))
    except InputError:
        return None


def _expression(dimension: Field) -> Expression | None:
    """Return the expression of a dimension; None where there is none that can be read."""
    try:
        return parse_expression(dimension.expression) if dimension.expression else None
    except InputError:
        return None
