"""Parts of dates, read from the text that dates and moments are: the same on every engine.

A text begins with a date if its first ten characters are YYYY-MM-DD in ASCII digits, with a month
from 01 to 12 and a day from 01 to 31; what follows is not looked at. There is no calendar in it, no
time zone and no cast that could fail.
"""

import re

from perrecord.tables.dialects import Dialect

_DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
_QUARTERS = (("03", "01"), ("06", "04"), ("09", "07"), ("12", "10"))
"""The last month of each quarter, and the first."""
_PARTS = {"year": (1, 4), "month": (6, 2), "day": (9, 2)}


def part_of(text: str | None, unit: str) -> int | None:
    """Return a part of the date that a text begins with.

    >>> part_of("2026-11-05 08:30:00.000000", "quarter"), part_of("5.11.2026", "year")
    (4, None)
    """
    if text is None or not _DATE.fullmatch(text[:10]):
        return None
    if unit == "quarter":
        return (int(text[5:7]) + 2) // 3
    start, length = _PARTS[unit]
    return int(text[start - 1 : start - 1 + length])


def start_of(text: str | None, unit: str) -> str | None:
    """Return the first day of the year, quarter or month of the date that a text begins with.

    >>> start_of("2026-11-05", "quarter"), start_of("2026-11-05 08:30:00.000000", "day")
    ('2026-10-01', '2026-11-05')
    """
    if text is None or not _DATE.fullmatch(text[:10]):
        return None
    match unit:
        case "year":
            return f"{text[:4]}-01-01"
        case "quarter":
            first = next(first for last, first in _QUARTERS if text[5:7] <= last)
            return f"{text[:5]}{first}-01"
        case "month":
            return f"{text[:7]}-01"
        case _:
            return text[:10]


def part_sql(text: str, unit: str, dialect: Dialect) -> str:
    """Return `part_of` in the engine's SQL, a BIGINT."""
    if unit == "quarter":
        numbers = [dialect.literal(place) for place in (1, 2, 3, 4)]
        return _of_date(text, _by_quarter(numbers, dialect), dialect)
    start, length = _PARTS[unit]
    return _of_date(text, dialect.number(f"substring(day, {start}, {length})"), dialect)


def start_sql(text: str, unit: str, dialect: Dialect) -> str:
    """Return `start_of` in the engine's SQL."""
    match unit:
        case "year":
            found = f"(substring(day, 1, 4) || {dialect.literal('-01-01')})"
        case "quarter":
            ends = [dialect.literal(f"{first}-01") for _, first in _QUARTERS]
            found = f"(substring(day, 1, 5) || {_by_quarter(ends, dialect)})"
        case "month":
            found = f"(substring(day, 1, 7) || {dialect.literal('-01')})"
        case _:
            found = "day"
    return _of_date(text, found, dialect)


def _by_quarter(values: list[str], dialect: Dialect) -> str:
    cases = " ".join(
        f"WHEN substring(day, 6, 2) <= {dialect.literal(last)} THEN {value}"
        for value, (last, _) in zip(values, _QUARTERS, strict=True)
    )
    return f"(CASE {cases} END)"


def _of_date(text: str, value: str, dialect: Dialect) -> str:
    """Return a value of `day`, the first ten characters, where they are a date; else NULL."""
    least, most, months = (dialect.literal(each) for each in ("01", "31", "12"))
    is_date = (
        f"translate(day, {dialect.literal('123456789')}, {dialect.literal('000000000')}) = "
        f"{dialect.literal('0000-00-00')} AND substring(day, 6, 2) BETWEEN {least} AND {months} "
        f"AND substring(day, 9, 2) BETWEEN {least} AND {most}"
    )
    return dialect.named(
        "day", f"substring({text}, 1, 10)", f"CASE WHEN {is_date} THEN {value} END"
    )
