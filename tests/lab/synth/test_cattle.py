"""CIS: published percentiles, nested places, bounded rents, years."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from perrecord.errors import InputError
from perrecord.lab.synth import cattle
from perrecord.lab.synth.cattle import INVENTORY, SCHEMA
from perrecord.lab.synth.districts import district_codes

COUNTIES = 3142


@pytest.fixture(scope="module")
def table():
    """Return one record for every county."""
    return cattle(seed=4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_published_percentiles_hold_for_any_seed(seed):
    """Scores are those of ranks, so the shares are exact to one county."""
    values = cattle(seed=seed)["inventory"].to_numpy()
    for share, most in INVENTORY.items():
        assert abs((values <= most).sum() - share * COUNTIES) <= 1


def test_the_tail_is_as_heavy_as_in_the_census(table):
    """The Hill estimate of the largest 60, without chance; 1.7 to 1.9 in the 2022 Census."""
    largest = np.sort(table["inventory"].to_numpy())[-61:]
    assert 1.5 < 1 / np.log(largest[1:] / largest[0]).mean() < 2.1
    assert 700_000 < largest[-1] < 2_000_000


def test_few_counties_hold_much_of_a_state(table):
    """As the paper says of its records: in the median state, a tenth of them hold a quarter."""
    shares = []
    for state in pc.unique(table["state"].cast("string")).to_pylist():
        own = np.sort(
            table.filter(pc.equal(table["state"].cast("string"), state))["inventory"].to_numpy()
        )
        if len(own) >= 20:
            shares.append(own[-max(1, len(own) // 10) :].sum() / own.sum())
    assert np.median(shares) > 0.25


def test_counties_lie_in_districts_in_states(table):
    """No district is empty; a county is in one of them, and its code starts with its state."""
    rows = [(row["state"], row["district"], row["county"]) for row in table.to_pylist()]
    assert {(state, district) for state, district, _ in rows} == set(district_codes())
    assert len({county for _, _, county in rows}) == len(rows) == COUNTIES
    assert all(county.startswith(state) for state, _, county in rows)
    assert Counter(state for state, _, _ in rows)["48"] == 254


def test_states_differ_more_than_chance(table):
    """Between states lies some quarter of the variance; shuffled, almost nothing does."""
    logs = np.log(table["inventory"].to_numpy())
    _, state = np.unique(np.array(table["state"].to_pylist()), return_inverse=True)

    def between(values):
        means = np.bincount(state, values) / np.bincount(state)
        return means[state].var() / values.var()

    assert 0.12 < between(logs) < 0.45
    assert between(np.random.default_rng(0).permutation(logs)) < 0.04


def test_rents_are_bounded_and_in_tenths_of_a_dollar():
    """Over twenty years: between 0.40 and 110, about 20 in the middle."""
    rents = cattle(20 * COUNTIES, seed=1)["rent"]
    assert pc.min(rents).as_py() == Decimal("0.40")
    assert Decimal(100) < pc.max(rents).as_py() <= Decimal(110)
    cents = np.rint(rents.cast("float64").to_numpy() * 100).astype(np.int64)
    assert (cents % 10 == 0).all()
    assert 1800 < np.median(cents) < 2200


def test_more_rows_are_the_years_before():
    """Every county once a year; it keeps its size by and large."""
    years = cattle(2 * COUNTIES + 10, seed=3)
    assert Counter(years["year"].to_pylist()) == {2022: COUNTIES, 2021: COUNTIES, 2020: 10}
    now, before = (
        np.log(years["inventory"].to_numpy()[start : start + COUNTIES]) for start in (0, COUNTIES)
    )
    assert 0.95 < np.corrcoef(now, before)[0, 1] < 0.999
    assert years["id"].to_pylist() == list(range(len(years)))


def test_fewer_rows_are_some_of_the_counties(table):
    """Drawn without replacement, from everywhere, with the numbers that they have anyway."""
    some = cattle(200, seed=4)
    values = dict(zip(table["county"].to_pylist(), table["inventory"].to_pylist(), strict=True))
    assert len({row["county"] for row in some.to_pylist()}) == 200
    assert all(values[row["county"]] == row["inventory"] for row in some.to_pylist())
    assert len(pc.unique(some["state"].cast("string"))) > 20


def test_the_same_seed_gives_the_same_file(tmp_path):
    """Written year by year, read back as the same table."""
    path = cattle(5000, tmp_path / "cis.parquet", seed=5)
    assert pq.read_table(path).cast(SCHEMA).equals(cattle(5000, seed=5).combine_chunks())
    assert not cattle(5000, seed=6).equals(cattle(5000, seed=5))
    assert len(cattle(0)) == 0


def test_bad_sizes_are_refused():
    """With what to type."""
    for rows in (-1, 1.5, True):
        with pytest.raises(InputError, match="expected a whole number such as 3_142"):
            cattle(rows)
    with pytest.raises(InputError, match="at most 314200, which is 100 years of 3142 counties"):
        cattle(400_000)
