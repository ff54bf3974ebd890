"""Published tables: the formats that are known, columns that are named, tables that are refused."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from perrecord.errors import InputError, SourceError
from perrecord.lab.synth import published
from perrecord.lab.synth.sizes import ANY

ZBP = {
    "zip": ["00501", "00501", "00501", "10001", "10001", "99999"],
    "naics": ["44", "44", "44", "44", "72", "52"],
    "est": [9, 6, 3, 4, 5, 2],
    "empszes": ["1", "212", "220", "212", "260", "241"],
    "state": ["NY"] * 6,
}
CBP = {
    "fips": ["01001", "01001", "06037"],
    "naics": ["113310", "236115", "711510"],
    "est": [7, 3, 15_845],
    "emp": [68, 0, 15_805],
    "payann_k": [4563, 12, 6_145_492],
    "state": ["AL", "AL", "CA"],
    "year": [2021] * 3,
}
COUNTIES = {"zip": ["00501", "10001", "00601"], "fips": ["36103", "36061", None]}


def cells(table):
    """Return what a published table says: place, industry, class -> establishments."""
    places, industries = table.places.to_pylist(), table.industries.to_pylist()
    columns = (table.place, table.industry, table.size, table.count)
    return {
        (places[place], industries[industry], str(table.classes[size])): count
        for place, industry, size, count in zip(*(each.tolist() for each in columns), strict=True)
    }


def test_zip_code_business_patterns():
    """All sizes are the sum of the classes, and left out; ZIP codes find their county."""
    table = published(pa.table(ZBP), counties=pa.table(COUNTIES))
    assert cells(table) == {
        ("00501", "44", "1-4"): 6,
        ("00501", "44", "5-9"): 3,
        ("10001", "44", "1-4"): 4,
        ("10001", "72", "1000+"): 5,
        ("99999", "52", "20-49"): 2,
    }
    assert table.establishments == 20
    assert table.kind == "zip"
    assert table.counties.to_pylist() == ["36103", "36061", "99999"]
    assert table.without_county == 2
    assert published(pa.table(ZBP)).counties is None


def test_county_business_patterns():
    """No size classes: the totals of the cells are kept."""
    table = published(pa.table(CBP))
    assert table.kind == "county"
    assert table.classes == (ANY,)
    assert table.counties.equals(table.places)
    assert {name: total.tolist() for name, total in table.totals.items()} == {
        "emp": [68, 0, 15_805],
        "payann": [4563, 12, 6_145_492],
    }
    assert table.without_county == 0


def test_what_all_sizes_have_beyond_the_classes_is_of_any_size():
    """Classes of small cells may be withheld; their establishments are not lost."""
    table = published(pa.table(ZBP | {"est": [12, 6, 3, 4, 5, 2]}))
    assert cells(table)["00501", "44", "any size"] == 3
    assert table.establishments == 23


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "data"])
def test_files_are_read_by_what_they_hold(tmp_path, ending):
    """Parquet, CSV and gzip, whatever they are called."""
    path = tmp_path / f"cbp.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table(CBP), path)
    else:
        pacsv.write_csv(pa.table(CBP), tmp_path / "plain")
        text = (tmp_path / "plain").read_bytes()
        path.write_bytes(gzip.compress(text) if ending != "csv" else b"\xef\xbb\xbf" + text)
    table = published(path)
    assert cells(table) == cells(published(pa.table(CBP)))
    assert (table.totals["emp"] == [68, 0, 15_805]).all()


def test_columns_can_be_named():
    """Whatever they are called; sizes as ranges, counts with separators, places as numbers."""
    given = pa.table(
        {
            "Where": [1001, 1003],
            "what": ["31-33", "722511"],
            "how_large": ["1-4", "1,000 or more"],
            "HOW_MANY": ["1,250", " 7 "],
        }
    )
    names = {"place": "where", "industry": "what", "size": "how_large", "count": "how_many"}
    assert cells(published(given, **names, digits=2)) == {("01001", "31", "1-4"): 1250}
    assert cells(published(given, **names, digits=6)) == {("01003", "722511", "1000+"): 7}


def test_one_level_of_the_industries_is_read():
    """The Census Bureau's files have them all, filled up with dashes and slashes."""
    given = pa.table(
        {
            "fips": ["01001"] * 5,
            "naics": ["------", "11----", "113///", "1133//", "113310"],
            "est": [9, 8, 7, 6, 5],
        }
    )
    assert published(given, digits=3).establishments == 7
    assert published(given, digits=3).industries.to_pylist() == ["113"]
    with pytest.raises(InputError, match=r"industries of 2, 3, 4, 6 digits.* digits=6"):
        published(given)
    with pytest.raises(InputError, match="no industries of 5 digits, but of 2, 3, 4, 6"):
        published(given, digits=5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"zip": ["501", "x", "00501", "10001", "10001", "99999"]},
            "'zip' is not a zip code.*in 1 of",
        ),
        ({"zip": [None, *ZBP["zip"][1:]]}, "'zip' is not a zip code of five digits"),
        ({"naics": ["44", "4x", "44", "44", "72", "52"]}, "'naics' is not an industry code"),
        ({"est": [9, -6, 3, 4, 5, 2]}, "'est' is not a whole number of 0 or more in 1 of its 6"),
        ({"est": [9, None, 3, 4, 5, 2]}, "'est' is not a whole number"),
        ({"est": ["9", "6.5", "3", "4", "5", "2"]}, "'est' is not a whole number such as 1,250"),
        ({"est": [9.0, 6.5, 3.0, 4.0, 5.0, 2.0]}, "'est' is double; expected whole numbers"),
        ({"est": [8, 6, 3, 4, 5, 2]}, "in 1 of 4 cells the size classes hold more"),
        ({"empszes": ["1", "212", "99", "212", "260", "241"]}, "the size class '99' is not known"),
        ({"empszes": ["1", "212", "210", "212", "260", "241"]}, "0-4 and 1-4 overlap"),
        ({"empszes": ["1", "212", "1-4", "212", "260", "241"]}, "lists 1 of its 6 cells again"),
        ({"naics": [""] * 6}, "has no rows"),
    ],
)
def test_bad_tables_are_refused(change, message):
    """With the column, what was expected, and in how many rows it is not there."""
    with pytest.raises(InputError, match=message):
        published(pa.table(ZBP | change))


def test_missing_columns_are_named():
    """What there is, what it might be called, and how to say which it is."""
    without = pa.table(CBP).drop_columns("est")
    with pytest.raises(
        InputError, match=r"no column for the count; expected one called est.*count="
    ):
        published(without)
    with pytest.raises(InputError, match=r"no column 'establishment' for the count.*fips, naics"):
        published(without, count="establishment")
    with pytest.raises(InputError, match="Did you mean 'naics'"):
        published(pa.table(CBP), industry="naic")
    with pytest.raises(InputError, match="the places are counties, in the column 'fips'"):
        published(pa.table(CBP), counties=pa.table(COUNTIES))


def test_files_that_are_no_tables_are_refused(tmp_path):
    """Missing, empty, ragged, cut off, binary."""
    path = tmp_path / "table"
    with pytest.raises(SourceError, match="there is no file"):
        published(path)
    with pytest.raises(SourceError, match="there is no file"):
        published(tmp_path)
    for content, message in [
        (b"", "is empty"),
        (b"fips,naics,est\n01001,113310,7\n01001\n", "as many fields in every row"),
        (b"PAR1 and no more", "not a complete Parquet file"),
        (gzip.compress(b"fips,naics,est\n" * 9999)[:-20], "cut off or damaged"),
        (b"\xff\xfe\x00zip", "not text in UTF-8"),
    ]:
        path.write_bytes(content)
        with pytest.raises(SourceError, match=message):
            published(path)


def test_a_zip_code_has_one_county():
    """Several for one are refused; the same twice is not."""
    several = pa.table({"zip": ["00501", "00501"], "fips": ["36103", "36061"]})
    with pytest.raises(InputError, match="puts 1 ZIP codes into several"):
        published(pa.table(ZBP), counties=several)
    twice = pa.table({"zip": ["00501", "501"], "fips": ["36103", "36103"]})
    assert published(pa.table(ZBP), counties=twice).counties.to_pylist()[0] == "36103"


def test_counts_are_whole_and_added_exactly():
    """Beyond what floats hold."""
    given = pa.table({"fips": ["01001", "01003"], "naics": ["44", "44"], "est": [2**53 + 1, 1]})
    assert published(given).establishments == 2**53 + 2
    assert published(given).count.dtype == np.int64
