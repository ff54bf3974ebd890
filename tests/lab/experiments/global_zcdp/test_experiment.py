"""The experiment on global zCDP: its tables, its pictures, and claims that hang on the numbers."""

import pytest

from perrecord.lab.experiments.global_zcdp import experiment as global_zcdp
from perrecord.lab.experiments.global_zcdp.claims import (
    exceeding,
    lower_bound,
    moving_optimum,
    prohibitive,
    without_units,
)
from perrecord.lab.experiments.global_zcdp.clamped_pareto import ClampedSum
from perrecord.lab.experiments.global_zcdp.clamped_release import Exponents, Units
from perrecord.report.drawing import size
from perrecord.report.figure import pictures


@pytest.fixture(scope="module")
def found():
    """Return the quick run."""
    return global_zcdp.run(quick=True, step=lambda _: None)


def test_the_figure_s_numbers_are_the_closed_forms(found):
    """Row by row, with the best bound of each panel."""
    (figure,) = found.figures
    own = global_zcdp.QUICK
    rows = figure.numbers.to_pylist()
    assert len({(row["tail"], row["rho"]) for row in rows}) == len(own.tails) * len(own.rhos)
    for row in rows:
        asked = ClampedSum(own.records, row["tail"], row["rho"])
        assert row["best_bound"] == asked.best_bound
        assert row["mse_over_expected"] == pytest.approx(
            row["rmse_over_expected"] ** 2 * asked.expected
        )
    assert len(figure.tables[0].rows) == len(own.tails) * len(own.rhos)


def test_only_the_root_is_said_to_be_an_error_as_large_as_the_sum(found):
    """The line at 1 means nothing for a ratio with units, and the axis names both."""
    (figure,) = found.figures
    assert "at 1: for RMSE / E an error as large as the sum" in figure.reading
    assert "for the paper's ratio, which has units, it has no such meaning" in figure.reading
    assert "times the sum" not in figure.finding
    assert "MSE or RMSE / E[sum]" in str(figure.draw("wide"))


def test_two_runs_agree(found):
    """Nothing is drawn but data, from a seed: tables and claims are the same."""
    again = global_zcdp.run(quick=True, step=lambda _: None)
    assert again.figures[0].numbers.equals(found.figures[0].numbers)
    assert again.figures[0].tables == found.figures[0].tables
    assert again.claims == found.claims


def test_pictures_are_drawn_for_both_widths(found):
    """No wider than paper and telephone."""
    shown = pictures(found.figures[0], is_public=True)
    assert size(shown.wide)[0] <= 930
    assert size(shown.narrow)[0] <= 350


def test_what_the_full_parameters_say_of_the_claims():
    """The closed forms alone, at the parameters of the full run."""
    best = global_zcdp._best(global_zcdp.FULL)
    assert exceeding(best).verdict == "does not hold"
    assert prohibitive(best, 0.1).verdict == "holds with a condition"
    assert moving_optimum(best).verdict == "holds"


def changed(**changes):
    """Return what is found at the best bounds with some figures replaced."""
    return [row | changes for row in global_zcdp._best(global_zcdp.QUICK)]


def test_verdicts_follow_the_numbers():
    """Other numbers, other verdicts."""
    assert exceeding(changed(noise=50.0)).verdict == "holds"
    assert exceeding(changed(ratio=1e4)).verdict == "holds with a condition"
    assert prohibitive(changed(root_ratio=0.5), 0.1).verdict == "holds"
    assert prohibitive(changed(root_ratio=0.05), 0.1).verdict == "does not hold"
    assert moving_optimum(changed(bound=7.0)).verdict == "does not hold"
    assert without_units(Units(1.2, "1", 1000, 3.0, 0.2, 1.0, 1.0)).verdict == "holds"
    assert without_units(Units(1.2, "1", 1000, 3.0, 0.2, 1000.0, 1.0)).verdict == "does not hold"
    assert lower_bound(Exponents(1.0, -2.0, 10, 0.1, 1000)).verdict == "holds"
    assert lower_bound(Exponents(2.0, -1.0, 10, 0.1, 500)).verdict == "does not hold"
