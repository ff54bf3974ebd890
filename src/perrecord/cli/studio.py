# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord studio`: a local page on which a spec is chosen by looking."""

from pathlib import Path
from typing import Annotated

import typer

from perrecord.cli.command import data_open, examples
from perrecord.cli.output import say, show
from perrecord.extras import STUDIO, check_extra

EXAMPLES = examples(
    "perrecord studio release.yaml",
    "perrecord studio release.yaml --synthetic",
    "perrecord studio release.yaml --data last-year.parquet",
)


def studio(
    spec: Annotated[Path, typer.Argument(help="The release spec, a YAML file.", metavar="SPEC")],
    data: Annotated[
        str | None,
        typer.Option(
            help="A public, prior or synthetic file of the same columns, to show errors on.",
            metavar="FILE",
        ),
    ] = None,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Show errors on records drawn from the spec alone.")
    ] = False,
    rows: Annotated[
        int, typer.Option(min=1, help="With --synthetic: how many records are drawn.")
    ] = 100_000,
    confidential: Annotated[
        bool,
        typer.Option(
            "--confidential",
            help="Show errors on the confidential source itself; what rests on it is marked.",
        ),
    ] = False,
    idle: Annotated[
        float, typer.Option(help="End after this many minutes without a request.", min=0)
    ] = 60,
) -> None:
    """Open a local page on which methods, sizes and amounts of a spec are chosen by looking.

    What is chosen is written into the spec at once, comments kept; what an editor changes there
    appears on the page. Shown are the noise of every answer, what example records and records of
    any size would lose, hints, and what the ledger says; with --data or --synthetic also how
    accurate the tables would be, by size of cell, and what goals of accuracy would take. No row of
    the source is read unless --confidential is given, or before a release, which shows its command
    and its charge, and asks.

    The address that is printed can be opened once, on this machine alone. Ctrl-C ends it.
    """
    check_extra("perrecord studio", STUDIO)
    from perrecord.studio.doors import chosen_door
    from perrecord.studio.running import run

    door = chosen_door(data, synthetic=synthetic, confidential=confidential, rows=rows)
    try:
        with data_open():
            run(spec, door, 60 * idle, show)
    except KeyboardInterrupt:
        pass
    say("The studio has ended. What was chosen is in the spec.")
