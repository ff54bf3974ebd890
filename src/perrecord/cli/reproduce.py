# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord reproduce`: the experiments of the paper."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from perrecord.cli.command import examples
from perrecord.cli.confidential import Quiet
from perrecord.cli.output import show
from perrecord.cli.progress import progress
from perrecord.errors import InputError
from perrecord.extras import LAB, check_extra

EXAMPLES = examples(
    "perrecord reproduce all --out paper",
    "perrecord reproduce sim --quick --out trial",
    "perrecord reproduce cis --cis-file quickstats.csv --out cattle",
    "perrecord reproduce cbp --cbp-file cbp_county.parquet --out business",
)


def reproduce(
    which: Annotated[
        Literal["sim", "cis", "cbp", "keys", "all"],
        typer.Argument(help="The experiments on one data set, on key selection, or all of them."),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write into.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Small tables: a minute instead of several.")
    ] = False,
    cis_file: Annotated[
        Path | None,
        typer.Option(help="A county file of USDA NASS Quick Stats in place of synthetic cattle."),
    ] = None,
    cbp_file: Annotated[
        Path | None,
        typer.Option(
            help="A published table of establishments to fit the synthetic ones to; see "
            "perrecord synth business --fit."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Reproduce the figures of the paper, and compare its claims with what is measured.

    Writes index.html, with every figure as SVG, PNG and CSV beside it. The data is synthetic, or
    public files that you name; nothing is charged.
    """
    _check(which, cis_file=cis_file, cbp_file=cbp_file)
    from perrecord.evaluate.confidential import confidential_folder
    from perrecord.lab.experiments.findings import findings_page
    from perrecord.lab.experiments.reproduce import reproduced, runs
    from perrecord.report.write import check_report, write_report

    check_report(out, "index")
    folder = confidential_folder(out, is_public=True)
    every = runs(which, quick=quick, cis_file=cis_file, cbp_file=cbp_file)
    with progress(quiet=quiet, parts=len(every)) as step:
        found = reproduced(every, step, step.done)
        step("drawing the figures")
        made = made_by(which, quick=quick, cis_file=cis_file, cbp_file=cbp_file)
        path = write_report(folder, findings_page(found, quick=quick, made=made), "index")
    show(*(f"{claim.verdict}: {claim.paper}" for each in found for claim in each.claims), str(path))


def made_by(which: str, *, quick: bool, cis_file: Path | None, cbp_file: Path | None) -> str:
    """Return the command that made a page, with its files by name."""
    files = [
        f"--{name}-file {path.name}"
        for name, path in (("cis", cis_file), ("cbp", cbp_file))
        if path is not None
    ]
    return " ".join(["perrecord reproduce", which, *(["--quick"] if quick else []), *files])


def _check(which: str, *, cis_file: Path | None, cbp_file: Path | None) -> None:
    """Refuse what cannot be run, before anything is loaded or written."""
    check_extra("perrecord reproduce", LAB)
    for name, path in (("cis", cis_file), ("cbp", cbp_file)):
        if path is None:
            continue
        if which not in (name, "all"):
            raise InputError(
                f"--{name}-file is for the experiment {name}, and {which} does not read it; type "
                f"perrecord reproduce {name} --{name}-file {path.name}."
            )
        if not path.is_file():
            raise InputError(f"there is no file {str(path)!r}; give the path of a public file.")
