"""The kinds of value that a spec is made of, read exactly, and the short forms of mappings."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    StrictInt,
)

from perrecord.accounting.parts import period_name
from perrecord.errors import InputError
from perrecord.exact import parameter, text
from perrecord.release.names import IDENTIFIER, LONGEST_NAME
from perrecord.release.spec.problems import found
from perrecord.release.spec.read import WrittenNumber

_ZEROS_BEFORE = re.compile(r"\s*[-+]?0[0-9]")
_LEAST, _GREATEST = Fraction(1, 10**100), Fraction(10**100)


def _exact(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise InputError(f"expected a number such as 5, 0.1 or 1/3, found {found(value)}.")
    if isinstance(value, str) and _ZEROS_BEFORE.match(value):
        raise InputError(f"expected a number without leading zeros, found {found(value)}.")
    return parameter(value, found(value))


def _positive(value: Any) -> Fraction:
    number = _exact(value)
    if number <= 0:
        raise InputError(f"expected a number above 0, found {text(number)}.")
    if not _LEAST <= number <= _GREATEST:  # noise beyond that is none that a float can describe
        raise InputError(f"expected a number between 1e-100 and 1e100, found {found(value)}.")
    return number


def is_name(value: str) -> bool:
    """Tell whether a text names something where a number may stand: it starts with a letter.

    >>> is_name("usual"), is_name("_2big"), is_name("50"), is_name("2big"), is_name(".nan")
    (True, True, False, False, False)
    """
    return value[:1].isalpha() or value[:1] == "_"


def _size_or_name(value: Any) -> Fraction | str:
    if isinstance(value, str) and is_name(value):
        return value
    try:
        return _positive(value)
    except InputError:
        raise InputError(
            "expected the size of a record, a number above 0 such as 50, or the name of a taper, "
            f"which starts with a letter; found {found(value)}."
        ) from None


def _share(value: Any) -> Fraction:
    number = _exact(value)
    if not 0 < number < 1:
        raise InputError(f"expected a number between 0 and 1, found {text(number)}.")
    return number


def _amount(value: Any) -> tuple[Fraction, ...]:
    return tuple(map(_exact, value)) if isinstance(value, list | tuple) else (_exact(value),)


def _numbers(value: Any) -> tuple[Fraction, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"expected two numbers, such as [0, 500], found {found(value)}.")
    return tuple(map(_exact, value))


def _value(value: Any) -> str | int | bool | None:
    if isinstance(value, WrittenNumber) or not (value is None or isinstance(value, str | int)):
        raise InputError(
            f"expected text, a whole number, true, false or null, found {found(value)}; put codes "
            "in quotes."
        )
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InputError(f"expected a whole number of at most 64 bits, found {found(value)}.")
    return value


def _field(value: Any) -> str | int | bool | None:
    return text(_exact(value)) if isinstance(value, WrittenNumber) else _value(value)


def _period(value: Any) -> str:
    if isinstance(value, WrittenNumber):
        raise InputError(f"expected a period such as 2026 or 2026Q1, found {found(value)}.")
    return period_name(value)


def _written(value: Any) -> Any:
    return text(value) if isinstance(value, Fraction) else value


def _written_amount(value: tuple[Fraction, ...]) -> str | list[str]:
    return text(value[0]) if len(value) == 1 else [text(each) for each in value]


_Digits = float | int | str

Exact = Annotated[
    Fraction, PlainValidator(_exact, json_schema_input_type=_Digits), PlainSerializer(_written)
]
Positive = Annotated[
    Fraction, PlainValidator(_positive, json_schema_input_type=_Digits), PlainSerializer(_written)
]
SizeOrName = Annotated[
    Fraction | str,
    PlainValidator(_size_or_name, json_schema_input_type=_Digits),
    PlainSerializer(_written),
]
Proportion = Annotated[
    Fraction, PlainValidator(_share, json_schema_input_type=_Digits), PlainSerializer(_written)
]
Amount = Annotated[
    tuple[Fraction, ...],
    PlainValidator(
        _amount,
        json_schema_input_type=_Digits
        | Annotated[list[_Digits], Field(min_length=2, max_length=2)],
    ),
    PlainSerializer(_written_amount),
]
Bounds = Annotated[
    tuple[Fraction, ...],
    PlainValidator(
        _numbers, json_schema_input_type=Annotated[list[_Digits], Field(min_length=2, max_length=2)]
    ),
    PlainSerializer(_written_amount),
]
Value = Annotated[
    str | int | bool | None,
    PlainValidator(_value, json_schema_input_type=str | int | bool | None),
]
FieldValue = Annotated[
    str | int | bool | None,
    PlainValidator(_field, json_schema_input_type=str | float | int | bool | None),
]
PeriodName = Annotated[str, PlainValidator(_period, json_schema_input_type=str | int)]
Text = Annotated[str, Field(min_length=1)]
Identifier = Annotated[str, Field(pattern=IDENTIFIER, max_length=LONGEST_NAME)]
Whole = StrictInt
TruthValue = StrictBool


def short(rewrite: Callable[[Any], Any], accepted: Any) -> BeforeValidator:
    """Return the validator that writes a short form out; `accepted` is for editors."""
    return BeforeValidator(rewrite, json_schema_input_type=accepted)


def one_or_more(value: Any) -> Any:
    """Return a single name as a list of one."""
    return [value] if isinstance(value, str) else value


Names = Annotated[tuple[Text, ...], short(one_or_more, str | list[str])]


def entries(default: Any) -> Callable[[Any], Any]:
    """Return the rewriting of a list of names into a mapping from each to the default."""

    def rewrite(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        odd = next((each for each in value if not isinstance(each, str)), None)
        if odd is not None:
            raise InputError(f"expected a list of column names, found {found(odd)} in it.")
        twice = next((each for each in value if value.count(each) > 1), None)
        if twice is not None:
            raise InputError(f"{twice!r} is listed twice; list it once.")
        return dict.fromkeys(value, default)

    return rewrite


def is_mapping_at(value: Mapping[str, Any], key: str) -> bool:
    """Tell whether a mapping has a mapping under this key."""
    return isinstance(value.get(key), Mapping)
