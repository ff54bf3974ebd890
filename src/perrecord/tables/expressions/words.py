"""An expression as text for people, which parses back to the same expression."""

from fractions import Fraction

from perrecord.tables.expressions.nodes import (
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
    Or,
    Quotient,
    Remainder,
    Substring,
    Value,
)
from perrecord.tables.syntax import written_name


def describe(expression: Expression) -> str:  # noqa: PLR0912 (one per node)
    """Return the expression as SQL, in one spelling for everything that means the same node.

    >>> describe(Not(In(Column("state"), (Literal("NC"), Literal("VA")))))
    "state NOT IN ('NC', 'VA')"
    """
    match expression:
        case Column(name):
            return written_name(name)
        case Literal(value):
            return _literal(value)
        case Comparison(operator, left, right):
            return f"{_inside(left)} {operator.value} {_inside(right)}"
        case Distinct() | IsNull() | In() | Like():
            return _test(expression, "")
        case Not(Distinct() | IsNull() | In() | Like() as test):
            return _test(test, "NOT ")
        case Not(operand):
            return f"NOT {_inside(operand)}"
        case And(parts):
            return " AND ".join(_condition(part) for part in parts)
        case Or(parts):
            return " OR ".join(_condition(part) for part in parts)
        case Case(branches, otherwise):
            written = [f"WHEN {describe(when)} THEN {describe(then)}" for when, then in branches]
            return f"CASE {' '.join(written)} ELSE {describe(otherwise)} END"
        case Coalesce(parts):
            return f"COALESCE({', '.join(describe(part) for part in parts)})"
        case Concat(parts):
            return " || ".join(_inside(part) for part in parts)
        case Substring(operand, start, length):
            return f"SUBSTRING({describe(operand)}, {start}, {length})"
        case DatePart(unit, operand):
            return f"{unit.upper()}({describe(operand)})"
        case DateStart(unit, operand):
            return f"DATE_TRUNC('{unit}', {describe(operand)})"
        case AsText(operand):
            return f"CAST({describe(operand)} AS VARCHAR)"
        case Quotient(operand, divisor):
            return f"{_inside(operand)} // {divisor}"
        case Remainder(operand, divisor):
            return f"{_inside(operand)} % {divisor}"


def _test(test: Distinct | IsNull | In | Like, negation: str) -> str:
    """Return a test with its negation where SQL puts it."""
    match test:
        case Distinct(left, right):
            # SQL's own double negation: IS NOT DISTINCT FROM says that two values are the same.
            return f"{_inside(left)} IS {negation}DISTINCT FROM {_inside(right)}"
        case IsNull(operand):
            return f"{_inside(operand)} IS {negation}NULL"
        case In(operand, options):
            return f"{_inside(operand)} {negation}IN ({', '.join(map(describe, options))})"
        case Like(operand, pattern):
            return f"{_inside(operand)} {negation}LIKE {_literal(pattern)}"


def _inside(expression: Expression) -> str:
    """Return the text, in parentheses unless it is one piece already."""
    match expression:
        case Column() | Literal() | Case() | Coalesce() | Substring() | AsText():
            return describe(expression)
        case DatePart() | DateStart():
            return describe(expression)
        case _:
            return f"({describe(expression)})"


def _condition(part: Expression) -> str:
    return _inside(part) if isinstance(part, And | Or) else describe(part)


def _literal(value: Value) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case int():
            return str(value)
        case Fraction():
            return _decimal(value)


def _decimal(value: Fraction) -> str:
    """Return every digit of a number whose decimals end."""
    places = next(places for places in range(1, 10_000) if 10**places % value.denominator == 0)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
