"""Blurred totals beside other ways: errors of cells, and what a change of a tenth costs."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from perrecord import SelectKeys, Taper
from perrecord.evaluate.accuracy.noise_size import mean_size
from perrecord.evaluate.accuracy.truths import truths
from perrecord.lab.experiments.cbp.agencies import NOISE, Practice, noisy_cells
from perrecord.lab.experiments.cbp.blurring import (
    BLURS,
    EVERY_CELL,
    NATION,
    blur_name,
    blurring_rows,
    large,
    ways,
)
from perrecord.lab.experiments.cbp.blurring_figures import (
    LESS,
    MORE,
    SIZES,
    blurring_figure,
    changes_figure,
    most,
)
from perrecord.lab.experiments.cbp.data import LEVELS, establishments, even
from perrecord.lab.experiments.cbp.experiment import MODERATE, QUICK
from perrecord.queries.plan import plan
from perrecord.queries.query import Query

USE = replace(QUICK, rows=60_000, fewest=20)
PRACTICE = Practice(draws=2)


@pytest.fixture(scope="module")
def data():
    """Establishments of one state."""
    with establishments(USE.rows, seed=1, fewest=USE.fewest, states=USE.states) as found:
        yield found


@pytest.fixture(scope="module")
def rows(data):
    """The errors of every way."""
    noisy = {level: noisy_cells(data, level, PRACTICE) for level in data.levels}
    return blurring_rows(data, USE.splits[MODERATE], USE.budget, noisy)


def of(rows, variant, level, of_cells=EVERY_CELL, attribute="EMP"):
    """Return the row of one box."""
    (found,) = [
        row
        for row in rows
        if (row["variant"], row["level"], row["of"], row["attribute"])
        == (variant, level, of_cells, attribute)
    ]
    return found


def test_errors_are_those_that_evaluate_finds(data, rows):
    """`evaluate` rounds A up to two digits, so that its errors are larger by less than 5 %."""
    scheme, rho = USE.splits[MODERATE], even(USE.budget, data.levels)[0, "EMP"]
    by = BLURS[1]
    asked = Query().group_by("county", keys=SelectKeys(rho=1, threshold=1))
    taper = Taper(emp=scheme.threshold("emp"))
    asked = asked.sum("emp", taper=taper, blur=by, rho=rho)
    (truth,) = truths(plan(asked, data.table.schema), data.table)
    sizes = [float(mean_size(law, np.zeros(1))[0]) for law in truth.total.laws]
    exact = truth.total.exact.astype(float)
    errors = np.array(sizes)[truth.total.which][exact != 0] / exact[exact != 0]
    found = of(rows, blur_name(by), LEVELS[0])
    assert found["cells"] == len(errors)
    for name, share in (("lower", 0.25), ("middle", 0.5), ("upper", 0.75)):
        rounded = np.quantile(errors, share, method="inverted_cdf")
        assert found[name] * 0.999 < rounded < found[name] * 1.05


def test_blurring_costs_cells_with_giants_and_sums_little(rows):
    """More with every blur; the sum of all counties errs by far less than a county does."""
    for level in (LEVELS[0], LEVELS[2], NATION):
        errors = [of(rows, name, level)["middle"] for name in ("tapering", *map(blur_name, BLURS))]
        assert errors == sorted(errors)
        assert errors[0] < errors[-1]
    for name in ("splitting", "tapering", *map(blur_name, BLURS), NOISE):
        assert of(rows, name, NATION)["middle"] < of(rows, name, LEVELS[0])["middle"]
    large_cells = of(rows, "tapering", LEVELS[2], large(USE.fewest))
    assert large_cells["middle"] < of(rows, "tapering", LEVELS[2])["middle"]
    assert large_cells["cells"] < of(rows, "tapering", LEVELS[2])["cells"]


def test_noise_is_as_large_as_it_is_said_to_be():
    """The mean of |noise| by draws of the Student and the normal law, and that of a sum."""
    source = np.random.default_rng(1)
    squares = np.array([0.0, 1e4, 1e6])
    for way in ways(Fraction(5), Fraction(1, 30)):
        spreads = way.spreads(squares)
        if way.name == "splitting":
            noise = source.normal(0, np.sqrt(spreads), (200_000, 3))
        else:
            noise = source.standard_t(7, (200_000, 3)) * np.sqrt(spreads / 7)
        assert np.abs(noise).mean(axis=0) == pytest.approx(way.sizes(squares), rel=0.02)
        many = np.full(400, 1e4)
        noise = source.standard_t(7, (2_000, 400)) * np.sqrt(way.spreads(many) / 7)
        if way.name != "splitting":
            summed = np.abs(noise.sum(axis=1)).mean()
            assert summed == pytest.approx(way.of_all(many), rel=0.06)


def test_a_change_by_a_tenth_costs_at_most_what_is_stated():
    """Over nine orders of magnitude, up and down; tapering and splitting have no such bound."""
    figure = changes_figure(Fraction(5), Fraction(1, 30))
    found = figure.numbers.to_pylist()
    assert SIZES[0] * 10**9 == SIZES[-1]
    for by in BLURS:
        losses = [row["loss"] for row in found if row["variant"] == blur_name(by)]
        assert max(losses) <= most(by, MORE)
        assert losses[-1] == pytest.approx(float(most(by, MORE)), rel=1e-6)
    tapered = [row["loss"] for row in found if row["variant"] == "tapering"]
    assert tapered[-1] > 100 * most(BLURS[1], MORE)
    assert float(most(BLURS[1], MORE)) == pytest.approx(0.7028, abs=1e-4)
    assert float(most(BLURS[1], LESS)) == pytest.approx(0.85, abs=0.01)
    assert figure.draw("wide")
    assert "no finite loss" in figure.reading


def test_the_figure_names_every_way(rows):
    """In its finding and in its table."""
    figure = blurring_figure(rows, PRACTICE, "1", USE.fewest, MODERATE)
    for name in ("tapering", *map(blur_name, BLURS), NOISE):
        assert name in figure.finding
    assert figure.tables[0].heads[-6:] == (
        "splitting",
        "tapering",
        *map(blur_name, BLURS),
        NOISE,
    )
    assert figure.draw("narrow")
