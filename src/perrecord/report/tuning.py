"""The report of a tuning: what was found, what it costs, and the frontier that it lies on."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from perrecord.evaluate.coverage import Coverage
from perrecord.evaluate.tuning.candidates import WRITTEN
from perrecord.evaluate.tuning.frontier import TUNED
from perrecord.evaluate.tuning.tune import Tuning, shown_amounts, shown_goal
from perrecord.report.charts import Axis, Panels, curves
from perrecord.report.coverage import outside_keys
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, amount_down, percent
from perrecord.report.page import Page, Section

NOT_PRIVATE = (
    "The amounts and thresholds were chosen by looking at the true numbers. That is not itself "
    "private: a release whose spec was tuned on the confidential data says more than its policy. "
    "Tune on public, prior or synthetic data of the same shape (--source prior.parquet --public), "
    "and release the confidential data with what was found there."
)


LEAST_POSSIBLE = (
    "The least possible is what no unbiased answers as accurate as the tuned ones could "
    "undercut, whatever noise they had: for every record, the largest over its counts and "
    "totals. Small records come close to it with Gaussian noise, large ones with tapers."
)


def tuning_page(
    found: Tuning,
    title: str,
    *,
    is_public: bool,
    made: str = "",
    covered: Sequence[Coverage] = (),
) -> Page:
    """Return the report of a tuning."""
    lead = () if is_public else (NOT_PRIVATE,)
    sections = (
        outside_keys(covered),
        _amounts(found),
        _losses(found),
        _frontier(found),
        _ways(found),
    )
    kept = tuple(each for each in sections if each is not None)
    findings = tuple(each.finding or each.figures[0].finding for each in kept)
    return Page(f"Tuning: {title}", lead, findings, kept, made)


def _amounts(found: Tuning) -> Section:
    rows = tuple(
        (
            each.table,
            each.before.name,
            shown_goal(each),
            shown_amounts(each.before),
            shown_amounts(each.after),
            amount(each.cells - each.zeros),
            percent(each.met_before),
            percent(each.met_after),
        )
        for each in found.answers
    )
    finding = "No answer has a goal and a number other than 0; everything stays."
    if found.answers:
        before = sum(each.is_met_before for each in found.answers)
        after = sum(each.is_met_after for each in found.answers)
        finding = (
            f"As written, {before} of {len(found.answers)} answers reach what is aimed at; tuned, "
            f"{after} do."
        )
    heads = ("table", "answer", "goal", "rho", "tuned rho", "cells", "met before", "met now")
    text: tuple[str, ...] = ()
    if found.untouched:
        text = (
            "Unchanged, because they have no goal (blurred answers, and those that decide "
            "which cells are published, need one by name), or because all of their numbers are "
            f"0: {', '.join(found.untouched)}.",
        )
    return Section(
        "What changes?", finding, text=text, tables=(ShownTable("Amounts", heads, rows),)
    )


def _losses(found: Tuning) -> Section:
    rows = tuple(
        (name, amount(before), amount(after), amount_down(least))
        for name, before, after, least in found.losses
    )
    at = next((row for row in found.losses if row[0] == found.judged_by), found.losses[-1])
    finding = f"{at[0][0].upper()}{at[0][1:]} goes from {amount(at[1])} to {amount(at[2])} rho."
    heads = ("", "as written", "tuned", "least possible")
    return Section(
        "What does it cost?",
        finding,
        text=(LEAST_POSSIBLE,),
        tables=(ShownTable("Losses in rho", heads, rows),),
    )


def _frontier(found: Tuning) -> Section | None:
    if not found.frontier.num_rows:
        return None
    errors = {each.within for each in found.answers}
    scale = float(errors.pop()) if len(errors) == 1 else None
    times = found.frontier["times"].to_pylist()
    column = pa.array([each if scale is None else each * scale for each in times], pa.float64())
    table = _with_least(found.frontier.append_column("error", column))
    x = (
        Axis("error", "Errors, as a multiple of those aimed at")
        if scale is None
        else Axis("error", "Error that the cells come within", "percent")
    )
    names = list(dict.fromkeys(table["of"].to_pylist()))
    figure = Figure(
        "frontier",
        "Privacy against error",
        _other_errors(found),
        "Each line is the least loss with which every answer reaches what is aimed at, when all "
        "errors are multiplied by the same number: as tuned, as written, and by the best split and "
        "clamp of those that were tried, and by tapers with nu = 7 and nu = 3. Further down and to "
        "the left is better. Clamped totals are too low in the cells that their goals do not "
        "reach. The least possible is that of answers as accurate as the tuned ones.",
        lambda width: curves(
            table,
            width,
            x=x,
            y=Axis("loss", "Loss (rho)"),
            colour="policy",
            panels=Panels(column="of", orders={"of": names}),
            with_points=True,
        ),
        table,
    )
    return Section("What would other errors cost?", figures=(figure,))


def _with_least(frontier: pa.Table) -> pa.Table:
    """Return the frontier with one more line: the least possible loss as tuned (T30)."""
    tuned = frontier.filter(pc.equal(frontier["policy"], TUNED))
    least = tuned.set_column(tuned.column_names.index("loss"), "loss", tuned["least"]).set_column(
        0, "policy", pa.array(["least possible"] * tuned.num_rows, pa.string())
    )
    return pa.concat_tables([frontier, least])


def _other_errors(found: Tuning) -> str:
    """Return what half and twice the errors would cost."""
    rows = [row for row in found.frontier.to_pylist() if row["policy"] == TUNED]
    of = found.judged_by if found.judged_by in {row["of"] for row in rows} else rows[0]["of"]
    at = {row["times"]: row["loss"] for row in rows if row["of"] == of}
    half = f"would take {of} to {amount(at[0.5])} rho" if 0.5 in at else "are out of reach"
    return (
        f"As tuned, {of} is {amount(at[1])} rho. Half the errors {half}; twice the errors bring it "
        f"to {amount(at[2])}."
    )


def _ways(found: Tuning) -> Section | None:
    if len(found.choices) < 2:
        return None
    rows = tuple((each.name, amount(size, 4)) for each, size in found.choices)
    best, size = found.choices[0]
    written = next(value for each, value in found.choices if each == WRITTEN)
    finding = (
        f"Of {len(found.choices)} ways, {best.name!r} is the best that may be chosen, by "
        f"{found.judged_by}: "
        f"{amount(size)}, compared with {amount(written)} as written."
    )
    return Section(
        "Which ways were tried?",
        finding,
        text=(
            "Every way gets the amounts that reach the goals; where none do, it is infinite. At "
            "the same noise, a total that is split by its own measure alone does not pay for the "
            "others, and then finer thresholds charge a record closer to what it really is: both "
            "come close to exact accounting, under which thresholds make no difference "
            "(accounting: exact). Tapered noise costs large records the logarithm of their size. "
            "For comparison, and never chosen, there are clamps, whose totals are too low, and "
            "tapers with nu = 3, whose noise has more numbers far out than the goal says. If you "
            "want those, write a taper with nu = 3 into the spec.",
        ),
        tables=(ShownTable("Ways", ("way", found.judged_by), rows),),
    )
