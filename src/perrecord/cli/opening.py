# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""A spec with everything that follows from it before a row is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perrecord.cli.command import data_open

if TYPE_CHECKING:
    from perrecord.release.spec import LoadedSpec, Workload
    from perrecord.tables.given import Source
    from perrecord.tables.table import Table


Period = Annotated[
    str | None,
    typer.Option(help="The period that the data is about, for a ledger with periods."),
]
Revision = Annotated[
    str | None,
    typer.Option(help="Why the data of a period that was released before has changed."),
]


@dataclass(frozen=True, slots=True)
class Opened:
    """A spec, its table, what it asks."""

    loaded: "LoadedSpec"
    table: "Table"
    workload: "Workload"


@contextmanager
def opened(
    path: Path,
    source: "Source | None" = None,
    period: str | None = None,
    revision: str | None = None,
) -> Iterator[Opened]:
    """Give a spec checked in full, its source open for as long as the block lasts.

    Another source of the same columns may stand in place of the one that the spec names.
    """
    from perrecord.mechanisms.run import check_plan
    from perrecord.release.spec import build, check_without_data, load_spec, open_table

    loaded = load_spec(path).about(period, revision)
    check_without_data(loaded)
    with data_open(), open_table(loaded, source) as table:
        workload = build(loaded, table.schema)
        check_plan(workload.plan)
        yield Opened(loaded, table, workload)
