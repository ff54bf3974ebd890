"""Synthetic establishments: the published percentiles, the hierarchy, firms, files."""

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from perrecord.errors import InputError
from perrecord.lab.synth import business
from perrecord.lab.synth.business import SCHEMA
from perrecord.lab.synth.establishments import first_quarter

PUBLISHED = {
    "emp": {2: 0.47, 5: 0.66, 100: 0.97},
    "payann": {104: 0.50, 500: 0.79, 10_000: 0.99},
    "payqtr1": {24: 0.50, 125: 0.80, 2500: 0.99},
}


@pytest.fixture(scope="module")
def table():
    """Return 400,000 establishments."""
    return business(400_000, seed=3)


@pytest.mark.parametrize("measure", PUBLISHED)
def test_the_percentiles_of_the_papers_thresholds_hold(table, measure):
    """Within one percentage point: sampling error is 0.08, industry effects add a little."""
    values = table[measure].to_numpy()
    for threshold, share in PUBLISHED[measure].items():
        assert (values <= threshold).mean() == pytest.approx(share, abs=0.01)


def test_payroll_goes_with_employment(table):
    """Ranks correlate strongly; a quarter is about a quarter, and never above the year."""
    emp, payann, payqtr1 = (table[name].to_numpy() for name in PUBLISHED)
    ranks = [np.argsort(np.argsort(values, kind="stable")) for values in (emp, payann)]
    assert np.corrcoef(ranks)[0, 1] > 0.8
    assert (payqtr1 <= payann).all()
    assert payqtr1.sum() / payann.sum() == pytest.approx(0.25, abs=0.03)


def test_a_quarter_never_exceeds_the_year():
    """However far its own score is off."""
    payann = np.array([0, 7, 10**6])
    quarter = first_quarter(np.zeros(3), payann, np.full(3, 40.0))
    assert quarter.tolist()[:2] == [0, 7]
    assert 7 < quarter[2] < 10**6


def test_a_few_giants_carry_much_of_the_total(table):
    """The largest one per cent of establishments hold over a quarter of the jobs."""
    emp = np.sort(table["emp"].to_numpy())[::-1]
    assert emp[: len(emp) // 100].sum() > 0.25 * emp.sum()
    assert emp[0] > 5000


def test_codes_form_hierarchies_and_counties_differ_in_size(table):
    """State is the county's prefix; about a thousand industries; sizes over three magnitudes."""
    states = pc.utf8_slice_codeunits(table["county"].cast("string"), 0, 2)
    assert pc.all(pc.equal(states, table["state"].cast("string"))).as_py()
    assert len(pc.unique(table["naics"].cast("string"))) > 900
    sizes = np.array(pc.value_counts(table["county"].cast("string")).field("counts"))
    assert sizes.max() > 1000 * max(1, sizes.min())


def test_some_firms_have_many_establishments(table):
    """Most establishments stand alone; the largest firm has hundreds."""
    sizes = np.array(pc.value_counts(table["firm"]).field("counts"))
    assert 0.7 < sizes[sizes == 1].sum() / len(table) < 0.9
    assert sizes.max() > 300


def test_the_same_seed_gives_the_same_file_and_another_does_not(tmp_path):
    """Written in chunks, read back as the same table."""
    path = business(1200, tmp_path / "a.parquet", seed=5)
    assert pq.read_table(path).cast(SCHEMA).equals(business(1200, seed=5))
    assert not business(1200, seed=6).equals(business(1200, seed=5))
    assert len(business(0)) == 0


def test_what_a_seed_gives_does_not_change():
    """Examples and figures rest on it: a draw more or in another order would change the sums."""
    table = business(1000, seed=1)
    sums = {name: pc.sum(table[name]).as_py() for name in ("firm", *PUBLISHED)}
    assert sums == {"firm": 413_362, "emp": 23_314, "payann": 1_088_219, "payqtr1": 273_109}
    assert table["county"][0].as_py() == "29085"
    assert table["naics"][0].as_py() == "233421"


def test_bad_sizes_are_refused():
    """With what to type."""
    for rows in (-1, 1.5, True):
        with pytest.raises(InputError, match="expected a whole number such as 1_000_000"):
            business(rows)
