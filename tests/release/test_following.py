"""Tables that follow: levels that were not asked for, added up from those that were."""

import json
from collections import defaultdict
from decimal import Decimal

import numpy as np
import pyarrow.parquet as pq
import pytest

from perrecord.errors import SpecError
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from perrecord.release.spec.consistent_advice import consistent_advice
from tests.release import test_consistent
from tests.release.test_consistent import (
    ANSWERS,
    COUNTIES,
    FULL,
    own_fit,
    prepared,
    query,
    released,
)

EMP = "emp: {sum: emp, split: moderate, rho: 0.3}"


def following(entries, more=""):
    """Return post-processing with tables that follow."""
    return f"post_processing: {{{more}follow: {{{entries}}}}}\n"


def test_one_table_is_added_up(tmp_path):
    """A plain sum, with the sum of the variances, of every answer that adds up."""
    answers = f"{ANSWERS}, mean: {{average: emp, split: moderate, rho: 0.1}}"
    extra = following("states: {from: county, by: state, title: By state}, nation: {from: county}")
    tables, _, out = released(tmp_path, [query("county", ["county"], "counties", answers)], extra)
    counties, states, nation = (tables[name] for name in ("county", "states", "nation"))
    assert "emp_consistent" not in counties
    assert states["state"] == ["01", "02"]
    assert not any(name.startswith("mean") for name in states)
    for answer in ("n", "emp", "rent"):
        numbers = [Decimal(each) for each in counties[answer]]
        assert states[f"{answer}_consistent"] == [sum(numbers[:3]), numbers[3]]
        assert nation[f"{answer}_consistent"] == [sum(numbers)]
        error = counties[f"{answer}_se"][0]
        assert states[f"{answer}_consistent_se"] == pytest.approx([3**0.5 * error, error])
        assert nation[f"{answer}_consistent_se"] == pytest.approx([2 * error])
        low, high = (nation[f"{answer}_consistent_{end}"][0] for end in ("low", "high"))
        assert low < sum(numbers) < high
    package = {
        each["name"]: each
        for each in json.loads((out / "datapackage.json").read_text())["resources"]
    }
    found = package["states"]
    assert found["title"] == "By state"
    assert found["schema"]["primaryKey"] == ["state"]
    assert found["description"] == "Added up from county, at no cost."
    fields = {each["name"]: each for each in found["schema"]["fields"]}
    assert fields["state"]["role"] == "key"
    assert fields["emp_consistent"]["role"] == "answer"
    words = (out / "methodology.md").read_text()
    assert "## By state" in words
    assert (
        "By state, 2 keys: added up from the table county, at no cost, for n, emp, rent." in words
    )
    assert "2.717 standard errors to either side holds with 95 %" in words


def test_what_follows_from_fitted_tables_is_fitted(tmp_path):
    """States from counties and counties by industry: least squares of all that was published."""
    queries = [FULL[2], FULL[8]]
    extra = following(
        "states: {from: county, by: [state]}, cells: {from: county_industry, by: [state, sector]}, "
        "nation: {from: county_industry}",
        "consistent: {nonnegative: true, whole: true}, ",
    )
    tables, _, _ = released(tmp_path, queries, extra)
    asked = {name: tables[name] for name in ("county", "county_industry")}
    for answer in ("n", "emp", "rent"):
        fitted = own_fit(
            asked,
            answer,
            sums={"states": tables["states"], "cells": tables["cells"], "nation": tables["nation"]},
        )
        for name in ("states", "cells", "nation"):
            for row in range(len(tables[name][f"{answer}_consistent"])):
                value, error = fitted[name, row]
                assert float(tables[name][f"{answer}_consistent"][row]) == pytest.approx(
                    value, abs=2e-3
                )
                assert tables[name][f"{answer}_consistent_se"][row] == pytest.approx(
                    error, rel=1e-9
                )
        for ending in ("", "_nonnegative", "_whole"):
            column = f"{answer}_consistent{ending}"
            below = defaultdict(Decimal)
            for county, value in zip(
                tables["county"]["county"], tables["county"][column], strict=True
            ):
                below[county[:2]] += Decimal(value)
            assert (
                dict(
                    zip(
                        tables["states"]["state"],
                        map(Decimal, tables["states"][column]),
                        strict=True,
                    )
                )
                == below
            )
            assert sum(below.values()) == Decimal(tables["nation"][column][0])


def test_margins_without_their_joint_table(tmp_path):
    """Of two tables neither below the other the total follows from both, and errs less."""
    also = "consistent: {nonnegative: true, whole: true}, "
    extra = following("nation: {from: county, answers: emp}", also)
    tables, _, _ = released(tmp_path, [FULL[2], FULL[4]], extra)
    assert [each for each in tables["nation"] if each.endswith("_consistent")] == ["emp_consistent"]
    asked = {name: tables[name] for name in ("county", "industry")}
    fitted = own_fit(asked, "emp", sums={"nation": tables["nation"]})
    for (name, row), (value, error) in fitted.items():
        assert float(tables[name]["emp_consistent"][row]) == pytest.approx(value, abs=2e-3)
        assert tables[name]["emp_consistent_se"][row] >= error * (1 - 1e-9)
    for ending in ("", "_nonnegative", "_whole"):
        column = f"emp_consistent{ending}"
        (total,) = tables["nation"][column]
        assert abs(float(total) - fitted["nation", 0][0]) <= 1
        assert sum(tables["county"][column]) == sum(tables["industry"][column]) == total


def test_selected_keys_below_do_not_matter(tmp_path):
    """What is added up has declared keys; what is selected has a rest, as ever."""
    queries = [
        query("county", ["county"], "counties", EMP),
        query("cells", ["county", "state"], "found", EMP),
    ]
    extra = following("states: {from: county, by: [state]}", "consistent: true, ")
    tables, _, _ = released(tmp_path, queries, extra)
    assert tables["states"]["emp_consistent"][0] == sum(tables["county"]["emp_consistent"][:3])


def test_keys_that_are_no_product_are_added_up(tmp_path):
    """Combinations that no list names are taken for nothing, table by table."""
    extra = following("a: {from: cells, by: [state]}, b: {from: cells, by: [naics]}")
    tables, _, _ = released(tmp_path, [query("cells", ["county", "naics"], "few", EMP)], extra)
    cells = list(zip(*(tables["cells"][each] for each in ("county", "naics", "emp")), strict=True))
    for name, key, of in (("a", "state", lambda c, _: c[:2]), ("b", "naics", lambda _, n: n)):
        for value, number in zip(tables[name][key], tables[name]["emp_consistent"], strict=True):
            assert number == sum(emp for c, n, emp in cells if of(c, n) == value)


def test_the_charge_is_the_same_and_a_table_can_be_added_later(tmp_path):
    """It is only shown: another table that follows is a correction of the same release."""
    queries = [query("county", ["county"], "counties", EMP)]
    path = prepared(tmp_path, queries, "")
    first = release(path, tmp_path / "first", _bits=FrozenBits(1))
    path.write_text(
        path.read_text().replace(
            "queries:", following("states: {from: county, by: state}") + "queries:"
        )
    )
    again = release(path, tmp_path / "again")
    assert again.did == "corrected"
    assert again.charge == first.charge
    name = "tables/county.parquet"
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    states = pq.read_table(tmp_path / "again" / "tables" / "states.parquet").to_pydict()
    counties = pq.read_table(tmp_path / "first" / name).to_pydict()
    assert states["emp_consistent"] == [sum(counties["emp"][:3]), counties["emp"][3]]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("from: county, by: [naics]", "naics does not follow from county"),
        ("from: county, by: [county]", "same cells as the table itself"),
        ("from: county, by: [state, state]", "by names 'state' twice"),
        ("from: conuty, by: [state]", "no table 'conuty' to add up. Tables are .*'county'"),
        ("from: all", "no keys below others"),
        ("from: picked, by: [state]", "selected from the data"),
        ("from: county, by: [state], answers: [mean]", "'mean' does not follow: an average"),
        ("from: county, by: [state], answers: [kinds]", "'kinds' does not follow: different"),
        ("from: county, by: [state], answers: [middle]", "'middle' does not follow: a quantile"),
        ("from: county, by: [state], answers: [epm]", "no answer 'epm'"),
        ("from: odd, by: [state]", "none of its answers follows; 'kinds', for one"),
        ("from: county, by: [region]", "region does not follow from county"),
    ],
)
def test_what_does_not_follow_is_refused_with_the_reason(tmp_path, entry, message):
    """When the spec is checked, at its line."""
    kinds = "kinds: {count_distinct: naics, rho: 0.1}"
    answers = (
        f"{EMP}, mean: {{average: emp, split: moderate, rho: 0.1}}, {kinds}, "
        "middle: {median: emp, candidates: {from: 0, to: 200, step: 5}, rho: 0.1}"
    )
    queries = [
        query("county", ["county"], "counties", answers),
        query("all", [], None, EMP),
        query("picked", ["county"], "found", EMP),
        query("odd", ["county"], "counties", kinds),
    ]
    with pytest.raises(SpecError, match=rf"post_processing.follow.it\b.*{message}"):
        prepared(tmp_path, queries, following(f"it: {{{entry}}}"))


def test_names_of_tables_stay_apart(tmp_path):
    """Also but for upper and lower case, and from files elsewhere."""
    queries = [query("county", ["county"], "counties", EMP)]
    with pytest.raises(SpecError, match="there is a table 'county' already"):
        prepared(tmp_path / "a", queries, following("County: {from: county, by: state}"))
    with pytest.raises(SpecError, match="expected a name of letters"):
        prepared(tmp_path / "b", queries, following('"../x": {from: county, by: state}'))


def test_regions_beside_states_follow_from_counties(tmp_path):
    """Two ways to put counties together: of what was measured on a tree any sum follows."""
    declared = "hierarchies: [{source: other.csv, on: county, columns: [region]}]\n"
    regions = dict(zip(COUNTIES, ["east", "south", "east", "south"], strict=True))
    both = "states: {from: county, by: state}, regions: {from: county, by: region}"
    queries = [
        query("state", ["state"], "states", EMP),
        query("county", ["county"], "counties", EMP),
    ]
    (tmp_path / "other.csv").write_text(
        "county,region\n" + "".join(f"{each},{of}\n" for each, of in regions.items())
    )
    also = "consistent: {nonnegative: true, whole: true}, "
    tables, _, _ = released(tmp_path, queries, following(both, also) + declared)
    states, counties = tables["state"], tables["county"]
    for ending in ("", "_nonnegative", "_whole"):
        column = f"emp_consistent{ending}"
        numbers = dict(zip(COUNTIES, map(Decimal, counties[column]), strict=True))
        for name, found in zip(tables["regions"]["region"], tables["regions"][column], strict=True):
            assert found == sum(numbers[each] for each in COUNTIES if regions[each] == name)
        assert tables["states"][column] == states[column]
    assert tables["states"]["emp_consistent_se"] == pytest.approx(states["emp_consistent_se"])
    inside = np.array(
        [[each[:2] == state for each in COUNTIES] for state in states["state"]], float
    )
    design = np.vstack([inside, np.eye(4)])
    weights = np.array([*states["emp_se"], *counties["emp_se"]]) ** -2.0
    covariances = np.linalg.inv(design.T @ (weights[:, None] * design))
    chosen = np.array([[regions[each] == name for each in COUNTIES] for name in ("east", "south")])
    expected = np.sqrt(np.diag(chosen @ covariances @ chosen.T))
    assert tables["regions"]["emp_consistent_se"] == pytest.approx(list(expected))


def test_levels_of_which_neither_lies_below_the_other_are_refused(tmp_path):
    """Where tables over several hierarchies are no tree; of a table alone each of them follows."""
    declared = "hierarchies: [{source: areas.csv, on: county, columns: [region]}]\n"
    both = "states: {from: county, by: state}, regions: {from: county, by: region}"
    queries = [
        query("county", ["county"], "counties", EMP),
        query("industry", ["naics"], "industries", EMP),
    ]
    extra = following(both, "consistent: true, ") + declared
    with pytest.raises(SpecError, match=r"follow.regions.*region and state neither lies below"):
        prepared(tmp_path / "a", queries, extra)
    tables, _, _ = released(tmp_path / "b", queries, following(both) + declared)
    emp = tables["county"]["emp"]
    assert tables["regions"]["region"] == ["south", "west"]
    assert tables["regions"]["emp_consistent"] == [sum(emp[:3]), emp[3]]


def test_a_key_that_lies_in_nothing_is_refused(tmp_path):
    """A table of hierarchies must name a parent for every key that is added up."""
    declared = "hierarchies: [{source: some.csv, on: county, columns: [region]}]\n"
    (tmp_path / "some.csv").write_text("county,region\n" + f"{COUNTIES[0]},south\n")
    with pytest.raises(SpecError, match="3 keys of county lie in no region"):
        prepared(
            tmp_path,
            [query("county", ["county"], "counties", EMP)],
            following("regions: {from: county, by: region}") + declared,
        )


def test_combinations_that_are_not_listed_are_refused_where_they_are_not_known(tmp_path):
    """With tables that are not each below the next, what no list names is not nothing."""
    queries = [FULL[2], FULL[4], query("cells", ["county", "naics"], "few", EMP)]
    extra = following("states: {from: cells, by: [state]}", "consistent: true, ")
    with pytest.raises(SpecError, match="lists 4 of 20 combinations"):
        prepared(tmp_path, queries, extra)


@pytest.mark.parametrize(
    ("parent", "declared"),
    [
        ("area", "lookups: [{source: places.csv, on: county}]\n"),
        ("region", "hierarchies: [{source: areas.csv, on: county, columns: [region]}]\n"),
    ],
)
def test_a_public_table_is_a_hierarchy(tmp_path, monkeypatch, parent, declared):
    """A lookup that adds a dimension, or a table that says what one follows from; with sums."""
    head = test_consistent.HEAD
    if parent == "area":
        head = head.replace("  region: region\n", "  region: region\n  area: area\n")
        head = head.replace("  some:", "  areas: {values: {area: [south, west]}}\n  some:")
    monkeypatch.setattr(test_consistent, "HEAD", head)
    rows = "".join(f"{each},{'south' if each < '02' else 'west'}\n" for each in COUNTIES)
    (tmp_path / "places.csv").write_text("county,area\n" + rows)
    queries = [
        query(parent, [parent], f"{parent}s", ANSWERS),
        query("county", ["county"], "counties", ANSWERS),
        query("cells", ["county", "sector"], "county_sector", ANSWERS),
    ]
    follow = f"wide: {{from: cells, by: [{parent}, sector]}}, nation: {{from: {parent}}}"
    extra = following(follow, "consistent: true, ") + declared
    tables, _, _ = released(tmp_path, queries, extra)
    asked = {name: tables[name] for name in (parent, "county", "cells")}
    assert tables["wide"][parent] == ["south", "south", "west", "west"]
    for answer in ("n", "emp", "rent"):
        sums = {name: tables[name] for name in ("wide", "nation")}
        for (name, row), (value, error) in own_fit(asked, answer, sums=sums).items():
            found = tables[name]
            assert float(found[f"{answer}_consistent"][row]) == pytest.approx(value, abs=2e-3)
            assert found[f"{answer}_consistent_se"][row] == pytest.approx(error, rel=1e-9)
        assert sum(tables["county"][f"{answer}_consistent"]) == sum(
            tables["wide"][f"{answer}_consistent"]
        )


def test_what_stands_beside_answers_alone_is_named(tmp_path):
    """Derived numbers and words of status: formulas are refused; check says what is left out."""
    answers = "n: {count: records, rho: 0.2}, emp: {sum: emp, split: moderate, rho: 0.2}"
    asked = [query("county", ["county"], "counties", answers)]
    status = "status: {reliable: 0.1, caution: 0.3}, "
    extra = following("states: {from: county, by: state}", status)
    loaded = load_spec(prepared(tmp_path, asked, extra + "derived: {mean: emp / n}\n"))
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
    (told,) = [said for _, said in consistent_advice(workload)]
    assert "'mean', words of status: they stand beside answers, as in county" in told
    assert "_consistent_se, or make it a query of its own" in told
    with pytest.raises(SpecError, match="states follows by adding up; derived numbers are of"):
        prepared(tmp_path / "b", asked, extra + "derived: {mean: emp / states.n}\n")
