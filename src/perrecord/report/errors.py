"""Sections on accuracy: how large errors are, where they come from, what small cells suffer."""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from perrecord.evaluate.evaluation import Evaluation
from perrecord.evaluate.variants import AS_WRITTEN, SPLITTING, TOP_CODING
from perrecord.report.charts import Axis, Panels, boxes, curves, points
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.page import Section
from perrecord.report.quantiles import quantile_tables

Row = dict[str, Any]

ERROR = "Expected relative error"


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
        "Relative errors by table, answer and scheme",
        _best(found),
        "Each box is about the cells of one table and answer: half of them err by what the box "
        "spans, the line in it is the median, the whiskers reach from 5 % to 95 % of the cells. "
        "Errors are expected ones, bias included. The dashed lines stand at 5 % (green) and 20 % "
        "(red). Cells whose true number is 0 have no relative error and are left out.",
        lambda width: boxes(
            errors, width, x="variant", colour="kind", y_title=ERROR, panels=panels
        ),
        errors,
        (_table_of_errors(found),),
    )
    return Section(
        "How large are the errors?",
        _own_errors(found),
        text=_what_quantiles_are(found),
        figures=(figure,),
        tables=(*quantile_tables(found), _drawn(found)),
    )


def bias_and_noise(found: Evaluation) -> Section | None:
    """Return the section that sets bias apart from noise, if anything is cut off."""
    rows = [row for row in found.parts.to_pylist() if row["part"] == "bias" and row["high"]]
    if not rows:
        return None
    worst = max(rows, key=lambda row: row["middle"] or 0)
    finding = (
        f"Top-coding takes {percent(worst['middle'])} off the median cell of {_of(worst)} under "
        f"{worst['variant']!r}, and no budget brings it back. Splitting has no bias at all."
    )
    panels, parts = panels_of(found), found.parts
    figure = Figure(
        "bias-and-noise",
        "Noise and bias, each by itself",
        finding,
        "Where there is no box for the bias there is none. Noise falls as the budget grows; bias "
        "stays.",
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
    rows = [
        {**row, "from": float(row["size"].split()[0])}
        for row in found.by_size.to_pylist()
        if row["size"] != "0"
    ]
    known = [row for row in rows if row["median_relative_error"] is not None]
    if not known:
        return None
    table = pa.Table.from_pylist(rows)
    within = [name for name in table.column_names if name.startswith("within_")]
    shown = ShownTable(
        f"Cells by how many records they have, at {percent(float(found.confidence))} confidence",
        ("table", "answer", "records", "cells", "zeros", "median error", *map(_limit, within)),
        tuple(
            (
                row["table"],
                row["answer"],
                row["size"],
                amount(row["cells"]),
                amount(row["zeros"]),
                percent(row["median_relative_error"]),
                *(percent(row[name]) for name in within),
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
        "median, over such cells, of the error that is kept with a probability of "
        f"{percent(float(found.confidence))} (QueryRelErr, bias included).",
        lambda width: curves(
            table,
            width,
            x=Axis("from", "Records in a cell, from"),
            y=Axis("median_relative_error", "Median relative error", "percent"),
            colour="answer",
            panels=panels,
            with_points=True,
        ),
        table,
        (shown,),
    )
    return Section("What do small cells suffer?", figures=(figure,))


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
    moving = [row for row in rows if len({r["error"] for r in rows if _of(r) == _of(row)}) > 1]
    if not moving:
        return None
    table, panels = pa.Table.from_pylist(moving), panels_of(found)
    figure = Figure(
        "privacy-against-error",
        "Privacy against error",
        _price(moving, lost),
        "Each point is a way to ask the same questions. Its loss is what 99 % of the records do "
        "not exceed, for the whole workload; its error is that of the median cell. Further to the "
        "left is more private, further down more accurate: a point above and to the right of "
        "another is beaten by it. Answers that no scheme changes are left out.",
        lambda width: points(
            table,
            width,
            x=Axis("loss", f"Loss at 99 % of records ({found.currency.value})"),
            y=Axis("error", "Median relative error", "percent"),
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
        return f"As written, the median cell of {_of(most)} errs by {percent(most['middle'])}."
    return (
        f"As written, the median cell errs by {percent(least['middle'])} in {_of(least)} and by "
        f"{percent(most['middle'])} in {_of(most)}."
    )


def _best(found: Evaluation) -> str:
    """Return how often splitting errs less than top-coding at the same thresholds."""
    rows = {(r["variant"], r["table"], r["answer"]): r["middle"] for r in _known(found.errors)}
    pairs = [
        (middle, rows[f"top-code {name}", table, answer])
        for (name, table, answer), middle in rows.items()
        if (f"top-code {name}", table, answer) in rows
        and rows[f"top-code {name}", table, answer] != middle
    ]
    kinds = {each.kind for each in found.variants}
    if not pairs or not {SPLITTING, TOP_CODING} <= kinds:
        return _own_errors(found)
    better = sum(split < coded for split, coded in pairs)
    return (
        f"At the same thresholds and budget, splitting errs less than top-coding in {better} of "
        f"{len(pairs)} comparisons of medians."
    )


def _price(rows: Sequence[Row], lost: dict[str, float]) -> str:
    """Return what it costs to go from the smallest loss to the smallest error."""
    errors: dict[str, list[float]] = {}
    for row in rows:
        errors.setdefault(row["variant"], []).append(math.log(max(row["error"], 1e-12)))
    typical = {name: math.exp(sum(each) / len(each)) for name, each in errors.items()}
    private = min(typical, key=lambda name: (lost[name], typical[name]))
    accurate = min(typical, key=lambda name: (typical[name], lost[name]))
    if not lost[private]:
        return f"Under {private!r}, 99 % of the records lose nothing."
    if private == accurate:
        return f"{private!r} costs 99 % of the records least, and errs least."
    return (
        f"From {private!r}, which costs 99 % of the records least, to {accurate!r}, which errs "
        f"least, the loss grows {amount(lost[accurate] / lost[private])} times and the error of a "
        f"typical answer falls {amount(typical[private] / typical[accurate])} times."
    )


def _small_and_large(rows: Sequence[Row]) -> str:
    steepest: tuple[float, Row, Row] | None = None
    for key in dict.fromkeys((row["table"], row["answer"]) for row in rows):
        own = [row for row in rows if (row["table"], row["answer"]) == key]
        small, large = own[0], own[-1]
        ratio = small["median_relative_error"] / max(large["median_relative_error"], 1e-12)
        if small is not large and (steepest is None or ratio > steepest[0]):
            steepest = ratio, small, large
    if steepest is None:
        return "The cells of each answer lie in one class of size."
    _, small, large = steepest
    return (
        f"Errors hang on the size of a cell: of {_of(small)}, cells of {small['size']} records err "
        f"by {percent(small['median_relative_error'])}, cells of {large['size']} by "
        f"{percent(large['median_relative_error'])}."
    )


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
    within = [name for name in found.errors.column_names if name.startswith("within_")]
    return ShownTable(
        f"Errors over cells; the last columns are shares of cells within an error at "
        f"{percent(float(found.confidence))} confidence",
        ("variant", "table", "answer", "cells", "zeros", "median", "95 %", *map(_limit, within)),
        tuple(
            (
                row["variant"],
                row["table"],
                row["answer"],
                amount(row["cells"]),
                amount(row["zeros"]),
                percent(row["middle"]),
                percent(row["high"]),
                *(percent(row[name]) for name in within),
            )
            for row in rows
        ),
    )


def _drawn(found: Evaluation) -> ShownTable:
    return ShownTable(
        "A check: the median error as it is expected, and how large drawn errors were beside "
        "expected ones, on average over cells",
        ("table", "answer", "expected", "drawn / expected"),
        tuple(
            (row["table"], row["answer"], percent(row["expected"]), amount(row["ratio"]))
            for row in found.drawn.to_pylist()
        ),
    )


def _limit(name: str) -> str:
    """Return the heading of a share of cells: `within_5_percent` is ≤ 5 %."""
    return f"≤ {name.removeprefix('within_').removesuffix('_percent')} %"


def _known(table: pa.Table) -> list[Row]:
    return [row for row in table.to_pylist() if row["middle"] is not None]


def _labels(row: Row) -> Row:
    return {name: row[name] for name in ("variant", "kind", "table", "answer")}


def _of(row: Row) -> str:
    return f"{row['table']}.{row['answer']}"
