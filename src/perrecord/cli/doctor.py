# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord doctor`: is everything there, does the source fit, what is odd about the records."""

import shlex
import stat
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.command import REFUSED, examples
from perrecord.cli.environment import Finding, environment
from perrecord.cli.opening import Opened, opened
from perrecord.cli.output import columns, complain, show, show_json
from perrecord.errors import InternalError, PerrecordError
from perrecord.systems import HAS_MODES

if TYPE_CHECKING:
    from perrecord.evaluate.doctor import Findings

EXAMPLES = examples(
    "perrecord doctor",
    "perrecord doctor release.yaml",
    "perrecord doctor release.yaml --confidential | less",
)

_MARK = "CONFIDENTIAL"


def doctor(
    spec: Annotated[
        Path | None,
        typer.Argument(
            help="A release spec: is its source there, and does it fit?", metavar="[SPEC]"
        ),
    ] = None,
    confidential: Annotated[
        bool,
        typer.Option(
            "--confidential",
            help="Read the data and say what is odd about it: exact, CONFIDENTIAL.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check whether everything that perrecord needs is there.

    With a spec, the source is opened and its columns are compared with the spec; nothing is
    computed from the records.

    With --confidential too, the data is read: the number of rows, missing and repeated ids,
    numbers that are missing or out of range, records outside the declared keys, records by number
    of pieces. That is exact and CONFIDENTIAL: it goes to stdout alone and is never charged. Do not
    publish it, and do not choose thresholds or keys by it.
    """
    if confidential and spec is None:
        raise typer.BadParameter("--confidential needs a spec, which says where the data is.")
    machine = list(environment())
    failed = [each.name for each in machine if not each.fine]
    report: dict[str, Any] = {"environment": [asdict(each) for each in machine], "warnings": []}
    lines = _machine(machine)
    if spec is not None:
        try:
            more, said = _looked_into(spec, confidential=confidential)
        except InternalError:
            raise
        except PerrecordError as error:
            complain(str(error))
            failed.append(str(spec))
            more, said = {"spec": {"fits": False}}, []
        report, lines = report | more, [*lines, *said]
    if as_json:
        show_json(report)
    else:
        show(*lines)
    if failed:
        complain(f"not fine: {', '.join(failed)}.")
        raise typer.Exit(REFUSED)


def _looked_into(spec: Path, *, confidential: bool) -> tuple[dict[str, Any], list[str]]:
    """Return what was found about a spec and its source, for programs and for people."""
    with opened(spec) as found:
        public, warnings = _spec(found), list(_dangers(found.loaded.ledger))
        report: dict[str, Any] = {"spec": public, "warnings": warnings}
        lines = ["", *(f"{name}: {value}" for name, value in public.items())]
        lines.extend(f"warning: {each}" for each in warnings)
        if not confidential:
            return report, lines
        findings = _examined(found)
    return report | {_MARK: asdict(findings)}, [*lines, *_confidential(findings)]


def _machine(findings: list[Finding]) -> list[str]:
    rows = [["ok" if each.fine else "FAILS", each.name, each.detail] for each in findings]
    return columns(["", "what", "found"], rows, margin="")


def _spec(found: Opened) -> dict[str, Any]:
    """Return what is public about a source: its columns and roles, all of which fit."""
    schema = found.table.schema
    return {
        "source": str(found.loaded.source),
        "columns": len(found.table.engine.columns),
        "dimensions": len(schema.dimensions),
        "measures": len(schema.measures),
        "queries": len(found.workload.queries),
        "fits": True,
    }


def _dangers(ledger: Path | None) -> Iterator[str]:
    """Yield what is dangerous about who may read, replace or add to a ledger: nothing, as a rule.

    Its group may be meant to share it; everybody else is not.
    """
    if ledger is None or not HAS_MODES or not ledger.exists():
        return
    mode, folder = (stat.S_IMODE(path.stat().st_mode) for path in (ledger, ledger.parent))
    if mode & stat.S_IRWXO:
        remedy = f"type: chmod o-rwx {shlex.quote(str(ledger))}"
        yield f"anybody may open the ledger (mode {mode:04o}); {remedy}"
    if folder & stat.S_IWOTH and folder & stat.S_ISVTX:
        yield (
            f"anybody may put files beside the ledger (its folder has mode {folder:04o}); move it "
            "to a folder that only its users may write to"
        )
    elif folder & stat.S_IWOTH:
        remedy = f"type: chmod o-w {shlex.quote(str(ledger.parent))}"
        yield f"anybody may replace the ledger (its folder has mode {folder:04o}); {remedy}"


def _examined(found: Opened) -> "Findings":
    from perrecord.evaluate.doctor import examine
    from perrecord.release.spec.schemes import splits_of
    from perrecord.tables.readable import check_links

    problems = found.loaded.problems()
    splits = splits_of(found.loaded.spec, found.table.schema, problems)
    problems.check()
    queries = {named.name: named.query for named in found.workload.queries}
    check_links(found.table)
    return examine(found.table, queries, splits)


def _confidential(found: "Findings") -> Iterator[str]:
    """Yield the findings; every group of lines is marked."""
    yield from ("", f"{_MARK}: exact numbers of the data, for the curator alone.")
    yield f"  rows: {found.rows:,}"
    if found.roles:
        yield from ("", f"{_MARK}: ids and units")
        heads = ["role", "column", "missing", "names of several records", "records under them"]
        rows = [
            [
                each.role,
                each.column,
                f"{each.missing:,}",
                f"{each.repeated_names:,}",
                f"{each.repeated_records:,}",
            ]
            for each in found.roles
        ]
        yield from columns(heads, rows)
    if found.measures:
        yield from ("", f"{_MARK}: measures")
        heads = ["measure", "missing", "no number", "out of range", "those become"]
        rows = [
            [
                each.name,
                f"{each.missing:,}",
                f"{each.not_a_number:,}",
                f"{each.outside:,}",
                "missing" if each.rule == "null" else "the largest",
            ]
            for each in found.measures
        ]
        yield from columns(heads, rows)
        for each in found.measures:
            if found.rows and 2 * each.not_a_number >= found.rows - each.missing:
                without = each.missing + each.not_a_number
                share = "No value" if without == found.rows else "At most half of the values"
                yield (
                    f"  {share} of {each.name} can be read as a number; records without one add "
                    "nothing to its totals. Check the column, and how its numbers are written."
                )
    if found.keys:
        yield from ("", f"{_MARK}: records outside the declared keys, which no answer counts")
        rows = [
            [each.query, ", ".join(each.columns), f"{each.records:,}", f"{each.keys:,}"]
            for each in found.keys
        ]
        yield from columns(["query", "by", "records", "different keys"], rows)
    for split in found.pieces:
        yield from ("", f"{_MARK}: records by number of pieces under {split.split}")
        rows = [
            [f"{first:,}" if first == last else f"{first:,} to {last:,}", f"{number:,}"]
            for first, last, number in split.counts
        ]
        yield from columns(["pieces", "records"], rows)
