"""Losses of establishments and firms: what gaps are made of, curves, the figure."""

from dataclasses import replace
from fractions import Fraction

import pytest

from perrecord import Policy
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.lab.experiments.cbp.data import establishments
from perrecord.lab.experiments.cbp.experiment import QUICK
from perrecord.lab.experiments.cbp.loss_figures import losses_figure
from perrecord.lab.experiments.cbp.losses import curve, gap_between, measured_losses
from perrecord.report.figure import pictures

USE = replace(QUICK, rows=60_000, fewest=20)


@pytest.fixture(scope="module")
def found():
    """The losses under every scheme, for establishments of one state."""
    with establishments(USE.rows, seed=1, fewest=USE.fewest, states=USE.states) as data:
        return data.rows, measured_losses(data, USE.splits, Fraction(1))


def test_the_policy_minimum_is_one_and_realised_losses_stay_below(found):
    """Record by record, and bound by bound for firms."""
    rows, every = found
    for each in every:
        assert each.losses.minimum == 1
        assert each.losses.policy.count == rows.num_rows
        assert each.gap.least >= 1 - 1e-9
        for share in ("0.5", "0.9", "0.99", 1):
            real, tight = each.units.realised.quantile(share), each.units.tight.quantile(share)
            assert real <= tight * (1 + 1e-9)
            assert tight <= each.units.simple.quantile(share) * (1 + 1e-9)
            assert tight <= each.units.advanced.quantile(share) * (1 + 1e-6)


def test_the_realised_loss_of_a_record_is_the_policy_of_exact_accounting(found):
    """What gaps take for the realised loss is what the library finds by adding up changes (T17).

    Both take a count of different firms to change with every establishment: an upper bound.
    """
    rows, every = found
    for each in every:
        exact = Policy.constant("0.4") + Policy.total(
            Policy.exact("0.2", measure=measure, threshold=each.split.threshold(measure))
            for measure in ("emp", "payann", "payqtr1")
        )
        wanted = Distribution.of(exact.losses(rows.select(["emp", "payann", "payqtr1"])))
        for share in ("0.5", "0.9", "0.99", 1):
            assert each.losses.realised.quantile(share) == pytest.approx(wanted.quantile(share))


def test_thresholds_stand_where_the_paper_has_them(found):
    """Of the Moderate scheme: 66 % of employment, 79 % and 80 % of payroll, within sampling error.

    Among some 1,900 establishments a share strays by 5 points with a chance below 1e-5.
    """
    moderate = found[1][1]
    assert moderate.percentiles["EMP"] == pytest.approx(0.66, abs=0.05)
    assert moderate.percentiles["PAYANN"] == pytest.approx(0.79, abs=0.05)
    assert moderate.percentiles["PAYQTR1"] == pytest.approx(0.80, abs=0.05)


def test_a_gap_says_how_far_one_policy_is_above_another():
    """A broken twin: a realised loss above the policy shows as a ratio below 1."""
    rows = {"emp": [1, 2, 4]}
    policy, real = Policy.constant(4), Policy.exact(1, measure="emp", threshold=1)
    gap = gap_between(policy, real, rows)
    assert gap.least == pytest.approx(0.25)
    assert gap.middle == pytest.approx(1)
    assert gap.share_halved == pytest.approx(1 / 3)


def test_a_curve_keeps_about_a_hundred_exact_points():
    """Its ends are there, and every share is that of its value."""
    every = Distribution.of(range(5000))
    points = curve(every).to_pylist()
    assert 95 < len(points) < 110
    assert points[-1] == {"value": 4999.0, "share": 1.0}
    assert all(row["share"] == (row["value"] + 1) / 5000 for row in points)
    assert curve(Distribution.of([1, 1, 7])).to_pylist() == [
        {"value": 1.0, "share": 2 / 3},
        {"value": 7.0, "share": 1.0},
    ]
    assert curve(Distribution.of([])).num_rows == 0


def test_a_curve_does_not_hang_on_the_last_bits():
    """Sums that differ in their order are one value, whose share is that of all of them."""
    one, other = Distribution.of([3.0, 3.0, 9.0]), Distribution.of([3.0, 3.0000000000000004, 9.0])
    assert curve(one) == curve(other)


def test_tapering_costs_nobody_more_and_the_largest_far_less(found):
    """At the same sizes and amounts, quantile by quantile."""
    _, every = found
    for each in every:
        for share in ("0.01", "0.5", "0.9", "0.99", "0.999", 1):
            assert each.tapered.quantile(share) <= each.losses.policy.quantile(share)
    ratios = [each.tapered.largest / each.losses.policy.largest for each in every]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] < 1 / 3
    assert ratios[-1] < 1 / 100


def test_the_figure_shows_both_losses_of_both_kinds_of_units(found):
    """Fifteen lines, their numbers, and the tables with the paper's bounds."""
    figure = losses_figure(found[1])
    labels = {(r["scheme"], r["of"], r["loss"]) for r in figure.numbers.to_pylist()}
    assert len(labels) == 15
    thresholds, quantiles = figure.tables
    assert [row[0] for row in thresholds.rows] == ["Conservative", "Moderate", "Median"]
    assert {"policy, simple bound", "policy, advanced bound"} <= {row[2] for row in quantiles.rows}
    for picture in (drawn := pictures(figure, is_public=True)).wide, drawn.narrow:
        assert "realised" in picture
        assert "firms" in picture
