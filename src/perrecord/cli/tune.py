# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord tune`: amounts, splits and tapers that reach a goal of accuracy at the least loss."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.command import examples
from perrecord.cli.confidential import (
    MARK,
    AsJson,
    Last,
    Public,
    Quiet,
    Source,
    Spec,
    coverage_rows,
    opened_for,
    outside_lines,
    show_marked,
    warn,
)
from perrecord.cli.opening import Opened
from perrecord.cli.output import columns, say, show_json
from perrecord.cli.progress import progress
from perrecord.cli.records import subject_of_spec, typed_record
from perrecord.cli.shares import counted_equally, share_out
from perrecord.errors import InputError
from perrecord.extras import REPORTS, check_extra

if TYPE_CHECKING:
    from perrecord.evaluate.coverage import Coverage
    from perrecord.evaluate.tuning.tune import Tuning

EXAMPLES = examples(
    'perrecord tune release.yaml --goal "5% for 95% of cells"',
    'perrecord tune release.yaml --goal "10% for 90% of cells" '
    '--goal "employment: 5% for 95% of cells"',
    'perrecord tune release.yaml --cap "a corner shop: 0.5" --cap "emp=700, county=37001: 50"',
    'perrecord tune release.yaml --goal "5% for 95% of cells" --source prior.parquet --public',
    'perrecord tune release.yaml --goal "levels count equally"',
)

Goals = Annotated[
    list[str] | None,
    typer.Option(
        "--goal",
        help="How accurate the answers should be; 'ANSWER: ...' for one. May be repeated. For "
        "consistent tables: 'levels count equally' or 'cells count equally'.",
        metavar="GOAL",
        show_default="those of the spec, else '5% for 95% of cells'",
    ),
]
Caps = Annotated[
    list[str] | None,
    typer.Option(
        "--cap",
        help="The most that an example record may lose, 'NAME: LOSS' or 'emp=3, ...: LOSS'; "
        "the errors of the goals are then made as small as the caps allow. May be repeated.",
        show_default="those of the spec",
        metavar="CAP",
    ),
]
SmallestIn = Annotated[
    str,
    typer.Option(
        "--smallest",
        help="What is to be smallest: a percentile of the losses, 'largest', or the loss of an "
        "example record.",
    ),
]
KeepMethods = Annotated[
    bool,
    typer.Option("--keep-thresholds", help="Change only amounts: splits and tapers stay."),
]
Out = Annotated[Path, typer.Option(help="The folder for the tuned spec.")]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is asked of tuning, as it was typed."""

    goals: list[str]
    caps: list[str]
    smallest: str
    keeps_methods: bool


def tune(  # noqa: PLR0913, PLR0917 - an option for each
    spec: Spec,
    goal: Goals = None,
    cap: Caps = None,
    smallest: SmallestIn = "99%",
    keep_thresholds: KeepMethods = False,
    out: Out = Path("tuning"),
    source: Source = None,
    last: Last = None,
    public: Public = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the amounts, and the splits or tapers, that reach a goal at the least loss.

    Every count, total and average of every table gets the amount at which the given share of its
    cells comes within the error, and no more. Totals that are split or tapered get the method with
    the smallest policy: one of the spec's splits, finer or coarser, or a taper; clamps and tapers
    with nu = 3 are shown for comparison and never chosen. With --cap it is the other way round: the
    least errors, relative to the goals, that keep the losses of named records below their caps.
    Goals and caps may also be given in the spec, under tuning. Closed forms are used, and no
    simulation. Writes tuned.yaml and a report with the frontier of privacy against error.

    With the goal "levels count equally" or "cells count equally", the amounts of consistent tables
    are divided afresh among their levels, with the same sum, so that fitted numbers err least.
    Nothing of this is computed from the records, and what it writes is not confidential.

    Tuning on the confidential data is not itself private: a spec that was chosen by the data says
    something about it. So the results are CONFIDENTIAL, unless --source names public, earlier or
    synthetic data with the same columns and --public says so, which is what we recommend.
    """
    check_extra("perrecord tune", REPORTS)
    path = out / "tuned.yaml"
    if path.resolve() == spec.resolve():
        raise InputError(
            f"the tuned spec would replace {str(spec)!r} itself; give another folder with --out."
        )
    counted = counted_equally(goal or [])
    if counted is not None:
        others = bool(cap) or keep_thresholds or smallest != "99%" or public
        share_out(spec, counted, path, source, has_others=others, as_json=as_json)
        return
    wanted = _Wanted(goal or [], cap or [], smallest, keep_thresholds)
    with (
        progress(quiet=quiet) as step,
        opened_for(
            spec, source, last, out, is_public=public, report="tuning", on_step=step
        ) as opened,
    ):
        found, covered = opened
        result = _tuned(found, wanted, step)
        step("writing the spec and the report")
        report = _write(found, covered, result, path, made=spec.name, is_public=public)
        is_affordable = result.policy.is_below(found.workload.budget)
    if as_json:
        shown = _as_json(result, covered, path, report, is_affordable)
        show_json(shown if public else {MARK: shown})
    else:
        remarks = [*(f"- {each}" for each in outside_lines(covered))]
        lines = [*remarks, *_lines(result), "", str(path), str(report)]
        show_marked(lines, is_public=public)
    if not is_affordable:
        say(
            "The tuned release costs some possible record more than the spec's budget allows; the "
            "budget was left as it is. perrecord check says which record."
        )
    warn(is_public=public)


def _tuned(found: Opened, wanted: _Wanted, step: Callable[[str], None]) -> "Tuning":
    from perrecord.evaluate.tuning.of_spec import goals_of, tuned_workload
    from perrecord.exact import Exact

    known: dict[str, Any] = dict(found.workload.examples)
    spec = found.loaded.spec
    caps: dict[str, Exact] = dict(spec.tuning.caps)
    if wanted.caps:
        caps = dict(_caps(wanted.caps, found, known))
    return tuned_workload(
        found.loaded,
        found.workload,
        found.table,
        wanted.goals or goals_of(spec),
        caps=caps,
        examples=known,
        smallest_in=wanted.smallest,
        keeps_methods=wanted.keeps_methods,
        on_step=step,
    )


def _write(
    found: Opened,
    covered: tuple["Coverage", ...],
    result: "Tuning",
    path: Path,
    *,
    made: str,
    is_public: bool,
) -> Path:
    """Write the tuned spec and the report into their folder, and return where the report is."""
    from perrecord.evaluate.confidential import confidential_folder
    from perrecord.evaluate.tuning.tuned_spec import tuned_spec
    from perrecord.report.tuning import tuning_page
    from perrecord.report.write import write_report

    folder = confidential_folder(path.parent, is_public=is_public)  # the spec's paths lead there
    text = tuned_spec(found.loaded, result, found.table.schema, path, is_public=is_public)
    folder.write_bytes(path.name, text.encode())
    title, command = found.workload.title, f"perrecord tune {made}"
    page = tuning_page(result, title, is_public=is_public, made=command, covered=covered)
    return write_report(folder, page, "tuning")


def _caps(written: list[str], found: Opened, known: dict[str, Any]) -> dict[str, str]:
    """Return the caps by the name of their record; a record that is typed becomes an example."""
    caps: dict[str, str] = {}
    for each in written:
        name, colon, loss = each.rpartition(":")
        name = name.strip()
        if not colon or not name:
            raise typer.BadParameter(
                "write a cap as NAME: LOSS, such as --cap 'a corner shop: 0.5' or 'emp=3: 0.5'."
            )
        if name in caps:
            raise typer.BadParameter(f"--cap gives {name!r} twice; give the lower one.")
        if name not in known and "=" in name:
            known[name] = subject_of_spec(found).record(typed_record(name.split(",")))
        caps[name] = loss.strip()
    return caps


def _lines(result: "Tuning") -> Iterator[str]:
    from perrecord.evaluate.tuning.tune import shown_amounts, shown_choices, shown_goal
    from perrecord.report.numbers import amount, amount_down, percent

    yield "Amounts"
    yield from columns(
        ["table", "answer", "goal", "rho", "tuned", "met before", "met now"],
        [
            [
                each.table,
                each.before.name,
                shown_goal(each),
                shown_amounts(each.before),
                shown_amounts(each.after),
                percent(each.met_before),
                percent(each.met_after),
            ]
            for each in result.answers
        ],
    )
    yield from ("", "Losses")
    rows = [
        [name, amount(before), amount(after), amount_down(least)]
        for name, before, after, least in result.losses
    ]
    yield from columns(["of", "as written", "tuned", "least possible"], rows)
    if len(result.choices) > 1:
        yield from ("", f"Ways, of {len(result.choices)} that were tried")
        shown = [[each.name, amount(size, 4)] for each, size in shown_choices(result)]
        yield from columns(["way", result.judged_by], shown)


def _as_json(
    result: "Tuning",
    covered: tuple["Coverage", ...],
    path: Path,
    report: Path,
    is_affordable: bool,
) -> dict[str, Any]:
    return {
        "keys": coverage_rows(covered),
        "spec": str(path),
        "report": str(report),
        "within_budget": is_affordable,
        "way": result.candidate.name,
        "answers": result.to_arrow().to_pylist(),
        "losses": [
            {"of": name, "as_written": before, "tuned": after, "least_possible": least}
            for name, before, after, least in result.losses
        ],
        "frontier": result.frontier.to_pylist(),
    }
