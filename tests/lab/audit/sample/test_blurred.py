"""Blurred totals in the black-box audit: records there or not, and giants that change by 10 %."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from perrecord import Blur, Keys, Query, table
from perrecord.lab.audit.sample.audit import sampled
from perrecord.lab.audit.sample.blurred_cases import blurred_cases
from perrecord.lab.audit.sample.bounds import Counted, cuts_from, least_loss
from perrecord.laws.blurring import blurred_rho_between, least_blurred_spread_for_rho
from perrecord.mechanisms import additive
from perrecord.mechanisms.run import answer
from perrecord.noise import bits
from perrecord.policy.terms import Currency
from tests.noise.checks import Replayed

WORLDS = 20_000
BY, CHANCE = Fraction(1, 10), 1e-5


@pytest.fixture(autouse=True)
def replayed(monkeypatch):
    """The same noise in every run of the tests, so that none of them flickers."""
    monkeypatch.setattr(bits._here, "source", Replayed(2026))


def test_no_blurred_total_loses_more_than_its_policy():
    """Alone in its cell, small or a giant: no sample shows more than is charged."""
    cases = list(blurred_cases())
    found = list(sampled(cases[:1] + cases[-6::2], 20_000, CHANCE))
    assert [each.least <= each.policy for each in found] == [True] * 4
    assert found[-1].least > 1


def totals(size: int) -> np.ndarray:
    """Return the blurred total of one record of this size, in many worlds."""
    keys = Keys.from_columns({"world": range(WORLDS)})
    asked = Query("worlds").group_by("world", keys=keys)
    asked = asked.sum("emp", taper=1000, blur=Blur(BY), rho="0.2")
    rows = pa.table({"world": range(WORLDS), "emp": [size] * WORLDS})
    with table(rows, dimensions=["world"], measures=["emp"], name="worlds") as source:
        return answer(source, asked)[0].columns[0].numbers.astype(np.float64)


def seen(size: int, other: int) -> float:
    """Return what samples show at least that it costs to replace one size by the other."""
    spread = float(least_blurred_spread_for_rho("0.2", at=1000, by=BY))

    def ratios(numbers: np.ndarray) -> np.ndarray:
        one, two = (
            np.log(spread + 7 * float(BY) ** 2 * each**2 + (numbers - each) ** 2)
            - 7 / 8 * np.log(spread + 7 * float(BY) ** 2 * each**2)
            for each in (float(size), float(other))
        )
        return 4 * (two - one)

    cuts = cuts_from(np.concatenate([ratios(totals(each)) for each in (size, other)]), 40)
    first, second = (
        Counted.nothing(cuts).with_outputs(ratios(totals(each))) for each in (size, other)
    )
    return least_loss(first, second, Currency.RHO, CHANCE)


@pytest.mark.parametrize("size", [10**4, 10**6, 10**9])
@pytest.mark.parametrize("percent", [110, 90])
def test_a_giant_that_changes_by_a_tenth_loses_what_is_said(size, percent):
    """However large it is: above nothing, and never above the price of the change."""
    other = size * percent // 100
    spread = least_blurred_spread_for_rho("0.2", at=1000, by=BY)
    stated = blurred_rho_between(abs(other - size), size**2, other**2, spread, BY)
    assert stated < Fraction("0.86")
    assert 0.05 < seen(size, other) <= stated


def test_noise_that_does_not_grow_is_seen(monkeypatch):
    """A broken twin: with the noise of an empty cell a giant's change costs far more."""
    whole = additive.samplers.student_of_squares

    def without(spread, growth, squares, **options):
        return whole(spread, growth, 0 * squares, **options)

    monkeypatch.setattr(additive.samplers, "student_of_squares", without)
    assert seen(10**6, 11 * 10**5) > 0.86
