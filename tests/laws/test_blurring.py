"""What blurred noise costs: the formulas of T28 against divergences summed over the integers.

Where records are far larger than the noise the sums are integrals over a grid that grows with the
distance from 0, on which the integers cannot be told from the line.
"""

from fractions import Fraction
from itertools import pairwise
from random import Random

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord.errors import InputError
from perrecord.laws.blurring import (
    blurred_epsilon,
    blurred_epsilon_between,
    blurred_rho,
    blurred_rho_between,
    least_blurred_spread_for_epsilon,
    least_blurred_spread_for_rho,
)
from perrecord.laws.bounded_range import bounded_range, rho_of_pure
from perrecord.laws.tapering import tapered_epsilon, tapered_rho

ORDERS = [1 + 1e-6, 1.01, 1.2, 1.5, 2, 3, 5, 10, 30, 100, 1000, 10**4]
SHARES = ["0.05", "0.1", "0.2"]
NUS = st.sampled_from([3, 7])
BYS = st.sampled_from([Fraction(each) for each in SHARES])
SQUARES = st.integers(0, 10**12)


def wide(spread, by, nu, records):
    """Return A of a cell with these records."""
    return spread + nu * float(Fraction(by)) ** 2 * sum(each**2 for each in records)


def on_integers(nu, shift, one, other):
    """Return the masses of both laws over every integer that matters, and their log ratios."""
    power = (nu + 1) // 2
    reach = int(60 * max(one, other) ** 0.5 + 25 * abs(shift)) + 3000
    points = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.ones_like(points)
    return _laws(power, points, weights, shift, one, other)


def on_the_line(nu, shift, one, other):
    """Return the same of both densities, on a grid that is fine near 0 and coarse far out."""
    width, power = min(one, other) ** 0.5, (nu + 1) // 2
    reach = np.arcsinh(1e3 * (max(one, other) ** 0.5 + abs(shift)) / width)
    turns = np.linspace(-reach, reach, 20_001)
    return _laws(power, width * np.sinh(turns), width * np.cosh(turns), shift, one, other)


def _laws(power, points, weights, shift, one, other):
    here = -power * np.log1p(points**2 / one)
    there = -power * np.log1p((points - shift) ** 2 / other)
    totals = [np.log((weights * np.exp(each)).sum()) for each in (here, there)]
    here, there = here - totals[0], there - totals[1]
    return weights * np.exp(here), weights * np.exp(there), here - there


def divergence(masses, logs, order):
    """Return the Renyi divergence of this order."""
    high = (order - 1) * max(logs.max(), 0)
    if high < 1e-2:  # near order 1, without cancellation
        return float(np.log1p((masses * np.expm1((order - 1) * logs)).sum()) / (order - 1))
    return float(np.log((masses * np.exp((order - 1) * logs - high)).sum()) + high) / (order - 1)


def true_loss(laws):
    """Return the largest D_alpha / alpha in both directions."""
    here, there, logs = laws
    return max(
        divergence(masses, signed, order) / order
        for masses, signed in ((here, logs), (there, -logs))
        for order in ORDERS
    )


def assert_covered(laws, rho, epsilon):
    """No divergence is above the price, and no log ratio above epsilon."""
    assert true_loss(laws) <= float(rho) * (1 + 1e-8) + 1e-12
    assert np.abs(laws[2]).max() <= float(epsilon) * (1 + 1e-8) + 1e-10


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("by", SHARES)
@pytest.mark.parametrize(("spread", "size"), [(25, 1), (25, 30), (100, 7), (2500, 40), (400, 2000)])
def test_no_divergence_exceeds_the_price_of_a_presence(nu, by, spread, size):
    """Both ways, alpha from 1 to 10^4, on the integers: the record alone, and beside others."""
    rho, epsilon = blurred_rho(size, spread, by, nu), blurred_epsilon(size, spread, by, nu)
    alone = on_integers(nu, size, spread, wide(spread, by, nu, [size]))
    assert_covered(alone, rho, epsilon)
    assert true_loss(alone) >= 0.3 * float(rho)
    for others in ([20, -45], [5 * size]):
        laws = on_integers(
            nu, -size, wide(spread, by, nu, others), wide(spread, by, nu, [*others, -size])
        )
        assert_covered(laws, rho, epsilon)
        assert true_loss(laws) <= true_loss(alone) * (1 + 1e-8)


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("by", SHARES)
def test_sizes_of_nine_orders_of_magnitude(nu, by):
    """A presence grows like a logarithm; a change by a share is bounded, however large."""
    spread, changes = 2500, ("1.05", "1.1", "1.2", "0.95", "0.9", "0.8", "-1")
    costs = {change: [] for change in changes}
    for size in (10**power for power in range(1, 10)):
        laws = on_the_line(nu, size, spread, wide(spread, by, nu, [size]))
        rho, epsilon = blurred_rho(size, spread, by, nu), blurred_epsilon(size, spread, by, nu)
        assert_covered(laws, rho, epsilon)
        for change in changes:
            other = Fraction(change) * size
            move = (abs(other - size), size**2, other**2, spread, by, nu)
            found = blurred_rho_between(*move)
            both = (wide(spread, by, nu, [each]) for each in (float(size), float(other)))
            laws = on_the_line(nu, float(other - size), *both)
            assert_covered(laws, found, blurred_epsilon_between(*move))
            costs[change].append(found)
    for found in costs.values():
        assert all(one < two for one, two in pairwise(found))
        assert float(found[-1] / found[-3]) == pytest.approx(1, abs=1e-3)
    ends = [blurred_rho(10**power, spread, by, nu) for power in (7, 8, 9)]
    assert float(ends[2] - ends[1]) == pytest.approx(nu * np.log(10), rel=1e-3)


def test_random_changes_of_units_on_the_integers():
    """Any records, signed, that are replaced by any others, in cells that hold still others."""
    random = Random(28)
    for _ in range(40):
        nu, by = random.choice([3, 7]), random.choice(SHARES)
        spread = random.choice([25, 26, 49, 300, 1000])
        before, after, others = (
            [random.choice([1, -1]) * random.randint(1, 10 ** random.randint(1, 3))
             for _ in range(random.randint(0, 3))]
            for _ in range(3)
        )  # fmt: skip
        shift = sum(after) - sum(before)
        squares = [sum(each**2 for each in side) for side in (before, after)]
        one, other = (wide(spread, by, nu, [*side, *others]) for side in (before, after))
        move = (shift, *squares, spread, by, nu)
        laws = on_integers(nu, shift, one, other)
        assert_covered(laws, blurred_rho_between(*move), blurred_epsilon_between(*move))


@given(st.integers(0, 10**6), SQUARES, SQUARES, SQUARES, NUS, BYS)
@settings(max_examples=60)
def test_other_records_only_lower_the_price(shift, before, after, others, nu, by):
    """The worst cell is the one that holds nobody else; more noise costs less, too."""
    for between in (blurred_rho_between, blurred_epsilon_between):
        alone = between(shift, before, after, 2500, by, nu)
        assert alone == between(shift, after, before, 2500, by, nu)
        slack = 1 + Fraction(1, 2**90)
        assert between(shift, before + others, after + others, 2500, by, nu) <= alone * slack
        assert between(shift, before, after, 2500 + others, by, nu) <= alone * slack
        assert between(shift + 1, before, after, 2500, by, nu) * slack >= alone


@pytest.mark.parametrize("nu", [3, 7])
def test_the_integers_add_to_the_log_ratio_of_wider_noise(nu):
    """Far out the log ratio of two centred laws tends to nu L, and what both normalisers add.

    The sum of (A + k^2)^-m over the integers exceeds the integral by a share of e, which falls.
    """
    with mpmath.workdps(60):
        for spread, larger in ((25, 26), (25, 100), (25, 10**6), (36, 37), (10**4, 10**4 + 1)):
            logs = [mpmath.log(1 + _excess(mpmath.sqrt(each), nu)) for each in (spread, larger)]
            ratio = mpmath.log(mpmath.mpf(larger) / spread) / 2
            true = nu * ratio + logs[0] - logs[1]
            squares = Fraction(larger - spread) / (nu * Fraction("0.1") ** 2)
            found = blurred_epsilon_between(0, 0, squares, spread, "0.1", nu)
            assert true <= mpmath.mpf(found.numerator) / found.denominator
            assert found <= Fraction(str(true * (1 + mpmath.mpf(2) ** -26)))
            assert logs[0] - logs[1] <= ratio * mpmath.mpf(2) ** -28


def _excess(root, nu):
    """Return by what share the sum over the integers exceeds the integral: e3 or e7 (T26)."""
    total = mpmath.mpf(0)
    for n in range(1, 8):
        x = 2 * mpmath.pi * n * root
        more = 1 + x if nu == 3 else 1 + x + 2 * x**2 / 5 + x**3 / 15
        total += 2 * mpmath.exp(-x) * more
    return total


@pytest.mark.parametrize(("spread", "power"), [(25, 2), (25, 4), (30, 4)])
def test_the_share_is_what_sums_over_the_integers_say(spread, power):
    """Summed in mpmath, with the rest by Euler's formula."""
    with mpmath.workdps(40):
        last = 6000
        near = mpmath.fsum(mpmath.mpf(spread + k * k) ** -power for k in range(1, last))
        f = lambda x: (spread + x**2) ** -power  # noqa: E731
        rest = mpmath.quad(f, [last, 10 * last, mpmath.inf]) + f(mpmath.mpf(last)) / 2
        rest -= mpmath.diff(f, last) / 12
        total = mpmath.mpf(spread) ** -power + 2 * (near + rest)
        integral = mpmath.quad(f, [-mpmath.inf, -20, 0, 20, mpmath.inf])
        share = total / integral - 1
        assert float(share) == pytest.approx(
            float(_excess(mpmath.sqrt(spread), 2 * power - 1)), rel=1e-6
        )


def written_out(shift, before, after, spread, by, nu, integers=0):
    """Return epsilon and the three bounds of T28 in another arithmetic, with the integers' part."""
    m, c = mpmath.mpf(nu + 1) / 2, nu * by**2
    one, other = (spread + c * each for each in (before, after))
    theta = mpmath.acosh((shift**2 + one + other) / (2 * mpmath.sqrt(one * other)))
    log = abs(mpmath.log(one / other)) / 2
    epsilon = m * theta + (m - 1 + integers) * log
    b = shift / (2 * mpmath.sqrt(max(one, other)))
    shifted = (1 + integers) * 4 * b * mpmath.asinh(b) / mpmath.sqrt(1 + b**2)
    if nu == 7:
        shifted *= (1 + 2 * b**2) * (mpmath.mpf(14) / 5 + 3 * b**2 + b**4) / (1 + b**2) ** 3
    widened = min(_pure((nu + integers) * log), _range(2 * m * log))
    apart = (mpmath.sqrt(shifted) + mpmath.sqrt(widened)) ** 2
    return epsilon, (_pure(epsilon), _range(2 * m * theta), apart)


def _pure(epsilon):
    return epsilon * mpmath.tanh(epsilon / 2)


def _range(eta):
    y = eta / (1 - mpmath.exp(-eta)) if eta else mpmath.mpf(1)
    return y - 1 - mpmath.log(y)


@given(st.integers(1, 10**9), SQUARES, SQUARES, NUS, BYS, st.sampled_from([25, 2500, 10**8]))
@settings(max_examples=60)
def test_prices_are_those_of_the_formula(shift, before, after, nu, by, spread):
    """Rounded up, and by less than one part in 2^90."""
    with mpmath.workdps(200):
        move = (shift, before, after, spread, mpmath.mpf(by.numerator) / by.denominator, nu)
        epsilon, bounds = written_out(*move, integers=mpmath.mpf(2) ** -26)
        found = blurred_epsilon_between(*move[:4], by, nu), blurred_rho_between(*move[:4], by, nu)
        for price, formula in zip(found, (epsilon, min(bounds)), strict=True):
            exact = mpmath.mpf(price.numerator) / price.denominator
            assert formula <= exact <= formula * (1 + mpmath.mpf(2) ** -90)


def test_the_figures_of_a_tenth():
    """At by = 0.1 a giant's rise of 10 % costs 1.77 of epsilon, a fall 1.95; rho 0.71 and 0.86."""
    for factor, epsilon, in_range, price, true in (
        ("1.1", 1.77, 0.99, 0.71, 0.375),
        ("0.9", 1.96, 1.18, 0.86, 0.456),
    ):
        size, other = 10**9, Fraction(factor) * 10**9
        move = (abs(other - size), size**2, other**2, 2500, "0.1")
        assert epsilon - 0.01 < blurred_epsilon_between(*move) < epsilon
        assert price - 0.01 < blurred_rho_between(*move) < price < in_range
        with mpmath.workdps(30):
            shift, *squares = (mpmath.mpf(str(float(each))) for each in move[:3])
            _, bounds = written_out(shift, *squares, 2500, mpmath.mpf("0.1"), 7)
        assert float(bounds[1]) == pytest.approx(in_range, abs=0.006)
        both = (wide(2500, "0.1", 7, [float(each)]) for each in (size, other))
        laws = on_the_line(7, float(other - size), *both)
        assert true_loss(laws) == pytest.approx(true, abs=0.001)


def test_without_a_shift_or_a_widening_one_leg_is_left():
    """Nothing costs nothing; the same Q costs what tapering does; r to -r is such a change."""
    assert blurred_rho_between(0, 9, 9, 25, "0.1") == 0 == blurred_epsilon_between(0, 9, 9, 25, 1)
    assert blurred_rho(0, 25, "0.1") == 0
    spread = 2500 + 7 * Fraction("0.01") * 10**8
    assert blurred_epsilon_between(20_000, 10**8, 10**8, 2500, "0.1") == pytest.approx(
        tapered_epsilon(20_000, spread), rel=1e-20
    )
    bounds = (
        tapered_rho(20_000, spread),
        rho_of_pure(tapered_epsilon(20_000, spread)),
        bounded_range(2 * tapered_epsilon(20_000, spread)).upper,
    )
    assert blurred_rho_between(20_000, 10**8, 10**8, 2500, "0.1") == pytest.approx(
        min(bounds), rel=1e-20
    )


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("by", SHARES)
def test_the_least_spread_is_the_least_of_twelve_digits(nu, by):
    """The size loses no more than was said, and with one unit of the last digit less, more."""
    for least, price in (
        (least_blurred_spread_for_rho, blurred_rho),
        (least_blurred_spread_for_epsilon, blurred_epsilon),
    ):
        spread = least("0.2", 50, by, nu)
        unit = Fraction(10) ** (len(str(int(spread))) - 12)
        assert price(50, spread, by, nu) <= Fraction("0.2") < price(50, spread - unit, by, nu)


def test_what_is_no_blur_is_refused():
    """Shares, spreads and squares that mean nothing."""
    for wrong in (0, "-0.1", "1.01"):
        with pytest.raises(InputError, match="by is"):
            blurred_rho(1, 25, wrong)
    with pytest.raises(InputError, match="the spread is 0"):
        blurred_rho(1, 0, "0.1")
    with pytest.raises(InputError, match="a sum of squares is below 0"):
        blurred_rho_between(1, -1, 0, 25, "0.1")
    with pytest.raises(InputError, match="next to no noise"):
        least_blurred_spread_for_rho(10**6, 50, "0.1")
    with pytest.raises(InputError, match="expected numbers above 0"):
        least_blurred_spread_for_epsilon(0, 50, "0.1")
