"""Figures of `perrecord evaluate`, as JSON, in its sentences and in the report's tables."""

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.shown import report
from perrecord.lab.audit.shown.cell_errors import at_share
from perrecord.lab.audit.shown.document import Json, Row
from perrecord.lab.audit.shown.evaluated_words import percent
from perrecord.lab.audit.shown.evaluation import (
    WITHIN,
    ExpectedEvaluation,
    changes_by_size,
)
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import AtLeast, Expected, Near, numerals

_SHARES = ("0.5", "0.9", "0.99", "0.999", "1")
_TOLERANCE = 1e-6


def check_json(
    findings: Comparisons,
    evaluation: ExpectedEvaluation,
    examples: Mapping[str, Row],
    document: Json,
    found: Json,
) -> None:
    """Compare `perrecord evaluate --json`."""
    expected = list(changes_by_size(evaluation, examples, document))
    _rows(findings, "evaluate: changes", found["changes"], expected)
    findings.equal("evaluate: records", found["records"], len(evaluation.records))
    _rows(findings, "evaluate: errors", found["errors"], evaluation.rows)
    _rows(findings, "evaluate: quantiles", found["quantiles"], evaluation.quantiles)
    check_coverage(findings, "evaluate: keys", evaluation, found["keys"])
    shares = ("0.5", "0.9", "0.99", "1")
    lost = [
        {"variant": each.name, **{share: each.lost(share) for share in shares}}
        for each in evaluation.variants
    ]
    shown = [dict(each) for each in found["losses"]]
    lowest = [each.pop("least_possible") for each in shown]
    _rows(findings, "evaluate: losses", shown, lost)
    if evaluation.currency == "rho":
        wanted = [
            {share: at_share(each.least, Fraction(share)) for share in shares}
            for each in evaluation.variants
        ]
        _rows(findings, "evaluate: least losses", lowest, wanted)
    else:
        findings.equal("evaluate: least losses, rows", lowest, [None] * len(lost))
    findings.close("evaluate: above the minimum", found["share_above_minimum"],
                   evaluation.share_above)  # fmt: skip
    _check_units(findings, evaluation, found["units"])


def _check_units(findings: Comparisons, evaluation: ExpectedEvaluation, found: Json) -> None:
    """Compare what units lose, really and by each bound of T7, and the least possible."""
    units = evaluation.units
    findings.equal("evaluate: units", found["count"], len(units.realised))
    lost = {
        "realised": units.realised,
        "tight": units.tight,
        "advanced": units.advanced,
        "simple": units.simple,
    }
    if evaluation.currency == "rho":
        lost["least_possible"] = units.least
    else:
        findings.equal("evaluate: least losses of units", found["least_possible"], None)
    shares = ("0.5", "0.9", "0.99", "1")
    for name, losses in lost.items():
        expected = {share: at_share(losses, Fraction(share)) for share in shares}
        _rows(findings, "evaluate: losses of units", [found[name]], [expected])


def check_coverage(
    findings: Comparisons, what: str, evaluation: ExpectedEvaluation, found: Sequence[Json]
) -> None:
    """Compare how many records have no declared key."""
    plain = [
        {name: value for name, value in row.items() if name not in ("outside_shares",)}
        for row in found
    ]
    expected = [
        {
            name: value
            for name, value in row.items()
            if name not in ("outside_shares", "is_declared")
        }
        for row in evaluation.coverage
    ]
    findings.equal(what, plain, expected)
    for shown, row in zip(found, evaluation.coverage, strict=False):
        _rows(findings, what, [shown["outside_shares"]], [row["outside_shares"]])


def _rows(
    findings: Comparisons, what: str, shown: Sequence[Json], expected: Sequence[Json]
) -> None:
    """Compare rows of texts, whole numbers and floats."""
    findings.equal(f"{what}, rows", len(shown), len(expected))
    for one, wanted in zip(shown, expected, strict=False):
        findings.equal(f"{what}, columns", list(one), list(wanted))
        for name in one.keys() & wanted.keys():
            if isinstance(wanted[name], float):
                findings.close(f"{what}: {name}", one[name], wanted[name], _TOLERANCE)
            else:
                findings.equal(f"{what}: {name}", one[name], wanted[name])


# -- sentences --------------------------------------------------------------------------------


_WITHOUT_NUMBERS = (
    "The cells of each answer lie in one class of size.",
    "No cell has a true number other than 0",
    "As written, the loss does not depend on the size of a record.",
)
_NOT_RECOMPUTED = ("would lose up to", "out of reach whatever the rho", "and its expected errors")


def check_words(
    findings: Comparisons, expected: Mapping[str, Sequence[Expected]], text: str
) -> None:
    """Compare the sentences that `perrecord evaluate` prints."""
    told = [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]
    check_sentences(findings, expected, told)


def check_sentences(
    findings: Comparisons, expected: Mapping[str, Sequence[Expected]], told: Sequence[str]
) -> None:
    """Compare the numbers of the sentences of a report."""
    for sentence in told:
        plain = sentence.replace("\N{NO-BREAK SPACE}", " ")
        if any(each in plain for each in (*_WITHOUT_NUMBERS, *_NOT_RECOMPUTED)):
            continue
        starts = [start for start in expected if start in plain]
        if not starts:
            findings.add("evaluate in words", agrees=False, shown=plain, expected="a known one")
            continue
        findings.numerals(f"evaluate in words: {starts[0]} ...", plain, expected[starts[0]])


# -- the report -------------------------------------------------------------------------------


def check_report(
    findings: Comparisons,
    evaluation: ExpectedEvaluation,
    expected: Mapping[str, Sequence[Expected]],
    html: str,
) -> None:
    """Compare the sentences and the tables of report.html."""
    found = report.read(html)
    units = len(evaluation.units.realised)
    lead: list[Expected] = [len(evaluation.records), units]
    if len(evaluation.variants) > 1:
        lead.append(len(evaluation.variants) - 1)
    findings.numerals("report of evaluate: lead", " ".join(found.lead), [*lead, "95"])
    check_sentences(findings, expected, found.findings)
    for table in found.tables:
        wanted = _table(evaluation, table.caption, table.rows)
        if wanted is None:
            continue
        what = f"report of evaluate: {re.split('[;:]', table.caption, maxsplit=1)[0]}"
        findings.equal(f"{what}, rows", len(table.rows), len(wanted))
        for row, cells in zip(table.rows, wanted, strict=False):
            findings.numerals(what, " | ".join(row), cells)


def _table(
    evaluation: ExpectedEvaluation, caption: str, rows: Sequence[Sequence[str]]
) -> list[list[Expected]] | None:
    """Return the numbers of every row of a table; None of tables that are not recomputed."""
    match re.split("[;:]", caption, maxsplit=1)[0]:
        case "Expected errors of cells":
            return [_error_cells(row) for row in evaluation.rows]
        case "Expected errors by how many records a cell has":
            return [_size_cells(row) for row in evaluation.by_size if row["size"] != "0"]
        case "Medians and quantiles in units, cells whose true quantile is 0 included":
            return [_quantile_cells(row) for row in evaluation.quantiles]
        case "A check":
            own = _own_rows(evaluation)
            return [[*_shown(row["middle"], 100), *[None] * _drawn(cells)] for row, cells in
                    zip(own, rows, strict=False)]  # fmt: skip
        case "Records outside the declared keys":
            return [outside_cells(row) for row in evaluation.coverage if row["outside"]]
        case "Least possible losses in rho":
            every = {each.name: each.least for each in evaluation.variants}
            return [[*numerals(row[0]), *_shares_down(every[row[0]])] for row in rows]
        case "Losses in rho" | "Losses in epsilon":
            return [_loss_cells(evaluation, row[0], rows) for row in rows]
        case _:
            return None


def _own_rows(evaluation: ExpectedEvaluation) -> list[Json]:
    quantiles = {(row["table"], row["answer"]) for row in evaluation.quantiles}
    return [
        row
        for row in evaluation.rows
        if row["variant"] == evaluation.written.name
        and (row["table"], row["answer"]) not in quantiles
    ]


def _drawn(cells: Sequence[str]) -> int:
    """Return how many numbers the drawn ratio shows: noise was drawn for it, nobody knows which."""
    return len(numerals(cells[-1]))


def _shown(value: float | None, factor: float = 1) -> list[Expected]:
    """Return a number as a cell shows it; what is not known is a dash."""
    return [] if value is None else [Near(factor * value)]


def _error_cells(row: Json) -> list[Expected]:
    names = ("middle", "high", *WITHIN)
    shares = [each for name in names for each in _shown(row[name], 100)]
    return [*numerals(row["variant"]), row["cells"], row["zeros"], *shares]


def _size_cells(row: Json) -> list[Expected]:
    shares = [each for name in WITHIN for each in _shown(row[name], 100)]
    middle = _shown(row["median_expected_error"], 100)
    return [*numerals(row["size"]), row["cells"], row["zeros"], *middle, *shares]


def _quantile_cells(row: Json) -> list[Expected]:
    names = ("median_expected_error", "median_reach", "median_without_noise")
    whole = [row[name] for name in ("candidates", "cells", "without_values")]
    chance = _shown(row["chance_of_a_quantile"], 100)
    rest = [each for name in names for each in _shown(row[name])]
    return [*numerals(row["variant"]), *whole, *chance, *rest]


def outside_cells(row: Json) -> list[Expected]:
    """Return the numbers of a row about the records without a declared key."""
    whole = [row["records"], row["outside"], row["outside_keys"]]
    shares = [percent(share) for share in row["outside_shares"].values()]
    return [*whole, percent(row["outside"] / row["records"]), *shares]


def _loss_cells(
    evaluation: ExpectedEvaluation, name: str, rows: Sequence[Sequence[str]]
) -> list[Expected]:
    is_of_units = any(row[0] == "simple bound" for row in rows)
    if name == "least possible":
        return _shares_down(evaluation.units.least if is_of_units else evaluation.written.least)
    losses = _losses(evaluation, name, is_of_units=is_of_units)
    shown = [at_share(losses, Fraction(share)) for share in _SHARES]
    return [*numerals(name), *(each for value in shown for each in _shown(value))]


def _shares_down(losses: Sequence[float]) -> list[Expected]:
    """Return lower bounds as a table shows them: rounded down."""
    shown = [at_share(losses, Fraction(share)) for share in _SHARES]
    return [each for value in shown for each in shown_down(value)]


def shown_down(value: float | None) -> list[Expected]:
    """Return a lower bound as a cell shows it; what is not known is a dash."""
    if value is None or math.isinf(value):
        return []
    # the engine's floats may be below by a hair, and so may be what is shown
    return [AtLeast(Fraction(value) * (1 + Fraction(1, 10**9)), 3) if value else 0]


def _losses(evaluation: ExpectedEvaluation, name: str, *, is_of_units: bool) -> list[float]:
    units: Any = evaluation.units
    match name:
        case "realised":
            return units.realised if is_of_units else evaluation.realised
        case "tight bound" | "advanced bound" | "simple bound":
            found: list[float] = getattr(units, name.removesuffix(" bound"))
            return found
        case "policy":
            return [float(each) for each in evaluation.written.losses]
        case "policy by exact accounting" | "policy by pieces":
            return [float(each) for each in evaluation.otherwise.losses]
        case _:
            (variant,) = [each for each in evaluation.variants if each.name == name]
            return [float(each) for each in variant.losses]
