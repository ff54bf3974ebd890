"""`policy.json` read back, by whoever has only the file: every mistake is named with its place.

It may be somebody else's text. The library itself holds policies, and never reads its own text.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from perrecord.errors import DocumentError, InputError, listing
from perrecord.exact import rational
from perrecord.policy.cases import Cases
from perrecord.policy.choices import ChosenCandidate
from perrecord.policy.document import Json
from perrecord.policy.outputs import NoisyNumber, Output, Selection
from perrecord.policy.policy import Policy
from perrecord.policy.scopes import Scope
from perrecord.policy.weighing import Weighting
from perrecord.release.changes import write_raised
from perrecord.release.document import FORMAT, VERSION, Example, PublishedCharge, PublishedPolicy
from perrecord.release.fields import TYPES, Field
from perrecord.release.noise import CellNoise, Noise, NoiseTree
from perrecord.release.series import EarlierCharges, PublishedSeries
from perrecord.release.writing import write_curve
from perrecord.tables.arithmetic import Arithmetic

V = TypeVar("V")

_TOP = ["budget", "changes", "charges", "curves", "examples", "fields", "format", "notes",
        "series", "table", "title", "total", "unit", "version"]  # fmt: skip


def read_published(written: str) -> PublishedPolicy:
    """Return the published policy that a text holds; nothing is lost.

    >>> from perrecord import Policy, Split
    >>> policy = Policy.split("0.1", Split(employees=50))
    >>> employees = Field("employees", "measure", resolution=Fraction(1))
    >>> charge = PublishedCharge("employment", "Employment by county", policy)
    >>> published = PublishedPolicy("Employment", "firms", (employees,), (charge,), policy)
    >>> read_published(published.to_json()) == published
    True
    """
    top = _parsed(written)
    with _located("the document"):
        fields = tuple(_each(top["fields"], "fields", _read_field))
        measures = {field.name for field in fields if field.kind not in TYPES}
        published = PublishedPolicy(
            title=_plain_text(top["title"], "title"),
            table=_plain_text(top["table"], "table"),
            fields=fields,
            charges=tuple(_each(top["charges"], "charges", _read_charge)),
            total=_read_policy(top["total"], "total"),
            budget=None if top["budget"] is None else _read_policy(top["budget"], "budget"),
            notes=tuple(_each(top["notes"], "notes", _plain_text)),
            examples=tuple(
                _each(top["examples"], "examples", partial(_read_example, measures=measures))
            ),
            unit_column=None if top["unit"] is None else _plain_text(top["unit"], "unit"),
            series=None if top["series"] is None else _read_series(top["series"], "series"),
        )
    if top["curves"] != [write_curve(curve) for curve in published.curves]:
        raise DocumentError(
            "the curves do not belong to the document's key selections; expected what "
            "PublishedPolicy.to_json() wrote."
        )
    if top["changes"] != [write_raised(each) for each in published.changes]:
        raise DocumentError(
            "the changes are not those of the document's examples; expected what "
            "PublishedPolicy.to_json() wrote."
        )
    return published


def _parsed(written: str) -> Json:
    try:
        top = json.loads(written, object_pairs_hook=_one_of_each)
    except (TypeError, ValueError, RecursionError):
        raise DocumentError(
            "the published policy is not JSON, or gives a name twice; expected what "
            "PublishedPolicy.to_json() returned."
        ) from None
    if not isinstance(top, dict) or top.get("format") != FORMAT:
        raise DocumentError(f"the text is not a published policy; expected the format {FORMAT!r}.")
    if type(top.get("version")) is not int or top["version"] not in (1, VERSION):
        raise DocumentError(
            f"the published policy is of version {top.get('version')!r}; this perrecord reads "
            f"1 and {VERSION}. A newer perrecord may read it: pip install --upgrade perrecord."
        )
    # Version 1, of perrecord 0.1, said neither what changes cost nor what a unit is.
    unsaid: Json = {"changes": [], "unit": None} if top["version"] == 1 else {}
    unsaid["series"] = None  # said by a release under a ledger with periods, and by no other
    return _exactly(unsaid | top, "the document", _TOP)


def _read_series(value: object, where: str) -> PublishedSeries:
    names = ["earlier", "limit", "period", "periods", "revision", "unread"]
    given = _exactly(value, where, names)
    limit, revision = given["limit"], given["revision"]
    return PublishedSeries(
        _plain_text(given["period"], f"{where}.period"),
        tuple(_each(given["periods"], f"{where}.periods", _plain_text)),
        tuple(_each(given["earlier"], f"{where}.earlier", _read_earlier)),
        tuple(_each(given["unread"], f"{where}.unread", _read_unread)),
        None if limit is None else _read_policy(limit, f"{where}.limit"),
        None if revision is None else _plain_text(revision, f"{where}.revision"),
    )


def _read_earlier(value: object, where: str) -> EarlierCharges:
    given = _exactly(value, where, ["period", "policy", "titles"])
    return EarlierCharges(
        _plain_text(given["period"], f"{where}.period"),
        tuple(_each(given["titles"], f"{where}.titles", _plain_text)),
        _read_policy(given["policy"], f"{where}.policy"),
    )


def _read_unread(value: object, where: str) -> tuple[str, str]:
    given = _exactly(value, where, ["period", "title"])
    period, title = given["period"], given["title"]
    return _plain_text(period, f"{where}.period"), _plain_text(title, f"{where}.title")


def _read_charge(value: object, where: str) -> PublishedCharge:
    if isinstance(value, dict):  # version 1, of perrecord 0.1, stated neither
        value = {"noise": None, "outputs": None} | value
    given = _exactly(value, where, ["name", "title", "policy", "noise", "outputs"])
    with _located(where):
        name, title = _plain_text(given["name"], "name"), _plain_text(given["title"], "title")
        noise = None if given["noise"] is None else _each(given["noise"], "noise", _read_noise)
        policy = _read_policy(given["policy"], "policy")
        charge = PublishedCharge(name, title, policy, None if noise is None else tuple(noise))
        if given["outputs"] is None:
            return charge
        read = partial(_read_output, charge=charge)
        return replace(charge, outputs=tuple(_each(given["outputs"], "outputs", read)))


def _read_example(value: object, where: str, *, measures: set[str]) -> Example:
    given = _exactly(value, where, ["name", "record"])
    record = given["record"]
    if not isinstance(record, dict):
        raise DocumentError(f"{where}: expected a record as an object.")
    with _located(where):
        return _plain_text(given["name"], "name"), {
            name: value
            if value is None or name not in measures
            else _number(value, f"the measure {name!r}")
            for name, value in record.items()
        }


def _read_policy(value: object, where: str) -> Policy:
    with _located(where):
        return Policy.from_document(value)


def _read_field(value: object, where: str) -> Field:
    """Return the field that the document has, or say where it goes wrong."""
    names = ["name", "kind", "label", "unit", "expression"]
    is_measure = False
    if isinstance(value, dict) and value.get("kind") == "measure":
        # Version 0.1 wrote down how the source stored numbers, which changes nothing any more.
        is_measure, value = True, {key: each for key, each in value.items() if key != "rounding"}
    extra = ["resolution", "largest", "outside"] if is_measure else ["values"]
    optional = ["computed" if is_measure else "names", "looked_up"]
    extra += [name for name in optional if isinstance(value, dict) and name in value]
    given = _exactly(value, where, [*names, *extra])
    with _located(where):
        texts = {name: _plain_text(given[name], name) for name in names}
        looked_up = tuple(_each(given.get("looked_up", []), "looked_up", _plain_text))
        if not is_measure:
            values = tuple(_each(given["values"], "values", _as_it_is))
            called = tuple(_each(given.get("names", []), "names", _plain_text))
            return Field(**texts, values=values, names=called, looked_up=looked_up)
        resolution, largest = _plain_text(given["resolution"], "resolution"), given["largest"]
        if not (isinstance(largest, str) and largest.isascii() and largest.isdigit()):
            raise InputError('largest is not a whole number as text, such as "1000".')
        return Field(
            **texts,
            resolution=rational(resolution, "the resolution"),
            largest=int(rational(largest, "largest")),
            outside=_plain_text(given["outside"], "outside"),
            computed=_read_computed(given["computed"], "computed") if "computed" in given else None,
            looked_up=looked_up,
        )


def _read_computed(value: object, where: str) -> Arithmetic:
    given = _exactly(value, where, ["reads", "terms"])
    reads = tuple(_each(given["reads"], f"{where}.reads", _plain_text))
    terms = tuple(_each(given["terms"], f"{where}.terms", _read_term))
    if not reads or not {name for names, _ in terms for name in names} <= set(reads):
        raise InputError("a derived measure reads a measure that it does not list.")
    return Arithmetic(terms, reads)


def _read_term(value: object, where: str) -> tuple[tuple[str, ...], Fraction]:
    if not isinstance(value, list) or len(value) != 2:
        raise DocumentError(f"{where}: expected a factor and a list of measures.")
    factor = rational(_plain_text(value[0], where), "a factor")
    return tuple(_each(value[1], where, _plain_text)), factor


def _as_it_is(value: Any, _: str) -> Any:
    return value


def _read_noise(value: object, where: str) -> Noise:
    """Return the noise that the document has, or say where it goes wrong."""
    given = _exactly(value, where, ["moved", "measure", "centred", "certain", "cells"])
    with _located(where):
        for name in ("centred", "certain"):
            if not isinstance(given[name], bool):
                raise DocumentError(f"{name} is not a truth value.")
        measure = None if given["measure"] is None else _plain_text(given["measure"], "measure")
        return Noise(
            _plain_text(given["moved"], "moved"),
            measure,
            _read_tree(given["cells"], "cells"),
            given["centred"],
            given["certain"],
        )


def _read_tree(value: object, where: str) -> NoiseTree:
    if isinstance(value, dict) and "dimensions" in value:
        given = _exactly(value, where, ["dimensions", "cases", "default"])
        names = tuple(_each(given["dimensions"], f"{where}.dimensions", _plain_text))
        cases = _each(given["cases"], f"{where}.cases", _read_case)
        default = given["default"]
        rest = None if default is None else _read_tree(default, f"{where}.default")
        with _located(where):
            return Cases.checked(names, cases, rest)
    is_blurred = isinstance(value, dict) and "blurred_by" in value
    more = ["blurred_by"] if is_blurred else []
    given = _exactly(value, where, ["law", "spread", "step", "variance", "bounds", *more])
    with _located(where):
        ends = given["bounds"]
        if ends is not None and (not isinstance(ends, list) or len(ends) != 2):
            raise DocumentError("bounds are not a pair of numbers.")
        low, high = (None, None) if ends is None else (_number(end, "bounds") for end in ends)
        cell = CellNoise(
            _plain_text(given["law"], "law"),
            _number(given["spread"], "spread"),
            _number(given["step"], "step"),
            None if low is None or high is None else (low, high),
            _number(given["blurred_by"], "blurred_by") if is_blurred else None,
        )
        if given["variance"] != str(cell.shown_variance):
            raise DocumentError("the variance is not that of the law.")
        return cell


def _read_case(value: object, where: str) -> tuple[Any, NoiseTree]:
    given = _exactly(value, where, ["when", "cells"])
    key = tuple(_each(given["when"], f"{where}.when", lambda part, _: part))
    return key, _read_tree(given["cells"], f"{where}.cells")


def _read_output(value: object, where: str, *, charge: PublishedCharge) -> Output:
    """Return the output that the document has, or say where it goes wrong."""
    currency = charge.policy.currency
    match value.get("type") if isinstance(value, dict) else None:
        case "number":
            given = _exactly(value, where, ["type", "noise", "by", "certain", "distinct"])
            place, distinct = given["noise"], given["distinct"]
            if type(place) is not int or not 0 <= place < len(charge.noise or ()):
                raise DocumentError(f"{where}: noise is not a position in the charge's noise.")
            column = None if distinct is None else _plain_text(distinct, f"{where}.distinct")
            noise = (charge.noise or ())[place]
            return NoisyNumber(noise, _read_scope(given, where), currency, column)
        case "choice":
            names = ["by", "certain", "among", "amount", "measure", "level", "candidates"]
            is_weighed = isinstance(value, dict) and "weight" in value
            given = _exactly(value, where, ["type", *names, *(["weight"] if is_weighed else [])])
            return ChosenCandidate(
                _number(given["amount"], f"{where}.amount"),
                _plain_text(given["measure"], f"{where}.measure"),
                _number(given["level"], f"{where}.level"),
                tuple(_each(given["candidates"], f"{where}.candidates", _number)),
                _read_scope(given, where),
                currency,
                _read_weighting(given["weight"], f"{where}.weight") if is_weighed else None,
            )
        case "selection":
            given = _exactly(value, where, ["type", "certain", "among"])
            slots = {slot for _, slot in charge.policy.slots}
            if len(slots) != 1:
                raise DocumentError(f"{where}: the charge's policy has not one key selection.")
            scope = _read_scope({"by": [], **given}, where)
            return Selection(slots.pop(), scope.is_certain, scope.among)
    raise DocumentError(f"{where}: expected an output: a number, a choice or a selection.")


def _read_weighting(value: object, where: str) -> Weighting:
    given = _exactly(value, where, ["measure", "at"])
    measure, at = given["measure"], given["at"]
    with _located(where):
        return Weighting(_plain_text(measure, "measure"), _number(at, "at"))


def _read_scope(given: Json, where: str) -> Scope:
    if not isinstance(given["certain"], bool):
        raise DocumentError(f"{where}: certain is not a truth value.")
    among, columns = given.get("among"), _each(given["by"], f"{where}.by", _plain_text)
    if among is None:
        return Scope(tuple(columns), given["certain"])
    table = _exactly(among, f"{where}.among", ["dimensions", "cases", "default"])
    names = tuple(_each(table["dimensions"], f"{where}.dimensions", _plain_text))
    cases = _each(table["cases"], f"{where}.cases", _read_passing)
    if table["default"] is not False or not all(passes is True for _, passes in cases):
        raise DocumentError(f"{where}: what is among is listed, and nothing else passes.")
    with _located(where):
        return Scope(tuple(columns), given["certain"], Cases.checked(names, cases, False))


def _read_passing(value: object, where: str) -> tuple[Any, bool]:
    given = _exactly(value, where, ["when", "passes"])
    return tuple(_each(given["when"], f"{where}.when", _as_it_is)), given["passes"]


def _number(value: object, name: str) -> Fraction:
    return rational(_plain_text(value, name), name)


# -- any JSON -------------------------------------------------------------------------------


def _plain_text(value: object, where: str) -> Any:
    """Return text, or say where there is none."""
    if not isinstance(value, str):
        raise DocumentError(f"{where} is a {type(value).__name__}; expected text.")
    return value


def _each(value: object, where: str, read: Callable[[object, str], V]) -> list[V]:
    """Return the items of a list, each read with its place."""
    if not isinstance(value, list):
        raise DocumentError(f"{where} is a {type(value).__name__}; expected a list.")
    return [read(item, f"{where}[{index}]") for index, item in enumerate(value)]


def _exactly(value: object, where: str, names: list[str]) -> Json:
    """Return an object that has these fields and no others."""
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        raise DocumentError(f"{where}: expected an object of exactly {listing(names, limit=12)}.")
    return value


def _one_of_each(pairs: list[tuple[str, Any]]) -> Json:
    """Return an object's fields; json.loads would quietly keep the last of two twins."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Put the place in the document in front of whatever goes wrong inside."""
    try:
        yield
    except InputError as error:
        raise DocumentError(f"{where}: {error}") from None
