"""Changes as policy.json, the methodology, `check` and `policy --change` show them, recomputed."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.shown.change_costs import (
    Cost,
    change_of,
    charge_of,
    delta_of_change,
    told_apart,
)
from perrecord.lab.audit.shown.document import Json, Row, loss_of, spare_of, with_computed
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import AtMost, Expected, Near, amount, numerals, text_of

PERCENTS = (5, 10, 20)


# -- a value that is greater by some percent ----------------------------------------------------


def greater(field: Json, value: Fraction, percent: int) -> Fraction:
    """Return a value so many percent greater, on the grid, at most the largest that is counted."""
    step = Fraction(field["resolution"])
    steps = min(math.ceil(abs(value) * (100 + percent) / 100 / step), int(field["largest"]))
    return -steps * step if value < 0 else steps * step


def raised(
    document: Json, records: Mapping[str, Row]
) -> Iterator[tuple[str, str, int, Fraction, Fraction]]:
    """Yield each example, measure and percentage, with the value and the greater one."""
    for name, record in records.items():
        for field in document["fields"]:
            value = record[field["name"]]
            if field["kind"] != "measure" or value is None or "computed" in field:
                continue
            for percent in PERCENTS:
                other = greater(field, value, percent)
                if other != value:
                    yield name, field["name"], percent, value, other


def check_document(findings: Comparisons, document: Json, examples: Mapping[str, Row]) -> None:
    """Compare the changes of the examples that policy.json lists."""
    expected = list(raised(document, examples))
    shown = document["changes"]
    labels = [(each["example"], each["measure"], each["percent"]) for each in shown]
    findings.equal("policy.json: changes", labels, [each[:3] for each in expected])
    for one, wanted in zip(shown, expected, strict=False):
        _check_raised(findings, "policy.json", document, one, wanted, examples)


def _check_raised(
    findings: Comparisons,
    where: str,
    document: Json,
    shown: Json,
    wanted: tuple[str, str, int, Fraction, Fraction],
    examples: Mapping[str, Row],
) -> None:
    name, measure, _, value, other = wanted
    record = examples[name]
    changed = with_computed(document, {**record, measure: other})
    values = Fraction(shown["value"]), Fraction(shown["other"])
    findings.equal(f"{where}: value and the greater one", values, (value, other))
    _check_loss(findings, f"{where}: loss of a change", shown, change_of(document, record, changed))
    delta = delta_of_change(document, record, changed)
    near = float(Fraction(shown["delta"]))
    agrees = math.isclose(near, delta, rel_tol=1e-9, abs_tol=1e-12)
    findings.add(f"{where}: delta of a change", agrees=agrees, shown=near, expected=delta)


def _check_loss(findings: Comparisons, what: str, shown: Json, cost: Cost) -> None:
    if cost.rest:
        findings.close(what, float(Fraction(shown["loss"])), cost.value, within=1e-9)
    else:
        findings.equal(what, Fraction(shown["loss"]), cost.exact)
    is_right = shown["exact"] is not bool(cost.rest)
    findings.add(what, agrees=is_right, shown=shown["exact"], expected=not cost.rest)


def in_methodology(document: Json, examples: Mapping[str, Row]) -> Iterator[Expected]:
    """Yield the numbers of the methodology's paragraph and table on greater values."""
    if not document["changes"]:
        return
    yield "5"
    for name, measure, percent, value, other in raised(document, examples):
        record = examples[name]
        changed = with_computed(document, {**record, measure: other})
        yield from numerals(name)
        yield text_of(abs(value))
        yield percent
        cost = change_of(document, record, changed)
        yield AtMost(cost.limit, 6) if cost.rest else text_of(cost.exact)
        most, about = told_apart(document, record, changed)
        if about is not None:
            yield Near(100 * about, whole=0)
        yield AtMost(100 * most)


# -- `check` ------------------------------------------------------------------------------------


def largest(document: Json, examples: Mapping[str, Row]) -> tuple[Any, ...] | None:
    """Return the greater value that `check` tells of: 10 % more of the example that loses most."""
    losses = {name: loss_of(document["total"], record) for name, record in examples.items()}
    most = max(losses, key=lambda name: losses[name])
    record = examples[most]
    own = [each for each in raised(document, {most: record}) if each[2] == 10]

    def cost(each: tuple[Any, ...]) -> float:
        other = with_computed(document, {**record, each[1]: each[4]})
        return change_of(document, record, other).value

    return max(own, key=cost, default=None)


def check_check_json(
    findings: Comparisons, document: Json, examples: Mapping[str, Row], shown: Json | None
) -> None:
    """Compare the change that `perrecord check --json` tells of."""
    wanted = largest(document, examples)
    labels = None if shown is None else (shown["example"], shown["measure"], shown["percent"])
    findings.equal("check: which change", labels, None if wanted is None else wanted[:3])
    if shown is not None and wanted is not None:
        _check_raised(findings, "check", document, shown, wanted, examples)


def in_check(document: Json, examples: Mapping[str, Row]) -> Iterator[Expected]:
    """Yield the numbers of the line that `perrecord check` prints."""
    wanted = largest(document, examples)
    if wanted is None:
        return
    name, measure, percent, value, other = wanted
    record = examples[name]
    yield from (*numerals(name), amount(abs(other)), amount(abs(value)), percent)
    changed = with_computed(document, {**record, measure: other})
    yield change_of(document, record, changed).shown()
    yield amount(loss_of(document["total"], record))


# -- `policy --change` --------------------------------------------------------------------------


def check_json(findings: Comparisons, document: Json, before: Row, after: Row, found: Json) -> None:
    """Compare `perrecord policy --record ... --change ... --json`."""
    cost = change_of(document, before, after)
    _check_loss(findings, "change: loss", found, cost)
    delta = delta_of_change(document, before, after)
    near = float(Fraction(found["delta"]))
    agrees = math.isclose(near, delta, rel_tol=1e-9, abs_tol=1e-12)
    findings.add("change: delta", agrees=agrees, shown=near, expected=delta)
    losses = [loss_of(document["total"], record) for record in (before, after)]
    spare = spare_of(document["total"])
    for one, loss in zip(found["presence"], losses, strict=True):
        findings.loss("change: presence", Fraction(one), loss, spare)
    for side, record in (("before", before), ("after", after)):
        shown = {
            name: value if not isinstance(record[name], Fraction) else Fraction(value)
            for name, value in found[side].items()
        }
        findings.equal("change: the records", shown, dict(record))
    for charge, shown in zip(document["charges"], found["answers"], strict=True):
        findings.equal(
            "change: name of an answer",
            (shown["name"], shown["title"]),
            (charge["name"], charge["title"]),
        )
        _check_loss(findings, "change: loss of an answer", shown, charge_of(charge, before, after))
    most, about = told_apart(document, before, after)
    findings.close("change: told apart, at most", found["told_apart"]["at_most"], most, within=1e-6)
    findings.close("change: told apart, about", found["told_apart"]["about"], about)


def check_words(findings: Comparisons, document: Json, before: Row, after: Row, text: str) -> None:
    """Compare every number that `perrecord policy --record ... --change ...` prints."""
    findings.numerals("change in words", text, list(_words(document, before, after)))


def _words(document: Json, before: Row, after: Row) -> Iterator[Expected]:
    yield from numerals(document["title"])
    for name, value in before.items():
        for each in (value, after[name]):
            yield from [amount(each)] if isinstance(each, Fraction) else numerals(str(each))
    yield change_of(document, before, after).shown()
    delta = delta_of_change(document, before, after)
    if delta:
        yield AtMost(max(delta, 1e-30))
    yield from (amount(loss_of(document["total"], record)) for record in (before, after))
    for charge in document["charges"]:
        yield charge_of(charge, before, after).shown()
        yield from numerals(charge["title"])
    most, about = told_apart(document, before, after)
    yield from ("5", AtMost(100 * most))
    if about is not None:
        yield Near(100 * about, whole=0)
