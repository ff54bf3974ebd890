"""Distributions: exact where they say so, and upwards where not."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from perrecord import Policy
from perrecord.errors import InputError, ProbabilityError
from perrecord.evaluate.losses import distributions
from perrecord.evaluate.losses.distributions import Distribution, quantiles
from perrecord.evaluate.losses.policies import policy_losses
from perrecord.evaluate.workspace import workspace
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


SHARES = [Fraction(0), Fraction(1, 10**9), *(Fraction(place, 37) for place in range(1, 38))]


@pytest.mark.parametrize("most_held", [0, 10**9], ids=["read twice", "held"])
@pytest.mark.parametrize("kind", ["ties", "near", "far", "infinite", "one", "none"])
def test_quantiles_are_those_of_the_definition(kind, most_held, monkeypatch):
    """Bit for bit: many records at one value, values side by side, 600 orders of magnitude."""
    monkeypatch.setattr(distributions, "_MOST_HELD", most_held)
    random = np.random.default_rng(7)
    values = {
        "ties": random.integers(0, 4, 5000) / 3,
        "near": 1 + random.integers(0, 3000, 5000) * 2.0**-52,
        "far": 10.0 ** random.uniform(-300, 300, 5000),
        "infinite": np.where(random.random(5000) < 0.3, np.inf, random.random(5000)),
        "one": np.array([0.25]),
        "none": np.array([]),
    }[kind]
    numbers = random.integers(1, 1000, len(values))
    rows = pa.table({"loss": values, "number": numbers})
    with table(rows, measures=["number"]) as source, workspace(source) as space:
        found = quantiles(space, space.add_local(rows), "loss", "number", SHARES)
    every = np.repeat(np.sort(values), numbers[np.argsort(values)])
    ranks = [max(1, -(-share.numerator * len(every) // share.denominator)) for share in SHARES]
    assert found == [float(every[rank - 1]) if len(every) else 0.0 for rank in ranks]
