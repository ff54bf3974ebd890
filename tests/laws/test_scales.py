"""Scales of noise in a measure's own units: the law on a grid, and what a shift costs."""

from dataclasses import replace
from fractions import Fraction
from math import log
from types import SimpleNamespace

import pytest

from perrecord import Policy
from perrecord.errors import InputError, QueryError
from perrecord.laws import DiscreteGaussian, DiscreteLaplace, DiscreteStudent
from perrecord.laws.scales import SCALES, largest, scale_of
from perrecord.laws.tapering import tapered_epsilon, tapered_rho
from perrecord.policy.outputs import shift_loss
from perrecord.policy.tapering import student_loss
from perrecord.policy.terms import Currency
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from perrecord.release.noise import CellNoise

STEP = Fraction(1, 10)
LAWS = {
    "gaussian": DiscreteGaussian(12_500),
    "laplace": DiscreteLaplace(1250),
    "student3": DiscreteStudent(12_500, 3),
    "student7": DiscreteStudent(12_500, 7),
}


@pytest.mark.parametrize("name", SCALES)
def test_a_scale_gives_its_law_on_a_grid(name):
    """In steps of a tenth, 125 squared units are 12,500 squared steps."""
    assert scale_of(name, Fraction(125), STEP).law(STEP) == LAWS[name]
    assert scale_of(name, Fraction(125), STEP).name == name


@pytest.mark.parametrize("name", SCALES)
def test_a_shift_costs_the_same_in_units_and_in_steps(name):
    """A loss depends on no grid; what a law costs in neither currency is refused."""
    scale, law = scale_of(name, Fraction(125), STEP), LAWS[name]
    for one, other in ((scale.rho, law.rho), (scale.epsilon, law.epsilon)):
        if (name, one.__name__) in {("gaussian", "epsilon"), ("laplace", "rho")}:
            with pytest.raises(InputError, match="expected"):
                one(Fraction(7))
            with pytest.raises(InputError, match="expected"):
                other(70)
        else:
            assert one(Fraction(7)) == other(70) == one(Fraction(-7)) == other(-70)


def test_student_scales_cost_what_tapering_does():
    """Under either notion, and a change is priced by its difference (T27)."""
    cell = CellNoise("student7", Fraction(6250), Fraction(1))
    assert shift_loss(cell, Fraction(400), Currency.RHO).amount == tapered_rho(400, 6250)
    assert shift_loss(cell, Fraction(400), Currency.EPSILON).amount == tapered_epsilon(400, 6250)
    assert not shift_loss(cell, Fraction(400), Currency.RHO).is_exact
    assert float(cell.variance) == pytest.approx(1250, rel=1e-9)
    other = CellNoise("student3", Fraction(6250), Fraction(1))
    assert shift_loss(other, Fraction(400), Currency.RHO).amount == tapered_rho(400, 6250, 3)
    assert shift_loss(other, Fraction(0), Currency.RHO).amount == 0


def test_a_grid_that_is_too_coarse_is_refused():
    """Where sqrt A is less than five steps a loss in rho is not known."""
    scale = scale_of("student7", Fraction(25), Fraction(1))
    scale.check_grid(Fraction(1))
    with pytest.raises(InputError, match=r"less than 2\.24 steps of 1\.001, the measure's"):
        scale.check_grid(Fraction("1.001"))
    with pytest.raises(InputError, match="less than 5 steps of 2"):
        scale_of("student3", Fraction(99), Fraction(2))


@pytest.mark.parametrize("name", ["student3", "student7"])
def test_noise_too_narrow_for_its_loss_comes_through_no_door(name):
    """Statements of noise, changes priced by them, and documents: all are refused alike."""
    narrow = SimpleNamespace(law=name, spread=Fraction(1, 2), step=Fraction(1))
    doors = [
        lambda: scale_of(name, narrow.spread, narrow.step),
        lambda: CellNoise(name, narrow.spread, narrow.step),
        lambda: shift_loss(narrow, Fraction(1), Currency.RHO),
        lambda: student_loss(2, narrow.spread, int(name[-1])).check_grid(narrow.step),
    ]
    for door in doors:
        with pytest.raises(InputError, match="where its loss is not known"):
            door()


def test_what_narrow_noise_would_be_undercharged():
    """Why: at sqrt A = 0.7 the divergence of a shift of 1 is above the closed form."""
    spread, points = 0.5, range(-20_000, 20_001)
    masses = [(spread + k * k) ** -4 for k in points]
    total = sum(masses)
    lost = sum(
        p / total * 4 * log((spread + (k - 1) ** 2) / (spread + k * k))
        for k, p in zip(points, masses, strict=True)
    )
    assert float(tapered_rho(1, Fraction(1, 2))) < 4.11 < 4.28 < lost


def test_a_published_policy_has_no_noise_too_narrow_for_its_measure():
    """The loss of a charge is known on the measure's own grid."""
    policy = Policy.tapered(1, measure="x", at=2)
    charge = PublishedCharge("totals.x", "A total", policy)
    fine = Field("x", "measure", resolution=Fraction(1, 10))
    PublishedPolicy("T", "t", (fine,), (charge,), policy)
    with pytest.raises(InputError, match="where its loss is not known"):
        PublishedPolicy("T", "t", (replace(fine, resolution=Fraction(1)),), (charge,), policy)


def test_the_largest_scale_hides_what_any_would():
    """Of one law; different ones, also by nu alone, have none."""
    small, large = (scale_of("student7", Fraction(size), Fraction(1)) for size in (25, 400))
    assert largest([small, large]) == large
    assert large.rho(Fraction(9)) < small.rho(Fraction(9))
    with pytest.raises(QueryError, match="noise of different laws"):
        largest([small, scale_of("student3", Fraction(25), Fraction(1))])


def test_an_unknown_law_is_refused_by_name():
    """A document that names another law."""
    with pytest.raises(InputError, match="the law is 'cauchy'; expected gaussian, laplace"):
        scale_of("cauchy", Fraction(1), Fraction(1))
