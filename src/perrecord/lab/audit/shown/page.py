"""Figures of the policy page for one typed record, compared with what policy.json gives."""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.shown import by_hand
from perrecord.lab.audit.shown.change_costs import change_of, delta_of_change, told_apart
from perrecord.lab.audit.shown.changes import raised
from perrecord.lab.audit.shown.document import (
    Json,
    NotCoveredError,
    Row,
    delta_of,
    least_loss,
    loss_of,
    pieces_of,
    scheme_of,
    spare_of,
)
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import (
    AtLeast,
    AtMost,
    Expected,
    Near,
    numerals,
    text_of,
)
from perrecord.lab.audit.shown.policy_command import (
    USEFUL_ODDS,
    estimates,
    recognised,
)

TEXTS = (
    "loss", "comparison", "epsilon", "epsilon-delta", "meaning", "gauge-text", "pieces",
    "breakdown", "breakdown-end",
)  # fmt: skip
"""The parts of the page whose texts are compared, by their ids."""

_ROUNDED = Fraction(1, 2**38)
_WHOLE = 1e15
_NEARLY = 0.9999
_PRACTICALLY = 0.995


def check_page(findings: Comparisons, document: Json, record: Row, shown: Json) -> None:
    """Compare what the page holds as data and says in words; `shown` has both.

    `shown` holds the data of #result, the rows of the breakdown as `charges`, the pieces, and the
    texts of TEXTS as #loss, #comparison, ...
    """
    total = document["total"]
    loss, delta = loss_of(total, record), delta_of(total, record)
    findings.loss("page: loss", Fraction(shown["loss"]), loss, _spare(total))
    findings.close("page: delta", float(Fraction(shown["delta"])), max(delta, 0.0), within=1e-9)
    for charge, (name, part, chance) in zip(document["charges"], shown["charges"], strict=True):
        own = loss_of(charge["policy"], record), delta_of(charge["policy"], record)
        what, spare = "page: loss of an answer", _spare(charge["policy"])
        findings.loss(what, Fraction(part), own[0], spare)
        if name != charge["name"]:
            findings.add(what, agrees=False, shown=name, expected=charge["name"])
        findings.close("page: delta of an answer", float(Fraction(chance)), own[1], within=1e-9)
    counts = [count for _, count in schemes(document, record)]
    findings.equal("page: pieces", [Fraction(each) for each in shown["pieces"]], counts)
    limit, odds, epsilon = _limits(total["currency"], float(loss), delta)
    findings.close("page: epsilon", float(shown["epsilon"]), epsilon, within=1e-6)
    findings.close("page: chance, at most", float(shown["power"]), limit, within=1e-6)
    findings.close("page: odds", float(shown["odds"]), odds, within=1e-6)
    about = recognised(document, record)
    findings.close("page: chance, about", float(shown["about"]) if shown["about"] else None, about)
    _check_estimates(findings, document, record, json.loads(shown["estimates"]))
    _check_changes(findings, document, record, json.loads(shown["changes"]))
    _check_texts(findings, document, record, shown)


def _spare(policy: Json) -> Fraction:
    """Return by what share the page may round a loss up, whose tapered terms it has as floats."""
    return _ROUNDED if spare_of(policy) else Fraction(0)


def schemes(document: Json, record: Row) -> list[tuple[tuple[Fraction, ...], int]]:
    """Return the thresholds of every scheme of the release that covers a record, and its pieces.

    The page shows them all, those of other parts of the records too.
    """
    policies = [each["policy"] for each in document["charges"]] + [document["total"]]
    every = {json.dumps(split): split for policy in policies for split in policy["splits"]}
    found = []
    for split in every.values():
        try:
            plain = scheme_of(split, record)["thresholds"]
        except NotCoveredError:
            continue
        limits = tuple(Fraction(limit) for _, limit in sorted(plain.items()))
        found.append((limits, pieces_of(split, record)))
    return found


def _check_estimates(findings: Comparisons, document: Json, record: Row, shown: list[Any]) -> None:
    expected = {name: rest for name, *rest in estimates(document, record)}
    for name, error, relative, _ in shown:
        wanted = expected[name]
        findings.close("page: standard error of an estimate", error, wanted[0])
        findings.close("page: relative error of an estimate", relative, wanted[1])


def _check_changes(findings: Comparisons, document: Json, record: Row, shown: list[Any]) -> None:
    names = {name for name, *_ in shown}
    expected = [each for each in raised(document, {"": record}) if each[1] in names]
    told = [(name, percent, Fraction(other)) for name, percent, other, *_ in shown]
    labels = [(name, percent, other) for _, name, percent, _, other in expected]
    findings.equal("page: changes", told, labels)
    for (*_, loss, delta, power, about), (_, name, _, _, other) in zip(
        shown, expected, strict=False
    ):
        changed = {**record, name: other}
        cost = change_of(document, record, changed)
        findings.close("page: loss of a change", float(Fraction(loss)), cost.value, within=1e-9)
        wanted = delta_of_change(document, record, changed)
        findings.close("page: delta of a change", float(Fraction(delta)), max(wanted, 0.0), 1e-9)
        most, likely = told_apart(document, record, changed)
        findings.close("page: told apart, at most", power, most, within=1e-6)
        findings.close("page: told apart, about", about, likely)


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


# -- in words ---------------------------------------------------------------------------------


def _check_texts(findings: Comparisons, document: Json, record: Row, shown: Json) -> None:
    total = document["total"]
    loss, delta = loss_of(total, record), delta_of(total, record)
    least = least_loss(total)
    _, _, epsilon = _limits(total["currency"], float(loss), delta)
    chance = delta + (1 - delta) * 1e-6 if total["currency"] == "rho" else 0.0
    named = [name for name, *_ in json.loads(shown["estimates"])]
    expected: dict[str, Iterator[Expected]] = {
        "loss": iter([_brief(loss)]),
        "epsilon": _up(epsilon, 4),
        "epsilon-delta": _up(chance, 2),
        "meaning": _meaning(document, record, named),
        "gauge-text": _gauge(document, record),
        "pieces": _pieces(document, record),
        "breakdown": _breakdown(document, record),
        "breakdown-end": _together(document, record),
    }
    if least is not None:
        expected["comparison"] = _comparison(loss, least)
    for name, wanted in expected.items():
        findings.numerals(f"page in words: {name}", shown[f"#{name}"], list(wanted))


def _digits(value: float, digits: int) -> int:
    """Return how many digits are shown: three at most of what is very large or very small."""
    return digits if 1e-6 <= value < _WHOLE else min(digits, 3)


def _up(value: float, digits: int) -> Iterator[Expected]:
    """Return a limit as the page rounds it up; what is beyond floats is said in words."""
    if math.isfinite(value):
        yield AtMost(value, _digits(value, digits), _WHOLE)


def _near(value: float, digits: int) -> Near:
    return Near(value, _digits(value, digits), _WHOLE)


def _brief(value: Fraction) -> Expected:
    """Return a loss: exactly where that is brief, else to four digits."""
    text = text_of(value)
    _, _, places = text.partition(".")
    is_brief = "/" not in text and len(places) <= 6 and sum(map(str.isdigit, text)) <= 6
    return value if is_brief else AtMost(float(value), _digits(float(value), 4), _WHOLE)


def _comparison(loss: Fraction, least: Fraction) -> Iterator[Expected]:
    if least and loss != least:
        ratio = float(loss / least)
        yield from [_over(ratio)] if ratio >= 1e6 else _up(ratio, 2 if ratio < 100 else 3)
        yield _brief(least)


def _over(ratio: float) -> str:
    """Return a power of ten below a large ratio: 1 million, 10 billion, 10¹⁵."""
    power = math.floor(math.log10(ratio))
    if power >= 15:
        return "10" + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return str(10 ** (power % 3))


def _in_hundred(chance: float) -> Expected:
    return "100" if chance > _NEARLY else AtMost(100 * chance, 4 if chance > 0.99 else 2)


def _about_hundred(chance: float) -> Expected:
    return "100" if chance > _PRACTICALLY else _near(100 * chance, 3 if chance > 0.99 else 2)


def _gauge(document: Json, record: Row) -> Iterator[Expected]:
    about, (limit, *_) = recognised(document, record), _limits_of(document, record)
    yield from (_in_hundred(limit) if about is None else _about_hundred(about), "100")


def _limits_of(document: Json, record: Row) -> tuple[float, float, float]:
    total = document["total"]
    return _limits(total["currency"], float(loss_of(total, record)), delta_of(total, record))


def _meaning(document: Json, record: Row, named: list[str]) -> Iterator[Expected]:
    about, (limit, odds, _) = recognised(document, record), _limits_of(document, record)
    yield from ("5", "100")
    if about is not None and about <= _PRACTICALLY:
        yield from (_about_hundred(about), "100")
    if limit <= _NEARLY:
        yield from (_in_hundred(limit), "100", "5")
    if odds <= USEFUL_ODDS:
        yield from ("95", "100") if document["total"]["currency"] == "rho" else ()
        yield from _up(odds, 2)
    fields = {each["name"]: each for each in document["fields"]}
    for name, error, relative in estimates(document, record):
        if name not in named or error is None:
            continue
        if 3 * error < Fraction(fields[name]["resolution"]):
            continue  # practically exactly
        yield _near(error, 2)
        if relative is not None:
            yield _near(relative if relative > 1 else 100 * relative, 2)
    yield from _told_apart(document, record, named)
    delta = delta_of(document["total"], record)
    if delta and delta <= _NEARLY:
        yield from _chance(delta)


def _told_apart(document: Json, record: Row, named: list[str]) -> Iterator[Expected]:
    relative = {name: share for name, _, share in estimates(document, record)}
    for _, name, percent, value, other in raised(document, {"": record}):
        if percent != 10 or name not in named:
            continue
        yield from (_shown(abs(value)), _shown(abs(other)))
        changed = {**record, name: other}
        cost = change_of(document, record, changed)
        if not cost.value:
            continue
        most, about = told_apart(document, record, changed)
        yield from ("5", "100")
        if about is not None and about <= _PRACTICALLY:
            yield from (_about_hundred(about), "100")
        if most <= _NEARLY:
            yield from (_in_hundred(most), "100", "5")
        yield (
            AtMost(cost.limit, _digits(cost.value, 4), _WHOLE) if cost.rest else _brief(cost.exact)
        )
        share = relative[name]
        if share is not None and 1.6448536269514722 * share <= 1:
            yield _near(164.48536269514722 * share, 2)


def _shown(value: Fraction) -> Expected:
    """Return a value: exactly where it has at most six places, else to four digits."""
    _, _, places = text_of(value).partition(".")
    is_short = "/" not in text_of(value) and len(places) <= 6 and value < _WHOLE
    return value if is_short else AtMost(float(value), _digits(float(value), 4), _WHOLE)


def _chance(chance: float) -> Iterator[Expected]:
    """Return a probability: 13 %, or 1 in 9,100,000, rounded so that it is a bound."""
    if not chance or chance > _NEARLY:
        yield from ("100",) if chance else ()
    elif chance >= 0.001:
        yield AtMost(100 * chance, 4 if chance > 0.99 else 2)
    else:
        yield from ("1", AtLeast(Fraction(1 / chance) * Fraction(10**9 + 1, 10**9), 2))


def _pieces(document: Json, record: Row) -> Iterator[Expected]:
    for limits, count in schemes(document, record):
        yield count
        yield from limits


def _breakdown(document: Json, record: Row) -> Iterator[Expected]:
    with_delta = bool(document["total"]["slots"]) or delta_of(document["total"], record) > 0
    rest = loss_of(document["total"], record)
    for charge in document["charges"]:
        own = loss_of(charge["policy"], record)
        rest -= own
        yield from numerals(charge["title"] or charge["name"])
        yield _brief(own)
        if with_delta:
            yield from _chance(delta_of(charge["policy"], record))
    if rest > 0:
        yield _brief(rest)


def _together(document: Json, record: Row) -> Iterator[Expected]:
    yield _brief(loss_of(document["total"], record))
    yield from _chance(delta_of(document["total"], record))
    if document["budget"] is not None:
        yield _brief(loss_of(document["budget"], record))
