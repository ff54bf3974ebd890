"""Parquet files whose statistics are wrong, missing or leave NaN out: readings stay the same."""

import math
import struct
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Measure, Query, Split, table
from perrecord.evaluate.doctor import examine
from perrecord.queries.plan import plan
from perrecord.tables.dialects import DUCKDB
from perrecord.tables.measures import grid_sql
from tests.queries.reference import exact

BEYOND = 987654321.5
MEASURES = [
    Measure(),
    Measure("0.01"),
    Measure(7, outside="cut"),
    Measure(1, largest=100, outside="cut"),
    Measure("0.5", largest=100),
]
SAMPLES = {
    pa.float64(): [1.0, 2.5, math.nan, math.inf, -math.inf, None, 1e300, BEYOND],
    pa.float32(): [1.0, 2.5, math.nan, math.inf, -math.inf, None, 3e38, BEYOND],
    pa.int64(): [1, 2, None, -(2**63), 2**63 - 1, 987654321],
    pa.int32(): [1, 2, None, -(2**31), 2**31 - 1, 987654321],
    pa.int16(): [1, 2, None, -(2**15), 2**15 - 1, 9876],
    pa.uint64(): [1, 2, None, 2**64 - 1, 987654321],
    pa.decimal128(18, 2): [Decimal(1), None, Decimal(10**16 - 1), Decimal("987654321.25")],
    pa.decimal128(9, 2): [Decimal(1), None, Decimal(10**7 - 1), Decimal("98765.25")],
}
STATISTICS = ["true", "absent", "none of the column", "wrong"]


def written(path, kind, values, statistics):
    """Write a file of one column whose statistics are as described."""
    column = pa.array(values, kind)
    rows = pa.table({"v": column, "w": pa.array([1] * len(values))})
    if statistics != "wrong":
        shown = {"true": True, "absent": False, "none of the column": ["w"]}[statistics]
        pq.write_table(rows, path, write_statistics=shown)
        return
    # The file is written with other numbers, then the footer of that file follows our data: the
    # lengths are the same, so that only the least and greatest values differ.
    other = pa.table({"v": pa.array([1] * len(values), pa.int8()).cast(kind), "w": rows["w"]})
    pages = {"use_dictionary": False, "compression": "none", "column_encoding": "PLAIN"}
    pq.write_table(rows, path, **pages)
    data, size = path.read_bytes(), footer_size(path)
    lying = path.with_suffix(".other")
    nulls = column.is_null()
    first = next(place for place, value in enumerate(values) if value is not None)
    kept = other["v"].combine_chunks().take(pa.array([first] * len(values)))
    kept = pa.compute.if_else(nulls, pa.scalar(None, kind), kept)
    pq.write_table(other.set_column(0, "v", kept), lying, **pages)
    false_footer = lying.read_bytes()[-8 - footer_size(lying) :]
    path.write_bytes(data[: -8 - size] + false_footer)
    lying.unlink()


def footer_size(path):
    """Return the length of a Parquet file's footer."""
    return struct.unpack("<I", path.read_bytes()[-8:-4])[0]


def held(kind, value):
    """Return a value as Python's side has it."""
    return np.float32(value) if kind == pa.float32() and value is not None else value


@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("kind", list(SAMPLES), ids=str)
def test_a_measure_is_read_from_the_values_alone(kind, statistics, tmp_path):
    """Every type, every rule for what is out of range; on our connection and on a plain one."""
    path = tmp_path / "t.parquet"
    values = SAMPLES[kind] * 3
    written(path, kind, values, statistics)
    if statistics == "wrong":
        found = pq.ParquetFile(path).metadata.row_group(0).column(0).statistics
        assert found.max == held(kind, 1)
    with duckdb.connect() as connection:
        for measure in MEASURES:
            expected = [measure.grid(held(kind, value)) for value in values]
            with table(path, measures={"v": measure}) as opened:
                assert opened.engine.frame(opened.select(["v"]))["v"].to_pylist() == expected
            sql = grid_sql(measure, "v", kind, DUCKDB)
            rows = connection.sql(f"SELECT {sql} FROM '{path}'").fetchall()
            assert [row[0] for row in rows] == expected
            above = f"SELECT count(*), sum(g) FROM (SELECT {sql} AS g FROM '{path}') WHERE g > 2"
            large = [each for each in expected if each is not None and each > 2]
            assert connection.sql(above).fetchall() == [(len(large), sum(large) if large else None)]


@pytest.mark.parametrize("statistics", STATISTICS)
def test_one_record_cannot_make_numbers_of_others(statistics, tmp_path):
    """A thousand NaN and one value beyond 64 bits: the values that are counted are the three."""
    values = [math.nan] * 1000 + [5.0, 7.0, 1e300]
    path = tmp_path / "t.parquet"
    written(path, pa.float64(), values, statistics)
    measures = {"v": Measure(1, largest=100, outside="cut")}
    asked = Query().sum("v", split=Split(v=10), rho=1).count("v", rho=1)
    for source in (path, guest(path)):
        with table(source, measures=measures) as opened:
            numbers = [each for found, _ in exact(plan(asked, opened.schema), opened)
                       for each in found.values()]  # fmt: skip
            assert sorted(numbers) == [[3], [112]]
            found = examine(opened, {}, {}).measures[0]
            assert (found.missing, found.not_a_number, found.outside) == (0, 1000, 1)


def guest(path):
    """Return the file as an Ibis table of a DuckDB whose settings are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ibis

        connection = ibis.duckdb.connect()
        connection.raw_sql(f"CREATE VIEW t AS FROM '{path}'")
        return connection.table("t")
