# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord tune --goal "levels count equally"`: amounts of consistent tables shared anew."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perrecord.cli.opening import opened
from perrecord.cli.output import columns, say, show, show_json
from perrecord.errors import InputError, listing

if TYPE_CHECKING:
    from perrecord.evaluate.tuning.shares import Sharing


def counted_equally(goals: Sequence[str]) -> str | None:
    """Return what is to count equally, if that is the goal; it stands alone."""
    from perrecord.evaluate.tuning.shares import COUNTED

    found = [each for each in goals if " ".join(each.lower().split()) in COUNTED]
    if found and len(goals) > 1:
        raise InputError(
            f"the goal {found[0]!r} shares out the amounts that are there, and stands alone; the "
            f"goals are {listing(goals)}. Tune for the others first, and then the tuned spec for "
            "this one."
        )
    return " ".join(found[0].lower().split()) if found else None


def share_out(
    spec: Path,
    counted: str,
    path: Path,
    source: str | None,
    *,
    has_others: bool,
    as_json: bool,
) -> None:
    """Write the spec with the amounts of consistent tables shared anew, and say what they buy."""
    from perrecord.evaluate.confidential import check_folder, confidential_folder
    from perrecord.evaluate.tuning.of_spec import check_names
    from perrecord.evaluate.tuning.shares import shared
    from perrecord.evaluate.tuning.tuned_spec import tuned_spec

    if has_others:
        raise InputError(
            f"the goal {counted!r} reads no data and changes amounts alone, so --cap, --smallest, "
            "--keep-thresholds and --public say nothing about it; leave them out."
        )
    check_folder(path.parent, is_public=True)
    with opened(spec, source) as found:
        workload, queries = found.workload, {e.name: e.query for e in found.workload.queries}
        if workload.post_processing.consistent is None:
            raise InputError(
                f"the goal {counted!r} is about tables that are made consistent, and those of "
                f"{spec.name} are not. Add to the spec: post_processing: {{consistent: true}}"
            )
        check_names(queries)
        result = shared(queries, found.table.schema, counted, workload.hierarchies)
        if not result.answers:
            raise InputError(_nothing(result))
        folder = confidential_folder(path.parent, is_public=True)  # the spec's paths lead there
        text = tuned_spec(found.loaded, result, found.table.schema, path, is_public=True)
        folder.write_bytes(path.name, text.encode())
        is_affordable = result.policy.is_below(workload.budget)
    if as_json:
        show_json(
            {
                "spec": str(path),
                "within_budget": is_affordable,
                "answers": result.to_arrow().to_pylist(),
                "untouched": dict(result.untouched),
            }
        )
    else:
        show(*_lines(result), "", str(path))
    if not is_affordable:
        say(
            "The spec costs some possible record more than its budget allows; the budget was left "
            "as it is. perrecord check says which record."
        )


def _nothing(result: "Sharing") -> str:
    if not result.untouched:
        return (
            "no number is published in several tables, so there are no levels to share an amount "
            "among, and nothing was written."
        )
    name, reason = result.untouched[0]
    return f"no amount can be shared anew, and nothing was written: of {name}, {reason}."


def _lines(result: "Sharing") -> Iterator[str]:
    from perrecord.report.numbers import amount

    yield f"Amounts, where {result.counted}; standard errors of the median cell, fitted"
    yield from columns(
        ["table", "answer", "rho", "tuned", "error before", "error now"],
        [
            [
                row["table"],
                row["answer"],
                amount(row["amount_before"], 4),
                amount(row["amount_after"], 4),
                amount(row["consistent_error_before"]),
                amount(row["consistent_error_after"]),
            ]
            for row in result.to_arrow().to_pylist()
        ],
    )
    for name, reason in result.untouched:
        yield f"  {name} stays: {reason}"
