"""What agencies use today beside the schemes: rows of the errors table, sizes, hidden cells."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from perrecord.evaluate.variants import SPLITTING
from perrecord.lab.experiments.agencies.multiplicative_noise import Distortion
from perrecord.lab.experiments.cbp.agencies import (
    AGENCIES,
    NOISE,
    SUPPRESSION,
    Practice,
    measured_agencies,
    noisy_cells,
)
from perrecord.lab.experiments.cbp.agency_figures import (
    beside_schemes,
    noise_figure,
    reveals,
    suppression_figure,
)
from perrecord.lab.experiments.cbp.data import COUNTS, LEVELS, MEASURES, establishments
from perrecord.lab.experiments.cbp.error_figures import errors_by_level
from perrecord.lab.experiments.cbp.errors import error_rows, errors_table, measured
from perrecord.lab.experiments.cbp.experiment import QUICK
from perrecord.report.figure import pictures

USE = replace(QUICK, rows=60_000, fewest=3, budgets=(Fraction(1),))
PRACTICE = Practice(draws=3)


@pytest.fixture(scope="module")
def data():
    """Establishments of one state."""
    with establishments(USE.rows, seed=1, fewest=USE.fewest, states=USE.states) as found:
        yield found


@pytest.fixture(scope="module")
def errors(data):
    """The errors under every scheme."""
    return measured(data, USE.budgets, USE.splits, USE.top_codes)


@pytest.fixture(scope="module")
def agencies(data, errors):
    """Both practices."""
    split = [each for each in errors if each.variant.kind == SPLITTING]
    return measured_agencies(data, PRACTICE, split, lambda _: None)


def test_both_add_rows_to_the_errors_table_without_a_budget(data, agencies):
    """Noise at every evaluated level, suppression at those of its table; counts are exact."""
    table = errors_table(agencies.rows)
    assert set(table["budget"].to_pylist()) == {None}
    assert set(table["kind"].to_pylist()) == {AGENCIES}
    levels = {LEVELS[level] for level in data.evaluated}
    assert {row["level"] for row in agencies.rows if row["variant"] == NOISE} == levels
    hidden = [row for row in agencies.rows if row["variant"] == SUPPRESSION]
    assert {row["level"] for row in hidden} == {"all industries", "2 digits"}
    for row in agencies.rows:
        exact = row["attribute"] in COUNTS or row["variant"] == SUPPRESSION
        assert (row["high"] == 0) == exact
        level = next(level for level, name in LEVELS.items() if name == row["level"])
        assert row["cells"] == int(data.cells[level].is_large.sum())


def test_the_errors_of_noise_stay_within_its_limits(data):
    """No total is off by more than its establishments are; lone ones are off by no less."""
    limits = Distortion(0.3, 0.4)
    found = noisy_cells(data, 2, Practice(distortion=limits, draws=2))
    alone = found.records == 1
    for errors in found.errors.values():
        assert np.nanmax(errors) <= limits.most
        assert np.nanmin(errors[alone]) >= limits.least - 1e-9
    assert found.shown_alone[0] == found.shown_alone[1] > 0


def test_sizes_hold_the_same_cells_under_every_method(agencies):
    """Both count the cells of county and sector whose total is above 0."""
    counts = {}
    for row in agencies.by_size:
        counts.setdefault((row["attribute"], row["size"]), set()).add(row["cells"])
    assert len(counts) >= 2 * len(MEASURES)
    assert all(len(each) == 1 for each in counts.values())


def test_suppressed_cells_are_counted_apart_from_zeros(data, agencies):
    """What is hidden among the evaluated cells is no error of 0."""
    for row in agencies.rows:
        if row["variant"] == SUPPRESSION and row["attribute"] in MEASURES:
            level = 0 if row["level"] == "all industries" else 2
            zeros = int((data.cells[level].true(row["attribute"]) == 0).sum())
            assert row["zeros"] == zeros
    assert sum(row["hidden"] for row in agencies.rows) > 0


def test_a_lone_establishment_outside_the_limits_would_fail_the_claim(agencies):
    """The verdict hangs on the count: one cell that noise moved further would show."""
    alone, moved = agencies.shown_alone
    found = reveals(agencies, PRACTICE)
    assert found.verdict == "holds with a condition"  # it is so by construction
    hidden = next(row for row in agencies.suppressed.to_pylist() if row["size"] == "all")
    assert f" of {hidden['cells']:,} (EMP)" in found.measured
    broken = replace(agencies, shown_alone=(alone, moved - 1))
    assert reveals(broken, PRACTICE).verdict == "does not hold"


def test_figures_say_that_there_is_no_guarantee(agencies, errors):
    """And are drawn for both widths; suppression stands among the schemes."""
    rows = error_rows(errors)
    assert "Neither carries a formal guarantee" in beside_schemes(agencies, rows, "1")
    for figure in (
        noise_figure(agencies, PRACTICE, "1"),
        suppression_figure(agencies, PRACTICE),
        errors_by_level([*rows, *agencies.rows], "1", USE.fewest, PRACTICE.draws),
    ):
        assert "formal guarantee" in figure.reading
        drawn = pictures(figure, is_public=True)
        assert "nothing to show" not in drawn.wide
        assert drawn.narrow
    assert SUPPRESSION in drawn.wide
    assert "boxes under EZS noise" in figure.finding
    assert "EZS" not in errors_by_level(rows, "1", USE.fewest, PRACTICE.draws).finding
