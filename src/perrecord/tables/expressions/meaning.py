"""What an expression means: its value on one record, the reference for every engine."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from perrecord.errors import MissingFieldError, RecordError
from perrecord.tables.expressions.dates import part_of, start_of
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
    Operator,
    Or,
    Quotient,
    Remainder,
    Substring,
    Value,
)

_COMPARE: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.UNEQUAL: operator.ne,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.GREATER: operator.gt,
    Operator.AT_LEAST: operator.ge,
}


def evaluate(expression: Expression, record: Mapping[str, Any]) -> Value:  # noqa: PLR0912
    """Return the expression's value on a record: text, number, truth value, or None for NULL.

    Measures stand in the record in their own units, as int or Fraction. The expression is one that
    `kind_of` accepts.

    >>> from perrecord.tables.parse import parse_expression
    >>> evaluate(parse_expression("SUBSTR(naics, 1, 2)"), {"naics": "441110"})
    '44'
    >>> print(evaluate(parse_expression("emp > 12.5"), {"emp": None}))
    None
    """
    match expression:
        case Column(name):
            return _read(name, record)
        case Literal(value):
            return value
        case Comparison(sign, left, right):
            return _compare(sign, evaluate(left, record), evaluate(right, record))
        case Distinct(left, right):
            one, other = evaluate(left, record), evaluate(right, record)
            if one is None or other is None:
                return one is not other
            return _compare(Operator.UNEQUAL, one, other)
        case IsNull(operand):
            return evaluate(operand, record) is None
        case In(operand, options):
            value = evaluate(operand, record)
            return _any(_compare(Operator.EQUAL, value, option.value) for option in options)
        case Not(operand):
            return _not(evaluate(operand, record))
        case And(parts):
            return _not(_any(_not(evaluate(part, record)) for part in parts))
        case Or(parts):
            return _any(evaluate(part, record) for part in parts)
        case Case(branches, otherwise):
            for condition, result in branches:
                if evaluate(condition, record) is True:
                    return evaluate(result, record)
            return evaluate(otherwise, record)
        case Coalesce(parts):
            values = (evaluate(part, record) for part in parts)
            return next((value for value in values if value is not None), None)
        case Concat(parts):
            texts = [_text(evaluate(part, record)) for part in parts]
            return None if None in texts else "".join(text for text in texts if text is not None)
        case Like(operand, pattern):
            text = _text(evaluate(operand, record))
            return None if text is None else _pattern(pattern).fullmatch(text) is not None
        case Substring(operand, start, length):
            text = _text(evaluate(operand, record))
            return None if text is None else text[start - 1 : start - 1 + length]
        case DatePart(unit, operand):
            return part_of(_text(evaluate(operand, record)), unit)
        case DateStart(unit, operand):
            return start_of(_text(evaluate(operand, record)), unit)
        case AsText(operand):
            number = _whole(evaluate(operand, record))
            return None if number is None else str(number)
        case Quotient(operand, divisor):
            number = _whole(evaluate(operand, record))
            return None if number is None else _cut(number, divisor)
        case Remainder(operand, divisor):
            number = _whole(evaluate(operand, record))
            return None if number is None else number - divisor * _cut(number, divisor)


def _read(name: str, record: Mapping[str, Any]) -> Value:
    if name not in record:
        raise MissingFieldError(f"the record has no field {name!r}, which the expression reads.")
    match record[name]:
        case None | str() | int() | Fraction() as value:
            return value
        case other:
            raise RecordError(
                f"the record's {name!r} is a {type(other).__name__}; expected text, int, bool, "
                "Fraction or None."
            )


def _compare(sign: Operator, left: Value, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    if _sort(left) is not _sort(right):
        raise RecordError(
            f"{_sort(left).__name__} meets {_sort(right).__name__} in {sign.value}; "
            "the record's fields are not of the kinds that the expression expects."
        )
    # Texts compare by code point, which is the order of their UTF-8 bytes in the engines.
    return _COMPARE[sign](left, right)


def _sort(value: Value) -> type:
    match value:
        case bool() | str():
            return type(value)
        case _:
            return Fraction


def _not(value: Value) -> bool | None:
    truth = _truth(value)
    return None if truth is None else not truth


def _any(values: Iterable[Value]) -> bool | None:
    found = {_truth(value) for value in values}
    if True in found:
        return True
    return None if None in found else False


def _truth(value: Value) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise _misfit(value, "a truth value")


def _text(value: Value) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _misfit(value, "text")


def _whole(value: Value) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _misfit(value, "a whole number")


def _misfit(value: Value, expected: str) -> RecordError:
    return RecordError(f"a field is a {type(value).__name__} where {expected} is expected.")


def _cut(number: int, divisor: int) -> int:
    """Return the quotient cut towards zero, as the engines do, not towards minus infinity."""
    return number // divisor if number >= 0 else -(-number // divisor)


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(
        "".join({"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in pattern), re.DOTALL
    )
