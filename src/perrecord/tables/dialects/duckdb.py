"""DuckDB's spelling. It is also that of the local DuckDB, which every engine has beside it."""

from collections.abc import Sequence

from perrecord.tables.dialects.dialect import Dialect

_ROOT = 3_037_000_499
"""The largest number whose square fits 64 bits."""


class DuckDB(Dialect):
    """The SQL of DuckDB."""

    name = "duckdb"
    wide = "HUGEINT"
    double = "DOUBLE"

    def identifier(self, name: str) -> str:
        """Return a column's or table's name, quoted."""
        return '"' + name.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """Return text as a literal: a quote is doubled, and nothing else is special."""
        return "'" + value.replace("'", "''") + "'"

    def pattern(self, value: str) -> str:
        """Return the literal of a pattern of LIKE; a backslash escapes nothing."""
        return self.literal(value)

    def as_text(self, value: str) -> str:
        """Return a value as text that is compared byte by byte, whatever its collation was."""
        return f"(CAST({value} AS VARCHAR) COLLATE C)"

    def is_no_text(self, value: str) -> str:
        """Return whether text is not valid UTF-8: decoding it fails, which TRY makes a NULL."""
        return f"({value} IS NOT NULL AND TRY(decode(encode({value}))) IS NULL)"

    def moment_as_text(self, value: str, unit: str) -> str:
        """Return a moment as text; a cast from nanoseconds would round, and raise near the ends."""
        written = "(strftime({}, '%Y-%m-%d %H:%M:%S.%f') COLLATE C)"
        if unit == "ns":  # the years 1677 to 2262
            return written.format(value)
        moment = value if unit == "us" else f"TRY(CAST({value} AS TIMESTAMP))"
        first, last = "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"
        known = f"{moment} BETWEEN {first} AND {last}"
        return f"(CASE WHEN {known} THEN {written.format(moment)} END)"

    def unknown(self, value: str) -> str:
        """Return a number of which DuckDB does not claim to know the least and the greatest.

        It decides comparisons by the statistics of a Parquet file, without looking at values, and
        leaves out checks of overflow. Those may be missing or wrong; TRY has none.
        """
        return f"TRY({value})"

    def is_finite(self, value: str) -> str:
        """Return whether a float is a finite number, however wrong the statistics of its file.

        Parquet's statistics leave NaN out, and DuckDB decides comparisons by them without looking
        at the values: it would take every NaN for a number. It knows nothing about the results of
        `isfinite`.
        """
        return f"isfinite({value})"

    def size(self, value: str) -> str:
        """Return |value|: arithmetic that overflows gives infinity."""
        return f"abs({value})"

    def cut(self, value: str) -> str:
        """Return a float without its decimals, as a float."""
        return f"trunc({value})"

    def whole(self, value: str) -> str:
        """Return a float that is a whole number as a 64-bit integer; NULL beyond those."""
        return f"TRY_CAST({value} AS BIGINT)"

    def divided(
        self,
        value: str,
        divisor: int | str,
        *,
        is_wide: bool = False,  # noqa: ARG002 -- `//` is exact in 64 bits and in 128
    ) -> tuple[str, str]:
        """Return the quotient of integers, cut towards zero, and what is left."""
        by = divisor if isinstance(divisor, str) else self.literal(divisor)
        return f"({value} // {by})", f"({value} % {by})"

    def number(self, digits: str) -> str:
        """Return a text of digits, which a CASE before it has seen, as a 64-bit integer."""
        return f"TRY_CAST({digits} AS BIGINT)"

    def square(self, value: str) -> str:
        """Return the square of a 64-bit integer, in 128 bits: faster where 64 are enough."""
        short = f"{value} BETWEEN {-_ROOT} AND {_ROOT} THEN CAST({value} * {value} AS HUGEINT)"
        return f"(CASE WHEN {short} ELSE CAST({value} AS HUGEINT) * {value} END)"

    def units(self, value: str, places: int) -> str:
        """Return a number of so many decimal places as a wide count of its last place.

        DuckDB multiplies decimals of up to 18 digits in 18, whatever the product needs.
        """
        if places:
            number = f"CAST({value} AS DECIMAL(38, {places}))"
            value = f"({number} * CAST({10**places} AS DECIMAL({places + 1}, 0)))"
        return f"CAST({value} AS {self.wide})"

    def named(self, name: str, value: str, expression: str) -> str:
        """Return an expression in which a name stands for a value that is computed once."""
        return f"list_transform([{value}], lambda {name}: {expression})[1]"

    def is_same(self, left: str, right: str) -> str:
        """Return whether two values are equal, NULL being equal to NULL."""
        return f"({left} IS NOT DISTINCT FROM {right})"

    def total(self, value: str) -> str:
        """Return the exact sum of integers of 64 bits, or of 28 digits; 0 where there is none."""
        return f"coalesce(sum({value}), CAST(0 AS HUGEINT))"

    def hashed(self, value: str) -> str:
        """Return a hash of any value."""
        return f"hash({value})"

    def numbered(self, count: str) -> str:
        """Return the numbers from 0 up to a positive count, each in a copy of the row."""
        return f"unnest(range({count}))"

    def grouping_sets(self, columns: Sequence[str], sets: str) -> tuple[str, str]:
        """Return the function that numbers a row's grouping set, and the GROUP BY of all sets."""
        return f"GROUPING({', '.join(columns)})", f" GROUP BY GROUPING SETS ({sets})"


DUCKDB = DuckDB()
