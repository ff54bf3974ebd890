"""Files of other programs: each written by a library of its own side, read as Parquet is."""

import datetime as dt
import gzip
import random
import warnings
import zipfile

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from perrecord import File, InputError, Linked, Measure, SchemaError, SourceError, table
from perrecord.lab.audit.doors.sas7bdat import write_sas7bdat
from perrecord.tables import streams, workbooks
from perrecord.tables.files import check_names
from perrecord.tables.snapshots import snapshot_of

SECRET = "QZXCANARYQZX"
COUNT = 300


def records():
    """Return rows of text, numbers, dates and moments, with some of each missing."""
    drawn = random.Random(5)
    day, moment = dt.date(1948, 2, 29), dt.datetime(1948, 2, 29, 23, 59, 58, 500000)
    rows = []
    for place in range(COUNT):
        row = {
            "id": f"e{place}",
            "state": drawn.choice(["TX", "Ñandú", "a;b", 'say "x"', "1,5"]),
            "sector": drawn.randrange(10, 14),
            "emp": drawn.randrange(0, 2000),
            "rent": drawn.choice([0.1, 1.005, 2.675, -0.5, 1e6 + 0.25, round(drawn.random(), 3)]),
            "ruling": day + dt.timedelta(days=drawn.randrange(40000)),
            "seen": moment + dt.timedelta(hours=drawn.randrange(600000)),
        }
        rows.append({k: None if k != "id" and drawn.random() < 0.1 else v for k, v in row.items()})
    return rows


ROWS = records()
NAMES = list(ROWS[0])
COLUMNS = {name: [row[name] for row in ROWS] for name in NAMES}
DIMENSIONS = {
    "state": "state",
    "sector": "sector",
    "year": "year(ruling)",
    "month": "date_trunc('month', ruling)",
    "quarter": "quarter(seen)",
    "ruling": "ruling",
}
MEASURES = {"emp": 1, "rent": Measure("0.01", largest=10**9)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same records in every format, by the writers of the other side."""
    here = tmp_path_factory.mktemp("formats")
    whole = pa.table(
        {
            **{name: COLUMNS[name] for name in ("id", "state")},
            "sector": pa.array(COLUMNS["sector"], pa.int64()),
            "emp": pa.array(COLUMNS["emp"], pa.int64()),
            "rent": pa.array(COLUMNS["rent"], pa.float64()),
            "ruling": pa.array(COLUMNS["ruling"], pa.date32()),
            "seen": pa.array(COLUMNS["seen"], pa.timestamp("us")),
        }
    )
    pq.write_table(whole, here / "est.parquet")
    frame = whole.to_pandas(date_as_object=True).astype({"sector": "float64", "emp": "float64"})
    pyreadstat.write_sav(frame, here / "est.sav")
    pyreadstat.write_sav(frame, here / "est.zsav", compress=True)
    pyreadstat.write_dta(frame, here / "est.dta")
    pyreadstat.write_xport(frame, here / "est.xpt", file_format_version=8)
    sas = [
        [(each - dt.date(1960, 1, 1)).days if type(each) is dt.date else each for each in row]
        for row in ([row[name] for name in NAMES] for row in ROWS)
    ]
    sas = [
        [
            (each - dt.datetime(1960, 1, 1)).total_seconds() if type(each) is dt.datetime else each
            for each in row
        ]
        for row in sas
    ]
    formats = ["$", "$", "", "", "", "DATE9", "DATETIME20"]
    write_sas7bdat(here / "est.sas7bdat", NAMES, formats, sas)
    whole.to_pandas(date_as_object=True).astype({"sector": "Int64", "emp": "Int64"}).to_excel(
        here / "est.xlsx", index=False, sheet_name="Records"
    )
    text = whole.to_pandas(date_as_object=True).astype({"sector": "Int64", "emp": "Int64"})
    plain = {"index": False, "encoding": "utf-8"}
    text.to_csv(here / "est.csv", **plain)
    text.to_csv(here / "est.csv.zst", **plain)
    text.to_csv(here / "est.csv.gz", **plain)
    text.to_csv(here / "semicolons.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    text.to_csv(here / "wide.csv", sep="|", index=False, encoding="utf-16")
    text.to_csv(here / "apostrophes.tsv.zst", sep="\t", quotechar="'", **plain)
    return here


FILES = {
    "est.sav": {},
    "est.zsav": {},
    "est.dta": {},
    "est.xpt": {},
    "est.sas7bdat": {},
    "est.xlsx": {},
    "est.csv": {},
    "est.csv.zst": {},
    "est.csv.gz": {},
    "semicolons.csv": {"separator": ";", "decimal": ",", "encoding": "windows-1252"},
    "wide.csv": {"separator": "|", "encoding": "utf-16"},
    "apostrophes.tsv.zst": {"quote": "'"},
}


def read(source):
    """Return every record as a policy sees it, in the engine's integers."""
    with table(source, id="id", dimensions=DIMENSIONS, measures=MEASURES) as opened:
        names = ["id", *DIMENSIONS, *MEASURES]
        rows = opened.engine.frame(opened.select(names)).to_pylist()
    return sorted(rows, key=lambda row: row["id"])


@pytest.fixture(scope="module")
def expected(folder):
    """What Parquet gives."""
    return read(folder / "est.parquet")


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_read_as_parquet_is(name, folder, expected):
    """To the integer, missing values among them; codes of formats without types are text."""
    found = read(File(folder / name, **FILES[name]))
    if name.endswith(("xlsx", "csv", "gz", "zst")):
        for row in found:
            row["sector"] = None if row["sector"] is None else int(row["sector"])
    assert found == expected


def test_codes_that_are_not_whole_are_refused(folder):
    """As a dimension a number of SAS or SPSS is a code; the value is not quoted."""
    for name in ("est.sav", "est.sas7bdat"):
        with pytest.raises(SourceError, match=r"'rent' of .* not whole numbers, as codes are"):
            table(folder / name, dimensions=["rent"])


def test_a_file_without_declared_columns_still_has_its_records(folder):
    """The number of rows needs no column of theirs."""
    for name in ("est.sav", "est.xlsx"):
        with table(folder / name) as opened:
            rows = opened.engine.arrow(f"SELECT count(*) FROM {opened.engine.relation}")
        assert rows.column(0).to_pylist() == [COUNT]


def test_missing_codes_are_missing(tmp_path):
    """Of Stata and SAS .a to .z, of SPSS what a file declares as missing."""
    frame = pd.DataFrame({"emp": [1.0, 2.0, 99.0, "a"]}, dtype=object)
    pyreadstat.write_dta(frame, tmp_path / "x.dta", missing_user_values={"emp": ["a"]})
    numbers = pd.DataFrame({"emp": [1.0, 2.0, 99.0]})
    pyreadstat.write_sav(numbers, tmp_path / "x.sav", missing_ranges={"emp": [99]})
    for name, wanted in (("x.dta", [1, 2, 99, None]), ("x.sav", [1, 2, None])):
        with table(tmp_path / name, measures=["emp"]) as opened:
            assert opened.engine.frame(opened.select(["emp"]))["emp"].to_pylist() == wanted


def test_labels_of_values_are_not_read(tmp_path):
    """Codes are what is stored; what they are called is said by the spec."""
    pyreadstat.write_sav(
        pd.DataFrame({"size": [1.0, 2.0]}),
        tmp_path / "x.sav",
        variable_value_labels={"size": {1: "small", 2: SECRET}},
    )
    with table(tmp_path / "x.sav", dimensions=["size"]) as opened:
        assert opened.engine.frame(opened.select(["size"]))["size"].to_pylist() == [1, 2]


def test_periods_of_stata_are_their_first_day(tmp_path):
    """Months, quarters and half-years from 1960; weeks are none of a calendar."""
    frame = pd.DataFrame({name: [-1.0, 0.0, 779.0] for name in ("m", "q", "h", "y", "w")})
    formats = {"m": "%tm", "q": "%tq", "h": "%th", "y": "%ty", "w": "%tw"}
    pyreadstat.write_dta(frame, tmp_path / "x.dta", variable_format=formats)
    with table(tmp_path / "x.dta", dimensions=["m", "q", "h", "y"]) as opened:
        found = opened.engine.frame(opened.select(["m", "q", "h", "y"])).to_pydict()
    assert found == {
        "m": ["1959-12-01", "1960-01-01", "2024-12-01"],
        "q": ["1959-10-01", "1960-01-01", "2154-10-01"],
        "h": ["1959-07-01", "1960-01-01", "2349-07-01"],
        "y": [-1, 0, 779],
    }
    with pytest.raises(SchemaError, match="'w' is time64"):
        table(tmp_path / "x.dta", dimensions=["w"])


# -- sheets -----------------------------------------------------------------------------------


def book_of(path, *rows, name="Sheet"):
    """Write rows into a workbook of one sheet."""
    book = openpyxl.Workbook()
    book.active.title = name
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_cells_are_read_as_declared(tmp_path):
    """Numbers, text, truth values, dates, errors and blanks; blank rows are no records."""
    values = [3, 1.5, 1e-7, "07", " x ", True, dt.date(2024, 2, 29), "#DIV/0!", None, 2**60]
    moment = dt.datetime(2024, 2, 29, 8, 30)
    path = book_of(tmp_path / "x.xlsx", ["a", "b"], *([v, "."] for v in [*values, moment]), [None])
    with table(path, dimensions=["a", "b"]) as opened:
        found = opened.engine.frame(opened.select(["a"]))["a"].to_pylist()
    assert found == [
        "3", "1.5", "1e-07", "07", " x ", "TRUE", "2024-02-29", None, None, str(2**60),
        "2024-02-29 08:30:00.000000",
    ]  # fmt: skip


def test_formulas_are_what_was_computed(tmp_path):
    """Written by XlsxWriter with its result; one without is refused, and not quoted."""
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["emp"])
        sheet.write_formula(1, 0, "=1+1", None, 2)
    with table(tmp_path / "x.xlsx", measures=["emp"]) as opened:
        assert opened.engine.frame(opened.select(["emp"]))["emp"].to_pylist() == [2]
    path = book_of(tmp_path / "y.xlsx", ["emp"], [f'="{SECRET}"'])
    with pytest.raises(SourceError, match="formulas that were never computed") as caught:
        table(path, measures=["emp"])
    assert SECRET not in str(caught.value)


def test_the_sheet_of_several_is_named(tmp_path):
    """Whoever does not say which is told which there are."""
    book = openpyxl.Workbook()
    book.active.append(["emp"])
    other = book.create_sheet("Records")
    other.append(["emp"])
    other.append([7])
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(SourceError, match=r"has 2 sheets; say which .* It has Sheet, Records"):
        table(tmp_path / "x.xlsx", measures=["emp"])
    with pytest.raises(SourceError, match=r"no sheet 'Record'.* Did you mean 'Records'"):
        table(File(tmp_path / "x.xlsx", sheet="Record"), measures=["emp"])
    with table(File(tmp_path / "x.xlsx", sheet="Records"), measures=["emp"]) as opened:
        assert opened.engine.frame(opened.select(["emp"]))["emp"].to_pylist() == [7]


def bomb(path, size=3_000_000):
    """Write a workbook whose sheet unpacks to much more than its size."""
    book_of(path, ["emp"], [1])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet9.xml", b"<a/>" + b" " * size)
    return path


def with_entities(path):
    """Write a workbook of which a part defines words of its own."""
    book_of(path, ["emp"], [1])
    with zipfile.ZipFile(path, "a") as parts:
        parts.writestr("xl/more.xml", b'<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>')
    return path


# -- what is wrong with files -----------------------------------------------------------------


def refused(source, **roles):
    """Return the message that refuses a source; it holds no value of it, and nothing is chained."""
    with pytest.raises(InputError) as caught:
        table(source, **(roles or {"measures": ["emp"], "dimensions": ["state"]})).close()
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


def canaries(folder):
    """Write good files whose values are canaries, one in each format."""
    frame = pd.DataFrame({"state": [SECRET] * 50, "emp": [1.0] * 50})
    pyreadstat.write_sav(frame, folder / "x.sav")
    pyreadstat.write_dta(frame, folder / "x.dta")
    pyreadstat.write_xport(frame, folder / "x.xpt", file_format_version=8)
    write_sas7bdat(folder / "x.sas7bdat", ["state", "emp"], ["$", ""], [[SECRET, 1.0]] * 50)
    book_of(folder / "x.xlsx", ["state", "emp"], *[[SECRET, 1]] * 50)
    frame.to_csv(folder / "x.csv.zst", index=False)
    return [folder / f"x.{each}" for each in ("sav", "dta", "xpt", "sas7bdat", "xlsx", "csv.zst")]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A file of canaries in each format."""
    return canaries(tmp_path_factory.mktemp("canaries"))


def test_damaged_files_are_refused_without_a_canary(good, tmp_path):
    """Empty, cut short, of another format than the name says, without the declared columns."""
    for path in good:
        data, bad = path.read_bytes(), tmp_path / path.name
        # A transport file has no count of its rows: only a cut inside its header is seen.
        short = data[:300] if path.suffix == ".xpt" else data[: len(data) - len(data) // 3]
        for content in (b"", short, SECRET.encode() * 100, b"\0" * 4000):
            bad.write_bytes(content)
            assert path.name in refused(bad)
        missing = refused(path, dimensions=["county"])
        assert "no column 'county'" in missing or "does not hold county" in missing


def test_types_that_do_not_fit_are_refused(good):
    """Text as a measure, where the format has types."""
    for path in good[:4]:
        assert "the measure 'state' is string" in refused(path, measures=["state"])


@pytest.mark.parametrize("first", [["Acme", "TX", "acme"], ["Acme", "12", "TX"]])
def test_a_sheet_without_a_row_of_names_is_not_quoted(tmp_path, first):
    """Its first row is a record, as that of a CSV file is; nobody is shown it unasked."""
    path = tmp_path / "est.xlsx"
    book = openpyxl.Workbook()
    for row in (first, ["Other", "7", "NM"]):
        book.active.append(row)
    book.save(path)
    with pytest.raises(SourceError) as opened:
        table(path, dimensions=["firm"])
    with pytest.raises(SourceError, match="looks like a record") as begun:
        check_names(File(path))
    for said in (opened, begun):
        assert "acme" not in str(said.value).casefold()


def test_other_faults_of_workbooks_are_refused(tmp_path, monkeypatch):
    """A password, names twice or missing, values beside the columns, and archives that grow."""
    monkeypatch.setattr(workbooks, "_ALWAYS", 100_000)
    password = tmp_path / "password.xlsx"
    password.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + SECRET.encode() * 200)
    for path, words in {
        password: "protected by a password",
        book_of(tmp_path / "twice.xlsx", ["emp", "EMP"], [SECRET, 1]): "in columns 1, 2",
        book_of(tmp_path / "blank.xlsx", ["emp", None, "state"], [1, 2, SECRET]): "a name for each",
        book_of(tmp_path / "number.xlsx", [1, 2], [1, SECRET]): "a name for each",
        book_of(tmp_path / "beside.xlsx", ["emp", "state"], [1, "a", SECRET]): "beyond its last",
        bomb(tmp_path / "bomb.xlsx"): "unpacks to more than 200 times",
        with_entities(tmp_path / "entities.xlsx"): "defines entities",
    }.items():
        assert words in refused(path)


def test_a_file_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    """Packed by gzip or zstd."""
    monkeypatch.setattr(streams, "_ALWAYS", 100_000)
    text = b"state,emp\n" + b"a,1\n" * 1_000_000
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(text))
    pd.DataFrame({"state": ["a"] * 300_000, "emp": 1}).to_csv(tmp_path / "x.csv.zst", index=False)
    for name in ("x.csv.gz", "x.csv.zst"):
        assert "unpacks to more than 250 times" in refused(tmp_path / name)


def test_several_tables_of_a_transport_file_are_refused(good, tmp_path):
    """One of them alone would be read."""
    data = next(path for path in good if path.suffix == ".xpt").read_bytes()
    (tmp_path / "x.xpt").write_bytes(data + data[240:])
    assert "holds several tables" in refused(tmp_path / "x.xpt")


# -- text in other ways -----------------------------------------------------------------------


def test_what_a_text_file_looks_like_is_said_as_it_is_typed(tmp_path):
    """The message holds the settings, word by word."""
    path = tmp_path / "est.csv"
    path.write_text(f"state;emp\n{SECRET};1\n")
    said = refused(path)
    assert 'source: {path: "est.csv", separator: ";"}' in said
    assert 'File("est.csv", separator=";")' in said
    assert 'decimal: ","' in said
    path.write_bytes("größe,emp\na,1\n".encode("latin-1"))
    assert 'source: {path: "est.csv", encoding: "windows-1252"}' in refused(path)
    path.write_bytes("state,emp\na,1\n".encode("utf-16"))
    assert 'encoding: "utf-16"' in refused(path)
    path.write_bytes(b"state,emp\n" + "größe,1\n".encode("latin-1"))
    assert 'encoding: "windows-1252"' in refused(path)
    with table(File(path, encoding="latin-1"), dimensions=["state"]) as opened:
        assert opened.engine.frame(opened.select(["state"]))["state"].to_pylist() == ["größe"]


def test_decimal_commas_that_nobody_declared_are_refused(tmp_path):
    """All of them would be taken for no number; a few may stand there."""
    path = tmp_path / "est.csv"
    rows = "".join(f'a,"{place},5"\n' for place in range(20))
    path.write_text("state,emp\n" + rows)
    assert 'source: {path: "est.csv", decimal: ","}' in refused(path)
    path.write_text("state,emp\n" + rows + "a,1\n" * 30)
    with table(path, measures=["emp"]) as opened:
        found = opened.engine.frame(opened.select(["emp"]))["emp"].to_pylist()
    assert found == [None] * 20 + [1] * 30
    path.write_text('state;emp\n"1,5";1,5\nb;1.5\n')
    with table(
        File(path, separator=";", decimal=","), dimensions=["state"], measures={"emp": "0.1"}
    ) as opened:
        found = opened.engine.frame(opened.select(["state", "emp"])).to_pydict()
    assert found == {"state": ["1,5", "b"], "emp": [15, None]}
    both = {"dimensions": {"size": "substr(emp, 1, 1)"}, "measures": {"m": Measure(column="emp")}}
    with pytest.raises(SchemaError, match="as it is written; name another"):
        table(File(path, separator=";", decimal=","), **both)


@pytest.mark.parametrize(
    ("large", "decimal"),
    [
        ("1,234", "."),
        ("-1,234,567.50", "."),
        (" 1 234 ", "."),
        ("1'234.5", "."),
        ("1\u202f234,5", ","),
        ("1.234,50", ","),
        ("1.234", ","),
        ("1.234.567", "."),
        ("-1,234,567", ","),
    ],
)
def test_thousands_that_are_set_apart_are_refused(tmp_path, large, decimal):
    """Large numbers alone would be missing; ten of five hundred are enough, and a few may be."""
    path = tmp_path / "est.csv"
    small = "a;9\n" * 400

    def opened(count):
        path.write_text("state;emp\n" + small + f"a;{large}\n" * count)
        source = File(path, separator=";", decimal=decimal)
        return table(source, dimensions=["state"], measures={"emp": "0.5"})

    with pytest.raises(SourceError, match="'emp' has numbers whose thousands are set apart"):
        opened(10)
    with opened(9) as found:
        rows = found.engine.frame(found.select(["emp"]))["emp"].to_pylist()
    assert sorted(rows, key=str) == [18] * 400 + [None] * 9


@pytest.mark.parametrize(
    ("large", "words"),
    [
        ("1,234", "thousands are set apart"),
        (" 1\u00a0234.50", "thousands are set apart"),
        ("1,5", "numbers with a comma"),
        ("7.890.123", "numbers such as 1.234"),
        ("7.890", "numbers such as 1.234, and its measure is in whole numbers"),
        ("89 €", "at least half of the values in the column 'emp', which is read as a measure"),
    ],
)
def test_numbers_that_are_text_in_a_sheet_are_refused(tmp_path, large, words):
    """As in a text file: many of them would be missing; a few may be, and codes may be anything."""
    path = tmp_path / "est.xlsx"
    book_of(path, ["state", "emp"], *[["a", 9]] * 5, *[[large, large]] * 10)
    message = refused(path)
    assert words in message
    assert "'emp'" in message
    assert large not in message.replace("as in 1,234", "")
    assert ("decimal comma" in message) == ("," in large)
    with table(path, dimensions=["state"]) as opened:
        assert opened.engine.frame(opened.select(["state"])).num_rows == 15
    book_of(path, ["state", "emp"], *[["a", 9]] * 5, *[["a", large]] * 9)
    with table(path, measures=["emp"]) as opened:
        found = opened.engine.frame(opened.select(["emp"]))["emp"].to_pylist()
    assert found == [9] * 5 + [8 if large == "7.890" else None] * 9


@pytest.mark.parametrize(
    ("large", "words"),
    [
        ("7,890", "by a comma, as in 1,234, "),
        ("7\u202f890", "by a space, as in 1 234, "),
        ("7 890", "by a space, as in 1 234, "),
        ("7\u2019890", "by an apostrophe, as in 1'234, "),
        ("7.890.123", "by a point, as in 1.234.567, "),
    ],
)
def test_the_sign_that_sets_thousands_apart_is_named(tmp_path, large, words):
    """A decimal comma is suggested where there are commas, and nowhere else."""
    path = tmp_path / "est.tsv"
    path.write_text("state\temp\n" + f"a\t{large}\n" * 10)
    with pytest.raises(SourceError) as found:
        table(path, measures={"emp": "0.01"})
    assert words in str(found.value)
    assert ("decimal comma" in str(found.value)) == ("," in large)


@pytest.mark.parametrize("sign", [".", ","])
def test_three_digits_behind_the_decimal_sign_of_whole_numbers_are_refused(tmp_path, sign):
    """They look like thousands; with a finer resolution, or few of them, they are decimals."""
    path = tmp_path / "est.csv"
    source = File(path, separator=";", decimal=sign)

    def read(large, count, measures):
        path.write_text("emp\n" + "9\n" * 400 + f"{large}\n" * count)
        with table(source, measures=measures) as opened:
            [name] = measures
            return opened.engine.frame(opened.select([name]))[name].to_pylist()[400:]

    large = f"7{sign}890"
    for whole in (["emp"], {"emp": 10}, {"pay": Measure(1, column="emp")}):
        with pytest.raises(SourceError, match="If these are decimals, give the measure a") as found:
            read(large, 10, whole)
        assert large not in str(found.value)
    assert read(large, 10, {"emp": "0.001"}) == [7890] * 10
    assert read(large, 9, ["emp"]) == [8] * 9
    for other in (f"0{sign}890", f"7{sign}89", f"7{sign}8901", f"7890{sign}123"):
        assert None not in read(other, 10, ["emp"])
    for others in (10, 11):
        path.write_text("emp\n" + f"{large}\n" * 10 + f"0{sign}6\n" * others)
        if others == 10:
            with pytest.raises(SourceError, match="numbers such as"):
                table(source, measures=["emp"])
        else:
            table(source, measures=["emp"]).close()
    path.write_text("emp\n" + f"{large}\n" * 20)
    both = {"emp": 1, "exact": Measure("0.001", column="emp")}
    with table(source, measures=both) as opened:
        assert opened.engine.frame(opened.select(["exact"]))["exact"].to_pylist() == [7890] * 20


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("value", ["1234 €", "12%", "2024-02-29", "unknown"])
def test_a_measure_most_of_whose_values_are_no_numbers_is_refused(tmp_path, value, decimal):
    """Its totals would be about zero, or of the others alone."""
    path = tmp_path / "est.csv"
    source = File(path, separator=";", decimal=decimal)
    number = f"8{decimal}5"

    def opened(others, numbers):
        path.write_text("state;emp\n" + f"a;{value}\n" * others + f"a;{number}\na;\n" * numbers)
        return table(source, dimensions=["state"], measures=["emp"])

    for others, numbers in ((10, 0), (10, 10)):
        with pytest.raises(SourceError, match="half of the values in the column 'emp'") as found:
            opened(others, numbers)
        assert value not in str(found.value)
    for others, numbers in ((9, 0), (10, 11)):
        opened(others, numbers).close()


@pytest.mark.parametrize("mark", ["NA", "n/a", "-", "..", "(D)", " ", "NaN", "null"])
def test_marks_of_missing_numbers_are_no_reason_to_refuse(tmp_path, mark):
    """So that whether one rare number is there does not decide on it."""
    path = tmp_path / "est.csv"
    path.write_text("state,emp\n" + f"a,{mark}\n" * 100)
    with table(path, dimensions=["state"], measures=["emp"]) as opened:
        found = opened.engine.frame(opened.select(["emp"]))["emp"].to_pylist()
    assert found == [None] * 100


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    """Also where the encoding that was said has the order in its name."""
    path = tmp_path / "est.csv"
    path.write_bytes("\ufeffstate,emp\né,1\n".encode("utf-16-le"))
    with table(File(path, encoding="utf-16-le"), dimensions=["state"], measures=["emp"]) as opened:
        assert opened.engine.frame(opened.select(["state"]))["state"].to_pylist() == ["é"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"separator": ";;"}, "expected one character"),
        ({"separator": "a"}, "expected one character"),
        ({"separator": "\x01"}, "cannot be seen"),
        ({"separator": ",", "decimal": ","}, "so is the decimal sign"),
        ({"encoding": "rot13"}, "'rot13' is not known"),
        ({"encoding": "nothing"}, "windows-1252"),
        ({"decimal": ";"}, "a point or a comma"),
        ({"quote": "|"}, "a double quote"),
    ],
)
def test_settings_that_mean_nothing_are_refused(given, words):
    """With what to write, and which setting it is about."""
    with pytest.raises(SchemaError, match=words) as caught:
        File("est.csv", **given)
    assert caught.value.about[0] in given


def test_settings_of_other_formats_are_refused(folder):
    """A Parquet file has no separator, a CSV file no sheet."""
    for name, given in (("est.parquet", {"separator": ";"}), ("est.csv", {"sheet": "a"})):
        with pytest.raises(SchemaError, match=r"leave .* out\.$"):
            table(File(folder / name, **given))
        last = File(folder / "est.csv", **given)
        with pytest.raises(SchemaError, match=r"leave .* out\. .* save both in one\.$"):
            table(Linked(File(folder / name, **given), last), id="id")


def test_another_reading_is_another_snapshot(folder):
    """The same bytes are another table with another decimal sign."""
    found = []
    for given in ({}, {"decimal": ","}, {"encoding": "latin-1"}, {"encoding": "utf8"}):
        with table(File(folder / "est.csv", **given), dimensions=["state"]) as opened:
            found.append(snapshot_of(opened.engine.origin, None, b"key"))
    assert len({*found}) == 3
    assert found[0] == found[3]


def test_nothing_is_left_of_what_was_recoded(folder, tmp_path):
    """The copy in UTF-8 goes as soon as it is read."""
    given = FILES["semicolons.csv"]
    with table(
        File(folder / "semicolons.csv", **given), dimensions=["state"], spill_folder=tmp_path
    ):
        assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


def test_no_library_warns(folder):
    """Whatever a workbook holds beside its cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table(folder / "est.xlsx", dimensions=["state"]).close()
