"""An expression in the SQL of an engine: total, exact, and the same value on every engine."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import InternalError
from perrecord.tables.dialects import Dialect
from perrecord.tables.expressions.dates import part_sql, start_sql
from perrecord.tables.expressions.kinds import (
    Fields,
    compared_kind,
    field_of,
    is_number,
    kind_or_null,
)
from perrecord.tables.expressions.meaning import evaluate
from perrecord.tables.expressions.nodes import (
    GREATEST_INTEGER,
    LEAST_INTEGER,
    And,
    AsText,
    Case,
    Coalesce,
    Column,
    Comparison,
    Concat,
    DatePart,
    DateStart,
    Distinct,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operator,
    Or,
    Quotient,
    Remainder,
    Substring,
    Value,
)
from perrecord.tables.fields import Kind

_MIRRORED = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.UNEQUAL: Operator.UNEQUAL,
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}


def to_sql(
    expression: Expression, fields: Fields, columns: Mapping[str, str], dialect: Dialect
) -> str:
    """Return the expression in the engine's SQL; `columns` says what stands for each column there.

    Text is the engine's text, whole numbers and measures are 64-bit integers; a measure counts
    multiples g of its resolution, so that `emp > 12.5` becomes a comparison of g with an integer.

    >>> from perrecord.tables.dialects import DUCKDB
    >>> from perrecord.tables.fields import TypedColumn
    >>> emp = TypedColumn("emp", Kind.MEASURE, Fraction(1))
    >>> above = Comparison(Operator.GREATER, Column("emp"), Literal(Fraction(25, 2)))
    >>> to_sql(above, {"emp": emp}, {"emp": "emp"}, DUCKDB)
    '(emp > CAST(12 AS BIGINT))'
    """
    kind = kind_or_null(expression, fields)
    return _Writer(fields, columns, dialect).write(expression, kind or Kind.TRUTH)


@dataclass(frozen=True, slots=True)
class _Writer:
    fields: Fields
    columns: Mapping[str, str]
    dialect: Dialect

    def write(self, expression: Expression, wanted: Kind) -> str:  # noqa: PLR0912 (one per node)
        """Return the SQL; `wanted` is the kind that a NULL takes on in this place."""
        match expression:
            case Column(name):
                return self.columns[name]
            case Literal(value):
                return self._literal(value, wanted)
            case Comparison(operator, left, right):
                return self._comparison(operator, left, right)
            case Distinct(left, right):
                return self._distinct(left, right)
            case IsNull(operand):
                return f"({self._any_kind(operand)} IS NULL)"
            case In(operand, options):
                return self._in(operand, options)
            case Not(operand):
                return f"(NOT {self.write(operand, Kind.TRUTH)})"
            case And(parts):
                return self._joined(parts, " AND ", Kind.TRUTH)
            case Or(parts):
                return self._joined(parts, " OR ", Kind.TRUTH)
            case Concat(parts):
                return self._joined(parts, " || ", Kind.TEXT)
            case Coalesce(parts):
                return "coalesce" + self._joined(parts, ", ", wanted)
            case Case(branches, otherwise):
                written = " ".join(
                    f"WHEN {self.write(condition, Kind.TRUTH)} THEN {self.write(result, wanted)}"
                    for condition, result in branches
                )
                return f"(CASE {written} ELSE {self.write(otherwise, wanted)} END)"
            case Like(operand, pattern):
                return f"({self.write(operand, Kind.TEXT)} LIKE {self.dialect.pattern(pattern)})"
            case Substring(operand, start, length):
                return f"substring({self.write(operand, Kind.TEXT)}, {start}, {length})"
            case DatePart(unit, operand):
                return part_sql(self.write(operand, Kind.TEXT), unit, self.dialect)
            case DateStart(unit, operand):
                return start_sql(self.write(operand, Kind.TEXT), unit, self.dialect)
            case AsText(operand):
                return self.dialect.as_text(self.write(operand, Kind.INTEGER))
            case Quotient(operand, divisor):
                return self.dialect.divided(self.write(operand, Kind.INTEGER), divisor)[0]
            case Remainder(operand, divisor):
                return self.dialect.divided(self.write(operand, Kind.INTEGER), divisor)[1]

    def _literal(self, value: Value, wanted: Kind) -> str:
        match value:
            case None:
                return self._null(wanted)
            case Fraction():
                raise InternalError("A decimal reached the engine outside a comparison.")
            case _:
                return self.dialect.literal(value)

    def _null(self, wanted: Kind) -> str:
        if wanted.types.sql is None:
            return self.dialect.as_text("NULL")
        return f"CAST(NULL AS {wanted.types.sql})"

    def _joined(self, parts: tuple[Expression, ...], sign: str, kind: Kind) -> str:
        return "(" + sign.join(self.write(part, kind) for part in parts) + ")"

    def _any_kind(self, operand: Expression) -> str:
        return self.write(operand, kind_or_null(operand, self.fields) or Kind.TRUTH)

    def _comparison(self, operator: Operator, left: Expression, right: Expression) -> str:
        if is_number(left) and is_number(right):
            return self._folded(Comparison(operator, left, right))
        if is_number(left):
            return self._comparison(_MIRRORED[operator], right, left)
        kind = compared_kind(left, right, self.fields) or Kind.TRUTH
        operand = self.write(left, kind)
        if is_number(right):
            return self._against(operand, operator, self._on_grid(left, right))
        return f"({operand} {operator.value} {self.write(right, kind)})"

    def _against(self, operand: str, operator: Operator, bound: Fraction) -> str:
        """Return the comparison of an integer with any rational, as one between integers."""
        match operator:
            case Operator.EQUAL | Operator.UNEQUAL:
                whole = bound.numerator if bound.denominator == 1 else GREATEST_INTEGER + 1
            case Operator.LESS | Operator.AT_LEAST:
                whole = math.ceil(bound)
            case Operator.AT_MOST | Operator.GREATER:
                whole = math.floor(bound)
        if LEAST_INTEGER <= whole <= GREATEST_INTEGER:
            return f"({operand} {operator.value} {self.dialect.literal(whole)})"
        below = operator in (Operator.LESS, Operator.AT_MOST, Operator.UNEQUAL)
        above = operator in (Operator.GREATER, Operator.AT_LEAST, Operator.UNEQUAL)
        return self._constant(operand, below if whole > GREATEST_INTEGER else above)

    def _constant(self, operand: str, truth: bool) -> str:
        """Return what is always TRUE, or always FALSE, except NULL where the operand is."""
        sign = "<=" if truth else ">"
        return f"({operand} {sign} {self.dialect.literal(GREATEST_INTEGER)})"

    def _distinct(self, left: Expression, right: Expression) -> str:
        if is_number(left) and is_number(right):
            return self._folded(Distinct(left, right))
        if is_number(left):
            return self._distinct(right, left)
        kind = compared_kind(left, right, self.fields) or Kind.TRUTH
        other = right
        if is_number(right):
            bound = self._on_grid(left, right)
            if not _fits(bound):
                return self.dialect.literal(True)
            other = Literal(bound.numerator)
        return f"(NOT {self.dialect.is_same(self.write(left, kind), self.write(other, kind))})"

    def _in(self, operand: Expression, options: tuple[Literal, ...]) -> str:
        if is_number(operand):
            return self._folded(In(operand, options))
        kinds = (compared_kind(operand, option, self.fields) for option in options)
        kind = next((kind for kind in kinds if kind is not None), Kind.TRUTH)
        written = self.write(operand, kind)
        if kind in (Kind.INTEGER, Kind.MEASURE):
            options = tuple(self._representable(operand, options))
        if not options:
            return self._constant(written, False)
        return f"({written} IN ({', '.join(self.write(option, kind) for option in options)}))"

    def _representable(self, operand: Expression, options: tuple[Literal, ...]) -> list[Literal]:
        """Return the options on the operand's grid; it can equal no other."""
        found = []
        for option in options:
            if option.value is None:
                found.append(option)
            elif _fits(bound := self._on_grid(operand, option)):
                found.append(Literal(bound.numerator))
        return found

    def _on_grid(self, operand: Expression, number: Expression) -> Fraction:
        """Return a number in multiples of the operand's resolution, which is 1 if it has none."""
        match operand, number:
            case Column(name), Literal(int() | Fraction() as value):
                return Fraction(value) / (field_of(name, self.fields).resolution or 1)
            case _, Literal(int() | Fraction() as value):
                return Fraction(value)
            case _:
                raise InternalError("A comparison's bound is not a number.")

    def _folded(self, expression: Expression) -> str:
        """Return the value of an expression of literals alone."""
        return self._literal(evaluate(expression, {}), Kind.TRUTH)


def _fits(bound: Fraction) -> bool:
    return bound.denominator == 1 and LEAST_INTEGER <= bound.numerator <= GREATEST_INTEGER
