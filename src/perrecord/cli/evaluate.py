# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord evaluate`: what a release would cost its records, and what it would buy."""

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
    show_marked,
    warn,
)
from perrecord.cli.opening import Opened
from perrecord.cli.output import show_json
from perrecord.cli.progress import progress
from perrecord.errors import InputError, listing, suggestion
from perrecord.extras import REPORTS, check_extra

if TYPE_CHECKING:
    from perrecord.evaluate.coverage import Coverage
    from perrecord.evaluate.evaluation import Evaluation
    from perrecord.evaluate.losses.distributions import Distribution
    from perrecord.policy.split import Scheme

EXAMPLES = examples(
    "perrecord evaluate release.yaml --out evaluation",
    "perrecord evaluate release.yaml --out evaluation --scheme strict --scheme loose --budget 2",
    "perrecord evaluate release.yaml --out trial --source synthetic.parquet --public",
)


def evaluate(  # noqa: PLR0913, PLR0917 - an option for each
    spec: Spec,
    out: Annotated[Path, typer.Option(help="The folder for the report.")] = Path("evaluation"),
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare with this split of the spec; may be repeated. Default: all of them."
        ),
    ] = None,
    top_codes: Annotated[
        bool, typer.Option(help="Compare with top-coding at the schemes' thresholds as well.")
    ] = True,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="Compare with a multiple of the budget, such as 2; may be repeated."),
    ] = None,
    confidence: Annotated[
        str, typer.Option(help="The probability with which errors stay within their limits.")
    ] = "0.95",
    source: Source = None,
    last: Last = None,
    public: Public = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a release before it is made: what records lose, how accurate the answers are.

    Reads the data, and writes a report of one HTML page, with every figure as SVG, PNG and CSV
    beside it: errors by table and answer, policy and realised losses of records and units, losses
    by size, what fitness for use would cost; each beside other splits, top-codes and budgets. For
    consistent tables, errors are given before and after fitting, and for tables that follow.

    The results are exact and CONFIDENTIAL: they go to a folder for you alone, and nothing is
    charged. Do not publish them, nor choose the spec by them; --source and --public evaluate the
    spec on public, prior or synthetic data.
    """
    check_extra("perrecord evaluate", REPORTS)
    from perrecord.evaluate.confidential import confidential_folder
    from perrecord.evaluate.evaluation import evaluate as evaluated
    from perrecord.evaluate.tuning.of_spec import queries_of, schemes_of
    from perrecord.report.evaluation import evaluation_page
    from perrecord.report.write import write_report

    with (
        progress(quiet=quiet) as step,
        opened_for(
            spec, source, last, out, is_public=public, report="report", on_step=step
        ) as opened,
    ):
        found, covered = opened
        result = evaluated(
            queries_of(found.workload),
            found.table,
            schemes=_chosen(scheme, schemes_of(found.loaded, found.table.schema)),
            top_codes=top_codes,
            budgets=budget or [],
            example=_example(found),
            confidence=confidence,
            consistent=found.workload.post_processing.consistent is not None,
            hierarchies=found.workload.hierarchies,
            following=found.workload.following,
            on_step=step,
        )
        step("drawing the report")
        made = f"perrecord evaluate {spec.name}"
        page = evaluation_page(result, found.workload.title, made, covered)
        path = write_report(confidential_folder(out, is_public=public), page)
    if as_json:
        show_json(_as_json(result, covered, path, is_public=public))
    else:
        lines = [*(f"- {each}" for each in page.findings), str(path)]
        show_marked(lines, is_public=public)
    warn(is_public=public)


def _chosen(names: list[str] | None, schemes: "dict[str, Scheme]") -> "dict[str, Scheme]":
    if names is None:
        return schemes
    for name in names:
        if name not in schemes:
            raise InputError(
                f"no split {name!r}. Splits are {listing(schemes) or 'none'}."
                f"{suggestion(name, schemes)}"
            )
    return {name: schemes[name] for name in names}


def _example(found: Opened) -> dict[str, Any] | None:
    """Return the first example record, whose dimensions a record of any size may have."""
    return next((dict(record) for _, record in found.workload.examples), None)


def _as_json(
    result: "Evaluation", covered: tuple["Coverage", ...], path: Path, *, is_public: bool
) -> dict[str, Any]:
    found = {
        "report": str(path),
        "records": result.records,
        "keys": coverage_rows(covered),
        "errors": result.errors.to_pylist(),
        "quantiles": result.quantiles.to_pylist(),
        "consistent": result.fitted.to_pylist(),
        "losses": [
            {
                "variant": variant.name,
                **_quantiles(lost),
                "least_possible": None if least is None else _quantiles(least),
            }
            for variant, lost, least in zip(
                result.variants, result.compared, result.least, strict=True
            )
        ],
        "units": _units(result),
        "share_above_minimum": result.losses.share_above_minimum,
        "changes": result.changes.to_pylist(),
    }
    return found if is_public else {MARK: found}


def _units(result: "Evaluation") -> dict[str, Any] | None:
    """Return what units lose, really and by each bound; None where the spec names none (T17)."""
    units = result.losses.units
    if units is None:
        return None
    return {
        "count": units.realised.count,
        "realised": _quantiles(units.realised),
        "tight": _quantiles(units.tight),
        "advanced": _quantiles(units.advanced),
        "simple": _quantiles(units.simple),
        "least_possible": None if units.least is None else _quantiles(units.least),
    }


def _quantiles(lost: "Distribution") -> dict[str, float | None]:
    return {
        share: lost.quantile(share) if lost.count else None for share in ("0.5", "0.9", "0.99", "1")
    }
