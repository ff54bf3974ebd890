# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord release`: scan, charge, compute, seal, publish."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.command import INTERRUPTED, data_open, examples
from perrecord.cli.opening import Period, Revision
from perrecord.cli.output import complain, say, show, show_json
from perrecord.cli.progress import progress

if TYPE_CHECKING:
    from perrecord.release.publish import Outcome

EXAMPLES = examples(
    "perrecord release release.yaml --out published",
    "perrecord release release.yaml --out published --json | jq -r .seal.hash",
    "perrecord release release.yaml --out published-2027 --period 2027",
)

_DONE = {
    "made": "The release was charged, made and published.",
    "recovered": (
        "The ledger did not know this release, but its files were there: they were charged anew, "
        "and the same numbers were published. Where the files are the same too, their manifest "
        "still names the charge that was forgotten."
    ),
    "published again": "It was made before: the same files were published again, at no charge.",
    "corrected": (
        "Its numbers were made before: they are shown as the spec has it now, at no charge. The "
        "manifest names the charge that paid for them and the seal that they were kept under."
    ),
    "nothing": "It is published there already; nothing was done, and nothing charged.",
}


def release(
    spec: Annotated[Path, typer.Argument(help="The release spec, a YAML file.", metavar="SPEC")],
    out: Annotated[Path, typer.Option(help="The folder to publish into; it must be new.")],
    period: Period = None,
    revision: Revision = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Make the release that a spec describes, and publish it as a folder.

    It is charged to the ledger before any noise is drawn, and only once: run again with the same
    spec and data, it publishes the same files. With another title, label, example, output or
    post-processing it shows the same numbers again, at no charge. If a release is interrupted, run
    the same command again, and it continues where it was.
    """
    from perrecord.release import publish

    try:
        with data_open(), progress(quiet=quiet) as step:
            outcome = publish.release(
                spec,
                out,
                period=period,
                revision=revision,
                progress=step,
                share=step.share,
                remark=_say_remark,
            )
    except KeyboardInterrupt:
        complain(
            "interrupted. Nothing half-made was published. Run the same command again to "
            "continue: what was charged already is not charged twice."
        )
        raise typer.Exit(INTERRUPTED) from None
    for warning in outcome.warnings:
        say(f"Warning: {warning}")
    if as_json:
        show_json(_as_json(outcome))
        return
    charge = outcome.charge
    show(
        f"{outcome.did}: {outcome.folder}",
        f"charge {charge.number}: {charge.hash}",
        f"seal {outcome.seal.number}: {outcome.seal.hash}",
        *(f"  {name}" for name in _files(outcome.folder)),
    )
    say(_DONE[outcome.did])
    say("Keep the seal's hash elsewhere: perrecord ledger verify ... --noted asks for it.")


def _say_remark(remark: str | None) -> None:
    if remark is not None:
        say(remark)


def _as_json(outcome: "Outcome") -> dict[str, Any]:
    charge, seal = outcome.charge, outcome.seal
    return {
        "did": outcome.did,
        "folder": str(outcome.folder),
        "charge": {"number": charge.number, "hash": charge.hash, "day": charge.day},
        "seal": {"number": seal.number, "hash": seal.hash, "day": seal.day},
        "files": _files(outcome.folder),
        "warnings": list(outcome.warnings),
    }


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
