"""The discrete Student law against sums in mpmath, far into the tail and for every spread."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord.errors import InputError
from perrecord.laws import DiscreteStudent, student_sums
from perrecord.laws.enclosure import precision
from tests.laws.test_laws import holds, mp

SPREADS = [Fraction(value) for value in ("1e-6", "0.3", "1", "25", "1253/7", "1e6")]


@pytest.fixture(autouse=True)
def digits():
    """Compute the reference with 120 digits."""
    with mpmath.workdps(120):
        yield


def whole_sum(spread, power):
    """Return the sum of (A + k^2)^-m over all integers, by its Poisson dual: no zeta function."""
    a = mpmath.sqrt(mp(spread))
    nome = mpmath.exp(-2 * mpmath.pi * a)
    # sum over n >= 1 of n^i q^n, i = 0 to 3
    less = 1 - nome
    powers = [
        nome / less,
        nome / less**2,
        nome * (1 + nome) / less**3,
        nome * (1 + 4 * nome + nome**2) / less**4,
    ]
    factors = {
        1: [1],
        2: [1, 1],
        3: [1, 1, mpmath.mpf(1) / 3],
        4: [1, 1, mpmath.mpf(2) / 5, mpmath.mpf(1) / 15],
    }[power]
    aliases = sum(factor * (2 * mpmath.pi * a) ** i * powers[i] for i, factor in enumerate(factors))
    integral = mpmath.sqrt(mpmath.pi) * mpmath.gamma(power - 0.5) / mpmath.gamma(power)
    return integral * a ** (1 - 2 * power) * (1 + 2 * aliases)


def weight(spread, power, k):
    """Return (A + k^2)^-m."""
    return (mp(spread) + k * k) ** -power


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("spread", SPREADS)
def test_tails_masses_and_the_variance_hold_the_plain_sums(spread, nu):
    """The total by its Poisson dual, tails by what is left of it, to one part in 2^60."""
    law, power = DiscreteStudent(spread, nu), (nu + 1) // 2
    total = whole_sum(spread, power)
    for start in (1, 2, 7, 40, 5000):
        beyond = (total - weight(spread, power, 0)) / 2
        beyond -= mpmath.fsum(weight(spread, power, k) for k in range(1, start))
        truth = beyond / total
        assert holds(law.tail(start), truth)
        assert mp(law.tail(1 - start).lower) <= 1 - truth <= mp(law.tail(1 - start).upper)
        assert holds(law.pmf(-start), weight(spread, power, start) / total)
    assert holds(law.pmf(0), weight(spread, power, 0) / total)
    assert holds(law.variance(), whole_sum(spread, power - 1) / total - mp(spread))


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("spread", [Fraction(25), Fraction(10**6), Fraction(10**40)])
@pytest.mark.parametrize("far", [3, 10**3, 10**6, 10**12, 10**100])
def test_far_tails_lie_between_their_integrals(spread, nu, far):
    """The tail is convex, so it lies between the trapezium's and the midpoint rule; and it adds up.

    Integrals of u^-2m (1 + 1/u^2)^-m beyond u are sums of a series that falls like u^-2i.
    """
    law, power = DiscreteStudent(spread, nu), (nu + 1) // 2
    start = far * int(mpmath.sqrt(mp(spread)))
    total = whole_sum(spread, power)

    def integral(x):
        ratio = mp(spread) / x**2
        return x ** (1 - 2 * power) * mpmath.fsum(
            mpmath.binomial(-power, i) * ratio**i / (2 * power + 2 * i - 1) for i in range(150)
        )

    tail = law.tail(start)
    point = mpmath.mpf(start)
    assert integral(point) + weight(spread, power, point) / 2 <= mp(tail.upper) * total
    assert integral(point - mpmath.mpf("0.5")) >= mp(tail.lower) * total
    assert tail.upper - tail.lower <= tail.upper / 2**60
    mass, rest = law.pmf(start), law.tail(start + 1)
    assert mass.lower + rest.lower <= tail.upper
    assert tail.lower <= mass.upper + rest.upper


@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("start", [1, 20, 39, 40, 41, 60, 500])
def test_both_ways_of_summing_agree(power, start):
    """Partial fractions and the binomial series enclose the same number where both converge."""
    spread = Fraction(100) if start > 20 else Fraction(start**2, 16)
    with precision(192):
        fractions = student_sums._by_fractions(spread, power, start)
        series = student_sums._by_series(spread, power, start)
        assert fractions.overlaps(series)
        assert series.rel_accuracy_bits() > 150
        assert fractions.rel_accuracy_bits() > 120


@given(
    st.fractions("0.01", 10**7),
    st.sampled_from([3, 7]),
    st.fractions("1e-12", "0.999"),
)
@settings(max_examples=40, deadline=None)
def test_a_tail_point_is_the_least_integer_that_qualifies(spread, nu, chance):
    """Pr[Z >= t] <= p < Pr[Z >= t - 1]."""
    law = DiscreteStudent(spread, nu)
    point = law.tail_point(chance)
    assert law.tail(point).lower <= chance < law.tail(point - 1).upper


def test_the_figures_of_the_theory_page():
    """With nu = 7 half widths are 1.998 and 2.96 deviations; 7 in a million lie beyond ten."""
    law = DiscreteStudent(5 * 10**8)
    deviation = float(law.variance()) ** 0.5
    assert deviation == pytest.approx(10**4, rel=1e-9)
    assert law.half_width("0.95") / deviation == pytest.approx(1.998, abs=5e-4)
    assert law.half_width("0.99") / deviation == pytest.approx(2.96, abs=5e-3)
    assert 2 * float(law.tail(10**5)) == pytest.approx(7e-6, rel=0.03)
    for nu in (3, 7):
        law = DiscreteStudent(25, nu)
        assert float(law.variance()) == pytest.approx(25 / (nu - 2), rel=1e-9)


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("spread", ["0.2", "25", "39999", "40001", "1e9"])
def test_floats_say_what_the_enclosures_do(nu, spread):
    """Tails to 10^-9, mean sizes to one part in 10^8: both sides of the change of method."""
    law, power = DiscreteStudent(spread, nu), (nu + 1) // 2
    starts = [1, 2, 10, 199, 200, 201, 202, 1000, 10**6, 10**9]
    found = law.float_tails(np.array(starts, dtype=float))
    np.testing.assert_allclose(found, [float(law.tail(t)) for t in starts], rtol=1e-6, atol=1e-9)
    with mpmath.workdps(30):
        total, end = whole_sum(Fraction(spread), power), 3000
        squared = mp(Fraction(spread))
        far = (squared + (mpmath.mpf(end) - 0.5) ** 2) ** (1 - power) / (2 * power - 2)
        terms = [k * (squared + k * k) ** -power for k in range(end)]
        for size in (0, 1, 7, 250, 2000):
            beyond = mpmath.fsum(terms[size + 1 :]) + far
            wanted = size * (1 - 2 * mp(law.tail(size + 1).lower)) + 2 * beyond / total
            got = law.float_sizes(np.array([float(size)]))[0]
            assert got == pytest.approx(float(wanted), rel=3e-8)


@pytest.mark.parametrize(("spread", "nu"), [("0", 7), ("-1", 3), ("25", 5), ("25", 4)])
def test_what_is_no_student_law_is_refused(spread, nu):
    """A spread above 0, and nu = 3 or 7."""
    with pytest.raises(InputError, match="expected"):
        DiscreteStudent(spread, nu)


def test_a_loss_in_rho_needs_five_steps():
    """Below sqrt A = 5 the integers add more than the price allows for."""
    assert DiscreteStudent(25).rho(1) > 0
    with pytest.raises(InputError, match="narrower than 5 steps"):
        DiscreteStudent("24.99").rho(1)
    assert DiscreteStudent("0.1").epsilon(1) > 0
