"""EZS noise: its distribution, directions that firms share, exact totals, what it costs."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy import stats

from perrecord.errors import InputError
from perrecord.lab.experiments.agencies.cell_sizes import size_classes
from perrecord.lab.experiments.agencies.multiplicative_noise import Distortion, noisy_totals
from perrecord.lab.synth.business import business


def factors(seed, units, **options):
    """Return what records of value 1,000 in a cell of their own are multiplied by."""
    count = len(units)
    records = pa.table({"k": np.arange(count), "firm": units, "x": np.full(count, 1000)})
    found = noisy_totals(records, ["k"], ["x"], unit="firm", seed=seed, **options)
    assert found["k"].to_pylist() == list(range(count))
    return found["x_noisy"].to_numpy() / 1000


def test_values_are_moved_by_the_split_distribution():
    """Between 10 % and 20 %, up as often as down; the seed is fixed, so nothing flickers."""
    law = stats.triang(c=0, loc=0.1, scale=0.1)
    found = factors(3, np.arange(50_000), distortion=Distortion(0.1, 0.2))
    shares = np.abs(found - 1)
    assert shares.min() >= 0.1
    assert shares.max() <= 0.2
    assert stats.kstest(shares, law.cdf).pvalue > 1e-3
    assert stats.binomtest(int((found > 1).sum()), len(found), 0.5).pvalue > 1e-3
    other = stats.triang(c=0.5, loc=0.1, scale=0.1)
    assert stats.kstest(shares, other.cdf).pvalue < 1e-9  # the twin: highest in the middle


def test_establishments_of_a_firm_go_in_the_same_direction():
    """Each by a share of its own; records without a firm are on their own."""
    units = pa.array([*np.repeat(np.arange(500), 20).tolist(), *[None] * 1000], pa.int64())
    found = factors(1, units)
    upward = (found[:10_000] > 1).reshape(500, 20)
    assert (upward.all(axis=1) | ~upward.any(axis=1)).all()
    assert 200 < upward[:, 0].sum() < 300
    assert len(np.unique(found)) == len(found)
    alone = found[10_000:] > 1
    assert 400 < alone.sum() < 600


def test_totals_are_exact_and_counts_are_published():
    """True totals are whole numbers; all measures of a record are multiplied alike."""
    records = pa.table(
        {
            "town": ["A", "A", "B", "B", None],
            "firm": [1, 2, 3, 3, 4],
            "emp": pa.array([10, None, 5, 7, 2], pa.int32()),
            "pay": pa.array([2**60, 1, 50, 70, 20], pa.int64()),
        }
    )
    found = noisy_totals(records, ["town"], ["emp", "pay"], unit="firm", seed=2)
    rows = {row["town"]: row for row in found.to_pylist()}
    assert {town: row["records"] for town, row in rows.items()} == {"A": 2, "B": 2, None: 1}
    assert rows["A"]["pay"] == 2**60 + 1
    assert (rows["A"]["emp"], rows["B"]["emp"]) == (10, 12)
    assert rows[None]["pay_noisy"] / rows[None]["emp_noisy"] == pytest.approx(10)
    again = noisy_totals(records, ["town"], ["emp", "pay"], unit="firm", seed=2)
    assert again.equals(found)
    assert not noisy_totals(records, ["town"], ["emp"], unit="firm", seed=3).equals(
        found.select(["town", "records", "emp", "emp_noisy"])
    )


def test_small_cells_are_moved_most():
    """One establishment by 10 % at least; in large cells directions cancel."""
    records = business(100_000, seed=1)
    totals = noisy_totals(records, ["county"], ["payann"], unit="firm", seed=1)
    totals = totals.filter(pc.greater(totals["payann"], 0))
    true, noisy = totals["payann"].to_numpy(), totals["payann_noisy"].to_numpy()
    moved = np.abs(noisy - true) / true
    medians = [np.median(moved[own]) for _, own in size_classes(totals["records"].to_numpy())]
    assert len(medians) >= 3
    assert medians == sorted(medians, reverse=True)
    assert moved.max() < 0.2
    assert moved[totals["records"].to_numpy() == 1].min() >= 0.1 - 1e-12


def test_no_records_are_no_totals():
    """An empty table has the same columns."""
    records = pa.table({"k": [1, 2], "firm": [1, 2], "x": [0, 5]}).slice(0, 0)
    found = noisy_totals(records, ["k"], ["x"], unit="firm", seed=0)
    assert found.num_rows == 0
    assert found.column_names == ["k", "records", "x", "x_noisy"]


def test_what_makes_no_sense_is_refused():
    """Noise that may be none, columns that are not there."""
    records = pa.table({"k": [1], "firm": [1], "x": [1]})
    for least, most in ((0, 0.2), (0.2, 0.1), (0.5, 1.0)):
        with pytest.raises(InputError, match="expected 0 < least"):
            Distortion(least, most)
    with pytest.raises(InputError, match="no column firms"):
        noisy_totals(records, ["k"], ["x"], unit="firms", seed=0)
    with pytest.raises(InputError, match="at least one"):
        noisy_totals(records, [], ["x"], unit="firm", seed=0)
