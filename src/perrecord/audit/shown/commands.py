"""Figures that the commands print, as JSON and as text, compared with what policy.json gives."""

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from perrecord.audit.shown import by_hand
from perrecord.audit.shown.document import (
    Json,
    Row,
    chosen,
    delta_of,
    estimate_of,
    least_loss,
    leaves_of,
    loss_of,
    pieces_of,
    scheme_of,
    shifted_of,
    slots_of,
    variance_of,
)
from perrecord.audit.shown.findings import Findings, numbers_after, printed

USEFUL_ODDS = 10


def check_policy(findings: Findings, document: Json, record: Row, found: Json, text: str) -> None:
    """Compare `perrecord policy --record ... --json`, and the same in words."""
    total = document["total"]
    loss, delta = loss_of(total, record), delta_of(total, record)
    findings.equal("policy: loss", Fraction(found["loss"]), loss)
    _delta(findings, "policy: delta", Fraction(found["delta"]), delta)
    for charge, shown in zip(document["charges"], found["answers"], strict=True):
        findings.equal("policy: name of an answer", shown["name"], charge["name"])
        own = loss_of(charge["policy"], record)
        findings.equal("policy: loss of an answer", Fraction(shown["loss"]), own)
        one = delta_of(charge["policy"], record)
        _delta(findings, "policy: delta of an answer", Fraction(shown["delta"]), one)
    pieces = {
        (_scheme(split, record), pieces_of(split, record)) for split in _splits(total, record)
    }
    shown_pieces = {(_named(each["scheme"]), each["pieces"]) for each in found["pieces"]}
    findings.equal("policy: pieces", shown_pieces, pieces)
    _check_text(findings, text, loss, delta)
    _check_estimates(findings, document, record, found, text)
    if total["currency"] == "rho":
        _check_meaning(findings, document, record, found["meaning"], text)


def _delta(findings: Findings, what: str, shown: Fraction, exact: float) -> None:
    """Check a delta as curves give it: rounded up in the twelfth digit, and at least 1e-30."""
    is_right = exact * (1 - 1e-9) <= shown <= max(exact * (1 + 1e-9), 1.01e-30) + 1e-15
    findings.add(what, agrees=is_right, shown=float(shown), expected=exact)


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


def _scheme(split: Json, record: Row) -> tuple[tuple[str, Fraction], ...]:
    plain = scheme_of(split, record)
    return tuple(sorted((name, Fraction(each)) for name, each in plain["thresholds"].items()))


def _named(scheme: str) -> tuple[tuple[str, Fraction], ...]:
    """Return the thresholds that `Split(emp=50, pay=0.5)` names."""
    inside = scheme.removeprefix("Split(").partition(")")[0]
    pairs = [each.split("=") for each in inside.split(", ")]
    return tuple(sorted((name, Fraction(limit.strip("'"))) for name, limit in pairs))


def _check_text(findings: Findings, text: str, loss: Fraction, delta: float) -> None:
    (shown,) = numbers_after(r"loses (\S+) (?:rho|epsilon)", text) or [math.nan]
    findings.at_most("policy in words: loss", shown, float(loss), above=1e-4)
    if delta:
        (most,) = numbers_after(r"revealed with probability at most (\S+)\.\n", text) or [math.nan]
        findings.at_most("policy in words: delta", most, max(delta, 1e-30))


def _check_meaning(findings: Findings, document: Json, record: Row, meant: Json, text: str) -> None:
    loss = float(loss_of(document["total"], record))
    delta = delta_of(document["total"], record)
    epsilon = by_hand.epsilon(loss)
    findings.close("policy: epsilon", meant["epsilon"], epsilon, within=1e-6)
    findings.close("policy: delta of epsilon", meant["delta"], delta + (1 - delta) * 1e-6, 1e-6)
    for level in ("0.01", "0.05", "0.1"):
        bound = by_hand.power(loss, float(level), delta)
        findings.close("policy: power", meant["power"][level], bound, within=1e-6)
    odds = by_hand.odds(loss, delta)
    findings.close("policy: odds", meant["odds"], odds, within=1e-6)
    shifted = shifted_of(document, record)
    about = None if shifted is None else by_hand.gaussian_power(float(shifted))
    findings.close("policy: recognised, about", meant["recognised"], about)
    lines = " ".join(text.split())
    pattern = (
        r"epsilon at most (\S+) at a delta of (\S+)\. .* finds it in at most (\S+) % of cases "
        r"\(at 1 %: (\S+) %, at 10 %: (\S+) %\)"
    )
    limits = [epsilon, delta + (1 - delta) * 1e-6]
    limits += [100 * by_hand.power(loss, level, delta) for level in (0.05, 0.01, 0.1)]
    shown = numbers_after(pattern, lines) or [math.nan] * len(limits)
    for one, bound in zip(shown, limits, strict=True):
        findings.at_most("policy in words: limits", one, bound)
    told = numbers_after(r"gives about (\S+) %", lines)
    findings.equal("policy in words: about is said", bool(told), about is not None)
    for one in told:
        findings.close("policy in words: about", one / 100, about, within=6e-3)
    told = numbers_after(r"that it is not, by at most (\S+)\.", lines)
    findings.equal("policy in words: odds are said", bool(told), odds <= USEFUL_ODDS)
    for one in told:
        findings.at_most("policy in words: odds", one, odds)


def _check_estimates(
    findings: Findings, document: Json, record: Row, found: Json, text: str
) -> None:
    names = [each["name"] for each in document["fields"] if each["kind"] == "measure"]
    given = [name for name in names if record[name] is not None]
    findings.equal(
        "policy: measures estimated", [each["measure"] for each in found["estimates"]], given
    )
    for each in found["estimates"]:
        name = each["measure"]
        error, value = estimate_of(document, record, name), abs(Fraction(record[name]))
        relative = None if error is None or not value else error / float(value)
        findings.close("policy: standard error of an estimate", each["standard_error"], error)
        findings.close("policy: relative error of an estimate", each["relative"], relative)
        line = re.search(
            rf"^  {re.escape(name)} +\S+ +(?:at least )?about (\S+) +(\S+)", text, re.M
        )
        findings.equal("policy in words: estimate is said", line is not None, error is not None)
        if line is not None and error is not None:
            findings.close("policy in words: estimate", printed(line[1]), error, within=6e-3)
            if relative is not None:
                shown = printed(line[2]) / 100
                findings.close("policy in words: relative error", shown, relative, within=6e-3)


def check_check(
    findings: Findings, document: Json, examples: Mapping[str, Row], found: Json, text: str
) -> None:
    """Compare `perrecord check --json`, and its table in words."""
    charges = {each["name"]: each for each in document["charges"]}
    for answer in found["answers"]:
        name = f"{answer['table']}.{answer['answer']}"
        errors = errors_of(charges[name])
        findings.equal(
            "check: number of standard errors", len(answer["standard_errors"]), len(errors)
        )
        for shown, expected in zip(answer["standard_errors"], errors, strict=False):
            findings.close("check: standard error", shown, expected)
        pattern = rf"^  {re.escape(answer['table'])} +{re.escape(answer['answer'])} .*$"
        line = re.search(pattern, text, re.M)
        told = [] if line is None else line[0].split()
        ends = (
            [f"{end:,.4g}" for end in dict.fromkeys([errors[0], errors[-1]])] if errors else ["-"]
        )
        is_told = all(end in [each.rstrip(",") for each in told] for end in ends)
        findings.add("check in words: errors", agrees=is_told, shown=told, expected=ends)
    for example in found["examples"]:
        loss = loss_of(document["total"], examples[example["name"]])
        findings.equal("check: loss of an example", Fraction(example["loss"]), loss)


def errors_of(charge: Json) -> list[float]:
    """Return the different standard errors that an answer's cells can have, rising."""
    leaves = [leaf for noise in charge["noise"][:1] for leaf in leaves_of(noise["cells"], {})]
    return sorted({math.sqrt(variance_of(leaf)) for leaf in leaves})


def check_ledger(
    findings: Findings, document: Json, records: list[Row], found: Json, text: str
) -> None:
    """Compare `perrecord ledger show --json`, and its least losses in words."""
    for record in records:
        for what, policy in (("budget", document["budget"]), ("spent", document["total"])):
            shown, expected = loss_of(found[what], record), loss_of(policy, record)
            findings.equal(f"ledger: {what}", shown, expected)
    pattern = r"may lose (\S+) (?:rho|epsilon); charged of it so far: (\S+)\.\n"
    told = numbers_after(pattern, text) or [math.nan] * 2
    for one, policy in zip(told, (document["budget"], document["total"]), strict=True):
        least = least_loss(policy)
        if least is not None:
            findings.at_most("ledger in words: least loss", one, float(least), above=1e-4)
    entries = numbers_after(r"; (\d+) entr(?:y|ies), all", text) or [math.nan]
    findings.equal("ledger in words: entries", entries[0], float(len(found["entries"])))


def text_of(value: Any) -> str:
    """Return a value as it is typed for --record; nothing for a missing one."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case Fraction(denominator=1):
            return str(value.numerator)
        case Fraction():
            return f"{float(value)!r}"
        case _:
            return str(value)
