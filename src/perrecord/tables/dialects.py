"""How each engine writes the few things that we ask of it, with the same meaning on all.

Only what is listed here is used on data. Everything is total: no row can make it raise, and no
integer passes through a float.
"""

from dataclasses import dataclass
from typing import Literal

from perrecord.errors import InputError

EngineName = Literal["duckdb", "spark"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's spelling of names, literals and exact integer operations."""

    name: EngineName

    def identifier(self, name: str) -> str:
        """Return a column's or table's name, quoted."""
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
        return f"CAST('{value}' AS {self.wide})"

    def _text(self, value: str) -> str:
        if self.name == "duckdb":
            return "'" + value.replace("'", "''") + "'"
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    @property
    def wide(self) -> str:
        """The type of sums: 38 digits on both engines once they reach Arrow."""
        return "HUGEINT" if self.name == "duckdb" else "DECIMAL(38, 0)"

    def quotient(self, value: str, divisor: int) -> str:
        """Return value / divisor on integers, cut towards zero; the divisor is a positive int64."""
        operator = "//" if self.name == "duckdb" else "DIV"
        return f"({value} {operator} {self.literal(divisor)})"

    def remainder(self, value: str, divisor: int) -> str:
        """Return what `quotient` leaves, with the sign of the value."""
        return f"({value} % {self.literal(divisor)})"

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
