"""The noise laws against mpmath sums and OpenDP, far into the tail and for every width."""

import os
import signal
import threading
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import DiscreteGaussian, DiscreteLaplace, InexactNumberError, InputError
from perrecord.errors import ProbabilityError
from perrecord.laws import sums
from perrecord.laws.enclosure import precision

SIGMAS_SQUARED = [Fraction(value) for value in ("0.01", "0.159", "0.16", "0.5", "5", "1253/7")]
"""sigma from 0.1 on, with both sides of the switch to the Poisson dual."""


def mp(value):
    """Return a rational as an mpmath number."""
    return mpmath.mpf(value.numerator) / value.denominator


def sum_of_weights(sigma_squared, start, power=0):
    """Return the sum over n >= start of n^power exp(-n^2/(2 sigma^2)) by plain addition."""
    total, n, s2 = mpmath.mpf(0), start, mp(sigma_squared)
    first = mpmath.exp(-(mpmath.mpf(start) ** 2) / (2 * s2))
    while True:
        term = mpmath.exp(-(mpmath.mpf(n) ** 2) / (2 * s2))
        total += term * mpmath.mpf(n) ** power
        if term < first * mpmath.mpf(10) ** -60:
            return total
        n += 1


def holds(enclosure, truth):
    """Tell whether an mpmath number lies in an enclosure that is also narrow."""
    low, high = mp(enclosure.lower), mp(enclosure.upper)
    return low <= truth <= high and high - low <= truth * mpmath.mpf(2) ** -60


@pytest.fixture(autouse=True)
def digits():
    """Compute the reference with 80 digits."""
    with mpmath.workdps(80):
        yield


@pytest.mark.parametrize("sigma_squared", SIGMAS_SQUARED)
def test_gaussian_tail_mass_and_variance_hold_the_plain_sums(sigma_squared):
    """Tails at every distance, also on the negative side, enclose mpmath's sums."""
    law = DiscreteGaussian(sigma_squared)
    total = 1 + 2 * sum_of_weights(sigma_squared, 1)
    for start in (1, 2, 3, 10, 40):
        truth = sum_of_weights(sigma_squared, start) / total
        assert holds(law.tail(start), truth)
        assert mp(law.tail(1 - start).lower) <= 1 - truth <= mp(law.tail(1 - start).upper)
        mass = mpmath.exp(-(mpmath.mpf(start) ** 2) / (2 * mp(sigma_squared))) / total
        assert holds(law.pmf(-start), mass)
    assert holds(law.variance(), 2 * sum_of_weights(sigma_squared, 1, power=2) / total)


def test_gaussian_tails_reach_past_1e300():
    """A tail of 1e-300 and beyond keeps its relative precision."""
    law = DiscreteGaussian(5)
    total = 1 + 2 * sum_of_weights(Fraction(5), 1)
    truth = sum_of_weights(Fraction(5), 84) / total
    assert truth < mpmath.mpf("1e-300")
    assert holds(law.tail(84), truth)
    assert law.tail(10**30).lower == 0 < law.tail(10**30).upper < Fraction(1, 10**30000)


@pytest.mark.parametrize("start", [0, 1, 150, 700, 3000])
def test_both_ways_of_summing_agree(start):
    """Euler–Maclaurin and term-by-term addition enclose the same number."""
    with precision(128):
        long_way = sums._term_by_term(Fraction(10_000), start, 3000)
        short_way = sums._euler_maclaurin(Fraction(10_000), start)
        assert short_way is not None
        assert long_way.overlaps(short_way)
        assert short_way.rel_accuracy_bits() > 90


def test_a_wrong_correction_term_is_caught(monkeypatch):
    """Broken twin: leave one Euler–Maclaurin correction out and the two ways disagree."""
    right = sums._corrections

    def broken(sigma, point, order):
        return right(sigma, point, order) - right(sigma, point, 2)

    monkeypatch.setattr(sums, "_corrections", broken)
    with precision(128):
        long_way = sums._term_by_term(Fraction(10_000), 150, 3000)
        assert not long_way.overlaps(sums._euler_maclaurin(Fraction(10_000), 150))


@pytest.mark.parametrize("exponent", [3, 6, 9, 15])
def test_wide_gaussians_approach_the_normal_law(exponent):
    """At sigma = 10^k the tail is the normal one at start - 1/2, up to order sigma^-2."""
    sigma = 10**exponent
    law = DiscreteGaussian(sigma**2)
    for z in (0, 1, 5, 37):
        tail = law.tail(z * sigma + 1)
        normal = mpmath.erfc((z + mpmath.mpf(1) / 2 / sigma) / mpmath.sqrt(2)) / 2
        allowed = mpmath.mpf(z * z + 1) / (12 * sigma**2) + mpmath.mpf(2) ** -64
        assert abs(mp(tail.lower) / normal - 1) < allowed
    assert sigma**2 in law.variance()
    assert abs(law.quantile("0.975") - sigma * 1.959963984540054) < sigma * 1e-12 + 1


@given(st.fractions("0.02", 2000), st.fractions("1e-12", "0.999"))
def test_a_tail_point_is_the_least_integer_that_qualifies(sigma_squared, chance):
    """Pr[Z >= t] <= p < Pr[Z >= t - 1], for both laws."""
    for law in (DiscreteGaussian(sigma_squared), DiscreteLaplace(sigma_squared)):
        point = law.tail_point(chance)
        assert law.tail(point).lower <= chance <= law.tail(point - 1).upper


@given(st.fractions("0.02", 500), st.fractions("0.01", "0.9999"))
def test_an_interval_holds_its_confidence(sigma_squared, confidence):
    """±c covers at least the confidence, and ±(c-1) does not."""
    law = DiscreteGaussian(sigma_squared)
    width = law.half_width(confidence)
    assert 1 - 2 * law.tail(width + 1).lower >= confidence
    if width:
        assert 1 - 2 * law.tail(width).upper < confidence


def test_selection_thresholds_are_the_published_ones():
    """T9's figures: rho = 0.1, delta_1 = 1e-6."""
    law = DiscreteGaussian.for_zcdp(rho="0.1")
    assert law.selection_threshold("1e-6") == 13
    curve = [float(law.tail(13 - pieces)) for pieces in (1, 5, 10, 20)]
    assert curve == pytest.approx([1.1e-7, 3.6e-4, 0.13, 0.9996], rel=0.02)


@pytest.mark.parametrize("scale", ["0.3", "1", "35.4", "1000000000"])
def test_laplace_matches_its_geometric_series(scale):
    """Tail, mass and variance of the discrete Laplace from mpmath's formulas."""
    law, q = DiscreteLaplace(scale), mpmath.exp(-1 / mp(Fraction(scale)))
    for start in (1, 7, 300):
        assert holds(law.tail(start), q**start / (1 + q))
        assert holds(law.pmf(start), (1 - q) / (1 + q) * q**start)
    assert holds(law.variance(), 2 * q / (1 - q) ** 2)


@pytest.mark.parametrize("scale", ["0.5", "2", "35.4", "1000000"])
def test_opendp_agrees_on_accuracy(scale):
    """OpenDP's accuracy at level alpha is our two-sided tail point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import opendp.prelude as dp

    dp.enable_features("contrib")
    theirs = dp.discrete_gaussian_scale_to_accuracy(scale=float(scale), alpha=0.05)
    assert DiscreteGaussian(Fraction(scale) ** 2).tail_point("0.025") == theirs
    theirs = dp.discrete_laplacian_scale_to_accuracy(scale=float(scale), alpha=0.05)
    assert 0 <= DiscreteLaplace(scale).tail_point("0.025") - theirs < 1


def test_numpy_integers_do_not_overflow():
    """What comes as a numpy integer is computed with Python's own."""
    law, wide = DiscreteGaussian("1e4"), DiscreteGaussian("1e20")
    assert law.pmf(np.int16(300)) == law.pmf(300)
    assert law.tail(np.int16(300)) == law.tail(300)
    assert law.delta(np.int16(300), 1) == law.delta(300, 1)
    assert wide.pmf(np.int64(5 * 10**9)) == wide.pmf(5 * 10**9)
    with pytest.raises(InputError, match="the value is a Fraction; expected a whole number"):
        law.pmf(Fraction(5, 2))  # type: ignore[arg-type]


@pytest.mark.parametrize("sigma_squared", ["5", "1e10"])
def test_extreme_quantiles_on_both_sides_mirror_each_other(sigma_squared):
    """Both ends are decided with relative precision, so 1e-900 is as quick as 1e-9."""
    law, tiny = DiscreteGaussian(sigma_squared), Fraction(1, 10**900)
    assert law.tail_point(1 - tiny) == 1 - law.tail_point(tiny) + 1


def test_a_child_forked_in_the_middle_of_a_computation_is_not_stuck():
    """Another thread holds the precision lock while the process forks; the child goes on."""
    inside, done = threading.Event(), threading.Event()

    def hold():
        with precision(64):
            inside.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
        child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that waits for the lock is ended, and the test fails
        os._exit(0 if DiscreteGaussian("5").tail(3).upper < 1 else 1)
    _, status = os.waitpid(child, 0)
    done.set()
    holder.join()
    assert status == 0


def test_bad_parameters_are_refused():
    """Each error names what was found and what was expected."""
    with pytest.raises(InputError, match="sigma squared is 0; expected a number above 0"):
        DiscreteGaussian(0)
    with pytest.raises(InexactNumberError, match="sigma squared is a float"):
        DiscreteGaussian(0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the scale is -1"):
        DiscreteLaplace(-1)
    with pytest.raises(InputError, match="rho is 0"):
        DiscreteGaussian.for_zcdp(rho=0)
    with pytest.raises(ProbabilityError, match="strictly between 0 and 1"):
        DiscreteGaussian(1).quantile(1)
