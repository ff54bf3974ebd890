"""The experiment on SIM: its tables, its pictures, and claims that hang on the numbers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import Split
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.lab.experiments.univariate import sim
from perrecord.lab.experiments.univariate.claims import better_at_little_loss, moving_distributions
from perrecord.lab.experiments.univariate.settings import Lost, Setting, distribution_rows
from perrecord.lab.experiments.univariate.sim_claims import (
    Claimed,
    Needed,
    SameNoise,
    ten_percent,
    two_knobs,
)
from perrecord.policy.policy import Policy
from perrecord.report.drawing import size
from perrecord.report.figure import pictures

TINY = sim.SimParameters(
    thresholds=(200, 50, 10),
    shown_losses=(200, 10),
    rhos=("1", "10"),
    box_sizes=(10, 40),
    sizes=(10, 40),
)
CLAIMED = Claimed("1", 0.1, 0.01)


@pytest.fixture(scope="module")
def found():
    """Return the quick run."""
    return sim.run(quick=True, step=lambda _: None)


def numbers(experiment, name):
    """Return the rows of a figure."""
    (figure,) = [each for each in experiment.figures if each.name == name]
    return figure.numbers.to_pylist()


def test_the_share_above_rho_is_that_of_the_tail(found):
    """Pr[HT1 > T] = T^-1.2, within five standard errors of 200,000 records."""
    for row in numbers(found, "sim-errors"):
        share = row["threshold"] ** -1.2
        assert abs(row["share"] - share) < 5 * (share / 200_000) ** 0.5


def test_every_setting_has_a_box_in_order(found):
    """Cell sizes by budgets by thresholds; errors fall with the threshold and with the size."""
    own = sim.QUICK
    rows = numbers(found, "sim-errors")
    assert [(r["records_per_cell"], r["rho"], r["threshold"]) for r in rows] == [
        (size, float(rho), threshold)
        for size in own.box_sizes
        for rho in own.rhos
        for threshold in own.thresholds
    ]
    for row in rows:
        assert row["low"] < row["lower"] < row["middle"] < row["upper"] < row["high"]
        assert row["cells"] == 1000
        assert row["top_coded_middle"] > 0.99 * row["middle"]
    by_size = numbers(found, "sim-cell-sizes")
    assert len(by_size) == len(own.sizes) * len(own.rhos) * len(own.thresholds)


def test_errors_are_proportional_to_the_noise(found):
    """T / sqrt(rho): the median at T = 50 and rho = 1 is a quarter of that at T = 200."""
    rows = {
        (row["rho"], row["threshold"]): row["middle"]
        for row in numbers(found, "sim-errors")
        if row["records_per_cell"] == 100
    }
    assert rows[1, 200] / rows[1, 50] == pytest.approx(4, rel=1e-3)
    assert rows[0.1, 50] / rows[10, 50] == pytest.approx(10, rel=1e-3)


def test_distributions_of_losses_rise_from_the_records_at_rho(found):
    """The first point is rho, its share that of the records that are not split."""
    rows = numbers(found, "sim-losses")
    shares = {row["threshold"]: row["share"] for row in numbers(found, "sim-errors")}
    for threshold in sim.QUICK.shown_losses:
        for rho in map(float, sim.QUICK.rhos):
            own = [r for r in rows if (r["rho"], r["threshold"]) == (rho, threshold)]
            assert own[0]["value"] == pytest.approx(rho)
            assert own[0]["share"] == pytest.approx(1 - shares[threshold])
            assert [r["share"] for r in own] == sorted(r["share"] for r in own)
            assert own[-1]["share"] >= 0.999


def test_two_runs_agree_in_all_but_drawn_medians(monkeypatch):
    """Numbers, claims and findings are the same; one table says that it is drawn."""
    monkeypatch.setattr(sim, "QUICK", TINY)
    first, second = (sim.run(quick=True, step=lambda _: None) for _ in range(2))
    assert first.claims == second.claims
    for one, other in zip(first.figures, second.figures, strict=True):
        assert one.numbers.equals(other.numbers)
        assert one.finding == other.finding
        for table, again in zip(one.tables, other.tables, strict=True):
            assert table == again or "one draw" in table.title


def test_pictures_are_drawn_for_both_widths(found):
    """No wider than paper and telephone."""
    for figure in found.figures:
        shown = pictures(figure, is_public=True)
        assert size(shown.wide)[0] <= 930, figure.name
        assert size(shown.narrow)[0] <= 350, figure.name


def test_the_needed_size_is_the_least(found):
    """57 records a cell at threshold 50: with 50 it is not met, with 100 it is."""
    rows = [
        row
        for row in numbers(found, "sim-cell-sizes")
        if row["rho"] == 1 and row["threshold"] == 50
    ]
    met = {row["records_per_cell"]: row["middle"] <= 0.1 for row in rows}
    assert met == {10: False, 50: False, 100: True, 200: True}
    (figure,) = [each for each in found.figures if each.name == "sim-cell-sizes"]
    needed = {row[0]: row[2] for row in figure.tables[0].rows}
    assert 50 < int(needed["50"]) <= 100
    assert needed["1,000"] == "more than 200"


# -- claims -----------------------------------------------------------------------------------


def by_size(*errors):
    """Return the median errors of cells of 10, 20, ... records at one threshold."""
    return [
        {"records_per_cell": 10 * (n + 1), "rho": 1.0, "threshold": 50, "share": 0.009, "middle": e}
        for n, e in enumerate(errors)
    ]


def test_the_ten_percent_claim_hangs_on_the_size_of_cells():
    """Held by all sizes, by some, by none; a share of 2 % does not count."""
    needed = [Needed(50, 0.009, 15)]
    assert ten_percent(by_size(0.09, 0.05), needed, CLAIMED).verdict == "holds"
    some = ten_percent(by_size(0.3, 0.05), needed, CLAIMED)
    assert some.verdict == "holds with a condition"
    assert "among the thresholds tried, cells of at least 15 records" in some.measured
    none = ten_percent(by_size(0.3, 0.2), [Needed(50, 0.009, None)], CLAIMED)
    assert none.verdict == "does not hold"
    assert "no threshold tried" in none.measured
    split = [row | {"share": 0.02} for row in by_size(0.01, 0.01)]
    assert ten_percent(split, [Needed(50, 0.02, 5)], CLAIMED).verdict == "does not hold"


def boxes(errors, shares, coded=0.9, kind="cells"):
    """Return the boxes of thresholds 100, 50, ... at rho = 1; top-codes all err by `coded`."""
    return [
        {"kind": kind, "rho": 1.0, "threshold": 100 // (n + 1), "share": share, "middle": error,
         "top_coded_middle": coded}
        for n, (error, share) in enumerate(zip(errors, shares, strict=True))
    ]  # fmt: skip


def test_improvement_hangs_on_errors_and_on_shares():
    """Falling errors with few above, with many above; too little; and not falling."""
    assert better_at_little_loss(boxes((0.4, 0.1), (0.01, 0.1)), "1").verdict == "holds"
    many = better_at_little_loss(boxes((0.8, 0.4, 0.1), (0.01, 0.1, 0.9)), "1")
    assert many.verdict == "holds with a condition"
    assert "From a threshold of 33 down, most records lose more" in many.measured
    always = better_at_little_loss(boxes((0.8, 0.1), (0.6, 0.9)), "1")
    assert always.verdict == "does not hold"
    assert "From a threshold of 100 down, most records lose more" in always.measured
    little = better_at_little_loss(boxes((0.4, 0.39), (0.01, 0.1)), "1")
    assert little.verdict == "does not hold"
    rising = better_at_little_loss(boxes((0.1, 0.4), (0.01, 0.1)), "1")
    assert rising.verdict == "does not hold"


def test_improvement_hangs_on_the_best_top_code():
    """Falling errors are no improvement where cutting does as well as splitting."""
    better = better_at_little_loss(boxes((0.4, 0.1), (0.01, 0.1), coded=0.2), "1")
    assert better.verdict == "holds"
    assert "not 2 times better" not in better.measured
    alike = better_at_little_loss(boxes((0.4, 0.1), (0.01, 0.1), coded=0.19), "1")
    assert alike.verdict == "does not hold"
    assert "Splitting is not 2 times better than that." in alike.measured


def test_improvement_hangs_on_an_error_below_the_total():
    """An error of 100 % is none that is of use, however large it was before."""
    useful = better_at_little_loss(boxes((60, 0.99), (0.01, 0.1), coded=9), "1")
    assert useful.verdict == "holds"
    assert "as large as the totals" not in useful.measured
    useless = better_at_little_loss(boxes((60, 1), (0.01, 0.1), coded=9), "1")
    assert useless.verdict == "does not hold"
    assert "as large as the totals themselves or larger" in useless.measured


def test_improvement_in_some_cells_is_a_condition():
    """In one of two kinds of cells; the example is of the last."""
    large = boxes((0.4, 0.1), (0.01, 0.1), kind="large")
    small = boxes((40, 10), (0.01, 0.1), kind="small")
    some = better_at_little_loss([*large, *small], "1")
    assert some.verdict == "holds with a condition"
    assert "In 1 of 2 combinations" in some.measured


def lost(threshold, rho, *losses):
    """Return what some records lose."""
    found = Distribution.of(losses)
    policy = Policy.constant(rho)
    return Lost(Setting(threshold, str(rho), {}), policy, policy.minimum(), found)


def test_distributions_must_move_as_one_with_rho():
    """Ten times the budget is ten times every loss, and finer thresholds cost more."""
    coarse, fine = (1, 1, 4), (1, 4, 400)
    more_coarse, more_fine = (10, 10, 40), (10, 40, 4000)
    sound = [lost(50, 1, *coarse), lost(5, 1, *fine)]
    sound += [lost(50, 10, *more_coarse), lost(5, 10, *more_fine)]
    assert moving_distributions(sound).verdict == "holds"
    uneven = [*sound[:2], lost(50, 10, 10, 10, 30), sound[3]]
    assert moving_distributions(uneven).verdict == "does not hold"
    swapped = [lost(5, 1, *coarse), lost(50, 1, *fine)]
    swapped += [lost(5, 10, *more_coarse), lost(50, 10, *more_fine)]
    assert moving_distributions(swapped).verdict == "does not hold"


def test_distributions_that_stand_still_are_a_condition():
    """A finer threshold that no record exceeds moves nothing; nothing moving at all is no claim."""
    some = moving_distributions([lost(500, 1, 1, 1), lost(50, 1, 1, 1), lost(5, 1, 1, 4)])
    assert some.verdict == "holds with a condition"
    assert "in 1 of 2 steps to a finer threshold, and one of them moves the other way in 0" in (
        some.measured
    )
    none = moving_distributions([lost(500, 1, 1, 1), lost(50, 1, 1, 1)])
    assert none.verdict == "does not hold"


def test_budgets_are_compared_loss_by_loss():
    """Distributions of other lengths are not one another's multiple."""
    uneven = [lost(50, 1, 1, 1, 4), lost(5, 1, 1, 4, 9)]
    uneven += [lost(50, 10, 10, 10, 40, 40), lost(5, 10, 10, 40, 90)]
    assert moving_distributions(uneven).verdict == "does not hold"


def test_the_knobs_are_two_unless_one_noise_serves_both():
    """The same error at a smaller loss is a condition; another error is none."""
    pair = (lost(50, "1", 1, 4), lost(5, "0.01", 0.01, 4))
    same = two_knobs(SameNoise(pair, (0.05, 0.05)))
    assert same.verdict == "holds with a condition"
    assert "a threshold that divides the other, as 5 does 50, costs nobody more" in same.measured
    assert "more was measured" not in same.measured
    dearer = (pair[0], lost(5, "0.01", 0.01, 9))
    assert "more was measured here" in two_knobs(SameNoise(dearer, (0.05, 0.05))).measured
    assert two_knobs(SameNoise(pair, (0.05, 0.04))).verdict == "holds"


def test_a_threshold_that_does_not_divide_the_other_costs_some_more():
    """At the same noise, 30 costs a record of 50 more than 50 does: 1.44 against 1."""
    pair = (lost(50, "1", 1, 4), lost(30, "0.36", 0.36, 5.76))
    found = two_knobs(SameNoise(pair, (0.05, 0.05)))
    assert found.verdict == "holds with a condition"
    assert "nobody more" not in found.measured
    assert "30 does not divide 50: a record of 50 loses 1 and 1.44" in found.measured


def by_pieces(threshold, rho, size):
    """Return what a policy by pieces says of a record."""
    return Policy.split(rho, Split(ht1=threshold)).loss({"ht1": size})


@pytest.mark.parametrize(
    ("size", "coarse", "fine"), [(30, "1", "0.36"), (31, "1", "1.44"), (50, "1", "1.44"),
                                 (100, "4", "5.76")]
)  # fmt: skip
def test_the_counter_example_is_the_policy_s_own(size, coarse, fine):
    """50 at rho = 1 and 30 at 0.36 have one noise, and neither is cheaper for all."""
    assert by_pieces(50, "1", size) == Fraction(coarse)
    assert by_pieces(30, "0.36", size) == Fraction(fine)


@given(fine=st.integers(1, 50), times=st.integers(1, 20), size=st.integers(0, 10**6))
def test_a_threshold_that_divides_the_other_costs_nobody_more(fine, times, size):
    """With rho / k^2 at T / k the noise is the same, and no record loses more."""
    coarse = by_pieces(fine * times, "1", size)
    assert by_pieces(fine, Fraction(1, times**2), size) <= coarse


def test_lines_end_where_almost_all_records_are_below():
    """The few largest are left out; the end is the same for every threshold."""
    every = [lost(50, 1, *[1] * 9990, *[9] * 9, 1e9), lost(5, 1, *[1] * 5000, *[100] * 5000)]
    rows = distribution_rows(every).to_pylist()
    ends = {row["threshold"]: (row["value"], row["share"]) for row in rows}
    assert ends == {50: (100.0, 0.9999), 5: (100.0, 1.0)}
