"""Quick Stats files: every code and every kind of row has its rule, and bad files their message."""

import csv
import gzip
import io
from decimal import Decimal

import pyarrow as pa
import pytest

from perrecord.errors import InputError, SourceError
from perrecord.lab.synth import cattle, nass
from perrecord.lab.synth.nass import PASTURE_RENT
from perrecord.lab.synth.quickstats import COLUMNS

CATTLE = "CATTLE, INCL CALVES - INVENTORY"
MILK = "CATTLE, COWS, MILK - INVENTORY"

# The columns of the download page, in its order.
HEADS = [
    "Program", "Year", "Period", "Week Ending", "Geo Level", "State", "State ANSI", "Ag District",
    "Ag District Code", "County", "County ANSI", "Zip Code", "Region", "watershed_code",
    "Watershed", "Commodity", "Data Item", "Domain", "Domain Category", "Value", "CV (%)",
]  # fmt: skip
USUAL = {
    "Program": "CENSUS",
    "Year": "2022",
    "Period": "END OF DEC",
    "Geo Level": "COUNTY",
    "State": "TEXAS",
    "State ANSI": "48",
    "Ag District": "NORTHERN HIGH PLAINS",
    "Ag District Code": "11",
    "watershed_code": "00000000",
    "Commodity": "CATTLE",
    "Data Item": CATTLE,
    "Domain": "TOTAL",
    "Domain Category": "NOT SPECIFIED",
    "CV (%)": "12.5",
}


def row(county, code, value, **changes):
    """Return a row of a county."""
    given = {name.replace("_", " "): each for name, each in changes.items()}
    return USUAL | {"County": county, "County ANSI": code, "Value": value} | given


ROWS = [
    row("DEAF SMITH", "117", "700,069"),
    row("ARMSTRONG", "011", " (D)"),
    row("BRISCOE", "045", " (Z)"),
    row("CARSON", "065", "21,306.00"),
    row("FLOYD", "153", "(NA)"),
    row("OTHER (COMBINED) COUNTIES", "", "5,500"),
    row("CASTRO", "069", "55", **{"Ag District Code": "12"}),
]


def written(path, rows, heads=HEADS):
    """Write rows as Quick Stats does."""
    text = io.StringIO()
    writer = csv.DictWriter(text, heads, restval="", extrasaction="ignore", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path):
    """Return a file with every kind of value."""
    return written(tmp_path / "cattle.csv", ROWS)


def inventories(loaded):
    """Return the inventory of each county."""
    rows = loaded.table.to_pylist()
    return {each["county"]: each["inventory"] for each in rows}


def test_values_are_read_and_codes_have_their_rule(file):
    """Separators and decimals go, (Z) is 0, (D) and (NA) are left out and counted."""
    loaded = nass(file)
    assert inventories(loaded) == {"48045": 0, "48065": 21_306, "48117": 700_069, "48069": 55}
    assert loaded.left_out == {
        "rows of other (combined) counties": 1,
        "(D) values": 1,
        "(NA) values": 1,
    }
    assert loaded.as_null == {}
    assert (loaded.item, loaded.year) == (CATTLE, 2022)
    assert loaded.lines() == [
        f"4 records of {CATTLE}, 2022; 0 of them with a rent",
        "left out, rows of other (combined) counties: 1",
        "left out, (D) values: 1",
        "left out, (NA) values: 1",
    ]


def test_the_records_are_like_the_synthetic_ones(file):
    """The same columns and types, so that the same experiment runs; sorted by place."""
    table = nass(file).table
    assert table.schema.equals(cattle(1).schema)
    assert table["id"].to_pylist() == [0, 1, 2, 3]
    assert table["year"].to_pylist() == [2022] * 4
    assert table["state"].to_pylist() == ["48"] * 4
    assert table["district"].to_pylist() == ["11", "11", "11", "12"]
    assert table["rent"].null_count == 4


def test_suppressed_values_can_be_kept_as_null(file):
    """All of them are counted; (Z) is a value."""
    loaded = nass(file, suppressed="null")
    assert inventories(loaded) == {
        "48011": None,
        "48045": 0,
        "48065": 21_306,
        "48117": 700_069,
        "48153": None,
        "48069": 55,
    }
    assert loaded.as_null == {"(D) values": 1, "(NA) values": 1}
    assert "kept as NULL, (D) values: 1" in loaded.lines()


def test_combined_counties_can_be_kept(tmp_path):
    """One to a district, under the code 998; also by the name OTHER COUNTIES."""
    rows = [
        *ROWS,
        row("OTHER COUNTIES", "", "7", **{"Ag District Code": "12"}),
        row("REST OF THE PLAINS", "998", "8", **{"Ag District Code": "21"}),
    ]
    assert len(nass(written(tmp_path / "a.csv", rows)).table) == 4
    loaded = nass(written(tmp_path / "a.csv", rows), combined="keep")
    kept = [each for each in loaded.table.to_pylist() if each["county"] == "48998"]
    found = [(each["district"], each["inventory"]) for each in kept]
    assert found == [("11", 5500), ("12", 7), ("21", 8)]
    assert loaded.left_out == {"(D) values": 1, "(NA) values": 1}
    alone = written(tmp_path / "b.csv", [ROWS[5]])
    with pytest.raises(SourceError, match=r"only other .combined. counties.*combined='keep'"):
        nass(alone)


def test_keys_hold_the_districts_of_suppressed_counties_too(tmp_path):
    """What is published of which county says nothing of which districts there are."""
    rows = [
        *ROWS,
        row("BORDEN", "033", "(D)", **{"Ag District Code": "21"}),
        row("COKE", "081", "7", **{"Ag District Code": "70", "Data Item": MILK}),
    ]
    districts = nass(written(tmp_path / "a.csv", rows), item=CATTLE).districts
    assert districts.to_pylist() == [
        {"state": "48", "district": code} for code in ("11", "12", "21", "70")
    ]


def test_plain_and_packed_files_are_read_whatever_they_are_called(file, tmp_path):
    """gzip, a byte order mark, lines that end with CR LF, empty lines at the end."""
    text = file.read_bytes()
    for name, content in {
        "a.csv.gz": gzip.compress(text),
        "b.csv": gzip.compress(text),
        "c.csv.gz": text,
        "d.csv": b"\xef\xbb\xbf" + text,
        "e.csv": text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") + b"\r\n\r\n",
    }.items():
        (tmp_path / name).write_bytes(content)
        assert nass(tmp_path / name).table.equals(nass(file).table)


def test_the_columns_of_the_api_are_known(file, tmp_path):
    """It calls them otherwise."""
    page, api = ([names[place] for names in COLUMNS.values()] for place in (0, 1))
    rows = [{new: each[old] for old, new in zip(page, api, strict=True)} for each in ROWS]
    assert nass(written(tmp_path / "api.csv", rows, api)).table.equals(nass(file).table)


def test_zeros_that_a_spreadsheet_took_are_put_back(tmp_path):
    """State 1, county 1."""
    alabama = {"State": "ALABAMA", "State ANSI": "1"}
    loaded = nass(written(tmp_path / "a.csv", [row("AUTAUGA", "1", "12", **alabama)]))
    assert inventories(loaded) == {"01001": 12}


def test_counties_without_a_code_go_by_their_name(tmp_path):
    """As the boroughs of Alaska in Quick Stats."""
    alaska = {"State": "ALASKA", "State ANSI": "02", "Ag District Code": "30"}
    rows = [
        row("KENAI PENINSULA", "", "500", **alaska),
        row("ANCHORAGE", "", "20", **alaska),
    ]
    loaded = nass(written(tmp_path / "a.csv", rows))
    assert inventories(loaded) == {"02 ANCHORAGE": 20, "02 KENAI PENINSULA": 500}


def test_rows_that_would_count_twice_are_left_out(tmp_path):
    """States, districts, the nation, and what is broken down by herd size."""
    rows = [
        *ROWS[:1],
        row("", "", "11,000,000", **{"Geo Level": "STATE"}),
        row("", "", "2,000,000", **{"Geo Level": "AGRICULTURAL DISTRICT"}),
        row(
            "DEAF SMITH",
            "117",
            "5",
            Domain="INVENTORY OF CATTLE",
            **{"Domain Category": "INVENTORY OF CATTLE: (1 TO 9 HEAD)"},
        ),
    ]
    path = written(tmp_path / "a.csv", rows)
    loaded = nass(path)
    assert inventories(loaded) == {"48117": 700_069}
    assert loaded.left_out == {"rows that are not of a county": 2, "rows of other domains": 1}
    herd = nass(path, category="INVENTORY OF CATTLE: (1 TO 9 HEAD)")
    assert inventories(herd) == {"48117": 5}
    with pytest.raises(InputError, match=r"no domain category '1 TO 9'.*'INVENTORY OF CATTLE: "):
        nass(path, category="1 TO 9")
    only = written(tmp_path / "b.csv", rows[1:3])
    with pytest.raises(SourceError, match=r"2 rows, none of a county; choose .* COUNTY"):
        nass(only)
    parts = written(tmp_path / "c.csv", rows[3:])
    with pytest.raises(InputError, match=r"no totals of this item.*category= \(--category\)"):
        nass(parts)


def test_several_items_must_be_chosen_from(tmp_path):
    """By name, whatever the case; close matches are offered."""
    rows = [*ROWS, row("DEAF SMITH", "117", "99", **{"Data Item": MILK})]
    path = written(tmp_path / "a.csv", rows)
    with pytest.raises(InputError, match=rf"2 data items.*item=.*'{MILK}', '{CATTLE}'"):
        nass(path)
    assert inventories(nass(path, item=MILK.lower())) == {"48117": 99}
    assert len(nass(path, item=CATTLE).table) == 4
    with pytest.raises(InputError, match=f"Did you mean '{MILK}'"):
        nass(path, item="CATTLE, COW, MILK - INVENTORY")


@pytest.mark.parametrize(
    ("name", "other", "choice", "message"),
    [
        ("Year", "2017", {"year": 2017}, r"several values of year: 2017, 2022.*year=2022"),
        ("Program", "SURVEY", {"program": "survey"}, r"program: CENSUS, SURVEY.*program='SURVEY'"),
        ("Period", "FIRST OF JAN", {"period": "FIRST OF JAN"}, r"period: END OF DEC, FIRST OF JAN"),
    ],
)
def test_years_programs_and_periods_are_chosen(tmp_path, name, other, choice, message):
    """A county has one record; which one is said, not guessed."""
    rows = [*ROWS, row("DEAF SMITH", "117", "99", **{name: other})]
    path = written(tmp_path / "a.csv", rows)
    with pytest.raises(InputError, match=message):
        nass(path)
    loaded = nass(path, **choice)
    assert inventories(loaded) == {"48117": 99}
    assert loaded.left_out == {f"rows of another {name.lower()}": 7}
    with pytest.raises(InputError, match=f"has nothing of {name.lower()} '1999'"):
        nass(path, **{name.lower(): "1999"})


def test_rents_come_from_the_same_file_or_another(file, tmp_path):
    """Of the same year; where there is none, or it is withheld, NULL."""
    rents = [
        row("DEAF SMITH", "117", "7.10", Program="SURVEY", **{"Data Item": PASTURE_RENT}),
        row("CARSON", "065", "(D)", Program="SURVEY", **{"Data Item": PASTURE_RENT}),
        row("NOWHERE", "999", "9", Program="SURVEY", **{"Data Item": PASTURE_RENT}),
        row("CASTRO", "069", "3", Year="2017", **{"Data Item": PASTURE_RENT}),
        row("OTHER COUNTIES", "", "3", **{"Data Item": PASTURE_RENT, "Ag District Code": ""}),
    ]
    other = written(tmp_path / "rents.csv", rents)
    both = written(tmp_path / "both.csv", [*ROWS, *rents])
    for loaded in (nass(file, rent=other), nass(both)):
        found = {each["county"]: each["rent"] for each in loaded.table.to_pylist()}
        assert found == {"48117": Decimal("7.10"), "48065": None, "48045": None, "48069": None}
        assert loaded.lines()[0].endswith("; 1 of them with a rent")
    old = written(tmp_path / "old.csv", [each | {"Year": "2017"} for each in rents])
    with pytest.raises(
        InputError, match=f"'{PASTURE_RENT.replace('$', '.')}' of 2017; expected 2022"
    ):
        nass(file, rent=old)
    with pytest.raises(InputError, match="of no year; expected 2022"):
        nass(file, rent=file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Value": "12.5"}, "line 2 has a fraction; an inventory is a number of head"),
        ({"Value": "(K)"}, r"Value in line 2 is \(K\); expected a number such as 1,250"),
        ({"Value": "n/a"}, "Value in line 2 is something else; expected"),
        ({"Value": "-5"}, "Value in line 2 is something else"),
        ({"Value": "1,25"}, "Value in line 2 is something else"),
        ({"Value": ""}, "Value in line 2 is something else"),
        ({"State ANSI": ""}, "line 2 lacks its State ANSI, Ag District Code or County"),
        ({"Ag District Code": ""}, "line 2 lacks its State ANSI"),
        ({"Year": "MMXXII"}, "Year in line 2 is not a year"),
        ({"County ANSI": "069", "Ag District Code": "12"}, "lines 2 and 3 are for the same county"),
    ],
)
def test_bad_rows_are_named_by_their_line(tmp_path, change, message):
    """And no value is quoted, other than a code."""
    path = written(
        tmp_path / "a.csv", [ROWS[0] | change, ROWS[6] | {"Year": change.get("Year", "2022")}]
    )
    with pytest.raises(SourceError, match=message) as error:
        nass(path)
    assert "n/a" not in str(error.value)


def test_files_of_another_kind_are_refused(file, tmp_path):
    """What is missing, what is there, where to get one."""
    path = tmp_path / "other.csv"
    for content, message in [
        (b"", "is empty"),
        (b"state,county,cattle\nTX,Grimes,104709\n", "no Program, Year, .* columns state, county"),
        (file.read_bytes()[:-40], "fields; expected 21|not a CSV file"),
        (b'"Program","Ye\n', "not a CSV file"),
        (b"\xff\xfe", "not text in UTF-8"),
        (gzip.compress(file.read_bytes())[:-30], "cut off or damaged"),
    ]:
        path.write_bytes(content)
        with pytest.raises(SourceError, match=message):
            nass(path)
    with pytest.raises(SourceError, match="there is no file"):
        nass(tmp_path / "nothing.csv")
    heads = written(tmp_path / "heads.csv", [])
    with pytest.raises(SourceError, match="0 rows, none of a county"):
        nass(heads)
    missing = written(tmp_path / "missing.csv", ROWS, [head for head in HEADS if head != "Domain"])
    with pytest.raises(SourceError, match="has no Domain among its columns"):
        nass(missing)


@pytest.mark.parametrize("choice", [{"suppressed": "zero"}, {"combined": "null"}])
def test_rules_that_do_not_exist_are_refused(file, choice):
    """With those that do."""
    with pytest.raises(InputError, match="expected 'drop' or "):
        nass(file, **choice)


def test_types_do_not_hang_on_the_values(tmp_path):
    """A file in which everything is withheld has the same columns."""
    loaded = nass(written(tmp_path / "a.csv", [ROWS[1]]))
    assert len(loaded.table) == 0
    assert loaded.table.schema.equals(cattle(1).schema)
    assert pa.types.is_decimal(loaded.table.schema.field("rent").type)
