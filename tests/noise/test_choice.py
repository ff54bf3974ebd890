"""The exponential mechanism: exact probabilities, by floats where they decide and by balls else."""

import time
from fractions import Fraction
from itertools import accumulate

import mpmath
import numpy as np
import pytest
from flint import arb

from perrecord.errors import InexactNumberError, InputError
from perrecord.laws.enclosure import ball, precision
from perrecord.noise import choice, choose
from perrecord.noise.uniform import CERTAIN, MARGIN, Certainty
from tests import first
from tests.noise.checks import FALSE_ALARM, Replayed, pearson
from tests.noise.test_exactness import Rigged

UNIT = Fraction(1, 2**53)
ALL_OPEN = Certainty(64, 1.0)
"""The same 64 bits, but floats decide nothing."""

LAWS = [
    ([0, 1, 2, 3, 4, 5, 6, 7], "0.5"),
    ([9, 4, 1, 0, 1, 4, 9], "1/3"),
    ([5, 5, 5, 5], "2"),
    ([10**17, 10**17 + 3, 10**17 + 1], "0.7"),
    ([0, 10**15, 3 * 10**15], "1e-15"),
    ([2, 0], "3"),
    ([7], "1"),
]


def probabilities(scores, rate):
    """Return the exact probabilities, rounded only at the end."""
    with mpmath.workdps(60):
        slope = mpmath.mpf(Fraction(rate).numerator) / Fraction(rate).denominator
        weights = [mpmath.exp(-slope * (score - min(scores))) for score in scores]
        return np.array([float(weight / mpmath.fsum(weights)) for weight in weights])


def reference(scores, rate, word):
    """Return the choice for U = word / 2^64, which it asserts no boundary is near to."""
    with mpmath.workdps(80):
        slope = mpmath.mpf(Fraction(rate).numerator) / Fraction(rate).denominator
        weights = [mpmath.exp(-slope * (score - min(scores))) for score in scores]
        point = mpmath.mpf(word) / 2**64 * mpmath.fsum(weights)
        ends = list(accumulate(weights))[:-1]
        assert all(abs(end - point) > mpmath.mpf(2) ** -60 for end in ends)
        return sum(end <= point for end in ends)


def p_value(scores, rate, chosen):
    """Return the p-value of Pearson's test of these choices against the law."""
    counts = np.bincount(chosen, minlength=len(scores))
    return pearson(counts, probabilities(scores, rate), 200.0) if len(scores) > 1 else 1.0


@pytest.mark.parametrize("count", first(1, [200_000, 1_000_000]))
@pytest.mark.parametrize(("scores", "rate"), LAWS)
def test_choices_have_the_law(scores, rate, count):
    """Chi-square on so many choices; a false alarm in 10^7 runs."""
    chosen = choose(np.tile(np.array(scores), (count, 1)), rate)
    assert p_value(scores, rate, chosen) > FALSE_ALARM


@pytest.mark.parametrize("certainty", [Certainty(8, 2.0**-7), ALL_OPEN])
@pytest.mark.parametrize(("scores", "rate"), first(2, LAWS[:5]))
def test_the_exact_path_has_the_same_law(scores, rate, certainty):
    """Short words and wide margins: many rows, or all, are settled by balls."""
    chosen = choose(np.tile(np.array(scores), (10_000, 1)), rate, _certainty=certainty)
    assert p_value(scores, rate, chosen) > FALSE_ALARM


def off_by_one_boundary(scores, rate, seed):
    """Choose, but give the word's neighbour the choice in one row of 200."""
    chosen = choose(scores, rate, _bits=Replayed(seed))
    chosen[::200] = (chosen[::200] + 1) % scores.shape[1]
    return chosen


def rate_wrong_by_one_percent(scores, rate, seed):
    """Choose with another rate."""
    return choose(scores, Fraction(rate) * Fraction(101, 100), _bits=Replayed(seed))


def tail_cut(scores, rate, seed):
    """Choose, but never a candidate of probability below a thousandth."""
    rare = np.flatnonzero(probabilities(scores[0].tolist(), rate) < 1e-3)
    chosen = choose(scores, rate, _bits=Replayed(seed))
    return np.where(np.isin(chosen, rare), scores[0].argmin(), chosen)


@pytest.mark.parametrize(
    "broken",
    [off_by_one_boundary, rate_wrong_by_one_percent, tail_cut],
    ids=lambda f: f.__name__,
)
def test_a_broken_choice_is_caught(broken):
    """The same check rejects it."""
    scores, rate = [0, 1, 2, 3, 4, 5, 6, 15], "0.5"
    many = np.tile(np.array(scores), (1_000_000, 1))
    assert p_value(scores, rate, choose(many, rate, _bits=Replayed(7))) > 1e-3
    assert p_value(scores, rate, broken(many, rate, seed=7)) < FALSE_ALARM


@pytest.mark.parametrize(("most", "rate"), [(30, "0.2"), (10**6, "1e-5"), (2**62, "1e-18")])
@pytest.mark.parametrize("candidates", first(3, [1, 2, 17, 100]))
def test_choices_agree_with_a_slow_reference_on_the_same_bits(most, rate, candidates):
    """Row by row, by sums of 80 digits."""
    scores = np.random.default_rng(3).integers(0, most, (200, candidates))
    chosen = choose(scores, rate, _bits=Replayed(candidates))
    words = Replayed(candidates).words64(len(scores)).tolist()
    expected = [
        reference(row, rate, word) for row, word in zip(scores.tolist(), words, strict=True)
    ]
    assert chosen.tolist() == expected


@pytest.mark.parametrize(("most", "rate"), [(30, "0.2"), (10**6, "1e-5"), (2**62, "1e-18")])
@pytest.mark.parametrize("candidates", [1, 2, 50, 700])
def test_floats_and_balls_choose_the_same(most, rate, candidates):
    """With the same 64 bits; what is drawn beyond them can decide nothing else."""
    scores = np.random.default_rng(4).integers(0, most, (60, candidates))
    fast = choose(scores, rate, _bits=Replayed(11))
    slow = choose(scores, rate, _bits=Replayed(11), _certainty=ALL_OPEN)
    assert fast.tolist() == slow.tolist()


def test_rows_do_not_depend_on_how_they_are_cut(monkeypatch):
    """Chunks of one row, of seven rows, of all."""
    scores = np.random.default_rng(5).integers(0, 50, (1000, 9))
    found = []
    for entries in (1, 63, 1 << 20):
        monkeypatch.setattr(choice, "_ENTRIES", entries)
        found.append(choose(scores, "0.1", _bits=Replayed(1)).tolist())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("scores", "rate"), [([0, 1, 3, 7, 2], "0.3"), ([50, 0, 2, 11], "0.1")])
def test_all_short_words_enclose_every_probability(scores, rate):
    """Words of 12 bits; open rows are continued with zeros, then with ones: both agree or enclose.

    A candidate has two ends, each inside one word.
    """
    bits = 12
    words = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    many = np.tile(np.array(scores), (len(words), 1))
    low, high = (
        choose(many, rate, _bits=Rigged([], [words], ones), _certainty=Certainty(bits, 2.0**-11))
        for ones in (False, True)
    )
    for index, truth in enumerate(probabilities(scores, rate)):
        sure = ((low == index) & (high == index)).sum() / len(words)
        perhaps = ((low <= index) & (index <= high)).sum() / len(words)
        assert sure <= truth <= perhaps
        assert perhaps - sure <= 2 / len(words)


def gap_errors(scores, rate):
    """Return |gap in floats - gap| / (u n W), the greatest over all j, for a few values of U."""
    sums = choice._sums(scores, rate)
    worst = 0.0
    with precision(192):
        for row, floats in zip(scores.tolist(), sums.tolist(), strict=True):
            reached, exact = arb(0), []
            for score in row:
                reached += ball(-rate * (score - min(row))).exp()
                exact.append(reached)
            for uniform in (0.0, 0.3, 0.7, 1 - 2.0**-53):
                for end, true_end in zip(floats[:-1], exact[:-1], strict=True):
                    gap = uniform * floats[-1] - end
                    true_gap = ball(Fraction(uniform)) * reached - true_end
                    error = abs(ball(Fraction(gap)) - true_gap) / reached
                    worst = max(worst, float(error.upper()) / float(UNIT * len(row)))
    return worst


@pytest.mark.parametrize(("most", "rate"), [(2, "1e-3"), (30, "0.2"), (2**62, "1e-18"), (9, "60")])
@pytest.mark.parametrize("candidates", [2, 5, 33, 300])
def test_the_gap_is_within_the_bound_of_lemma_7(most, rate, candidates):
    """26u n W less the u W for bits of U beyond 53, on random rows."""
    rows = 2000 // candidates
    scores = np.random.default_rng(candidates).integers(0, most, (rows, candidates))
    worst = gap_errors(scores, Fraction(rate))
    assert worst <= 25
    assert MARGIN * -(-candidates // 32) >= float(64 * candidates * UNIT)


def test_a_gap_outside_the_bound_would_be_seen(monkeypatch):
    """A rate wrong by one part in 2^46 is."""
    assert gap_errors(np.array([[0, 1, 2]]), Fraction(1)) < 25
    right = choice._sums
    monkeypatch.setattr(
        choice, "_sums", lambda scores, rate: right(scores, rate * (1 + 512 * UNIT))
    )
    assert gap_errors(np.array([[0, 1, 2]]), Fraction(1)) > 25


def test_the_unlikeliest_candidate_is_chosen_by_the_bits_that_stand_for_it():
    """exp(-300) is below 2^-432: all zeros choose it, a one somewhere before does not."""
    scores, zero = np.array([[300, 0]]), np.zeros(1, dtype=np.uint64)
    assert choose(scores, 1, _bits=Rigged([], [zero], ones=False)).tolist() == [0]
    assert choose(scores, 1, _bits=Rigged([], [zero], ones=True)).tolist() == [1]


@pytest.mark.parametrize("certainty", [CERTAIN, ALL_OPEN])
@pytest.mark.parametrize("rate", ["1e-900", "1e-310", "1e-18", "1", "1e18", "1e300", "1e900"])
def test_extremes_neither_overflow_nor_stall(rate, certainty):
    """Scores up to the last int64, rates that no float holds."""
    top = 2**63 - 1
    scores = np.array([[top, 0, 2**62], [top, top, top - 1], [0, 0, 0], [2**62, 1, 0]])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        chosen = choose(np.tile(scores, (50, 1)), rate, _certainty=certainty).reshape(50, 4)
    assert ((chosen >= 0) & (chosen < 3)).all()
    assert len(set(chosen[:, 2].tolist())) == 3  # fails with 3 (2/3)^50 < 5e-9
    if Fraction(rate) >= 10**18:
        assert (chosen[:, [0, 1, 3]] == [1, 2, 2]).all()
    if Fraction(rate) < Fraction("1e-300"):
        assert all(len(set(column.tolist())) == 3 for column in chosen.T)


def test_no_groups_give_an_empty_array():
    """Their number is a count like any other."""
    chosen = choose(np.empty((0, 5), dtype=np.int64), "0.1")
    assert chosen.shape == (0,)
    assert chosen.dtype == np.int64


GOOD = np.array([[0, 3], [2, 0]])


@pytest.mark.parametrize(
    ("scores", "rate", "message"),
    [
        ([[0, 3]], 1, "the scores are a list; expected an array: np.array"),
        (GOOD * 1.0, 1, "the scores are float64; expected int64"),
        (GOOD == 0, 1, "the scores are bool; expected int64"),
        (GOOD[0], 1, "the scores have 1 dimensions; expected 2"),
        (GOOD[:, :0], 1, "the scores have no column"),
        (GOOD[:0, :0], 1, "the scores have no column"),
        (-GOOD, 1, "a score is below 0; expected 0"),
        (GOOD, 0, "the rate is 0 or below; expected a number above 0"),
        (GOOD, "-0.5", "the rate is 0 or below"),
    ],
)
def test_bad_input_is_refused_by_name(scores, rate, message):
    """What was found, what was expected; no score is shown."""
    with pytest.raises(InputError, match=message):
        choose(scores, rate)


@pytest.mark.parametrize("rate", [0.5, float("nan"), "inf"])
def test_a_rate_that_is_not_exact_is_refused(rate):
    """A rational is needed."""
    with pytest.raises(InexactNumberError, match="the rate"):
        choose(GOOD, rate)


def test_many_groups_take_less_than_a_second_or_two():
    """100,000 groups of 100 candidates; the limit leaves room for a busy machine."""
    scores = np.random.default_rng(0).integers(0, 2000, (100_000, 100))
    started = time.perf_counter()
    choose(scores, "0.01")
    assert time.perf_counter() - started < 5
