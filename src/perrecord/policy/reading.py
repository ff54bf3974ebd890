"""Policy documents read: JSON that somebody else may have written (docs/policy-format.md).

Only what has no more than the text reads it back: `Policy.from_json`, ledgers, published policies.
What holds a policy asks the policy.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from perrecord.errors import DocumentError, InputError, listing
from perrecord.exact import rational, text
from perrecord.policy.blurring import BlurredEpsilon, BlurredRho
from perrecord.policy.cases import Cases
from perrecord.policy.document import FORMAT, VERSIONS, Json, has_growth
from perrecord.policy.growth import Growth
from perrecord.policy.slots import Slot
from perrecord.policy.split import Scheme, Split, SplitBy, measure_name, positive_threshold
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
    has_slots,
)
from perrecord.policy.weighing import WeighedChoice

V = TypeVar("V")

GROWTHS: dict[str, type[Growth]] = {
    each.kind: each
    for each in (TaperedRho, TaperedEpsilon, BlurredRho, BlurredEpsilon, WeighedChoice)
}
"""Every growth that a document may name, by its kind."""


def read(written: str) -> tuple[Currency, Form]:
    """Return the currency and form of a document, or say where it goes wrong."""
    if not isinstance(written, str):
        raise DocumentError(
            f"the policy is a {type(written).__name__}; expected the text of a document."
        )
    try:
        document = json.loads(written, object_pairs_hook=_no_twins)
    except (TypeError, ValueError, RecursionError) as error:
        raise DocumentError(
            f"the policy is not JSON ({_where(error)}); give what Policy.to_json() returned."
        ) from None
    return read_parsed(document)


def read_parsed(document: object) -> tuple[Currency, Form]:
    """Return the currency and form of a document that stood inside another, parsed with it."""
    top = _object(document, "the document")
    if top.get("format") != FORMAT:
        raise DocumentError(f"the document's format is {top.get('format')!r}; expected {FORMAT!r}.")
    if type(top.get("version")) is not int or top["version"] not in VERSIONS:
        raise DocumentError(
            f"the document is of version {top.get('version')!r}; this perrecord reads versions "
            f"up to {VERSIONS[-1]}. A newer perrecord may read it: pip install --upgrade perrecord."
        )
    _only(top, "the document", {"format", "version", "currency", "splits", "terms", "slots"})
    try:
        currency = Currency(top.get("currency"))
    except ValueError:
        raise DocumentError(
            f"the currency is {top.get('currency')!r}; expected 'rho' or 'epsilon'."
        ) from None
    splits = _list(top, "splits", "")
    try:
        schemes = [_read_split(value, f"splits[{i}]") for i, value in enumerate(splits)]
        reader = _Reader(currency, schemes)
        form = reader.form({key: top.get(key) for key in ("terms", "slots")}, "")
    except RecursionError:
        raise DocumentError("the policy is nested too deeply to be read.") from None
    if top["version"] < VERSIONS[-1] and has_growth(form):
        raise DocumentError(
            f"the document is of version {top['version']} and holds {listing(GROWTHS)} terms; "
            f"expected version {VERSIONS[-1]}."
        )
    if currency is Currency.EPSILON and has_slots(form):
        raise DocumentError("slots belong to the currency 'rho'; this document is in 'epsilon'.")
    return currency, form


def _read_split(value: object, where: str) -> Scheme:
    fields = _object(value, where)
    if "dimensions" in fields:
        _only(fields, where, {"dimensions", "cases", "default"})
        return SplitBy(_read_cases(fields, "split", _read_split, where))
    _only(fields, where, {"thresholds", "cap"})
    thresholds = _object(fields["thresholds"], f"{where}.thresholds")
    with _located(where):
        split = Split({name: _number(value, name) for name, value in thresholds.items()})
        return split if fields.get("cap") is None else split.capped(fields["cap"])


def _read_cases(
    fields: Json, what: str, read_value: Callable[[object, str], V], where: str
) -> Cases[V]:
    entries = []
    for i, item in enumerate(_list(fields, "cases", where)):
        place = f"{where}.cases[{i}]"
        case = _object(item, place)
        _only(case, place, {"when", what})
        value = read_value(case.get(what), f"{place}.{what}")
        entries.append((tuple(_list(case, "when", place)), value))
    default = fields.get("default")
    fallback = None if default is None else read_value(default, f"{where}.default")
    with _located(where):
        return Cases.checked(tuple(_list(fields, "dimensions", where)), entries, fallback)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads terms that refer to schemes by position."""

    currency: Currency
    schemes: list[Scheme]

    def form(self, value: object, where: str) -> Form:
        fields = _object(value, where or "the document")
        _only(fields, where, {"terms", "slots"})
        inside = f"{where}." if where else ""
        terms = _list(fields, "terms", where)
        slots = _list(fields, "slots", where)
        return Form(
            tuple(self.term(term, f"{inside}terms[{i}]") for i, term in enumerate(terms)),
            tuple(self.slot(slot, f"{inside}slots[{i}]") for i, slot in enumerate(slots)),
        )

    def term(self, value: object, where: str) -> Term:
        fields = _object(value, where)
        kind = fields.get("type")
        if isinstance(kind, str) and kind in GROWTHS:
            return self.size_loss(GROWTHS[kind], fields, where)
        if not isinstance(kind, str) or kind not in _FIELDS:
            known = [*_FIELDS, *GROWTHS]
            raise DocumentError(f"{where}: the type is {kind!r}; expected one of {listing(known)}.")
        _only(fields, where, {"type", *_FIELDS[kind]})
        with _located(where):
            match kind:
                case "constant":
                    return Constant(_amount(fields))
                case "split":
                    return SplitLoss(_amount(fields), self.scheme(fields.get("split")))
                case "exact":
                    measure = measure_name(fields["measure"])
                    threshold = _number(fields["threshold"], "the threshold")
                    return ExactLoss(
                        _amount(fields), measure, positive_threshold(measure, threshold)
                    )
                case "largest":
                    return Largest(self.options(fields))
                case _:
                    return Piecewise(_read_cases(fields, "policy", self.form, "by"))

    def options(self, fields: Json) -> tuple[Form, ...]:
        options = tuple(
            self.form(option, f"options[{i}]")
            for i, option in enumerate(_list(fields, "options", ""))
        )
        if not options or any(has_slots(option) for option in options):
            raise InputError("the options are none, or hold slots; expected forms without slots.")
        return options

    def slot(self, value: object, where: str) -> Slot:
        fields = _object(value, where)
        _only(fields, where, {"rho", "threshold", "keys", "split"})
        with _located(where):
            split = fields.get("split")
            scheme = None if split is None else self.scheme(split)
            keys = _list(fields, "keys", where)
            rho = _number(fields["rho"], "rho")
            return Slot.of(rho, keys, scheme, fields["threshold"], None)

    def size_loss(self, growth: type[Growth], fields: Json, where: str) -> SizeLoss:
        _only(fields, where, {"type", "amount", "measure", *growth.names()}, growth.optional)
        with _located(where):
            if growth.power != self.currency.power:
                raise InputError(
                    f"the type {growth.kind!r} does not go with the currency "
                    f"{self.currency.value!r}."
                )
            given = [*growth.names(), *(name for name in growth.optional if name in fields)]
            numbers = {name: rational(_number(fields[name], name)) for name in given}
            for name in growth.wholes:
                if fields[name] != text(numbers[name]) or numbers[name].denominator > 1:
                    raise InputError(f'{name} is {fields[name]!r}; expected digits such as "7".')
            return SizeLoss(_amount(fields), measure_name(fields["measure"]), growth.of(numbers))

    def scheme(self, index: object) -> Scheme:
        if type(index) is not int or not 0 <= index < len(self.schemes):
            raise InputError(
                f"the split is {index!r}; expected a position in the document's list of "
                f"{len(self.schemes)} splits, counted from 0."
            )
        return self.schemes[index]


_FIELDS = {
    "constant": ("amount",),
    "split": ("amount", "split"),
    "exact": ("amount", "measure", "threshold"),
    "largest": ("options",),
    "by": ("dimensions", "cases", "default"),
}


def _amount(fields: Json) -> Fraction:
    return rational(_number(fields["amount"], "the amount"))


_PLAIN_NUMBER = re.compile(r"[0-9]+(\.[0-9]+|/[0-9]*[1-9][0-9]*)?")


def _number(value: object, what: str) -> str:
    """Return an exact number's text, in the one spelling that the format knows."""
    if not isinstance(value, str) or not _PLAIN_NUMBER.fullmatch(value):
        raise InputError(
            f"{what} is {value!r}; expected an exact number that is not negative, as text: "
            '"0.1" or "1/3".'
        )
    return value


def _no_twins(pairs: list[tuple[str, Any]]) -> Json:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError
    return fields


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Put the place in the document in front of whatever goes wrong inside."""
    try:
        yield
    except InputError as error:
        raise DocumentError(f"{where}: {error}") from None


def _object(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise DocumentError(f"{where} is {_kind(value)}; expected an object.")
    return value


def _list(fields: Json, name: str, where: str) -> list[Any]:
    value = fields.get(name)
    if not isinstance(value, list):
        place = f"{where}.{name}" if where else name
        raise DocumentError(f"{place} is {_kind(value)}; expected a list.")
    return value


def _only(fields: Json, where: str, known: set[str], optional: Iterable[str] = ()) -> None:
    missing = sorted(known - fields.keys())
    unknown = sorted(fields.keys() - known - set(optional))
    if unknown or missing:
        fault = f"holds {listing(unknown)}" if unknown else f"lacks {listing(missing)}"
        raise DocumentError(
            f"{where or 'the document'} {fault}; expected exactly {listing(sorted(known))}."
        )


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", type(None): "missing"}
    return names.get(type(value), f"a {type(value).__name__}")


def _where(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return "a name is given twice" if isinstance(error, ValueError) else type(error).__name__
