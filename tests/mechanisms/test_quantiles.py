"""Quantiles by the exponential mechanism, against its definition in T14 computed apart."""

import itertools
import tracemalloc
from fractions import Fraction
from math import isqrt
from random import Random

import duckdb
import mpmath
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import Policy, QueryError
from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.lab.audit import random_queries, random_tables
from perrecord.mechanisms import quantiles
from perrecord.mechanisms.quantiles import quantile, scores_of, selection_rate
from perrecord.mechanisms.run import answer
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Bucket, Rows
from perrecord.queries.answers import Quantile
from perrecord.queries.cells import Counts, scanned
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.tables.keys import Keys
from perrecord.tables.table import table
from tests.noise.checks import FALSE_ALARM, Replayed
from tests.noise.checks import pearson as pearson_of
from tests.queries.reference import records_of

LEVELS = ["0", "1/3", "0.5", "0.9", "1"]


def pearson(counts, wanted):
    """Return the p-value of Pearson's test, bins large enough for a rate of 1e-7."""
    return pearson_of(counts, wanted, 200.0)


def score(values, candidate, level):
    """Return T14's score of a candidate, straight from its definition."""
    known = [value for value in values if value is not None]
    below, above = sum(x < candidate for x in known), sum(x > candidate for x in known)
    return -max(Fraction(0), below - level * len(known), above - (1 - level) * len(known))


def balanced(values, candidate, level):
    """Return the score of version 0.1, which is best between two heaps of ties: broken."""
    known = [value for value in values if value is not None]
    below, above = sum(x < candidate for x in known), sum(x > candidate for x in known)
    return -abs((1 - level) * below - level * above)


def chances(values, candidates, level, *, rho=None, eps=None, of=score):
    """Return the exact probabilities of the candidates: exp(eps score / (2 max(q, 1 - q)))."""
    level = Fraction(level)
    with mpmath.workdps(40):
        rate = mpmath.sqrt(8 * mpmath.mpf(rho)) if eps is None else mpmath.mpf(eps)
        rate /= 2 * mpmath.mpf(max(level, 1 - level).numerator) / max(level, 1 - level).denominator
        every = [of(values, Fraction(candidate), level) for candidate in candidates]
        weights = [mpmath.exp(rate * each.numerator / each.denominator) for each in every]
        return np.array([float(weight / mpmath.fsum(weights)) for weight in weights])


# -- the law, from a table to the answer -------------------------------------------------------

GROUPS = 20_000
VALUES = [3.25, 3.25, None, 7.0, -1.0, 12.5, 7.0]
CANDIDATES = ["-1", "0.1", "10/3", "7", "7.3", "20"]


@pytest.fixture(scope="module")
def groups():
    """Open a table of many groups that hold the same values; as many more hold nothing."""
    source = pa.table(
        {"g": np.repeat(np.arange(GROUPS), len(VALUES)), "x": pa.array(VALUES * GROUPS)}
    )
    with table(source, dimensions=["g"], measures={"x": "0.25"}) as opened:
        yield opened


def chosen(opened, level, bits=None, first=0, **amount):
    """Return how often each candidate is chosen, over the groups from `first` on."""
    keys = Keys.from_dict({"g": range(first, first + GROUPS)})
    query = Query().group_by("g", keys=keys)
    query = query.quantile("x", level, candidates=CANDIDATES, name="q", **amount)
    (found,) = answer(opened, query, _bits=bits)
    return np.bincount(found.column("q").index, minlength=len(CANDIDATES))


@pytest.mark.parametrize("level", LEVELS)
def test_candidates_are_chosen_with_the_probabilities_of_the_definition(groups, level):
    """Ties, NULL and candidates off the grid included; false alarm 1e-7 each."""
    wanted = chances(VALUES, CANDIDATES, level, rho="0.2")
    assert pearson(chosen(groups, level, rho="0.2"), wanted) > FALSE_ALARM


def with_ties(values, candidate, level):
    """Count what equals the candidate as below it: broken."""
    known = [value for value in values if value is not None]
    below, above = sum(x <= candidate for x in known), sum(x > candidate for x in known)
    return -max(Fraction(0), below - level * len(known), above - (1 - level) * len(known))


def with_nulls(values, candidate, level):
    """Take NULL for 0: broken."""
    return score([value or 0 for value in values], candidate, level)


def mirrored(values, candidate, level):
    """Take the other end's quantile: broken."""
    return score(values, candidate, 1 - level)


@pytest.mark.parametrize("broken", [balanced, with_ties, with_nulls, mirrored])
def test_another_score_is_caught(groups, broken):
    """The broken twins of the score."""
    counts = chosen(groups, "1/3", Replayed(1), rho="0.2")
    assert pearson(counts, chances(VALUES, CANDIDATES, "1/3", rho="0.2", of=broken)) < FALSE_ALARM


def test_another_rate_is_caught(groups):
    """The broken twin of the rate: eps = sqrt(2 rho), the general bound and not the tight one."""
    counts = chosen(groups, "0.5", Replayed(2), rho="0.2")
    assert pearson(counts, chances(VALUES, CANDIDATES, "0.5", rho="0.05")) < FALSE_ALARM


def test_epsilon_is_taken_as_it_is(groups):
    """Under pure epsilon the weight is exp(eps score / (2 sensitivity)); false alarm 1e-7."""
    counts = chosen(groups, "0.9", epsilon="0.7")
    assert pearson(counts, chances(VALUES, CANDIDATES, "0.9", eps="0.7")) > FALSE_ALARM
    assert pearson(counts, chances(VALUES, CANDIDATES, "0.9", rho="0.7")) < FALSE_ALARM
    query = Query().quantile("x", "0.9", candidates=CANDIDATES, epsilon="0.7")
    assert plan(query, groups.schema).policy == Policy.constant(epsilon="0.7")


def test_an_empty_group_is_answered_evenly(groups):
    """Every candidate is equally likely where nobody is; false alarm 1e-7."""
    counts = chosen(groups, "0.9", first=GROUPS, rho="0.2")
    assert counts.sum() == GROUPS
    assert pearson(counts, np.full(6, 1 / 6)) > FALSE_ALARM
    assert pearson(counts, chances(VALUES, CANDIDATES, "0.9", rho="0.2")) < FALSE_ALARM


def test_without_a_grouping_all_records_are_one_group(groups):
    """At a large rho the answer is the candidate nearest in rank, in its own units."""
    query = Query()
    for index, level in enumerate(["0", "0.3", "0.6", "0.95", "1"]):
        query = query.quantile("x", level, candidates=CANDIDATES[1:], rho=1, name=f"q{index}")
    (found,) = answer(groups, query)
    assert found.policy == Policy.constant(5)
    (row,) = found.table.to_pylist()
    assert [round(float(each), 3) for each in row.values()] == [0.1, 0.1, 7, 20, 20]
    assert len(found) == 1


def test_decimal_candidates_come_back_as_written(groups):
    """Exactly, as decimals; endless ones in floats."""
    (found,) = answer(groups, Query().median("x", candidates=["6.95", "100"], rho=1))
    assert [str(each) for each in found.table["median_x"].to_pylist()] == ["6.95"]
    (found,) = answer(groups, Query().median("x", candidates=["20/3"], rho=1))
    assert found.table["median_x"].to_pylist() == [pytest.approx(20 / 3)]


def test_levels_outside_zero_to_one_and_no_candidates_are_refused():
    """The message says what to give."""
    with pytest.raises(QueryError, match="expected 0 to 1"):
        Query().quantile("x", "1.5", candidates=[1], rho=1)
    with pytest.raises(QueryError, match="0 candidates; expected 1 to"):
        Query().median("x", candidates=[], rho=1)


# -- the law, exactly, on random tables --------------------------------------------------------


@settings(max_examples=24)
@given(st.integers(0, 2**32))
def test_scores_of_random_tables_are_those_of_the_definition(seed):
    """Scores in the engine are the definition's times the level's denominator, bit for bit."""
    random = Random(seed)
    rows = random_tables.rows(random, random.randrange(30))
    measure, level = random.choice(list(random_tables.MEASURES)), random.choice(LEVELS)
    keys = Keys.from_dict({"sector": random_tables.SECTORS})
    query = Query().quantile(
        measure, level, candidates=random_queries.CANDIDATES[measure], rho=1, name="q"
    )
    (asked,) = query.answers
    with table(random_tables.arrow(rows), **random_tables.DECLARED) as opened:
        planned = plan(query.group_by("sector", keys=keys), opened.schema)
        with scanned(planned, opened) as cells:
            counts = cells[0].buckets(["sector"], Bucket(measure, asked.candidates), keys, Rows())
        records = records_of(opened.schema, rows)
    (found,) = map(revealed, scores_of(asked, counts, len(keys)))
    members = [
        [record[measure] for record in records if record["sector"] == sector] for (sector,) in keys
    ]
    wanted = [
        [-asked.level.denominator * score(each, c, asked.level) for c in asked.candidates]
        for each in members
    ]
    assert found.tolist() == wanted


def test_the_definition_tells_a_tie_from_a_smaller_value():
    """The broken twin: a score that takes what equals a candidate for smaller."""
    asked = asked_of("0.5", [0, 5])
    for of, is_right in ((score, True), (with_ties, False)):
        wanted = [-2 * of([5, 5, 7], c, asked.level) for c in asked.candidates]
        assert (scores(asked, [5, 5, 7]).tolist() == wanted) is is_right


# -- what a record can change ------------------------------------------------------------------

DATA = st.lists(st.integers(-3, 12), max_size=12)
CHOICES = st.lists(st.fractions(-3, 12, max_denominator=2), min_size=2, max_size=5, unique=True)
ASKED = st.sampled_from([*LEVELS, "0.25", "2/3"])


def asked_of(level, candidates, rho="0.3"):
    """Return the answer asked for."""
    candidates = tuple(sorted({Fraction(each) for each in candidates}))
    return Quantile("q", "x", Fraction(rho), Fraction(level), candidates)


def scores(asked, values):
    """Return the shipped scores of a list of whole numbers."""
    places = [
        2 * sum(c < value for c in asked.candidates) + (value in asked.candidates)
        for value in values
    ]
    buckets, numbers = np.unique(np.array(places, dtype=np.int64), return_counts=True)
    places = np.zeros(len(buckets), dtype=np.int64)
    counts = Counts(*map(Confidential, (places, buckets, numbers)))
    (found,) = map(revealed, scores_of(asked, counts, 1))
    return found[0]


@settings(max_examples=120)
@given(DATA, st.integers(-3, 12), CHOICES, ASKED)
def test_a_record_changes_a_score_by_at_most_its_sensitivity(values, record, candidates, level):
    """max(q, 1 - q), in the scores' whole numbers; by brute force."""
    asked = asked_of(level, candidates)
    change = np.abs(scores(asked, [*values, record]) - scores(asked, values)).max()
    assert change <= max(asked.level, 1 - asked.level) * asked.level.denominator


def spread(asked, values, record, rate, of=scores):
    """Return how far apart the log ratios of two candidates can be, exactly.

    ln Pr[c] - ln Pr'[c] is rate * (change of the score of c) plus what all candidates share.
    """
    changes = [
        int(after) - int(before)
        for before, after in zip(of(asked, values), of(asked, [*values, record]), strict=True)
    ]
    return rate * (max(changes) - min(changes))


def epsilon(asked):
    """Return an eps with eps^2 / 8 <= rho, as near as 60 figures."""
    return Fraction(isqrt(int(8 * asked.amount * 10**120)), 10**60) * (1 + Fraction(1, 10**37))


@settings(max_examples=120)
@given(DATA, st.integers(-3, 12), CHOICES, ASKED)
def test_log_ratios_vary_within_epsilon(values, record, candidates, level):
    """All in rationals, on tables full of ties: what the policy rests on (T14)."""
    asked = asked_of(level, candidates)
    assert spread(asked, values, record, selection_rate(asked, Currency.RHO)) <= epsilon(asked)


def worst(level, of=scores, rate_of=lambda asked: selection_rate(asked, Currency.RHO)):
    """Return the widest range of log ratios, in epsilons, over many small tables full of ties."""
    asked, found = asked_of(level, [-1, 0, "1/2", 1, "3/2", 2]), Fraction(0)
    rate = rate_of(asked)
    for heaps in itertools.product((0, 1, 10), repeat=3):
        values = [value for value, times in enumerate(heaps) for _ in range(times)]
        for record in range(-1, 4):
            found = max(found, spread(asked, values, record, rate, of))
    return found / epsilon(asked)


@pytest.mark.parametrize("level", ["1/4", "1/3", "1/2", "9/10"])
def test_the_range_of_log_ratios_is_epsilon_and_no_less(level):
    """So nothing is wasted, and every constant of T14 is needed."""
    assert 1 - Fraction(1, 10**30) < worst(level) <= 1


@pytest.mark.parametrize("level", ["1/4", "1/3", "1/2", "9/10"])
def test_rates_and_scores_that_promise_too_much_are_caught(level):
    """The broken twins: without the 2; the sensitivity 1 - q, or q; the score not cut at 0."""

    def without_the_two(asked):
        return 2 * selection_rate(asked, Currency.RHO)

    assert worst(level, rate_of=without_the_two) > Fraction(19, 10)
    whole = Fraction(level).denominator
    for sensitivity in {Fraction(level), 1 - Fraction(level)} - {Fraction(1, 2)}:
        wanted = sensitivity >= Fraction(1, 2)
        found = worst(level, rate_of=lambda asked, s=sensitivity: epsilon(asked) / (2 * s * whole))
        assert (found <= 1 + Fraction(1, 10**30)) is wanted


def test_the_sensitivity_is_reached():
    """The twin: anything less, such as min(q, 1 - q), would promise too much."""
    for level in LEVELS:
        asked = asked_of(level, [0, 5])
        changes = [
            np.abs(scores(asked, [*values, x]) - scores(asked, values)).max()
            for values in ([], [-1] * 9, [9] * 9)
            for x in (-1, 9)
        ]
        assert max(changes) == max(asked.level, 1 - asked.level) * asked.level.denominator


# -- what it means -----------------------------------------------------------------------------

HEAPS = st.lists(st.sampled_from([-2, 0, 0, 0, 1, 3, 900]), min_size=1, max_size=15)


def is_quantile(values, number, level):
    """Tell whether no more than q n values lie below a number and no more than (1-q) n above."""
    below, above = sum(x < number for x in values), sum(x > number for x in values)
    return below <= level * len(values) and above <= (1 - level) * len(values)


@settings(max_examples=200)
@given(HEAPS, CHOICES, ASKED)
def test_the_best_candidates_are_the_quantiles_where_there_are_any(values, candidates, level):
    """A score is 0 exactly at the q-quantiles, among which is SQL's percentile_disc."""
    asked = asked_of(level, [*candidates, *set(values)])
    found = scores(asked, values)
    assert [each == 0 for each in found] == [
        is_quantile(values, c, asked.level) for c in asked.candidates
    ]
    place = max(1, -(-asked.level.numerator * len(values) // asked.level.denominator))
    assert found[asked.candidates.index(sorted(values)[place - 1])] == 0


@settings(max_examples=200)
@given(HEAPS, CHOICES, ASKED)
def test_otherwise_the_best_candidate_is_the_nearest_in_rank(values, candidates, level):
    """A score is the distance of q n from the ranks that a candidate covers."""
    asked = asked_of(level, candidates)
    wanted = asked.level * len(values)
    for c, found in zip(asked.candidates, scores(asked, values), strict=True):
        ranks = range(sum(x < c for x in values), sum(x <= c for x in values) + 1)
        nearest = min(abs(wanted - rank) for rank in (ranks[0], ranks[-1]))
        inside = ranks[0] <= wanted <= ranks[-1]
        assert found == asked.level.denominator * (0 if inside else nearest)


@pytest.fixture(scope="module")
def heaps():
    """Open a table of groups full of ties, nulls, zeros and negatives; one group is empty."""
    random = Random(5)
    rows = [
        {"g": g, "x": random.choice([None, -2, 0, 0, 0, 1, 3, 900_000])}
        for g in range(200)
        for _ in range(random.randrange(1, 40))
    ]
    with table(pa.Table.from_pylist(rows), dimensions=["g"], measures=["x"]) as opened:
        yield opened, rows


@pytest.mark.parametrize("level", ["0.1", "0.25", "0.5", "0.9"])
def test_without_noise_an_answer_is_the_quantile_of_sql(heaps, level):
    """DuckDB's own quantile_disc, or another number that cuts the values in the same shares."""
    opened, rows = heaps
    query = Query().group_by("g", keys=Keys.from_dict({"g": range(201)}))
    asked = query.quantile(
        "x", level, candidates=[-2, -1, 0, 1, 2, 3, 500_000, 900_000], rho=10**6, name="q"
    )
    (found,) = answer(opened, asked)
    source = pa.Table.from_pylist(rows)  # which DuckDB reads by its name
    sql = f"SELECT g, quantile_disc(x, {level}) FROM source GROUP BY g"
    meant = dict(duckdb.sql(sql).fetchall())
    assert len(source) == len(rows)
    same = 0
    for g, number in enumerate(found.table["q"].to_pylist()):
        values = [row["x"] for row in rows if row["g"] == g and row["x"] is not None]
        if values:
            assert is_quantile(values, number, Fraction(level))
            assert is_quantile(values, meant[g], Fraction(level))
            same += number == meant[g]
    assert same > 150  # the others lie between two values that cut in the same shares


def test_the_median_of_two_heaps_is_the_larger_heap():
    """600 zeros and 400 values of 900,000: 0, at any rho, and nothing between them."""
    values, candidates = [0] * 600 + [900_000] * 400, range(0, 1_000_001, 50_000)
    for rho in ("0.01", 1, 100):
        assert chances(values, candidates, "0.5", rho=rho)[0] > 0.999
    assert chances(values, candidates, "0.5", rho=100, of=balanced)[0] < 1e-9  # the broken twin
    asked = asked_of("0.5", candidates)
    assert scores(asked, values).argmin() == 0


def divergences(asked, values, record, rate):
    """Return the largest log ratio, and D_alpha / alpha for a few alphas, both ways the largest."""
    with mpmath.workdps(50):
        slope = mpmath.mpf(rate.numerator) / rate.denominator
        sides = []
        for data in (values, [*values, record]):
            weights = [mpmath.exp(-slope * int(each)) for each in scores(asked, data)]
            total = mpmath.fsum(weights)
            sides.append([weight / total for weight in weights])
        ratio = max(abs(mpmath.log(p / q)) for p, q in zip(*sides, strict=True))
        slopes = [
            mpmath.log(mpmath.fsum(p**alpha * q ** (1 - alpha) for p, q in zip(*way, strict=True)))
            / (alpha - 1)
            / alpha
            for alpha in (mpmath.mpf("1.01"), 2, 4, 16, 64)
            for way in (sides, sides[::-1])
        ]
        return ratio, max(slopes)


@settings(max_examples=150)
@given(DATA, st.integers(-3, 12), CHOICES, ASKED, st.sampled_from(["0.01", "0.3", "2"]))
def test_the_divergence_of_a_record_is_within_the_policy(values, record, candidates, level, rho):
    """The log ratio is within eps and D_alpha within alpha eps^2/8, which is at most alpha rho."""
    asked = asked_of(level, candidates, rho)
    rate = selection_rate(asked, Currency.RHO)
    eps = rate * 2 * max(asked.level, 1 - asked.level) * asked.level.denominator
    assert eps**2 / 8 <= asked.amount
    assert eps**2 / 8 > asked.amount * (1 - Fraction(1, 10**9))  # nothing much is wasted
    ratio, slope = divergences(asked, values, record, rate)
    slack = 1 + mpmath.mpf(10) ** -30
    assert ratio <= slack * mpmath.mpf(eps.numerator) / eps.denominator
    assert slope <= slack * mpmath.mpf((eps**2 / 8).numerator) / (eps**2 / 8).denominator


def test_too_high_a_rate_breaks_both_bounds():
    """The broken twin: a rate that forgets the factor 2 of the exponential mechanism."""
    asked = asked_of("0.5", [0, 10], "0.3")
    rate = selection_rate(asked, Currency.RHO)
    rho, eps = mpmath.mpf("0.3"), mpmath.sqrt(8 * mpmath.mpf("0.3"))
    ratio, slope = divergences(asked, [5], -1, rate)
    assert ratio <= eps
    assert slope <= rho
    ratio, slope = divergences(asked, [5], -1, 2 * rate)
    assert ratio > eps
    assert slope > rho


# -- many groups, many candidates --------------------------------------------------------------


def spread_out(cells, candidates, records, seed=3):
    """Return random counts over cells and buckets, and what is asked of them."""
    wide = 2 * candidates + 1
    codes = np.unique(np.random.default_rng(seed).integers(0, cells * wide, records))
    shuffled = np.random.default_rng(seed).permutation(codes)
    ones = np.ones(len(codes), dtype=np.int64)
    counts = Counts(*map(Confidential, (shuffled // wide, shuffled % wide, ones)))
    return asked_of("0.5", range(candidates)), counts


def peak(asked, counts, cells):
    """Return the most memory that the quantiles of these cells take, in bytes."""
    tracemalloc.start()
    try:
        found = quantile("q", asked, counts, cells, Currency.RHO, None)
        assert len(found.index) == cells
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_many_groups_of_many_candidates_take_bounded_memory():
    """100,000 groups of 100 candidates: never all of their 20 million counts at once."""
    asked, counts = spread_out(100_000, 100, 300_000)
    assert peak(asked, counts, 100_000) < 200e6


def test_memory_without_chunks_is_caught(monkeypatch):
    """The broken twin, a tenth as large: in one chunk it takes many times as much."""
    asked, counts = spread_out(10_000, 100, 30_000)
    monkeypatch.setattr(quantiles, "_ENTRIES", 400_000)
    chunked = peak(asked, counts, 10_000)
    monkeypatch.setattr(quantiles, "_ENTRIES", 10**9)
    assert peak(asked, counts, 10_000) > 3 * chunked


def test_chunks_do_not_change_the_scores(monkeypatch):
    """One cell at a time, a few, or all: the same scores in the same order."""
    asked, counts = spread_out(50, 7, 200)
    found = []
    for entries in (1, 40, 10**6):
        monkeypatch.setattr(quantiles, "_ENTRIES", entries)
        found.append(np.concatenate([revealed(each) for each in scores_of(asked, counts, 50)]))
    assert found[0].shape == (50, 7)
    assert (found[0] == found[2]).all()
    assert (found[1] == found[2]).all()
    assert (found[0] != found[2][::-1]).any()  # the twin: another order


def test_no_groups_give_no_answers():
    """An empty key set has an empty column."""
    asked, counts = spread_out(1, 7, 0)
    assert quantile("q", asked, counts, 0, Currency.RHO, None).values().to_pylist() == []
