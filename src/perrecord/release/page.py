"""The policy page: one HTML file in which anybody can read what a record would lose.

The page is complete in itself. Its content security policy lets it load nothing and run only the
script and the style whose hashes it states; names and values reach it as data, never as markup.
"""

import base64
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from perrecord.exact import text
from perrecord.policy.reads import reads
from perrecord.policy.terms import Currency
from perrecord.release.attack import fields_of_noise
from perrecord.release.document import PublishedPolicy

_SCRIPTS = (
    "exact.js", "typed.js", "figures.js", "policy.js", "meaning.js", "attack.js", "chart.js",
    "fields.js", "record.js", "words.js", "results.js", "curves.js", "page.js",
)  # fmt: skip
_DEEPEST = 9

Json = dict[str, Any]


def policy_page(published: PublishedPolicy) -> str:
    """Return the page of a published policy as one self-contained HTML file.

    >>> from fractions import Fraction
    >>> from perrecord import Policy, Split
    >>> from perrecord.release.document import Charge, Field
    >>> policy = Policy.split("0.1", Split(employees=50))
    >>> employees = Field("employees", "measure", resolution=Fraction(1))
    >>> answer = Charge("employment", "Employment by county", policy)
    >>> page = policy_page(PublishedPolicy("Employment", "firms", (employees,), (answer,), policy))
    >>> "default-src 'none'" in page
    True
    """
    script = "'use strict';(() => {\n" + "\n".join(map(_asset, _SCRIPTS)) + "})();"
    style = _asset("base.css") + _asset("page.css")
    read = _fields_read(published)
    environment = Environment(
        loader=PackageLoader("perrecord.release", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(
        title=_encodable(published.title),
        table=_encodable(published.table),
        notes=[_encodable(note) for note in published.notes],
        words=list(_words(published)),
        unread=[
            _encodable(field.label or field.name)
            for field in published.fields
            if field.name not in read | fields_of_noise(published)
        ],
        is_rho=published.total.currency is Currency.RHO,
        selects=bool(published.total.slots),
        has_budget=published.budget is not None,
        security=Markup(  # noqa: S704 - our own, without double quotes
            f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
            "base-uri 'none'; form-action 'none'"
        ),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own files
        data=Markup(_embedded(_data(published, read))),  # noqa: S704 - escaped there
    )


def _asset(name: str) -> str:
    return files("perrecord.release").joinpath("assets", name).read_text("utf-8")


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _embedded(data: Json) -> str:
    """Return JSON in plain ASCII that no HTML parser takes for markup."""
    written = json.dumps(data, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _encodable(shown: str) -> str:
    """Return text that UTF-8 can hold: a lone half of a surrogate pair becomes U+FFFD."""
    return shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _words(published: PublishedPolicy) -> Iterator[tuple[int, str]]:
    """Yield the lines of the policy in plain English, each with its depth."""
    for line in _encodable(published.total.describe()).splitlines():
        inner = line.lstrip(" ")
        yield min((len(line) - len(inner)) // 2, _DEEPEST), inner


def _fields_read(published: PublishedPolicy) -> frozenset[str]:
    forms = [policy.form for policy in published.policies()]
    return frozenset(name for form in forms for name, _ in reads(form))


# -- what the script reads -------------------------------------------------------------------


def _data(published: PublishedPolicy, priced: frozenset[str]) -> Json:
    """Return the document as the script has it; `priced` are the fields that the loss depends on.

    Schemes are shared between the policies, and dimension values are tagged text: JavaScript would
    read 9007199254740993 as a float and lose its last digit.
    """
    document = json.loads(published.to_json(indent=None))
    splits: dict[str, int] = {}
    charges = [
        {
            "name": each["name"],
            "title": each["title"],
            "form": _form(each["policy"], splits),
            "noise": _tagged(each["noise"]),
        }
        for each in document["charges"]
    ]
    total = _form(document["total"], splits)
    shown = len(splits)  # the budget's own schemes, which come after, cut no record
    budget = document["budget"] and _form(document["budget"], splits)
    schemes = [json.loads(scheme) for scheme in splits]
    thresholds: dict[str, set[Fraction]] = defaultdict(set)
    _collect([schemes, charges, total, budget], thresholds)
    asked = priced | fields_of_noise(published)
    return {
        "currency": document["total"]["currency"],
        "fields": [
            _field(field, thresholds, is_priced=field["name"] in priced)
            for field in document["fields"]
            if field["name"] in asked
        ],
        "labels": [[field["name"], field["label"]] for field in document["fields"]],
        "splits": schemes,
        "shown_splits": list(range(shown)),
        "charges": charges,
        "total": total,
        "budget": budget,
        "curves": [
            {**curve, "points": [[str(pieces), delta] for pieces, delta in curve["points"]]}
            for curve in document["curves"]
        ],
        "least": text(published.total.minimum()),
        "examples": [
            [each["name"], [[name, _tag(value)] for name, value in each["record"].items()]]
            for each in document["examples"]
        ],
    }


def _form(policy: Json, splits: dict[str, int]) -> Json:
    """Return the form of a policy document, its schemes moved to the page's common list."""
    places = [
        splits.setdefault(json.dumps(_tagged(scheme)), len(splits)) for scheme in policy["splits"]
    ]
    form = {"terms": policy["terms"], "slots": policy["slots"]}
    return dict(_tagged(_moved(form, places)))


def _moved(value: Any, places: list[int]) -> Any:
    """Return the value with every position of a scheme replaced."""
    match value:
        case {"split": int(place), **rest}:
            return {**rest, "split": places[place]}
        case dict():
            return {key: _moved(each, places) for key, each in value.items()}
        case list():
            return [_moved(each, places) for each in value]
        case _:
            return value


def _tagged(value: Any) -> Any:
    """Return the value with every case's key as tagged text, and caps as text."""
    match value:
        case {"when": list(key), **rest}:
            return {"when": [_tag(part) for part in key], **_tagged(rest)}
        case {"cap": int(cap), **rest}:
            return {"cap": str(cap), **rest}
        case dict():
            return {key: _tagged(each) for key, each in value.items()}
        case list():
            return [_tagged(each) for each in value]
        case _:
            return value


def _tag(value: str | bool | int | None) -> str:
    match value:
        case None:
            return "n"
        case bool():
            return f"b{value:d}"
        case int():
            return f"i{value}"
        case _:
            return f"t{value}"


def _field(field: Json, thresholds: dict[str, set[Fraction]], *, is_priced: bool) -> Json:
    if field["kind"] == "measure":
        known = sorted(thresholds[field["name"]]) or [Fraction(field["resolution"])]
        return {**field, "scale": text(known[len(known) // 2]), "priced": is_priced}
    values = field["values"] or ([True, False] if field["kind"] == "truth" else [])
    return {**field, "values": [_tag(value) for value in values]}


def _collect(value: Any, thresholds: dict[str, set[Fraction]]) -> None:
    """Gather the thresholds and bounds of each measure; the middle one is its usual size."""
    match value:
        case {"moved": "values", "measure": str(name), "cells": cells}:
            thresholds[name].update(_bounds(cells))
        case {"thresholds": dict(given)}:
            for name, limit in given.items():
                thresholds[name].add(Fraction(limit))
        case {"measure": str(name), "threshold": str(limit)}:
            thresholds[name].add(Fraction(limit))
        case dict():
            for each in value.values():
                _collect(each, thresholds)
        case list():
            for each in value:
                _collect(each, thresholds)


def _bounds(cells: Any) -> Iterator[Fraction]:
    """Yield the larger end of the bounds that a clamped total has, part by part."""
    match cells:
        case {"bounds": [str(low), str(high)]}:
            yield max(abs(Fraction(low)), abs(Fraction(high)))
        case {"cases": cases, "default": default}:
            for each in [*(case["cells"] for case in cases), default]:
                yield from _bounds(each)
