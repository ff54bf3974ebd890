"""Sections on accuracy: how large errors are, where they come from, what small cells suffer."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from perrecord.evaluate.accuracy.within import within_column
from perrecord.evaluate.evaluation import Evaluation
from perrecord.evaluate.losses.distributions import AGREEMENT
from perrecord.evaluate.variants import AS_WRITTEN, SPLITTING, TOP_CODING
from perrecord.exact import text
from perrecord.report.charts import Axis, Panels, boxes, curves, points
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.page import Section
from perrecord.report.quantiles import quantile_tables

Row = dict[str, Any]

ERROR = "Expected error"
DEFINITION = (
    "Errors are expected ones throughout: how far a released number lies from the true one on "
    "average over the noise, the bias of clamping included, as a share of the true number. Only "
    "shares of cells within a limit ask for more: that a cell's error stays below the limit with "
    "a probability of {confidence}."
)
"""What an error is, in this report and in everything that it says."""

_LEAST_SHOWN = 1e-4
"""Smaller errors stretch no axis."""


def panels_of(found: Evaluation) -> Panels:
    """Return a panel for each answer, and a row of them for each table."""
    tables = {row["table"] for row in found.errors.to_pylist()}
    names = [each.name for each in found.variants]
    kinds = list(dict.fromkeys(each.kind for each in found.variants))
    orders = {"variant": names, "kind": kinds, "part": ["noise", "bias"]}
    return Panels(column="answer", row="table" if len(tables) > 1 else None, orders=orders)


def sizes_of_errors(found: Evaluation) -> Section:
    """Return the section on how large errors are, scheme by scheme."""
    panels, errors = panels_of(found), found.errors
    figure = Figure(
        "errors",
        "Expected errors by table, answer and scheme",
        _best(found),
        "Each box is about the cells of one table and answer: the expected errors of half of them "
        "lie in the box, the line in it is the median, the whiskers reach from 5 % to 95 % of the "
        "cells. The dashed lines stand at 5 % (green) and 20 % "
        "(red). Cells whose true number is 0 have no relative error and are left out."
        + _below_the_axis(found),
        lambda width: boxes(
            errors,
            width,
            x="variant",
            colour="kind",
            y_title=ERROR,
            panels=panels,
            least=_LEAST_SHOWN,
        ),
        errors,
        (_table_of_errors(found),),
    )
    return Section(
        "How large are the errors?",
        _own_errors(found),
        text=(*_what_quantiles_are(found), *_what_blurred_totals_show(found)),
        figures=(figure,),
        tables=(*quantile_tables(found), _drawn(found)),
    )


def bias_and_noise(found: Evaluation) -> Section | None:
    """Return the section that sets bias apart from noise, if any cell is biased."""
    rows = [row for row in found.parts.to_pylist() if row["raised"] is not None]
    if not rows:
        return None
    finding = _bias(max(rows, key=lambda row: (row["middle"], row["high"])))
    panels, parts = panels_of(found), found.parts
    figure = Figure(
        "bias-and-noise",
        "Noise and bias, each by itself",
        finding,
        "Where no box is drawn for the bias, there is none. Noise falls as the budget grows; "
        "bias stays.",
        lambda width: boxes(
            parts,
            width,
            x="variant",
            colour="part",
            y_title="Share of the true number",
            panels=panels,
            side_by_side=True,
        ),
        parts,
    )
    return Section("What is noise, what is bias?", figures=(figure,))


def by_cell_size(found: Evaluation) -> Section | None:
    """Return the section on small cells and large ones."""
    rows = [row for row in found.by_size.to_pylist() if row["from"]]
    known = [row for row in rows if row["median_expected_error"] is not None]
    if not known:
        return None
    table = pa.Table.from_pylist(rows)
    shown = ShownTable(
        f"Expected errors by how many records a cell has; {_last_columns(found)}",
        ("table", "answer", "records", "cells", "zeros", "median cell", *map(_limit, found.limits)),
        tuple(
            (
                row["table"],
                row["answer"],
                row["size"],
                amount(row["cells"]),
                amount(row["zeros"]),
                percent(row["median_expected_error"]),
                *(percent(row[within_column(limit)]) for limit in found.limits),
            )
            for row in rows
        ),
    )
    panels = Panels(column="table", orders=panels_of(found).orders)
    figure = Figure(
        "errors-by-cell-size",
        "Errors of small cells and large ones",
        _small_and_large(known),
        "Cells are sorted by how many records they hold: from 1, 10, 100, 1,000. Each point is the "
        "expected error of the median among such cells.",
        lambda width: curves(
            table,
            width,
            x=Axis("from", "Records in a cell, from"),
            y=Axis("median_expected_error", f"{ERROR} of the median cell", "percent"),
            colour="answer",
            panels=panels,
            with_points=True,
        ),
        table,
        (shown,),
    )
    return Section("How accurate are small cells?", figures=(figure,))


def privacy_against_error(found: Evaluation) -> Section | None:
    """Return the section that holds the losses of all variants against their errors."""
    if len(found.variants) < 2 or not found.records:
        return None
    lost = {
        variant.name: compared.quantile("0.99")
        for variant, compared in zip(found.variants, found.compared, strict=True)
    }
    rows = [
        {**_labels(row), "loss": lost[row["variant"]], "error": row["middle"]}
        for row in _known(found.errors)
    ]
    errors: dict[str, list[float]] = {}
    for row in rows:
        errors.setdefault(_of(row), []).append(row["error"])
    moving = [row for row in rows if not _are_alike(min(errors[_of(row)]), max(errors[_of(row)]))]
    if not moving:
        return None
    table, panels = pa.Table.from_pylist(moving), panels_of(found)
    figure = Figure(
        "privacy-against-error",
        "Privacy against error",
        _price(moving, lost),
        "Each point is a way to ask the same questions. Its loss is what 99 % of the records do "
        "not exceed, for the whole workload; its error is the expected one of the median cell. "
        "Further to the left is more private, further down more accurate: a point above and to the "
        "right of another is beaten by it. Answers that no scheme changes are left out.",
        lambda width: points(
            table,
            width,
            x=Axis("loss", f"Loss at 99 % of records ({found.currency.value})"),
            y=Axis("error", f"{ERROR} of the median cell", "percent"),
            colour="variant",
            panels=panels,
        ),
        table,
    )
    return Section("What does accuracy cost?", figures=(figure,))


# -- findings ---------------------------------------------------------------------------------


def _own_errors(found: Evaluation) -> str:
    own = [r for r in _known(found.errors) if r["variant"] == AS_WRITTEN]
    if not found.errors.num_rows:
        return "Nothing is asked for, so there are no errors."
    if not own:
        return "No cell has a true number other than 0, so there are no relative errors."
    least, most = (pick(own, key=lambda row: row["middle"]) for pick in (min, max))
    if least is most:
        return (
            f"As written, the expected error of the median cell is {percent(most['middle'])} in "
            f"{_of(most)}."
        )
    return (
        f"As written, the expected error of the median cell lies between "
        f"{percent(least['middle'])} in {_of(least)} and {percent(most['middle'])} in {_of(most)}."
    )


def _best(found: Evaluation) -> str:
    """Return how often splitting errs less than top-coding at the same thresholds."""
    rows = {(r["variant"], r["table"], r["answer"]): r["middle"] for r in _known(found.errors)}
    pairs = [
        (middle, rows[f"top-code {name}", table, answer])
        for (name, table, answer), middle in rows.items()
        if (f"top-code {name}", table, answer) in rows
        and not _are_alike(rows[f"top-code {name}", table, answer], middle)
    ]
    kinds = {each.kind for each in found.variants}
    if not pairs or not {SPLITTING, TOP_CODING} <= kinds:
        return _own_errors(found)
    better = sum(split < coded for split, coded in pairs)
    return (
        f"At the same thresholds and budget, the expected error of the median cell is smaller by "
        f"splitting than by top-coding in {better} of {len(pairs)} comparisons."
    )


def _price(rows: Sequence[Row], lost: dict[str, float]) -> str:
    """Return what it costs to go from the smallest loss to the smallest error."""
    errors: dict[str, list[float]] = {}
    for row in rows:
        errors.setdefault(row["variant"], []).append(math.log(max(row["error"], 1e-12)))
    typical = {name: math.exp(sum(each) / len(each)) for name, each in errors.items()}
    private, accurate = _least(lost, typical), _least(typical, lost)
    if not lost[private]:
        return f"Under {private!r}, 99 % of the records lose nothing."
    if private == accurate:
        return f"{private!r} costs 99 % of the records least, and its expected errors are smallest."
    return (
        f"From {private!r}, which costs 99 % of the records least, to {accurate!r}, whose expected "
        f"errors are smallest, the loss grows by a factor of "
        f"{amount(lost[accurate] / lost[private])} and the expected error of the median cell falls "
        f"by a factor of {amount(typical[private] / typical[accurate])}, on average over answers."
    )


def _small_and_large(rows: Sequence[Row]) -> str:
    steepest: tuple[float, Row, Row] | None = None
    for key in dict.fromkeys((row["table"], row["answer"]) for row in rows):
        own = [row for row in rows if (row["table"], row["answer"]) == key]
        small, large = own[0], own[-1]
        ratio = small["median_expected_error"] / max(large["median_expected_error"], 1e-12)
        if small is not large and (steepest is None or ratio > steepest[0]):
            steepest = ratio, small, large
    if steepest is None:
        return "The cells of each answer lie in one class of size."
    _, small, large = steepest
    return (
        f"Errors depend on the size of a cell: in {_of(small)}, the expected error of the median "
        f"cell is {percent(small['median_expected_error'])} among cells of {small['size']} records "
        f"and {percent(large['median_expected_error'])} among cells of {large['size']}."
    )


def _bias(row: Row) -> str:
    """Return what clamping does to the cells of one answer, and in which direction."""
    by = percent(row["middle"]) if row["middle"] else f"at least {percent(row['high'])}"
    cell = "the median cell" if row["middle"] else "one cell in twenty"
    does = {0: f"takes {by} off {cell}", 1: f"adds {by} to {cell}"}.get(
        row["raised"], f"shifts {cell}, up or down, by {by}"
    )
    if not row["high"]:
        does = "shifts fewer than one cell in twenty"
    return (
        f"Under {row['variant']!r}, clamping {does} of {_of(row)}, and no budget changes that. "
        "Splitting has no bias."
    )


def _what_blurred_totals_show(found: Evaluation) -> tuple[str, ...]:
    if not any(each.is_blurred for query in found.variants[0].queries for each in query.answers):
        return ()
    return (
        "The noise of a blurred total is confidential, and is known here from the data: these are "
        "its errors as they are. Readers of the release see no standard error of it. Unless values "
        "may be negative, they get an interval (columns that end in _low and _high) and a bound on "
        "the standard deviation (_sd_at_most), both from the noisy number and the policy alone, so "
        "that they are wider than the errors here; both are empty where there is no bound. A "
        "status goes by the bound.",
    )


def _below_the_axis(found: Evaluation) -> str:
    """Return where errors stand that the axis does not reach, such as of a median all but sure."""
    if all(row["low"] >= _LEAST_SHOWN for row in _known(found.errors)):
        return ""
    return " Errors too small for the axis stand at its lower edge."


def _what_quantiles_are(found: Evaluation) -> tuple[str, ...]:
    if not found.quantiles.num_rows:
        return ()
    return (
        "A median or quantile is one of its candidates, each with a chance that is known exactly; "
        "its error is how far it lies from the nearest quantile of the true values.",
    )


# -- tables -----------------------------------------------------------------------------------


def _table_of_errors(found: Evaluation) -> ShownTable:
    rows = found.errors.to_pylist()
    return ShownTable(
        f"Expected errors of cells; {_last_columns(found)}",
        (
            *("variant", "table", "answer", "cells", "zeros", "median cell"),
            *("95 % of cells up to", *map(_limit, found.limits)),
        ),
        tuple(
            (
                row["variant"],
                row["table"],
                row["answer"],
                amount(row["cells"]),
                amount(row["zeros"]),
                percent(row["middle"]),
                percent(row["high"]),
                *(percent(row[within_column(limit)]) for limit in found.limits),
            )
            for row in rows
        ),
    )


def _drawn(found: Evaluation) -> ShownTable:
    return ShownTable(
        "A check: the expected error of the median cell, and how large drawn errors were beside "
        "expected ones, on average over cells",
        ("table", "answer", "median cell", "drawn / expected"),
        tuple(
            (row["table"], row["answer"], percent(row["expected"]), amount(row["ratio"]))
            for row in found.drawn.to_pylist()
        ),
    )


def _last_columns(found: Evaluation) -> str:
    return (
        "the last columns are the shares of cells whose error stays below a limit with a "
        f"probability of {percent(float(found.confidence))}"
    )


def _limit(limit: Fraction) -> str:
    """Return the heading of the share of cells within a limit."""
    return f"< {text(100 * limit)} %"


def _known(table: pa.Table) -> list[Row]:
    return [row for row in table.to_pylist() if row["middle"] is not None]


def _labels(row: Row) -> Row:
    return {name: row[name] for name in ("variant", "kind", "table", "answer")}


def _of(row: Row) -> str:
    return f"{row['table']}.{row['answer']}"


def _least(by: Mapping[str, float], then: Mapping[str, float]) -> str:
    """Return whose number is least; of those that are alike, whose other number is, and the first.

    The last digits of floats decide nothing.
    """
    alike = list(by)
    for numbers in (by, then):
        least = min(numbers[name] for name in alike)
        alike = [name for name in alike if _are_alike(numbers[name], least)]
    return alike[0]


def _are_alike(one: float, other: float) -> bool:
    """Tell whether two errors are the same, the last digits of floats apart."""
    return math.isclose(one, other, rel_tol=AGREEMENT)
