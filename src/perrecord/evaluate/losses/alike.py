"""Losses of records that are alike: the engine is asked once for what losses read of the records.

A loss depends on a few numbers of a record, and on whether its cell is published. Records that
agree in these are kept as one row, with how many there are; the losses under any number of
policies are then computed from these rows, on the local DuckDB. Confidential, as the records are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

from perrecord.evaluate.losses.changes import is_listed
from perrecord.evaluate.losses.distributions import Distribution, distribution, quantiles
from perrecord.evaluate.losses.loss_sql import LossWriter
from perrecord.evaluate.workspace import Workspace, workspace
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table

_NUMBER = "_perrecord_number"

ListedCells = Mapping[Keys, str]
"""For each list of keys, the condition that a record is in one of its cells."""

WriteLoss = Callable[[LossWriter, ListedCells], str]
"""Writes a loss of `records` as SQL."""


@dataclass(frozen=True, slots=True)
class AlikeRecords:
    """The records of a table, kept once for each choice of columns that losses read."""

    table: Table
    _space: Workspace
    _kept: dict[tuple[tuple[str, ...], tuple[Keys, ...]], str] = field(default_factory=dict)

    def distribution(
        self,
        power: int,
        write: WriteLoss,
        keys: Sequence[Keys] = (),
        points: Sequence[float | Fraction] = (),
    ) -> Distribution:
        """Return how a loss is spread over the records, given the keys that it asks for."""
        loss, relation, writer = self._written(power, write, keys)
        tables = writer.parts.tables
        return distribution(self._space, relation, loss, _NUMBER, points, tables)

    def quantiles(
        self, power: int, write: WriteLoss, keys: Sequence[Keys], shares: Sequence[Fraction]
    ) -> list[float]:
        """Return the least losses that these shares of the records do not exceed; 0 of none."""
        loss, relation, writer = self._written(power, write, keys)
        return quantiles(self._space, relation, loss, _NUMBER, shares, writer.parts.tables)

    def _written(
        self, power: int, write: WriteLoss, keys: Sequence[Keys]
    ) -> tuple[str, str, LossWriter]:
        """Return a loss, the relation that it is of, and what wrote it."""
        writer = LossWriter(self.table.schema, power, self._space.local_parts())
        listed = {each: f"records.{_flag(place)}" for place, each in enumerate(keys)}
        loss = write(writer, listed)
        text = f"{loss} {writer.joined('')}"
        roles = (self.table.schema.id, self.table.schema.unit)
        fields = dict.fromkeys([*self.table.schema.fields, *filter(None, roles)])
        names = tuple(name for name in fields if f"records.{DUCKDB.identifier(name)}" in text)
        asked = tuple(each for each, sql in listed.items() if sql in text)
        if asked != tuple(keys):  # a list that no loss asks for must not tell records apart
            return self._written(power, write, asked)
        return loss, writer.joined(f"SELECT * FROM {self._alike(names, asked)}"), writer

    def _alike(self, names: tuple[str, ...], keys: tuple[Keys, ...]) -> str:
        if (names, keys) not in self._kept:
            parts, dialect = self._space.parts(), self.table.engine.dialect
            schema, columns = self.table.schema, map(dialect.identifier, names)
            every = {each: f"records.{each}" for each in columns}
            for place, each in enumerate(keys):
                every[_flag(place)] = is_listed(each, f"keys{place}", parts, schema)
            shown = "".join(f"{sql} AS {name}, " for name, sql in every.items())
            needed = dict.fromkeys([*names, *(column for each in keys for column in each.columns)])
            records = self.table.select(needed or schema.fields)
            grouped = f" GROUP BY {', '.join(every.values())}" if every else ""
            self._kept[names, keys] = self._space.keep(
                f"SELECT {shown}count(*) AS {_NUMBER} FROM ({records}) AS records"
                f"{''.join(parts.joins)}{grouped} HAVING count(*) > 0",
                parts.tables,
            )
        return self._kept[names, keys]


def _flag(place: int) -> str:
    return f"_perrecord_{place}_listed"


@contextmanager
def alike_records(table: Table) -> Iterator[AlikeRecords]:
    """Give the records of a table for as long as losses are computed."""
    with workspace(table) as space:
        yield AlikeRecords(table, space)
