"""Tables as Parquet files: what is read is what was written, however it is stored."""

from decimal import Decimal
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from perrecord.mechanisms.write import write_parquet
from perrecord.tables.keys import Keys

texts = st.lists(st.one_of(st.none(), st.text("abé☃'", max_size=3)), max_size=4)
wholes = st.integers(-(2**63), 2**63 - 1)


def read_back(table, keys=None):
    """Return a table as it is read, and what its file says of itself."""
    buffer = BytesIO()
    write_parquet(table, buffer, keys)
    file = pq.ParquetFile(buffer)
    return file.read(), file.metadata


@given(texts, texts, st.data())
def test_what_is_read_is_what_was_written(states, kinds, data):
    """Keys of text, null or nothing; numbers up to both ends of 64 bits."""
    years = Keys.from_columns({"year": pa.array([2024, 2025], pa.int64())})
    keys = years
    for name, values in (("state", states), ("kind", kinds)):
        keys *= Keys.from_columns({name: pa.array(values, pa.string())})
    size = len(keys)
    numbers = data.draw(st.lists(wholes, min_size=size, max_size=size))
    table = keys.table.append_column("jobs", pa.array(numbers, pa.int64()))
    table = table.append_column("jobs_se", pa.array([2.5] * size, pa.float64()))
    for given_keys in (keys, None):
        assert read_back(table, given_keys)[0].equals(table)


def test_numbers_are_stored_as_differences():
    """Noise is not compressed, which would only take time; text has no statistics."""
    keys = Keys.from_dict({"state": ["NM", "TX"], "kind": ["farm", "ranch"]})
    short = pa.array([Decimal("1.25")] * 4, pa.decimal128(18, 2))
    long = pa.array([Decimal("1.25")] * 4, pa.decimal128(30, 2))
    table = keys.table.append_column("jobs", pa.array([3, -9, 2**40, 0], pa.int64()))
    table = table.append_column("pay", short).append_column("assets", long)
    read, metadata = read_back(table, keys)
    assert read.equals(table)
    columns = [metadata.row_group(0).column(place) for place in range(metadata.num_columns)]
    stored = {each.path_in_schema: each for each in columns}
    for name in ("jobs", "pay"):
        assert "DELTA_BINARY_PACKED" in stored[name].encodings
        assert stored[name].compression == "UNCOMPRESSED"
    assert stored["jobs"].statistics.min == -9
    for name in ("state", "kind"):
        assert "RLE_DICTIONARY" in stored[name].encodings
        assert stored[name].statistics is None
    assert stored["assets"].compression == "ZSTD"


def test_the_same_table_gives_the_same_bytes():
    """However its rows are cut into chunks."""
    table = pa.table({"state": ["NM", "TX", "TX"], "jobs": [3, 4, 5]})
    files = []
    for each in (table, pa.concat_tables([table.slice(0, 1), table.slice(1)])):
        buffer = BytesIO()
        write_parquet(each, buffer)
        files.append(buffer.getvalue())
    assert files[0] == files[1]
