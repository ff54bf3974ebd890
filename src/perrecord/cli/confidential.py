# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What commands share that read confidential data to report to the curator."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perrecord.cli.opening import Opened
from perrecord.cli.output import say

if TYPE_CHECKING:
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


def warn(*, is_public: bool) -> None:
    """Say, once the work is done, what may be done with its results."""
    if not is_public:
        say(
            f"{MARK}: exact results of the data, for the curator alone. Nothing was charged; do "
            "not publish them, nor what was chosen by them."
        )
