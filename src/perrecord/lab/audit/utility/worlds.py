"""Tables of very many cells whose records follow from the cell's number, so that SQL knows all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from perrecord.lab.audit.frozen import FrozenBits
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.run import run
from perrecord.queries.groupings import WhichCells
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.tables.keys import Keys
from perrecord.tables.measures import Measure
from perrecord.tables.table import table

RECORDS = """
SELECT cell, CASE WHEN cell % 2 = 0 THEN 'even' ELSE 'odd' END AS kind, cell % 5 AS firm,
       CASE WHEN (cell + n) % 7 = 0 THEN NULL ELSE (cell * 31 + n * 17) % 23 - 4 END AS emp,
       CAST((cell * 13 + n * 5) % 41 * 0.1 AS DECIMAL(12, 1)) AS rent
FROM range({cells}) AS c(cell), range(4) AS r(n) WHERE n < 1 + cell % 4
"""
"""One to four records in each cell; some lack a value."""

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class ChanceTest:
    """One test: what it is of, and how likely so odd an outcome is if all is well."""

    what: str
    chance: float
    fault: str | None = None
    """What is wrong for certain, not by chance."""


@dataclass(frozen=True, slots=True)
class World:
    """A table of very many cells, and what is true of it."""

    rows: pa.Table
    connection: duckdb.DuckDBPyConnection
    cells: int

    @classmethod
    def of(cls, cells: int) -> "World":
        """Return the table of so many cells."""
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE records AS {RECORDS.format(cells=cells)}")
        rows = connection.sql("FROM records").to_arrow_table()
        return cls(rows, connection, cells)

    def answers(
        self, ask: Callable[[Query], Query], seed: int, cells: WhichCells | None = None
    ) -> Answers:
        """Return the released answers of a query by cell, and whether the cell is even or odd."""
        columns = ["cell"] if cells is not None else ["cell", "kind"]
        asked = ask(Query().group_by(*columns, keys=cells or self._keys()))
        with table(
            self.rows,
            unit="firm",
            dimensions=["cell", "kind"],
            measures={"emp": Measure(), "rent": Measure("0.1")},
        ) as opened:
            (found,) = run(plan(asked, opened.schema), opened, _bits=FrozenBits(seed))
        return found

    def _keys(self) -> Keys:
        kinds = pa.array(["even", "odd"]).take(pa.array(np.arange(self.cells) % 2))
        return Keys.from_columns(pa.table({"cell": np.arange(self.cells), "kind": kinds}))

    def truth(self, sql: str) -> list[Any]:
        """Return an aggregate of every cell, by plain SQL."""
        asked = f"SELECT {sql} FROM records GROUP BY cell, kind ORDER BY cell"  # noqa: S608 - ours
        return [row[0] for row in self.connection.execute(asked).fetchall()]
