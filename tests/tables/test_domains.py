"""Declared domains: positions in key order, and uniform samples of what is free."""

import time
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord.errors import InputError
from perrecord.noise.bits import BitSource, system_bits
from perrecord.noise.uniform import integers_below
from perrecord.tables import domains
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys
from tests.noise.checks import FALSE_ALARM, Replayed, pearson

NONE = np.empty(0, dtype=np.int64)


def domain_of(*sizes):
    """Return a domain with a factor of whole numbers for each size."""
    return Domain.from_dict({f"c{i}": range(size) for i, size in enumerate(sizes)})


SMALL = domain_of(2, 3)
NINE = domain_of(3, 3)
BILLION = domain_of(1000, 1000, 1000)
VAST = domain_of(1000, 7, 10**6, 250_000)
WIDE = 3 * 2**60
"""A bound that 2^64 is no multiple of: a sixteenth of all words must be refused."""


factors = st.lists(st.sets(st.one_of(st.none(), st.text("ab", max_size=2))), min_size=1, max_size=4)


@given(factors)
def test_positions_are_the_rows_of_the_product_of_keys(sets):
    """Decoding every position gives the keys, in their order, with their types."""
    keys = [Keys.from_dict({f"c{i}": sorted(each, key=str)}) for i, each in enumerate(sets)]
    domain = Domain(*keys)
    whole = domain.keys()
    assert domain.size == len(whole)
    assert domain.columns == whole.columns
    assert domain.decode(np.arange(domain.size)).equals(whole.table)
    assert whole == Keys.from_columns(whole.table)  # sorted and distinct


def test_factors_of_several_columns():
    """Counties with their states are one factor."""
    counties = Keys.from_dict({"county": ["48001", "48003", "35001"]})
    kinds = Keys.from_dict({"kind": ["farm", "mill"], "is_new": [True, False]})
    domain = Domain(counties.with_prefix("state", "county", 2), kinds)
    assert domain.columns == ("county", "state", "kind", "is_new")
    assert domain.decode(np.arange(domain.size)).equals(domain.keys().table)
    assert domain.decode(np.array([11, 0])).to_pylist() == [
        {"county": "48003", "state": "48", "kind": "mill", "is_new": True},
        {"county": "35001", "state": "35", "kind": "farm", "is_new": False},
    ]


@given(st.data())
def test_joining_the_factors_by_row_and_stride_gives_the_position_back(data):
    """What an engine does: the row of each factor times its stride, summed."""
    assert VAST.size == 1_750_000_000_000_000
    assert VAST.strides == (7 * 10**6 * 250_000, 10**6 * 250_000, 250_000, 1)
    positions = data.draw(st.lists(st.integers(0, VAST.size - 1), max_size=20))
    found = VAST.decode(np.array(positions, dtype=np.int64))
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    again = [sum(r * s for r, s in zip(row, VAST.strides, strict=True)) for row in rows]
    assert again == positions


def test_domains_are_values():
    """Equal if their factors are; shown by size and columns."""
    first = Domain.from_dict({"s": ["b", "a"], "n": [1, 2, 3]})
    assert first == Domain.from_dict({"s": ["a", "b", "a"], "n": [3, 2, 1]})
    assert hash(first) == hash(Domain(*first.factors))
    assert first != Domain.from_dict({"s": ["b", "a"], "n": [1, 2]})
    assert repr(BILLION) == "Domain(1,000,000,000 of c0, c1, c2)"
    with pytest.raises(AttributeError):
        first.factors = ()


def test_a_domain_without_cells_is_empty():
    """A factor without keys leaves nothing to decode or to draw."""
    domain = Domain.from_dict({"a": [1, 2], "b": [], "c": ["x"]})
    assert domain.size == 0
    assert domain.decode(NONE).num_rows == 0
    assert domain.sample(0, NONE).tolist() == []
    assert len(domain.keys()) == 0


DRAWS = 2_000
"""24 of each of 84 sets, or more; as many catch the broken samplers below."""


def subset_p_value(sample, count, taken, size, draws):
    """Return the p-value of Pearson's test that all free sets of this size are equally likely."""
    free = [position for position in range(size) if position not in taken]
    index = {each: i for i, each in enumerate(combinations(free, count))}
    found = [index[tuple(sample(count, np.array(taken, dtype=np.int64)))] for _ in range(draws)]
    return pearson(np.bincount(found, minlength=len(index)), np.full(len(index), 1 / len(index)))


@pytest.mark.parametrize(
    ("count", "taken"), [(1, [0]), (2, [2, 3, 8]), (3, []), (4, [0, 4, 5]), (5, [1, 7, 8])]
)
def test_every_set_of_free_positions_is_equally_likely(count, taken):
    """Chi-square over all sets of 9 cells, at most 84, few drawn and many; false alarms 1e-7."""

    def sample(count, occupied):
        return NINE.sample(count, occupied).tolist()

    assert subset_p_value(sample, count, taken, 9, DRAWS) > FALSE_ALARM


def least_of_too_many(count, occupied, source):
    """Draw more than needed and keep the least: what a careless cut of a sorted set does."""
    free = np.setdiff1d(np.arange(9), occupied)
    drawn = np.unique(integers_below(len(free), count + 2, source))
    while len(drawn) < count:
        drawn = np.unique(np.append(drawn, integers_below(len(free), 1, source)))
    return free[drawn[:count]].tolist()


def moved_off_the_occupied(count, occupied, source):
    """Draw from all cells and move what is occupied to the next free cell."""
    found = set()
    while len(found) < count:
        position = int(integers_below(9, 1, source)[0])
        while position in occupied:
            position = (position + 1) % 9
        found.add(position)
    return sorted(found)


@pytest.mark.parametrize("broken", [least_of_too_many, moved_off_the_occupied])
def test_a_sample_that_is_not_uniform_is_caught(broken):
    """The same check, the same number of draws."""
    source = Replayed(5)

    def sample(count, occupied):
        return broken(count, occupied, source)

    assert subset_p_value(sample, 2, [2, 3, 8], 9, DRAWS) < FALSE_ALARM


@given(st.integers(0, 60), st.data())
def test_samples_are_sorted_distinct_and_free(size, data):
    """Any occupied cells, any count up to all that is left."""
    taken = sorted(data.draw(st.sets(st.integers(0, size - 1)) if size else st.just(set())))
    count = data.draw(st.integers(0, size - len(taken)))
    found = domain_of(size).sample(count, np.array(taken, dtype=np.int64)).tolist()
    assert len(found) == count
    assert found == sorted({*found} - {*taken})
    assert all(0 <= position < size for position in found)


@pytest.mark.parametrize("count", [0, 1, 500, 899, 900])
def test_a_large_share_of_the_free_cells_ends_at_once(count):
    """Up to the last free cell, drawn as what is left out."""
    taken = np.arange(0, 1000, 10)
    found = domain_of(1000).sample(count, taken)
    assert len(found) == count
    assert not np.isin(found, taken).any()
    assert (np.diff(found) > 0).all()


def test_a_billion_cells_cost_what_is_drawn():
    """A million of 10^9 among 10^5 occupied: no gap, little memory; the limits leave room."""
    taken = np.unique(np.random.default_rng(1).integers(0, BILLION.size, 100_000))
    tracemalloc.start()
    started = time.perf_counter()
    found = BILLION.sample(1_000_000, taken)
    decoded = BILLION.decode(found)
    elapsed, (_, peak) = time.perf_counter() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert elapsed < 5
    assert peak < 200e6
    assert decoded.num_rows == len(found) == 1_000_000
    assert not np.isin(found, taken).any()
    assert (np.diff(found) > 0).all()
    tenths = np.bincount(found // 10**8, minlength=10)
    assert pearson(tenths, np.full(10, 0.1)) > FALSE_ALARM


def test_the_largest_domain():
    """2^62 cells are the most, and are drawn from up to the last."""
    domain = domain_of(2**20, 2**20, 2**20, 4)
    assert domain.size == 2**62
    found = domain.sample(1000, np.array([0, 2**62 - 1]))
    assert found.max() > 2**61  # fails with 2^-1000
    assert domain.decode(np.array([2**62 - 1])).to_pylist() == [
        {"c0": 2**20 - 1, "c1": 2**20 - 1, "c2": 2**20 - 1, "c3": 3}
    ]


class Prepared(BitSource):
    """Hands out prepared words in the first draw, and beyond only ones."""

    def __init__(self, words):
        self._words = words

    def fill(self, buffer):
        """Overwrite the buffer with the prepared words, once, then with ones."""
        buffer[:] = 255 if self._words is None else self._words.view(np.uint8)
        self._words = None


def test_words_that_would_favour_small_integers_are_drawn_again():
    """2^64 mod (3 * 2^60) = 2^60: so many are refused, and each remainder is left five times."""
    refused = 2**60
    words = np.array([0, refused - 1, refused, refused + WIDE - 1], dtype=np.uint64)
    found = integers_below(WIDE, 4, Prepared(words)).tolist()
    last = (2**64 - 1) % WIDE
    assert found == [refused, refused - 1, last, last]


def test_uniform_integers_are_uniform():
    """Chi-square, false alarms 1e-7 each; remainders without the refusal are rejected."""
    for bound in (1, 2, 7, 1000):
        counts = np.bincount(integers_below(bound, 300_000, system_bits()), minlength=bound)
        assert bound == 1 or pearson(counts, np.full(bound, 1 / bound)) > FALSE_ALARM
    wide = integers_below(WIDE, 300_000, system_bits()) // 2**60
    assert pearson(np.bincount(wide), np.full(3, 1 / 3)) > FALSE_ALARM
    biased = Replayed(1).words64(300_000) % np.uint64(WIDE) // np.uint64(2**60)
    assert pearson(np.bincount(biased.astype(np.int64)), np.full(3, 1 / 3)) < FALSE_ALARM


def test_keys_are_written_out_up_to_a_limit(monkeypatch):
    """Beyond, the message says what to do instead."""
    monkeypatch.setattr(domains, "_MOST_KEYS", 6)
    assert len(domain_of(2, 3).keys()) == 6
    with pytest.raises(InputError, match="has 8 cells; at most 6 are written out"):
        domain_of(2, 4).keys()


BAD = [
    (Domain, "made of nothing; expected key sets"),
    (lambda: Domain({"a": [1]}), "made of dict; expected key sets"),
    (lambda: Domain.from_dict([1]), "the domain is a list; expected lists of values by column"),
    (lambda: Domain.from_dict({}), "made of nothing"),
    (lambda: Domain(*SMALL.factors, *SMALL.factors), "two factors of the domain name c0, c1"),
    (lambda: domain_of(*[100_000] * 4), r"has about 2\^67 cells; expected at most 2\^62"),
    (lambda: domain_of(*[1000] * 200), r"has about 2\^1994 cells; expected at most 2\^62"),
    (BILLION.keys, "1,000,000,000 cells; at most 50,000,000"),
    (lambda: SMALL.decode([0, 1]), "the positions are not a list of int64"),
    (lambda: SMALL.decode(np.array([0.0])), "the positions are not a list of int64"),
    (lambda: SMALL.decode(np.array([[0]])), "the positions are not a list of int64"),
    (lambda: SMALL.decode(np.array([6])), "the positions leave the domain; expected each from 0"),
    (lambda: SMALL.decode(np.array([-1])), "the positions leave the domain"),
    (lambda: SMALL.sample(1, np.array([6])), "the occupied positions leave the domain"),
    (lambda: SMALL.sample(1, np.array([2, 1])), "the occupied positions do not rise"),
    (lambda: SMALL.sample(1, np.array([1, 1])), "the occupied positions do not rise"),
    (lambda: SMALL.sample(-1, NONE), "the number of positions is -1; expected 0 or more"),
    (lambda: SMALL.sample(1.0, NONE), "the number of positions is a float"),
    (lambda: SMALL.sample(6, np.array([1])), "more positions were asked for than"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_domains_and_positions_say_what_is_wrong(make, message):
    """Each mistake is named, with what to give instead; no occupied position is shown."""
    with pytest.raises(InputError, match=message):
        make()
