"""Figures of `perrecord policy`, as JSON and in words, compared with what policy.json gives."""

import re
from collections.abc import Iterator
from fractions import Fraction

from perrecord.lab.audit.shown import by_hand
from perrecord.lab.audit.shown.document import (
    Json,
    Row,
    chosen,
    delta_of,
    estimate_of,
    loss_of,
    pieces_of,
    scheme_of,
    shifted_of,
    slots_of,
    spare_of,
    told_by_themselves,
)
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import AtMost, Expected, Near, amount, numerals

USEFUL_ODDS = 10
_LEVELS = ("0.01", "0.05", "0.1")


def check_json(findings: Comparisons, document: Json, record: Row, found: Json) -> None:
    """Compare `perrecord policy --record ... --json`."""
    total = document["total"]
    loss, delta = loss_of(total, record), delta_of(total, record)
    findings.loss("policy: loss", Fraction(found["loss"]), loss, spare_of(total))
    _delta(findings, "policy: delta", found["delta"], delta)
    shown_record = {
        name: value if not isinstance(record[name], Fraction) else Fraction(value)
        for name, value in found["record"].items()
    }
    findings.equal("policy: the record", shown_record, dict(record))
    for charge, shown in zip(document["charges"], found["answers"], strict=True):
        named = charge["name"], charge["title"]
        findings.equal("policy: name of an answer", (shown["name"], shown["title"]), named)
        own = loss_of(charge["policy"], record)
        spare = spare_of(charge["policy"])
        findings.loss("policy: loss of an answer", Fraction(shown["loss"]), own, spare)
        _delta(
            findings, "policy: delta of an answer", shown["delta"],
            delta_of(charge["policy"], record),
        )  # fmt: skip
    shown_pieces = [(_thresholds(each["scheme"]), each["pieces"]) for each in found["pieces"]]
    findings.equal("policy: pieces", shown_pieces, pieces(document, record))
    _check_estimates(findings, document, record, found["estimates"])
    if total["currency"] == "rho":
        _check_meaning(findings, document, record, found["meaning"])


def _delta(findings: Comparisons, what: str, text: str, exact: float) -> None:
    """Check a delta as curves give it: rounded up in the twelfth digit, and at least 1e-30."""
    shown = Fraction(text)
    is_right = exact * (1 - 1e-9) <= shown <= max(exact * (1 + 1e-9), 1.01e-30)
    is_tiny = exact < 1e-13 and shown <= 1e-12  # the sum by hand is in floats
    findings.add(what, agrees=is_right or is_tiny, shown=float(shown), expected=exact)


def pieces(document: Json, record: Row) -> list[tuple[tuple[Fraction, ...], int]]:
    """Return the thresholds of each scheme that applies to a record, and its pieces."""
    found: dict[tuple[tuple[str, Fraction], ...], int] = {}
    for split in _splits(document["total"], record):
        plain = scheme_of(split, record)["thresholds"]
        named = tuple(sorted((name, Fraction(limit)) for name, limit in plain.items()))
        found[named] = pieces_of(split, record)
    return [(tuple(limit for _, limit in named), count) for named, count in found.items()]


def _thresholds(scheme: str) -> tuple[Fraction, ...]:
    """Return the thresholds that `Split(emp=50, pay=0.5)` names."""
    return tuple(Fraction(each) for each in re.findall(r"=([^,)]+)", scheme))


def _splits(form: Json, record: Row) -> list[Json]:
    """Return the schemes of the terms and slots that apply to a record."""
    whole = form

    def inside(part: Json) -> list[Json]:
        found: list[Json] = []
        for term in part["terms"]:
            match term["type"]:
                case "split":
                    found.append(whole["splits"][term["split"]])
                case "largest":
                    found += [each for option in term["options"] for each in inside(option)]
                case "by":
                    found += inside(chosen(term, record, "policy"))
        return found

    slots = [slot["split"] for slot in slots_of(form, record) if slot["split"] is not None]
    return inside(form) + [whole["splits"][place] for place in slots]


def _check_meaning(findings: Comparisons, document: Json, record: Row, meant: Json) -> None:
    loss, delta = float(loss_of(document["total"], record)), delta_of(document["total"], record)
    findings.close("policy: epsilon", meant["epsilon"], by_hand.epsilon(loss), within=1e-6)
    findings.close("policy: delta of epsilon", meant["delta"], delta + (1 - delta) * 1e-6, 1e-6)
    for level in _LEVELS:
        bound = by_hand.power(loss, float(level), delta)
        findings.close("policy: power", meant["power"][level], bound, within=1e-6)
    findings.close("policy: odds", meant["odds"], by_hand.odds(loss, delta), within=1e-6)
    findings.close("policy: recognised, about", meant["recognised"], recognised(document, record))


def recognised(document: Json, record: Row) -> float | None:
    """Return about how often a test finds a record, where that can be said."""
    shifted = shifted_of(document, record)
    return None if shifted is None else by_hand.gaussian_power(float(shifted))


def estimates(document: Json, record: Row) -> Iterator[tuple[str, float | None, float | None]]:
    """Yield each measure that the record has, the error of an estimate, and that of its value."""
    for name in told_by_themselves(document):
        if record[name] is not None:
            error, value = estimate_of(document, record, name), abs(Fraction(record[name]))
            yield name, error, None if error is None or not value else error / float(value)


def _check_estimates(findings: Comparisons, document: Json, record: Row, shown: list[Json]) -> None:
    expected = list(estimates(document, record))
    names = [each["measure"] for each in shown]
    findings.equal("policy: measures estimated", names, [name for name, *_ in expected])
    for each, (_, error, relative) in zip(shown, expected, strict=False):
        findings.close("policy: standard error of an estimate", each["standard_error"], error)
        findings.close("policy: relative error of an estimate", each["relative"], relative)


# -- in words ---------------------------------------------------------------------------------


def check_words(findings: Comparisons, document: Json, record: Row, text: str) -> None:
    """Compare every number that `perrecord policy --record ...` prints for people."""
    parts = re.split(
        r"^(Pieces|By answer|What it means|How closely its values.*)$", text, flags=re.M
    )
    heads = ["the record", *(each.split(" its ")[0] for each in parts[1::2])]
    expected = {
        "the record": _record(document, record),
        "Pieces": _pieces(document, record),
        "By answer": _by_answer(document, record),
        "What it means": _meaning(document, record),
        "How closely": _estimated(document, record),
    }
    for head, part in zip(heads, parts[::2], strict=True):
        findings.numerals(f"policy in words: {head}", part, list(expected[head]))


def _record(document: Json, record: Row) -> Iterator[Expected]:
    yield from numerals(document["title"])
    for value in record.values():
        if isinstance(value, Fraction):
            yield amount(value)
        else:
            yield from numerals(str(value))
    yield amount(loss_of(document["total"], record))
    delta = delta_of(document["total"], record)
    if delta:
        yield AtMost(max(delta, 1e-30))


def _pieces(document: Json, record: Row) -> Iterator[Expected]:
    for limits, count in pieces(document, record):
        yield count
        yield from limits


def _by_answer(document: Json, record: Row) -> Iterator[Expected]:
    whole = loss_of(document["total"], record)
    for charge in document["charges"]:
        own, delta = loss_of(charge["policy"], record), delta_of(charge["policy"], record)
        yield amount(own)
        yield Near(100 * float(own / whole) if whole else 0.0, whole=0)
        if delta:
            yield AtMost(max(delta, 1e-30))
        yield from numerals(charge["title"])


def _meaning(document: Json, record: Row) -> Iterator[Expected]:
    total = document["total"]
    exact = loss_of(total, record)
    if total["currency"] != "rho":
        yield amount(exact)
        return
    loss, delta = float(exact), delta_of(total, record)
    yield from (AtMost(by_hand.epsilon(loss), 4), AtMost(delta + (1 - delta) * 1e-6))
    yield from ("5", AtMost(100 * by_hand.power(loss, 0.05, delta)))
    yield from ("1", AtMost(100 * by_hand.power(loss, 0.01, delta)))
    yield from ("10", AtMost(100 * by_hand.power(loss, 0.1, delta)))
    about, odds = recognised(document, record), by_hand.odds(loss, delta)
    if about is not None:
        yield Near(100 * about, whole=0)
    if odds <= USEFUL_ODDS:
        yield from ("95", AtMost(odds))


def _estimated(document: Json, record: Row) -> Iterator[Expected]:
    for name, error, relative in estimates(document, record):
        yield amount(Fraction(record[name]))
        if error is not None:
            yield Near(error, whole=0)
        if relative is not None:
            yield Near(100 * relative, whole=0)
