"""Any zCDP mechanism on split rows (T8): the rows, the price, what is refused, a worked example."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from flint import fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from perrecord import DiscreteGaussian, Policy, QueryError, SourceError, Split
from perrecord.lab.audit import random_queries, random_tables
from perrecord.mechanisms.rows import plan_rows, run_rows
from perrecord.noise import discrete_gaussian
from perrecord.tables.expressions import evaluate
from perrecord.tables.parse import parse_expression
from perrecord.tables.table import table
from tests.noise.checks import FALSE_ALARM, Replayed
from tests.queries.reference import records_of

COLUMNS = ["id", "firm", "sector", "code", "big", "head", "emp", "pay", "rent"]


def as_given(rows):
    """Be the mechanism that says all it sees: for tests alone."""
    return rows


def given_rows(opened, columns, split=None, where=None):
    """Return the Arrow table that a mechanism is handed."""
    planned = plan_rows(opened, as_given, columns=columns, rho=1, split=split, where=where)
    return run_rows(planned, opened).result


# -- the rows ----------------------------------------------------------------------------------


def slow_rows(schema, source, columns, split, where):
    """Return the rows in slow Python: filtered, split, on the grid, sorted with NULL last."""
    condition = None if where is None else parse_expression(where)
    found = []
    for record in records_of(schema, source):
        if condition is None or evaluate(condition, record) is True:
            found += [record] if split is None else split.rows(record)
    steps = {name: measure.resolution for name, measure in schema.measures}
    rows = [
        tuple(
            row[name] / steps[name] if name in steps and row[name] is not None else row[name]
            for name in columns
        )
        for row in found
    ]
    return sorted(rows, key=lambda row: [_sortable(part) for part in row])


def _sortable(part):
    return (part is None, part.encode() if isinstance(part, str) else part or 0)


def tuples(rows):
    """Return an Arrow table as tuples."""
    return [tuple(row.values()) for row in rows.to_pylist()]


def random_case(random):
    """Return random columns, a capped scheme and a filter."""
    columns = random.sample(COLUMNS, random.randrange(1, len(COLUMNS) + 1))
    split = None
    if random.random() < 0.9:
        split = random_queries.scheme(random, random.choice(list(random_tables.MEASURES)))
        split = split.capped(random.choice([1, 2, 7, 60]))
    return columns, split, random.choice(random_queries.FILTERS)


@settings(max_examples=12)
@given(st.integers(0, 2**32))
def test_rows_are_those_of_the_slow_split(seed):
    """Signs, zeros, NULL, ends of 64 bits, caps, piecewise schemes, filters, ids: all the same."""
    random = Random(seed)
    source = random_tables.rows(random, random.randrange(25))
    with table(random_tables.arrow(source), **random_tables.DECLARED) as opened:
        for columns, split, where in [random_case(random) for _ in range(4)]:
            found = given_rows(opened, columns, split, where)
            assert found.column_names == columns
            assert tuples(found) == slow_rows(opened.schema, source, columns, split, where)


def test_a_split_that_forgets_signs_or_the_cap_is_caught():
    """The broken twins of the comparison: another sign, another cap, no padding."""
    source = random_tables.rows(Random(3), 25)
    split, columns = Split(emp=5, rent=30).capped(7), ["id", "emp", "rent"]
    with table(random_tables.arrow(source), **random_tables.DECLARED) as opened:
        found = tuples(given_rows(opened, columns, split))
        assert found == slow_rows(opened.schema, source, columns, split, None)
        unsigned = [{**row, "emp": abs(row["emp"] or 0)} for row in source]
        assert found != slow_rows(opened.schema, unsigned, columns, split, None)
        assert found != slow_rows(opened.schema, source, columns, Split(emp=5).capped(7), None)
        assert found != slow_rows(
            opened.schema, source, columns, Split(emp=5, rent=30).capped(8), None
        )


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_rows_come_sorted_whatever_the_order_of_the_source(seed):
    """The same table shuffled gives the same Arrow table."""
    random = Random(seed)
    source = random_tables.rows(random, random.randrange(25))
    cases = [random_case(random) for _ in range(4)]
    found = []
    for rows in (source, random.sample(source, len(source))):
        with table(random_tables.arrow(rows), **random_tables.DECLARED) as opened:
            found.append([given_rows(opened, *case) for case in cases])
    assert all(first.equals(second) for first, second in zip(*found, strict=True))


def test_the_order_of_a_source_is_seen_where_it_matters():
    """The broken twin: rows in the order in which they are stored."""
    source = random_tables.arrow(random_tables.rows(Random(4), 20))
    reversed_source = source.take(list(range(19, -1, -1)))
    assert not source.select(["emp"]).equals(reversed_source.select(["emp"]))
    found = []
    for rows in (source, reversed_source):
        with table(rows, **random_tables.DECLARED) as opened:
            found.append(given_rows(opened, ["emp"]))
    assert found[0].equals(found[1])


def test_a_record_becomes_full_pieces_a_rest_and_zeros():
    """One record by hand: sign kept, shorter measures padded, NULL and dimensions copied."""
    source = pa.table({"id": [7], "k": ["a"], "x": [-12], "y": [Decimal("0.30")], "z": [None]})
    source = source.set_column(4, "z", pa.array([None], pa.int64()))
    measures = {"x": 1, "y": "0.1", "z": 1}
    with table(source, id="id", dimensions=["k"], measures=measures) as opened:
        split = Split(x=5, y=1, z=1).capped(100)
        found = given_rows(opened, ["id", "k", "x", "y", "z"], split)
        assert Counter(tuples(found)) == Counter(
            [(7, "a", -5, 3, None), (7, "a", -5, 0, None), (7, "a", -2, 0, None)]
        )
        clamped = given_rows(opened, ["x"], split.capped(2))
        assert clamped.column("x").to_pylist() == [-5, -5]
        assert given_rows(opened, ["x"]).column("x").to_pylist() == [-12]


# -- the price ---------------------------------------------------------------------------------

SPLIT = Split(emp=50).capped(1000)


@pytest.fixture
def opened():
    """Open a small table."""
    source = pa.table(
        {"sector": ["farm", "mine", "mine", None], "emp": pa.array([120, 7, None, 49])}
    )
    with table(source, dimensions=["sector"], measures=["emp"]) as found:
        yield found


def test_split_rows_cost_rho_pieces_squared_and_unsplit_ones_rho(opened):
    """T8, both kinds; the answer carries the same policy as the plan."""
    planned = plan_rows(opened, len, columns=["emp"], rho="0.1", split=SPLIT)
    assert planned.policy == Policy.split("0.1", SPLIT)
    assert planned.policy.loss({"sector": "farm", "emp": 120}) == Fraction("0.9")
    assert planned.policy.loss({"sector": "farm", "emp": 10**9}) == 100_000  # the cap bounds it
    found = run_rows(planned, opened)
    assert found.result == 6
    assert found.policy == planned.policy
    planned = plan_rows(opened, len, columns=["emp"], rho="0.1")
    assert planned.policy == Policy.constant("0.1") != Policy.split("0.1", SPLIT)
    assert run_rows(planned, opened).result == 4


def test_records_outside_the_filter_are_not_given_and_lose_nothing(opened):
    """Where the filter lists values of a dimension; otherwise everybody is charged."""
    planned = plan_rows(
        opened, len, columns=["emp"], rho="0.1", split=SPLIT, where="sector = 'farm'"
    )
    assert run_rows(planned, opened).result == 3
    assert planned.policy.loss({"sector": "farm", "emp": 120}) == Fraction("0.9")
    assert planned.policy.loss({"sector": "mine", "emp": 120}) == 0
    planned = plan_rows(opened, len, columns=["emp"], rho="0.1", split=SPLIT, where="emp > 48")
    assert run_rows(planned, opened).result == 4
    assert planned.policy.loss({"sector": "mine", "emp": 7}) == Fraction("0.1")


def test_nothing_is_left_behind_in_the_engine(opened):
    """The tables of a piecewise scheme are gone after the run, and after a failure."""
    split = Split.by("sector", {"farm": Split(emp=5)}, Split(emp=50)).capped(100)
    added, dropped = [], []
    engine = opened.engine
    for name, call, seen in (("add", engine.add, added), ("drop", engine.drop, dropped)):

        def spy(table_name, *rest, _call=call, _seen=seen):
            _seen.append(table_name)
            return _call(table_name, *rest)

        setattr(engine, name, spy)
    for mechanism in (len, lambda rows: 1 / 0):
        planned = plan_rows(opened, mechanism, columns=["emp"], rho=1, split=split)
        try:
            assert run_rows(planned, opened).result == 24 + 1 + 1 + 1
        except SourceError:
            assert mechanism is not len
    assert len(added) == 2
    assert sorted(added) == sorted(dropped)


# -- what is refused ---------------------------------------------------------------------------

SECRET = "employer 8675309 pays"


def raising(error):
    """Return a mechanism that fails with what it saw in its message."""

    def mechanism(rows):
        raise error(f"{SECRET} {rows.column('emp').to_pylist()}")

    return mechanism


@pytest.mark.parametrize("error", [ValueError, KeyError, QueryError, BaseException])
def test_what_a_failing_mechanism_says_is_withheld(opened, error):
    """Errors of any kind, ours too: neither the message nor a cause quotes a record."""
    mechanism = raising(error)
    planned = plan_rows(opened, mechanism, columns=["emp"], rho=1, split=SPLIT)
    with pytest.raises(SourceError, match="the mechanism failed") as caught:
        run_rows(planned, opened)
    chain, seen = caught.value, []
    while chain is not None:
        seen.append(str(chain))
        chain = chain.__cause__ or chain.__context__
    assert SECRET not in " ".join(seen)
    with pytest.raises(error, match=SECRET):  # the twin: unsealed it does quote
        mechanism(pa.table({"emp": [1]}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"split": Split(emp=50)}, "write split.capped"),
        ({"split": Split.by("sector", {"farm": SPLIT}, Split(emp=5))}, "write split.capped"),
        ({"columns": ["emmp"]}, "no column 'emmp'.*Did you mean 'emp'"),
        ({"columns": ["emp", "emp"]}, "each once"),
        ({"columns": []}, "the columns are none"),
        ({"split": Split(pay=5).capped(9)}, "no measure 'pay'"),
        ({"split": Split(emp="0.5").capped(9)}, "not a multiple of its resolution"),
        ({"split": Split.by("state", {"NC": SPLIT}, SPLIT)}, "'state', which is not a dimension"),
        ({"split": Split.by("sector", {"farm": SPLIT})}, "the split has no default"),
        ({"where": "emp"}, "the filter is not a condition"),
        ({"rho": None}, "give both"),
        ({"rho": 0}, "give both"),
        ({"mechanism": "no function"}, "give both"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_row_is_read(opened, given, message):
    """The message says what to type instead."""
    asked = {"mechanism": len, "columns": ["emp"], "rho": "0.1", "split": SPLIT, **given}
    opened.engine.frame = None  # nothing can be read
    with pytest.raises(QueryError, match=message):
        plan_rows(opened, asked.pop("mechanism"), **asked)


# -- a worked mechanism that is no sum: a tree of totals over ordered cells --------------------

LEAVES, LEVELS, THRESHOLD = 32, 6, 50
TREE_SPLIT = Split(emp=THRESHOLD).capped(20)
NODES = [  # which leaves each node adds up, from the root down
    [int(leaf >> (LEVELS - 1 - level) == node) for leaf in range(LEAVES)]
    for level in range(LEVELS)
    for node in range(2**level)
]
LEAST_SQUARES = np.linalg.pinv(np.array(NODES, dtype=float))
PREFIXES = np.tril(np.ones((LEAVES, LEAVES)))


def variance(rho, levels=LEVELS):
    """Return the sigma^2 at which a row of at most T in one node of each level costs rho."""
    return levels * Fraction(THRESHOLD) ** 2 / (2 * Fraction(rho))


def leaf_sums(rows):
    """Return the exact total of every leaf."""
    sums = [0] * LEAVES
    for row in rows.to_pylist():
        sums[row["place"]] += row["emp"] or 0
    return sums


def node_sums(rows):
    """Return the exact total of every node of the tree."""
    sums = leaf_sums(rows)
    return [sum(x for x, inside in zip(sums, node, strict=True) if inside) for node in NODES]


def tree(rho, bits=None):
    """Return the mechanism: noise on every node, then the leaves that fit them best."""

    def mechanism(rows):
        noise = discrete_gaussian(variance(rho), len(NODES), _bits=bits)
        return LEAST_SQUARES @ (np.array(node_sums(rows)) + noise).astype(float)

    return mechanism


def leaves_alone(rho, bits=None):
    """Return the plain mechanism: noise on the leaves, at the same price."""

    def mechanism(rows):
        noise = discrete_gaussian(variance(rho, levels=1), LEAVES, _bits=bits)
        return (np.array(leaf_sums(rows)) + noise).astype(float)

    return mechanism


RECORDS = 24
PLACES = [(index * 7) % LEAVES for index in range(RECORDS)]
SIZES = [(index * index * 13) % 700 - 40 for index in range(RECORDS)]
SIZES[:6] = [50, 1000, 10**6, 0, None, -150]


def ordered(left_out=None):
    """Return the source, or the source without one record."""
    kept = [index for index in range(RECORDS) if index != left_out]
    columns = {
        "place": [PLACES[index] for index in kept],
        "emp": pa.array([SIZES[index] for index in kept], pa.int64()),
    }
    return table(pa.table(columns), dimensions=["place"], measures=["emp"])


def on_rows(source, mechanism, rho="0.1"):
    """Return what the mechanism gives on the split rows of the source."""
    with source as opened:
        planned = plan_rows(opened, mechanism, columns=["place", "emp"], rho=rho, split=TREE_SPLIT)
        return run_rows(planned, opened)


def clamped(size):
    """Return what the capped split leaves of a value."""
    return max(-20 * THRESHOLD, min(20 * THRESHOLD, size or 0))


def truth():
    """Return the true total of every leaf, values cut by the cap."""
    sums = np.zeros(LEAVES)
    np.add.at(sums, PLACES, [clamped(size) for size in SIZES])
    return sums


def test_a_tree_without_noise_gives_the_true_prefix_sums():
    """At a huge rho least squares gives back the leaves, and so every prefix."""
    found = on_rows(ordered(), tree(10**9), 10**9)
    assert (np.rint(PREFIXES @ found.result) == PREFIXES @ truth()).all()
    assert np.allclose(found.result, truth(), atol=1e-6)
    assert found.policy == Policy.split(10**9, TREE_SPLIT)
    assert not np.allclose(found.result, np.roll(truth(), 1), atol=1e-6)  # the twin


def test_removing_a_record_moves_the_tree_by_what_the_policy_allows():
    """sum(change^2) / (2 sigma^2) <= rho m(r)^2 as rationals, for each of 24 records."""
    whole = on_rows(ordered(), node_sums).result
    rho, within, twin = Fraction("0.1"), [], []
    for index in range(RECORDS):
        found = on_rows(ordered(index), node_sums)
        moved = sum((a - b) ** 2 for a, b in zip(whole, found.result, strict=True))
        assert moved == LEVELS * clamped(SIZES[index]) ** 2
        allowed = found.policy.loss({"place": 0, "emp": SIZES[index]})
        within.append(moved / (2 * variance(rho)) <= allowed)
        twin.append(moved / (2 * variance(rho, levels=1)) <= allowed)
    assert all(within)
    assert not all(twin)  # sigma without the factor for the levels promises too much
    assert not twin[0]


def errors(mechanism, runs):
    """Return the errors of the leaf totals over repeated runs of a mechanism."""
    rows = on_rows(ordered(), as_given).result
    return np.array([mechanism(rows) for _ in range(runs)]) - truth()


def unbiased_p_value(found):
    """Return the p-value that errors of the tree's leaves have mean 0, from their covariance."""
    covariance = float(variance("0.1")) * (LEAST_SQUARES @ LEAST_SQUARES.T)
    mean = found.mean(axis=0)
    statistic = len(found) * mean @ np.linalg.solve(covariance, mean)
    return stats.chi2.sf(statistic, LEAVES)


def test_the_tree_is_unbiased():
    """All 32 leaves together over 500 runs; false alarm 1e-7. A quarter of T more is caught."""
    found = errors(tree("0.1"), 500)
    assert unbiased_p_value(found) > FALSE_ALARM
    assert unbiased_p_value(errors(tree("0.1", Replayed(1)), 500) + THRESHOLD / 4) < FALSE_ALARM


def test_the_tree_beats_noise_on_leaves_at_the_same_price():
    """Mean variance of the prefix sums: 32276/107415 = 0.30 of the plain way's, exactly.

    500 runs of each give it within a tenth; with replayed bits the test does not flicker.
    """
    nodes = fmpq_mat(len(NODES), LEAVES, [each for node in NODES for each in node])
    prefixes = fmpq_mat(LEAVES, LEAVES, [int(each) for each in PREFIXES.ravel()])
    covariance = prefixes * (nodes.transpose() * nodes).inv() * prefixes.transpose()
    trace = sum(
        (Fraction(int(covariance[i, i].p), int(covariance[i, i].q)) for i in range(LEAVES)),
        Fraction(0),
    )
    plain = Fraction(LEAVES * (LEAVES + 1), 2)
    ratio = trace * variance("0.1") / (plain * variance("0.1", levels=1))
    assert ratio == Fraction(32276, 107415)
    bits = Replayed(2)
    by_tree, by_leaves = (
        float(np.square(errors(each("0.1", bits), 500) @ PREFIXES.T).mean())
        for each in (tree, leaves_alone)
    )
    assert by_tree / by_leaves == pytest.approx(float(ratio), rel=0.1)
    wanted = float(plain / LEAVES) * float(DiscreteGaussian(variance("0.1", 1)).variance())
    assert by_leaves == pytest.approx(wanted, rel=0.1)
    without = np.array(NODES[-LEAVES:], dtype=float)  # the twin: leaves alone, levels paid for
    assert np.trace(PREFIXES @ np.linalg.inv(without.T @ without) @ PREFIXES.T) * LEVELS > plain
