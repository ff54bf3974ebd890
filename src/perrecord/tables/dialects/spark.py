"""Spark's spelling, with ANSI mode on and backslashes that escape in text."""

import math
import re
from collections.abc import Iterable, Sequence

from perrecord.errors import InputError
from perrecord.tables.dialects.dialect import Dialect

_SPECIAL = re.compile(r"[\\'$\x00-\x1f]")
_LARGEST = f"CAST({math.nextafter(math.inf, 0)!r} AS DOUBLE)"


_BITS = 21
_PART = re.compile(r"_perrecord_part([012])_(.*)", re.DOTALL)


class Spark(Dialect):
    """The SQL of Spark."""

    name = "spark"
    wide = "DECIMAL(38, 0)"
    double = "DOUBLE"

    def identifier(self, name: str) -> str:
        """Return a column's or table's name, quoted; refuse one that Spark would rewrite."""
        if "${" in name:
            raise InputError(
                f"the name {name!r} holds ${{, which Spark replaces even in quotes; rename it."
            )
        return "`" + name.replace("`", "``") + "`"

    def text(self, value: str) -> str:
        """Return text as a literal that is this text under every setting of the session.

        Spark puts variables in for ${...} in any SQL text, and a setting of the session decides
        whether a backslash escapes. Bytes mean the same under every setting.
        """
        if _SPECIAL.search(value):
            return f"CAST(X'{value.encode().hex()}' AS STRING)"
        return f"'{value}'"

    def pattern(self, value: str) -> str:
        """Return the literal of a pattern of LIKE, where a backslash escapes unless doubled."""
        return self.literal(value.replace("\\", "\\\\"))

    def as_text(self, value: str) -> str:
        """Return a value as text that is compared byte by byte, whatever its collation was."""
        return f"CAST({value} AS STRING)"

    def is_no_text(self, value: str) -> str:
        """Return whether text is not valid UTF-8."""
        return f"(NOT is_valid_utf8({value}))"

    def moment_as_text(self, value: str, unit: str) -> str:  # noqa: ARG002 -- all are of us
        """Return a moment as text: Spark cuts off zeros, and its formats know time zones."""
        first = "TIMESTAMP_NTZ '0001-01-01 00:00:00'"
        last = "TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'"
        short = self.as_text(value)
        point = f"CASE WHEN length({short}) = 19 THEN '.' ELSE '' END"
        known = f"{value} BETWEEN {first} AND {last}"
        return f"(CASE WHEN {known} THEN rpad({short} || {point}, 26, '0') END)"

    def unknown(self, value: str) -> str:
        """Return the number itself: Spark looks at values."""
        return value

    def is_finite(self, value: str) -> str:
        """Return whether a float is a finite number; NaN is above every number to Spark."""
        return f"(abs({value}) <= {_LARGEST})"

    def size(self, value: str) -> str:
        """Return |value|: arithmetic that overflows gives infinity."""
        return f"abs({value})"

    def cut(self, value: str) -> str:
        """Return a float without its decimals, as a float; of no use beyond 64 bits.

        Spark's floor and its like make integers, and raise beyond those.
        """
        return f"CAST(TRY_CAST({value} AS BIGINT) AS DOUBLE)"

    def whole(self, value: str) -> str:
        """Return a float that is a whole number as a 64-bit integer; NULL beyond those."""
        return f"TRY_CAST({value} AS BIGINT)"

    def divided(self, value: str, divisor: int | str, *, is_wide: bool = False) -> tuple[str, str]:
        """Return the quotient of integers, cut towards zero, and what is left.

        DIV is of 64 bits; a wide value gives up its remainder and is then divided as a decimal,
        which is exact.
        """
        by = divisor if isinstance(divisor, str) else self.literal(divisor)
        rest = f"({value} % {by})"
        if not is_wide:
            return f"({value} DIV {by})", rest
        return f"CAST(try_divide({value} - {rest}, {by}) AS DECIMAL(38, 0))", rest

    def number(self, digits: str) -> str:
        """Return a text of digits, which a CASE before it has seen, as a 64-bit integer."""
        return f"TRY_CAST({digits} AS BIGINT)"

    def square(self, value: str) -> str:
        """Return the square of a 64-bit integer, in 38 digits."""
        number = f"CAST({value} AS DECIMAL(19, 0))"
        return f"({number} * {number})"

    def units(self, value: str, places: int) -> str:
        """Return a number of so many decimal places as a wide count of its last place."""
        if places:
            value = f"({value} * CAST({10**places} AS DECIMAL({places + 1}, 0)))"
        return f"CAST({value} AS {self.wide})"

    def named(self, name: str, value: str, expression: str) -> str:
        """Return an expression in which a name stands for a value that is computed once."""
        return f"element_at(transform(array({value}), {name} -> {expression}), 1)"

    def is_same(self, left: str, right: str) -> str:
        """Return whether two values are equal, NULL being equal to NULL."""
        return f"({left} <=> {right})"

    def total(self, value: str) -> str:
        """Return the exact sum of integers of 64 bits, or of 28 digits; 0 where there is none."""
        return f"coalesce(sum(CAST({value} AS DECIMAL(28, 0))), CAST(0 AS DECIMAL(38, 0)))"

    def totals(self, value: str, name: str) -> dict[str, str]:
        """Return the sums of three parts of each integer: its bits 0 to 20, 21 to 41, and above.

        Spark adds up 64-bit integers several times as fast as decimals. Sums of parts, of 21 bits
        or of 22 with a sign, stay within 64 bits in every cell of fewer than 2^42 records.
        """
        mask = self.literal(2**_BITS - 1)
        low, middle = (f"{part} & {mask}" for part in (value, f"shiftright({value}, {_BITS})"))
        high = f"shiftright({value}, {2 * _BITS})"
        return {
            f"_perrecord_part{place}_{name}": f"coalesce(sum({part}), {self.literal(0)})"
            for place, part in enumerate((low, middle, high))
        }

    def hashed(self, value: str) -> str:
        """Return a hash of any value."""
        return f"xxhash64({value})"

    def numbered(self, count: str) -> str:
        """Return the numbers from 0 up to a positive count, each in a copy of the row."""
        return f"explode(sequence(CAST(0 AS BIGINT), {count} - 1))"

    def grouping_sets(self, columns: Sequence[str], sets: str) -> tuple[str, str]:
        """Return the function that numbers a row's grouping set, and the GROUP BY of all sets."""
        return "grouping_id()", f" GROUP BY {', '.join(columns)} GROUPING SETS ({sets})"


SPARK = Spark()


def parts_of_totals(names: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return, for each total among a result's columns, its parts and what each is multiplied by."""
    found: dict[str, dict[str, int]] = {}
    for name in names:
        if part := _PART.fullmatch(name):
            found.setdefault(part[2], {})[name] = 2 ** (_BITS * int(part[1]))
    return found
