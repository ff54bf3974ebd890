"""Figures of the methodology, section by section, from policy.json and the spec."""

import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from perrecord.lab.audit.shown import by_hand, changes
from perrecord.lab.audit.shown.declared import exact
from perrecord.lab.audit.shown.document import (
    Json,
    Row,
    delta_of,
    estimate_of,
    least_loss,
    loss_of,
    spare_of,
    told_by_themselves,
)
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.ledger_commands import ends, errors_of
from perrecord.lab.audit.shown.numerals import AtMost, Expected, Near, numerals, text_of
from perrecord.lab.audit.shown.policy_command import recognised
from perrecord.lab.audit.shown.source import (
    groupings_of,
    keys_of,
    measure_of,
    table_of,
    taper_of,
)
from perrecord.lab.audit.shown.words import described, on_one_line


def check_methodology(
    findings: Comparisons, document: Json, spec: Json, examples: Mapping[str, Row], text: str
) -> None:
    """Compare every number of methodology.md with policy.json, the spec and the records."""
    parts = re.split(r"^## (.*)$", text, flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    findings.numerals(
        "methodology: policy", sections["The policy"], list(_policy(document, examples))
    )
    findings.numerals(
        "methodology: measures", sections["Measures"], list(_measures(document, spec))
    )
    for query in spec["queries"]:
        findings.numerals(
            "methodology: tables",
            sections[query.get("title", query["name"])],
            list(_query(document, spec, query)),
        )
    budget = sections["Numbers and noise"].rpartition("this budget")[2]
    findings.numerals("methodology: budget", budget, described(document["budget"]))
    intervals = sections["Numbers and noise"].partition("Confidence intervals")[2]
    findings.equal("methodology: confidence", numerals(intervals)[0], "95")


def _policy(document: Json, examples: Mapping[str, Row]) -> Iterator[Expected]:
    total = document["total"]
    yield from described(total)
    least = least_loss(total)
    yield None if least is None else text_of(least)
    yield "5"
    for name, record in examples.items():
        loss = loss_of(total, record)
        yield from (*numerals(name), AtMost(loss, 6) if spare_of(total) else text_of(loss))
        about = recognised(document, record)
        if about is not None:
            yield Near(100 * about, whole=0)
        yield AtMost(100 * at_most(total, record))
        yield from _estimates(document, record)
    yield from changes.in_methodology(document, examples)


def at_most(total: Json, record: Row) -> float:
    """Return how often a test with 5 % false alarms recognises a record, at most."""
    loss = float(loss_of(total, record))
    if total["currency"] == "rho":
        return by_hand.power(loss, 0.05, delta_of(total, record))
    factor = math.exp(min(loss, 700.0))
    return min(1.0, 0.05 * factor, 1 - 0.95 / factor)


def _estimates(document: Json, record: Row) -> Iterator[Expected]:
    for name in told_by_themselves(document):
        if record[name] is None:
            continue
        error, value = estimate_of(document, record, name), abs(float(record[name]))
        if error is not None:
            yield Near(error, whole=0)
            if value:
                yield Near(100 * error / value, whole=0)


def _measures(document: Json, spec: Json) -> Iterator[Expected]:
    """Yield steps and the largest values that are counted; of changes, in each period."""
    periods = 2 if isinstance(spec["source"], dict) else 1
    for field in document["fields"]:
        if field["kind"] == "measure":
            step = Fraction(field["resolution"])
            yield from (text_of(step), text_of(step * int(field["largest"]) / periods))
    for field in document["fields"]:
        if "computed" in field:
            yield from numerals(field["expression"])


def _query(document: Json, spec: Json, query: Json) -> Iterator[Expected]:
    charges = {each["name"]: each for each in document["charges"]}
    if "where" in query:
        yield from numerals(query["where"])
    for columns in groupings_of(query):
        yield from _cells(spec, query, columns)
        for name, answer in query["answers"].items():
            charge = charges[f"{table_of(query, columns)}.{name}"]
            yield from _how(spec, answer)
            yield from on_one_line(charge["policy"])
            yield from ends(errors_of(charge))


def _cells(spec: Json, query: Json, columns: tuple[str, ...]) -> Iterator[Expected]:
    keys = query.get("keys")
    if keys == "found":
        select = spec["keys"]["found"]["select"]
        yield from ("1", "2", text_of(exact(select["rho"])), int(select["threshold"]))
    elif columns:
        yield len(keys_of(spec, columns))
        if isinstance(keys, dict):
            yield int(keys["at_least"])


def _how(spec: Json, answer: Json) -> Iterator[Expected]:
    if "candidates" in answer:
        level = exact(answer.get("level", "1/2"))
        weight = [text_of(answer["weight"]["at"])] if "weight" in answer else []
        yield text_of(level)
        yield from weight
        yield len(answer["candidates"])
    if not {"sum", "average"} & answer.keys():
        return
    parts, measure = answer.get("parts"), measure_of(answer) or ""
    every = [answer] if parts is None else [*parts["cases"].values(), parts["default"]]
    kinds = list(dict.fromkeys(kind for each in every for kind in _kinds(spec, each, measure)))
    if len(kinds) > 1:
        yield len(kinds)
    else:
        yield from kinds[0]


def _kinds(spec: Json, part: Json, measure: str) -> Iterator[tuple[Fraction, ...]]:
    """Yield the numbers of each way that a value enters: bounds, or thresholds or sizes by name."""
    if "clamp" in part:
        yield tuple(map(exact, part["clamp"]))
        return
    if "taper" in part:
        sizes, nu = taper_of(spec, part, measure)
        yield sizes[measure], Fraction(nu), *_blur(part)
        return
    scheme = spec["splits"][part["split"]]
    for each in [*scheme["cases"].values(), scheme["default"]] if "by" in scheme else [scheme]:
        yield tuple(exact(limit) for _, limit in sorted(each.items()))


def _blur(part: Json) -> Iterator[Fraction]:
    """Yield by what share a total is blurred, if it is."""
    if "blur" in part:
        blur = part["blur"]
        yield exact(blur["by"] if isinstance(blur, dict) else blur)
