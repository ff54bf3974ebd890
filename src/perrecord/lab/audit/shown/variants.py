"""The ways to ask that `evaluate` compares, each as a spec of its own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from perrecord.lab.audit.shown.cell_errors import CellError, at_share, cell_errors
from perrecord.lab.audit.shown.document import Json, Row, loss_of
from perrecord.lab.audit.shown.realised import least
from perrecord.lab.audit.shown.source import TableAnswer, asked

_FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)
AS_WRITTEN = "as written"


@dataclass
class ExpectedVariant:
    """A spec under the name that reports give it, and what follows from it and the records."""

    name: str
    kind: str
    spec: Json
    policy: Json
    """What it costs: the charge of the spec, as `perrecord check` prints it."""
    records: Sequence[Row]

    @cached_property
    def errors(self) -> list[tuple[TableAnswer, list[CellError]]]:
        """The errors of all answers; quantiles come last, as reports have it."""
        found = [(one, cell_errors(self.spec, one)) for one in asked(self.spec, self.records)]
        return sorted(found, key=lambda each: bool({"median", "quantile"} & each[0].answer.keys()))

    @cached_property
    def losses(self) -> list[Fraction]:
        """The policy loss of every record."""
        return [loss_of(self.policy, record) for record in self.records]

    @cached_property
    def least(self) -> list[float]:
        """The least that every record could lose (T30)."""
        answers = list(asked(self.spec, self.records))
        return [least(self.spec, [record], answers) for record in self.records]

    def lost(self, share: str) -> float | None:
        """Return the loss that a share of the records does not exceed."""
        return at_share([float(each) for each in self.losses], Fraction(share))


def variants(
    spec: Json,
    records: Sequence[Row],
    budgets: Sequence[str],
    charge: Callable[[Json], Json],
) -> list[ExpectedVariant]:
    """Return the spec as written, by each split, top-coded at each, and with other budgets."""
    found = [(AS_WRITTEN, AS_WRITTEN, spec)]
    if any(_is_split(each) for query in spec["queries"] for each in query["answers"].values()):
        found += [(name, "splitting", _resplit(spec, {"split": name})) for name in spec["splits"]]
        for name in spec["splits"]:
            coded = _resplit(spec, {"split": name, "top-coded": True})
            found.append((f"top-code {name}", "top-coding", coded))
    for factor in budgets:
        found.append((f"{float(factor):g} × budget", "budget", scaled(spec, Fraction(factor))))
    return [ExpectedVariant(name, kind, each, charge(each), records) for name, kind, each in found]


def _is_split(answer: Json) -> bool:
    return "split" in answer and bool({"sum", "average"} & answer.keys())


def _answers(spec: Json, change: Callable[[Json], Json]) -> Json:
    copied = deepcopy(spec)
    for query in copied["queries"]:
        query["answers"] = {name: change(each) for name, each in query["answers"].items()}
    return copied


def _resplit(spec: Json, way: Mapping[str, Any]) -> Json:
    return _answers(spec, lambda answer: {**answer, **way} if _is_split(answer) else answer)


def scaled(spec: Json, factor: Fraction) -> Json:
    """Return the spec with every amount multiplied, and rounded up to four digits."""
    return _answers(spec, lambda answer: times(answer, factor))


def times(answer: Any, factor: Fraction) -> Any:
    """Return an answer with its amounts multiplied; an average's are for its total and count."""
    if not isinstance(answer, dict):
        return answer
    found = {key: times(value, factor) for key, value in answer.items()}
    for currency in {"rho", "epsilon"} & answer.keys():
        given = answer[currency]
        if isinstance(given, list):
            found[currency] = [_rounded(Fraction(str(each)) * factor) for each in given]
        elif "average" in answer:
            half = _rounded(Fraction(str(given)) / 2 * factor)
            found[currency] = [half, half]
        else:
            found[currency] = _rounded(Fraction(str(given)) * factor)
    return found


def _rounded(amount: Fraction) -> str:
    return f"{_FOUR_DIGITS.divide(Decimal(amount.numerator), Decimal(amount.denominator)):f}"


def as_clamped(spec: Json) -> Json:
    """Return a spec that costs the same, with what is top-coded written as clamped.

    No spec can say that an average is clamped by sector: its total and count stand in for it.
    """
    copied = deepcopy(spec)
    for query in copied["queries"]:
        query["answers"] = dict(
            each
            for name, answer in query["answers"].items()
            for each in _clamped(spec, name, answer)
        )
    return copied


def _clamped(spec: Json, name: str, answer: Json) -> Iterator[tuple[str, Json]]:
    if "top-coded" not in answer:
        yield name, answer
        return
    currency = "rho" if "rho" in answer else "epsilon"
    kind = "sum" if "sum" in answer else "average"
    measure, scheme = answer[kind], spec["splits"][answer["split"]]

    def cut(each: Json, amount: Any) -> Json:
        return {"clamp": [-each[measure], each[measure]], currency: amount}

    if "by" not in scheme:
        yield name, {kind: measure, **cut(scheme, answer[currency])}
        return
    amount = answer[currency]
    if kind == "average":
        amount = str(Fraction(str(amount)) / 2)
        yield f"{name}_count", {"count": measure, currency: amount}
    cases = {sector: cut(each, amount) for sector, each in scheme["cases"].items()}
    parts = {"by": "sector", "cases": cases, "default": cut(scheme["default"], amount)}
    yield name, {"sum": measure, "parts": parts}
