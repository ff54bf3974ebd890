"""The public document: exact round trips, the schema, an independent reader, bad documents."""

import json
import math
from fractions import Fraction
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import given

from perrecord import DocumentError, Policy, Split
from tests.policy import strategies as some

SCHEMA = json.loads(files("perrecord.policy").joinpath("policy.schema.json").read_text("utf-8"))


def reads_to(document, record, ceil=math.ceil):
    """Evaluate a document on a record in a few lines that share no code with the library."""
    power = {"rho": 2, "epsilon": 1}[document["currency"]]

    def size(name):
        return abs(Fraction(record[name] or 0))

    def same(a, b):
        return type(a) is type(b) and a == b

    def choose(table, key):
        here = [record[name] for name in table["dimensions"]]
        for case in table["cases"]:
            if all(map(same, case["when"], here)):
                return case[key]
        return table["default"]

    def pieces(split):
        if "dimensions" in split:
            return pieces(choose(split, "split"))
        counts = [ceil(size(name) / Fraction(t)) for name, t in split["thresholds"].items()]
        most = max(1, *counts)
        return min(most, split["cap"]) if split["cap"] else most

    def loss(form):
        total = Fraction(0)
        for term in form["terms"]:
            amount = Fraction(term.get("amount", "0"))
            if term["type"] == "constant":
                total += amount
            elif term["type"] == "split":
                total += amount * pieces(document["splits"][term["split"]]) ** power
            elif term["type"] == "exact":
                total += amount * (size(term["measure"]) / Fraction(term["threshold"])) ** power
            elif term["type"] == "largest":
                total += max(loss(option) for option in term["options"])
            else:
                total += loss(choose(term, "policy"))
        return total

    return loss(document)


@given(some.policies, some.slots, some.records)
def test_documents_round_trip_fit_the_schema_and_read_the_same(policy, slot, record):
    """Nothing is lost, whoever reads it."""
    whole = policy + slot
    written = whole.to_json()
    again = Policy.from_json(written)
    assert again == whole
    assert again.to_json() == written
    document = json.loads(written)
    jsonschema.validate(document, SCHEMA)
    assert reads_to(document, record) == whole.loss(record) == again.loss(record)
    assert again.delta(record) == whole.delta(record)


def test_a_reader_that_floors_is_caught():
    """Broken twin: the comparison notices an independent reader that takes floor for ceil."""
    policy = Policy.split(1, Split(x=5))
    document = json.loads(policy.to_json())
    assert reads_to(document, {"x": 11}) == policy.loss({"x": 11})
    assert reads_to(document, {"x": 11}, ceil=math.floor) != policy.loss({"x": 11})


def test_pure_epsilon_documents_keep_their_currency():
    """The currency is part of the document."""
    policy = Policy.split(epsilon="1/3", split=Split(x=5))
    assert Policy.from_json(policy.to_json()) == policy
    assert reads_to(json.loads(policy.to_json()), {"x": 11}) == 1


def test_a_scheme_of_five_thousand_cases_is_written_once():
    """Schemes stand in one list and are referred to."""
    cases = {f"n{i}": Split(x=i + 1) for i in range(5000)}
    scheme = Split.by("naics", cases, Split(x=1))
    once = Policy.split(1, scheme)
    twice = (
        Policy.constant(1) + once + Policy.selection("0.1", ["naics"], split=scheme, delta="1e-6")
    )
    assert len(twice.to_json(indent=None)) < 1.05 * len(once.to_json(indent=None))
    assert Policy.from_json(twice.to_json()) == twice


GOOD = json.loads(
    (
        Policy.constant(1)
        + Policy.by("region", {"north": Policy.split(1, Split(x=5))}, Policy.zero())
        + Policy.selection("0.1", ["region"], delta="1e-6")
    ).to_json()
)


def changed(path, value):
    """Return the good document with one place changed."""
    document = json.loads(json.dumps(GOOD))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(document)


BAD = [
    ("{", "the policy is not JSON .line 1, column"),
    ("[]", "the document is a list; expected an object"),
    (changed(["format"], "other"), "format is 'other'; expected 'perrecord-policy'"),
    (changed(["version"], 3), "of version 3; this perrecord reads versions up to 2"),
    (changed(["currency"], "euro"), "currency is 'euro'; expected 'rho' or 'epsilon'"),
    (changed(["extra"], 1), "the document holds extra"),
    (changed(["terms"], None), "terms is missing; expected a list"),
    (changed(["terms", 0, "type"], "konstant"), r"terms\[0\]: the type is 'konstant'"),
    (changed(["terms", 0], {"type": "konstant"}), r"terms\[0\]: the type is 'konstant'"),
    (
        changed(["terms", 0, "amount"], 0.5),
        r"terms\[0\]: the amount is 0.5; expected an exact number",
    ),
    (changed(["terms", 0, "amount"], "-1"), r"terms\[0\]: the amount is '-1'"),
    (changed(["terms", 0, "type"], ["constant"]), r"terms\[0\]: the type is \['constant'\]"),
    (changed(["terms", 0], 5), r"terms\[0\] is a int; expected an object"),
    (
        changed(["terms", 1, "cases", 0, "policy", "terms", 0, "split"], 7),
        r"terms\[1\]: by.cases\[0\].policy.terms\[0\]: the split is 7; expected a position",
    ),
    (changed(["terms", 1, "cases", 0, "when"], ["a", "b"]), "one value for each of region"),
    (changed(["terms", 1, "cases", 0, "when"], [0.5]), "holds a float"),
    (changed(["splits", 0, "thresholds", "x"], "0"), r"splits\[0\]: the threshold of 'x' is 0"),
    (changed(["splits", 0, "cap"], 0), r"splits\[0\]: the cap is 0"),
    (changed(["slots", 0, "threshold"], "13"), r"slots\[0\]: the threshold is '13'"),
    (changed(["terms", 0, "amount"], 5), r"terms\[0\]: the amount is 5; expected an exact"),
    (changed(["terms", 0, "amount"], " 1_0e1 "), r"terms\[0\]: the amount is"),
    (changed(["terms", 0, "amount"], "1/0"), r"terms\[0\]: the amount is"),
    (
        changed(["terms", 0], {"type": "largest", "options": []}),
        r"terms\[0\]: the options are none",
    ),
    (
        changed(
            ["terms", 0], {"type": "largest", "options": [{"terms": [], "slots": GOOD["slots"]}]}
        ),
        r"terms\[0\]: the options are none, or hold slots",
    ),
    (
        changed(["terms", 0], {"type": "exact", "amount": "1", "threshold": "1"}),
        r"terms\[0\] lacks measure",
    ),
    (
        changed(["terms", 0], {"type": "exact", "amount": "1", "threshold": "1", "measure": [1]}),
        r"terms\[0\]: the measure is \[1\]",
    ),
    (changed(["splits", 0], {"thresholds": {"x": "5"}}), r"splits\[0\] lacks cap"),
    (changed(["version"], True), "of version True"),
    (changed(["currency"], "epsilon"), "slots belong to the currency 'rho'"),
    ('{"format": 1, "format": 2}', "a name is given twice"),
    (changed(["slots", 0, "keys"], [1, "a"]), r"slots\[0\]: a key selection names no key"),
    (changed(["slots", 0, "keys"], [{}]), r"slots\[0\]: a key selection names no key"),
    (changed(["slots", 0, "keys"], []), r"slots\[0\]: a key selection names no key"),
]


@pytest.mark.parametrize(("written", "message"), BAD)
def test_bad_documents_say_where_they_go_wrong(written, message):
    """Every mistake is located; none passes."""
    with pytest.raises(DocumentError, match=message):
        Policy.from_json(written)
