"""The published policy: round trips, its schema, delta curves, rounding, and what is refused."""

import json
from fractions import Fraction
from importlib.resources import files

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing import Registry, Resource

from perrecord import (
    CurrencyError,
    DiscreteGaussian,
    DocumentError,
    InputError,
    MissingFieldError,
    Policy,
    SchemaError,
    Split,
)
from perrecord.policy.slots import Slot
from perrecord.release.contents import published_policy
from perrecord.release.curves import MOST_POINTS, curve_of, together
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from perrecord.release.reading import read_published
from perrecord.release.spec import build, load_spec, open_table
from tests.browser import policies
from tests.policy import strategies as some


def schema(package, name):
    """Return a shipped JSON Schema."""
    return json.loads(files(package).joinpath(name).read_text("utf-8"))


PARTS = Resource.from_contents(schema("perrecord.policy", "policy.schema.json"))
VALIDATOR = jsonschema.Draft202012Validator(
    schema("perrecord.release", "published.schema.json"),
    registry=Registry().with_resource("urn:perrecord:policy:1", PARTS),
)

FIELDS = (
    Field("region", "text", "Region", values=(*some.REGIONS, "west")),
    Field("kind", "integer", values=(0, 1, 2, None), expression="CASE WHEN x THEN 1 ELSE 2 END"),
    *(Field(name, "measure", unit="t", resolution=Fraction(1, 1000)) for name in some.MEASURES),
)


@settings(max_examples=40)
@given(some.policies, some.slots, some.records)
def test_documents_round_trip_and_fit_the_schema(policy, selection, record):
    """Nothing is lost, and the same record loses the same."""
    charges = (PublishedCharge("a", "A sum", policy), PublishedCharge("k", "Keys", selection))
    total = policy + selection
    example = {"region": "west", "kind": None} | dict.fromkeys(some.MEASURES, Fraction("1.5"))
    examples = (("an example", example),)
    published = PublishedPolicy("T", "t", FIELDS, charges, total, total, ("note",), examples)
    written = published.to_json()
    VALIDATOR.validate(json.loads(written))
    again = read_published(written)
    assert again == published
    assert again.to_json() == written
    shares = again.breakdown(record)
    assert sum(share.loss for share in shares) == published.loss(record) == again.loss(record)
    assert together(share.delta for share in shares) == again.delta(record)
    assert total.delta(again.record(record)) <= again.delta(record)


@pytest.mark.parametrize("name", policies.EVERY)
def test_the_documents_of_the_page_tests_round_trip(name):
    """Thousands of cases, nested and in both currencies."""
    published = policies.EVERY[name]()
    VALIDATOR.validate(json.loads(published.to_json()))
    assert read_published(published.to_json()).to_json() == published.to_json()


# -- curves ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rho", "threshold"), [("0.1", 13), ("2", 1), ("1/1000000", 3363), ("3", 40), ("1", -50)]
)
def test_a_curve_is_never_below_the_law_and_hardly_above(rho, threshold):
    """Every m gets at least its exact tail; the paper's selection gets it to twelve digits."""
    slot = Slot.of(rho, ["k"], None, threshold, None)
    law, curve = DiscreteGaussian.for_zcdp(rho), curve_of(slot)
    assert len(curve.points) <= MOST_POINTS + 2
    last = curve.points[-1][0]
    for pieces in {1, 2, 3, last // 3 + 1, last // 2 + 1, last, last + 1, 10 * last}:
        tail = min(Fraction(1), law.tail(threshold - pieces).upper)
        assert curve.at(pieces) >= tail
        if pieces in dict(curve.points):
            assert curve.at(pieces) <= max(Fraction(1, 10**30), tail * (1 + Fraction(1, 10**11)))
    assert curve.at(last) > 1 - Fraction(1, 10**9)
    assert curve.at(last + 1) == 1
    deltas = [delta for _, delta in curve.points]
    assert deltas == sorted(deltas)


def test_a_curve_that_rounds_down_is_caught():
    """Broken twin: dropping the last digit falls below the exact tail."""
    curve, law = curve_of(Slot.of("0.1", ["k"], None, 13, None)), DiscreteGaussian.for_zcdp("0.1")
    pieces, delta = curve.points[4]
    assert pieces == 5
    assert Fraction(delta) - Fraction(1, 10**15) < law.tail(8).lower


# -- rounding ----------------------------------------------------------------------------------


@given(st.integers(-(10**8), 10**8), st.integers(0, 6))
def test_a_measure_is_rounded_with_ties_away_from_zero(digits, places):
    """Decimal text is exact; the nearest multiple is found, the outer one of two."""
    value = Fraction(digits, 10**places)
    rounded = Field("x", "measure", resolution=Fraction(1, 4)).number(f"{digits}e-{places}")
    assert (4 * rounded).denominator == 1
    assert abs(rounded - value) <= Fraction(1, 8)
    if abs(rounded - value) == Fraction(1, 8):
        assert abs(rounded) > abs(value)


def test_what_lies_outside_becomes_null_or_is_cut():
    """As the table does it."""
    ends = {"null": None, "cut": Fraction(-10)}
    for outside, expected in ends.items():
        field = Field("x", "measure", resolution=Fraction(2), largest=5, outside=outside)
        assert field.number("-11") == expected
        assert field.number("10.9") == 10
        assert field.number(None) is None


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("50.49999999999", 50), ("50.5", 51), ("1e16", 10**16), ("1e310", None), ("1/2", 1),
        ("-1e30", None), ("0.49999999999999999999", 0),
    ],
)  # fmt: skip
def test_text_is_read_exactly_as_it_is_written(text, counted):
    """One rule, whatever type the source stores its numbers in."""
    assert Field("x", "measure", resolution=Fraction(1)).number(text) == counted


def test_what_is_no_number_is_refused():
    """A typing error in a record must not count as 0."""
    with pytest.raises(InputError):
        Field("x", "measure", resolution=Fraction(1)).number("many")


SPEC = """
title: T
source: t.{kind}
dimensions: {{st: st, size: "CASE WHEN emp > 100 THEN 'large' ELSE 'small' END", place: st}}
measures: {{emp: 1, pay: {{column: wages, resolution: "0.01"}}, rate: 1}}
lookups: [{{source: rates.parquet, on: st}}]
budget: {{rho: 1}}
ledger: l.ledger
queries: [{{name: q, answers: {{n: {{count: records, rho: 1}}}}}}]
"""


NUMBERS = [pa.int64(), pa.int8(), pa.uint64(), pa.float64(), pa.float32(), pa.decimal128(9, 2)]


@pytest.mark.parametrize("kind", ["csv", *map(str, NUMBERS)])
def test_what_is_published_does_not_depend_on_the_types_of_the_source(kind, tmp_path):
    """One missing value makes pandas write floats: the data must not choose what is published."""
    measures = (Field("emp", "measure", resolution=Fraction(1)),
                Field("pay", "measure", resolution=Fraction("0.01"), expression="wages"),
                Field("rate", "measure", resolution=Fraction(1), looked_up=("st",)))  # fmt: skip
    fields = fields_of_a_spec("csv" if kind == "csv" else "parquet", kind, tmp_path)
    assert fields[3:] == measures


def fields_of_a_spec(ending, kind, tmp_path):
    """Return what a spec publishes about a source whose numbers are of one type."""
    number = next((each for each in NUMBERS if str(each) == kind), pa.int64())
    rows = pa.table({"st": ["x"], "emp": pa.array([1], number), "wages": pa.array([1], number)})
    pq.write_table(rows, tmp_path / "t.parquet")
    pq.write_table(pa.table({"st": ["x"], "rate": [0.5]}), tmp_path / "rates.parquet")
    (tmp_path / "t.csv").write_text("st,emp,wages\nx,1,1.5\n")
    (tmp_path / "spec.yaml").write_text(SPEC.format(kind=ending))
    loaded = load_spec(tmp_path / "spec.yaml")
    with open_table(loaded) as table:
        return build(loaded, table.schema).fields


def test_a_spec_says_what_is_derived(tmp_path):
    """A field that is no column of its own name is defined."""
    fields = fields_of_a_spec("parquet", "int64", tmp_path)
    assert {field.name: field.expression for field in fields} == {
        "st": "",
        "size": "CASE WHEN emp > 100 THEN 'large' ELSE 'small' END",
        "place": "st",
        "emp": "",
        "pay": "wages",
        "rate": "",
    }


# -- refused -----------------------------------------------------------------------------------

X = Field("x", "measure", resolution=Fraction(1))
LOSS = Policy.split(1, Split(x=5))
CHARGE = PublishedCharge("a", "A", LOSS)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"total": Policy.constant(1)}, InputError),
        ({"budget": Policy.constant(1)}, InputError),
        ({"total": Policy.constant(epsilon=5)}, CurrencyError),
        ({"fields": ()}, SchemaError),
        ({"fields": (X, X)}, InputError),
        ({"charges": (CHARGE, CHARGE), "total": 2 * LOSS}, InputError),
        ({"fields": (Field("x", "text"),)}, SchemaError),
        ({"examples": (("e", {"y": Fraction(1)}),)}, InputError),
        ({"examples": (("e", {"x": 1}),)}, InputError),
        ({"examples": (("e", {"x": "1"}),)}, InputError),
        ({"examples": (("e", {}),)}, InputError),
        ({"examples": (("e", {"x": Fraction(1)}), ("e", {"x": Fraction(2)}))}, InputError),
        ({"total": LOSS + Policy.by("x", {"a": LOSS}, LOSS)}, SchemaError),
        ({"total": LOSS + Policy.by("s", {1: LOSS}, LOSS), "fields": (X, Field("s", "text"))},
         SchemaError),
    ],
)  # fmt: skip
def test_a_policy_that_would_mislead_is_refused(change, error):
    """A total below its charges, a missing field, a field of another type, a twin."""
    given = {"fields": (X,), "charges": (CHARGE,), "total": LOSS}
    PublishedPolicy("T", "t", **given)
    with pytest.raises(error):
        PublishedPolicy("T", "t", **{**given, **change})


def test_a_session_may_promise_its_budget():
    """A total above the charges is honest; what is left shows as a reserve."""
    published = PublishedPolicy("T", "t", (X,), (CHARGE,), LOSS * 3)
    assert published.loss({"x": "7"}) - published.breakdown({"x": "7"})[0].loss == 8


@pytest.mark.parametrize(
    "bad",
    [
        {"kind": "colour"},
        {"name": ""},
        {"kind": "measure"},
        {"values": (1,)},
        {"values": ("a", "a")},
        {"resolution": Fraction(1)},
        {"kind": "measure", "resolution": Fraction(1, 3)},
        {"kind": "measure", "resolution": Fraction(1), "outside": "drop"},
        {"kind": "measure", "resolution": Fraction(1), "largest": 0},
        {"outside": "null"},
        {"kind": "truth", "values": (1,)},
    ],
)
def test_a_field_that_makes_no_sense_is_refused(bad):
    """Kinds, values and grids are checked when the field is made."""
    with pytest.raises(SchemaError):
        Field(**{"name": "f", "kind": "text", **bad})


def spoilt(change):
    """Return the plain document with something changed in it."""
    document = json.loads(policies.selecting().to_json())
    change(document)
    return json.dumps(document)


def test_a_policy_of_an_earlier_version_is_read():
    """It said how its source stored numbers, which changes nothing any more."""
    earlier = spoilt(lambda d: d["fields"][1].update(rounding="float"))
    assert read_published(earlier) == policies.selecting()


def test_a_policy_that_0_1_published_is_read():
    """It states no noise, so nothing is said of estimates; its losses are as they were."""

    def earlier(document):
        document["version"] = 1
        for charge in document["charges"]:
            del charge["noise"]

    found = read_published(spoilt(earlier))
    assert {charge.noise for charge in found.charges} == {None}
    assert found == policies.selecting()


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(version=3),
        lambda d: d.update(version=True),
        lambda d: d.update(format="other"),
        lambda d: d.update(extra=1),
        lambda d: d.pop("notes"),
        lambda d: d.update(title=7),
        lambda d: d.update(fields={}),
        lambda d: d["fields"][1].update(largest=100),
        lambda d: d["fields"][1].update(largest="1" * 2000),
        lambda d: d["fields"][1].update(resolution="0"),
        lambda d: d["fields"][1].update(outside=None),
        lambda d: d["fields"][0].update(rounding="exact"),
        lambda d: d["fields"][0].pop("expression"),
        lambda d: d["fields"][0].update(expression=1),
        lambda d: d.update(examples=[{"name": "e"}]),
        lambda d: d.update(examples=[{"name": "e", "record": []}]),
        lambda d: d.update(examples=[{"name": "e", "record": {"employees": 1.5}}]),
        lambda d: d.update(
            examples=[{"name": "e", "record": {"employees": "x", "region": "North"}}]
        ),
        lambda d: d["fields"][0].update(values=[[]]),
        lambda d: d["fields"].pop(1),
        lambda d: d["charges"][0].pop("title"),
        lambda d: d["charges"][0]["policy"].update(version=9),
        lambda d: d["total"]["terms"].clear(),
        lambda d: d["curves"].pop(),
        lambda d: d["curves"][0]["points"][0].__setitem__(1, "0.1"),
        lambda d: d.update(notes=[1]),
        lambda d: d.update(budget="none"),
    ],
)
def test_a_spoilt_document_is_refused_as_such(change):
    """Whatever is wrong, the error is a DocumentError that says where."""
    read_published(spoilt(lambda d: None))
    with pytest.raises(DocumentError):
        read_published(spoilt(change))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '{"format": 1, "format": 1}', "[" * 10**5, None]
)
def test_what_is_no_document_is_refused(text):
    """Not JSON, twins, nested beyond reading, not even text."""
    with pytest.raises(DocumentError):
        read_published(text)


def test_a_unit_is_counted_once_and_its_records_each(tmp_path):
    """Different firms move by one, different establishments by as many as a cell has."""
    pq.write_table(
        pa.table({"id": [1], "firm": [1], "emp": [1], "county": ["Kent"]}), tmp_path / "t.parquet"
    )
    (tmp_path / "release.yaml").write_text(
        "title: Firms\nsource: t.parquet\ntable: t\nid: id\nunit: firm\n"
        "dimensions: [county]\nmeasures: {emp: 1}\nsplits: {big: {emp: 50}}\n"
        "keys: {counties: {values: {county: [Kent, York]}}}\n"
        "budget: {rho: 4, splits: [big]}\nledger: l\n"
        "queries:\n  - name: q\n    group_by: [county]\n    keys: counties\n    answers:\n"
        "      firms: {count_distinct: firm, rho: 0.1}\n"
        "      ids: {count_distinct: id, rho: 0.2}\n"
        "      emp: {sum: emp, split: big, rho: 0.5}\n",
        encoding="utf-8",
    )
    loaded = load_spec(tmp_path / "release.yaml")
    with open_table(loaded) as table:
        published = published_policy(build(loaded, table.schema))
    assert published.unit_column == "firm"
    assert read_published(published.to_json()) == published
    firm = [
        {"county": "Kent", "emp": 25},
        {"county": "Kent", "emp": 50},
        {"county": "York", "emp": 50},
    ]
    firms, ids = Fraction(1, 10) * 2, Fraction(2, 10) * (2**2 + 1)
    assert published.unit(firm).amount == firms + ids + Fraction(1, 2) * (Fraction(9, 4) + 1)
    assert published.asked_of_units == ("county", "emp")
    with pytest.raises(MissingFieldError, match="depends on county"):
        published.unit([{"emp": 25}])


def test_what_is_kept_for_further_answers_is_paid_for_together():
    """Then only what each loses alone is known, and T7 makes it one loss."""
    policy = Policy.constant("0.2")
    emp = Field("emp", "measure", resolution=Fraction(1))
    charge = PublishedCharge("a", "", Policy.constant("0.1"), (), ())
    published = PublishedPolicy("", "t", (emp,), (charge,), policy)
    assert published.unit([{"emp": 1}, {"emp": 2}]).amount == Fraction(2, 10) * 4
    assert not published.is_by_cell([{"emp": 1}])
