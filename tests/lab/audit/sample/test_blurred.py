"""Blurred totals in the black-box audit: records there or not, and giants that change by 10 %."""

from fractions import Fraction

import pytest

from perrecord.lab.audit.sample.audit import sampled
from perrecord.lab.audit.sample.blurred_cases import blurred_cases
from perrecord.laws.blurring import blurred_rho_between
from perrecord.mechanisms import additive
from perrecord.noise import bits
from tests.noise.checks import Replayed

RUNS, CHANCE = 20_000, 1e-5
CASES = list(blurred_cases())
PRESENT = [case for case in CASES if case.instead is None]
CHANGED = [case for case in CASES if case.instead is not None]


@pytest.fixture(autouse=True)
def replayed(monkeypatch):
    """The same noise in every run of the tests, so that none of them flickers."""
    monkeypatch.setattr(bits._here, "source", Replayed(2026))


def test_no_blurred_total_loses_more_than_its_policy():
    """Alone in its cell, small or a giant: no sample shows more than is charged."""
    found = list(sampled(PRESENT[:1] + PRESENT[-6::2], RUNS, CHANCE))
    assert [each.least <= each.policy for each in found] == [True] * 4
    assert found[-1].least > 1


def test_the_giants_that_change_go_over_five_orders_of_magnitude():
    """A tenth more and a tenth less; however large, a change costs at most what T28 says."""
    sizes = {case.record["emp"] for case in CHANGED}
    assert sizes == {10**4, 10**9}
    shares = {Fraction(case.instead["emp"], case.record["emp"]) for case in CHANGED}
    assert shares == {Fraction(9, 10), Fraction(11, 10)}


@pytest.mark.parametrize("case", CHANGED, ids=[case.name for case in CHANGED])
def test_a_giant_that_changes_by_a_tenth_loses_what_is_said(case):
    """However large it is: above nothing, and never above the price of the change."""
    (found,) = sampled([case], RUNS, CHANCE)
    share = Fraction(case.instead["emp"], case.record["emp"])
    bound = blurred_rho_between(abs(1 - share), 1, share**2, Fraction(1, 10**24), Fraction(1, 10))
    assert 0.05 < found.least <= found.policy <= bound < Fraction("0.86")


def test_noise_that_does_not_grow_is_seen(monkeypatch):
    """A broken twin: with the noise of an empty cell a giant's change costs far more."""
    whole = additive.samplers.student_of_squares

    def without(spread, growth, squares, **options):
        return whole(spread, growth, 0 * squares, **options)

    monkeypatch.setattr(additive.samplers, "student_of_squares", without)
    (found,) = sampled(CHANGED[2:3], RUNS, CHANCE)
    assert found.is_violated
