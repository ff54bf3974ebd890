"""Figures of the policy page for one typed record, compared with what policy.json gives."""

import json
import math
import re
from fractions import Fraction

from perrecord.audit.shown import by_hand
from perrecord.audit.shown.document import (
    Json,
    Row,
    delta_of,
    estimate_of,
    least_loss,
    loss_of,
    shifted_of,
)
from perrecord.audit.shown.findings import Findings, printed

USEFUL_ODDS = 10
_NEARLY = 0.9999
_PRACTICALLY = 0.995
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")


def check_page(findings: Findings, document: Json, record: Row, shown: Json) -> None:
    """Compare what the page holds as data and says in words; `shown` has both.

    `shown` holds the data of #result, the rows of the breakdown as `charges`, and the texts of
    #loss, #comparison, #epsilon and #meaning under those names.
    """
    total = document["total"]
    loss, delta = loss_of(total, record), delta_of(total, record)
    findings.equal("page: loss", Fraction(shown["loss"]), loss)
    findings.close("page: delta", float(Fraction(shown["delta"])), max(delta, 0.0), within=1e-9)
    for charge, (name, part, chance) in zip(document["charges"], shown["charges"], strict=True):
        own = loss_of(charge["policy"], record), delta_of(charge["policy"], record)
        findings.equal("page: loss of an answer", (name, Fraction(part)), (charge["name"], own[0]))
        findings.close("page: delta of an answer", float(Fraction(chance)), own[1], within=1e-9)
    findings.at_most("page in words: loss", _number(shown["#loss"]), float(loss), above=1e-3)
    _check_comparison(findings, document, loss, shown["#comparison"])
    limit, odds, epsilon = _limits(total["currency"], float(loss), delta)
    findings.close("page: epsilon", float(shown["epsilon"]), epsilon, within=1e-6)
    findings.at_most("page in words: epsilon", _number(shown["#epsilon"]), epsilon, above=1e-3)
    findings.close("page: chance, at most", float(shown["power"]), limit, within=1e-6)
    findings.close("page: odds", float(shown["odds"]), odds, within=1e-6)
    text = " ".join(shown["#meaning"].split())
    told = re.search(r"by at most ([\d.,]+)\.", text)
    findings.equal("page in words: odds are said", told is not None, odds <= USEFUL_ODDS)
    if told is not None:
        findings.at_most("page in words: odds", printed(told[1]), odds, above=0.1)
    _check_chance(findings, document, record, shown["about"], limit, text)
    _check_estimates(findings, document, record, json.loads(shown["estimates"]), text)


def _number(text: str) -> float:
    """Return 1,235 or 1.2 × 10¹⁸ as a number."""
    mantissa, _, power = text.translate(_DIGITS).partition(" × 10")
    return printed(mantissa) * 10.0 ** int(power or 0)


def _limits(currency: str, loss: float, delta: float) -> tuple[float, float, float]:
    """Return the chance of being recognised, the odds and epsilon, each at most."""
    if currency == "rho":
        return (
            by_hand.power(loss, 0.05, delta),
            by_hand.odds(loss, delta),
            by_hand.epsilon(loss),
        )
    factor = math.exp(loss) if loss < 700 else math.inf
    return min(1.0, 0.05 * factor, 1 - 0.95 / factor), factor, loss


def _check_comparison(findings: Findings, document: Json, loss: Fraction, text: str) -> None:
    least = least_loss(document["total"])
    found = re.match(r"([\d.,]+) times the least that any record can lose, which is (\S+)\.", text)
    if found is None or not least:
        return
    findings.at_most("page in words: times the least", printed(found[1]), float(loss / least), 0.1)
    findings.at_most("page in words: least loss", _number(found[2]), float(least), above=1e-3)


def _check_chance(
    findings: Findings, document: Json, record: Row, shown: str, limit: float, text: str
) -> None:
    shifted = shifted_of(document, record)
    about = None if shifted is None else by_hand.gaussian_power(float(shifted))
    findings.close("page: chance, about", float(shown) if shown else None, about)
    most = re.search(r"at most ([\d.,]+) times in 100", text)
    is_limited = limit <= _NEARLY
    findings.equal("page in words: limit is said", most is not None, is_limited)
    if most is not None and is_limited:
        findings.at_most("page in words: chance, at most", printed(most[1]), 100 * limit, above=0.1)
    told = re.search(r"about ([\d.,]+) times in 100", text)
    is_told = about is not None and about <= _PRACTICALLY
    findings.equal("page in words: about is said", told is not None, is_told)
    if told is not None and about is not None:
        shown_about = printed(told[1]) / 100
        findings.close("page in words: chance, about", shown_about, about, within=0.06)
    is_certain = "practically every time" in text
    is_so = (about is None and not is_limited) or (about is not None and about > _PRACTICALLY)
    findings.equal("page in words: near certainty is said", is_certain, is_so)


def _check_estimates(
    findings: Findings,
    document: Json,
    record: Row,
    shown: list[tuple[str, float | None, float | None, bool]],
    text: str,
) -> None:
    fields = {each["name"]: each for each in document["fields"]}
    for name, found, share, _ in shown:
        error, value = estimate_of(document, record, name), abs(Fraction(record[name]))
        findings.close("page: standard error of an estimate", found, error)
        relative = None if error is None or not value else error / float(value)
        findings.close("page: relative error of an estimate", share, relative)
        label = re.escape(fields[name]["label"] or name)
        part = re.search(rf"{label}: how closely could someone estimate it\?([^?]*)", text)
        if part is None or error is None or 3 * error < Fraction(fields[name]["resolution"]):
            continue
        told = re.search(r"about ±([^ ]+(?: × 10\S+)?)", part[1])
        printed_error = math.nan if told is None else _number(told[1].rstrip(".,"))
        findings.close("page in words: estimate", printed_error, error, within=0.06)
        if relative is not None:
            of_value = re.search(r"\(±([^ ]+) %\)|, ([^ ]+) times the value", part[1])
            shares = [] if of_value is None else [each for each in of_value.groups() if each]
            scale = 1 if relative > 1 else 100
            one = _number(shares[0]) / scale if shares else math.nan
            findings.close("page in words: relative error", one, relative, within=0.06)
