"""The exact integers: the same from DuckDB as from slow Python, over splits as over originals."""

from functools import cache
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord.confidential.revealing import revealed
from perrecord.lab.audit import random_queries, random_tables
from perrecord.queries.aggregates import Pieces
from perrecord.queries.cells import scanned
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.plan import plan
from perrecord.tables.table import table
from tests.queries.reference import exact, records_of, reference


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_random_workloads_give_the_integers_of_the_reference(seed):
    """Filters, groupings, roll-ups, splits, clamps, parts, buckets: bit for bit."""
    random = Random(seed)
    rows = random_tables.rows(random, random.randrange(40))
    with table(random_tables.arrow(rows), **random_tables.DECLARED) as opened:
        workload = [random_queries.query(random) for _ in range(random.randrange(1, 4))]
        planned = plan(workload, opened.schema)
        assert exact(planned, opened) == reference(planned, rows)


@cache
def declared():
    """Return the schema that every random table has."""
    with table(random_tables.arrow([]), **random_tables.DECLARED) as opened:
        return opened.schema


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_a_total_over_the_split_rows_is_that_over_the_records(seed):
    """Splitting adds nothing and loses nothing (Lemma "no bias")."""
    random = Random(seed)
    rows = random_tables.rows(random, 20, extreme=False)
    for record in records_of(declared(), rows):
        for measure in random_tables.MEASURES:
            split = random_queries.scheme(random, measure)
            if split.pieces(record) <= 1000:
                shares = [row[measure] or 0 for row in split.rows(record)]
                assert sum(shares) == (record[measure] or 0)
                assert all(abs(s) <= split.at(record).threshold(measure) for s in shares)


def test_the_reference_can_fail():
    """A twin that forgets the sign of one value is told from the engine."""
    random = Random(1)
    rows = random_tables.rows(random, 30)
    with table(random_tables.arrow(rows), **random_tables.DECLARED) as opened:
        planned = plan(
            random_queries.Query().sum("emp", clamp=(-2, 10), rho=1).count(rho=1), opened.schema
        )
        broken = [{**row, "emp": abs(row["emp"]) if row["emp"] else row["emp"]} for row in rows]
        assert exact(planned, opened) == reference(planned, rows)
        assert exact(planned, opened) != reference(planned, broken)


def test_values_near_the_end_of_64_bits_are_summed_exactly():
    """Beyond 2^63 sums go on in Python's own integers."""
    rows = random_tables.rows(Random(2), 6)
    for row in rows:
        row["emp"] = 2**62 + 1
    with table(random_tables.arrow(rows), **random_tables.DECLARED) as opened:
        asked = random_queries.Query().sum("emp", split=random_queries.Split(emp=1), rho=1)
        planned = plan(asked, opened.schema)
        ((values, _),) = exact(planned, opened)
        assert list(values.values()) == [[6 * (2**62 + 1)]]


def test_answers_over_one_filter_share_one_scan():
    """However many queries there are, each filter is scanned once; roll-ups add no set."""
    keys = random_queries.Keys.from_dict({"sector": ["farm"], "code": [3, 0]})
    fine = random_queries.Query().group_by("sector", "code", keys=keys).count(rho=1)
    coarse = (
        random_queries.Query()
        .group_by("sector", keys=keys)
        .sum("emp", split=random_queries.Split(emp=5), rho=1)
    )
    other = random_queries.Query().where("big").count(rho=1)
    with table(random_tables.arrow([]), **random_tables.DECLARED) as opened:
        planned = plan([fine, coarse, other], opened.schema)
    assert len(planned.scans) == 2
    assert planned.scans[0].sets == (frozenset({"sector", "code"}),)


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_the_pieces_of_every_key_are_counted_in_the_engine(seed):
    """What key selection adds noise to: the sum of m(r) over a key's records."""
    random = Random(seed)
    rows = random_tables.rows(random, 25)
    split = random_queries.scheme(random, random.choice(list(random_tables.MEASURES)))
    chosen = SelectKeys(rho=1, delta="1e-6", split=split)
    with table(random_tables.arrow(rows), **random_tables.DECLARED) as opened:
        asked = random_queries.Query().group_by("sector", "code", keys=chosen).count(rho=1)
        planned = plan(asked, opened.schema)
        with scanned(planned, opened) as cells:
            occupied = cells[0].occupied(("sector", "code"), Pieces(split))
    keys, numbers = revealed(occupied.keys), revealed(occupied.numbers)
    found = dict(
        zip(map(tuple, zip(*keys.to_pydict().values(), strict=True)), numbers, strict=True)
    )
    wanted = {}
    for record in records_of(opened.schema, rows):
        key = record["sector"], record["code"]
        wanted[key] = wanted.get(key, 0) + split.pieces(record)
    assert found == wanted
