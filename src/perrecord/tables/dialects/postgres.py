"""PostgreSQL's spelling, from version 12 on, in a database of encoding UTF8.

PostgreSQL evaluates CASE in its order and only as far as it must, and raises where a cast or a
float overflows, or a float underflows. So what might raise stands behind a CASE; AND and OR keep no
order.
"""

import math
from collections.abc import Sequence

from perrecord.errors import InputError
from perrecord.tables.dialects.dialect import Dialect

MOST_BYTES = 63
"""Of a name: PostgreSQL cuts longer ones, and would take two for one."""

_DOUBLE = "DOUBLE PRECISION"
_LARGEST = f"CAST({math.nextafter(math.inf, 0)!r} AS {_DOUBLE})"
_EDGE = f"CAST({math.nextafter(2.0**63, 0)!r} AS {_DOUBLE})"
_ENDS = tuple(f"CAST({each!r} AS {_DOUBLE})" for each in (2.0**-200, 2.0**200))


class Postgres(Dialect):
    """The SQL of PostgreSQL."""

    name = "postgres"
    wide = "NUMERIC"
    double = _DOUBLE

    def identifier(self, name: str) -> str:
        """Return a column's or table's name, quoted; refuse one that PostgreSQL would cut."""
        if len(name.encode()) > MOST_BYTES or "\0" in name:
            raise InputError(
                f"the name {name!r} has {len(name.encode())} bytes; names in PostgreSQL have at "
                f"most {MOST_BYTES}, and none of code 0. Choose a shorter name."
            )
        return '"' + name.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """Return text as a literal of type text, compared byte by byte like all text here."""
        return self.as_text(self.string(value))

    def string(self, value: str) -> str:
        """Return a literal of no type yet that is this text under every setting of escapes."""
        if "\0" in value:
            raise InputError(
                "a text has a character of code 0, which PostgreSQL's text cannot hold, so that "
                "nothing there is equal to it; leave it out."
            )
        written = value.replace("'", "''")
        if "\\" not in value:
            return f"'{written}'"
        doubled = written.replace("\\", "\\\\")
        return f"E'{doubled}'"

    def pattern(self, value: str) -> str:
        """Return the literal of a pattern of LIKE, where a backslash escapes unless doubled."""
        return self.text(value.replace("\\", "\\\\"))

    def as_text(self, value: str) -> str:
        """Return a value as text that is compared byte by byte, whatever its collation was."""
        return f'(CAST({value} AS TEXT) COLLATE "C")'

    def is_no_text(self, value: str) -> str:  # noqa: ARG002
        """Return FALSE: a database of encoding UTF8 refuses other bytes itself."""
        return "FALSE"

    def date_as_text(self, value: str) -> str:
        """Return a date as YYYY-MM-DD, whatever the style of dates; NULL outside 1 to 9999."""
        known = f"{value} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        written = self.as_text(f"to_char({value}, 'YYYY-MM-DD')")
        return f"(CASE WHEN {known} THEN {written} END)"

    def moment_as_text(self, value: str, unit: str) -> str:  # noqa: ARG002 -- all are of us
        """Return a moment as text, whatever the style of dates; NULL outside 1 to 9999."""
        first, last = "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"
        written = self.as_text(f"to_char({value}, 'YYYY-MM-DD HH24:MI:SS.US')")
        return f"(CASE WHEN {value} BETWEEN {first} AND {last} THEN {written} END)"

    def unknown(self, value: str) -> str:
        """Return the number itself: PostgreSQL looks at values."""
        return value

    def is_finite(self, value: str) -> str:
        """Return whether a float is a finite number; NaN is above every number."""
        return f"(abs({value}) <= {_LARGEST})"

    def size(self, value: str) -> str:
        """Return |value| from 2^-200 to 2^200: no product or quotient then leaves the floats."""
        least, most = _ENDS
        return f"least(greatest(abs({value}), {least}), {most})"

    def cut(self, value: str) -> str:
        """Return a float without its decimals, as a float."""
        return f"trunc({value})"

    def whole(self, value: str) -> str:
        """Return a float that is a whole number as a 64-bit integer; NULL beyond those."""
        return f"(CASE WHEN abs({value}) <= {_EDGE} THEN CAST({value} AS BIGINT) END)"

    def divided(self, value: str, divisor: int | str, *, is_wide: bool = False) -> tuple[str, str]:
        """Return the quotient of integers, cut towards zero, and what is left.

        The quotient of two numerics is a decimal, rounded; div cuts, exactly.
        """
        by = divisor if isinstance(divisor, str) else self.literal(divisor)
        quotient = f"div({value}, {by})" if is_wide else f"({value} / {by})"
        return quotient, f"({value} % {by})"

    def number(self, digits: str) -> str:
        """Return a text of digits, which a CASE before it has seen, as a 64-bit integer."""
        return f"CAST({digits} AS BIGINT)"

    def square(self, value: str) -> str:
        """Return the square of a 64-bit integer, as wide as it needs."""
        return f"(CAST({value} AS NUMERIC) * {value})"

    def units(self, value: str, places: int) -> str:
        """Return a number of so many decimal places as a wide count of its last place."""
        number = f"CAST({value} AS {self.wide})"
        return f"({number} * CAST({10**places} AS {self.wide}))" if places else number

    def named(self, name: str, value: str, expression: str) -> str:
        """Return an expression in which a name stands for a value that is computed once."""
        return f"(SELECT {expression} FROM (SELECT {value} AS {name} OFFSET 0) AS _perrecord_named)"

    def is_same(self, left: str, right: str) -> str:
        """Return whether two values are equal, NULL being equal to NULL.

        In arrays NULL is equal to NULL, and unlike IS NOT DISTINCT FROM their equality is one that
        tables are joined by with a hash.
        """
        return f"(ARRAY[{left}] = ARRAY[{right}])"

    def total(self, value: str) -> str:
        """Return the exact sum of integers of 64 bits, or of 28 digits; 0 where there is none."""
        return f"coalesce(sum({value}), CAST(0 AS NUMERIC))"

    def hashed(self, value: str) -> str:
        """Return a hash of any value."""
        return f"hashtextextended(CAST({value} AS TEXT), 0)"

    def numbered(self, count: str) -> str:
        """Return the numbers from 0 up to a positive count, each in a copy of the row."""
        return f"generate_series(CAST(0 AS BIGINT), {count} - 1)"

    def grouping_sets(self, columns: Sequence[str], sets: str) -> tuple[str, str]:
        """Return the function that numbers a row's grouping set, and the GROUP BY of all sets."""
        return f"GROUPING({', '.join(columns)})", f" GROUP BY GROUPING SETS ({sets})"


POSTGRES = Postgres()
