"""Answers that mean something else, and noise of another law: the utility audit notices each."""

from fractions import Fraction
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.lab.audit.utility.additive import additive_cases, additive_tests
from perrecord.lab.audit.utility.exactly import exact_checks
from perrecord.lab.audit.utility.files import file_checks
from perrecord.lab.audit.utility.quantiles import QUANTILES, quantile_tests
from perrecord.lab.audit.utility.worlds import World
from perrecord.laws import DiscreteGaussian, DiscreteStudent
from perrecord.mechanisms import additive, quantiles
from perrecord.queries import scan
from perrecord.queries.aggregates import Filled, Rows
from perrecord.released import columns
from perrecord.tables import records
from tests import first


def caught(*kinds, first=0):
    """Tell whether some exact answer of such a kind is found to be another."""
    return any(
        fault is not None and kind in kinds
        for seed in range(first, first + 40)
        for kind, fault in exact_checks(Random(seed), 4, seed)
    )


def old_scores(answer, counts, cells):
    """Return the scores of the first version: ties at the quantile count for neither side."""
    wide = 2 * len(answer.candidates) + 1
    table = np.zeros((cells, wide), dtype=np.int64)
    table[revealed(counts.cells), revealed(counts.buckets)] = revealed(counts.numbers)
    below = np.cumsum(table, axis=1)
    less, more = below[:, 0:-1:2], below[:, -1:] - below[:, 1::2]
    level = answer.level
    scores = np.abs((level.denominator - level.numerator) * less - level.numerator * more)
    yield Confidential(scores)


# -- what answers mean -------------------------------------------------------------------------


def test_a_quantile_that_forgets_ties_is_caught(monkeypatch):
    """With 6 zeros and 4 giants the median is 0, and nothing between."""
    monkeypatch.setattr(quantiles, "scores_of", old_scores)
    assert caught("median", "quantile", first=20)


def test_rounding_half_to_even_is_caught(monkeypatch):
    """A tie goes away from zero."""
    honest = records.grid_sql

    def even(measure, column, kind, dialect):
        if not pa.types.is_floating(kind):
            return honest(measure, column, kind, dialect)
        rounded = f"round_even({column} * 2, 0)"
        return f"CAST(greatest(-2000, least(2000, {rounded})) AS BIGINT)"

    monkeypatch.setattr(records, "grid_sql", even)
    assert caught("split", "exact", "clamp", "parts", "average", "average clamped")


def test_a_count_of_values_that_counts_nulls_is_caught(monkeypatch):
    """COUNT(a) leaves records out in which a is NULL."""
    honest = scan._aggregated

    def counting(aggregate, value, dialect):
        return honest(Rows() if isinstance(aggregate, Filled) else aggregate, value, dialect)

    monkeypatch.setattr(scan, "_aggregated", counting)
    assert caught("filled")


def test_an_average_without_a_floor_under_its_count_is_caught(monkeypatch):
    """The count of an empty cell is taken as 1."""

    def bare(self):
        counts = self.count.numbers.astype(np.float64)
        return np.where(counts == 0, np.nan, counts)

    monkeypatch.setattr(columns.Ratio, "_denominator", bare)
    assert caught("average", "average clamped")


# -- the noise ---------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", first(1, [Fraction(98, 100), Fraction(102, 100)]))
def test_a_deviation_that_is_off_by_a_hundredth_is_caught(monkeypatch, factor):
    """In 600,000 cells; its standard errors are still those of the stated law."""
    honest = additive.draw

    def other(law, count, bits):
        return honest(DiscreteGaussian(law.sigma_squared * factor), count, bits)

    monkeypatch.setattr(additive, "draw", other)
    count = additive_cases()[0]
    tests = [each for each in additive_tests(World.of(600_000), count, 1) if "noise" in each.what]
    assert min(each.chance for each in tests) < 1e-8


@pytest.mark.parametrize(
    "broken", [lambda law: (law.spread * Fraction(11, 10), law.nu), lambda law: (law.spread, 3)]
)
def test_tapered_noise_of_another_law_is_caught(monkeypatch, broken):
    """A spread that is off by a tenth, nu = 3 for 7; what is said beside it stays as it was."""
    honest = additive.draw
    monkeypatch.setattr(
        additive, "draw", lambda law, *given: honest(DiscreteStudent(*broken(law)), *given)
    )
    tapered = next(case for case in additive_cases() if case.name == "total, tapered")
    tests = [each for each in additive_tests(World.of(60_000), tapered, 1) if "noise" in each.what]
    assert min(each.chance for each in tests) < 1e-8


def test_a_taper_that_loses_its_large_records_is_caught(monkeypatch):
    """A tapered total is the whole total: nothing is cut off."""
    honest = scan.total_value

    def cut(total, resolution, parts):
        return f"least({honest(total, resolution, parts)}, 5000000)"

    monkeypatch.setattr(scan, "total_value", cut)
    assert caught("tapered", "tapered parts", "average tapered")


def test_a_published_taper_that_loses_its_large_records_is_caught(monkeypatch):
    """In the files of whole releases too, of which some answers are tapered."""
    honest = scan.total_value

    def cut(total, resolution, parts):
        written = honest(total, resolution, parts)
        return f"least({written}, 5000000)" if resolution < Fraction(1, 1000) else written

    monkeypatch.setattr(scan, "total_value", cut)
    found = [
        fault for seed in range(4) for _, fault in file_checks(Random(seed), Random(-seed), seed)
    ]
    assert any(fault is not None and "of a release" in fault for fault in found)


def test_an_interval_of_one_step_less_is_caught(monkeypatch):
    """It would hold the truth less often than it says."""
    honest = columns.Estimate.interval

    def narrow(self, confidence="0.95"):
        low, high = honest(self, confidence)
        return pc.add(low, 1), pc.subtract(high, 1)

    monkeypatch.setattr(columns.Estimate, "interval", narrow)
    tests = additive_tests(World.of(2000), additive_cases()[0], 1)
    assert any(each.fault is not None and "interval" in each.what for each in tests)


@pytest.mark.parametrize("factor", first(1, [Fraction(5, 4), Fraction(4, 5)]))
def test_a_choice_that_is_too_sharp_or_too_blunt_is_caught(monkeypatch, factor):
    """The exponential mechanism at another rate than its price."""
    honest = quantiles.selection_rate
    monkeypatch.setattr(quantiles, "selection_rate", lambda *given: factor * honest(*given))
    tests = quantile_tests(World.of(20_000), QUANTILES[0], 1)
    assert min(each.chance for each in tests) < 1e-8


def test_the_old_law_of_quantiles_is_caught(monkeypatch):
    """At small rho too, where ties only bend the chances of the candidates."""
    monkeypatch.setattr(quantiles, "scores_of", old_scores)
    tests = quantile_tests(World.of(20_000), QUANTILES[2], 1)
    assert min(each.chance for each in tests) < 1e-8
