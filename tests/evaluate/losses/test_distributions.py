"""Distributions: exact where they say so, and upwards where not."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from perrecord import Policy
from perrecord.errors import InputError, ProbabilityError
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.policies import policy_losses
from perrecord.tables.table import table

MANY = 50_000
POLICY = Policy.exact(1, measure="x", threshold=1)


@pytest.fixture(scope="module")
def numbers():
    """Heavy-tailed whole numbers, most of them different."""
    return np.sort((np.random.default_rng(4).pareto(1.1, MANY) * 10_000).astype(np.int64))


@pytest.fixture(scope="module")
def thinned(numbers):
    """The distribution of their squares, from the engine."""
    with table(pa.table({"x": numbers}), measures=["x"]) as source:
        points = [float(numbers[777]) ** 2, Fraction(10**9)]
        return policy_losses(POLICY, source, points=points)


def test_many_values_are_thinned_to_exact_quantiles(thinned, numbers):
    """At every 0.2 % and in the tail the kept quantile is the definition's, bit for bit."""
    assert len(np.unique(numbers)) > 10_000 > 1000 > len(thinned.values)
    assert thinned.count == MANY
    shares = [Fraction(i, 500) for i in range(501)] + [Fraction(999, 1000), Fraction(9999, 10_000)]
    for share in shares:
        wanted = float(numbers[max(1, -(-share.numerator * MANY // share.denominator)) - 1]) ** 2
        assert thinned.quantile(share) == wanted
    assert thinned.largest == float(numbers[-1]) ** 2


def test_between_kept_values_answers_err_upwards(thinned, numbers):
    """Never a smaller loss, never a smaller share, and by no more than 0.2 % of the records."""
    losses = numbers.astype(float) ** 2
    for share in ("0.1234", "0.55551", "0.99987"):
        rank = int(np.ceil(float(share) * MANY)) - 1
        assert losses[rank] <= thinned.quantile(share) <= losses[min(rank + 100, MANY - 1)]
    for loss in losses[::3571]:
        above = float((losses > loss).mean())
        assert above <= thinned.share_above(loss) <= above + 0.002 + 1e-12


def test_shares_above_chosen_points_are_exact(thinned, numbers):
    """Also where no quantile happens to stand."""
    losses = numbers.astype(float) ** 2
    for point in (float(numbers[777]) ** 2, 1e9):
        assert thinned.share_above(point) == (losses > point).mean()


def test_the_check_of_quantiles_can_fail(thinned, numbers):
    """A twin whose ranks are one off is told apart."""
    off = Distribution(thinned.values, tuple(number - 1 for number in thinned.at_most))
    wanted = float(numbers[MANY // 2 - 1]) ** 2
    assert thinned.quantile("0.5") == wanted != off.quantile("0.5")


def test_few_values_are_all_kept():
    """The empirical distribution itself."""
    found = Distribution.of([3, 1, 1, Fraction(1, 2)])
    assert found == Distribution((0.5, 1.0, 3.0), (1, 3, 4))
    assert found.shares == (0.25, 0.75, 1.0)
    assert [found.quantile(q) for q in (0, "0.25", "0.26", "0.75", 1)] == [0.5, 0.5, 1, 1, 3]
    assert [found.share_above(x) for x in (0, 0.5, 1, 1 - 1e-12, 3)] == [1, 0.75, 0.25, 0.25, 0]
    assert found.to_arrow()["share"].to_pylist() == [0.25, 0.75, 1.0]


def test_nobody_has_no_quantiles():
    """Counts are 0; a quantile says why there is none."""
    nobody = Distribution.of([])
    assert (nobody.count, nobody.largest, nobody.share_above(0)) == (0, 0.0, 0.0)
    with pytest.raises(InputError, match="no records"):
        nobody.quantile("0.5")
    with pytest.raises(ProbabilityError, match="0 to 1"):
        Distribution.of([1]).quantile(2)
