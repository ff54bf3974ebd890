"""All that is reached here beside the public interface: the audits' generators, and given bits.

Whoever moves one of these modules changes this file alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from perrecord import Query
from perrecord import session as sessions
from perrecord.cli import app
from perrecord.lab.audit import random_queries, random_specs, random_tables
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.random_sql import sql_query
from perrecord.lab.audit.replay.rows import RowsAsked, random_rows
from perrecord.release.publish import release
from perrecord.tables.table import Table, table

Row = random_tables.Row
program = app
LEDGER = random_specs.LEDGER


def released(spec: Path, out: Path, seed: int) -> None:
    """Make a release with bits from a seed."""
    release(spec, out, _bits=FrozenBits(seed))


@contextmanager
def given_bits(seed: int) -> Iterator[None]:
    """Let sessions draw their noise from a seed, one answer after the other."""
    with patch.object(sessions, "run", partial(sessions.run, _bits=FrozenBits(seed))):
        yield


def rows_of(random: Random, count: int) -> list[Row]:
    """Return the rows of a random table."""
    return random_tables.rows(random, count, extreme=random.random() < 0.3, unique=False)


def opened(rows: Sequence[Row]) -> Table:
    """Open random rows with every dimension, measure and lookup."""
    return table(random_tables.arrow(rows), name="records", **random_tables.DECLARED)


def spec_of(random: Random) -> dict[str, Any]:
    """Return a random spec; some find their keys with noise."""
    return random_specs.spec(random, selects=random.random() < 0.3)


def written(folder: Path, spec: dict[str, Any], rows: list[Row]) -> Path:
    """Write a spec with its source and its keys into a new folder; return its path."""
    return random_specs.write(folder, spec, rows)


def questions(random: Random, asked_of: Table) -> dict[str, list[Query]]:
    """Return what is asked of a table, by currency: through the fluent interface, and as SQL."""
    asked = random_queries.workload(random)
    asked += random_queries.to_run(random, selects=random.random() < 0.3)
    asked.append(sql_query(random, asked_of.schema))
    found: dict[str, list[Query]] = {}
    for each in asked:
        found.setdefault(each.currency.value, []).append(each)
    return found


def rows_asked(random: Random) -> RowsAsked:
    """Return which columns of which split records a mechanism is given."""
    return random_rows(random)
