"""Which state of the data a table shows: by a keyed hash of what it holds, or by a name."""

import gzip
import os
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from perrecord import InputError, SourceError, table
from perrecord.tables.snapshots import (
    Elsewhere,
    Files,
    Frame,
    check_unchanged,
    named,
    snapshot_of,
)

KEY = bytes(32)
COLUMNS = {
    "text": pa.array(["a", None, "", "bb"]),
    "large": pa.array(["a", None, "", "bb"], pa.large_string()),
    "view": pa.array(["a", None, "", "bb"], pa.string_view()),
    "codes": pa.array(["a", None, "", "bb"]).dictionary_encode(),
    "whole": pa.array([1, None, 0, 2**62 + 1]),
    "small": pa.array([1, None, 0, 255], pa.uint8()),
    "real": pa.array([1.5, None, 0.0, -0.0]),
    "exact": pa.array([Decimal("1.5"), None, Decimal(0), Decimal(2)], pa.decimal128(20, 2)),
    "truth": pa.array([True, None, False, True]),
    "day": pa.array([1, None, 0, 20_000], pa.date32()),
    "time": pa.array([1, None, 0, 10**15], pa.timestamp("us", "UTC")),
    "bytes": pa.array([b"a", None, b"", b"bb"]),
    "lists": pa.array([[1], None, [], [None, 2]]),
}


def of(data, key=KEY):
    """Return the snapshot of a table in memory."""
    return snapshot_of(Frame(data), None, key)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_frame_is_what_it_holds_however_it_is_cut(name):
    """Chunks, slices and what lies beneath a null do not count; every value and null does."""
    whole = pa.table({name: COLUMNS[name]})
    cut = pa.concat_tables([whole.slice(0, 1), whole.slice(1, 2), whole.slice(3)])
    inside = pa.concat_tables([whole, whole]).combine_chunks().slice(4, 4)
    assert of(whole) == of(cut) == of(inside)
    seen = {of(whole), of(whole, b"another secret"), of(whole.rename_columns(["x"]))}
    for order in ([1, 0, 2, 3], [0, 1, 2], [0, 1, 2, 3, 3], [0, 2, 1, 3], [0, 1, 1, 3]):
        seen.add(of(pa.concat_tables([whole.slice(place, 1) for place in order])))
    assert len(seen | {of(whole.slice(0, 0))}) == 9


def test_a_categorical_column_of_polars_is_what_it_holds():
    """Its texts are views, which Arrow does not put in place; order and nulls count."""
    every = [["a", "b", None], ["b", "a", None], ["a", "b", "b"], ["a", "b", ""]]
    frames = [pa.table(pl.DataFrame({"s": each}, {"s": pl.Categorical})) for each in every]
    assert {each["s"].type.value_type for each in frames} == {pa.string_view()}
    assert len({of(each) for each in frames}) == len(every)


def test_what_lies_beneath_a_null_does_not_count():
    """Two frames with the same values are one snapshot, whatever their memory holds."""
    validity = pa.py_buffer(b"\x05")
    arrays = [
        pa.Array.from_buffers(pa.int64(), 3, [validity, pa.array(values).buffers()[1]])
        for values in ([1, 2, 3], [1, 9, 3])
    ]
    assert arrays[0].equals(arrays[1])
    assert of(pa.table({"x": arrays[0]})) == of(pa.table({"x": arrays[1]}))
    assert of(pa.table({"x": arrays[0]})) != of(pa.table({"x": [1, 0, 3]}))


def test_types_and_borders_between_values_count():
    """The same bytes in other columns, rows or types are another table."""
    frames = [
        pa.table({"a": ["x", "yz"]}),
        pa.table({"a": ["xy", "z"]}),
        pa.table({"a": ["xyz"]}),
        pa.table({"a": ["x"], "b": ["yz"]}),
        pa.table({"a": pa.array([1, 2], pa.int32())}),
        pa.table({"a": pa.array([1, 2], pa.int64())}),
        pa.table({"a": pa.array([1 + (2 << 32)], pa.int64())}),
    ]
    assert len({of(each) for each in frames}) == len(frames)


def test_files_are_what_they_hold_whatever_they_are_called(tmp_path):
    """Names and places do not count, but the bytes, the number of files and the format do."""

    def found(**files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_bytes(text)
        return snapshot_of(Files.of(sorted(folder.iterdir())), None, KEY)

    first = found(a__csv=b"emp\n1\n", b__csv=b"emp\n2\n")
    assert first == found(y__CSV=b"emp\n1\n", x__csv=b"emp\n2\n")
    others = [
        found(a__csv=b"emp\n1\n"),
        found(a__csv=b"emp\n1\n", b__csv=b"emp\n3\n"),
        found(a__tsv=b"emp\n1\n"),
        found(a__csv=b"emp\n1\n", b__csv=b"emp\n1\n"),
    ]
    assert len({first, *others}) == 5
    packed = gzip.compress(b"emp\n1\n", mtime=0)
    assert found(a__csv__gz=packed) == found(c__csv__gz=packed)


def test_a_file_that_is_written_to_is_noticed(tmp_path):
    """Its bytes are no longer those that the table was opened on, even if it looks alike."""
    path = tmp_path / "est.csv"
    path.write_text("emp\n1\n")
    origin = Files.of([path])
    check_unchanged(origin)
    before = path.stat()
    path.write_text("emp\n2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(SourceError, match="changed since the table was opened"):
        check_unchanged(origin)
    with pytest.raises(SourceError, match="changed since the table was opened"):
        snapshot_of(origin, None, KEY)
    path.unlink()
    with pytest.raises(SourceError, match="changed since the table was opened"):
        check_unchanged(origin)


def test_where_tables_come_from(tmp_path):
    """Files and frames tell their own state; what each query reads anew does not."""
    frame = {"emp": [1, 2]}
    path = tmp_path / "est.parquet"
    pq.write_table(pa.table(frame), path)
    kinds = [
        (path, Files),
        (pa.table(frame), Frame),
        (pd.DataFrame(frame), Frame),
        (pl.DataFrame(frame), Frame),
        (pl.LazyFrame(frame), Frame),
        (ds.dataset(path), Elsewhere),
    ]
    for source, kind in kinds:
        with table(source, measures=["emp"]) as opened:
            assert isinstance(opened.engine.origin, kind)


def test_a_pandas_frame_that_is_changed_does_not_change_the_table():
    """The table is the frame as it was, and so is its snapshot."""
    frame = pd.DataFrame({"emp": [1, 2], "rent": [0.5, 1.5]})
    with table(frame, measures=["emp", "rent"]) as opened:
        before = snapshot_of(opened.engine.origin, None, KEY)
        frame.loc[0, "emp"] = 10**6
        frame.loc[0, "rent"] = 10.0**6
        assert snapshot_of(opened.engine.origin, None, KEY) == before
        read = opened.engine.frame(f"SELECT emp, rent FROM {opened.engine.relation}")
    assert read.to_pydict() == {"emp": [1, 2], "rent": [0.5, 1.5]}


def test_names():
    """Needed where nothing else tells, refused where the bytes do, and never a hash."""
    assert snapshot_of(Elsewhere(), "2026-11", KEY) == "2026-11"
    assert snapshot_of(Elsewhere("farms"), "2026-11", KEY) == "2026-11 of farms"
    assert snapshot_of(Frame(pa.table({"a": [1]})), "2026-11", KEY) == "2026-11"
    with pytest.raises(InputError, match="nothing tells one state of the data from another"):
        snapshot_of(Elsewhere(), None, KEY)
    with pytest.raises(InputError, match="leave snapshot= out"):
        snapshot_of(Files((), ()), "2026-11", KEY)
    for wrong in ("", "a\n", 7, "hmac:" + "0" * 64):
        with pytest.raises(InputError, match="expected printable text"):
            named(wrong)
