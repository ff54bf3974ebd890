"""What a shift of Student noise costs: closed forms against divergences summed over the integers.

The sums are floats over all integers up to far beyond both centres, or mpmath where it matters.
"""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord.errors import InputError
from perrecord.laws.enclosure import ball, precision
from perrecord.laws.tapering import (
    ON_INTEGERS,
    least_spread_for_epsilon,
    least_spread_for_rho,
    tapered_epsilon,
    tapered_rho,
)
from tests import first

ORDERS = [1 + 1e-6, 1.01, 1.2, 1.5, 2, 3, 5, 10, 30, 100, 1000, 10**4]


def log_ratios(spread, nu, shift):
    """Return masses of Z and the log ratios of Z to Z + shift, over every integer that matters."""
    power, reach = (nu + 1) / 2, int(80 * spread**0.5 + 25 * shift) + 2000
    points = np.arange(-reach, reach + shift + 1, dtype=np.float64)
    here, there = np.log(spread + points**2), np.log(spread + (points - shift) ** 2)
    masses = np.exp(-power * (here - np.log(spread)))
    return masses / masses.sum(), power * (there - here)


def divergence(masses, logs, order):
    """Return the Renyi divergence of this order."""
    high = (order - 1) * max(logs.max(), 0)
    if high < 1e-2:  # near order 1, without cancellation
        return float(np.log1p((masses * np.expm1((order - 1) * logs)).sum()) / (order - 1))
    return float(np.log((masses * np.exp((order - 1) * logs - high)).sum()) + high) / (order - 1)


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("spread", first(3, [25, 100, 10**4, 37, 2500]))
@pytest.mark.parametrize("shift", first(4, [1, 7, 30, 1000, 2, 20_000]))
def test_no_divergence_exceeds_alpha_times_the_price(nu, spread, shift):
    """D_alpha <= alpha rho in both directions, alpha from 1 to 10^4; and rho is within 10 %."""
    masses, logs = log_ratios(spread, nu, shift)
    # the other way round: Z + shift against Z, which the mirror image x -> shift - x makes of it
    turned = masses * np.exp(-logs)
    price = float(tapered_rho(shift, spread, nu))
    found = [divergence(masses, logs, order) / order for order in ORDERS]
    found += [divergence(turned / turned.sum(), -logs, order) / order for order in ORDERS]
    assert max(found) <= price * (1 + 1e-9)
    assert max(found) >= 0.9 * price
    epsilon = float(tapered_epsilon(shift, spread, nu))
    assert np.abs(logs).max() <= epsilon * (1 + 1e-12)
    assert np.abs(logs).max() >= epsilon * (0.99 if spread > 50 else 0.95)


@pytest.mark.parametrize("nu", [3, 7])
def test_a_shift_far_beyond_the_noise(nu):
    """Far beyond the noise the price is nearly epsilon, and no divergence is above it."""
    masses, logs = log_ratios(25, nu, 10**5)
    price = float(tapered_rho(10**5, 25, nu))
    assert max(divergence(masses, logs, order) / order for order in ORDERS) <= price
    million = float(tapered_rho(10**6, 25, nu))
    assert million == pytest.approx(float(tapered_epsilon(10**6, 25, nu)), rel=1e-6)


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize(("spread", "shift"), first(1, [(25, 1), (25, 9), (400, 3)]))
def test_sums_of_thirty_digits_say_the_same(nu, spread, shift):
    """In mpmath, where no rounding could hide an excess."""
    power = (nu + 1) // 2
    price = tapered_rho(shift, spread, nu)
    with mpmath.workdps(50):  # of which exp - 1 loses ten at most, where its argument is near 0
        points = range(-1000, 1001)
        masses = [mpmath.mpf(spread + k * k) ** -power for k in points]
        total = mpmath.fsum(masses)
        logs = [
            power * mpmath.log(mpmath.mpf(spread + (k - shift) ** 2) / (spread + k * k))
            for k in points
        ]
        for order in ("1.000001", "1.3", "2", "17", "1000"):
            more = mpmath.mpf(order) - 1
            mean = mpmath.fsum(
                p * (mpmath.exp(more * log) - 1) for p, log in zip(masses, logs, strict=True)
            )
            found = mpmath.log1p(mean / total) / more
            assert found <= mpmath.mpf(order) * price.numerator / price.denominator


def affinity(spread, power, shift, reach=4000):
    """Return the sum of sqrt(P Q) over the integers, P and Q the law at 0 and at the shift."""
    points = range(-reach, reach + shift + 1)
    here = [mpmath.mpf(spread + k * k) for k in points]
    there = [mpmath.mpf(spread + (k - shift) ** 2) for k in points]
    beyond = 2 * (reach + mpmath.mpf(shift) / 2) ** (1 - 2 * power) / (2 * power - 1)
    both = mpmath.fsum(
        (one * two) ** (-mpmath.mpf(power) / 2) for one, two in zip(here, there, strict=True)
    )
    return (both + beyond) / (mpmath.fsum(one**-power for one in here) + beyond)


def smooth_affinity(power, x):
    """Return the same integral on the real line, x = shift^2 / (4 A)."""
    return 1 / (1 + x) if power == 2 else (1 + x / 5) / (1 + x) ** 3


def aliasing(root, power):
    """Return a bound on how far, relatively, the integers lower the affinity."""
    turn = 2 * mpmath.pi * root
    if power == 2:
        excess = turn / mpmath.sinh(turn)
        return excess / (1 + excess)
    return 2 * mpmath.nsum(
        lambda n: (
            mpmath.exp(-turn * n) * (1 + turn * n + (turn * n) ** 2 / 2 + (turn * n) ** 3 / 6)
        ),
        [1, mpmath.inf],
    )


@pytest.mark.parametrize("power", [2, 4])
@pytest.mark.parametrize("root", first(2, ["0.5", "2", "1", "3.3"]))
@pytest.mark.parametrize("shift", first(2, [1, 40, 2, 5]))
def test_the_integers_lower_the_affinity_by_no_more_than_is_said(power, root, shift):
    """Where aliasing is large enough to be seen: exact for nu = 3, a bound for nu = 7."""
    with mpmath.workdps(30):
        spread = mpmath.mpf(root) ** 2
        real = smooth_affinity(power, shift**2 / (4 * spread))
        found = affinity(spread, power, shift)
        least = real * (1 - aliasing(mpmath.mpf(root), power))
        if power == 2:  # sums of k^-4 end at 10^-11
            assert found == pytest.approx(least, rel=1e-9)
        else:
            assert least <= found <= real * (1 + mpmath.mpf(10) ** -20)


@pytest.mark.parametrize("root", first(1, ["0.5", "1", "2"]))
@pytest.mark.parametrize("shift", first(2, [1, 11, 3]))
def test_partial_fractions_give_the_affinity_on_the_integers(root, shift):
    """For nu = 7, the numerator and the normaliser exactly as docs/theory.md has them."""
    with mpmath.workdps(30):
        a, r = mpmath.mpf(root), mpmath.mpf(shift)
        spread, turn = a**2, 2 * mpmath.pi * a
        e1 = mpmath.coth(mpmath.pi * a) - 1
        e3 = e1 + mpmath.pi * a / mpmath.sinh(mpmath.pi * a) ** 2
        e7 = 2 * mpmath.nsum(
            lambda n: (
                mpmath.exp(-turn * n)
                * (1 + turn * n + 2 * (turn * n) ** 2 / 5 + (turn * n) ** 3 / 15)
            ),
            [1, mpmath.inf],
        )
        above = (4 * spread * (4 * spread + 5 * r**2) * e1 - (16 * spread**2 - r**4) * e3) / (
            r**2 * (20 * spread + r**2)
        )
        assert above <= e3 <= e7
        wanted = smooth_affinity(4, r**2 / (4 * spread)) * (1 + above) / (1 + e7)
        assert affinity(spread, 4, shift) == pytest.approx(wanted, rel=1e-20)


def excess_at(root, power):
    """Return by how much the price on the integers exceeds that on the line, at a shift of 1."""
    with precision(256):
        a = ball(Fraction(root))
        turn = 2 * arb.pi() * a
        x = 1 / (4 * a**2)
        if power == 2:
            alias = turn / turn.sinh()
            smooth = 1 / (1 + x)
            return (smooth * alias / ((1 + alias) * (1 - smooth))).upper()
        q = (-turn).exp()
        powers = [
            q / (1 - q),
            q / (1 - q) ** 2,
            q * (1 + q) / (1 - q) ** 3,
            q * (1 + 4 * q + q**2) / (1 - q) ** 4,
        ]
        eta = 2 * (powers[0] + turn * powers[1] + turn**2 / 2 * powers[2] + turn**3 / 6 * powers[3])
        smooth = (1 + x / 5) / (1 + x) ** 3
        return (smooth * eta / (1 - smooth)).upper()


@pytest.mark.parametrize("power", [2, 4])
def test_the_first_factor_covers_the_integers_from_five_steps_on(power):
    """Ball arithmetic at the worst shift, 1; the excess falls as sqrt A grows. At 4 it fails."""
    slack = float(ON_INTEGERS - 1)
    found = [float(excess_at(Fraction(root, 10), power)) for root in range(50, 400, 5)]
    assert 0 < found[0] < slack
    assert all(later < earlier for earlier, later in pairwise(found))
    if power == 4:
        assert float(excess_at(4, power)) > slack


@given(st.fractions(0, 10**7), st.fractions(25, 10**9), st.sampled_from([3, 7]))
@settings(max_examples=150, deadline=None)
def test_prices_are_rounded_up_by_less_than_one_part_in_two_to_the_90(shift, spread, nu):
    """Against eps coth(eps/4) (1 - BC), the form that the proof ends with, in mpmath."""
    with mpmath.workdps(200):
        b = mpmath.mpf(shift.numerator) / shift.denominator
        b /= 2 * mpmath.sqrt(mpmath.mpf(spread.numerator) / spread.denominator)
        power = (nu + 1) // 2
        epsilon = 2 * power * mpmath.asinh(b)
        found = tapered_epsilon(shift, spread, nu)
        if shift == 0:
            assert found == tapered_rho(shift, spread, nu) == 0
            return
        rho = epsilon * mpmath.coth(epsilon / 4) * (1 - smooth_affinity(power, b**2))
        rho *= 1 + mpmath.mpf(2) ** -26
        for price, truth in ((found, epsilon), (tapered_rho(shift, spread, nu), rho)):
            excess = mpmath.mpf(price.numerator) / price.denominator / truth - 1
            assert -(mpmath.mpf(10) ** -40) <= excess < mpmath.mpf(2) ** -90


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize("price", [tapered_rho, tapered_epsilon])
def test_prices_grow_with_the_shift_and_no_faster_than_its_power(nu, price):
    """What comparisons of policies rest on: g(k x) <= k^power g(x), and sqrt rho is subadditive."""
    power = 2 if price is tapered_rho else 1
    sizes = sorted({round(1.3**i) for i in range(60)})
    losses = [price(size, 900, nu) for size in sizes]
    assert losses == sorted(losses)
    rates = [loss / size**power for loss, size in zip(losses, sizes, strict=True)]
    assert rates == sorted(rates, reverse=True)
    steepest = {3: 1, 7: Fraction(14, 5)}[nu] * ON_INTEGERS if power == 2 else Fraction(nu + 1, 60)
    assert rates[0] <= (steepest / 900 if power == 2 else steepest) * (1 + Fraction(1, 2**80))
    for one in sizes[::4]:
        for two in sizes[::4]:
            both = float(price(one + two, 900, nu)) ** (1 / power)
            parts = sum(float(price(size, 900, nu)) ** (1 / power) for size in (one, two))
            assert both <= parts * (1 + 1e-12)


@given(
    st.fractions("0.001", 80),
    st.fractions("0.001", 10**6),
    st.sampled_from([3, 7]),
)
@settings(max_examples=60, deadline=None)
def test_the_least_spread_serves_and_one_step_less_does_not(amount, size, nu):
    """To twelve digits: the loss at the size is at most what was allowed, and nearly that."""
    for find, price in (
        (least_spread_for_rho, tapered_rho),
        (least_spread_for_epsilon, tapered_epsilon),
    ):
        spread = find(amount, size, nu)
        assert price(size, spread, nu) <= amount
        assert len(str(spread.numerator * 10**80 // spread.denominator).rstrip("0")) <= 12
        assert price(size, spread * (1 - Fraction(1, 10**11)), nu) > amount


@pytest.mark.parametrize(
    ("find", "arguments"),
    [
        (least_spread_for_rho, ("0", 50)),
        (least_spread_for_rho, ("1", 0)),
        (least_spread_for_epsilon, ("-1", 50)),
        (least_spread_for_rho, ("1e6", 50)),
        (least_spread_for_epsilon, ("1e6", 50)),
        (least_spread_for_rho, ("1", 50, 5)),
        (tapered_rho, (1, 0)),
    ],
)
def test_what_has_no_price_is_refused(find, arguments):
    """Sizes and losses above 0, and some noise."""
    with pytest.raises(InputError, match="expected"):
        find(*arguments)


def test_the_figures_of_the_theory_page():
    """Calibrated to P(50) = 1, and in twelve answers to 1 in all."""
    spread = least_spread_for_rho(1, at=50)
    assert (float(spread) / 5) ** 0.5 == pytest.approx(36.3, abs=0.05)
    losses = [float(tapered_rho(size, spread)) for size in (500, 5000, 50_000)]
    assert losses == pytest.approx([14.7, 33, 51], rel=0.01)
    spread = least_spread_for_rho("1/12", at=50)
    assert 12 * float(tapered_rho(50_000, spread)) == pytest.approx(495, rel=0.002)


# -- the theorems that the prices come from ------------------------------------------------------


def test_pure_epsilon_is_epsilon_times_tanh_of_its_half():
    """T24: randomised response meets it as alpha falls to 1, and never exceeds it."""
    for epsilon in (0.01, 0.5, 1, 5, 12):
        bound = epsilon * np.tanh(epsilon / 2)
        truth = 1 / (1 + np.exp(-epsilon))
        masses, logs = np.array([truth, 1 - truth]), np.array([epsilon, -epsilon])
        found = [divergence(masses, logs, order) / order for order in ORDERS]
        assert max(found) <= bound * (1 + 1e-9)
        assert found[0] == pytest.approx(bound, rel=1e-4)


def mirrored(generator, points, epsilon):
    """Return a random law and the log ratios to its mirror image, all within epsilon."""
    logs = generator.uniform(0, epsilon, points)
    logs[0] = epsilon
    weights = generator.dirichlet(np.full(points, 0.4))
    masses = np.concatenate([weights * np.exp(logs / 2), weights * np.exp(-logs / 2)])
    return masses / masses.sum(), np.concatenate([logs, -logs])


def test_the_affinity_bound_holds_for_laws_and_their_mirror_images():
    """T25, with w >= 1/3, for random laws; with w far below it fails: the condition is needed."""
    generator = np.random.default_rng(4)
    tried = {True: 0, False: 0}
    broken = 0
    for _ in range(3000):
        epsilon = generator.uniform(0.1, 12)
        masses, logs = mirrored(generator, generator.integers(1, 6), epsilon)
        same = (masses * np.exp(-logs / 2)).sum()
        share = (1 / same - 1) / (np.cosh(epsilon / 2) - 1)
        bound = epsilon / np.tanh(epsilon / 4) * (1 - same)
        found = max(divergence(masses, logs, order) / order for order in ORDERS)
        tried[share >= 1 / 3] += 1
        if share >= 1 / 3:
            assert found <= bound * (1 + 1e-9)
        else:
            broken += found > bound * (1 + 1e-6)
    assert min(tried.values()) > 300
    assert broken > 10


def test_the_affinity_bound_serves_student_noise():
    """The weight w is 1/2 for nu = 3, (14 + 15x + 5x^2) / (8 (5 + 6x + x^2)) for nu = 7."""
    for b in np.geomspace(1e-3, 1e3, 200):
        x = b * b
        for power in (2, 4):
            epsilon = 2 * power * np.arcsinh(b)
            less = x if power == 2 else x * (14 / 5 + 3 * x + x * x) / (1 + x / 5)
            share = less / (2 * np.sinh(epsilon / 4) ** 2)
            wanted = 0.5 if power == 2 else (14 + 15 * x + 5 * x * x) / (8 * (5 + 6 * x + x * x))
            assert share == pytest.approx(wanted, rel=1e-9)
            assert share >= (0.5 if power == 2 else 11 / 32) - 1e-9


def least_possible(shift, variance):
    """Return T30's bound: 2 t atanh(t)."""
    t = shift / np.sqrt(shift**2 + 4 * variance)
    return 2 * t * np.arctanh(t)


def test_no_unbiased_number_of_that_variance_costs_less():
    """T30: random pairs of laws, and the noise of this library; 14.5 at sd 35.4 and 50,000."""
    assert least_possible(50_000, 35.4**2) == pytest.approx(14.5, abs=0.05)
    assert least_possible(0.01, 1) == pytest.approx(0.01**2 / 2, rel=1e-4)
    generator = np.random.default_rng(5)
    for _ in range(2000):
        points = generator.normal(0, 1, generator.integers(2, 5)) * generator.uniform(0.5, 20)
        one, two = generator.dirichlet(np.full(len(points), 0.7), 2)
        means = [(points * masses).sum() for masses in (one, two)]
        pairs = zip((one, two), means, strict=True)
        variance = max((masses * (points - mean) ** 2).sum() for masses, mean in pairs)
        lost = (one * np.log(one / two)).sum()
        assert lost >= least_possible(abs(means[0] - means[1]), variance) * (1 - 1e-9)
    for nu in (3, 7):
        for size in (1, 50, 1000, 10**6):
            price = float(tapered_rho(size, 1250 * (nu - 2), nu))
            assert price >= least_possible(size, 1250)
