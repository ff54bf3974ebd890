"""How each engine writes the few things that we ask of it, with the same meaning on all.

Only what is listed here is used on data. Everything is total: no row can make it raise, and no
integer passes through a float.
"""

import re
from dataclasses import dataclass
from typing import Literal

from perrecord.errors import InputError

EngineName = Literal["duckdb", "spark"]

_SPECIAL_TO_SPARK = re.compile(r"[\\'$\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's spelling of names, literals and exact integer operations."""

    name: EngineName

    def identifier(self, name: str) -> str:
        """Return a column's or table's name, quoted."""
        if self.name == "spark" and "${" in name:
            raise InputError(
                f"the name {name!r} holds ${{, which Spark replaces even in quotes; rename it."
            )
        quote = '"' if self.name == "duckdb" else "`"
        return quote + name.replace(quote, quote * 2) + quote

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
                return self._text(value)

    def _integer(self, value: int) -> str:
        if -(2**63) < value < 2**63:
            return f"CAST({value} AS BIGINT)"
        # Written out, the least integer would be the negation of one that is too large.
        return f"CAST('{value}' AS {'BIGINT' if value == -(2**63) else self.wide})"

    def _text(self, value: str) -> str:
        if self.name == "duckdb":
            return "'" + value.replace("'", "''") + "'"
        # Spark puts variables in for ${...} in any SQL text, and a setting of the session decides
        # whether a backslash escapes. Bytes mean the same under every setting.
        if _SPECIAL_TO_SPARK.search(value):
            return f"CAST(X'{value.encode().hex()}' AS STRING)"
        return f"'{value}'"

    @property
    def wide(self) -> str:
        """The type of sums: 38 digits on both engines once they reach Arrow."""
        return "HUGEINT" if self.name == "duckdb" else "DECIMAL(38, 0)"

    def as_text(self, value: str) -> str:
        """Return a value as text that is compared byte by byte, whatever its collation was."""
        if self.name == "duckdb":
            return f"(CAST({value} AS VARCHAR) COLLATE C)"
        return f"CAST({value} AS STRING)"

    def date_as_text(self, value: str) -> str:
        """Return a date as YYYY-MM-DD; NULL outside the years 1 to 9999, which engines write apart.

        So text of dates is in the order of the dates.
        """
        known = f"{value} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        return f"(CASE WHEN {known} THEN {self.as_text(value)} END)"

    def unknown(self, value: str) -> str:
        """Return a number of which the engine does not claim to know the least and the greatest.

        DuckDB decides comparisons by the statistics of a Parquet file, without looking at values,
        and leaves out checks of overflow. Those may be missing or wrong; TRY has none.
        """
        return f"TRY({value})" if self.name == "duckdb" else value

    def cut(self, value: str) -> str:
        """Return a float without its decimals, as a float; of no use beyond 64 bits.

        Spark's floor and its like make integers, and raise beyond those.
        """
        if self.name == "duckdb":
            return f"trunc({value})"
        return f"CAST(TRY_CAST({value} AS BIGINT) AS DOUBLE)"

    def divided(self, value: str, divisor: int | str, *, is_wide: bool = False) -> tuple[str, str]:
        """Return the quotient of integers, cut towards zero, and what is left, signed as the value.

        The divisor is a positive number, or a column of such.

        Spark's DIV is of 64 bits; there a wide value gives up its remainder and is then divided as
        a decimal, which is exact.
        """
        by = divisor if isinstance(divisor, str) else self.literal(divisor)
        rest = f"({value} % {by})"
        if self.name == "duckdb":
            return f"({value} // {by})", rest
        if not is_wide:
            return f"({value} DIV {by})", rest
        return f"CAST(try_divide({value} - {rest}, {by}) AS DECIMAL(38, 0))", rest

    def units(self, value: str, places: int) -> str:
        """Return a number of so many decimal places as a wide count of its last place."""
        if places:
            # DuckDB multiplies decimals of up to 18 digits in 18, whatever the product needs.
            number = f"CAST({value} AS DECIMAL(38, {places}))" if self.name == "duckdb" else value
            value = f"({number} * CAST({10**places} AS DECIMAL({places + 1}, 0)))"
        return f"CAST({value} AS {self.wide})"

    def total(self, value: str) -> str:
        """Return the exact sum of 64-bit integers; 0 where there is none."""
        if self.name == "duckdb":
            return f"coalesce(sum({value}), CAST(0 AS HUGEINT))"
        return f"coalesce(sum(CAST({value} AS DECIMAL(28, 0))), CAST(0 AS DECIMAL(38, 0)))"

    def is_same(self, left: str, right: str) -> str:
        """Return whether two values are equal, NULL being equal to NULL."""
        if self.name == "duckdb":
            return f"({left} IS NOT DISTINCT FROM {right})"
        return f"({left} <=> {right})"


DUCKDB = Dialect("duckdb")
SPARK = Dialect("spark")


def dialect_of(name: str) -> Dialect:
    """Return the dialect of an engine by its name."""
    for dialect in (DUCKDB, SPARK):
        if dialect.name == name:
            return dialect
    raise InputError(f"there is no dialect {name!r}; expected duckdb or spark.")
