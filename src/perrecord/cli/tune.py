# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord tune`: amounts and thresholds that reach a goal of accuracy at the least loss."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.command import examples
from perrecord.cli.confidential import (
    MARK,
    AsJson,
    Public,
    Quiet,
    Source,
    Spec,
    coverage_rows,
    named_queries,
    named_schemes,
    opened_for,
    outside_lines,
    show_marked,
    warn,
)
from perrecord.cli.extras import REPORTS, check_extra
from perrecord.cli.opening import Opened
from perrecord.cli.output import columns, say, show_json
from perrecord.cli.progress import progress
from perrecord.cli.records import subject_of_spec, typed_record
from perrecord.errors import InputError

if TYPE_CHECKING:
    from perrecord.evaluate.coverage import Coverage
    from perrecord.evaluate.tuning.tune import Tuning

EXAMPLES = examples(
    'perrecord tune release.yaml --goal "5% for 95% of cells"',
    'perrecord tune release.yaml --goal "10% for 90% of cells" '
    '--goal "employment: 5% for 95% of cells"',
    'perrecord tune release.yaml --cap "a corner shop: 0.5" --cap "emp=700, county=37001: 50"',
    'perrecord tune release.yaml --goal "5% for 95% of cells" --source prior.parquet --public',
)

_DEFAULT_GOAL = "5% for 95% of cells"
_MOST_SCHEMES = 5


def tune(
    spec: Spec,
    goal: Annotated[
        list[str] | None,
        typer.Option(
            help="How accurate the answers should be; 'ANSWER: ...' for one. Repeat it.",
            metavar="GOAL",
            show_default=f"'{_DEFAULT_GOAL}'",
        ),
    ] = None,
    cap: Annotated[
        list[str] | None,
        typer.Option(
            help="The most that an example record may lose, 'NAME: LOSS' or 'emp=3, ...: LOSS'; "
            "the errors of the goals are then made as small as the caps allow. Repeat it.",
            metavar="CAP",
        ),
    ] = None,
    smallest: Annotated[
        str,
        typer.Option(
            help="What is to be smallest: a percentile of the losses, 'largest', or the loss of an "
            "example record.",
        ),
    ] = "99%",
    keep_thresholds: Annotated[
        bool, typer.Option("--keep-thresholds", help="Change amounts alone.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The folder for the tuned spec.")] = Path("tuning"),
    source: Source = None,
    public: Public = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the amounts, and the splitting thresholds, that reach a goal at the least loss.

    Every count, total and average of every table gets the amount with which the share of its
    cells comes within the error, and no more; where totals are charged by pieces, the scheme with
    the smallest policy is chosen among the spec's splits, finer and coarser. With --cap it is the
    other way round: the least errors, beside the goals, that keep the losses of named records.
    Closed forms, no simulation. Writes tuned.yaml and a report with the frontier of
    privacy against error.

    Tuning on the confidential data is not itself private: a spec that was chosen by the data says
    something about it. So the results are CONFIDENTIAL, unless --source names public, prior or
    synthetic data of the same columns and --public says so. That is the way to go.
    """
    check_extra("perrecord tune", REPORTS)
    from perrecord.evaluate.confidential import confidential_folder
    from perrecord.evaluate.tuning.tune import tune as tuned
    from perrecord.evaluate.tuning.tuned_spec import check_names, tuned_spec
    from perrecord.report.tuning import tuning_page
    from perrecord.report.write import write_report

    path = out / "tuned.yaml"
    if path.resolve() == spec.resolve():
        raise InputError(
            f"the tuned spec would replace {str(spec)!r} itself; give another folder with --out."
        )
    with (
        progress(quiet=quiet) as step,
        opened_for(spec, source, out, is_public=public, report="tuning", on_step=step) as opened,
    ):
        found, covered = opened
        check_names(named_queries(found))
        known: dict[str, Any] = dict(found.workload.examples)
        caps = _caps(cap or [], found, known)
        result = tuned(
            named_queries(found),
            found.table,
            goal or [_DEFAULT_GOAL],
            schemes=None if keep_thresholds else named_schemes(found),
            smallest_in=smallest,
            examples=known,
            caps=caps,
            on_step=step,
        )
        if not result.answers:
            raise InputError(
                "every answer that a goal is about is 0 in every cell, so there is nothing to be "
                "accurate about, and nothing was written. Tune on a file with records."
            )
        step("writing the spec and the report")
        folder = confidential_folder(out, is_public=public)  # paths of the spec lead through it
        text = tuned_spec(found.loaded, result, found.table.schema, path, is_public=public)
        folder.write_bytes(path.name, text.encode())
        made = f"perrecord tune {spec.name}"
        title = found.workload.title
        page = tuning_page(result, title, is_public=public, made=made, covered=covered)
        report = write_report(folder, page, "tuning")
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
    from perrecord.evaluate.tuning.tune import shown_amounts, shown_goal
    from perrecord.report.numbers import amount, percent

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
    rows = [[name, amount(before), amount(after)] for name, before, after in result.losses]
    yield from columns(["of", "as written", "tuned"], rows)
    if len(result.choices) > 1:
        yield from ("", f"Schemes, of {len(result.choices)} that were tried")
        shown = [[each.name, amount(size, 4)] for each, size in result.choices[:_MOST_SCHEMES]]
        yield from columns(["scheme", result.judged_by], shown)


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
        "scheme": result.candidate.name,
        "answers": result.to_arrow().to_pylist(),
        "losses": [
            {"of": name, "as_written": before, "tuned": after}
            for name, before, after in result.losses
        ],
        "frontier": result.frontier.to_pylist(),
    }
