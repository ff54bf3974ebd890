"""Consistent tables, from the spec to the files: recomputed from what is published alone."""

import json
from decimal import Decimal
from itertools import product
from statistics import NormalDist

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from perrecord import Keys, Ledger
from perrecord.errors import SpecError
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.queries.hierarchies.placing import layout_of
from perrecord.release.processing import fits
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table, warnings_of

HEAD = """\
title: Establishments
source: est.parquet
table: est
dimensions:
  county: county
  state: substr(county, 1, 2)
  naics: naics
  sector: substr(naics, 1, 2)
  region: region
measures: {emp: 1, rent: 0.01}
splits: {moderate: {emp: 50, rent: 50}}
keys:
  counties: {file: counties.csv}
  industries: {file: industries.csv}
  states: {values: {state: ["01", "02"]}}
  sectors: {values: {sector: ["11", "22"]}}
  county_industry: {product: [counties, industries]}
  county_sector: {product: [counties, sectors]}
  state_industry: {product: [states, industries]}
  state_sector: {product: [states, sectors]}
  industry_county: {product: [industries, counties]}
  county_state_sector: {product: [counties, states, sectors]}
  some: {filter: {from: county_industry, naics: ["1101", "2201"]}}
  few: {file: few.csv}
  regions: {values: {region: [south, west]}}
  found: {select: {rho: 0.1, threshold: 3, split: moderate}}
  wide: {domain: [counties, industries]}
budget:
  rho: 50
  splits: [moderate]
  selections: [{keys: [county, state], rho: 0.1, threshold: 3, split: moderate},
               {keys: [county], rho: 0.1, threshold: 3, split: moderate}]
ledger: est.ledger
outputs: {csv: true}
"""
COUNTIES = ["01001", "01003", "01005", "02001"]
ROUGHLY = Decimal("1e-12")
INDUSTRIES = ["1101", "1102", "2201", "2202", "2203"]


def query(name, columns, keys, answers):
    """Return one query of a spec."""
    where = f"    group_by: [{', '.join(columns)}]\n    keys: {keys}\n" if columns else ""
    return f"  - name: {name}\n{where}    answers: {{{answers}}}\n"


def prepared(folder, queries, extra="post_processing: {consistent: true}\n"):
    """Write a spec and its data, and make the ledger; return the spec's path."""
    rng = np.random.default_rng(0)
    folder.mkdir(exist_ok=True)
    county, naics = rng.choice(COUNTIES, 500), rng.choice(INDUSTRIES, 500)
    rows = {
        "county": county,
        "naics": naics,
        "region": np.where(np.char.startswith(county, "01"), "south", "west"),
        "emp": rng.integers(0, 200, 500),
        "rent": rng.integers(0, 9_999, 500) / 100,
    }
    pq.write_table(
        pa.table({name: pa.array(each) for name, each in rows.items()}), folder / "est.parquet"
    )
    (folder / "counties.csv").write_text("\n".join(["county", *COUNTIES]) + "\n")
    (folder / "industries.csv").write_text("\n".join(["naics", *INDUSTRIES]) + "\n")
    (folder / "few.csv").write_text(
        "county,naics\n01001,1101\n01003,1101\n01003,2201\n02001,1102\n"
    )
    (folder / "areas.csv").write_text(
        "county,region\n" + "".join(f"{c},{'south' if c < '02' else 'west'}\n" for c in COUNTIES)
    )
    path = folder / "release.yaml"
    path.write_text(HEAD + extra + "queries:\n" + "".join(queries))
    loaded = load_spec(path)
    with open_table(loaded) as table:
        Ledger.create(loaded.ledger, build(loaded, table.schema).budget)
    return path


def released(folder, queries, extra="post_processing: {consistent: true}\n", seed=1):
    """Publish a spec under given bits and return its tables as columns by name."""
    out = folder / "out"
    outcome = release(prepared(folder, queries, extra), out, _bits=FrozenBits(seed))
    tables = {
        each.stem: pq.read_table(each).to_pydict() for each in sorted(out.glob("tables/*.parquet"))
    }
    return tables, outcome, out


def _of_leaf(county, naics):
    """Return what a county and an industry lie in."""
    area = "south" if county < "02" else "west"
    places = {"county": county, "state": county[:2], "region": area, "area": area}
    return {**places, "naics": naics, "sector": naics[:2]}


def own_fit(tables, answer, counties=COUNTIES, industries=INDUSTRIES, sums=None):
    """Return the fit of an answer from the published columns alone, by plain least squares.

    Tables that follow have rows and keys, and nothing that weighs.
    """
    leaves = list(product(counties, industries))
    rows, y, weights, places = [], [], [], []
    for name, table in [*tables.items(), *(sums or {}).items()]:
        is_sum = name in (sums or {})
        column = f"{answer}_consistent" if is_sum else answer
        if column not in table:
            continue
        for row in range(len(table[column])):
            key = {
                part: table[part][row]
                for part in ("county", "state", "region", "area", "naics", "sector")
                if part in table
            }
            inside = [
                all(_of_leaf(c, n)[part] == value for part, value in key.items()) for c, n in leaves
            ]
            rows.append(inside)
            y.append(0.0 if is_sum else float(table[answer][row]))
            weights.append(0.0 if is_sum else table[f"{answer}_se"][row] ** -2)
            places.append((name, row))
    design, root = np.array(rows, float), np.sqrt(np.array(weights))[:, None]
    inverse = np.linalg.pinv(root * design)
    fitted = design @ inverse @ (root[:, 0] * np.array(y))
    errors = np.sqrt(((design @ inverse) ** 2).sum(axis=1))
    return dict(zip(places, zip(fitted, errors, strict=True), strict=True))


def same(tables, answer, *, is_exact=True):
    """Check the published columns against a fit of the published answers; return how many rows."""
    found = own_fit(tables, answer)
    for (name, row), (value, error) in found.items():
        table = tables[name]
        assert float(table[f"{answer}_consistent"][row]) == pytest.approx(value, abs=2e-3)
        stated = table[f"{answer}_consistent_se"][row]
        assert stated <= table[f"{answer}_se"][row] * (1 + 1e-9)
        if is_exact:
            assert stated == pytest.approx(error, rel=1e-9)
        else:
            assert stated >= error * (1 - 1e-9)
        low, middle, high = (
            table[f"{answer}_consistent{end}"][row] for end in ("_low", "", "_high")
        )
        assert middle - low == high - middle
        unit = Decimal(10) ** middle.as_tuple().exponent
        reach = Decimal(NormalDist().inv_cdf(0.975) * stated)  # rounded outward to the last digit
        assert reach * (1 - ROUGHLY) <= high - middle <= (reach + unit) * (1 + ROUGHLY)
    return len(found)


ANSWERS = (
    "n: {count: records, rho: 0.5}, emp: {sum: emp, split: moderate, rho: 0.3}, "
    "rent: {sum: rent, split: moderate, rho: 0.2}"
)
FULL = [
    query("all", [], None, ANSWERS),
    query("state", ["state"], "states", ANSWERS),
    query("county", ["county"], "counties", ANSWERS),
    query("sector", ["sector"], "sectors", ANSWERS),
    query("industry", ["naics"], "industries", ANSWERS),
    query("state_sector", ["state", "sector"], "state_sector", ANSWERS),
    query("state_industry", ["state", "naics"], "state_industry", ANSWERS),
    query("county_sector", ["county", "sector"], "county_sector", ANSWERS),
    query("county_industry", ["county", "naics"], "county_industry", ANSWERS),
]


def test_all_combinations_of_two_hierarchies(tmp_path):
    """Nine tables of three answers each: the fit of the published answers, with its errors."""
    tables, _, out = released(tmp_path, FULL)
    for answer in ("n", "emp", "rent"):
        assert same(tables, answer) == 1 + 2 + 4 + 2 + 5 + 4 + 10 + 8 + 20
    words = (out / "methodology.md").read_text()
    assert (
        "Fitted together over 9 tables: emp (all > state > county; all > sector > naics)" in words
    )
    package = json.loads((out / "datapackage.json").read_text())
    fields = {
        each["name"]: each["description"] for each in package["resources"][0]["schema"]["fields"]
    }
    assert "add up" in fields["emp_consistent"]
    assert "95 %" in fields["emp_consistent_low"]


def test_keys_in_any_order_of_their_sides(tmp_path):
    """A product with the second hierarchy first is no box of the grid, and is fitted the same."""
    turned = query("turned", ["naics", "county"], "industry_county", ANSWERS)
    tables, _, _ = released(tmp_path, [*FULL[:-1], turned])
    assert same(tables, "emp") == 1 + 2 + 4 + 2 + 5 + 4 + 10 + 8 + 20


def test_products_of_keys_are_placed_as_if_written_out(tmp_path):
    """Also where the columns of one hierarchy stand in several sides of the product."""
    several = query("c", ["county", "state", "sector"], "county_state_sector", ANSWERS)
    loaded = load_spec(prepared(tmp_path, [*FULL[1:-1], several]))
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
    assert workload.families.fitted
    for family in workload.families.fitted:
        groupings = [workload.plan.groupings[each.grouping] for each in family.members]
        keys = [each.grouping.cells for each in groupings]
        found = layout_of(family, workload.schema, keys)
        plain = layout_of(family, workload.schema, [Keys.trusted(each.table) for each in keys])
        assert max(len(each.factors) for each in keys) == 3
        assert found.shape == plain.shape
        assert all(map(np.array_equal, found.places, plain.places))


@pytest.mark.parametrize("reader", ["pyarrow", "duckdb", "polars"])
def test_files_hold_short_decimals_as_whole_numbers(tmp_path, reader):
    """What is published is read back to the last digit, by libraries that share no code."""
    tables, _, out = released(tmp_path, FULL)
    path = out / "tables" / "county_industry.parquet"
    stored = {each.name: each for each in pq.ParquetFile(path).schema}
    for ending in ("", "_low", "_high"):
        assert stored[f"rent_consistent{ending}"].physical_type == "INT64"
    expected = tables["county_industry"]["rent_consistent_low"]
    match reader:
        case "pyarrow":
            found = pq.read_table(path)["rent_consistent_low"].to_pylist()
        case "duckdb":
            rows = duckdb.sql(f"SELECT rent_consistent_low FROM '{path}'").fetchall()
            found = [row[0] for row in rows]
        case "polars":
            found = pl.read_parquet(path)["rent_consistent_low"].to_list()
    assert found == expected
    assert {each.as_tuple().exponent for each in found} == {-6}
    options = pa_csv.ConvertOptions(column_types={"rent_consistent_low": pa.string()})
    text = pa_csv.read_csv(out / "tables" / "county_industry.csv", convert_options=options)
    assert [Decimal(each) for each in text["rent_consistent_low"].to_pylist()] == expected


def test_printed_numbers_add_up_to_the_last_digit(tmp_path):
    """As decimals, in every direction, also those that are whole or never negative."""
    extra = "post_processing: {consistent: {nonnegative: true, whole: true}}\n"
    tables, _, _ = released(tmp_path, FULL, extra)
    for answer, ending in product(("n", "emp", "rent"), ("", "_nonnegative", "_whole")):
        column = f"{answer}_consistent{ending}"
        cells = tables["county_industry"]
        for name in ("county", "industry", "state_sector", "all"):
            table = tables[name]
            for row in range(len(table[column])):
                inside = [
                    Decimal(value)
                    for value, county, naics in zip(
                        cells[column], cells["county"], cells["naics"], strict=True
                    )
                    if table.get("county", [county] * 99)[row] == county
                    and table.get("state", [county[:2]] * 99)[row] == county[:2]
                    and table.get("naics", [naics] * 99)[row] == naics
                    and table.get("sector", [naics[:2]] * 99)[row] == naics[:2]
                ]
                assert sum(inside) == Decimal(table[column][row])
        if ending:
            assert min(cells[column]) >= 0
        if ending == "_whole":
            step = Decimal("0.01") if answer == "rent" else 1
            assert all(Decimal(value) % step == 0 for value in cells[column])


@pytest.mark.parametrize(
    "names", [["county", "industry", "all"], ["state", "county", "industry", "state_sector", "all"]]
)
def test_nothing_moves_where_no_published_number_is_negative(tmp_path, names):
    """Though the table of both hierarchies' finest levels is not published."""
    extra = "post_processing: {consistent: {nonnegative: true, whole: true}}\n"
    queries = [each for each in FULL if each.split("\n")[0].split()[-1] in names]
    assert len(queries) == len(names)
    path = prepared(tmp_path, queries, extra)
    rows = pq.read_table(tmp_path / "est.parquet")
    giants = rows.filter((pc.field("county") == "01001") & (pc.field("naics") == "2203"))
    pq.write_table(pa.concat_tables([rows, *[giants] * 40]), tmp_path / "est.parquet")
    out = tmp_path / "out"
    release(path, out, _bits=FrozenBits(1))
    for name in names:
        table = pq.read_table(out / "tables" / f"{name}.parquet")
        fitted, signs, whole = (
            [float(each) for each in table[f"n_consistent{ending}"].to_pylist()]
            for ending in ("", "_nonnegative", "_whole")
        )
        assert min(fitted) > 0
        assert signs == pytest.approx(fitted, abs=0.01)
        assert whole == pytest.approx(fitted, abs=4)


def test_numbers_that_nobody_published_are_the_sums_of_what_is_below(tmp_path):
    """Without a total, nothing below it becomes 0, and all of it adds up."""
    extra = "post_processing: {consistent: {nonnegative: true, whole: true}}\n"
    queries = [each for each in FULL if each.split("\n")[0].split()[-1] in BELOW]
    assert len(queries) == len(BELOW)
    tables, _, _ = released(tmp_path, queries, extra)
    cells = tables["county_industry"]
    for ending in ("", "_nonnegative", "_whole"):
        column = f"emp_consistent{ending}"
        assert max(cells[column]) > 0
        for name, key in (("county", "county"), ("industry", "naics")):
            for value, of in zip(tables[name][column], tables[name][key], strict=True):
                inside = [
                    Decimal(each)
                    for each, other in zip(cells[column], cells[key], strict=True)
                    if other == of
                ]
                assert sum(inside) == Decimal(value)


BELOW = ("county", "industry", "county_industry")


def test_a_chain_of_tables_over_keys_that_are_no_product(tmp_path):
    """A rollup is one tree; amounts that differ from table to table are its weights."""
    queries = [
        query("all", [], None, "emp: {sum: emp, split: moderate, rho: 0.9}"),
        query("county", ["county"], "counties", "emp: {sum: emp, taper: 50, rho: 0.1}"),
        query("cells", ["county", "naics"], "some", "emp: {sum: emp, split: moderate, rho: 0.3}"),
    ]
    tables, _, _ = released(tmp_path, queries)
    found = own_fit(tables, "emp", industries=["1101", "2201"])
    for (name, row), (value, error) in found.items():
        assert float(tables[name]["emp_consistent"][row]) == pytest.approx(value, abs=2e-3)
        assert tables[name]["emp_consistent_se"][row] == pytest.approx(error, rel=1e-9)


def test_a_missing_table_is_fitted_by_gradients_and_errors_are_never_too_small(tmp_path):
    """Without the table of states by industry nothing is a product any more."""
    queries = [
        each for each in FULL if "name: state_industry" not in each and "name: all" not in each
    ]
    tables, _, _ = released(tmp_path, queries)
    for answer in ("n", "emp", "rent"):
        assert same(tables, answer, is_exact=False) == 1 + 2 + 4 + 2 + 5 + 4 + 8 + 20 - 1


def test_only_margins_are_published(tmp_path):
    """Places and industries without their combinations meet in the total."""
    queries = [FULL[0], FULL[2], FULL[4]]
    tables, _, _ = released(tmp_path, queries)
    assert same(tables, "emp", is_exact=False) == 10


def test_selected_keys_have_a_rest(tmp_path):
    """Counties that were not selected are not nothing: the others keep their own numbers."""
    queries = [
        query("state", ["state"], "states", "emp: {sum: emp, split: moderate, rho: 0.3}"),
        query("county", ["county"], "found", "emp: {sum: emp, split: moderate, rho: 0.3}"),
    ]
    tables, _, _ = released(tmp_path, queries)
    for table in tables.values():
        for row, value in enumerate(table["emp"]):
            assert float(table["emp_consistent"][row]) == pytest.approx(value, abs=1e-3)
            assert table["emp_consistent_se"][row] == pytest.approx(table["emp_se"][row])


def test_the_answer_that_decided_which_cells_are_published_is_not_fed_in(tmp_path):
    """Given that a cell was published it is too large; others of that table take part."""
    keep = "{domain: wide, keep: n, at_least: 5}"
    queries = [
        query("county", ["county"], "counties", ANSWERS),
        query("cells", ["county", "naics"], keep, ANSWERS),
    ]
    tables, _, _ = released(tmp_path, queries)
    assert "n_consistent" not in tables["cells"]
    assert "n_consistent" not in tables["county"]
    assert "emp_consistent" in tables["cells"]


def test_a_hierarchy_that_no_expression_shows_is_declared(tmp_path):
    """A public table says which region a county is in."""
    queries = [
        query("region", ["region"], "regions", "emp: {sum: emp, split: moderate, rho: 0.3}"),
        query("county", ["county"], "counties", "emp: {sum: emp, split: moderate, rho: 0.3}"),
    ]
    extra = (
        "post_processing: {consistent: true}\n"
        "hierarchies: [{source: areas.csv, on: county, columns: [region]}]\n"
    )
    tables, _, _ = released(tmp_path, queries, extra)
    regions, counties = tables["region"], tables["county"]
    assert regions["emp_consistent"][0] == sum(counties["emp_consistent"][:3])
    assert regions["emp_consistent"][1] == counties["emp_consistent"][3]
    with pytest.raises(SpecError, match=r"no dimension 'regoin'|no column 'regoin'"):
        prepared(tmp_path / "other", queries, extra.replace("[region]", "[regoin]"))


def test_the_charge_and_every_answer_are_the_same_with_and_without(tmp_path):
    """Consistent columns are added; what is charged, and all else that is published, stays."""
    with_it, charged, _ = released(tmp_path / "with", FULL)
    without, plain, _ = released(tmp_path / "without", FULL, extra="")
    assert charged.charge.policy == plain.charge.policy
    for name, table in without.items():
        assert {column: with_it[name][column] for column in table} == table


def hints(folder, queries, extra):
    """Return what `check` says of a spec."""
    loaded = load_spec(prepared(folder, queries, extra))
    with open_table(loaded) as table:
        return "\n".join(warnings_of(loaded, build(loaded, table.schema)))


def test_check_says_which_tables_estimate_the_same_number(tmp_path):
    """Where they are not made consistent, once for each number."""
    found = hints(tmp_path / "a", [FULL[1], FULL[2]], "")
    assert "queries[1]: 'n', 'emp', 'rent' in the tables state, county: the same numbers" in found
    assert found.count("the same numbers are") == 1
    assert "the same numbers are" not in hints(tmp_path / "b", [FULL[1]], "")
    asked = hints(tmp_path / "c", [FULL[1], FULL[2]], "post_processing: {consistent: true}\n")
    assert "the same numbers are" not in asked


@pytest.mark.parametrize(
    ("tables", "is_warned"),
    [
        (["county", "industry"], True),
        (["county", "state", "industry"], True),
        (["nation", "county", "industry"], False),
        (["county", "industry", "county_industry"], False),
        (["state", "county"], False),
        (["nation", "industry"], False),
    ],
)
def test_check_says_which_tables_meet_in_a_total_that_nobody_can_compare(
    tmp_path, tables, is_warned
):
    """Keys that one of them lacks would move the other, and nothing would show it."""
    columns = {
        "nation": ([], ""),
        "state": (["state"], "states"),
        "county": (["county"], "counties"),
        "industry": (["naics"], "industries"),
        "county_industry": (["county", "naics"], "county_industry"),
    }
    queries = [query(each, *columns[each], "n: {count: records, rho: 0.1}") for each in tables]
    found = hints(tmp_path, queries, "post_processing: {consistent: true}\n")
    assert ("county and industry are fitted together" in found) is is_warned
    assert found.count("are fitted together by") == (len(tables) - 1 if is_warned else 0)


@pytest.mark.parametrize(
    ("areas", "message"),
    [
        ("01001,south\n01003,south\n01005,south\n02001,west\n", None),
        ("01001,south\n02001,west\n", "2 keys of 'county' lie in no 'region'"),
        ("01001,east\n01003,east\n01005,east\n02001,west\n", "1 key of 'region' holds no key"),
    ],
)
def test_check_says_where_keys_of_two_levels_contradict_each_other(tmp_path, areas, message):
    """A table of hierarchies that leaves keys out, or names parents that are not published."""
    queries = [
        query("region", ["region"], "regions", "emp: {sum: emp, split: moderate, rho: 0.3}"),
        query("county", ["county"], "counties", "emp: {sum: emp, split: moderate, rho: 0.3}"),
    ]
    extra = (
        "post_processing: {consistent: true}\n"
        "hierarchies: [{source: areas.csv, on: county, columns: [region]}]\n"
    )
    loaded = load_spec(prepared(tmp_path, queries, extra))
    (tmp_path / "areas.csv").write_text(f"county,region\n{areas}")
    with open_table(loaded) as table:
        found = "\n".join(warnings_of(loaded, build(loaded, table.schema)))
    assert ("would move by what is missing" in found) is (message is not None)
    assert (message or "") in found


def test_check_names_what_is_not_made_consistent_and_why(tmp_path):
    """Averages, different values, quantiles, what decided a selection, what stands alone."""
    answers = (
        f"{ANSWERS}, mean: {{average: emp, split: moderate, rho: 0.1}}, "
        "kinds: {count_distinct: naics, rho: 0.1}, cut: {sum: emp, clamp: [0, 50], rho: 0.1}, "
        "middle: {median: emp, candidates: {from: 0, to: 200, step: 5}, rho: 0.1}"
    )
    queries = [
        query("county", ["county"], "counties", answers),
        query("cells", ["county", "naics"], "{domain: wide, keep: n, at_least: 5}", ANSWERS),
    ]
    found = hints(tmp_path, queries, "post_processing: {consistent: true}\n")
    assert "'mean' is not made consistent: an average does not add up over cells; publish" in found
    assert "'kinds' is not made consistent: different values do not add up" in found
    assert "'middle' is not made consistent: a quantile does not add up over cells." in found
    assert "'cut' is not made consistent: no other table" in found
    assert "queries[1]: 'n' is not made consistent: it decided which cells are published" in found
    assert "'emp' is not made consistent" not in found


def test_check_says_where_two_levels_are_the_same_cells(tmp_path):
    """A state of one county is measured twice."""
    assert "hold one key" in hints(tmp_path / "a", [FULL[1], FULL[2]], "")
    assert "1 of 2 keys of 'state' hold one key of 'county'" in hints(
        tmp_path / "b", [FULL[1], FULL[2]], ""
    )
    assert "hold one key" not in hints(tmp_path / "c", [FULL[3], FULL[4]], "")


def test_levels_of_which_neither_lies_below_the_other_are_named(tmp_path):
    """Two ways to put counties together, and no way to write them as one tree."""
    emp = "emp: {sum: emp, split: moderate, rho: 0.3}"
    queries = [
        query("state", ["state"], "states", emp),
        query("region", ["region"], "regions", emp),
        query("county", ["county"], "counties", emp),
    ]
    extra = (
        "post_processing: {consistent: true}\n"
        "hierarchies: [{source: areas.csv, on: county, columns: [region]}]\n"
    )
    found = hints(tmp_path, queries, extra)
    assert "of the levels region and state neither lies below the other" in found


def test_tables_that_cannot_be_fitted_are_warned_of(tmp_path, monkeypatch):
    """Their columns are empty, the answers are there, and the release says so."""
    monkeypatch.setattr(fits, "MOST_CELLS", 3)
    tables, outcome, _ = released(tmp_path, [FULL[0], FULL[2], FULL[4]])
    assert set(tables["county"]["n_consistent"]) == {None}
    assert None not in tables["county"]["n"]
    (warning, *_) = outcome.warnings
    assert "the tables all, county, industry could not be fitted together" in warning


@pytest.mark.parametrize("rho", ["50", "2000"])
def test_next_to_no_noise_is_fitted(tmp_path, rho):
    """Over two hierarchies whose cells are not published; standard errors are of any size."""
    budget = HEAD.replace("rho: 50\n", "rho: 10000\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "HEAD", budget)
        asked = f"n: {{count: records, rho: {rho}}}"
        queries = [
            query("county", ["county"], "counties", asked),
            query("industry", ["naics"], "industries", asked),
            query("all", [], None, asked),
        ]
        tables, _, _ = released(tmp_path, queries)
    for each in tables.values():
        assert [float(n) for n in each["n_consistent"]] == pytest.approx(each["n"], abs=0.01)


@pytest.mark.parametrize("threshold", ["50", "1e30"])
def test_noise_of_any_size_is_published(tmp_path, monkeypatch, threshold):
    """A charge was made, so nothing may fail: the most noise that a spec takes still adds up."""
    monkeypatch.setitem(globals(), "HEAD", HEAD.replace("emp: 50", f"emp: {threshold}"))
    answers = "emp: {sum: emp, split: moderate, rho: 1e-120}"
    queries = [
        query("state", ["state"], "states", answers),
        query("county", ["county"], "counties", answers),
    ]
    extra = "post_processing: {consistent: {nonnegative: true, whole: true}}\n"
    tables, _, _ = released(tmp_path, queries, extra)
    for ending in ("", "_nonnegative", "_whole"):
        states, counties = (tables[name][f"emp_consistent{ending}"] for name in ("state", "county"))
        assert float(states[0]) == pytest.approx(float(sum(counties[:3])), rel=1e-15)
        assert states[1] == counties[3]
