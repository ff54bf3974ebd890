"""Measures written as text with signs that are not read: thousands set apart, decimal commas.

Such a number would be missing. Where a column has many of them the source is refused, because only
its large numbers would be missing, or all of them.
"""

from perrecord.errors import SourceError
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.engines.database import Database

_COMMA = "[+-]?[0-9.]*[0-9],[0-9]+"
_MANY = 10
"""Numbers with commas that make a column look as if it were written with decimal commas."""
_ONE_IN = 50
"""Thousands are set apart in a column in which one number in so many, and `_MANY`, are so."""
_APART = " '\u2019\u00a0\u2009\u202f"
"""What sets thousands apart, beside a point or a comma."""


def check_thousands(
    database: Database, table: str, name: str, decimal: str, advice: str = ""
) -> None:
    """Refuse a column of text in which the thousands of numbers are set apart.

    `advice` says what to type if it is a decimal comma.
    """
    sign = "," if decimal == "." else "."
    grouped = rf"\s*[+-]?[0-9]{{1,3}}([{_APART}{sign}][0-9]{{3}})+([{decimal}][0-9]*)?\s*"
    some, every = _counted(database, table, name, grouped)
    if some >= _MANY and _ONE_IN * some >= every:
        raise SourceError(
            f"the column {name!r} has numbers whose thousands are set apart, as in 1{sign}234, "
            "and these would be missing: large numbers alone. Write the numbers without."
            + (f" If it is a decimal comma, {advice}." if advice and sign == "," else "")
        )


def check_decimal_commas(database: Database, table: str, name: str, advice: str) -> None:
    """Refuse a column of text most of which are numbers with a comma."""
    commas, every = _counted(database, table, name, _COMMA)
    if commas >= _MANY and 2 * commas >= every:
        raise SourceError(
            f"at least half of the values in the column {name!r} are numbers with a comma. "
            f"If it is a decimal comma, {advice}. Commas between thousands are not read: write the "
            "numbers without them."
        )


def _counted(database: Database, table: str, name: str, pattern: str) -> tuple[int, int]:
    """Return how many values of a column are as the pattern says, and how many there are."""
    column = DUCKDB.identifier(name)
    alike = f"count(*) FILTER (regexp_full_match({column}, {DUCKDB.literal(pattern)}))"
    found = database.table(f"SELECT {alike}, count({column}) FROM {table}")
    some, every = (each[0].as_py() for each in found.columns)
    return some, every
