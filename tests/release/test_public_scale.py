"""Noise that grows with a public size of each cell (T28): read, refused, drawn, released."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import (
    Blur,
    InputError,
    Keys,
    Ledger,
    MissingFieldError,
    Query,
    QueryError,
    SpecError,
    Split,
    from_sql,
    table,
)
from perrecord.laws import DiscreteStudent
from perrecord.laws.widths import deviation
from perrecord.mechanisms.run import answer
from perrecord.policy.cases import Cases
from perrecord.policy.changes import change_loss, unit_loss
from perrecord.policy.policy import Policy
from perrecord.policy.tapering import TaperedRho
from perrecord.preview import expected
from perrecord.queries.plan import plan
from perrecord.release import stated
from perrecord.release.identity import identity_of
from perrecord.release.noise import CellNoise, Noise
from perrecord.release.outputs import outputs_of
from perrecord.release.publish import ledger_of, release
from perrecord.release.reading import read_published
from perrecord.release.spec import build, load_spec, open_table

SPEC = """\
title: Establishments by county
source: est.parquet
table: est
dimensions: {county: county, state: "substr(county, 1, 2)"}
measures: {emp: 1}
keys:
  counties: {values: {county: ["01001", "01003", "02001"]}}
  states: {values: {state: ["01", "02"]}}
budget: {rho: 0.01, tapers: [{measure: emp, at: 50, rho: 0.2, times: 2}]}
ledger: est.ledger
queries:
  - name: counties
    group_by: county
    keys: counties
    answers: {emp: {sum: emp, taper: 50, blur: {by: 0.1, scale: last_year.csv}, rho: 0.2}}
  - name: states
    group_by: state
    keys: states
    answers: {emp: {sum: emp, taper: 50, rho: 0.2}}
post_processing: {consistent: true}
"""
ROWS = {"county": ["01001", "01001", "01003", "02001"], "emp": [4, 30, 8000, 12]}
SCALE = "county,emp\n01003,7500\n01001,40\n"
COUNTIES = Keys.from_dict({"county": ["01001", "01003", "02001"]})
LEAST = DiscreteStudent.for_rho("0.2", at=50).spread


def blurred(scale: object, by: str = "0.1", keys: Keys = COUNTIES) -> Query:
    """Return employment by county, its noise wider by a scale."""
    asked = Query("est").group_by("county", keys=keys)
    return asked.sum("emp", taper=50, blur=Blur(by, scale=scale), rho="0.2", name="emp")


def source(rows: dict[str, list[object]] = ROWS) -> object:
    """Return the establishments as an open table."""
    return table(pa.table(rows), dimensions=["county"], measures=["emp"], name="est")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the spec, its source and its scale."""
    pq.write_table(pa.table(ROWS), tmp_path / "est.parquet")
    (tmp_path / "release.yaml").write_text(SPEC)
    (tmp_path / "last_year.csv").write_text(SCALE)
    return tmp_path


def test_noise_of_a_cell_grows_with_its_public_size() -> None:
    """A = A0 + nu by^2 size^2, what is added rounded up to two digits; unlisted cells have A0."""
    with source() as est:
        (found,) = answer(est, blurred({"county": ["01003", "01001"], "size": ["7500", "40"]}))
    column = found.column("emp")
    spreads = [column.laws[each].spread for each in column.which]
    # 7 (0.1 * 40)^2 = 112 and 7 (0.1 * 7500)^2 = 3937500
    assert spreads == [LEAST + 120, LEAST + 4_000_000, LEAST]
    assert column.standard_errors().tolist() == [deviation(DiscreteStudent(a)) for a in spreads]


def test_losses_are_priced_at_the_least_noise() -> None:
    """The policy is the taper's own, which a wider cell only undercuts; a preview shows both."""
    asked = blurred({"county": ["01003"], "emp": [7500]})
    with source() as est:
        planned = plan(asked, est.schema)
    assert planned.policy == Policy.tapered("0.2", measure="emp", at=50)
    assert expected(planned)[0].shown() == "83.21 to 898.3"


def test_documents_state_the_noise_of_each_cell() -> None:
    """So that changes and units are priced cell by cell: by A0 + 4000000 in the giant's county."""
    sizes = {"county": ["01003", "01001", "02001"], "emp": [7500, 40, 0]}
    with source() as est:
        outputs = outputs_of(plan(blurred(sizes), est.schema))
    for county, more in (("01003", 4_000_000), ("01001", 120), ("02001", 0), ("99999", 0)):
        before, after = ({"county": county, "emp": emp} for emp in (7500, 8250))
        noise = TaperedRho(LEAST + more, 7)
        assert change_loss(outputs, [before], [after]) == noise.loss(Fraction(750))
        assert unit_loss(outputs, [before]) == noise.loss(Fraction(7500))


def test_a_record_that_names_no_cell_is_taken_to_have_the_least_noise(folder: Path) -> None:
    """An example of a spec need not say where it is; one that does loses what its cell costs."""
    examples = ["{name: some, emp: 8000}", "{name: giant, emp: 8000, county: '01003'}"]
    (folder / "release.yaml").write_text("\n  - ".join([f"{SPEC}examples:", *examples]) + "\n")
    document = read_published((made(folder) / "policy.json").read_text())
    costs = {each.example: each.loss.amount for each in document.changes if each.percent == 10}
    least, wide = (
        TaperedRho(LEAST + more, 7).loss(Fraction(800)).amount for more in (0, 4_000_000)
    )
    assert costs == {"some": 2 * least, "giant": least + wide}
    (noise,) = document.charges[0].noise
    assert noise.at({"emp": 8000}).spread == LEAST
    assert noise.at({"emp": 8000, "county": "01003"}).spread == LEAST + 4_000_000


def test_a_record_must_name_its_cell_where_others_have_less_noise() -> None:
    """Only where all others have the least noise can it be taken without saying too little."""
    wide, narrow = (CellNoise("student7", Fraction(a), Fraction(1)) for a in (5000, 2500))
    noise = Noise("values", "emp", Cases.checked(("county",), [(("01003",), narrow)], wide))
    assert noise.at({"emp": 1, "county": "02001"}) == wide
    with pytest.raises(MissingFieldError, match="county"):
        noise.at({"emp": 1})


def test_very_many_cells_are_stated_by_the_least_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document lists no more cells than it can hold; what it says is then never too little."""
    monkeypatch.setattr(stated, "MOST_LISTED", 1)
    with source() as est:
        planned = plan(blurred({"county": ["01003", "01001"], "emp": [7500, 40]}), est.schema)
        outputs = outputs_of(planned)
    giant = {"county": "01003", "emp": 7500}
    assert unit_loss(outputs, [giant]) == TaperedRho(LEAST, 7).loss(Fraction(7500))


def made(folder: Path) -> Path:
    """Return the folder that the spec's release was published in, charged to a new ledger."""
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as opened:
        budget = build(loaded, opened.schema).budget
    Ledger.create(folder / "est.ledger", budget)
    release(folder / "release.yaml", folder / "out")
    return folder / "out"


def test_answers_are_the_totals_where_noise_vanishes() -> None:
    """Widened noise is added to the same exact totals: twins of the bits differ by noise alone."""
    copies = [f"{copy:03} " for copy in range(400)]
    counties = [copy + each for copy in copies for each in ROWS["county"]]
    sizes = {"county": [f"{copy}01003" for copy in copies], "emp": [7500] * len(copies)}
    keys = Keys.from_dict({"county": sorted(set(counties))})
    with source({"county": counties, "emp": ROWS["emp"] * len(copies)}) as est:
        (found,) = answer(est, blurred(sizes, keys=keys))
    drawn = found.column("emp").numbers.reshape(len(copies), 3)
    middle = np.median(drawn, axis=0)
    assert np.all(np.abs(middle - [34, 8000, 12]) < [40, 300, 40])  # 8 of its errors and more
    spread = np.abs(drawn - [34, 8000, 12]).mean(axis=0)
    assert spread[1] > 5 * spread[0]


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ({"county": ["01001", "01001"], "size": [1, 2]}, "2 rows and 1 different keys"),
        ({"county": ["01001"], "size": [-1]}, "is -1; expected 0 or more"),
        ({"county": ["01001"], "size": ["many"]}, "'many'; expected a number"),
        ({"county": ["01001"], "size": [None]}, "None; expected a number"),
        ({"county": ["01001"], "size": [float("nan")]}, "expected a number"),
        ({"county": ["01001"], "size": [True]}, "expected a number"),
        ({"county": ["01001"], "payann": [3]}, "expected each once, and the sizes under 'emp'"),
        ({"size": [3]}, "no column but the sizes"),
        ({"county": ["01001"], "naics": ["11"], "size": [3]}, "by county, naics, and the query"),
        ({"county": [1001], "size": [3]}, "the keys of 'county' are whole numbers"),
    ],
)
def test_a_scale_that_does_not_fit_is_refused(scale: dict[str, list[object]], message: str) -> None:
    """Whatever is wrong with a public table of sizes is said, before any row is read."""
    with source() as est, pytest.raises(InputError, match=re.escape(message)) as caught:
        plan(blurred(scale), est.schema)
    assert caught.value.about[:3] == ("answers", "emp", "blur")


def test_a_blur_goes_with_a_taper_and_a_part_of_one() -> None:
    """A split has no noise that could be widened so; more than the whole size is refused."""
    blur = Blur("0.1", scale={"county": ["01001"], "size": [3]})
    with pytest.raises(QueryError, match="not that of a split"):
        Query().sum("emp", split=Split(emp=50), blur=blur, rho=1)
    for by in (0, "-0.1", "1.5"):
        with pytest.raises(QueryError, match="above 0 and at most 1"):
            Blur(by, scale={"county": ["01001"], "size": [3]})


def test_sql_takes_the_same_blur() -> None:
    """A blur is an option of SQL, for all totals or by name, and the query is the same."""
    blur = Blur("0.1", scale={"county": ["01003"], "size": [7500]})
    text = "SELECT county, SUM(emp) AS emp FROM est GROUP BY county"
    with source() as est:
        for given in (blur, {"emp": blur}):
            found = from_sql(
                text, schema=est.schema, keys=COUNTIES, rho="0.2", taper=50, blur=given
            )
            assert found == blurred({"county": ["01003"], "size": [7500]})


def test_a_release_publishes_wider_errors_and_consistent_tables(folder: Path) -> None:
    """Standard errors are public cell by cell, tables add up, and the documents say how."""
    published = made(folder)
    counties = pq.read_table(published / "tables" / "counties.parquet").to_pydict()
    expected_errors = [deviation(DiscreteStudent(LEAST + more)) for more in (120, 4_000_000, 0)]
    assert counties["emp_se"] == expected_errors
    states = pq.read_table(published / "tables" / "states.parquet").to_pydict()
    fitted = counties["emp_consistent"]
    assert states["emp_consistent"] == [fitted[0] + fitted[1], fitted[2]]
    # The giant's county is known so badly that the state and its neighbour say more of it.
    assert counties["emp_consistent_se"][1] < 130
    document = read_published((published / "policy.json").read_text())
    assert document.total.loss({"emp": 50, "county": "01001", "state": "01"}) <= Fraction("0.4")
    # The policy counts on the least noise; what its one record loses in its cell is less.
    giant = {"emp": 8000, "county": "01003", "state": "01"}
    assert document.unit([giant]).amount < document.total.loss(giant) - 15
    assert "blurred by 0.1 of a public size" in (published / "methodology.md").read_text()


def test_what_is_in_the_scale_decides_which_release_it_is(folder: Path) -> None:
    """Other sizes are other noise: the identity is another."""
    loaded = load_spec(folder / "release.yaml")
    before = identity_of(loaded, b"0" * 32).key
    assert identity_of(loaded, b"0" * 32).key == before
    (folder / "last_year.csv").write_text(SCALE.replace("40", "41"))
    assert identity_of(loaded, b"0" * 32).key != before


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{by: 0.1, scale: nowhere.csv}", "there is no file 'nowhere.csv'"),
        ("{by: 0.1, scale: est.parquet}", "from the source itself"),
        ("{by: 3, scale: last_year.csv}", "at most 1"),
    ],
)
def test_a_spec_says_what_is_wrong_at_its_line(folder: Path, written: str, message: str) -> None:
    """Mistakes of a blur stand at the line of its answer."""
    text = SPEC.replace("{by: 0.1, scale: last_year.csv}", written)
    (folder / "release.yaml").write_text(text)
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as est, pytest.raises(SpecError, match=re.escape(message)) as caught:
        build(loaded, est.schema)
    assert "release.yaml:15:" in str(caught.value)


def test_a_ledger_is_charged_the_tapers_price(folder: Path) -> None:
    """A widened total is covered by a taper of the budget."""
    made(folder)
    ledger = ledger_of(load_spec(folder / "release.yaml"))
    assert ledger.spent().loss({"emp": 50}) <= Fraction("0.4")
