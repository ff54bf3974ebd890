"""`synth`: every data set is written, fitted, loaded and keyed, and no file overwritten."""

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.lab.synth import business, cattle, nass, published, simulation
from tests.cli.conftest import run

PUBLISHED = {
    "fips": ["36061"] * 3 + ["36103"] * 2,
    "naics": ["445110", "445110", "722511", "445110", "722511"],
    "empszes": ["212", "241", "212", "220", "260"],
    "est": [40, 3, 25, 10, 2],
}
ZIPS = PUBLISHED | {"fips": ["10001"] * 3 + ["99999"] * 2}
QUICK_STATS = """\
"Program","Year","Period","Geo Level","State","State ANSI","Ag District","Ag District Code",\
"County","County ANSI","Commodity","Data Item","Domain","Domain Category","Value","CV (%)"
CENSUS,2022,END OF DEC,COUNTY,TEXAS,48,NORTHERN HIGH PLAINS,11,DEAF SMITH,117,CATTLE,\
"CATTLE, INCL CALVES - INVENTORY",TOTAL,NOT SPECIFIED,"700,069",3.1
CENSUS,2022,END OF DEC,COUNTY,TEXAS,48,SOUTHERN HIGH PLAINS,12,CASTRO,069,CATTLE,\
"CATTLE, INCL CALVES - INVENTORY",TOTAL,NOT SPECIFIED, (D),(D)
"""
SPEC = """\
title: Fitted establishments
source: est.parquet
table: est
id: id
unit: firm
dimensions: {county: county, naics6: naics}
measures: {emp: 1}
splits:
  moderate: {emp: 50}
keys:
  counties: {file: keys/counties.csv}
  industries: {file: keys/industries6.csv}
  cells: {product: [counties, industries]}
budget: {rho: 200000000, splits: [moderate]}
ledger: est.ledger
queries:
  - name: cells
    title: By county and industry
    group_by: [county, naics6]
    keys: cells
    answers:
      establishments: {count: records, rho: 100000000}
      employees: {sum: emp, split: moderate, rho: 1}
"""


SIM_SPEC = """\
title: Simulated records
source: sim.parquet
table: sim
id: id
dimensions: {catix: catix}
measures: {ht1: "0.01", ht2: "0.01"}
splits:
  whole: {ht1: 1}
keys:
  categories: {file: keys/categories.parquet}
budget: {rho: 1, splits: [whole]}
ledger: sim.ledger
queries:
  - name: groups
    title: By category
    group_by: [catix]
    keys: categories
    answers:
      total: {sum: ht1, split: whole, rho: 0.5}
"""
CIS_SPEC = """\
title: Cattle
source: cis.parquet
table: cis
id: id
dimensions: {state: state, district: district}
measures: {inventory: 1, rent: "0.01"}
splits:
  large: {inventory: 50000}
keys:
  states: {file: keys/states.csv}
  districts: {file: keys/districts.csv}
budget: {rho: 3, splits: [large]}
ledger: cis.ledger
queries:
  - name: groups
    title: By state
    group_by: [state]
    keys: states
    answers:
      total: {sum: inventory, split: large, rho: 0.5}
      rent: {average: rent, clamp: [0, 110], rho: 0.5}
  - name: districts
    title: By district
    group_by: [state, district]
    keys: districts
    answers:
      total: {sum: inventory, split: large, rho: 0.5}
      rent: {average: rent, clamp: [0, 110], rho: 0.5}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder that is the current one, with a published table and a Quick Stats file."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(PUBLISHED), "cbp.parquet")
    names = ["zip" if name == "fips" else name for name in ZIPS]
    pq.write_table(pa.table(ZIPS).rename_columns(names), "zbp.parquet")
    (tmp_path / "zips.csv").write_text("zip,fips\n10001,36061\n")
    (tmp_path / "cattle.csv").write_text(QUICK_STATS)
    return tmp_path


def synth(command):
    """Run `perrecord synth` with arguments that hold no spaces."""
    return run("synth", *command.split())


def keys_in(folder):
    """Return the rows of every key file."""
    found = {}
    for path in folder.iterdir():
        with path.open(encoding="utf-8") as file:
            found[path.name] = list(csv.reader(file))
    return found


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("sim --rows 700 --seed 3", lambda: simulation(700, seed=3)),
        ("cis", cattle),
        ("cis --rows 50 --seed 3", lambda: cattle(50, seed=3)),
        ("business --rows 90 --seed 3", lambda: business(90, seed=3)),
        ("cbp --rows 90 --seed 3", lambda: business(90, seed=3)),
        ("cbp --fit cbp.parquet", lambda: business(fitted_to="cbp.parquet")),
        (
            "business --fit zbp.parquet --rows 30 --digits 6",
            lambda: business(30, fitted_to="zbp.parquet"),
        ),
    ],
)
def test_a_command_writes_what_the_library_makes(here, command, made):
    """Its path goes to stdout; the second time it is refused."""
    shown = synth(f"{command} --out out.parquet")
    assert (shown.code, shown.out, shown.err) == (0, "out.parquet\n", "")
    expected = made()
    assert pq.read_table("out.parquet").cast(expected.schema).equals(expected.combine_chunks())
    again = synth(f"{command} --out out.parquet")
    assert (again.code, "exists already" in again.err) == (1, True)


def test_zip_codes_of_no_county_are_counted(here):
    """On stderr: data alone goes to stdout."""
    shown = synth("business --fit zbp.parquet --counties zips.csv --out est.parquet")
    assert (shown.code, shown.out) == (0, "est.parquet\n")
    assert "No county is known for the ZIP code of 12 establishments" in shown.err
    counties = pq.read_table("est.parquet")["county"].to_pylist()
    assert {each: counties.count(each) for each in set(counties)} == {"36061": 68, "99999": 12}


def test_columns_of_another_table_are_named(here):
    """Place, industry, size class and count."""
    names = ["where", "what", "how_large", "how_many"]
    pq.write_table(pa.table(PUBLISHED).rename_columns(names), "mine.parquet")
    named = "--industry what --size how_large --count how_many"
    shown = synth(f"business --fit mine.parquet --out est.parquet --place where {named}")
    assert shown.code == 0
    assert pq.read_table("est.parquet").num_rows == 80
    shown = synth(f"business --fit mine.parquet --out other.parquet {named}")
    assert shown.code == 1
    assert "no column for the place" in shown.err
    assert "(--place)" in shown.err


def test_a_quick_stats_file_becomes_records_and_keys(here):
    """What became of every row is said on stderr."""
    shown = synth("nass cattle.csv --out cis.parquet --keys keys")
    assert shown.code == 0
    assert shown.out.splitlines() == ["keys/states.csv", "keys/districts.csv", "cis.parquet"]
    assert "1 record of CATTLE, INCL CALVES - INVENTORY, 2022" in shown.err
    assert "left out, (D) values: 1" in shown.err
    expected = nass("cattle.csv").table
    assert pq.read_table("cis.parquet").cast(expected.schema).equals(expected)
    assert keys_in(here / "keys") == {
        "states.csv": [["state"], ["48"]],
        "districts.csv": [["state", "district"], ["48", "11"], ["48", "12"]],
    }


def test_suppressed_records_are_kept_on_request(here):
    """As NULL."""
    shown = synth("nass cattle.csv --out cis.parquet --keep-suppressed")
    assert "kept as NULL, (D) values: 1" in shown.err
    assert pq.read_table("cis.parquet")["inventory"].to_pylist() == [700_069, None]
    shown = synth("nass cattle.csv --out other.parquet --year 2017")
    assert (shown.code, shown.out) == (1, "")
    assert "has nothing of year '2017', but of 2022" in shown.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            "--of cis",
            {"states.csv": (50, ["state"]), "districts.csv": (312, ["state", "district"])},
        ),
        (
            "--fit zbp.parquet --counties zips.csv",
            {
                "counties.csv": (2, ["county"]),
                "zips.csv": (2, ["zip"]),
                "industries2.csv": (2, ["naics2"]),
                "industries3.csv": (2, ["naics3"]),
                "industries4.csv": (2, ["naics4"]),
                "industries5.csv": (2, ["naics5"]),
                "industries6.csv": (2, ["naics6"]),
            },
        ),
    ],
)
def test_every_data_set_has_its_keys(here, options, expected):
    """As CSV files with a header."""
    shown = synth(f"keys {options} --out keys")
    assert shown.code == 0
    assert shown.out.splitlines() == [f"keys/{name}" for name in expected]
    found = {name: (len(rows) - 1, rows[0]) for name, rows in keys_in(here / "keys").items()}
    assert found == expected
    assert synth(f"keys {options} --out keys").code == 1


def test_numbers_are_keys_in_a_parquet_file(here):
    """A CSV file would hold them as text, which is another kind than the column of the data."""
    shown = synth("keys --of sim --out keys")
    assert (shown.code, shown.out) == (0, "keys/categories.parquet\n")
    keys = pq.read_table("keys/categories.parquet")
    assert keys["catix"].to_pylist() == list(range(1, 1001))
    assert keys.schema.field("catix").type == simulation(1).schema.field("catix").type


def test_keys_cover_the_records(here):
    """Every record of a data set has a key."""
    synth("keys --fit cbp.parquet --out keys")
    synth("keys --of cis --out keys")
    found = keys_in(here / "keys")
    table = business(fitted_to=published("cbp.parquet"))
    assert {row[0] for row in found["counties.csv"][1:]} == set(table["county"].to_pylist())
    assert {row[0] for row in found["industries6.csv"][1:]} == set(table["naics"].to_pylist())
    counties = cattle().to_pylist()
    assert {tuple(row) for row in found["districts.csv"][1:]} == {
        (row["state"], row["district"]) for row in counties
    }


@pytest.mark.parametrize(
    ("name", "options", "spec"),
    [("sim", "--rows 2000", SIM_SPEC), ("cis", "", CIS_SPEC)],
)
def test_a_release_runs_on_the_papers_data_sets(here, name, options, spec):
    """The paper's queries on written files and keys; sums within ten sigma, all but surely."""
    (here / "release.yaml").write_text(spec, encoding="utf-8")
    for command in (
        f"synth {name} {options} --out {name}.parquet",
        f"synth keys --of {name} --out keys",
        "ledger create release.yaml",
        "release release.yaml --out published",
    ):
        shown = run(*command.split())
        assert shown.code == 0, shown.err
    records = pq.read_table(f"{name}.parquet")
    by, measure, sigma = ("catix", "ht1", 1) if name == "sim" else ("state", "inventory", 50_000)
    sums = records.group_by(by).aggregate([(measure, "sum")]).to_pylist()
    truth = {row[by]: float(row[f"{measure}_sum"]) for row in sums}
    answers = pq.read_table("published/tables/groups.parquet").to_pylist()
    assert {row[by] for row in answers} >= set(truth)
    for row in answers:
        assert abs(float(row["total"]) - truth.get(row[by], 0)) < 10 * sigma


def test_a_release_runs_on_a_fitted_table(here):
    """With next to no noise its counts are the published ones."""
    (here / "release.yaml").write_text(SPEC, encoding="utf-8")
    for command in (
        "synth business --fit cbp.parquet --out est.parquet",
        "synth keys --fit cbp.parquet --out keys",
        "ledger create release.yaml",
        "release release.yaml --out published",
    ):
        shown = run(*command.split())
        assert shown.code == 0, shown.err
    rows = pq.read_table("published/tables/cells.parquet").to_pylist()
    counts = {(row["county"], row["naics6"]): row["establishments"] for row in rows}
    assert counts == {
        ("36061", "445110"): 43,
        ("36061", "722511"): 25,
        ("36103", "445110"): 10,
        ("36103", "722511"): 2,
    }


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("business --out a.parquet", "expected --rows, or --fit"),
        ("business --rows 5 --counties zips.csv --out a.parquet", "how to read the table of --fit"),
        ("keys --of sim --fit cbp.parquet --out keys", "--fit is for the keys of business"),
        ("keys --of mars --out keys", "--of"),
        ("sim --out a.parquet", "--rows"),
        ("sim --rows -1 --out a.parquet", "--rows"),
        ("cis --rows many --out a.parquet", "--rows"),
        ("nass --out a.parquet", "FILE"),
        ("business --fit cbp.parquet --digits 7 --out a.parquet", "--digits"),
    ],
)
def test_mistakes_on_the_command_line(here, command, message):
    """They end with 2 and write nothing."""
    shown = synth(command)
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err
    assert not (here / "a.parquet").exists()
    assert not (here / "keys").exists()


@pytest.mark.parametrize("name", ["business", "cbp", "keys", "sim", "cis", "nass"])
def test_help_shows_examples_of_itself(name):
    """Whoever asks can copy a line."""
    shown = run("synth", name, "--help")
    assert shown.code == 0
    assert f"Examples:\n  perrecord synth {name}" in shown.out
