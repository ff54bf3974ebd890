"""Several records of one unit on the policy page: what the library says, however they are typed."""

import json
from fractions import Fraction
from random import Random

import pytest

from perrecord import Policy
from perrecord.policy.changes import NoisyNumber, Scope
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from perrecord.release.noise import CellNoise, Noise
from perrecord.release.page import policy_page
from tests.browser import policies
from tests.browser.test_records import LOW, random_record, seen_by
from tests.browser.typing import retouched, type_record

FIRMS = 40
FIELDS = policies.changing().fields
STATED = [
    name
    for name, made in policies.EVERY.items()
    if all(charge.outputs is not None for charge in made().charges)
]


def type_lines(tab, lines):
    """Put text into the box as a paste does, and return what the page then shows."""
    text = json.dumps("\n".join(lines))
    tab.evaluate(
        f"(box => {{ box.value = {text}; box.dispatchEvent(new InputEvent('input')); }})"
        "(document.getElementById('unit-records'))"
    )
    return tab.evaluate(
        "({...document.getElementById('unit-result').dataset,"
        " problem: document.getElementById('unit-problem').textContent,"
        " said: document.getElementById('unit-said').textContent})"
    )


def line(fields, typed, sign="\t"):
    """Return a record as a spreadsheet copies it."""
    values = [typed[field.name] for field in fields]
    return sign.join("" if value is None else str(value) for value in values)


@pytest.mark.parametrize("name", STATED)
def test_a_firm_loses_on_the_page_what_the_library_says(name, show):
    """Together and record by record: exactly, or rounded up by less than one part in 10^9."""
    published, source = policies.EVERY[name](), Random(21)
    tab = show(published, height=LOW)
    asked = tab.evaluate(
        "JSON.parse(document.getElementById('data').textContent).unit.fields.map(it => it.name)"
    )
    assert set(published.asked_of_units) <= set(asked)
    fields = [each for each in published.fields if each.name in asked and each.computed is None]
    head = "\t".join(field.name for field in fields)
    for _ in range(FIRMS):
        places = {each.name: source.choice(["x", "y", None]) for each in fields}
        firm = [places | random_record(published, source) for _ in range(source.randrange(1, 6))]
        if source.random() < 0.5:  # several in one place
            firm += [{**source.choice(firm)} for _ in range(2)]
        firm = [each for each in firm if line(fields, each).strip()]  # a blank line is no record
        if not firm:
            continue
        records = [seen_by(published, each) for each in firm]
        shown = type_lines(tab, [head, *(line(fields, each) for each in firm)])
        assert shown["state"] == "valid", shown["problem"]
        expected = published.unit(records)
        found = Fraction(shown["loss"])
        if expected.is_exact:
            assert found == expected.amount
        else:
            assert expected.least <= found <= expected.amount * (1 + Fraction(1, 10**9))
        assert Fraction(shown["delta"]) == published.unit_delta(records)
        for alone, record in zip(json.loads(shown["losses"]), records, strict=True):
            exact = published.total.bounded_loss(record)
            assert exact.least <= Fraction(alone) <= exact.amount * (1 + Fraction(1, 10**9))
    assert tab.events("Runtime.exceptionThrown") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("byCell(entered, by).map((own) => {", "[entered].map((own) => {"),
        ("shiftOf({ noise, cell: cellOf(noise, record) }, record),", "ONE,"),
        ("pieces: own.reduce((all, each) => all + each.pieces, 0n),", "pieces: own[0].pieces,"),
    ],
    ids=["one cell", "counts", "one record of a key"],
)
def test_a_page_that_adds_up_otherwise_is_caught(old, new, show):
    """Broken twins: two records in one sector and one in another tell each apart."""
    published = policies.changing()
    typed = [
        {each.name: size if each.kind == "measure" else each.values[place] for each in FIELDS}
        for place, size in ((0, "120"), (0, "45"), (1, "80"))
    ]
    lines = ["\t".join(each.name for each in FIELDS), *(line(FIELDS, each) for each in typed)]
    expected = published.unit([seen_by(published, each) for each in typed])
    page = policy_page(published)
    for text, is_right in ((page, True), (retouched(page, old, new), False)):
        shown = type_lines(show(text, height=LOW), lines)
        most = expected.amount * (1 + Fraction(1, 10**9))
        assert (expected.least <= Fraction(shown["loss"]) <= most) is is_right


def test_lines_may_be_pasted_typed_or_taken_from_the_form(show):
    """With tabs, commas or semicolons, columns in any order, labels or names in any case."""
    published = policies.changing()
    tab = show(published, height=LOW)
    measures = [each for each in published.fields if each.kind == "measure"]
    head = [each.name for each in published.fields]
    typed = {
        each.name: "1,200" if each in measures else each.values[0] for each in published.fields
    }
    expected = published.unit([seen_by(published, typed)] * 2).amount
    first = type_lines(tab, ["\t".join(head), *[line(published.fields, typed)] * 2])
    again = list(reversed(published.fields))
    heads = "; ".join((each.label or each.name).upper() for each in again)
    second = type_lines(tab, [heads, *[line(again, typed, ";")] * 2, "", "  "])
    assert first["loss"] == second["loss"]
    assert Fraction(first["loss"]) >= expected
    quoted = ",".join('"1,200"' if each in measures else str(each.values[0]) for each in again)
    third = type_lines(tab, [heads.replace(";", ","), quoted, quoted])
    assert third["loss"] == first["loss"]
    tab.evaluate("document.getElementById('unit-clear').click()")
    type_record(tab, published, typed)
    for _ in range(2):
        tab.evaluate("document.getElementById('unit-add').click()")
    shown = tab.evaluate("document.getElementById('unit-result').dataset.loss")
    assert shown == first["loss"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: lines[1:], "The first line must name the columns"),
        (lambda lines: [lines[0], lines[1] + "\t9\t9\t9"], "Line 2 has"),
        (lambda lines: [lines[0], lines[1].rpartition("\t")[0]], "Line 2 has"),
        (lambda lines: [lines[0].replace("\t", ","), lines[1]], "Line 2 has"),
        (lambda lines: [f"{lines[0]}\t{lines[0]}", f"{lines[1]}\t{lines[1]}"], "twice"),
        (lambda lines: [lines[0], lines[1].replace("7", "seven")], "This is not a number"),
        (lambda lines: [lines[0], *[lines[1]] * 2001], "more than 2,000 records"),
    ],
)
def test_what_cannot_be_read_is_said(change, said, show):
    """And no loss is shown."""
    published = policies.changing()
    tab = show(published, height=LOW)
    typed = {
        each.name: "7" if each.kind == "measure" else each.values[0] for each in published.fields
    }
    lines = ["\t".join(each.name for each in published.fields), line(published.fields, typed)]
    assert type_lines(tab, lines)["state"] == "valid"
    shown = type_lines(tab, change(lines))
    assert shown["state"] == "invalid"
    assert said in shown["problem"]


def test_signs_within_quotes_are_parts_of_values(show):
    """A semicolon in a name is no end of it, and two quotes are one: the sizes behind it count."""
    published = policies.changing()
    tab = show(published, height=LOW)
    names = [each.name for each in FIELDS]
    typed = {each.name: "120" if each.kind == "measure" else each.values[0] for each in FIELDS}
    plain = [",".join(["remark", *names]), *[f"Smith,{line(FIELDS, typed, ',')}"] * 2]
    expected = type_lines(tab, plain)
    assert expected["state"] == "valid"
    for remark in ('"Smith; Sons"', '"Smith, ""Sons"""', "Smith; Sons", '"""Smith"", ;"'):
        lines = [plain[0], *(each.replace("Smith", remark, 1) for each in plain[1:])]
        assert type_lines(tab, lines)["loss"] == expected["loss"]


def test_one_column_may_have_any_label(show):
    """Signs in it are no ends of columns, and thousands are read as in the form."""
    jobs = Field("emp", "measure", "Jobs, full-time; paid", resolution=Fraction(1))
    total = Policy.exact(1, measure="emp", threshold=50)
    noise = Noise("values", "emp", CellNoise("gaussian", Fraction(1250), Fraction(1)))
    outputs = (NoisyNumber(noise, Scope((), is_certain=True)),)
    charge = PublishedCharge("emp", "Jobs", total, (noise,), outputs)
    published = PublishedPolicy("Jobs", "est", (jobs,), (charge,), total)
    shown = type_lines(show(published, height=LOW), ["Jobs, full-time; paid", "1,200", "30"])
    assert Fraction(shown["loss"]) == published.unit([{"emp": 1200}, {"emp": 30}]).amount


def test_hostile_pastes_are_inert(show):
    """Names and values of other people's spreadsheets stay text."""
    tab = show(policies.changing(), height=LOW)
    fields = policies.changing().fields
    for text in policies.HOSTILE:
        if "\ud800" in text:
            continue
        head = "\t".join(each.name for each in fields)
        shown = type_lines(tab, [head, "\t".join([text] * len(fields))])
        assert shown["state"] in ("invalid", "valid")
        type_lines(tab, [text, text])
    assert tab.evaluate("window.harmed") is None
    assert tab.events("Runtime.exceptionThrown") == []


def test_a_phone_shows_many_records_without_scrolling_sideways(show):
    """The box scrolls, the page does not."""
    published = policies.changing()
    tab = show(published, width=320, height=LOW)
    typed = {
        each.name: "1234567" if each.kind == "measure" else each.values[0]
        for each in published.fields
    }
    head = "\t".join(each.name for each in published.fields)
    type_lines(tab, [head, *[line(published.fields, typed)] * 150])
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert tab.evaluate("document.querySelectorAll('#unit-losses tr').length") == 101
