"""Spark's spelling, with ANSI mode on and backslashes that escape in text."""

import math
import re
from collections.abc import Sequence

from perrecord.errors import InputError
from perrecord.tables.dialects.dialect import Dialect

_SPECIAL = re.compile(r"[\\'$\x00-\x1f]")
_LARGEST = f"CAST({math.nextafter(math.inf, 0)!r} AS DOUBLE)"


class Spark(Dialect):
    """The SQL of Spark."""

    name = "spark"
    wide = "DECIMAL(38, 0)"

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

    def unknown(self, value: str) -> str:
        """Return the number itself: Spark looks at values."""
        return value

    def is_finite(self, value: str) -> str:
        """Return whether a float is a finite number; NaN is above every number to Spark."""
        return f"(abs({value}) <= {_LARGEST})"

    def cut(self, value: str) -> str:
        """Return a float without its decimals, as a float; of no use beyond 64 bits.

        Spark's floor and its like make integers, and raise beyond those.
        """
        return f"CAST(TRY_CAST({value} AS BIGINT) AS DOUBLE)"

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

    def units(self, value: str, places: int) -> str:
        """Return a number of so many decimal places as a wide count of its last place."""
        if places:
            value = f"({value} * CAST({10**places} AS DECIMAL({places + 1}, 0)))"
        return f"CAST({value} AS {self.wide})"

    def is_same(self, left: str, right: str) -> str:
        """Return whether two values are equal, NULL being equal to NULL."""
        return f"({left} <=> {right})"

    def total(self, value: str) -> str:
        """Return the exact sum of 64-bit integers; 0 where there is none."""
        return f"coalesce(sum(CAST({value} AS DECIMAL(28, 0))), CAST(0 AS DECIMAL(38, 0)))"

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
