"""Policies in words and as formulas: the numbers that must stand there, from policy.json alone."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.shown import by_hand
from perrecord.lab.audit.shown.document import Json
from perrecord.lab.audit.shown.numerals import Expected, Near, numerals

_MOST_CASES = 12
_PIECES = (1, 2, 5, 10, 20, 50)
_NEARLY = 0.9999


def described(policy: Json) -> list[Expected]:
    """Return the numbers of a policy in words."""
    return list(_form(policy, policy))


def on_one_line(policy: Json) -> list[Expected]:
    """Return the numbers of a policy as a formula of one line."""
    return list(_formula(policy, policy))


def _form(form: Json, whole: Json) -> Iterator[Expected]:
    for term in form["terms"]:
        match term["type"]:
            case "constant":
                yield Fraction(term["amount"])
            case "split":
                yield Fraction(term["amount"])
                yield from _split(whole["splits"][term["split"]])
            case "exact":
                yield from (Fraction(term["amount"]), Fraction(term["threshold"]))
            case "largest":
                for option in term["options"]:
                    yield from _form(option, whole)
            case "by":
                yield from _cases(term, "policy", whole)
    for slot in form["slots"]:
        yield from _slot(slot, whole)


def _split(split: Json) -> Iterator[Expected]:
    if "dimensions" in split:
        yield from _cases(split, "split", {})
        return
    yield from (Fraction(limit) for _, limit in sorted(split["thresholds"].items()))
    if split["cap"] is not None:
        yield int(split["cap"])


def _cases(table: Json, what: str, whole: Json) -> Iterator[Expected]:
    def inside(part: Any) -> Iterator[Expected]:
        return _split(part) if what == "split" else _form(part, whole)

    for case in table["cases"][:_MOST_CASES]:
        for value in case["when"]:
            yield from numerals(str(value))
        yield from inside(case[what])
    if len(table["cases"]) > _MOST_CASES:
        yield len(table["cases"]) - _MOST_CASES
    if table["default"] is not None:
        yield from inside(table["default"])


def _slot(slot: Json, whole: Json) -> Iterator[Expected]:
    spread, threshold = 1 / (2 * Fraction(slot["rho"])), int(slot["threshold"])
    yield threshold
    if slot["split"] is None:
        yield _chance(spread, threshold - 1)
        return
    for pieces in _PIECES:
        yield from (pieces, _chance(spread, threshold - pieces))
    yield from _split(whole["splits"][slot["split"]])


def _chance(spread: Fraction, start: int) -> Expected:
    """Return a probability of four digits; what is all but certain is said to be over 0.9999."""
    chance = by_hand.tail(spread, start)
    return "0.9999" if chance > _NEARLY else Near(chance, 4)


def _formula(form: Json, whole: Json) -> Iterator[Expected]:
    for term in form["terms"]:
        match term["type"]:
            case "constant":
                yield Fraction(term["amount"])
            case "split":
                yield Fraction(term["amount"])
                yield from _scheme(whole["splits"][term["split"]])
            case "exact":
                yield from (Fraction(term["amount"]), Fraction(term["threshold"]))
            case "largest":
                for option in term["options"]:
                    yield from _formula(option, whole)
            case "by":
                yield len(term["cases"])
    yield from (int(slot["threshold"]) for slot in form["slots"])


def _scheme(split: Json) -> Iterator[Expected]:
    """Return the numbers of `Split(emp=50)`; by dimension, of how many cases and the default."""
    if "dimensions" not in split:
        yield from (Fraction(limit) for _, limit in sorted(split["thresholds"].items()))
        return
    yield len(split["cases"])
    if split["default"] is not None:
        yield from _scheme(split["default"])
