# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord export`: a published release as Excel, SDMX, JSON-stat, PX, or for a registry."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from perrecord.cli.command import examples
from perrecord.cli.output import say, show

EXAMPLES = examples(
    "perrecord export published --to xlsx --out release.xlsx",
    "perrecord export published --to sdmx --out sdmx",
)


class ExportFormat(StrEnum):
    """What a release can be exported to."""

    XLSX = "xlsx"
    SDMX = "sdmx"
    JSONSTAT = "jsonstat"
    PX = "px"
    REGISTRY = "registry"


def export(
    folder: Annotated[Path, typer.Argument(help="The folder of a release.", metavar="FOLDER")],
    to: Annotated[ExportFormat, typer.Option(help="The format.")],
    out: Annotated[
        Path,
        typer.Option(help="A new file (xlsx, registry) or a new folder (sdmx, jsonstat, px)."),
    ],
) -> None:
    """Write a published release in another format.

    xlsx is an Excel workbook with a sheet for each table and one of notes; sdmx is SDMX-CSV with
    its structure message; jsonstat and px have a file for each table; registry is a draft for
    OpenDP's registry of deployments. Only the published folder is read: no ledger, no data, no
    charge. A folder whose files are not as they were published is refused.
    """
    from perrecord.release.exporting import export as exported

    written = exported(folder, to=to.value, out=out)
    show(*(str(path) for path in written))
    if to is ExportFormat.REGISTRY:
        say("What only you know is marked FILL IN.")
