"""The public policy document: JSON in a documented, versioned format (docs/policy-format.md).

Numbers are exact text ("0.1", "1/3"), so that no reader's floats come in between. Schemes stand in
one list and are referred to by position, so that a scheme of thousands of cases is written once.
The JSON Schema is `policy.schema.json` beside this module; `reading.py` reads documents.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar, assert_never

from perrecord.exact import text
from perrecord.policy.cases import Cases, DimensionValue
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.tapering import TaperedEpsilon, TaperedRho
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
)

FORMAT = "perrecord-policy"
VERSIONS = (1, 2)
"""Version 2 has losses that grow in ways of their own; a policy without any is of version 1."""

V = TypeVar("V")
Json = dict[str, Any]


def document(form: Form, currency: Currency) -> Json:
    """Return the document of a policy as plain values, ready to be written as JSON."""
    writer = FormWriter()
    body = writer.form(form)
    return {
        "format": FORMAT,
        "version": VERSIONS[has_growth(form)],
        "currency": currency.value,
        "splits": writer.splits(),
        **body,
    }


def has_growth(form: Form) -> bool:
    """Tell whether some loss grows in a way of its own, so that losses may be irrational."""
    return any(True for _ in growths(form))


def has_tapers(form: Form) -> bool:
    """Tell whether some loss is that of Student noise."""
    return any(isinstance(each.growth, TaperedRho | TaperedEpsilon) for each in growths(form))


def growths(form: Form) -> Iterator[SizeLoss]:
    """Yield every loss that grows in a way of its own."""
    for term in form.terms:
        match term:
            case SizeLoss():
                yield term
            case Largest(options):
                yield from chain.from_iterable(map(growths, options))
            case Piecewise(cases):
                yield from chain.from_iterable(map(growths, cases.values()))


@dataclass(frozen=True, slots=True)
class FormWriter:
    """Writes forms as plain values; schemes are numbered in the order in which they are met.

    The policy page spells values and caps in its own way, and everything else alike.
    """

    schemes: dict[Scheme, int] = field(default_factory=dict)

    def value(self, part: DimensionValue) -> DimensionValue:
        """Return a dimension's value as it is written."""
        return part

    def plain_split(self, split: Split) -> Json:
        """Return a scheme without cases."""
        written = {name: text(threshold) for name, threshold in split.thresholds}
        return {"thresholds": written, "cap": split.cap}

    def splits(self) -> list[Json]:
        """Return all schemes that were met so far, each at its position."""
        return [self._split(scheme) for scheme in self.schemes]

    def form(self, form: Form) -> Json:
        """Return the terms and slots of a form."""
        return {
            "terms": [self._term(term) for term in form.terms],
            "slots": [
                {
                    "rho": text(slot.rho),
                    "threshold": slot.threshold,
                    "keys": list(slot.keys),
                    "split": None if slot.split is None else self._position(slot.split),
                }
                for slot in form.slots
            ],
        }

    def cases(self, cases: Cases[V], what: str, write_value: Callable[[V], Json]) -> Json:
        """Return a table of cases, with what holds for each under the name `what`."""
        return {
            "dimensions": list(cases.dimensions),
            "cases": [
                {"when": [self.value(part) for part in key], what: write_value(value)}
                for key, value in cases.entries
            ],
            "default": None if cases.default is None else write_value(cases.default),
        }

    def _term(self, term: Term) -> Json:
        match term:
            case Constant(amount):
                return {"type": "constant", "amount": text(amount)}
            case SplitLoss(amount, split):
                return {"type": "split", "amount": text(amount), "split": self._position(split)}
            case ExactLoss(amount, measure, threshold):
                return {
                    "type": "exact",
                    "amount": text(amount),
                    "measure": measure,
                    "threshold": text(threshold),
                }
            case SizeLoss(amount, measure, growth):
                written = {name: text(value) for name, value in growth.parameters().items()}
                return {"type": growth.kind, "amount": text(amount), "measure": measure, **written}
            case Largest(options):
                return {"type": "largest", "options": [self.form(option) for option in options]}
            case Piecewise(cases):
                return {"type": "by", **self.cases(cases, "policy", self.form)}
            case _:
                assert_never(term)

    def _position(self, split: Scheme) -> int:
        return self.schemes.setdefault(split, len(self.schemes))

    def _split(self, split: Scheme) -> Json:
        match split:
            case Split():
                return self.plain_split(split)
            case SplitBy(cases):
                return self.cases(cases, "split", self._split)
