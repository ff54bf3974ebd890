"""Ways to publish a total, compared at one median error."""

from fractions import Fraction

import numpy as np
import pytest

from perrecord.lab.experiments.cbp.methods import (
    LEAST,
    SIZES,
    compared,
    least_loss,
    methods_figure,
)
from perrecord.laws import DiscreteStudent

TRUE = np.round(np.exp(np.random.default_rng(1).normal(7.5, 1.2, 3000)))
THRESHOLD, RHO = Fraction(50), Fraction(1, 5)


@pytest.fixture(scope="module")
def found():
    """The ways by name, and the median error that they share."""
    median, ways = compared(TRUE, THRESHOLD, RHO)
    return median, {each.name: each for each in ways}


def test_all_ways_have_the_same_median_error(found):
    """Looked at in draws: of a Gaussian, and of Student noise at the loss that is shown."""
    median, ways = found
    source = np.random.default_rng(2)
    gaussian = source.normal(0, 50 / np.sqrt(0.4), (200, len(TRUE)))
    assert np.median(np.abs(gaussian) / TRUE) == pytest.approx(median, rel=0.01)
    spread = 5 * (ways["tapering"].largest_cell * TRUE.max()) ** 2
    student = source.standard_t(7, (200, len(TRUE))) * np.sqrt(spread / 7)
    assert np.median(np.abs(student) / TRUE) == pytest.approx(median, rel=0.01)
    stated = DiscreteStudent(round(spread))
    for size, loss in zip(SIZES, ways["tapering"].losses, strict=True):
        assert float(stated.rho(size)) == pytest.approx(loss, rel=1e-3)


def test_splitting_costs_pieces_squared_and_tapering_less(found):
    """Above the least possible, and within 13 % of it for small records."""
    _, ways = found
    for place, size in enumerate(SIZES):
        split, tapered, least = (
            ways[name].losses[place] for name in ("splitting", "tapering", LEAST)
        )
        assert split == pytest.approx(float(RHO) * (-(-size // 50)) ** 2)
        assert least <= tapered < split
    assert ways["tapering"].losses[0] < 1.13 * ways[LEAST].losses[0]
    assert ways["tapering"].losses[-1] < ways["splitting"].losses[-1] / 1000


def test_transformations_cost_every_record_more_and_large_cells_their_accuracy(found):
    """In cells of many records, each small beside the total."""
    _, ways = found
    for name in ("logarithm", "square root"):
        pairs = zip(ways[name].losses, ways["tapering"].losses, strict=True)
        assert all(transformed > tapered for transformed, tapered in pairs)
        assert ways[name].largest_cell > 5 * ways["tapering"].largest_cell


def test_the_least_possible_is_that_of_gaussian_noise_for_small_records():
    """r^2/(2V), and ln(r^2/V) in the end."""
    assert least_loss(0.01, 10) == pytest.approx(0.01**2 / 200, rel=1e-4)
    assert least_loss(10**9, 1) == pytest.approx(2 * np.log(10**9), rel=1e-6)


def test_the_figure_says_what_it_compares():
    """A row for each way and size; the finding names every way."""
    figure = methods_figure(TRUE, THRESHOLD, RHO)
    assert figure.name == "cbp-methods"
    assert figure.numbers.num_rows == 5 * len(SIZES)
    for name in ("splitting", "tapering", "logarithm", "square root", LEAST):
        assert name in figure.finding
    assert figure.draw("wide")
