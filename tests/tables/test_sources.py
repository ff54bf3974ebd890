"""Any table as a source: what opens, what is refused, and that no refusal quotes a record."""

import codecs
import gzip
import sqlite3
import subprocess
import sys
import warnings
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest

from perrecord.errors import SchemaError, SourceError
from perrecord.tables.files import find_files
from perrecord.tables.lookups import Lookup
from perrecord.tables.measures import Measure
from perrecord.tables.sources import open_source
from perrecord.tables.table import table as table_of

SECRET = "-".join(("very", "confidential", "name"))


def contents(source, **options):
    """Return the columns and the rows that an engine sees."""
    with open_source(source, **options) as engine:
        table = engine.frame(f"SELECT * FROM {engine.relation}")
        assert dict(zip(table.schema.names, table.schema.types, strict=True)) == engine.columns
        return engine.columns, [tuple(row.values()) for row in table.to_pylist()]


def refusal(source, **options):
    """Return the message of a refusal, after checking that it quotes and chains nothing."""
    with pytest.raises(SourceError) as caught:
        open_source(source, **options)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a,b\n1,x\n", [("1", "x")]),
        (b"a,b\r\n1,x\r\n", [("1", "x")]),
        (b"\xef\xbb\xbfa,b\n1,x\n", [("1", "x")]),
        (b"a,b\n1,x", [("1", "x")]),
        (b'a,b\n"1","say ""x"", please"\n', [("1", 'say "x", please')]),
        (b'a,b\n1,"two\nlines"\n', [("1", "two\nlines")]),
        ("a,b\n1,\u00e9e\u0301\U0001f404\n".encode(), [("1", "\u00e9e\u0301\U0001f404")]),
        (b'a,b\n,""\n', [(None, None)]),
        (b"a,b\n001,NULL\nNA,\\N\n", [("001", "NULL"), ("NA", "\\N")]),
        (b"a,b\n 1 , x \n", [(" 1 ", " x ")]),
        (b"a,b\n#1,x\n", [("#1", "x")]),
        (b"a,b\n2020-01-01,1e3\n", [("2020-01-01", "1e3")]),
        (b"a,b\n", []),
        (b"a,b\n1,x\n\n2,y\n", [("1", "x"), ("2", "y")]),
        (b"a,b\n1," + b"x" * 5_000_000 + b"\n", [("1", "x" * 5_000_000)]),
    ],
)
def test_csv_is_read_as_text(tmp_path, data, expected):
    """Every field is text as it stands, an empty one NULL; nothing is guessed from the records."""
    path = tmp_path / "records.csv"
    path.write_bytes(data)
    assert contents(path) == ({"a": pa.string(), "b": pa.string()}, expected)


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1\n" + SECRET.encode() + b"\n",
        b"a,b\n1," + SECRET.encode() + b",3\n",
        b"a,b\n" + b"1,2\n" * 50_000 + SECRET.encode() + b"\n" + b"1,2\n" * 50_000,
        b"a,b\n1,\xff\xfe" + SECRET.encode() + b"\n",
        b'a,b\n1,"' + SECRET.encode() + b"\n",
        b'a,b\n1,"x"' + SECRET.encode() + b"\n",
        b"a,b\r\n1," + SECRET.encode() + b"\n2,3\r\n",
        b"a,b\n1," + SECRET.encode() * 1_000_000 + b"\n",
    ],
)
def test_csv_that_cannot_be_parsed_is_refused_at_opening(tmp_path, data):
    """Ragged, badly quoted, badly encoded or endless lines: the file is named, no line quoted."""
    path = tmp_path / "records.csv"
    path.write_bytes(data)
    assert str(path) in refusal(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n\n1,2\n", "begins with a blank line"),
        (b"a,a\n1,2\n", "differ at most in case, in columns 1, 2."),
        (b"a,b,A\n1,2,3\n", "differ at most in case, in columns 1, 3."),
        (f"{SECRET},7,{SECRET}\n1,2,3\n".encode(), "in columns 1, 3."),
        (b"a,,c\n1,2,3\n", "a column without a name, number 2"),
        (b"a,\xff\n1,2\n", "first line"),
        (b'a,"b\n1,2\n', "first line"),
        (b"a,_perrecord_x\n1,2\n", "_perrecord_x"),
        (b"a,_PERRECORD\n1,2\n", "_PERRECORD"),
    ],
)
def test_a_csv_header_must_name_each_column_once(tmp_path, data, message):
    """The message says which names, or that there are none."""
    path = tmp_path / "records.csv"
    path.write_bytes(data)
    assert message in refusal(path)


@pytest.mark.parametrize(
    "roles",
    [
        {"id": "ident"},
        {"unit": "firm"},
        {"measures": ["emp"]},
        {"measures": {"size": Measure(1, column="emp")}},
        {"dimensions": ["county"]},
        {"dimensions": {"state": "substr(county, 1, 2)"}},
        {"dimensions": {"state": "substr(", "county": "county"}},
        {"lookups": [Lookup(pa.table({"fips": ["1"], "x": ["y"]}), on={"county": "fips"})]},
    ],
)
def test_a_csv_file_without_a_header_is_not_quoted(tmp_path, roles):
    """None of the declared columns is there: its first line may be a record."""
    path = tmp_path / "records.csv"
    path.write_text(f"{SECRET},x,5\n")
    with pytest.raises(SourceError, match="A CSV file needs a header line") as caught:
        table_of(path, **roles)
    assert SECRET not in str(caught.value)


def test_a_csv_file_with_one_of_the_columns_has_a_header(tmp_path):
    """Then its names are shown, as those of any other source are."""
    path = tmp_path / "records.csv"
    path.write_text("county,emp\n1,5\n")
    with pytest.raises(SchemaError, match="It has county, emp"):
        table_of(path, id="ident", dimensions=["county"])
    with pytest.raises(SchemaError, match="It has county, emp"):
        table_of(pa.table({"county": ["1"], "emp": [5]}), id="ident")
    with table_of(path) as opened:
        assert opened.schema.id is None


def test_csv_may_be_compressed_tabbed_or_in_several_files(tmp_path):
    """.csv.gz, .tsv and a glob, whose files must share their first line."""
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    (tmp_path / "two.csv.gz").write_bytes(gzip.compress(b"a,b\n3,4\n"))
    (tmp_path / "tabs.tsv").write_text("a\tb\n5,\t6\n")
    assert contents(tmp_path / "two.csv.gz")[1] == [("3", "4")]
    assert contents(tmp_path / "tabs.tsv")[1] == [("5,", "6")]
    assert contents(str(tmp_path / "*.csv*"))[1] == [("1", "2"), ("3", "4")]
    (tmp_path / "other.csv").write_text("b,a\n1,2\n")
    assert "'one.csv' and 'other.csv' differ" in refusal(tmp_path / "o*.csv")
    (tmp_path / "false.csv.gz").write_text("a,b\n1,2\n")
    assert "false.csv.gz" in refusal(tmp_path / "false.csv.gz")


def test_only_csv_is_text_by_format(tmp_path):
    """A text measure may be parsed as a number only where the format has no numbers."""
    (tmp_path / "one.csv").write_text("a\n1\n")
    pq.write_table(pa.table({"a": ["1"]}), tmp_path / "one.parquet")
    for name, expected in (("one.csv", True), ("one.parquet", False)):
        with open_source(tmp_path / name) as engine:
            assert engine.is_text is expected


def test_parquet_files_share_a_schema(tmp_path):
    """A glob is one table; another type, name or order is refused with the column's name."""
    for name, table in {
        "a1": pa.table({"x": [1], "y": ["p"]}),
        "a2": pa.table({"x": [2], "y": pa.array(["q"]).dictionary_encode()}),
        "b": pa.table({"x": ["1"], "y": ["p"]}),
        "c": pa.table({"x": [1], "z": ["p"]}),
        "d": pa.table({"y": ["p"], "x": [1]}),
    }.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    assert contents(tmp_path / "a*.parquet")[1] == [(1, "p"), (2, "q")]
    assert "differ in x;" in refusal(tmp_path / "[ab]*.parquet")
    assert "differ in y, z;" in refusal(tmp_path / "[ac]*.parquet")
    assert "differ in the order of their columns" in refusal(tmp_path / "[ad]*.parquet")


def test_folder_names_are_no_columns(tmp_path):
    """state=TX in a path is not read as a column."""
    folder = tmp_path / "state=TX"
    folder.mkdir()
    pq.write_table(pa.table({"x": [1]}), folder / "a.parquet")
    assert contents(tmp_path / "*" / "*.parquet") == ({"x": pa.int64()}, [(1,)])


def test_a_path_with_a_bracket_or_a_quote_names_itself(tmp_path):
    """x[1].parquet is that file, not x1.parquet, and can be read again when access is off."""
    pq.write_table(pa.table({"x": [1]}), tmp_path / "x1.parquet")
    for name in ("x[1].parquet", "it's.parquet", "star*.parquet"):
        pq.write_table(pa.table({"x": [7]}), tmp_path / name)
        assert contents(tmp_path / name)[1] == [(7,)]


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    """Empty, cut short, another format, missing, a folder, or of an unknown ending."""
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"name": [SECRET]}), whole)
    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:-20])
    (tmp_path / "empty.parquet").write_bytes(b"")
    (tmp_path / "text.parquet").write_text(f"name\n{SECRET}\n")
    for name in ("cut", "empty", "text"):
        assert f"{name}.parquet" in refusal(tmp_path / f"{name}.parquet")
    for missing in ("none.parquet", "none*.csv"):
        assert "there is no file" in refusal(tmp_path / missing)
    assert "is a folder; name its files" in refusal(tmp_path)
    (tmp_path / "table.ods").write_bytes(b"")
    said = refusal(tmp_path / "table.ods")
    assert "ends in none of .parquet" in said
    assert "save it as .xlsx" in said
    (tmp_path / "whole.csv").write_text("name\nx\n")
    assert "one format for all" in refusal(tmp_path / "whole.*")


def test_parquet_names_each_column_once(tmp_path):
    """DuckDB would rename the second one without a word."""
    path = tmp_path / "twice.parquet"
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], ["x", "X"]), path)
    assert "differ at most in case: x, X" in refusal(path)


def test_a_page_that_is_broken_fails_without_quoting(tmp_path):
    """The footer is whole, so it opens; reading it is an error of ours."""
    path = tmp_path / "broken.parquet"
    pq.write_table(pa.table({"name": [SECRET] * 1000}), path, compression="none")
    data = bytearray(path.read_bytes())
    data[4:40] = b"\xff" * 36
    path.write_bytes(bytes(data))
    with open_source(path) as engine, pytest.raises(SourceError, match="withheld"):
        engine.frame(f"SELECT * FROM {engine.relation}")


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table,
        lambda table: table.to_batches()[0],
        lambda table: table.to_reader(),
        pa_dataset.dataset,
        lambda table: pd.DataFrame(
            {"a": pd.array([1, None], "Int64"), "b": ["x", None]}, index=[5, 6]
        ),
        pl.from_arrow,
        lambda table: pl.from_arrow(table).lazy(),
        lambda table: Stream(table),  # noqa: PLW0108 -- defined below
    ],
    ids=["table", "batch", "reader", "dataset", "pandas", "polars", "lazy", "stream"],
)
def test_tables_in_memory(make):
    """Arrow, pandas, Polars and any Arrow stream hold the same rows; an index is no column."""
    table = pa.table({"a": [1, None], "b": ["x", None]})
    columns, found = contents(make(table))
    assert columns == {"a": pa.int64(), "b": pa.string()}
    assert found == [(1, "x"), (None, None)]


class Stream:
    """Something that only speaks Arrow's C stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_pandas_columns_that_mix_types_are_named():
    """The column is named and no value."""
    message = refusal(pd.DataFrame({"fine": [1, 2], "mixed": pd.Series([1, SECRET], dtype=object)}))
    assert "'mixed'" in message
    message = refusal(pd.DataFrame({"huge": pd.Series([2**70, 1], dtype=object)}))
    assert "'huge'" in message


def test_pandas_nan_is_null_and_an_empty_column_is_text():
    """A column of nothing but None has no type of its own."""
    frame = pd.DataFrame({"x": [1.5, float("nan")], "none": pd.Series([None, None], dtype=object)})
    columns, found = contents(frame)
    assert columns == {"x": pa.float64(), "none": pa.string()}
    assert found == [(1.5, None), (None, None)]


def test_a_pandas_category_without_categories_is_text():
    """One record must not decide whether a table is refused: alone and missing, it is text too."""
    for values in (["a", None], [None, None]):
        columns, found = contents(pd.DataFrame({"s": pd.Series(values, dtype="category")}))
        assert columns == {"s": pa.string()}
        assert found == [(each,) for each in values]


def test_pandas_names_are_text_and_unique():
    """Two columns of one name, or of names that differ in case."""
    assert contents(pd.DataFrame({0: [1]}))[0] == {"0": pa.int64()}
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert "a, a" in refusal(twice)


def test_polars_objects_are_refused():
    """A Python object has no Arrow type."""
    frame = pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)})
    assert "column x holds Python objects" in refusal(frame)


def test_a_lazy_frame_that_fails_quotes_nothing():
    """The failure is the query's own and may hold a value."""
    lazy = pl.LazyFrame({"x": [SECRET]}).select(pl.col("x").cast(pl.Int64))
    assert "LazyFrame" in refusal(lazy)


def test_decimals_and_wide_integers_stay_exact():
    """38 digits arrive as they are."""
    values = [Decimal(10**37 + 1), None]
    table = pa.table({"x": pa.array(values, pa.decimal128(38, 0))})
    assert contents(table)[1] == [(values[0],), (None,)]


@pytest.mark.parametrize("source", [5, None, ["a.parquet"], {"a": [1]}, object()])
def test_anything_else_is_refused(source):
    """The message shows what would do."""
    assert "farms.parquet" in refusal(source)


@pytest.fixture
def sqlite_file(tmp_path):
    """A SQLite database whose integers no float can hold, with a NULL beside them."""
    path = tmp_path / "farms.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE farms (state TEXT, cattle INTEGER)")
    connection.executemany("INSERT INTO farms VALUES (?, ?)", [("TX", 2**62 + 1), ("é", None)])
    connection.commit()
    connection.close()
    return path


def test_sqlite_integers_stay_exact(sqlite_file):
    """Ibis itself would read 2^62 + 1 beside a NULL as 2^62."""
    expected = {"state": pa.string(), "cattle": pa.int64()}, [("TX", 2**62 + 1), ("é", None)]
    assert contents(f"sqlite://{sqlite_file}", relation="farms") == expected


def test_an_address_needs_a_table_and_is_never_quoted(sqlite_file):
    """Which tables there are is said; a password in the address is not."""
    assert 'relation="farms"' in refusal(f"sqlite://{sqlite_file}")
    assert "Did you mean 'farms'?" in refusal(f"sqlite://{sqlite_file}", relation="farm")
    assert "postgres" in refusal(f"postgres://user:{SECRET}@127.0.0.1:1/x", relation="farms")
    assert "leave it out" in refusal(pa.table({"a": [1]}), relation="farms")


def test_a_duckdb_file_is_attached_for_reading(tmp_path):
    """A table or a view of it, in a schema or not; it is never written to."""
    path = tmp_path / "farms.ddb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE farms AS SELECT 1 AS cattle")
        connection.execute("CREATE SCHEMA other")
        connection.execute(
            "CREATE VIEW other.doubled AS SELECT 2 * cattle AS cattle FROM main.farms"
        )
    before = path.read_bytes()
    assert contents(f"duckdb://{path}", relation="farms") == ({"cattle": pa.int32()}, [(1,)])
    assert contents(f"duckdb://{path}", relation="other.doubled")[1] == [(2,)]
    assert "It has farms" in refusal(f"duckdb://{path}", relation="farm")
    assert "there is no file" in refusal(f"duckdb://{tmp_path}/none.ddb", relation="farms")
    opened = open_source(f"duckdb://{path}", relation="farms")
    with opened as engine, pytest.raises(SourceError):
        engine._database.run(f"INSERT INTO {engine.relation} VALUES (2)")
    assert path.read_bytes() == before
    (tmp_path / "text.ddb").write_text(SECRET)
    assert "another format or version" in refusal(f"duckdb://{tmp_path}/text.ddb", relation="farms")


def test_ibis_tables(sqlite_file, tmp_path):
    """A memtable, a temporary view of DuckDB and a SQLite table."""
    pq.write_table(pa.table({"x": [2**62 + 1, None]}), tmp_path / "x.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis 12 on newer pandas and DuckDB
        import ibis

        memory = ibis.memtable(pa.table({"x": [2**62 + 1, None]}))
        view = ibis.duckdb.connect().read_parquet(tmp_path / "x.parquet")
        lite = ibis.sqlite.connect(sqlite_file).table("farms").select(x=ibis._.cattle)
    for table in (memory, view, lite):
        assert contents(table) == ({"x": pa.int64()}, [(2**62 + 1,), (None,)])


def test_a_missing_package_says_what_to_install(monkeypatch):
    """Ibis and psycopg are optional, and SQLite needs neither."""
    monkeypatch.setitem(sys.modules, "ibis", None)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'perrecord[ibis]'" in refusal("mysql://host/x", relation="farms")
    assert "pip install 'perrecord[postgres]'" in refusal("postgres://host/x", relation="farms")


def test_nothing_is_imported_that_the_source_does_not_need(tmp_path):
    """Opening and reading a file imports neither pandas, Polars, Ibis nor PySpark."""
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": [1]}), path)
    program = (
        "import sys\n"
        "from perrecord.tables.sources import open_source\n"
        "with open_source(sys.argv[1]) as engine:\n"
        "    engine.frame(f'SELECT * FROM {engine.relation}')\n"
        "print([name for name in ('pandas', 'polars', 'ibis', 'pyspark') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, path]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# -- which files a source is ------------------------------------------------------------------


@pytest.fixture
def doubled(tmp_path):
    """A folder in which one file of two records is reached in many ways."""
    inner = tmp_path / "data" / "inner"
    inner.mkdir(parents=True)
    (inner / "one.csv").write_text("id\n1\n2\n")
    (tmp_path / "data" / "symbolic.csv").symlink_to(inner / "one.csv")
    (tmp_path / "data" / "hard.csv").hardlink_to(inner / "one.csv")
    (tmp_path / "data" / "again").symlink_to(inner, target_is_directory=True)
    (tmp_path / "data" / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    return tmp_path / "data"


@pytest.mark.parametrize("pattern", ["*.csv", "**/*.csv", "**/**/*.csv", "*/one.csv", "**"])
def test_a_file_that_a_glob_meets_twice_is_read_once(doubled, pattern):
    """By a symbolic link, a hard link, a linked folder or **/**: each record is there once."""
    assert contents(doubled / pattern)[1] == [("1",), ("2",)]


def test_copies_are_files_of_their_own(doubled):
    """Two files with the same bytes are two files, and their order is that of their names."""
    (doubled / "inner" / "two.csv").write_text("id\n1\n2\n")
    assert len(contents(doubled / "**" / "*.csv")[1]) == 4
    assert [path.name for path in find_files(doubled / "**" / "*.csv")] == ["hard.csv", "two.csv"]


# -- files that are no CSV as we read it --------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.csv", f"id;emp\n1;{SECRET}\n".encode(), "semicolons; it looks as if semicolons"),
        ("x.csv", b"id;emp\n1;2,5\n", "If its numbers are written as 1,5, say also"),
        ("x.csv", b"id\temp\n1\t2\n", 'say so: source: {path: "x.csv", separator: "\\t"}'),
        ("x.csv", b"id|emp\n1|2\n", "holds vertical bars"),
        ("x.tsv", b"id,emp\n1,2\n", "where tabs are expected: say so"),
        ("x.tsv", b"id;emp\n1;2\n", "where tabs are expected: say so"),
        ("x.csv", "id,emp\n1,2\n".encode("utf-16"), "looks like UTF-16"),
        *(
            ("x.csv", "größe,łąka,emp\n1,łódź,2\n".encode(encoding), "looks like UTF-16 or UTF-32")
            for encoding in ("utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
        ),
        ("x.csv", codecs.BOM_UTF16_BE + "число\n1\n".encode("utf-16-be"), "looks like UTF-16"),
        ("x.csv", codecs.BOM_UTF32_BE + "число\n1\n".encode("utf-32-be"), "looks like UTF-16"),
        ("x.csv", b"id,e\0mp\n1,2\n", "the character NUL"),
        ("x.csv", b"\0,\0a\n1,2\n", "the character NUL"),
        ("x.csv", "id,größe\n1,2\n".encode("latin-1"), "looks like Latin-1 or Windows-1252"),
        (
            "x.csv.gz",
            gzip.compress("id,größe\n".encode("latin-1"), mtime=0),
            'encoding: "windows-1252"',
        ),
    ],
)
def test_a_file_of_another_separator_or_encoding_is_named(tmp_path, name, data, message):
    """What it looks like and what to do; the line itself is not shown."""
    (tmp_path / name).write_bytes(data)
    found = refusal(tmp_path / name)
    assert message in found
    assert name in found


def test_a_long_first_line_may_be_cut_within_a_character(tmp_path):
    """Only the beginning of a file is looked at for its encoding."""
    names = ["é" * 60_001, "b"]
    (tmp_path / "x.csv").write_text(",".join(names) + "\n1,2\n", encoding="utf-8")
    with open_source(tmp_path / "x.csv") as engine:
        assert list(engine.columns) == names
