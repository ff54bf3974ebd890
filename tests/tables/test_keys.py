"""Key sets: an algebra of sets that keeps order, types and nulls."""

import gzip
from itertools import product

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord.errors import InputError
from perrecord.tables.keys import Keys

texts = st.one_of(st.none(), st.text(alphabet="abé☃'\"", max_size=3))
pairs = st.lists(st.tuples(texts, st.integers(-3, 3)), max_size=8)


def keys_of(rows):
    """Return keys over (a, b) from tuples."""
    return Keys.from_columns(
        pa.table(
            {
                "a": pa.array([a for a, _ in rows], pa.string()),
                "b": pa.array([b for _, b in rows], pa.int64()),
            }
        )
    )


@given(pairs, pairs)
def test_the_algebra_is_that_of_sets(first, second):
    """Union and difference against Python's sets; each key once."""
    left, right = keys_of(first), keys_of(second)
    assert set((left + right).rows()) == {*first, *second}
    assert set((left - right).rows()) == {*first} - {*second}
    for result in (left, left + right, left - right):
        assert len(set(result.rows())) == len(result)
    assert left + right == right + left
    assert (left - right) + right == left + right
    assert left - left == keys_of([])


@given(pairs, st.lists(st.booleans(), max_size=3))
def test_products_and_projections(rows, flags):
    """A product holds every combination, sorted; projecting it gives the factors back."""
    left, right = keys_of(rows), Keys.from_columns({"c": pa.array(flags, pa.bool_())})
    whole = left * right
    assert set(whole.rows()) == {(*a, *b) for a, b in product({*rows}, {(f,) for f in flags})}
    assert whole == Keys.from_columns(whole.table)  # already sorted and distinct
    assert len(whole) == len(whole.rows())
    assert whole.encoded.cast(whole.schema).equals(whole.table)
    assert (right * left).project(["a", "b", "c"]) == whole
    assert whole.project("a") == whole.project(["a"])
    if flags:
        assert whole.project(["a", "b"]) == left
        assert whole.filter("c", [True, False]) == whole


def test_order_is_sorted_whatever_the_input():
    """The order of an answer tells nothing about how its keys were listed."""
    first = Keys.from_dict({"s": ["b", "a", None, "a"], "n": [2, 1]})
    assert first.rows() == [("a", 1), ("a", 2), ("b", 1), ("b", 2), (None, 1), (None, 2)]
    assert first == Keys.from_dict({"s": [None, "a", "b"], "n": [1, 2]})


def test_hierarchies_of_codes():
    """A county's state is its first two digits; an industry's sector likewise."""
    counties = Keys.from_dict({"county": ["48001", "48003", "35001"]})
    whole = counties.with_prefix("state", "county", 2)
    assert whole.project(["state"]).rows() == [("35",), ("48",)]
    assert whole.filter("state", ["48"]).project(["county"]).rows() == [("48001",), ("48003",)]


def test_hierarchies_looked_up():
    """A public mapping gives each county its state; a missing one may be mapped as well."""
    counties = Keys.from_dict({"county": ["Travis", "Taos", None], "kind": [1, 2]})
    parents = {"Taos": "NM", "Travis": "TX", None: None, "Kent": "TX"}
    whole = counties.with_parent("state", "county", parents)
    assert whole.columns == ("county", "kind", "state")
    assert whole.rows()[1:4] == [("Taos", 2, "NM"), ("Travis", 1, "TX"), ("Travis", 2, "TX")]
    assert whole.project(["county", "kind"]) == counties
    numbered = counties.with_parent("group", "kind", {1: 10, 2: 10})
    assert numbered.project(["group"]).rows() == [(10,)]


@given(pairs, st.dictionaries(texts, st.integers(-3, 3)))
def test_a_parent_keeps_keys_sorted_and_distinct(rows, some):
    """The order of the class holds whatever the mapping."""
    parents = {a: some.get(a, 0) for a, _ in rows}
    whole = keys_of(rows).with_parent("p", "a", parents)
    assert whole.table.select(["a", "b"]).equals(keys_of(rows).table)
    assert whole.rows() == Keys.from_columns(whole.table).rows()


def test_frames_and_files(tmp_path):
    """Arrow, pandas, Polars, Parquet and CSV list the same keys; CSV codes keep their zeros."""
    expected = Keys.from_dict({"county": ["01001", "48001"]})
    columns = {"county": ["48001", "01001", "48001"]}
    assert Keys.from_columns(pd.DataFrame(columns)) == expected
    assert Keys.from_columns(pl.DataFrame(columns)) == expected
    pq.write_table(pa.table({**columns, "extra": [1, 2, 3]}), tmp_path / "keys.parquet")
    assert Keys.read(tmp_path / "keys.parquet", columns=["county"]) == expected
    (tmp_path / "keys.csv").write_text("county\n48001\n01001\n", encoding="utf-8")
    assert Keys.read(tmp_path / "keys.csv") == expected


def test_millions_of_keys_are_crossed_without_a_detour():
    """Every county by every industry of all levels: 6.7 million keys."""
    counties = Keys.from_dict({"county": [f"{i:05d}" for i in range(3143)]})
    industries = Keys.from_dict({"naics": [str(i) for i in range(2131)]})
    whole = counties * industries
    assert len(whole) == 3143 * 2131
    assert whole.table.slice(0, 2).to_pylist() == [
        {"county": "00000", "naics": "0"},
        {"county": "00000", "naics": "1"},
    ]


def test_a_product_of_long_text_is_written_out_in_stretches():
    """Arrow holds 2 GiB of text in one piece; 2.2 GB come in several."""
    whole = Keys.from_dict({"a": ["x" * 1100]}) * Keys.from_columns({"b": pa.array(range(300_000))})
    assert whole.table["a"].num_chunks > 1
    assert whole.table["a"].nbytes > 300_000 * 1100
    assert len(whole.table) == 300_000


A = Keys.from_dict({"a": ["x"]})
MANY = Keys.from_dict({"a": range(500)})
LONG = Keys.from_dict({"c": range(10_000)})
AB = Keys.from_dict({"a": ["x", "y"]})
BAD = [
    (lambda: Keys.from_dict({}), "name no column"),
    (lambda: Keys.from_dict({"a": [0.5]}), "key column 'a' is double; expected text"),
    (lambda: Keys.from_dict({"a": ["x", 1]}), "mixes text and numbers"),
    (lambda: Keys.from_columns({"a": ["x"], "b": [1, 2]}), "differ in length"),
    (lambda: A * A, "both key sets name a"),
    (
        lambda: MANY * Keys.from_dict({"b": range(500)}) * LONG,
        "has 2,500,000,000 keys; expected at most",
    ),
    (lambda: A + Keys.from_dict({"b": ["x"]}), "different columns"),
    (lambda: A + Keys.from_dict({"a": [1]}), "'a' is string in one key set and int64"),
    (lambda: A.project(["b"]), "no column 'b'. They have a"),
    (lambda: A.filter("b", ["x"]), "no column 'b'"),
    (lambda: A.with_prefix("a", "a", 1), "a column 'a' already"),
    (lambda: Keys.from_dict({"a": [1]}).with_prefix("b", "a", 1), "'a' is not text"),
    (lambda: A.with_parent("a", "a", {"x": 1}), "a column 'a' already"),
    (lambda: A.with_parent("b", "c", {"x": 1}), "no column 'c'. They have a"),
    (lambda: A.with_parent("b", "a", ["x"]), "the parents are a list; expected a mapping"),
    (lambda: A.with_parent("b", "a", {"x": 0.5}), "key column 'b' is double; expected text"),
    (lambda: A.with_parent("b", "a", {"x": 2**70}), "'b' mixes types; expected all text"),
    (lambda: AB.with_parent("b", "a", {"x": 1, "y": "1"}), "'b' mixes types; expected all text"),
    (lambda: A.with_parent("b", "a", {"x": "\ud800"}), "'b' holds half a character"),
    (lambda: Keys.from_dict({"a": ["\ud800"]}), "the keys hold half a character"),
    (lambda: AB.with_parent("b", "a", {"z": 1}), "the parents lack the a 'x', 'y'; give a b"),
    (lambda: Keys.read("nowhere.csv"), "no key file 'nowhere.csv'"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_keys_say_what_is_wrong(make, message):
    """Each mistake is named, with what to give instead."""
    with pytest.raises(InputError, match=message):
        make()


CLOSED = {
    "a\n001\n": ["001"],
    "a\n001": ["001"],
    "a\r\n001\r\n": ["001"],
    'a\n"00\n1"': ["00\n1"],
    'a\n5" pipe\n': ['5" pipe'],
    'a\n"say ""no"""\n': ['say "no"'],
    "a\nend\nend": ["end"],
    "a\n": [],
}


@pytest.mark.parametrize("text", CLOSED)
def test_a_key_file_is_read_to_its_end(text, tmp_path):
    """Whatever its last line is, and whether it is compressed or not."""
    (tmp_path / "keys.csv").write_bytes(text.encode())
    (tmp_path / "keys.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("keys.csv", "keys.csv.gz"):
        assert Keys.read(tmp_path / name).rows() == [(each,) for each in CLOSED[text]]


@pytest.mark.parametrize(
    "text",
    ['a\n001\n"002\n003\n004\n', 'a\n001\n"', 'a\n"001""\n', 'a,b\n1,2\n3,"4\n5,6\n'],
)
def test_a_quote_that_is_never_closed_is_refused(text, tmp_path):
    """It would make one key of all that follow, and those would not be answered."""
    (tmp_path / "keys.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="has a quote that is never closed"):
        Keys.read(tmp_path / "keys.csv")


def test_a_truncated_key_file_is_refused(tmp_path):
    """Without a word of what is in it."""
    path = tmp_path / "keys.parquet"
    pq.write_table(pa.table({"a": ["secret"] * 100}), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="could not be read as Parquet") as caught:
        Keys.read(path)
    assert "secret" not in str(caught.value)
