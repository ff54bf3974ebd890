"""Two linked periods as a table of changes: what its records are, on every engine."""

from collections import defaultdict
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.dataset import dataset

from perrecord import (
    Blur,
    InputError,
    Linked,
    Measure,
    Query,
    QueryError,
    SchemaError,
    SourceError,
    table,
)
from perrecord.lab.audit.random_tables import DECLARED, arrow
from perrecord.lab.audit.replay.linked import random_pairs
from perrecord.queries.check import check
from perrecord.tables.readable import check_readable
from perrecord.tables.snapshots import (
    BothPeriods,
    Elsewhere,
    check_name,
    check_unchanged,
    snapshot_of,
)
from tests import first

SECRET = "Zanzibar Ltd"
LAST = {"id": ["a", "b", "c"], "county": ["1", "1", "2"], "emp": [10, 20, 30]}
THIS = {"id": ["a", "b", "d"], "county": ["1", "2", "2"], "emp": [13, 22, 5]}
ROLES = {"id": "id", "dimensions": ["county", "change_kind"], "measures": ["emp"]}
_KINDS = {"kind": "change_kind", "is_new": "change_kind IN ('entry', 'moved in')"}
RANDOM = {
    **DECLARED,
    "dimensions": {**DECLARED["dimensions"], **_KINDS},
    "measures": {**DECLARED["measures"], "net": Measure(column="record_count")},
}
NAMES = ["id", "firm", *RANDOM["dimensions"], *RANDOM["measures"]]


def linked(this=THIS, last=LAST, **roles):
    """Open two small periods."""
    return table(Linked(pa.table(this), last=pa.table(last)), **{**ROLES, **roles})


def records(opened, names):
    """Return all records, sorted, as the engine has them."""
    rows = opened.engine.arrow(opened.select(names)).to_pylist()
    return sorted((tuple(row[name] for name in names) for row in rows), key=repr)


def test_each_id_has_its_change_or_two_records_if_it_moved():
    """Stay, move, exit and entry."""
    with linked() as opened:
        found = records(opened, ["id", "county", "change_kind", "emp"])
        assert [name for (name,) in records(opened, ["id"])] == ["a", "b", "b", "c", "d"]
    assert found == [
        ("a", "1", "continuing", 3),
        ("b", "1", "moved out", -20),
        ("b", "2", "moved in", 22),
        ("c", "2", "exit", -30),
        ("d", "2", "entry", 5),
    ]


def pairs_of(seed, count=60):
    """Return rows of two periods, and both as sources."""
    pairs = random_pairs(Random(f"linking {seed}"), count)
    sides = [
        [{**row, "id": place} for place, row in enumerate(rows) if row is not None]
        for rows in zip(*pairs, strict=True)
    ]
    return [
        tuple(None if row is None else {**row, "id": place} for row in pair)
        for place, pair in enumerate(pairs)
    ], sides


def check_engine(opened, pairs):
    """Compare every record of the engine with its meaning in Python."""
    check_readable(opened)
    wanted = []
    for this, last in pairs:
        for record in opened.schema.linked_records(this, last):
            numbers = {
                name: None if record[name] is None else int(record[name] / measure.resolution)
                for name, measure in opened.schema.measures
            }
            wanted.append(tuple({**record, **numbers}[name] for name in NAMES))
    assert records(opened, NAMES) == sorted(wanted, key=repr)


@pytest.mark.parametrize("seed", first(2, range(4)))
def test_the_engine_links_as_python_does(seed, tmp_path):
    """With NULLs, ends of ranges, lookups, dimensions of measures and changes of unit."""
    pairs, sides = pairs_of(seed)
    frames = [arrow(rows) for rows in sides]
    with table(Linked(frames[0], last=frames[1]), **RANDOM) as opened:
        check_engine(opened, pairs)
    for name, frame in zip(("this", "last"), frames, strict=True):
        pq.write_table(frame, tmp_path / f"{name}.parquet")
    files = Linked(tmp_path / "this.parquet", last=tmp_path / "last.parquet")
    with table(files, **RANDOM) as opened:
        check_engine(opened, pairs)


@pytest.mark.parametrize("seed", first(2, range(4)))
@pytest.mark.parametrize("by", ["sector", "size", "zone"])
def test_changes_added_to_the_last_levels_are_those_of_this_period_exactly(seed, by):
    """In every cell, to the last step: both sides are rounded as a release of either would."""
    _, sides = pairs_of(seed)
    frames = [arrow(rows) for rows in sides]
    measures = {
        **DECLARED["measures"],
        "emp": Measure(largest=2**62 - 1),
        "load": Measure(1000, column="mass"),
    }
    declared = {**DECLARED, "measures": measures}

    def totals(source):
        with table(source, **declared) as opened:
            found = defaultdict(int)
            for key, *values in records(opened, [by, *measures]):
                for name, value in zip(measures, values, strict=True):
                    found[key, name] += value or 0
        return found

    this, last = (totals(each) for each in frames)
    changes = totals(Linked(frames[0], last=frames[1]))
    cells = {*this, *last, *changes}
    assert len(cells) > 10
    assert all(last[cell] + changes[cell] == this[cell] for cell in cells)


@pytest.mark.parametrize(
    ("side", "ids", "said"),
    [
        ("this", ["a", None, "d"], "some rows of this period have no id"),
        ("last", ["a", SECRET, SECRET], "some ids of the last are those of several rows"),
    ],
)
def test_ids_that_name_no_single_row_are_refused_and_not_quoted(side, ids, said):
    """Before anything is charged."""
    with linked(**{side: {**(THIS if side == "this" else LAST), "id": ids}}) as opened:
        with pytest.raises(SourceError, match=said) as caught:
            check_readable(opened)
        assert SECRET not in str(caught.value)


def test_what_cannot_be_linked_is_refused():
    """Other types, columns of our own, no id, an id of floats, databases."""
    floats = {**LAST, "emp": [1.0, 2.0, 3.0]}
    with pytest.raises(SourceError, match="'emp' is int64 in this period and double in the last"):
        linked(last=floats)
    with pytest.raises(SourceError, match="Record_Count"):
        linked(this={**THIS, "Record_Count": [1, 1, 1]})
    with pytest.raises(SchemaError, match="name its column"):
        linked(id=None)
    numbered = [{**each, "id": [0.5, 1.5, 2.5]} for each in (THIS, LAST)]
    with pytest.raises(SchemaError, match="the id 'id' is double"):
        linked(*numbered)
    with pytest.raises(SourceError, match="table of a database"):
        table(Linked("sqlite://est.db", last="b.csv"), **ROLES)
    with pytest.raises(SourceError, match="no column in common"):
        linked(last={"other": [1]})
    with pytest.raises(SchemaError, match="depends on all its dimensions"):
        linked(dimensions={"both": "change_kind || county"})
    twice = {"emp": Measure(largest=1000), "twice": Measure(expression="emp * emp", largest=10**6)}
    with pytest.raises(SchemaError, match="Compute it in both files"):
        linked(measures=twice)
    with pytest.raises(SourceError, match="relation="):
        table(Linked(pa.table(THIS), last=pa.table(LAST)), relation="est", **ROLES)


def test_a_column_of_one_period_alone_is_not_there():
    """Whoever declares it is told which there are."""
    with pytest.raises(SchemaError, match="no column 'new' for a dimension"):
        linked(this={**THIS, "new": [1, 2, 3]}, dimensions=["new"])


def test_whole_numbers_of_any_width_and_text_in_any_type_are_linked():
    """Yearly files are rarely written alike."""
    this = pa.table({**THIS, "emp": pa.array(THIS["emp"], pa.int16())})
    last = pa.table({**LAST, "county": pa.array(LAST["county"]).dictionary_encode()})
    with table(Linked(this, last=last), **ROLES) as opened:
        assert len(records(opened, ["id", "county", "emp"])) == 5


def test_text_files_are_linked(tmp_path):
    """Numbers in CSV files are text, and are read by the measure's own rule."""
    (tmp_path / "this.csv").write_text("id,county,emp\n7,1,12.5\n8,1,1e1\n9,2,n/a\n")
    (tmp_path / "last.csv").write_text("id,county,emp\n7,1,10\n8,2,4\n")
    source = Linked(tmp_path / "this.csv", last=tmp_path / "last.csv")
    with table(source, **{**ROLES, "measures": {"emp": "0.5"}}) as opened:
        check_readable(opened)
        found = records(opened, ["id", "county", "emp"])
    assert found == [("7", "1", 5), ("8", "1", 20), ("8", "2", -8), ("9", "2", None)]


def test_snapshots_cover_both_periods_and_their_order(tmp_path):
    """Changed places are another state of the data, and so are both files as one table."""
    for name, rows in (("this", THIS), ("last", LAST)):
        pq.write_table(pa.table(rows), tmp_path / f"{name}.parquet")
    this, last = tmp_path / "this.parquet", tmp_path / "last.parquet"
    states = []
    for source in (Linked(this, last=last), Linked(last, last=this), tmp_path / "*.parquet"):
        roles = ROLES if isinstance(source, Linked) else {"dimensions": ["county"]}
        with table(source, **roles) as opened:
            states.append(snapshot_of(opened.engine.origin, None, b"key"))
    assert len(set(states)) == 3
    with table(Linked(this, last=last), **ROLES) as opened:
        origin = opened.engine.origin
        check_unchanged(origin)
        pq.write_table(pa.table(THIS), last)
        with pytest.raises(SourceError, match="was changed"):
            check_unchanged(origin)
    with linked() as opened:
        one = snapshot_of(opened.engine.origin, None, b"key")
        assert snapshot_of(opened.engine.origin, "2027", b"key") == "2027"
    with linked(this=LAST, last=THIS) as opened:
        assert snapshot_of(opened.engine.origin, None, b"key") != one
    check_name(origin, None)
    for both in (BothPeriods(Elsewhere(), Elsewhere()), BothPeriods(Elsewhere(), origin.last)):
        with pytest.raises(InputError, match="name it"):
            check_name(both, None)
    assert snapshot_of(BothPeriods(Elsewhere(), Elsewhere()), "2027", b"key") == "2027"
    with pytest.raises(InputError, match="leave snapshot= out"):
        check_name(origin, "2027")


def test_a_name_does_not_stand_for_a_file_beside_it(tmp_path):
    """A dataset is read anew and has a name; the file that it is linked with has bytes."""
    pq.write_table(pa.table(THIS), tmp_path / "this.parquet")
    this, last, states = dataset(tmp_path / "this.parquet"), tmp_path / "last.parquet", []
    for name, rows in (("2027", LAST), ("2027", {**LAST, "emp": [1, 2, 3]}), ("late", LAST)):
        pq.write_table(pa.table(rows), last)
        with table(Linked(this, last=last), **ROLES) as opened:
            assert isinstance(opened.engine.origin.this, Elsewhere)
            states.append(snapshot_of(opened.engine.origin, name, b"key"))
    assert len(set(states)) == 3


def test_a_blurred_total_of_changes_has_no_bounds():
    """They would hold for values of one sign alone."""
    with linked() as opened:
        with pytest.raises(QueryError, match="signed"):
            check(Query().sum("emp", taper=50, blur="0.1", rho=1), opened.schema)
        check(Query().sum("emp", taper=50, blur=Blur("0.1", signed=True), rho=1), opened.schema)


def test_a_change_of_the_largest_values_is_a_64_bit_integer():
    """Up to twice 2^62 - 1 steps; what is larger is out of range on its own side."""
    most = 2**62 - 1
    with linked(
        this={"id": ["a", "b"], "county": ["1", "1"], "emp": [most, most + 1]},
        last={"id": ["a", "b"], "county": ["1", "1"], "emp": [-most, 1]},
    ) as opened:
        assert records(opened, ["id", "emp"]) == [("a", 2 * most), ("b", -1)]
        assert opened.schema.rules["emp"].number(2 * most) == 2 * most


def test_one_name_has_one_meaning_in_a_ledger():
    """A level and its change are not charged to the same name."""
    level = {**ROLES, "dimensions": ["county"], "measures": {"emp": Measure(largest=2**62 - 1)}}
    with linked() as changes, table(pa.table(THIS), **level) as own:
        assert changes.schema.meaning("emp") != own.schema.meaning("emp")
        assert changes.schema.meaning("county") == own.schema.meaning("county")


@pytest.mark.spark
def test_spark_links_as_python_does():
    """Two DataFrames of one session; one of another kind is refused."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    try:
        pairs, sides = pairs_of("spark")
        frames = [session.createDataFrame(arrow(rows)) for rows in sides]
        with table(Linked(frames[0], last=frames[1]), **RANDOM) as opened:
            check_engine(opened, pairs)
        with pytest.raises(SourceError, match="of one session"):
            table(Linked(frames[0], last=arrow(sides[1])), **RANDOM)
        doubled = frames[1].unionAll(frames[1])
        opened = table(Linked(frames[0], last=doubled), **RANDOM)
        with opened, pytest.raises(SourceError, match="several rows"):
            check_readable(opened)
    finally:
        session.stop()
