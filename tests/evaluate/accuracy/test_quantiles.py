"""Errors of medians and quantiles: sums over candidates, compared with their definition."""

import math
from fractions import Fraction
from random import Random
from time import process_time

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from perrecord import Keys, ProbabilityError, Query, table
from perrecord.evaluate.accuracy.quantiles import quantile_accuracy
from perrecord.evaluate.accuracy.summaries import summary
from perrecord.evaluate.evaluation import evaluate
from perrecord.mechanisms.run import answer
from perrecord.queries.plan import plan
from tests.noise.checks import Replayed

CANDIDATES = ["-2", "0", "0.5", "1", "10/3", "100", "900"]
RANDOM = Random(7)
ROWS = [
    {"g": g, "h": RANDOM.choice(["a", None]), "x": RANDOM.choice([None, -2, 0, 0, 1.5, 100, 899.5])}
    for g in (*range(40), None)
    for _ in range(RANDOM.randrange(1, 30))
]
KEYS = Keys.from_dict({"g": [None, *range(41)]})  # 40 is empty


@pytest.fixture(scope="module")
def source():
    """Open a table full of ties, with NULL keys and values."""
    with table(pa.Table.from_pylist(ROWS), dimensions=["g", "h"], measures={"x": "0.5"}) as opened:
        yield opened


def asked(level, **amount):
    """Return a quantile by group and in total, of some of the records."""
    query = (
        Query()
        .where("h = 'a' OR h IS NULL")
        .quantile("x", level, candidates=CANDIDATES, name="q", **amount)
    )
    return query.group_by_sets([("g",), ()], keys=KEYS)


def defined(values, level, rho=None, eps=None, confidence=0.95):
    """Return (true, size, reach, hit) straight from the definitions, in floats at the very end."""
    known, q = sorted(Fraction(x) for x in values if x is not None), Fraction(level)
    if not known:
        return [math.nan] * 4
    n, candidates = len(known), [Fraction(c) for c in CANDIDATES]
    low = known[max(math.ceil(q * n), 1) - 1]
    high = known[min(math.floor(q * n) + 1, n) - 1]
    rate = (math.sqrt(8 * rho) if eps is None else eps) / (2 * max(q, 1 - q))
    scores = [
        max(Fraction(0), sum(x < c for x in known) - q * n, sum(x > c for x in known) - (1 - q) * n)
        for c in candidates
    ]
    weights = [math.exp(-float(rate * (score - min(scores)))) for score in scores]
    errors = [max(Fraction(0), low - c, c - high) for c in candidates]
    chances = [weight / sum(weights) for weight in weights]
    pairs = sorted(zip(errors, chances, strict=True))
    reach = next(
        error for error, _ in pairs if sum(p for e, p in pairs if e <= error) >= confidence
    )
    size = sum(float(error) * chance for error, chance in pairs)
    return [float(low), size, float(reach), sum(p for e, p in pairs if e == 0)]


@pytest.mark.parametrize("level", ["0", "1/3", "0.5", "0.9", "1"])
@pytest.mark.parametrize("amount", [{"rho": 0.02}, {"eps": 0.5}, {"rho": 1e90}])
def test_errors_are_those_of_the_definition(source, level, amount):
    """Group by group and in total, with NULL keys, empty cells, candidates off the grid."""
    given = {"epsilon" if name == "eps" else name: str(each) for name, each in amount.items()}
    by_group, total = quantile_accuracy(plan(asked(level, **given), source.schema), source)
    for errors, groups in ((by_group, KEYS.table["g"].to_pylist()), (total, [...])):
        step = float(errors.step)
        for place, group in enumerate(groups):
            values = [row["x"] for row in ROWS if group is ... or row["g"] == group]
            wanted = defined(values, level, **amount)
            found = [
                errors.true[place] * step,
                errors.size[place] * step,
                errors.reach[place] * step,
                errors.hit[place],
            ]
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12, nan_ok=True)


def test_the_true_quantile_is_that_of_sql(source):
    """DuckDB's quantile_disc, of every group."""
    rows = pa.Table.from_pylist(ROWS)  # which DuckDB reads by its name
    meant = dict(duckdb.sql("SELECT g, quantile_disc(x, 0.25) FROM rows GROUP BY g").fetchall())
    assert len(rows) == len(ROWS)
    errors, _ = quantile_accuracy(plan(asked("0.25", rho=1), source.schema), source)
    for group, found in zip(KEYS.table["g"].to_pylist(), errors.true, strict=True):
        if meant.get(group) is None:
            assert math.isnan(found)
        else:
            assert found * float(errors.step) == pytest.approx(meant[group])


def test_drawn_errors_are_the_expected_ones(source):
    """Over 100 releases of 42 cells, the mean errors agree within 20 percent; replayed bits."""
    query = asked("0.5", rho="0.01")
    errors, _ = quantile_accuracy(plan(query, source.schema), source)
    known, step, bits = ~np.isnan(errors.true), float(errors.step), Replayed(2)
    low, high = errors.truth.low / 2, errors.truth.high / 2  # in units of the measure
    total = np.zeros(len(low))
    for _ in range(100):
        drawn = np.array(answer(source, query, _bits=bits)[0].table["q"].to_pylist(), float)
        total += np.maximum(np.maximum(low - drawn, drawn - high), 0)
    assert total[known].sum() / 100 == pytest.approx(errors.size[known].sum() * step, rel=0.2)


def test_what_no_budget_buys_back_stands_apart(source):
    """The error without noise is the distance from the best candidate to the quantile."""
    errors, _ = quantile_accuracy(plan(asked("0.5", rho=10**6), source.schema), source)
    known = ~np.isnan(errors.true)
    assert (errors.size[known] >= np.abs(errors.bias[known]) - 1e-9).all()
    assert (errors.bias[known] != 0).any()
    few, _ = quantile_accuracy(plan(asked("0.5", rho="0.01"), source.schema), source)
    assert (few.bias[known] == errors.bias[known]).all()  # it does not depend on rho


def test_relative_errors_of_exact_ties_are_exact():
    """A candidate 5 % off is not within 5 %, on whatever grid."""
    for true, near in ((100, 105), ("0.1", "0.105"), ("0.7", "0.735")):
        rows = pa.table({"x": [float(true)] * 9})
        with table(rows, measures={"x": "0.001"}) as opened:
            query = Query().median("x", candidates=[near], rho=1)
            errors = quantile_accuracy(plan(query, opened.schema), opened)
        row = summary(errors, limits=["0.05", "0.0501"]).to_pylist()[0]
        assert row["within_5_percent"] == 0
        assert row["within_5.01_percent"] == 1


def test_evaluate_shows_quantiles_beside_other_answers(source):
    """In the boxes, by size, in units, and under other budgets."""
    queries = {"all": asked("0.5", rho="0.1").count(rho="0.1")}
    found = evaluate(queries, source, budgets=[100], repeats=5)
    rows = [row for row in found.errors.to_pylist() if row["answer"] == "q"]
    assert {row["variant"] for row in rows} == {"as written", "100 × budget"}
    assert {row["table"] for row in rows} == {"all_by_g", "all_total"}
    units = {(row["variant"], row["table"]): row for row in found.quantiles.to_pylist()}
    few, much = units["as written", "all_by_g"], units["100 × budget", "all_by_g"]
    assert few["candidates"] == 7
    assert few["without_values"] >= 1
    assert few["chance_of_a_quantile"] < much["chance_of_a_quantile"] <= 1
    assert few["median_expected_error"] >= much["median_expected_error"]
    assert "q" not in {row["answer"] for row in found.drawn.to_pylist()}
    assert "q" in {row["answer"] for row in found.by_size.to_pylist()}
    assert "q" not in {row["answer"] for row in found.parts.to_pylist()}


def test_a_confidence_that_is_none_is_refused(source):
    """As for other answers."""
    with pytest.raises(ProbabilityError, match="strictly between 0 and 1"):
        quantile_accuracy(plan(asked("0.5", rho=1), source.schema), source, confidence=1)


def test_a_hundred_thousand_cells_take_seconds():
    """200,000 records, 100,000 cells of 50 candidates; processor time, with room for slow ones."""
    random = np.random.default_rng(1)
    rows = pa.table(
        {"g": random.integers(0, 100_000, 200_000), "x": random.integers(0, 50, 200_000)}
    )
    keys = Keys.from_dict({"g": range(100_000)})
    query = Query().group_by("g", keys=keys).median("x", candidates=range(50), rho=1)
    with table(rows, dimensions=["g"], measures=["x"]) as opened:
        start = process_time()
        (errors,) = quantile_accuracy(plan(query, opened.schema), opened)
        assert process_time() - start < 60
    assert len(errors.true) == 100_000
