"""Hostile keys come out as they went in, by every way in and every way out."""

import csv
import json
import unicodedata

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from perrecord import InputError, Keys, Query, Session, SourceError, table
from perrecord.accounting.budget import Budget
from perrecord.release.publish import release
from perrecord.release.reading import read_published
from perrecord.tables import keys as keys_module
from tests.hostile import keys_release
from tests.hostile.keys import EVERY, HALF_PAIRS, KINDS, random_keys
from tests.hostile.keys_release import CASES, COUNTS, MISSING, RHO, quoted, shared_folder

WITHOUT_FIRST = {key: count for key, count in COUNTS.items() if count > 1}
"""Keys of more than one record, which selection finds at these amounts."""

WANTED = {
    "from_parquet": {**COUNTS, None: MISSING},
    "from_csv": COUNTS,
    "from_values": COUNTS,
    "from_domain": COUNTS,
    "from_sql": COUNTS,
    "found_keys": {**WITHOUT_FIRST, None: MISSING},
    "looked_up": {f"{key}\u2192": count for key, count in COUNTS.items()},
    "by_parts": {key: 10 * count for key, count in COUNTS.items()},
    "filtered": {(): sum(COUNTS.values())},
    "derived": {
        **{key[::-1] + str(place): place + 1 for place, key in enumerate(EVERY[:40])},
        "other": sum(list(COUNTS.values())[40:]) + MISSING,
    },
}


OF_KIND = "hostile keys of the kind "
"""How the figures of one kind of keys are called."""


@pytest.fixture
def released():
    """The folder of a release of every hostile key."""
    return shared_folder() / "out"


def counted(rows: pa.Table) -> dict:
    """Return the first answer of a table by its key."""
    first = next(
        place for place, name in enumerate(rows.column_names) if f"{name}_se" in rows.schema.names
    )
    keys = [()] * rows.num_rows if first == 0 else rows.column(0).to_pylist()
    values = rows.column(first).to_pylist()
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, values, strict=True))


@pytest.mark.parametrize("name", WANTED)
def test_every_way_to_give_keys_counts_the_right_records(name, released, record_property):
    """Files, lists, domains, lookups, selection, filters, cases and SQL: each key has its count."""
    found = counted(pq.read_table(released / "tables" / f"{name}.parquet"))
    assert found == WANTED[name]
    record_property("keys round-tripped", len(found))


def test_every_kind_of_key_has_come_back(released, record_property):
    """Counted in what was published, kind by kind."""
    found = {*pq.read_table(released / "tables" / "from_parquet.parquet")["key"].to_pylist()}
    for kind, keys in KINDS.items():
        assert found.issuperset(keys)
        record_property(f"{OF_KIND}{kind}", len(found.intersection(keys)))


# -- readers -----------------------------------------------------------------------------------


def as_it_is(text):
    """Return text of our CSV files without the apostrophe that keeps spreadsheets quiet."""
    return text[1:] if text is not None and text.startswith("'") else text


def from_csv_module(path):
    """Python's own reader, which knows no missing values."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    return [as_it_is(row[0]) for row in rows[1:]]


def from_pandas(path):
    """Return the keys as pandas reads them, told not to guess."""
    read = pd.read_csv(path, dtype={"key": str}, keep_default_na=False)
    return [as_it_is(key) for key in read["key"]]


def from_polars(path):
    """Return the keys as Polars reads them."""
    read = pl.read_csv(path, schema_overrides={"key": pl.String}, infer_schema_length=None)
    return [as_it_is(key) for key in read["key"].to_list()]


def from_arrow(path):
    """Return the keys as Arrow reads them; it tells the empty text from a missing value."""
    options = pa_csv.ConvertOptions(
        column_types={"key": pa.string()}, strings_can_be_null=True, null_values=[""],
        quoted_strings_can_be_null=False,
    )  # fmt: skip
    lines = pa_csv.ParseOptions(newlines_in_values=True)
    read = pa_csv.read_csv(path, parse_options=lines, convert_options=options)
    return [as_it_is(key) for key in read["key"].to_pylist()]


def from_duckdb(path):
    """Return the keys as DuckDB reads them; it tells the empty text from a missing value too."""
    names = path.read_text("utf-8").partition("\n")[0].replace('"', "").split(",")
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
    sql = (
        f"SELECT key FROM read_csv('{path}', header = true, auto_detect = false, delim = ',', "
        f"quote = '\"', escape = '\"', new_line = '\\n', allow_quoted_nulls = false, "
        f"columns = {{{columns}}})"
    )
    with duckdb.connect() as connection:
        return [as_it_is(row[0]) for row in connection.execute(sql).fetchall()]


CSV_READERS = {
    "csv": (from_csv_module, ""),
    "pandas": (from_pandas, ""),
    "polars": (from_polars, None),
    "pyarrow": (from_arrow, None),
    "duckdb": (from_duckdb, None),
}


@pytest.mark.parametrize("reader", CSV_READERS)
def test_every_reader_of_csv_has_the_keys_back(reader, released, record_property):
    """Exactly, after one rule that is written beside the file; what is missing as it can be."""
    read, missing = CSV_READERS[reader]
    path = released / "tables" / "from_parquet.csv"
    exact = pq.read_table(released / "tables" / "from_parquet.parquet")["key"].to_pylist()
    assert read(path) == [missing if key is None else key for key in exact]
    package = json.loads((released / "datapackage.json").read_text("utf-8"))
    described = {each["path"]: each.get("description", "") for each in package["resources"]}
    assert "take one away" in described["tables/from_parquet.csv"]
    record_property("readers of CSV", 1)


def test_no_cell_of_csv_begins_as_a_formula(released):
    """Of all files of the release; a spreadsheet shows text as text."""
    for path in (released / "tables").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            first = [row[0] for row in csv.reader(file)]
        if path.name == "filtered.csv":
            continue
        assert not [
            text for text in first if text[:1] in tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
        ]


@pytest.mark.parametrize(
    "read",
    [
        lambda path: pd.read_parquet(path)["key"].tolist(),
        lambda path: pl.read_parquet(path)["key"].to_list(),
        lambda path: pq.read_table(path)["key"].to_pylist(),
        lambda path: [row[0] for row in duckdb.execute(f"SELECT key FROM '{path}'").fetchall()],
    ],
    ids=["pandas", "polars", "pyarrow", "duckdb"],
)
def test_every_reader_of_parquet_has_the_keys_back(read, released, record_property):
    """Exactly, and the missing one is missing."""
    found = [
        None if pd.isna(key) else key for key in read(released / "tables/from_parquet.parquet")
    ]
    assert sorted(found, key=lambda key: (key is None, key or "")) == [*sorted(EVERY), None]
    record_property("readers of Parquet", 1)


def test_the_policy_document_keeps_every_case(released):
    """Read back, it gives each key the loss of its own threshold."""
    published = read_published((released / "policy.json").read_text("utf-8"))
    for place, key in enumerate(CASES):
        one = published.total.loss({"emp": 0, "key": key})
        much = published.total.loss({"emp": 1000, "key": key})
        parts = (100**2 - 1) * RHO  # ten to a piece
        assert much - one == (((1000 + place) // (place + 1)) ** 2 - 1) * RHO + parts


# -- many, impossible --------------------------------------------------------------------------


def asked(folder, keys, known=None):
    """Return the counts by key of records of these keys, by a session."""
    source = pa.table({"key": pa.array(keys, pa.string())})
    with table(source, dimensions=["key"], name="est") as opened:
        session = Session(opened, ledger=folder / "s.ledger", budget=Budget(10**9), new=True)
        cells = Keys.from_columns(pa.table({"key": pa.array(known or keys, pa.string())}))
        query = Query("est").group_by("key", keys=cells).count(rho=RHO)
        return session.ask(query)


def test_lines_within_keys_of_a_long_file(tmp_path):
    """A CSV file of keys is read in blocks; the end of one may lie within quotes."""
    keys = sorted(f"{number}\n{'x' * 50}\r\n{number}" for number in range(30_000))
    path = tmp_path / "keys.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["key"], *([key] for key in keys)])
    assert path.stat().st_size > 1 << 20
    assert [row[0] for row in Keys.read(path)] == keys


@pytest.mark.parametrize("half", HALF_PAIRS)
def test_half_a_pair_is_refused_in_clear_words(half, tmp_path):
    """No file can hold it: in a spec at its line, in keys and in a source by its column."""
    path = keys_release.write_folder(tmp_path)
    written = path.read_text("utf-8")
    path.write_text(written.replace("values: [", f"values: [{quoted(half)}, ", 1), "utf-8")
    with pytest.raises(InputError, match=r"release.yaml:7: .*half a character"):
        release(path, tmp_path / "out")
    for given in ({"key": [half]}, {"key": ["x", half]}):
        with pytest.raises(InputError, match="keys"):
            Keys.from_dict(given)
    with pytest.raises(InputError, match="key column"):
        Keys.from_dict({"a": ["x"]}).with_parent("parent", "a", {"x": half})
    with pytest.raises(SourceError, match="column 'key'") as refused:
        table(pd.DataFrame({"key": pd.Series([half], dtype=object)}), dimensions=["key"])
    assert half not in str(refused.value)


def test_escapes_in_pairs_are_one_character(tmp_path):
    """JSON writes rare characters as two escapes, and a spec may be JSON."""
    path = keys_release.write_folder(tmp_path)
    assert "\\ud835\\udd4f" in path.read_text("utf-8")  # and the release above has the key


@pytest.mark.audit
def test_two_hundred_thousand_random_keys(tmp_path, record_property):
    """Of every plane: each has its own count, in the session and in both formats."""
    keys = random_keys(200_000)
    chosen = [key for place, key in enumerate(keys) for _ in range(1 + place % 3)]
    found = asked(tmp_path, chosen, keys)
    wanted = {key: 1 + place % 3 for place, key in enumerate(keys)}
    read = found.table
    assert dict(zip(read["key"].to_pylist(), read["count"].to_pylist(), strict=True)) == wanted
    found.write_csv(tmp_path / "many.csv")
    found.write_parquet(tmp_path / "many.parquet")
    exact = pq.read_table(tmp_path / "many.parquet")["key"].to_pylist()
    assert set(exact) == set(keys)
    for reader, (read_back, _) in CSV_READERS.items():
        assert read_back(tmp_path / "many.csv") == exact, reader
    record_property("random keys", len(keys))


# -- positive controls -------------------------------------------------------------------------

BROKEN = {
    "trims": str.strip,
    "composes": lambda key: unicodedata.normalize("NFC", key),
    "folds case": str.casefold,
    "drops NUL": lambda key: key.replace("\0", ""),
    "knows lines by one end": lambda key: key.replace("\r\n", "\n"),
    "reads numbers": lambda key: key.lstrip("0") or key,
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_key_set_that_changes_keys_is_caught(fault, tmp_path, monkeypatch):
    """Broken twins: the same comparison fails, whatever the twin does to keys."""
    original = keys_module._stored

    def changing(column, name):
        stored = original(column, name)
        return pa.chunked_array(
            [pa.array([key and BROKEN[fault](key) for key in stored.to_pylist()], stored.type)]
        )

    monkeypatch.setattr(keys_module, "_stored", changing)
    found = asked(tmp_path, EVERY).table
    counts = dict(zip(found["key"].to_pylist(), found["count"].to_pylist(), strict=True))
    assert counts != dict.fromkeys(EVERY, 1)


def test_apostrophes_in_front_keep_keys_apart(tmp_path):
    """Broken twin: with an apostrophe before formulas alone, two keys of ours become one."""
    twin = ["'" + key if key[:1] in tuple("=+-@\t\r\n") else key for key in EVERY]
    assert len(set(twin)) < len(EVERY)
    assert len({*EVERY}) == sum(map(len, KINDS.values())) == len(EVERY)
