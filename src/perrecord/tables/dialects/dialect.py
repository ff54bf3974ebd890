"""What an engine must spell: names, literals and exact operations, with one meaning on all.

Only what is listed here is used on data. Everything is total: no row can make it raise, and no
integer passes through a float.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar


class Dialect(ABC):
    """One engine's spelling. What is written here is the same on all; the rest has no default."""

    name: ClassVar[str]
    """The engine's name, as people type it and as sqlglot knows its SQL."""

    wide: ClassVar[str]
    """The type of sums: 38 digits on every engine once they reach Arrow."""

    double: ClassVar[str]
    """The type of 64-bit floats."""

    # -- names and literals -----------------------------------------------------------------

    @abstractmethod
    def identifier(self, name: str) -> str:
        """Return a column's or table's name, quoted."""

    @abstractmethod
    def text(self, value: str) -> str:
        """Return text as a literal that is this text under every setting of the engine."""

    @abstractmethod
    def pattern(self, value: str) -> str:
        """Return the literal of a pattern of LIKE, in which a backslash is only itself."""

    def literal(self, value: str | int | bool | None) -> str:
        """Return a value as a literal of its own type; whole numbers are 64-bit, or wider."""
        match value:
            case None:
                return "NULL"
            case bool():
                return "TRUE" if value else "FALSE"
            case int():
                return self._integer(value)
            case str():
                return self.text(value)

    def _integer(self, value: int) -> str:
        if -(2**63) < value < 2**63:
            return f"CAST({value} AS BIGINT)"
        # Written out, the least integer would be the negation of one that is too large.
        return f"CAST('{value}' AS {'BIGINT' if value == -(2**63) else self.wide})"

    # -- text -------------------------------------------------------------------------------

    @abstractmethod
    def as_text(self, value: str) -> str:
        """Return a value as text that is compared byte by byte, whatever its collation was."""

    @abstractmethod
    def is_no_text(self, value: str) -> str:
        """Return whether what the engine takes for text has bytes that are not valid UTF-8."""

    def date_as_text(self, value: str) -> str:
        """Return a date as YYYY-MM-DD; NULL outside the years 1 to 9999, which engines write apart.

        So text of dates is in the order of the dates.
        """
        known = f"{value} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        return f"(CASE WHEN {known} THEN {self.as_text(value)} END)"

    @abstractmethod
    def moment_as_text(self, value: str, unit: str) -> str:
        """Return a moment without a time zone as YYYY-MM-DD HH:MM:SS.ffffff, in any session.

        The unit is Arrow's: s, ms, us or ns; nanoseconds are cut off. NULL outside the years 1 to
        9999.
        """

    # -- numbers ----------------------------------------------------------------------------

    @abstractmethod
    def unknown(self, value: str) -> str:
        """Return a number of which the engine does not claim to know the least and the greatest."""

    @abstractmethod
    def is_finite(self, value: str) -> str:
        """Return whether a float is a finite number, however wrong the statistics of its file."""

    def as_double(self, value: str | float) -> str:
        """Return a number as a 64-bit float."""
        return f"CAST({value} AS {self.double})"

    @abstractmethod
    def size(self, value: str) -> str:
        """Return |value| of a finite float, which numbers up to 2^53 may multiply or divide.

        An engine that raises where a float overflows may cut it, to sizes from 2^-200 to 2^200.
        """

    @abstractmethod
    def cut(self, value: str) -> str:
        """Return a float without its decimals, as a float; of no use beyond 64 bits."""

    @abstractmethod
    def whole(self, value: str) -> str:
        """Return a float that is a whole number as a 64-bit integer; NULL beyond those."""

    @abstractmethod
    def divided(self, value: str, divisor: int | str, *, is_wide: bool = False) -> tuple[str, str]:
        """Return the quotient of integers, cut towards zero, and what is left, signed as the value.

        The divisor is a positive number, or a column of such.
        """

    @abstractmethod
    def number(self, digits: str) -> str:
        """Return a text of digits, which a CASE before it has seen, as a 64-bit integer."""

    @abstractmethod
    def square(self, value: str) -> str:
        """Return the square of a 64-bit integer, as wide as it needs."""

    @abstractmethod
    def units(self, value: str, places: int) -> str:
        """Return a number of so many decimal places as a wide count of its last place."""

    @abstractmethod
    def named(self, name: str, value: str, expression: str) -> str:
        """Return an expression in which a name stands for a value that is computed once."""

    # -- rows and groups --------------------------------------------------------------------

    @abstractmethod
    def is_same(self, left: str, right: str) -> str:
        """Return whether two values are equal, NULL being equal to NULL."""

    @abstractmethod
    def total(self, value: str) -> str:
        """Return the exact sum of integers of 64 bits, or of 28 digits; 0 where there is none."""

    def totals(self, value: str, name: str) -> dict[str, str]:
        """Return the columns that bring the exact sum of 64-bit integers: itself, or its parts."""
        return {name: self.total(value)}

    @abstractmethod
    def hashed(self, value: str) -> str:
        """Return a hash, which cannot be known without computing the value."""

    @abstractmethod
    def numbered(self, count: str) -> str:
        """Return the numbers from 0 up to a positive count, each in a copy of the row."""

    @abstractmethod
    def grouping_sets(self, columns: Sequence[str], sets: str) -> tuple[str, str]:
        """Return the function that numbers a row's grouping set, and the GROUP BY of all sets.

        The number has a bit for each column, the first the highest: 1 where the set lacks it.
        """
