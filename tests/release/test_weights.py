"""Derived measures and weights in a release: words, documents, losses of records, refusals."""

import json
import math
from fractions import Fraction
from importlib.resources import files

import pyarrow.parquet as pq
import pytest

from perrecord import BudgetExceededError, Ledger, SpecError, Weighting
from perrecord.policy.changes import unit_loss
from perrecord.release.attack import estimates
from perrecord.release.contents import published_policy
from perrecord.release.document import Field
from perrecord.release.publish import release
from perrecord.release.reading import read_published
from perrecord.release.spec import build, load_spec, open_table, warnings_of
from perrecord.tables.arithmetic import arithmetic
from tests.noise.checks import Replayed

ROWS = """\
farm,state,hours,wage,w
1,TX,40.25,12.50,1.5
2,TX,10,20,200
3,NM,,15,2
4,NM,38,9.99,1
"""
SPEC = """\
title: Survey of farms
source: farms.csv
id: farm
dimensions: {state: }
measures:
  hours: {resolution: 0.25, largest: 100}
  wage: {resolution: 0.01, largest: 1000, label: Hourly wage, unit: $}
  pay: {expression: hours * wage, resolution: 0.01, largest: 5000, outside: cut}
weight: {column: w, resolution: 0.001, largest: 100}
keys: {states: {values: {state: [TX, NM]}}}
budget:
  rho: 5
  tapers:
    - {measure: weighted_pay, at: 2000, rho: 0.5, times: 2}
    - {measure: pay, at: 500, rho: 0.5}
  weights: [{measure: w, at: 5, rho: 0.4}]
queries:
  - name: states
    group_by: [state]
    keys: states
    answers:
      farms: {sum: w, clamp: [0, 100], rho: 0.5}
      pay: {sum: weighted_pay, taper: 2000, rho: 0.5}
      paid: {sum: pay, taper: 500, rho: 0.5}
      middle:
        {median: wage, weight: {measure: w, at: 5}, candidates: {from: 0, to: 45, step: 15},
         rho: 0.4}
derived: {average_pay: pay / farms}
examples: [{name: a farm, state: TX, hours: 40, wage: 10, w: 3}]
"""


def prepared(folder, spec=SPEC):
    """Write a spec and its data; return the path of the spec."""
    (folder / "farms.csv").write_text(ROWS)
    (folder / "release.yaml").write_text(spec)
    return folder / "release.yaml"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A release of weighted totals and a derived measure."""
    folder = tmp_path_factory.mktemp("weights")
    path = prepared(folder, SPEC.replace("budget:", "ledger: farms.ledger\nbudget:"))
    loaded = load_spec(path)
    with open_table(loaded) as opened:
        Ledger.create(loaded.ledger, build(loaded, opened.schema).budget)
    release(path, folder / "out", _bits=Replayed(3))
    return folder / "out"


def test_the_example_loses_what_its_products_cost(released):
    """3 * 40 * 10 of weighted pay, 400 of pay, a weight of 3: each at its own price."""
    published = read_published((released / "policy.json").read_text())
    ((_, example),) = published.examples
    assert example["weighted_pay"] == 1200
    assert example["pay"] == 400
    shares = {each.charge.name: each.loss for each in published.breakdown(example)}
    (whole,) = (value for name, value in shares.items() if name.endswith("farms"))
    assert whole == Fraction(1, 2)
    heavier = published.loss({"state": "TX", "hours": 40, "wage": 10, "w": 6})
    assert heavier > published.loss(example)
    assert published.loss({"state": "TX", "hours": 40, "wage": 10, "w": 200}) == published.loss(
        {"state": "TX", "hours": 40, "wage": 10, "w": 100}
    )


def test_the_documents_say_what_is_computed(released):
    """policy.json in terms, the methodology in words; both hold the weight's largest value."""
    fields = {
        each["name"]: each for each in json.loads((released / "policy.json").read_text())["fields"]
    }
    assert fields["pay"]["computed"] == {
        "reads": ["hours", "wage"],
        "terms": [["1", ["hours", "wage"]]],
    }
    assert fields["weighted_wage"]["label"] == "Hourly wage, weighted"
    assert fields["w"]["largest"] == "100000"
    text = (released / "methodology.md").read_text()
    assert "- pay = `hours * wage`" in text
    assert "| w |  |  | 0.001 | 100 | cut to it |" in text
    assert "weighted_pay = `pay * w`" in text.replace("\\_", "_")


def test_the_document_reads_back(released):
    """With what is computed."""
    text = (released / "policy.json").read_text()
    published = read_published(text)
    assert published.to_json() == text.rstrip("\n") or json.loads(
        published.to_json()
    ) == json.loads(text)
    assert published.operands == {"hours", "wage", "pay", "w"}


def test_a_greater_measure_makes_greater_what_is_computed_from_it(tmp_path):
    """What 10 % more hours cost is what 10 % more pay costs, weighted and not."""
    loaded = load_spec(prepared(tmp_path))
    with open_table(loaded) as opened:
        published = published_policy(build(loaded, opened.schema))
    ((_, example),) = published.examples
    found = {(each.measure, each.percent): each.loss for each in published.changes}
    assert {name for name, _ in found} == {"hours", "wage", "w"}
    after = published.record({"state": "TX", "hours": 44, "wage": 10, "w": 3})
    assert after["weighted_pay"] == 1320
    assert found["hours", 10].amount == published.change(example, after).amount
    assert found["hours", 10].amount == found["wage", 10].amount > found["w", 10].amount > 0
    assert {each.measure for each in estimates(published, example)} == set()


def test_what_contradicts_itself_is_refused(released):
    """Without a value in the message."""
    published = read_published((released / "policy.json").read_text())
    row = {"state": "TX", "hours": 40, "wage": 10, "w": 1}
    assert published.record(row)["weighted_pay"] == 400
    with pytest.raises(Exception, match="'pay' does not match what follows from hours, wage"):
        published.record({**row, "pay": 401})


def test_the_exact_totals_are_those_of_products(tmp_path):
    """Computed by hand from the rows: weights above the largest are cut, NULL adds nothing."""
    loaded = load_spec(prepared(tmp_path))
    with open_table(loaded) as opened:
        (batch,) = opened.engine.batches(opened.select(["w", "pay", "weighted_pay"]))
    assert batch["w"].to_pylist() == [1500, 100_000, 2000, 1000]
    assert batch["pay"].to_pylist() == [50313, 20000, None, 37962]
    assert batch["weighted_pay"].to_pylist() == [75469500, 2_000_000_000, None, 37962000]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "largest: 100}\nkeys",
            "largest: 100, calibrated: true}\nkeys",
            r"weight.calibrated: weights that were calibrated.*Freeze",
        ),
        (
            "hours * wage",
            "hours * wages",
            r"measures.pay: the measure 'pay' is hours \* wages, and 'wages' is not a measure",
        ),
        ("hours * wage", "hours / wage", r"measures.pay: .*divides by a measure"),
        ("expression: hours * wage", "expression: hours * wage, column: x", "give one of the two"),
        ("w\n1,TX", "weights\n1,TX", r"weight: the source has no column 'w'"),
        (
            "{sum: weighted_pay, taper: 2000",
            "{average: weighted_pay, taper: 2000",
            "not a weighted mean",
        ),
        ("wage: 10, w: 3}", "wage: 10, w: 3, pay: 9}", "'pay' does not match what follows"),
        ("hours: 40, wage: 10, w: 3}", "w: 3, weighted_pay: 9}", "weighted_pay"),
    ],
)
def test_mistakes_are_shown_at_their_line(tmp_path, old, new, message):
    """Each with its reason, before a row is read."""
    assert old in SPEC + ROWS
    path = prepared(tmp_path, SPEC.replace(old, new))
    (tmp_path / "farms.csv").write_text(ROWS.replace(old, new))
    with pytest.raises(SpecError, match=message):
        opened_and_built(path)


def opened_and_built(path):
    """Go as far as `check` does."""
    loaded = load_spec(path)
    with open_table(loaded) as opened:
        build(loaded, opened.schema)


def test_unweighted_answers_of_a_weighted_table_are_pointed_out(tmp_path):
    """A count that nobody weighted may be meant, and may be forgotten."""
    spec = SPEC.replace(
        "farms: {sum: w, clamp: [0, 100], rho: 0.5}", "farms: {count: records, rho: 0.5}"
    )
    loaded = load_spec(prepared(tmp_path, spec))
    with open_table(loaded) as opened:
        told = "\n".join(warnings_of(loaded, build(loaded, opened.schema)))
    assert "farms" in told
    assert "sum: w" in told
    assert "sum: weighted_pay" in told  # of the total of pay


def test_a_field_is_computed_from_fields_before_it():
    """So that it can be computed in one go."""
    with pytest.raises(Exception, match="only measures are"):
        Field("state", "text", computed=arithmetic("a * b"))


def test_tables_hold_the_derived_number(released):
    """A weighted average is two totals and their ratio, with its error."""
    rows = pq.read_table(next(released.glob("tables/*.parquet"))).to_pylist()
    for row in rows:
        assert row["average_pay"] == pytest.approx(float(row["pay"] / row["farms"]))


def test_a_weighted_quantile_costs_what_its_weight_does(released):
    """The share of the answer, by f of T38 in floats; twice the weight, and units that add up."""
    published = read_published((released / "policy.json").read_text())
    ((_, example),) = published.examples
    shares = {each.charge.name: float(each.loss) for each in published.breakdown(example)}
    eta = math.sqrt(8 * 0.4) * 3 / 5
    y = eta / (1 - math.exp(-eta))
    (own,) = (value for name, value in shares.items() if name.endswith("middle"))
    assert own == pytest.approx(y - 1 - math.log(y), rel=1e-9)
    (output,) = next(each.outputs for each in published.charges if each.name.endswith("middle"))
    assert output.weight == Weighting("w", at=5)
    fields = {"state": "TX", "hours": 40, "wage": 10}
    together = unit_loss([output], [published.record({**fields, "w": w}) for w in (1, 2)])
    assert float(together.amount) == pytest.approx(own, rel=1e-9)


def test_what_is_said_of_a_weighted_quantile(released):
    """In words, in JSON that fits its schema, and in the table."""
    text = (released / "methodology.md").read_text()
    assert "weighted by w at 5" in text
    assert "a record counts as often as its weight says" in text
    written = json.loads((released / "policy.json").read_text())
    schema = json.loads(
        files("perrecord.release").joinpath("published.schema.json").read_text("utf-8")
    )
    outputs = [each for charge in written["charges"] for each in charge["outputs"]]
    assert {"measure": "w", "at": "5"} in [each.get("weight") for each in outputs]
    assert "weight" in schema["$defs"]["output"]["oneOf"][1]["properties"]
    assert set(pq.read_table(next(released.glob("tables/*.parquet")))["middle"].to_pylist()) <= set(
        range(0, 50, 15)
    )
    assert "weight that loses" in (released / "policy.html").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{measure: w, at: 5}, cand", "{measure: x, at: 5}, cand", "weight.measure: .*'x'"),
        ("{measure: w, at: 5}, cand", "{measure: w, at: 0}, cand", "weight.at"),
        ("{measure: w, at: 5}, cand", "{measure: w}, cand", "weight: .at. is missing"),
        (
            "{sum: w, clamp: [0, 100], rho: 0.5}",
            "{sum: w, clamp: [0, 100], rho: 0.5, weight: {measure: w, at: 1}}",
            "weight goes with median and quantile, not with sum. .*sum: weighted_emp",
        ),
        ("median: wage, weight", "median: weighted_wage, weight", "is not a weighted quantile"),
        ("weights: [{measure: w", "weights: [{measure: x", r"budget.weights\[0\].measure"),
        ("at: 5, rho: 0.4}]", "at: 5, epsilon: 0.4}]", "expected rho alone"),
    ],
)
def test_mistakes_about_weighted_quantiles_are_shown_at_their_line(tmp_path, old, new, message):
    """With what to type."""
    assert SPEC.count(old) == 1
    path = prepared(tmp_path, SPEC.replace(old, new))
    with pytest.raises(SpecError, match=message):
        opened_and_built(path)


def test_a_budget_that_lists_no_weighted_quantile_says_what_to_list(tmp_path):
    """No amount covers it."""
    weights = "  weights: [{measure: w, at: 5, rho: 0.4}]\n"
    path = prepared(tmp_path, SPEC.replace(weights, ""))
    loaded = load_spec(path)
    with open_table(loaded) as opened:
        workload = build(loaded, opened.schema)
    ledger = Ledger.create(tmp_path / "a.ledger", workload.budget)
    with pytest.raises(BudgetExceededError, match=r"weights: \[\{measure: w, at: 5, rho: 0.4, t"):
        ledger.charge(workload.policy, label="x", snapshot="one")


def test_sql_in_a_spec_takes_weights(tmp_path):
    """For every quantile of the text, or by name: the same answer."""
    asked = (
        "  - name: all\n    sql: SELECT MEDIAN(wage) AS m FROM records\n    candidates: [1, 2]\n"
    )
    found = []
    for weight in ("{measure: w, at: 5}", "{m: {measure: w, at: 5}}"):
        entry = f"{asked}    weight: {weight}\n    rho: 0.1\nderived:"
        path = prepared(tmp_path, SPEC.replace("derived:", entry))
        loaded = load_spec(path)
        with open_table(loaded) as opened:
            found.append(build(loaded, opened.schema).queries[-1].query.answers)
    assert found[0] == found[1]
    assert found[0][0].weight == Weighting("w", at=5)
