"""Policies in words and as formulas: the numbers that must stand there, from policy.json alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from perrecord.lab.audit.shown import by_hand, students
from perrecord.lab.audit.shown.document import Json, blurred_loss_of, weighed_loss
from perrecord.lab.audit.shown.numerals import AtMost, Expected, Near, numerals

_MOST_CASES = 12
_SIZES = (1, 3, 80)
_PIECES = (1, 2, 5, 10, 20, 50)
_NEARLY = 0.9999


_Numbers = Iterator[Expected]


@dataclass(frozen=True, slots=True)
class _Style:
    """What one way of writing policies says of schemes, of cases and of key selections."""

    split: Callable[[Json], _Numbers]
    tapered: Callable[[Json], _Numbers]
    weighed: Callable[[Json], _Numbers]
    cases: Callable[[Json, Json], _Numbers]
    slot: Callable[[Json, Json], _Numbers]


def described(policy: Json) -> list[Expected]:
    """Return the numbers of a policy in words."""
    return list(_form(policy, policy, _WORDS))


def on_one_line(policy: Json) -> list[Expected]:
    """Return the numbers of a policy as a formula of one line."""
    return list(_form(policy, policy, _LINE))


def _form(form: Json, whole: Json, style: _Style) -> _Numbers:
    for term in form["terms"]:
        match term["type"]:
            case "constant":
                yield Fraction(term["amount"])
            case "split":
                yield Fraction(term["amount"])
                yield from style.split(whole["splits"][term["split"]])
            case "exact":
                yield from (Fraction(term["amount"]), Fraction(term["threshold"]))
            case "tapered" | "tapered_epsilon" | "blurred" | "blurred_epsilon":
                yield from style.tapered(term)
            case "weighed":
                yield from style.weighed(term)
            case "largest":
                for option in term["options"]:
                    yield from _form(option, whole, style)
            case "by":
                yield from style.cases(term, whole)
    for slot in form["slots"]:
        yield from style.slot(slot, whole)


# -- in words ----------------------------------------------------------------------------------


def _split(split: Json) -> _Numbers:
    if "dimensions" in split:
        yield from _cases(split, _split, "split")
        return
    yield from (Fraction(limit) for _, limit in sorted(split["thresholds"].items()))
    if split["cap"] is not None:
        yield int(split["cap"])


def _tapered(term: Json) -> _Numbers:
    """Return the sizes of three records and what they lose, then spread and nu; what is blurred."""
    spread, nu = Fraction(term["spread"]), int(term["nu"])
    first = Fraction(term["at"]) if "at" in term else students.round_size(spread)
    for times in _SIZES:
        size = times * first
        if "by" in term:
            currency = "rho" if term["type"] == "blurred" else "epsilon"
            own = blurred_loss_of(term, currency, size)
        else:
            own = students.loss(term["type"], spread, nu, size)
        yield from (size, AtMost(Fraction(term["amount"]) * own))
    yield from (spread, nu)
    if "by" in term:
        yield 100 * Fraction(term["by"])


def _tapered_line(term: Json) -> _Numbers:
    yield from (Fraction(term["amount"]), Fraction(term["spread"]))
    yield from [Fraction(term["by"])] if "by" in term else []
    yield int(term["nu"])


def _weighed(term: Json) -> _Numbers:
    """Return the weights of three records and what they lose."""
    for times in _SIZES:
        own = weighed_loss(Fraction(term["rho"]), Fraction(times))
        yield from (times * Fraction(term["at"]), AtMost(Fraction(term["amount"]) * own))


def _policies(term: Json, whole: Json) -> _Numbers:
    return _cases(term, lambda policy: _form(policy, whole, _WORDS), "policy")


def _cases(table: Json, inside: Callable[[Json], _Numbers], what: str) -> _Numbers:
    for case in table["cases"][:_MOST_CASES]:
        for value in case["when"]:
            yield from numerals(str(value))
        yield from inside(case[what])
    if len(table["cases"]) > _MOST_CASES:
        yield len(table["cases"]) - _MOST_CASES
    if table["default"] is not None:
        yield from inside(table["default"])


def _slot(slot: Json, whole: Json) -> _Numbers:
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


# -- on one line -------------------------------------------------------------------------------


def _scheme(split: Json) -> _Numbers:
    """Return the numbers of `Split(emp=50)`; by dimension, of how many cases and the default."""
    if "dimensions" not in split:
        yield from (Fraction(limit) for _, limit in sorted(split["thresholds"].items()))
        return
    yield len(split["cases"])
    if split["default"] is not None:
        yield from _scheme(split["default"])


_WORDS = _Style(_split, _tapered, _weighed, _policies, _slot)
_LINE = _Style(
    _scheme,
    _tapered_line,
    lambda term: iter(Fraction(term[name]) for name in ("amount", "rho", "at")),
    lambda term, _: iter((len(term["cases"]),)),
    lambda slot, _: iter((int(slot["threshold"]),)),
)
