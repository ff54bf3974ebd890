"""The key-selection example: exact chances, real draws, figures that can be drawn, claims."""

import pytest
from scipy import stats

from perrecord.lab.experiments.keys import experiment as key_selection
from perrecord.lab.experiments.keys.chances import Industry, Selecting, drawn_shares
from perrecord.lab.experiments.keys.claims import claims, each_populated, example_pieces
from perrecord.lab.experiments.keys.experiment import FULL, INDUSTRIES, QUICK, farthest, run
from perrecord.report.figure import pictures
from tests.noise.checks import FALSE_ALARM

UNSPLIT = Selecting("0.1", "1e-6")
NAMED = {each.name: each for each in INDUSTRIES}


@pytest.fixture(scope="module")
def told():
    """Return the steps that the quick form tells."""
    return []


@pytest.fixture(scope="module")
def found(told):
    """Return the quick form of the experiment."""
    return run(quick=True, step=told.append)


def test_chances_and_prices_are_those_of_the_theory():
    """T9: tau = 13; delta(1) = 1.1e-7, delta(10) = 0.13, delta(20) = 0.9996; losses rho m^2."""
    assert UNSPLIT.keys.threshold == 13
    technology = NAMED["Technology"]
    for threshold, pieces, shown in ((None, 1, "1.1e-07"), (1000, 10, "0.13"), (500, 20, "1")):
        way = Selecting("0.1", "1e-6", threshold)
        assert way.pieces(technology.giant) == pieces
        assert f"{way.revealed(technology.giant):.2g}" == shown
        assert way.loss(technology.giant) == UNSPLIT.loss(5) * pieces**2
    assert Selecting("0.1", "1e-6", 100).chance(NAMED["Retail"]) == UNSPLIT.chance_of(13)


@pytest.mark.parametrize("threshold", [None, 5000, 1000, 500, 50])
def test_who_is_alone_is_found_with_its_delta(threshold):
    """The chance from the law and the delta from the policy are one number; company adds to it."""
    way = Selecting("0.1", "1e-6", threshold)
    for name in ("Technology", "Services"):
        assert way.chance(NAMED[name]) == pytest.approx(way.revealed(NAMED[name].giant), rel=1e-12)
    assert way.chance(NAMED["Retail"]) > way.revealed(NAMED["Retail"].giant)


def test_real_draws_follow_the_chances():
    """A table through a session: 4,000 regions, false alarm 1e-7 in all."""
    copies, way = 4000, Selecting("0.1", "1e-6", 100)
    some = (NAMED["Retail"], NAMED["Transport"], Industry("Energy", (900, 40)), NAMED["Services"])
    shares = drawn_shares(some, way, copies, "0.1")
    for each in some:
        count = round(shares[each.name] * copies)
        assert stats.binomtest(count, copies, way.chance(each)).pvalue > FALSE_ALARM / 4
    missed = way.chance_of(sum(map(way.pieces, NAMED["Retail"].employees)) - 1)
    count = round(shares["Retail"] * copies)
    assert stats.binomtest(count, copies, missed).pvalue < FALSE_ALARM  # the twin: a piece fewer


def test_the_draws_of_the_experiment_are_as_far_off_as_they_may_be(found):
    """Five standard errors are a false alarm of 1e-5; what is not drawn at random is caught."""
    assert "standard errors" in found.text[1]
    drawn = [
        key_selection.Drawn(way, 1000, {name: way.chance(each) for name, each in NAMED.items()})
        for way in (UNSPLIT, Selecting("0.1", "1e-6", 100))
    ]
    assert farthest(drawn) == (pytest.approx(0, abs=1e-9), 3)
    wrong = key_selection.Drawn(UNSPLIT, 1000, {**drawn[0].shares, "Transport": 0.5})
    assert farthest([wrong])[0] > 5  # the twin


def test_figures_can_be_drawn_and_hold_exact_numbers(found):
    """For both widths; chances are probabilities and do not hang on the draws."""
    names = ["keys-by-threshold", "price-of-being-found", "keys-by-records"]
    assert [figure.name for figure in found.figures] == names
    again = run(quick=True, step=lambda _: None)
    for figure, other in zip(found.figures, again.figures, strict=True):
        assert figure.numbers.equals(other.numbers)
        assert (figure.finding, figure.title) == (other.finding, other.title)
        chances = figure.numbers["chance"].to_pylist()
        assert all(0 < chance <= 1 for chance in chances)
        drawn = pictures(figure, is_public=True)
        assert "<svg" in drawn.wide
        assert drawn.wide != drawn.narrow


@pytest.mark.usefixtures("found")
def test_every_step_is_told(told):
    """One for each way of selecting, and one for the exact part."""
    assert len(told) == len(QUICK.splits) + 2


def test_lines_turn_where_pieces_change():
    """Both sides of every edge of a giant are plotted."""
    for parameters in (FULL, QUICK):
        thresholds = parameters.thresholds
        assert {999, 1000, 4999, 5000, 3333, 3334, 10_000} <= set(thresholds)
        assert thresholds[0] == 10
        assert thresholds[-1] == 10_000
        assert len(set(thresholds)) == len(thresholds)


# -- claims ------------------------------------------------------------------------------------


def test_the_paper_is_right_on_chances_and_wrong_on_pure_zcdp(found):
    """What is measured says which."""
    verdicts = [claim.verdict for claim in found.claims]
    assert verdicts == ["holds", "holds", "does not hold", "does not hold"]
    assert "0.9996" in found.claims[1].measured
    assert "Agriculture 6, Mining 3, Retail 1" in found.claims[2].measured
    assert "Retail stays at δ or below at every ρ" in found.claims[2].measured
    assert "9.2" in found.claims[3].measured


def test_the_worked_example_splits_as_the_paper_says():
    """Records 1 and 2 into three, record 3 into two, records 4 and 5 not at all."""
    assert list(example_pieces().values()) == [[3, 3], [2, 1], [1]]


def test_verdicts_follow_the_numbers():
    """With other industries the same sentences would be false."""
    split = Selecting("0.1", "1e-6", 500)
    two = Industry("Services", (5, 5))
    first, second, third, _ = claims(two, NAMED["Technology"], UNSPLIT, UNSPLIT, ["0.1"])
    assert first.verdict == "does not hold"  # two records are not found as one is
    assert second.verdict == "does not hold"  # nothing was split
    assert third.verdict == "does not hold"  # one piece is found with delta at most
    assert claims(NAMED["Services"], two, UNSPLIT, split, ["1"])[1].verdict == "does not hold"


@pytest.mark.parametrize(
    ("pieces", "rhos", "verdict"),
    [
        ({"Agriculture": 30, "Mining": 20}, ["0.1", "1"], "holds"),
        ({"Agriculture": 6, "Mining": 3}, ["0.1", "1", "10"], "holds with a condition"),
        ({"Agriculture": 30, "Retail": 1}, ["0.1", "1", "10"], "does not hold"),
    ],
)
def test_each_populated_industry_is_found_or_not(pieces, rhos, verdict):
    """At every rho, at some, or one of them at none."""
    found = each_populated(pieces, "1e-6", rhos)
    assert found.verdict == verdict
    assert ("stays at δ" in found.measured) == (verdict == "does not hold")
