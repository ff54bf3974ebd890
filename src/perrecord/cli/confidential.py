# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What commands share that read confidential data to report to the curator."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perrecord.cli.opening import Opened, opened
from perrecord.cli.output import say, show
from perrecord.errors import InputError

if TYPE_CHECKING:
    from perrecord.evaluate.confidential import ConfidentialFolder
    from perrecord.policy.split import Scheme
    from perrecord.queries.query import Query

Spec = Annotated[Path, typer.Argument(help="The release spec, a YAML file.", metavar="SPEC")]
Source = Annotated[
    Path | None,
    typer.Option(help="Read this file of the same columns in place of the spec's source."),
]
Public = Annotated[
    bool,
    typer.Option(
        "--public",
        help="The data is public or synthetic: write an ordinary folder without marks.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")]

MARK = "CONFIDENTIAL"


@contextmanager
def opened_for(
    spec: Path, source: Path | None, out: Path, *, is_public: bool
) -> Iterator[tuple[Opened, "ConfidentialFolder"]]:
    """Give an opened spec, and the folder for what is found about it.

    Nothing is made for a spec that cannot be opened, and nothing read for a folder that cannot be
    used.
    """
    from perrecord.evaluate.confidential import confidential_folder

    if source is not None and not glob(str(source), recursive=True):
        raise InputError(f"there is no file {str(source)!r} to read in place of the source.")
    with opened(spec, source) as found:
        yield found, confidential_folder(out, is_public=is_public)


def named_queries(found: Opened) -> dict[str, "Query"]:
    """Return the queries of a spec by name."""
    return {named.name: named.query for named in found.workload.queries}


def named_schemes(found: Opened) -> dict[str, "Scheme"]:
    """Return the splitting schemes of a spec by name."""
    from perrecord.release.spec.pieces import splits_of

    problems = found.loaded.problems()
    schemes = splits_of(found.loaded, found.table.schema, problems)
    problems.check()
    return dict(schemes)


def show_marked(lines: Iterable[str], *, is_public: bool) -> None:
    """Write lines to stdout; unless they are public, the first says that they are not."""
    if not is_public:
        show(f"{MARK}: exact results of the data, for the curator alone.")
    show(*lines)


def warn(*, is_public: bool) -> None:
    """Say, once the work is done, what may be done with its results."""
    if not is_public:
        say(
            f"{MARK}: nothing was charged. Do not publish these results, nor what was chosen by "
            "them."
        )
