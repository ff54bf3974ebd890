"""Verdicts are functions of measurements: made-up ones turn them either way."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.variants import SPLITTING, TOP_CODING
from perrecord.lab.experiments.cbp.data import COUNTS, LEVELS, MEASURES
from perrecord.lab.experiments.cbp.error_claims import (
    counts_alike,
    errors_grow,
    splitting_wins,
    top_coding_fails,
)
from perrecord.lab.experiments.cbp.errors import error_row
from perrecord.lab.experiments.cbp.fitness import Reach
from perrecord.lab.experiments.cbp.fitness_claims import (
    Price,
    larger_goals_cost_less,
    smaller_thresholds_cost_less,
    top_coding_is_out_of_reach,
)
from perrecord.lab.experiments.cbp.loss_claims import (
    firms_below,
    gap_grows_with_queries,
    gap_shrinks,
    realised_below,
    thresholds_alike,
)
from perrecord.lab.experiments.cbp.losses import PERCENTILES, Gap

SPREAD = np.array([0.5, 0.9, 1.0, 1.1, 2.0])
NAMES = ("Conservative", "Moderate", "Median")


def made_up(kind, variant, error, *, budget="1", attributes=tuple(MEASURES), growth=1.1):
    """Return the rows of a scheme whose errors spread about a number that grows by level."""
    return [
        error_row(
            SPREAD * error * growth**place,
            kind=kind,
            variant=variant,
            level=level,
            attribute=attribute,
            budget=budget,
        )
        for attribute in attributes
        for place, level in enumerate(LEVELS.values())
    ]


def compared(coded, split):
    """Return the rows of two top-codes and two splitting schemes."""
    return [
        *made_up(TOP_CODING, "top-code A", coded),
        *made_up(TOP_CODING, "top-code B", 2 * coded),
        *made_up(SPLITTING, "split A", split),
        *made_up(SPLITTING, "split B", split / 10),
    ]


@pytest.mark.parametrize(("other", "verdict"), [(0.02, "holds"), (0.021, "does not hold")])
def test_counts_are_alike_or_not(other, verdict):
    """One scheme with other errors of its counts is enough."""
    rows = [
        *made_up(TOP_CODING, "top-code A", 0.02, attributes=COUNTS),
        *made_up(SPLITTING, "split A", other, attributes=COUNTS),
    ]
    found = counts_alike(rows)
    assert found.verdict == verdict
    assert ("are the same" in found.measured) == (verdict == "holds")


def test_top_coding_fails_unless_boxes_lie_below_the_green_line():
    """All boxes above, all at the stated budget alone, most below."""
    bad = made_up(TOP_CODING, "top-code A", 0.3)
    good = made_up(TOP_CODING, "top-code A", 0.01)
    better = made_up(TOP_CODING, "top-code A", 0.01, budget="10")
    assert top_coding_fails(bad, "1").verdict == "holds"
    assert top_coding_fails([*bad, *better], "1").verdict == "holds with a condition"
    assert top_coding_fails(good, "1").verdict == "does not hold"
    assert "0 of 18" in top_coding_fails(good, "1").measured


@pytest.mark.parametrize(
    ("coded", "split", "verdict"),
    [
        (0.5, 0.05, "holds"),
        (0.5, 0.4, "holds with a condition"),
        (0.05, 5.0, "does not hold"),
    ],
)
def test_splitting_wins_by_its_worst_scheme(coded, split, verdict):
    """Far smaller under every scheme, smaller under all but far under some, or not smaller."""
    found = splitting_wins(compared(coded, split), "1")
    assert found.verdict == verdict
    assert ("not far smaller under split A" in found.measured) == (verdict != "holds")


@pytest.mark.parametrize(
    ("growth", "verdict"), [(1.2, "holds"), (1.0, "does not hold"), (0.9, "does not hold")]
)
def test_errors_grow_from_level_to_level(growth, verdict):
    """At every step."""
    rows = made_up(SPLITTING, "split A", 0.01, growth=growth)
    whole = {"EMP": [0.01, 0.1, 1.0]}
    assert errors_grow(rows, "1", whole).verdict == verdict
    assert "far more" in errors_grow(rows, "1", whole).measured
    assert "far more" not in errors_grow(rows, "1", {"EMP": [0.01, 0.01]}).measured


def test_errors_that_grow_but_not_at_every_step_hold_with_a_condition():
    """A step that falls back is counted and said."""
    rows = made_up(SPLITTING, "split A", 0.01, growth=1.2)
    last = [row for row in rows if row["level"] == "6 digits"]
    for row in last:
        row["middle"] /= 1.3
    found = errors_grow(rows, "1", {"EMP": [0.01, 0.1]})
    assert found.verdict == "holds with a condition"
    assert "12 of 15 single steps" in found.measured


@pytest.mark.parametrize(
    ("change", "verdict"),
    [(0.005, "holds"), (0.1, "holds with a condition"), (0.3, "does not hold")],
)
def test_thresholds_stand_where_the_paper_has_them_or_not(change, verdict):
    """The largest difference decides; of data made so, nothing holds without a condition."""
    found = {name: dict(shares) for name, shares in PERCENTILES.items()}
    found["Median"]["PAYANN"] += change
    claim = thresholds_alike(found, PERCENTILES, is_calibrated=False)
    assert claim.verdict == verdict
    assert "PAYANN under Median" in claim.measured
    assert "calibrated" not in claim.measured
    made_so = thresholds_alike(found, PERCENTILES, is_calibrated=True)
    assert made_so.verdict == ("holds with a condition" if verdict == "holds" else verdict)
    assert "calibrated to these percentiles" in made_so.measured


def test_firms_sit_slightly_below_far_below_or_above():
    """By the largest difference of the two distributions."""
    establishments = Distribution.of([1] * 90 + [4] * 10)
    slightly = Distribution.of([1] * 88 + [4] * 10 + [100] * 2)
    far = Distribution.of([1] * 40 + [4] * 60)
    above = Distribution.of([1] * 99 + [4])

    def verdict(firms):
        return firms_below({"Moderate": (establishments, firms)}, 0.8).verdict

    assert verdict(slightly) == "holds"
    assert verdict(far) == "holds with a condition"
    assert verdict(above) == "does not hold"


GAP = Gap(least=1.02, middle=2.4, difference=0.6, share_halved=0.8)


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "holds"),
        ({"share_halved": 0.4}, "holds with a condition"),
        ({"least": 0.99}, "does not hold"),
    ],
)
def test_realised_losses_are_below_the_policy(changed, verdict):
    """For everybody, and far for most."""
    found = realised_below({"A": GAP, "B": replace(GAP, **changed)})
    assert found.verdict == verdict
    assert "an upper bound in FIRM" in found.measured
    assert "at most 2.5 times" in found.measured


@pytest.mark.parametrize(
    ("middle", "difference", "verdict"),
    [(2.0, 0.5, "holds"), (2.0, 1.7, "holds with a condition"), (3.0, 0.5, "does not hold")],
)
def test_gaps_shrink_as_a_ratio_and_as_a_difference(middle, difference, verdict):
    """As a ratio alone is a condition."""
    finer = replace(GAP, middle=middle, difference=difference)
    assert gap_shrinks({"A": GAP, "B": finer}).verdict == verdict


@pytest.mark.parametrize(
    ("middle", "difference", "verdict"),
    [(2.4, 3.6, "holds with a condition"), (3.0, 3.6, "holds"), (2.4, 0.6, "does not hold")],
)
def test_gaps_grow_with_queries_as_a_ratio_or_as_a_difference(middle, difference, verdict):
    """A difference that grows as the policy does is a condition."""
    every = {"A": replace(GAP, middle=middle, difference=difference)}
    assert gap_grows_with_queries({"A": GAP}, every, 6).verdict == verdict


@pytest.mark.parametrize(
    ("share", "apart", "verdict"),
    [
        (0.9, 0.0, "holds with a condition"),
        (0.9, 0.1, "holds"),
        (0.3, 0.0, "does not hold"),
    ],
)
def test_smaller_thresholds_cost_most_establishments_less_by_pieces(share, apart, verdict):
    """If exact accounting told schemes apart as well, there would be no condition."""
    losses = dict.fromkeys(NAMES, 1.0)
    found = smaller_thresholds_cost_less(
        {("Conservative", "Moderate"): 0.99, ("Moderate", "Median"): share}, losses, losses, apart
    )
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("goals", "verdict"),
    [
        ([[4.0, 8.0], [1.0, 2.0]], "holds"),
        ([[4.0, 8.0, 9.0], [1.0, 2.0, 10.0]], "holds with a condition"),
        ([[4.0, 8.0], [5.0, 9.0]], "does not hold"),
    ],
)
def test_looser_goals_shift_losses_to_the_left(goals, verdict):
    """Quantile by quantile."""
    assert larger_goals_cost_less({"Moderate": goals}).verdict == verdict


def test_counts_that_are_often_exact_are_alike_or_not():
    """Errors of 0 at the lower end are the same, or have no ratio to others."""
    rows = [
        *made_up(TOP_CODING, "top-code A", 0.02, attributes=COUNTS),
        *made_up(SPLITTING, "split A", 0.02, attributes=COUNTS),
    ]
    for row in rows:
        row["low"] = 0.0
    assert counts_alike(rows).verdict == "holds"
    rows[0]["low"] = 0.001
    assert counts_alike(rows).verdict == "does not hold"


CHEAP = Price(Fraction(1, 20), "Moderate", above=0.3, middle=0.4)
DEAR = Price(Fraction(1, 100), "Moderate", above=0.9, middle=67.4)


def test_top_coding_is_out_of_reach_or_not():
    """For every top-code and goal, for some, for none; and if splitting missed goals too."""
    shares = dict.fromkeys(MEASURES, 0.2)
    missed = Reach(Fraction(1, 20), "Conservative", shares, 30, 18, 1.0)
    met = Reach(Fraction(1, 5), "Moderate", dict.fromkeys(MEASURES, 0.0), 30, 0, 9.0)

    def found(reaches, split_missed=0, prices=(CHEAP,)):
        return top_coding_is_out_of_reach(reaches, split_missed, prices)

    assert found([missed]).verdict == "holds"
    some = found([missed, met])
    assert some.verdict == "holds with a condition"
    assert "from 18 of 30 (Conservative within 5\xa0%)" in some.measured  # not from 0 of 30
    none = found([met])
    assert none.verdict == "does not hold"
    assert "In none of 1 combinations" in none.measured
    assert found([missed], 3).verdict == "does not hold"


def test_goals_that_cost_most_establishments_more_than_one_are_a_condition():
    """However far top-codes are from them; shares and medians are said."""
    missed = Reach(Fraction(1, 20), "Conservative", dict.fromkeys(MEASURES, 0.2), 30, 18, 1.0)
    assert top_coding_is_out_of_reach([missed], 0, [CHEAP]).verdict == "holds"
    dear = top_coding_is_out_of_reach([missed], 0, [DEAR, CHEAP])
    assert dear.verdict == "holds with a condition"
    assert "Moderate 90\xa0%, 30\xa0% (median losses 0.4 to 67.4)" in dear.measured
    assert "in 1 of 2 combinations" in dear.measured
