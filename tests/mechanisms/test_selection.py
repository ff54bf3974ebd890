"""Finding the cells to publish: threshold selection, and the sparse sweep of a domain (T9)."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from perrecord import DiscreteGaussian, Policy, QueryError, Split
from perrecord.confidential.held import Confidential
from perrecord.laws.scales import GaussianScale
from perrecord.mechanisms import run as running
from perrecord.mechanisms.additive import draw
from perrecord.mechanisms.run import answer
from perrecord.mechanisms.selection import check_sparse, selected_cells, selected_keys
from perrecord.queries.cells import Occupied, OccupiedDomain
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.methods import Scales
from perrecord.queries.noise_plan import NoisePlan
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.tables.domains import Domain
from perrecord.tables.table import table
from tests import first
from tests.noise.checks import FALSE_ALARM, Replayed, p_value, pearson

SCHEME = Split(emp=50)
CHOSEN = SelectKeys(rho="0.1", delta="1e-6", split=SCHEME)
LAW = DiscreteGaussian.for_zcdp("0.1")
EXACTLY = 10**9
"""A rho at which noise other than 0 has probability exp(-10^9)."""


def tail(law, start):
    """Return Pr[Z >= start] as a float."""
    return float(law.tail(start))


# -- threshold selection: the law --------------------------------------------------------------


def published(select, pieces, count, bits):
    """Return the noisy numbers of the published ones among so many lone records."""
    keys = pa.table({"k": pa.array(np.arange(count))})
    occupied = Occupied(Confidential(keys), Confidential(np.full(count, pieces)))
    return select(CHOSEN, occupied, bits).by.numbers


def selection_p_value(select, pieces, count=100_000, bits=None):
    """Return the p-value of who is published and with which number: m + Z, if that reaches 13."""
    numbers = published(select, pieces, count, bits)
    values = range(13, pieces + 14)
    chances = [1 - tail(LAW, 13 - pieces)]
    chances += [float(LAW.pmf(value - pieces)) for value in values]
    chances += [tail(LAW, pieces + 14 - pieces)]
    counts = [count - len(numbers)]
    counts += [int((numbers == value).sum()) for value in values]
    counts += [int((numbers >= pieces + 14).sum())]
    return pearson(np.array(counts), np.array(chances), 200.0)


def tardy(cells, occupied, bits):
    """Publish from 14 rows on: broken."""
    return selected_keys(SelectKeys(rho="0.1", threshold=14, split=SCHEME), occupied, bits)


def noiseless(cells, occupied, bits):
    """Compare the exact number of rows with the threshold: broken."""
    return selected_keys(SelectKeys(rho=EXACTLY, threshold=13, split=SCHEME), occupied, bits)


def noisier(cells, occupied, bits):
    """Add noise of variance 1/rho, not 1/(2 rho): broken."""
    return selected_keys(SelectKeys(rho="0.05", threshold=13, split=SCHEME), occupied, bits)


@pytest.mark.parametrize("pieces", [1, 5, 10, 12, 13, 20])
def test_a_lone_record_is_published_with_the_chance_of_its_pieces(pieces):
    """Pr[Z >= tau - m], and m + Z is the number beside it; false alarm 1e-7 each."""
    assert selection_p_value(selected_keys, pieces) > FALSE_ALARM


@pytest.mark.parametrize("broken", [tardy, noiseless, noisier])
def test_a_wrong_threshold_or_noise_is_caught(broken):
    """The broken twins of the test above."""
    assert selection_p_value(broken, 12, bits=Replayed(1)) < FALSE_ALARM


def test_lone_records_of_a_table_are_published_with_the_chance_of_their_pieces():
    """T9's numbers from the table to the answer: 25 sizes, false alarm 1e-7 in all."""
    each = 2000
    pieces = np.repeat(np.arange(1, 26), each)
    source = pa.table({"k": np.arange(len(pieces)), "emp": pieces * 50 - 7})
    with table(source, dimensions=["k"], measures=["emp"]) as opened:
        (found,) = answer(opened, Query().group_by("k", keys=CHOSEN).count(rho=EXACTLY))
    chosen = np.bincount(pieces[np.asarray(found.keys["k"])], minlength=26)[1:]
    p_values = [
        stats.binomtest(int(count), each, tail(LAW, 13 - size)).pvalue
        for size, count in enumerate(chosen, start=1)
    ]
    assert min(p_values) > FALSE_ALARM / 25
    shifted = stats.binomtest(int(chosen[11]), each, tail(LAW, 13 - 11)).pvalue
    assert shifted < FALSE_ALARM / 25  # the twin: the chance of one piece fewer


def test_the_threshold_and_the_deltas_are_those_of_the_theory():
    """With rho = 0.1, delta = 1e-6: tau = 13, and delta(m) for m = 1, 5, 10, 20."""
    assert CHOSEN.threshold == 13
    policy = Policy.selection("0.1", ["k"], split=SCHEME, threshold=CHOSEN.threshold)
    shown = [f"{float(policy.delta({'k': 'a', 'emp': 50 * m})):.1e}" for m in (1, 5, 10)]
    assert shown == ["1.1e-07", "3.6e-04", "1.3e-01"]
    assert round(float(policy.delta({"k": "a", "emp": 1000})), 4) == 0.9996
    assert tail(LAW, 12 - 1) > 1e-6  # 12 would not do


# -- threshold selection: from a table to answers and charges ----------------------------------

ROWS = [
    ("NC", 2, 120), ("NC", 2, 0), ("NC", -1, 50), ("é", 2, 500), ("e\u0301", 2, 500),
    (None, 2, 151), (None, None, 300), ("", None, 101), ("TX", 7, 51), ("TX", 8, 50),
    ("𝔘", 1, 149), ("TX", 9, None), ("Z", 1, -149),
]  # fmt: skip
SOURCE = pa.table(
    {
        "state": pa.array([row[0] for row in ROWS]),
        "code": pa.array([row[1] for row in ROWS], pa.int64()),
        "emp": pa.array([row[2] for row in ROWS], pa.int64()),
    }
)


@pytest.fixture
def opened():
    """Open the small table of states and codes."""
    with table(SOURCE, dimensions=["state", "code"], measures=["emp"]) as found:
        yield found


def asked(**amounts):
    """Return a count and a total, exact unless amounts are given."""
    return (
        Query()
        .count(rho=amounts.get("count", EXACTLY))
        .sum("emp", split=SCHEME, rho=amounts.get("sum", EXACTLY))
    )


def expected(columns, least, rows=ROWS):
    """Return the published rows when there is no noise: keys sorted by bytes, NULL last."""
    cells = {}
    for state, code, emp in rows:
        key = tuple({"state": state, "code": code}[name] for name in columns)
        pieces, count, total = cells.get(key, (0, 0, 0))
        cells[key] = pieces + SCHEME.pieces({"emp": emp}), count + 1, total + (emp or 0)
    kept = [(*key, *cell[1:]) for key, cell in cells.items() if cell[0] >= least]
    return sorted(kept, key=lambda row: [_sortable(part) for part in row[: len(columns)]])


def _sortable(part):
    return (part is None, part.encode() if isinstance(part, str) else part or 0)


def rows_of(answers):
    """Return the rows of an answer as tuples."""
    return [tuple(row.values()) for row in answers.table.to_pylist()]


def test_keys_of_several_columns_come_sorted_with_their_own_numbers(opened):
    """Text of any alphabet, negative codes and NULL, each beside the count and total it has."""
    chosen = SelectKeys(rho=EXACTLY, threshold=3, split=SCHEME)
    (found,) = answer(opened, asked().group_by("state", "code", keys=chosen))
    wanted = expected(("state", "code"), 3)
    assert rows_of(found) == wanted
    assert (None, None, 1, 300) in wanted
    assert ("", None, 1, 101) in wanted
    moved = replace(found, keys=found.keys.take(np.roll(np.arange(len(found)), 1)))
    assert rows_of(moved) != wanted  # the twin: keys that are not in step


def test_no_key_is_published_that_no_record_has(opened):
    """However low the threshold, keys come from the records alone, and none without a filter."""
    chosen = SelectKeys(rho="0.1", threshold=-1000, split=SCHEME)
    (found,) = answer(opened, asked().group_by("state", "code", keys=chosen))
    assert rows_of(found) == expected(("state", "code"), -1000)
    (found,) = answer(opened, asked().where("code > 100").group_by("state", keys=chosen))
    assert rows_of(found) == []
    assert found.table.column_names == ["state", "count", "sum_emp"]


def test_selection_and_answers_are_charged_apart(opened):
    """Keys cost rho m^2 and delta(m); the count and the total have prices of their own."""
    query = asked(count="0.3", sum="0.2").group_by("state", keys=CHOSEN)
    (found,) = answer(opened, query)
    assert [name for name, _ in found.charges] == ["keys", "count", "sum_emp"]
    for m, delta in ((5, 3.6e-4), (10, 0.13), (20, 0.9996)):
        record = {"state": "NC", "code": 1, "emp": 50 * m - 1}
        assert found.policy_of("keys").loss(record) == Fraction("0.1") * m**2
        assert float(found.policy_of("keys").delta(record)) == pytest.approx(delta, rel=0.02)
        assert found.policy_of("count").loss(record) == Fraction("0.3")
        assert found.policy_of("sum_emp").loss(record) == Fraction("0.2") * m**2
        assert found.policy.loss(record) == Fraction("0.3") * (m**2 + 1)
        assert found.policy.delta(record) == found.policy_of("keys").delta(record)
        assert not found.policy_of("count").delta(record)
    without = Policy.total(policy for name, policy in found.charges if name != "keys")
    assert found.policy != without  # the twin: keys for nothing


def test_without_a_split_every_record_is_one_row(opened):
    """Then the selection costs rho and the delta that was promised."""
    chosen = SelectKeys(rho=1, delta="1e-6")
    (found,) = answer(opened, asked(count=1, sum=1).group_by("state", keys=chosen))
    record = {"state": "NC", "code": 1, "emp": 10**6}
    assert found.policy_of("keys").loss(record) == 1
    assert 0 < found.policy_of("keys").delta(record) <= Fraction("1e-6")
    chosen = SelectKeys(rho=EXACTLY, threshold=3)
    (found,) = answer(opened, asked().group_by("state", keys=chosen))
    assert [row[:2] for row in rows_of(found)] == [("NC", 3), ("TX", 3)]


def test_each_grouping_set_selects_and_is_charged_separately(opened):
    """A state may be published whose codes are not; two selections have two deltas."""
    chosen = SelectKeys(rho=EXACTLY, threshold=4, split=SCHEME)
    fine, coarse, total = answer(opened, asked().rollup("state", "code", keys=chosen))
    assert rows_of(fine) == expected(("state", "code"), 4)
    assert rows_of(coarse) == expected(("state",), 4)
    assert "TX" in coarse.keys["state"].to_pylist()
    assert "TX" not in fine.keys["state"].to_pylist()
    assert rows_of(total) == [(len(ROWS), sum(row[2] or 0 for row in ROWS))]
    priced = asked(count=1, sum=1).rollup("state", "code", keys=CHOSEN)
    planned = plan(priced, opened.schema)
    record = {"state": "NC", "code": 1, "emp": 500}
    selecting = [each.selection for each in planned.groupings]
    assert [each is None for each in selecting] == [False, False, True]
    assert planned.policy.loss(record) == 2 * Fraction("0.1") * 100 + 3 * (1 + 100)
    once = selecting[0].delta(record)
    assert float(planned.policy.delta(record)) == pytest.approx(float(1 - (1 - once) ** 2))
    assert planned.policy.delta(record) > once  # the twin: one selection for both


def test_only_records_inside_the_filter_select_keys_and_pay(opened):
    """Outside a listed condition nobody is counted and nobody loses anything."""
    chosen = SelectKeys(rho=EXACTLY, threshold=3, split=SCHEME)
    query = asked().where("state IN ('TX', 'NC') AND emp > 0").group_by("code", keys=chosen)
    (found,) = answer(opened, query)
    inside = [row for row in ROWS if row[0] in ("TX", "NC") and (row[2] or 0) > 0]
    assert rows_of(found) == expected(("code",), 3, inside) != expected(("code",), 3)
    (found,) = answer(
        opened, replace(query, groupings=asked().group_by("code", keys=CHOSEN).groupings)
    )
    assert found.policy_of("keys").loss({"state": "NC", "code": 2, "emp": 100}) == Fraction("0.4")
    outside = {"state": "Z", "code": 2, "emp": 100}
    assert found.policy.loss(outside) == 0
    assert found.policy.delta(outside) == 0


def test_a_group_of_records_is_as_visible_as_their_pieces_together(opened):
    """Two of 5 pieces in one key: delta(10), not twice delta(5); in two keys, either."""
    policy = plan(asked(count=1, sum=1).group_by("state", keys=CHOSEN), opened.schema).policy
    five, ten = ({"state": "NC", "code": 1, "emp": 50 * m} for m in (5, 10))
    assert policy.group_delta([five, five]) == policy.delta(ten) > 300 * policy.delta(five)
    apart = policy.group_delta([five, {**five, "state": "TX"}])
    assert float(apart) == pytest.approx(float(1 - (1 - policy.delta(five)) ** 2))
    with_code = plan(asked(count=1, sum=1).group_by("code", keys=CHOSEN), opened.schema).policy
    assert with_code.group_delta([five, {**five, "state": "TX"}]) == policy.delta(ten)


def test_the_noisy_numbers_of_rows_come_with_the_keys_when_asked(opened):
    """They have been paid for; every one of them reaches the threshold."""
    chosen = SelectKeys(rho=1, threshold=3, split=SCHEME, rows_as="pieces")
    (found,) = answer(opened, Query().group_by("state", keys=chosen).count(rho=1))
    assert [each.name for each in found.columns] == ["pieces", "count"]
    assert (found.column("pieces").numbers >= 3).all()
    assert found.policy == Policy.constant(1) + Policy.selection(
        1, ["state"], threshold=3, split=SCHEME
    )


def test_the_numbers_of_rows_stand_beside_their_own_keys(opened):
    """Without noise they are the pieces of the records of each key."""
    chosen = SelectKeys(rho=EXACTLY, threshold=2, split=SCHEME, rows_as="pieces")
    (found,) = answer(opened, Query().group_by("state", keys=chosen).count(rho=1))
    pieces = Counter()
    for state, _, emp in ROWS:
        pieces[state] += SCHEME.pieces({"emp": emp})
    states = found.table["state"].to_pylist()
    assert dict(zip(states, found.table["pieces"].to_pylist(), strict=True)) == pieces
    assert len({*pieces.values()}) > 3  # numbers beside other keys would be seen


@pytest.mark.parametrize(
    ("options", "name", "message"),
    [
        ({}, "keys", "keys names an answer"),
        ({"rows_as": "n"}, "n", "n names an answer"),
        ({"rows_as": "state"}, "n", "state names an answer or a column"),
        ({"split": Split.by("state", {"TX": SCHEME})}, "n", "has no default"),
    ],
)
def test_a_selection_that_cannot_be_told_apart_is_refused(opened, options, name, message):
    """Names that clash, and a split under which some records have no number of pieces."""
    chosen = SelectKeys(rho=1, threshold=3, **options)
    asked = Query().group_by("state", keys=chosen).count(rho=1, name=name)
    with pytest.raises(QueryError, match=message):
        plan(asked, opened.schema)


def test_an_answer_may_be_named_rows(opened):
    """It is the count that was asked for, not the number of split rows behind the selection."""
    chosen = SelectKeys(rho=EXACTLY, threshold=3, split=SCHEME)
    (found,) = answer(
        opened, Query().group_by("state", keys=chosen).count(rho=EXACTLY, name="rows")
    )
    assert rows_of(found) == [row[:2] for row in expected(("state",), 3)]


# -- sparse selection: the law -----------------------------------------------------------------

SPARSE = DiscreteGaussian(5)


def noise_of(law, step=1):
    """Return the noise plan of a law."""
    return NoisePlan(Fraction(step), Scales(GaussianScale(law.sigma_squared * step**2), None), {})


def dense(cells, positions, exact, noise, bits):
    """Add noise to every cell of the domain, then compare: what the sparse way must equal."""
    every = np.zeros(cells.domain.size, dtype=np.int64)
    every[positions] = exact
    every = every + draw(noise.law(noise.scales.at({})), len(every), bits)
    return np.flatnonzero(every >= cells.at_least), every[every >= cells.at_least]


def sparse(cells, positions, exact, noise, bits):
    """Return the same from the sparse way."""
    occupied = OccupiedDomain(Confidential(positions), Confidential(exact))
    found = selected_cells(cells, occupied, noise, bits)
    return np.asarray(found.keys.table["k"]), found.by.numbers


def without_empty(cells, positions, exact, noise, bits):
    """Forget the empty cells: broken."""
    places, numbers = sparse(cells, positions, exact, noise, bits)
    kept = np.isin(places, positions)
    return places[kept], numbers[kept]


def unconditioned(cells, positions, exact, noise, bits):
    """Give empty cells that pass the size of any noise, raised to the threshold: broken."""
    places, numbers = sparse(cells, positions, exact, noise, bits)
    drawn = np.maximum(cells.at_least, draw(SPARSE, len(numbers), bits))
    return places, np.where(np.isin(places, positions), numbers, drawn)


def first_cells(cells, positions, exact, noise, bits):
    """Let the right number of empty cells pass, always the first ones: broken."""
    places, numbers = sparse(cells, positions, exact, noise, bits)
    kept = np.isin(places, positions)
    free = np.setdiff1d(np.arange(cells.domain.size), positions)[: (~kept).sum()]
    moved = np.concatenate([places[kept], free])
    return moved, np.concatenate([numbers[kept], numbers[~kept]])


def pattern_p_value(select, count, bits=None):
    """Return the p-value of which of five cells pass together, over many runs."""
    cells = SelectCells(Domain.from_dict({"k": range(5)}), answer="count", at_least=2)
    positions, exact = np.array([1, 3]), np.array([-1, 3])
    values = np.zeros(5)
    values[positions] = exact
    passes = [tail(SPARSE, 2 - int(value)) for value in values]
    chances = [
        np.prod([p if hit else 1 - p for p, hit in zip(passes, each, strict=True)])
        for each in product((False, True), repeat=5)
    ]
    noise, powers = noise_of(SPARSE), 2 ** np.arange(4, -1, -1)
    codes = [powers[select(cells, positions, exact, noise, bits)[0]].sum() for _ in range(count)]
    return pearson(np.bincount(codes, minlength=32), np.array(chances))


def value_p_value(select, bits=None):
    """Return the p-value of places and values in one run over many cells, half of them occupied.

    Occupied cells hold 3; each cell's number is an independent draw, so the values are counted.
    """
    size, start = 200_000, 4
    cells = SelectCells(Domain.from_dict({"k": range(size)}), answer="count", at_least=start)
    positions = np.arange(0, size, 2)
    exact = np.full(len(positions), 3)
    places, numbers = select(cells, positions, exact, noise_of(SPARSE), bits)
    p_values = [pearson(np.bincount(places * 50 // size, minlength=50), np.full(50, 1 / 50))]
    for held, mine in ((3, numbers[places % 2 == 0]), (0, numbers[places % 2 == 1])):
        chances = [1 - tail(SPARSE, start - held)]
        chances += [float(SPARSE.pmf(value - held)) for value in range(start, 13)]
        chances += [tail(SPARSE, 13 - held)]
        counts = [size // 2 - len(mine), *(int((mine == v).sum()) for v in range(start, 13))]
        counts += [int((mine >= 13).sum())]
        p_values.append(pearson(np.array(counts), np.array(chances), 200.0))
    return min(1.0, 3 * min(p_values))


@pytest.mark.parametrize("runs", first(1, [500, 1500]))
@pytest.mark.parametrize("select", [sparse, dense])
def test_the_sparse_way_has_the_law_of_noise_on_every_cell(select, runs):
    """Which cells pass together, where they lie, which values they have; false alarm 1e-7 each.

    Of small domains there are too few runs to vouch for that rate: those bits are replayed.
    """
    assert pattern_p_value(select, runs, Replayed(5)) > 0.001
    assert value_p_value(select) > FALSE_ALARM


@pytest.mark.parametrize("broken", [without_empty, unconditioned, first_cells])
def test_a_sparse_way_of_another_law_is_caught(broken):
    """Empty cells forgotten, values not conditioned, places not uniform."""
    assert value_p_value(broken, Replayed(2)) < FALSE_ALARM


def test_patterns_tell_that_empty_cells_are_forgotten():
    """The broken twin of the joint law over small domains."""
    assert pattern_p_value(without_empty, 300, Replayed(3)) < FALSE_ALARM


# -- sparse selection: from a table to answers -------------------------------------------------


def test_records_outside_the_domain_are_dropped(opened):
    """Their cells are never published, and they are no part of those that are."""
    domain = Domain.from_dict({"state": ["NC", "TX", "AK", None], "code": [2, 7, None]})
    cells = SelectCells(domain, answer="count", at_least=1)
    (found,) = answer(opened, asked().group_by("state", "code", keys=cells))
    keys = set(domain.keys().rows())
    wanted = [row for row in expected(("state", "code"), 1) if row[:2] in keys]
    assert rows_of(found) == wanted
    assert len(wanted) == 4
    assert wanted != expected(("state", "code"), 1)  # the twin: nobody dropped


def test_empty_cells_pass_a_threshold_of_zero(opened):
    """With hardly any noise a threshold of 0 gives the whole domain, empty cells as 0."""
    domain = Domain.from_dict({"state": ["NC", "AK"], "code": [2, 5]})
    cells = SelectCells(domain, answer="count", at_least=0)
    (found,) = answer(opened, asked().group_by("state", "code", keys=cells))
    assert rows_of(found) == [("AK", 2, 0, 0), ("AK", 5, 0, 0), ("NC", 2, 2, 120), ("NC", 5, 0, 0)]


@pytest.mark.parametrize(
    ("resolution", "at_least", "wanted"), [("0.01", 3, [3, 4]), (1000, 1500, [2000, 5000])]
)
def test_the_threshold_is_in_units_of_the_measure(resolution, at_least, wanted):
    """Not in steps of its resolution; between two steps the upper one counts."""
    sums = pa.array([2.99, 3.0, 4.0]) if at_least == 3 else pa.array([1000.0, 2000.0, 5000.0])
    source = pa.table({"k": [1, 2, 3], "x": sums})
    with table(source, dimensions=["k"], measures={"x": resolution}) as found:
        cells = SelectCells(Domain.from_dict({"k": range(9)}), answer="x", at_least=at_least)
        query = Query().group_by("k", keys=cells).sum("x", clamp=(0, 9000), rho=10**30, name="x")
        (answers,) = answer(found, query)
    assert answers.table["x"].to_pylist() == wanted


def test_a_domain_of_a_thousand_million_cells_is_answered_sparsely():
    """100,000 occupied cells of 10^9; how many pass has false alarm 1e-7."""
    count, start = 100_000, 10
    positions = np.random.default_rng(5).choice(10**9, count, replace=False)
    source = pa.table(
        {"a": positions // 10**6, "b": positions // 1000 % 1000, "c": positions % 1000}
    )
    domain = Domain.from_dict({name: range(1000) for name in "abc"})
    cells = SelectCells(domain, answer="count", at_least=start)
    query = Query().group_by("a", "b", "c", keys=cells).count(rho="0.1").count("a", rho=EXACTLY)
    with table(source, dimensions=["a", "b", "c"]) as opened:
        (found,) = answer(opened, query)
    places = sum(
        np.asarray(found.keys[name]) * 1000**k for name, k in zip("abc", (2, 1, 0), strict=True)
    )
    assert (np.diff(places) > 0).all()
    assert min(found.column("count").numbers) >= start
    is_held = np.isin(places, positions)
    assert (np.asarray(found.table["count_a"]) == is_held).all()
    empty = stats.binomtest(int((~is_held).sum()), 10**9 - count, tail(LAW, start)).pvalue
    held = stats.binomtest(int(is_held.sum()), count, tail(LAW, start - 1)).pvalue
    assert 2 * min(empty, held) > FALSE_ALARM
    swapped = stats.binomtest(int((~is_held).sum()), count, tail(LAW, start)).pvalue
    assert swapped < FALSE_ALARM  # the twin: only as many empty cells as occupied ones


def again_p_value(count, numbers, bits=None):
    """Return the p-value of the noise of an answer in empty cells that were kept by another."""
    with table(SOURCE, dimensions=["state", "code"], measures=["emp"]) as opened:
        domain = Domain.from_dict({"code": range(100, 100 + count)})
        cells = SelectCells(domain, answer="count", at_least=2)
        query = Query().group_by("code", keys=cells).count(rho="0.1").count(rho="0.1", name="again")
        (found,) = answer(opened, query, _bits=bits)
    return p_value(found.column(numbers).numbers, LAW)


def test_other_answers_of_kept_cells_have_noise_of_their_own():
    """Drawn after the decision, so not conditioned on it; false alarm 1e-7."""
    assert again_p_value(200_000, "again") > FALSE_ALARM
    assert again_p_value(200_000, "count", Replayed(4)) < FALSE_ALARM  # the twin: the one kept by


def test_keeping_cells_costs_what_the_answer_costs(opened):
    """Pure: a constant policy, no delta, nothing for the keys; the total has its own price."""
    cells = SelectCells(Domain.from_dict({"code": range(9)}), answer="count", at_least=5)
    (found,) = answer(opened, Query().group_by("code", keys=cells).count(rho="0.1"))
    assert found.policy == Policy.constant("0.1")
    assert not found.policy.slots
    assert found.policy != Policy.selection("0.1", ["code"], threshold=5)  # the twin
    (found,) = answer(opened, asked(count="0.1", sum="0.2").group_by("code", keys=cells))
    assert found.policy == Policy.constant("0.1") + Policy.split("0.2", SCHEME)
    assert [name for name, _ in found.charges] == ["count", "sum_emp"]


def test_a_threshold_that_empty_cells_flood_is_refused_before_any_row_is_read(opened, monkeypatch):
    """The message has the least number that is taken; one less is refused again."""

    def read(*_):
        raise AssertionError("a row was read")

    monkeypatch.setattr(running, "scanned", read)
    domain = Domain.from_dict({"code": range(10**5), "emp": range(10**5), "state": list("abc")})

    def kept(at_least):
        cells = SelectCells(domain, answer="count", at_least=at_least)
        return Query().group_by("code", "emp", "state", keys=cells).count(rho="0.1")

    with pytest.raises(QueryError, match="more than 20,000,000 empty cells") as refused:
        answer(opened, kept(2))
    least = int(re.search(r"give at least ([\d,]+)\.", str(refused.value))[1].replace(",", ""))
    with pytest.raises(QueryError, match=f"give at least {least}"):
        answer(opened, kept(least - 1))
    with pytest.raises(AssertionError, match="a row was read"):  # accepted, so it goes on to read
        answer(opened, kept(least))


def test_the_refusal_names_units_and_not_steps():
    """At a resolution of 0.01 the number to type is of the measure's own size."""
    domain = Domain.from_dict({"k": range(10**5), "l": range(10**4)})
    noise = noise_of(DiscreteGaussian(10**8), Fraction("0.01"))  # sigma is 100 units
    with pytest.raises(QueryError, match="give at least 206"):
        check_sparse(SelectCells(domain, answer="x", at_least=100), noise)
    check_sparse(SelectCells(domain, answer="x", at_least=206), noise)
