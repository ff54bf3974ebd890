# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord init`: a spec to start from."""

from pathlib import Path
from typing import Annotated

import typer

from perrecord.cli.command import data_open, examples
from perrecord.cli.file_settings import Decimal, Encoding, Separator, said_of_file
from perrecord.cli.output import say, show
from perrecord.errors import InputError, SourceError

EXAMPLES = examples(
    "perrecord init est.parquet",
    "perrecord init 'est/*.parquet' --out county.yaml",
    "perrecord init est.csv --separator ';' --decimal ,",
    "perrecord init duckdb://est.db --relation establishments",
)

_WORKBOOKS = (".xlsx", ".xlsm")
_LEDGER = "# ledger: release.ledger"


def init(
    source: Annotated[
        str,
        typer.Argument(help="A file, a glob of files, or a database's address.", metavar="SOURCE"),
    ],
    out: Annotated[Path, typer.Option(help="The spec to write.")] = Path("release.yaml"),
    relation: Annotated[
        str | None, typer.Option(help="The table of the database at the address.")
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Annotated[str | None, typer.Option(help="The sheet of a workbook.")] = None,
) -> None:
    """Write a commented release spec for a source, from its columns and types alone.

    Columns whose names say what they are become dimensions and measures; the others are listed. No
    value of the data gets into the spec. It loads as it is, and asks for one count. An existing
    file is never overwritten.
    """
    from perrecord.release.spec import template
    from perrecord.tables.reading import File

    if out.exists():
        raise InputError(f"{str(out)!r} exists already; give another name with --out.")
    given = _given(source, out)
    said = said_of_file(separator=separator, encoding=encoding, decimal=decimal, sheet=sheet)
    with data_open():
        try:
            text = template(File(given, **said) if said else given, relation=relation)
        except SourceError as error:
            if sheet is not None or not given.lower().endswith(_WORKBOOKS):
                raise
            raise SourceError(f"{error} With init, a sheet is chosen by --sheet NAME.") from None
    named = f"ledger: {_ledger(given)}    # where every release of this table is charged"
    with out.open("x", encoding="utf-8") as file:
        file.write(text.replace(_LEDGER, named))
    show(str(out))
    say(f"Make it yours, then: perrecord check {out}")


def _given(source: str, out: Path) -> str:
    """Return the source as the spec has it: relative paths start at the folder of the spec."""
    from perrecord.tables.addresses import absolute_address, is_address

    if out.absolute().parent.resolve() == Path.cwd().resolve():
        return source
    if is_address(source):
        return absolute_address(source, Path.cwd())
    return str(Path(source).expanduser().absolute())


def _ledger(source: str) -> str:
    """Return a name for the ledger of a table: one for each confidential table."""
    stem = Path(source).stem if "://" not in source else ""
    plain = stem.isascii() and stem.replace("_", "").replace("-", "").isalnum()
    return f"{stem if plain else 'release'}.ledger"
