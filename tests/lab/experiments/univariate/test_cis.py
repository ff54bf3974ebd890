"""The experiment on CIS: the paper's four queries, composed; synthetic and real files."""

import pytest

from perrecord.lab.experiments.univariate import cis
from perrecord.lab.experiments.univariate.cis_figures import AVERAGE, DISTRICT, STATE
from perrecord.lab.synth import cattle
from perrecord.lab.synth.nass import PASTURE_RENT
from perrecord.queries.plan import plan
from perrecord.report.drawing import size
from perrecord.report.figure import pictures
from tests.lab.synth.test_nass import row, written

TOTAL = "SUM(CattleInventory)"


@pytest.fixture(scope="module")
def found():
    """Return the quick run on synthetic records."""
    return cis.run(quick=True, step=lambda _: None)


def figure(experiment, name):
    """Return a figure by name."""
    (one,) = [each for each in experiment.figures if each.name == name]
    return one


def test_the_workload_is_the_paper_s_table_of_queries():
    """Two totals by splitting and two averages under plain zCDP, by State and by State x AD."""
    asked = cis.setting(cis.FULL, cis.synthetic(cis.FULL), 50_000, "1").queries
    assert {name: query.groupings[0].columns for name, query in asked.items()} == {
        STATE: ("state",),
        DISTRICT: ("state", "district"),
    }
    for query in asked.values():
        assert [answer.name for answer in query.answers] == [TOTAL, AVERAGE]


@pytest.mark.parametrize(("inventory", "pieces"), [(0, 1), (50_000, 1), (50_001, 2), (10**6, 20)])
def test_a_record_loses_the_sum_of_the_four(inventory, pieces):
    """It is rho m^2 for each total and rho for each average."""
    asked = cis.setting(cis.FULL, cis.synthetic(cis.FULL), 50_000, "1").queries
    with cis.opened(cattle(5)) as table:
        policy = plan(list(asked.values()), table.schema).policy
    record = {"inventory": inventory, "rent": 20, "state": "48", "district": "11"}
    assert policy.loss(record) == 2 * pieces**2 + 2
    assert policy.minimum() == 4


def test_the_whole_policy_s_minimum_is_stated(found):
    """Four times rho at every budget."""
    table = figure(found, "cis-losses").tables[0]
    assert {(row[0], row[2]) for row in table.rows} == {("0.1", "0.4"), ("1", "4"), ("10", "40")}
    assert (
        "PolicyMin 0.4 at ρ = 0.1; 4 at ρ = 1; 40 at ρ = 10" in figure(found, "cis-losses").finding
    )


def test_every_setting_has_its_boxes(found):
    """Totals by table, budget and threshold; averages by table and budget."""
    own = cis.QUICK
    rows = figure(found, "cis-errors").numbers.to_pylist()
    assert [(r["table"], r["rho"], r["threshold"]) for r in rows] == [
        (table, float(rho), threshold)
        for table in (STATE, DISTRICT)
        for rho in own.rhos
        for threshold in own.thresholds
    ]
    assert {(r["table"], r["cells"]) for r in rows} == {(STATE, 50), (DISTRICT, 312)}
    assert all(r["low"] < r["lower"] < r["middle"] < r["upper"] < r["high"] for r in rows)
    averages = figure(found, "cis-rents").numbers.to_pylist()
    assert len(averages) == 2 * len(own.rhos)


def test_the_share_above_is_that_of_records_beyond_the_threshold(found):
    """Counted in the data itself."""
    inventories = cattle(seed=cis.QUICK.seed)["inventory"].to_pylist()
    for each in figure(found, "cis-errors").numbers.to_pylist():
        beyond = sum(value > each["threshold"] for value in inventories)
        assert each["share"] == pytest.approx(beyond / len(inventories))


def test_two_runs_agree_in_all_but_drawn_medians(found):
    """Numbers, claims and findings are the same; one table says that it is drawn."""
    again = cis.run(quick=True, step=lambda _: None)
    assert again.claims == found.claims
    for one, other in zip(again.figures, found.figures, strict=True):
        assert one.numbers.equals(other.numbers)
        assert one.finding == other.finding
        for table, second in zip(one.tables, other.tables, strict=True):
            assert table == second or "one draw" in table.title


def test_pictures_are_drawn_for_both_widths(found):
    """No wider than paper and telephone."""
    for each in found.figures:
        shown = pictures(each, is_public=True)
        assert size(shown.wide)[0] <= 930, each.name
        assert size(shown.narrow)[0] <= 350, each.name


def counties(with_rents):
    """Return rows of Quick Stats for counties in three districts of two states."""
    rows = []
    for number in range(1, 31):
        place = {"Ag District Code": str(10 * (1 + number % 3)), "State ANSI": "48"}
        if number % 2:
            place["State ANSI"] = "35"
        code = f"{number:03d}"
        rows.append(row(f"C{number}", code, f"{number * 9000:,}", **place))
        if with_rents:
            rent = {"Data Item": PASTURE_RENT, "Program": "SURVEY", "Period": "YEAR"}
            rows.append(row(f"C{number}", code, f"{5 + number}.5", **place, **rent))
    return rows


def all_text(experiment):
    """Return everything an experiment says, but for its numbers."""
    parts = [experiment.title, *experiment.text]
    for each in experiment.figures:
        parts += [each.title, each.finding, each.reading, *(table.title for table in each.tables)]
        parts += [cell for table in each.tables for cells in table.rows for cell in cells]
    return " ".join([*parts, *(claim.measured for claim in experiment.claims)])


def minima(experiment):
    """Return rho and PolicyMin of every setting."""
    return {(row[0], row[2]) for row in figure(experiment, "cis-losses").tables[0].rows}


def test_a_real_file_takes_the_place_of_synthetic_records(tmp_path):
    """With rents from the same file; what was read is said."""
    path = written(tmp_path / "cattle.csv", counties(with_rents=True))
    real = cis.run(quick=True, step=lambda _: None, source=path)
    assert "30 records of CATTLE, INCL CALVES - INVENTORY, 2022" in real.text[0]
    rows = figure(real, "cis-errors").numbers.to_pylist()
    assert {(r["table"], r["cells"]) for r in rows} == {(STATE, 2), (DISTRICT, 6)}
    assert figure(real, "cis-rents").numbers.num_rows == 6
    assert minima(real) == {("0.1", "0.4"), ("1", "4"), ("10", "40")}
    assert "the sum of the four, and its minimum 4ρ" in real.text[2]
    assert "The four queries compose" in figure(real, "cis-losses").finding
    assert AVERAGE in all_text(real)
    assert "SUM(CATTLE, INCL CALVES - INVENTORY), split at" in real.text[1]


def test_a_file_without_rents_has_no_averages(tmp_path):
    """Two queries are asked and said to be, and PolicyMin is 2 rho; the rest is drawn."""
    path = written(tmp_path / "cattle.csv", counties(with_rents=False))
    real = cis.run(quick=True, step=lambda _: None, source=path)
    assert [each.name for each in real.figures] == ["cis-errors", "cis-losses"]
    for each in real.figures:
        pictures(each, is_public=True)
    assert minima(real) == {("0.1", "0.2"), ("1", "2"), ("10", "20")}
    assert "PolicyMin 0.2 at ρ = 0.1; 2 at ρ = 1" in figure(real, "cis-losses").finding
    assert "the sum of the two, and its minimum 2ρ" in real.text[2]
    for absent in ("four", "4ρ", "AVG", "PastureRent", "delta method", "dollars"):
        assert absent not in all_text(real), absent


def test_a_file_is_called_by_its_own_data_item(tmp_path):
    """Hens are not the cattle of the survey."""
    hens = [each | {"Data Item": "CHICKENS, LAYERS - INVENTORY"} for each in counties(False)]
    real = cis.run(quick=True, step=lambda _: None, source=written(tmp_path / "hens.csv", hens))
    rows = figure(real, "cis-errors").numbers.to_pylist()
    assert {r["answer"] for r in rows} == {"SUM(CHICKENS, LAYERS - INVENTORY)"}
    assert "SUM(CHICKENS, LAYERS - INVENTORY)" in real.text[1]
    assert real.title.endswith("CHICKENS, LAYERS - INVENTORY, 2022")
    assert "cattle" not in all_text(real).casefold()


def test_a_file_of_milk_cows_runs(public_file):
    """Withheld counties are left out, and the claim about cattle is not said to hold of cows."""
    real = cis.run(quick=True, step=lambda _: None, source=public_file("nass_2022_milk.csv.gz"))
    assert any(f"{count} records" in real.text[0] for count in (50, 1512))
    assert "CattleInventory" not in all_text(real)
    assert minima(real) == {("0.1", "0.2"), ("1", "2"), ("10", "20")}
    claim = real.claims[0]
    assert claim.verdict != "holds"
    assert "Splitting is not 2 times better than that." in claim.measured
