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
            help="A public, earlier or synthetic file with the same columns: show its values, "
            "and errors on it.",
            metavar="FILE",
        ),
    ] = None,
    synthetic: Annotated[
        bool,
        typer.Option(
            "--synthetic",
            help="Show values of records drawn from the spec alone, and errors on them.",
        ),
    ] = False,
    rows: Annotated[
        int, typer.Option(min=1, help="With --synthetic: how many records are drawn.")
    ] = 100_000,
    confidential: Annotated[
        bool,
        typer.Option(
            "--confidential",
            help="Show errors on the confidential source itself, and its values when asked "
            "for; both are marked.",
        ),
    ] = False,
    idle: Annotated[
        float, typer.Option(help="End after this many minutes without a request.", min=0)
    ] = 60,
) -> None:
    """Open a local page on which to choose the methods, sizes and amounts of a spec.

    Choices are written into the spec at once, and its comments are kept; what you change in an
    editor appears on the page. It shows the noise of every answer, what example records and records
    of any size would lose, hints, and what the ledger says. With --data or --synthetic it also
    shows how accurate the tables would be, by size of cell, and what goals of accuracy would take.
    Nothing is computed from the records of the source, except with --confidential and for a
    release, which first shows its command and its charge, and asks.

    The printed address can be opened once, on this machine only. Ctrl-C ends the studio.
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
