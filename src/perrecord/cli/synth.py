# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord synth`: synthetic data and public key files, to try things on."""

from pathlib import Path
from typing import Annotated

import typer

from perrecord.cli.command import examples
from perrecord.cli.output import show
from perrecord.errors import InputError

BUSINESS_EXAMPLES = examples("perrecord synth business --rows 300000 --out est.parquet")
KEYS_EXAMPLES = examples("perrecord synth keys --out keys")

_LENGTHS = (2, 3, 4, 5, 6)


def business(
    rows: Annotated[int, typer.Option(min=0, help="How many establishments.")],
    out: Annotated[Path, typer.Option(help="The Parquet file to write.")],
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same file.")] = 0,
) -> None:
    """Write synthetic business establishments: heavy-tailed, as County Business Patterns are.

    Columns: id, firm, state, county, naics, emp, payann and payqtr1. An existing file is never
    overwritten.
    """
    _check_new(out)
    from perrecord.synth import business as establishments

    establishments(rows, out, seed=seed)
    show(str(out))


def keys(
    out: Annotated[Path, typer.Option(help="The folder to write into.")],
) -> None:
    """Write the public keys of the synthetic establishments as CSV files.

    counties.csv lists the counties; industries2.csv to industries6.csv list the industries of so
    many digits. Existing files are never overwritten.
    """
    import pyarrow as pa
    from pyarrow.csv import write_csv

    from perrecord.synth.industries import industry_codes
    from perrecord.synth.places import county_codes

    codes = industry_codes()
    files = {out / "counties.csv": {"county": county_codes()}}
    for length in _LENGTHS:
        values = sorted({code[:length] for code in codes})
        files[out / f"industries{length}.csv"] = {f"naics{length}": values}
    for path in files:
        _check_new(path)
    out.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        write_csv(pa.table(content), path)
        show(str(path))


def _check_new(path: Path) -> None:
    if path.exists():
        raise InputError(f"{str(path)!r} exists already; give another place with --out.")
