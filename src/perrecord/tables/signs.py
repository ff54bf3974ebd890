"""Measures written as text that is not read as meant: thousands set apart, decimal commas, units.

Such a number would be missing, or a thousandth of what it is. Where a column has many of them the
source is refused. What a refusal tells of the data is that ten values or more, and a fixed share of
the column's, are written in one way; no value is quoted.
"""

from perrecord.errors import SourceError
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.database import Database
from perrecord.tables.written import is_number_sql

_COMMA = "[+-]?[0-9.]*[0-9],[0-9]+"
_MANY = 10
"""Numbers with commas that make a column look as if it were written with decimal commas."""
_ONE_IN = 50
"""Thousands are set apart in a column in which one number in so many, and `_MANY`, are so."""
_APART = {
    "a comma": ",",
    "a point": ".",
    "a space": " \u00a0\u2009\u202f",
    "an apostrophe": "'\u2019",
}
"""What sets thousands apart; the first of each is the one that is shown."""
_NO_ANSWER = "[^0-9]{0,4}"
"""What stands for a missing number, such as NA, n/a, (D) or a dash."""


def check_thousands(
    database: Database,
    table: str,
    name: str,
    decimal: str,
    advice: str = "",
    *,
    is_whole: bool = False,
) -> None:
    """Refuse a column of text in which the thousands of numbers are set apart.

    The decimal sign does so where it stands there twice and, if the measure `is_whole`, so that it
    needs no decimals, where three digits follow it, unless more numbers have other decimals.
    `advice` says what to type if it is a decimal comma.
    """
    is_whole = is_whole and not _has_decimals(database, table, name, decimal)
    patterns = [_grouped(signs, decimal, is_whole=is_whole) for signs in _APART.values()]
    *alike, every = _counted(database, table, name, [_is_like(name, each) for each in patterns])
    if sum(alike) < _MANY or _ONE_IN * sum(alike) < every:
        return
    sign = max(zip(alike, _APART, strict=True))[1]
    shown = _APART[sign][0]
    found = f"the column {name!r} has numbers whose thousands are set apart by {sign}, as in "
    if shown != decimal:
        raise SourceError(
            f"{found}1{shown}234, and these would be missing: large numbers alone. Write the "
            "numbers without."
            + (f" If it is a decimal comma, {advice}." if advice and shown == "," else "")
        )
    if not is_whole:
        raise SourceError(
            f"{found}1{shown}234{shown}567, and these would be missing: large numbers alone. Write "
            f"the numbers without, for 1{shown}234 would be read as a decimal number."
        )
    raise SourceError(
        f"the column {name!r} has numbers such as 1{shown}234, and its measure is in whole "
        f"numbers. If {sign} sets thousands apart, write the numbers without, for it is read as "
        "the decimal sign. If these are decimals, give the measure a resolution finer than 1, such "
        "as {resolution: 0.001}."
    )


def check_decimal_commas(database: Database, table: str, name: str, advice: str) -> None:
    """Refuse a column of text most of which are numbers with a comma."""
    commas, every = _counted(database, table, name, [_is_like(name, _COMMA)])
    if commas >= _MANY and 2 * commas >= every:
        raise SourceError(
            f"at least half of the values in the column {name!r} are numbers with a comma. "
            f"If it is a decimal comma, {advice}. Commas between thousands are not read: write the "
            "numbers without them."
        )


def check_numbers(database: Database, table: str, name: str) -> None:
    """Refuse a column of text most of which are no numbers, with decimal points.

    Up to four characters without a digit stand for a missing number, and are never counted.
    """
    column = DUCKDB.identifier(name)
    other = f"NOT {is_number_sql(column)} AND NOT {_is_like(name, _NO_ANSWER)}"
    others, every = _counted(database, table, name, [other])
    if others >= _MANY and 2 * others >= every:
        raise SourceError(
            f"at least half of the values in the column {name!r}, which is read as a measure, are "
            "not numbers; expected digits without a unit, a currency or a percent sign, such as "
            "1234.5, and nothing where a number is missing. Write the numbers so, or name another "
            "column."
        )


def _has_decimals(database: Database, table: str, name: str, decimal: str) -> bool:
    """Tell whether more numbers have other decimals than have three, as thousands have."""
    three = _is_like(name, _grouped(decimal, decimal, is_whole=True))
    decimals = _is_like(name, rf"\s*[+-]?[0-9]*[{decimal}][0-9]*[1-9][0-9]*\s*")
    threes, others, _ = _counted(database, table, name, [three, f"{decimals} AND NOT {three}"])
    return others > threes


def _grouped(signs: str, decimal: str, *, is_whole: bool) -> str:
    """Return the pattern of numbers whose thousands these signs set apart."""
    if decimal in signs:
        least = 1 if is_whole else 2
        return rf"\s*[+-]?[1-9][0-9]{{0,2}}([{signs}][0-9]{{3}}){{{least},}}\s*"
    return rf"\s*[+-]?[0-9]{{1,3}}([{signs}][0-9]{{3}})+([{decimal}][0-9]*)?\s*"


def _is_like(name: str, pattern: str) -> str:
    return f"regexp_full_match({DUCKDB.identifier(name)}, {DUCKDB.literal(pattern)})"


def _counted(database: Database, table: str, name: str, conditions: list[str]) -> list[int]:
    """Return how many values of a column meet each condition, and how many there are."""
    shown = [f"count(*) FILTER ({each})" for each in conditions]
    chosen = ", ".join([*shown, f"count({DUCKDB.identifier(name)})"])
    found = database.table(f"SELECT {chosen} FROM {table}")
    return [each[0].as_py() for each in found.columns]
