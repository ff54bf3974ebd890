"""A policy in words: plain English, one line of formula, LaTeX."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, assert_never

from perrecord.errors import listing, visible
from perrecord.exact import float_up, text
from perrecord.policy.cases import Cases, DimensionValue
from perrecord.policy.slots import Slot
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import (
    Constant,
    Currency,
    ExactLoss,
    Form,
    Largest,
    Piecewise,
    SizeLoss,
    SplitLoss,
    Term,
    every_slot,
)

V = TypeVar("V")

_SHOWN_CASES = 12


def number(value: Fraction) -> str:
    """Return a number for people: thousands apart, fractions as they are.

    >>> number(Fraction(5_000_000)), number(Fraction(1, 10)), number(Fraction(1, 3))
    ('5,000,000', '0.1', '1/3')
    """
    return f"{value.numerator:,}" if value.denominator == 1 else text(value)


# -- one line --------------------------------------------------------------------------------


def formula(form: Form, currency: Currency) -> str:
    """Return the policy on one line, for a prompt or a log."""
    power = "²" if currency.power == 2 else ""
    terms = [_formula_term(term, currency, power) for term in form.terms]
    slots = [f"selection of {'×'.join(slot.keys)} at {slot.threshold}" for slot in form.slots]
    return visible(" + ".join([*terms, *slots])) or "0"


def _formula_term(term: Term, currency: Currency, power: str) -> str:
    match term:
        case Constant(amount):
            return text(amount)
        case SplitLoss(amount, split):
            return f"{text(amount)}·pieces{power} of {split!r}"
        case ExactLoss(amount, measure, threshold):
            return f"{text(amount)}·({measure}/{text(threshold)}){power}"
        case SizeLoss(amount, measure, growth):
            return f"{text(amount)}·{growth.formula(f'|{measure}|')}"
        case Largest(options):
            return f"max({', '.join(formula(option, currency) for option in options)})"
        case Piecewise(cases):
            return f"by {'×'.join(cases.dimensions)} in {len(cases.entries)} cases"
        case _:
            assert_never(term)


# -- plain English ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a policy in plain English, and how many steps it stands to the right."""

    depth: int
    words: str

    def __str__(self) -> str:
        return "  " * self.depth + self.words


def lines(form: Form, currency: Currency) -> tuple[Line, ...]:
    """Return the policy as a few lines that need no formula to be understood."""
    every = [Line(0, f"Privacy loss of a record, in {currency.words}:"), *_lines(form, currency, 1)]
    return tuple(Line(line.depth, visible(line.words)) for line in every)


def _lines(form: Form, currency: Currency, depth: int) -> list[Line]:
    found: list[Line] = [] if form.terms else [Line(depth, "nothing")]
    for index, term in enumerate(form.terms):
        first, *rest = _describe_term(term, currency, depth)
        found += [Line(depth, f"{'plus ' if index else ''}{first.words}"), *rest]
    return found + [line for slot in form.slots for line in _describe_slot(slot, depth)]


def _describe_term(term: Term, currency: Currency, depth: int) -> list[Line]:
    squared = " squared" if currency.power == 2 else ""
    match term:
        case Constant(amount):
            return [Line(depth, f"{number(amount)}, the same for every record")]
        case SplitLoss(amount, split):
            pieces = f"{number(amount)} times the record's number of pieces{squared}, where"
            return [Line(depth, pieces), *_describe_split(split, depth + 1)]
        case ExactLoss(amount, measure, threshold):
            ratio = f"(the size of {measure} divided by {number(threshold)})"
            return [Line(depth, f"{number(amount)} times {ratio}{squared}")]
        case SizeLoss(amount, measure, growth):
            return [Line(depth, growth.words(measure, amount))]
        case Largest(options):
            choices = [_lines(option, currency, depth + 1) for option in options]
            return [Line(depth, "the largest of"), *_joined(choices, Line(depth + 1, "or"))]
        case Piecewise(cases):
            return [
                Line(depth, f"by {listing(cases.dimensions)}:"),
                *_describe_cases(cases, lambda part: _lines(part, currency, depth + 2), depth + 1),
            ]
        case _:
            assert_never(term)


def _describe_split(split: Scheme, depth: int) -> list[Line]:
    match split:
        case Split(thresholds, cap):
            parts = " or ".join(f"{number(limit)} {name}" for name, limit in thresholds)
            most = "" if cap is None else f", and never more than {cap:,}"
            choice = ", whichever gives more" if len(thresholds) > 1 else ""
            one = f"a record is one piece for every {parts}, or part thereof{choice}"
            return [Line(depth, f"{one}; at least one{most}")]
        case SplitBy(cases):
            return [
                Line(depth, f"what a piece may hold depends on {listing(cases.dimensions)}:"),
                *_describe_cases(cases, lambda inner: _describe_split(inner, depth + 2), depth + 1),
            ]


def _value(part: DimensionValue) -> str:
    if part is None or part == "":
        return "no value" if part is None else "(empty text)"
    return str(part)


def _describe_cases(cases: Cases[V], inner: Callable[[V], list[Line]], depth: int) -> list[Line]:
    shown: list[Line] = []
    for key, value in cases.entries[:_SHOWN_CASES]:
        shown += [Line(depth, f"for {', '.join(map(_value, key))}:"), *inner(value)]
    if len(cases.entries) > _SHOWN_CASES:
        shown.append(Line(depth, f"and {len(cases.entries) - _SHOWN_CASES:,} more cases"))
    if cases.default is None:
        return [*shown, Line(depth, "no other record is covered")]
    return [*shown, Line(depth, "for all others:"), *inner(cases.default)]


def _describe_slot(slot: Slot, depth: int) -> list[Line]:
    counted = "records" if slot.split is None else "pieces"
    found = (
        f"and the groups by {listing(slot.keys)} are found in the data: a group is shown when its "
        f"noisy count of {counted} reaches {slot.threshold}."
    )
    alone = "A record alone in its group shows that the group exists with probability"
    if slot.split is None:
        return [Line(depth, found), Line(depth, f"{alone} {_chance(slot.delta(1))}")]
    sizes = ", ".join(
        f"{pieces} {'piece' if pieces == 1 else 'pieces'}: {_chance(slot.delta(pieces))}"
        for pieces in (1, 2, 5, 10, 20, 50)
    )
    by_size = Line(depth, f"{alone}, by its size: {sizes}")
    return [Line(depth, found), by_size, *_describe_split(slot.split, depth)]


def _chance(probability: Fraction) -> str:
    """Return a probability of four digits that never claims to be certain."""
    return "over 0.9999" if probability > Fraction(9999, 10000) else f"{float_up(probability):.4g}"


def _joined(blocks: list[list[Line]], between: Line) -> list[Line]:
    joined = list(blocks[0])
    for block in blocks[1:]:
        joined += [between, *block]
    return joined


# -- LaTeX -----------------------------------------------------------------------------------


def latex(form: Form, currency: Currency) -> str:
    """Return P(r) as a LaTeX formula; m_s is the number of pieces under scheme s."""
    names: dict[Scheme, str] = {}
    lines = [rf"P(r) &= {_latex_sum(form, currency, names)}"]
    slots = [slot for _, slot in every_slot(form)]
    if slots:
        lines.append(r"\delta(r) &= 1 - \textstyle\prod_i (1 - \delta_i(r))")
    for index, slot in enumerate(slots, 1):
        pieces = "1" if slot.split is None else f"{names.setdefault(slot.split, _symbol(names))}(r)"
        noise = rf"Z \sim \mathcal{{N}}_{{\mathbb{{Z}}}}(0, {_latex_number(1 / (2 * slot.rho))})"
        chance = rf"\Pr\left[Z \ge {slot.threshold} - {pieces}\right]"
        lines.append(rf"\delta_{{{index}}}(r) &= {chance}, \quad {noise}")
    lines += [f"{symbol}(r) &= {_latex_split(split)}" for split, symbol in names.items()]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _latex_sum(form: Form, currency: Currency, names: dict[Scheme, str]) -> str:
    return " + ".join(_latex_term(term, currency, names) for term in form.terms) or "0"


def _latex_term(term: Term, currency: Currency, names: dict[Scheme, str]) -> str:
    power = "^2" if currency.power == 2 else ""
    match term:
        case Constant(amount):
            return _latex_number(amount)
        case SplitLoss(amount, split):
            symbol = names.setdefault(split, _symbol(names))
            return rf"{_latex_number(amount)} \, {symbol}(r){power}"
        case ExactLoss(amount, measure, threshold):
            ratio = _latex_ratio(measure, threshold)
            return rf"{_latex_number(amount)} \left({ratio}\right){power}"
        case SizeLoss(amount, measure, growth):
            return rf"{_latex_number(amount)} \, {growth.latex(f'|r({_latex_text(measure)})|')}"
        case Largest(options):
            inside = ",\\; ".join(_latex_sum(option, currency, names) for option in options)
            return rf"\max\left\{{{inside}\right\}}"
        case Piecewise(cases):
            return _latex_cases(cases, lambda part: _latex_sum(part, currency, names))
        case _:
            assert_never(term)


def _latex_split(split: Scheme) -> str:
    match split:
        case Split(thresholds, cap):
            parts = ",\\; ".join(
                rf"\left\lceil {_latex_ratio(name, limit)} \right\rceil"
                for name, limit in thresholds
            )
            count = rf"\max\left\{{1,\; {parts}\right\}}"
            return count if cap is None else rf"\min\left\{{{cap},\; {count}\right\}}"
        case SplitBy(cases):
            return _latex_cases(cases, _latex_split)


def _latex_cases(cases: Cases[V], body: Callable[[V], str]) -> str:
    names = ",".join(_latex_text(name) for name in cases.dimensions)
    lines = [
        rf"{body(value)} & r({names}) = {', '.join(_latex_text(str(part)) for part in key)}"
        for key, value in cases.entries[:_SHOWN_CASES]
    ]
    if len(cases.entries) > _SHOWN_CASES:
        lines.append(rf"\vdots & \text{{{len(cases.entries) - _SHOWN_CASES} more cases}}")
    if cases.default is not None:
        lines.append(rf"{body(cases.default)} & \text{{otherwise}}")
    return "\\begin{cases} " + " \\\\ ".join(lines) + " \\end{cases}"


def _latex_ratio(measure: str, threshold: Fraction) -> str:
    return rf"\frac{{|r({_latex_text(measure)})|}}{{{_latex_number(threshold)}}}"


def _symbol(names: dict[Scheme, str]) -> str:
    return f"m_{{{len(names) + 1}}}"


def _latex_number(value: Fraction) -> str:
    shown = text(value)
    if "/" in shown:
        return rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"
    return shown


_LATEX_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)


def _latex_text(name: str) -> str:
    return rf"\text{{{visible(name).translate(_LATEX_ESCAPES)}}}"
