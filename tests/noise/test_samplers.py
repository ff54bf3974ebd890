"""Do the samplers draw from the laws they name, and would we notice if not?

Quick form: 1.5 million draws each, false-alarm rate 1e-7 per test (`checks.FALSE_ALARM`).
Full form (`make audit`): 10^7 draws for 12 sigmas, family-wise false-alarm rate 1e-6.
"""

from fractions import Fraction

import numpy as np
import pytest

from perrecord.laws import DiscreteGaussian, DiscreteLaplace
from perrecord.noise import (
    discrete_gaussian,
    discrete_gaussian_each,
    discrete_laplace,
    gaussian_tail,
)
from perrecord.noise.bits import system_bits
from perrecord.noise.blocks import Blocks, draw_many
from perrecord.noise.potential import Potential
from perrecord.noise.samplers import _WORTH_A_TABLE
from tests import first
from tests.noise.checks import (
    FALSE_ALARM,
    Replayed,
    digits_are_those_of,
    gaussian,
    memory_for,
    p_value,
    pearson,
)

SIGMAS = ("0.3", "0.5", "0.7", "1", "2.5", "10", "35.4", "63.9", "64", "350", "3500", "3500000")
DRAWS = 1_500_000
AUDIT_FALSE_ALARM = 1e-6


@pytest.mark.parametrize("sigma", first(3, ["0.7", "35.4", "3500000", "0.3", "64"]))
def test_many_gaussians_follow_their_law(sigma):
    """The path with a table: chi-square, moments, tails, zeros and remainders all fit."""
    law = gaussian(sigma)
    assert p_value(discrete_gaussian(law.sigma_squared, DRAWS), law) > FALSE_ALARM


@pytest.mark.parametrize("sigma", first(3, ["0.05", "0.7", "3500000", "0.3", "35.4"]))
def test_gaussians_drawn_a_few_at_a_time_follow_their_law(sigma):
    """The path without a table gives the same law."""
    law = gaussian(sigma)
    values = discrete_gaussian_each([law.sigma_squared] * 250_000)
    assert p_value(values, law) > FALSE_ALARM


@pytest.mark.parametrize("scale", first(2, ["1", "3500", "0.1", "15"]))
def test_laplace_follows_its_law(scale):
    """Both paths of the discrete Laplace fit."""
    law = DiscreteLaplace(scale)
    assert p_value(discrete_laplace(scale, DRAWS), law) > FALSE_ALARM
    blocks = Blocks.of(Potential.laplace(law.scale), both_sides=True)
    few = draw_many([blocks], np.zeros(250_000, dtype=np.intp), system_bits())
    assert p_value(few, law) > FALSE_ALARM


@pytest.mark.audit
@pytest.mark.parametrize("sigma", SIGMAS)
def test_ten_million_gaussians_follow_their_law(sigma):
    """The full form: 10^7 draws on each of the two paths, for each of 12 sigmas."""
    law, share = gaussian(sigma), AUDIT_FALSE_ALARM / (2 * len(SIGMAS))
    assert p_value(discrete_gaussian(law.sigma_squared, 10**7), law) > share
    piece = [law.sigma_squared] * 10**6
    values = np.concatenate([discrete_gaussian_each(piece) for _ in range(10)])
    assert p_value(values, law) > share


def _sigma_off_by_half_a_percent(sigma, count, generator):
    return discrete_gaussian((Fraction(sigma) * Fraction("1.005")) ** 2, count, _bits=Replayed(1))


def _offset_modulo_a_hundred(sigma, count, generator):
    values = discrete_gaussian(Fraction(sigma) ** 2, count, _bits=Replayed(2))
    byte = generator.integers(0, 256, count)
    return values // 100 * 100 + byte % 100


def _zero_counted_twice(sigma, count, generator):
    # "Minus zero" is not drawn again: zero comes out twice as likely as it should be.
    magnitudes = gaussian_tail(Fraction(sigma) ** 2, 0, count, _bits=Replayed(3))
    return magnitudes * generator.choice([-1, 1], count)


def _float_rounded(sigma, count, generator):
    return generator.normal(0, float(sigma), count).round().astype(np.int64)


BROKEN = [
    (_sigma_off_by_half_a_percent, "3500000"),
    (_offset_modulo_a_hundred, "3500"),
    (_zero_counted_twice, "35.4"),
    (_float_rounded, "0.5"),
    *((_sigma_off_by_half_a_percent, sigma) for sigma in ("0.7", "35.4")),
    *((_offset_modulo_a_hundred, sigma) for sigma in ("350", "3500000")),
    *((_zero_counted_twice, sigma) for sigma in ("0.7", "3500")),
]


@pytest.mark.parametrize(("sampler", "sigma"), first(4, BROKEN))
def test_the_same_checks_reject_a_broken_sampler(sampler, sigma):
    """Each deliberate fault is caught far below the rate at which a right sampler alarms."""
    values = sampler(sigma, DRAWS, np.random.default_rng(7))
    assert p_value(values, gaussian(sigma)) < AUDIT_FALSE_ALARM / 100


@pytest.mark.parametrize(
    ("sigma_squared", "at_least"),
    [("5", 13), ("0.25", 1), ("1e6", 700), ("1e6", 4000), ("9", 0), ("9", -4), ("0.5", 40)],
)
def test_tail_draws_follow_the_conditional_law(sigma_squared, at_least):
    """Z given Z >= tau, from thresholds that nearly all values pass to ones that none ever does."""
    law = DiscreteGaussian(sigma_squared)
    values = gaussian_tail(sigma_squared, at_least, 200_000)
    assert values.min() >= at_least
    base = law.tail(at_least).lower
    step = max(1, int(float(law.variance()) ** 0.5 / 30))
    edges = [at_least + step * i for i in range(1, 150)]
    above = np.array([1.0, *(float(law.tail(edge).lower / base) for edge in edges)])
    chances = np.append(above[:-1] - above[1:], above[-1])
    counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(chances))
    assert pearson(counts, chances) > FALSE_ALARM


@pytest.mark.parametrize(
    ("sigma_squared", "at_least"),
    [
        ("5", 2**62),
        ("5", 2**63),
        ("5", 10**20),
        ("1e40", 0),
        ("1e60", 10**35),
        ("5", -(10**30)),
        ("1e40", -(10**30)),
    ],
)
def test_tail_draws_beyond_int64_are_python_integers(sigma_squared, at_least):
    """Thresholds and values of any size."""
    values = gaussian_tail(sigma_squared, at_least, 50)
    assert len(values) == 50
    assert min(values.tolist()) >= at_least
    assert (values.dtype == np.object_) == (sigma_squared != "5" or at_least > 0)


def test_each_cell_has_its_own_sigma():
    """In a mixed call every sigma gets its own law."""
    sigmas = ["0.7", "12", "90000"]
    values = discrete_gaussian_each([Fraction(s) ** 2 for _ in range(70_000) for s in sigmas])
    for index, sigma in enumerate(sigmas):
        assert p_value(values[index :: len(sigmas)], gaussian(sigma)) > FALSE_ALARM


@pytest.mark.parametrize("exponent", first(1, [40, 300]))
def test_values_beyond_int64_are_python_integers(exponent):
    """Every digit of a huge value is random, the last ones too."""
    values = discrete_gaussian(Fraction(10) ** (2 * exponent), 20_000)
    assert digits_are_those_of(values, exponent, 97, DiscreteGaussian(10**12))


@pytest.mark.parametrize("power", first(3, [53, 54, 55, 52, 56]))
def test_the_widest_int64_law_meets_the_narrowest_wide_one(power):
    """On either side of the change to Python ints the law is the same."""
    values = discrete_gaussian(Fraction(4) ** power, 20_000)
    leading = np.array([int(value) >> (power - 20) for value in values], dtype=np.int64)
    assert p_value(leading, DiscreteGaussian(Fraction(4) ** 20)) > FALSE_ALARM


def test_a_tiny_sigma_gives_zeros():
    """sigma^2 = 1e-9 puts all but exp(-5e8) of the mass at 0, at any size of the request."""
    assert not discrete_gaussian("1e-9", 20_000).any()
    assert not discrete_laplace("1e-9", 20_000).any()


def test_many_small_requests_for_one_law_come_to_share_a_table():
    """The change of path within a series of calls leaves the law as it is."""
    law = gaussian("901")
    values = np.concatenate([discrete_gaussian(law.sigma_squared, 1000) for _ in range(300)])
    assert p_value(values, law) > FALSE_ALARM


def test_memory_stays_near_the_size_of_the_output():
    """At its peak a draw holds its output and a few chunks."""
    discrete_gaussian("1e7", _WORTH_A_TABLE)  # the table is kept between calls
    assert memory_for(lambda: discrete_gaussian("1e7", 4_000_000)) < 1.25
