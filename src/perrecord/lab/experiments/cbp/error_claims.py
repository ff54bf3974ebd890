"""What the paper says of the errors of County Business Patterns, compared with the errors table."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from perrecord.evaluate.accuracy.summaries import FIVE
from perrecord.evaluate.variants import SPLITTING, TOP_CODING
from perrecord.lab.experiments.cbp.data import COUNTS, LEVELS, MEASURES
from perrecord.lab.experiments.cbp.errors import EVERY_LEVEL, Row
from perrecord.lab.experiments.experiment import Claim, Verdict
from perrecord.report.numbers import amount, percent

_SAME = 1e-9
_FAR = 2.0
"""Errors are far smaller when they are less than half as large."""


def counts_alike(rows: Sequence[Row]) -> Claim:
    """Compare the errors of counts from scheme to scheme."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["attribute"] in COUNTS and row["middle"] is not None:
            groups.setdefault((row["budget"], row["level"], row["attribute"]), []).append(row)
    apart = max(
        (_apart([row[name] for row in group]) for group in groups.values() for name in FIVE),
        default=0.0,
    )
    schemes = {row["variant"] for row in rows}
    how = f"differ by up to {percent(apart)}" if apart else "are the same"
    measured = (
        f"The five numbers of every box of ESTAB and FIRM {how} under all {len(schemes)} schemes, "
        f"in {len(groups)} combinations of budget, level and attribute."
    )
    return Claim(
        "The relative errors for counting attributes (ESTAB and FIRM) have the same distribution "
        "for either algorithm, as they are unaffected by establishment splitting.",
        measured,
        "holds" if apart <= _SAME else "does not hold",
    )


def top_coding_fails(rows: Sequence[Row], budget: str) -> Claim:
    """Look for top-coded boxes that have half of their errors below the green line."""
    boxes = _boxes(rows, TOP_CODING)
    above = [row for row in boxes if row["above_5_percent"] > 0.5]
    here = [row for row in boxes if row["budget"] == budget]
    here_above = [row for row in here if row["above_5_percent"] > 0.5]
    best = min(here, key=lambda row: row["middle"])
    verdict: Verdict = "does not hold"
    if len(above) == len(boxes):
        verdict = "holds"
    elif 2 * len(here_above) > len(here):
        verdict = "holds with a condition"
    measured = (
        f"At a total budget of {budget}, {len(here_above)} of {len(here)} boxes of EMP, PAYANN and "
        "PAYQTR1 under top-codes have more than half of their errors above 5 %. The best of them, "
        f"{best['attribute']} of {best['level']} under {best['variant']}, has a median of "
        f"{percent(best['middle'])}. {_by_budget(boxes)}"
    )
    return Claim(
        "For the magnitude attributes (EMP, PAYANN, PAYQTR1) none of the top-coding schemes come "
        "close to providing reasonable AREs: the majority of the box plot masses are above the "
        "green line of 5 %.",
        measured,
        verdict,
    )


def splitting_wins(rows: Sequence[Row], budget: str) -> Claim:
    """Compare every splitting scheme with every top-code, box by box, by their medians."""
    coded: dict[tuple[str, str], list[float]] = {}
    for row in _boxes(rows, TOP_CODING):
        if row["budget"] == budget:
            coded.setdefault((row["level"], row["attribute"]), []).append(row["middle"])
    split = [row for row in _boxes(rows, SPLITTING) if row["budget"] == budget]
    won = total = 0
    ratios: dict[str, list[float]] = {}
    for row in split:
        others = coded[row["level"], row["attribute"]]
        won += sum(row["middle"] < other for other in others)
        total += len(others)
        ratios.setdefault(row["variant"], []).append(min(others) / row["middle"])
    typical = {name: _typical(each) for name, each in ratios.items()}
    verdict: Verdict = "does not hold"
    if won == total and min(typical.values()) >= _FAR:
        verdict = "holds"
    elif 2 * won > total and max(typical.values()) >= _FAR:
        verdict = "holds with a condition"
    listed = ", ".join(f"{amount(each)} times ({name})" for name, each in typical.items())
    near = [name for name, each in typical.items() if each < _FAR]
    measured = (
        f"Box by box, splitting has the smaller median in {won} of {total} comparisons of a "
        "splitting scheme with a top-code. Beside the best top-code of each box errors are "
        f"smaller by {listed}, in the geometric mean{_but(near)}. {_still_above(split)}"
    )
    return Claim(
        "Establishment splitting provides far smaller relative errors, even for more granular "
        "queries at finer NAICS levels.",
        measured,
        verdict,
    )


def errors_grow(
    rows: Sequence[Row], budget: str, of_all_cells: Mapping[str, Sequence[float]]
) -> Claim:
    """Follow the medians of each splitting scheme from level to level.

    `of_all_cells` are medians of expected errors over every cell that the data holds, large or
    small.
    """
    lines: dict[tuple[str, str], dict[str, float]] = {}
    for row in _boxes(rows, SPLITTING):
        if row["budget"] == budget:
            line = lines.setdefault((row["variant"], row["attribute"]), {})
            line[row["level"]] = row["middle"]
    ordered = [
        [line[level] for level in LEVELS.values() if level in line] for line in lines.values()
    ]
    steps = [after > before for each in ordered for before, after in pairwise(each)]
    grown = [each[-1] > each[0] for each in ordered]
    whole = [after > before for each in of_all_cells.values() for before, after in pairwise(each)]
    verdict: Verdict = "does not hold"
    if all(steps):
        verdict = "holds"
    elif all(grown):
        verdict = "holds with a condition"
    factors = ", ".join(
        f"{attribute} {amount(each[-1] / each[0])} times"
        for attribute, each in of_all_cells.items()
    )
    growth = [each[-1] / each[0] for each in ordered]
    in_all = [each[-1] / each[0] for each in of_all_cells.values()]
    is_far = min(in_all, default=0.0) > _FAR * max(growth)
    measured = (
        "In cells that are large enough to be evaluated, the median rises from all industries to "
        f"the finest level in {sum(grown)} of {len(grown)} combinations of scheme and attribute, "
        f"by {amount(min(growth))} to {amount(max(growth))} times, and in {sum(steps)} of "
        f"{len(steps)} single steps: the limit on their size keeps the cells of fine levels from "
        "being small. Over every cell that the data holds the median of expected errors rises in "
        f"{sum(whole)} of {len(whole)} steps{', and far more' if is_far else ''}: {factors}."
    )
    return Claim(
        "The relative errors increase as the NAICS level increases, as expected.", measured, verdict
    )


def _boxes(rows: Sequence[Row], kind: str) -> list[Row]:
    """Return the boxes of magnitudes, level by level."""
    return [
        row
        for row in rows
        if row["kind"] == kind
        and row["attribute"] in MEASURES
        and row["level"] != EVERY_LEVEL
        and row["middle"] is not None
    ]


def _by_budget(boxes: Sequence[Row]) -> str:
    found = []
    for budget in dict.fromkeys(row["budget"] for row in boxes):
        own = [row["above_5_percent"] > 0.5 for row in boxes if row["budget"] == budget]
        found.append(f"{sum(own)} of {len(own)} at {budget}")
    return f"By total budget: {', '.join(found)}."


def _still_above(split: Sequence[Row]) -> str:
    above = [row["variant"] for row in split if row["above_5_percent"] > 0.5]
    if not above:
        return "Under no splitting scheme does a box have half of its errors above 5 %."
    listed = ", ".join(f"{above.count(name)} under {name}" for name in dict.fromkeys(above))
    return f"Yet {len(above)} of {len(split)} boxes have half of their errors above 5 %: {listed}."


def _apart(numbers: Sequence[float]) -> float:
    """Return how far numbers are apart, as a share of the least; errors of 0 have no such share."""
    if max(numbers) == min(numbers):
        return 0.0
    return max(numbers) / min(numbers) - 1 if min(numbers) else math.inf


def _but(near: Sequence[str]) -> str:
    return f": not far smaller under {' and '.join(near)}" if near else ""


def _typical(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
