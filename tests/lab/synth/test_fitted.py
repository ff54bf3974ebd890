"""Establishments of a published table: its counts exactly, its classes, totals, firms, files."""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from perrecord.errors import InputError
from perrecord.lab.synth import business, published
from perrecord.lab.synth.establishments import SCHEMA
from perrecord.lab.synth.fitted import TAIL
from perrecord.lab.synth.sizes import CODES
from tests import first

CLASSES = [code for code in CODES if code != "210"]


def counted(table, *by, measures=()):
    """Return establishments and sums of measures by columns."""
    sums = "".join(f", sum({name})" for name in measures)
    with duckdb.connect() as connection:
        connection.register("est", table)
        keys = ", ".join(by)
        return {
            row[: len(by)]: row[len(by) :]
            for row in connection.sql(
                f"SELECT {keys}, count(*){sums} FROM est GROUP BY {keys}"
            ).fetchall()
        }


def by_class(table):
    """Return establishments by place, industry and the class that their employment falls into."""
    cases = " ".join(
        f"WHEN emp BETWEEN {low} AND {high or 10**9} THEN '{code}'"
        for code, (low, high) in CODES.items()
        if code != "210"
    )
    with duckdb.connect() as connection:
        connection.register("est", table)
        return {
            row[:3]: row[3]
            for row in connection.sql(
                f"SELECT county, naics, CASE {cases} END, count(*) FROM est GROUP BY ALL"
            ).fetchall()
        }


@pytest.fixture(scope="module")
def listed():
    """Return a table of 60 counties, 30 industries and nine size classes, many cells empty."""
    source = np.random.default_rng(5)
    rows = [
        (f"{1 + place // 20:02d}{2 * (place % 20) + 1:03d}", f"{440000 + 11 * industry}", code)
        for place in range(60)
        for industry in range(30)
        for code in CLASSES
    ]
    means = np.array([40, 14, 9, 6, 2, 1.2, 0.3, 0.1, 0.08])
    counts = source.poisson(np.tile(means, 1800) * source.gamma(0.5, 2, 16_200))
    fips, naics, empszes = map(list, zip(*rows, strict=True))
    return pa.table({"fips": fips, "naics": naics, "empszes": empszes, "est": counts})


@pytest.fixture(scope="module")
def fitted(listed):
    """Return its establishments."""
    return business(fitted_to=published(listed), seed=2)


def test_the_marginals_are_exactly_those_published(listed, fitted):
    """As many establishments of every county, industry and size class as the table says."""
    rows = zip(*(column.to_pylist() for column in listed.columns), strict=True)
    wanted = {(fips, naics, size): count for fips, naics, size, count in rows if count}
    assert by_class(fitted) == wanted
    assert len(fitted) == sum(wanted.values()) > 100_000


def test_a_wrong_class_would_be_noticed(listed, fitted):
    """Twin: one employee moved over an edge changes the marginals."""
    emp = fitted["emp"].to_numpy().copy()
    emp[np.flatnonzero(emp == 4)[0]] = 5
    moved = fitted.set_column(fitted.column_names.index("emp"), "emp", pa.array(emp))
    assert by_class(moved) != by_class(fitted)


def test_rows_are_the_proportion_of_every_cell(listed):
    """Rounded up or down, and as many as asked for; half as many, three times as many."""
    table = published(listed)
    total = table.establishments
    rows = zip(*(column.to_pylist() for column in listed.columns), strict=True)
    wanted = {(fips, naics, size): count for fips, naics, size, count in rows}
    for rows in (0, 1, total // 2, total, 3 * total + 1):
        drawn = business(rows, fitted_to=table, seed=9)
        assert len(drawn) == rows
        found = by_class(drawn)
        for cell, count in wanted.items():
            share = count * rows / total
            assert math.floor(share) <= found.get(cell, 0) <= math.ceil(share)


@pytest.mark.parametrize("seeds", first(1, [210, 600]))
def test_the_rounding_is_fair(seeds):
    """Of a cell with a third of a row, a third of the seeds draw one: within five spreads."""
    given = pa.table({"fips": ["01001", "01003", "01005"], "naics": ["44"] * 3, "est": [1, 1, 1]})
    table = published(given)
    found = [business(1, fitted_to=table, seed=seed)["county"][0].as_py() for seed in range(seeds)]
    for county in given["fips"].to_pylist():
        assert abs(found.count(county) - seeds / 3) < 5 * math.sqrt(seeds * 2 / 9)


def test_the_open_class_has_a_pareto_tail():
    """1,000 or more: index 1.55, cut at 50,000; shares within five spreads at three places."""
    rows = 100_000
    given = pa.table({"fips": ["01001"], "naics": ["44"], "empszes": ["260"], "est": [rows]})
    emp = business(fitted_to=published(given), seed=1)["emp"].to_numpy()
    assert emp.min() == 1000
    assert 40_000 < emp.max() <= 50_000
    for place in (1500, 4000, 20_000):
        share = ((1000 / place) ** TAIL - 50**-TAIL) / (1 - 50**-TAIL)
        spread = math.sqrt(rows * share * (1 - share))
        assert abs((emp >= place).sum() - rows * share) < 5 * spread
    assert 2400 < emp.mean() < 2600


def test_employment_inside_a_class_is_that_of_all_establishments():
    """Of 1 to 4 employees, each has its share as without a fit, within a percentage point."""
    given = pa.table({"fips": ["01001"], "naics": ["44"], "empszes": ["212"], "est": [100_000]})
    inside = business(fitted_to=published(given), seed=1)["emp"].to_numpy()
    model = business(400_000, seed=1)["emp"].to_numpy()
    model = model[(model >= 1) & (model <= 4)]
    for employees in (1, 2, 3, 4):
        assert (inside == employees).mean() == pytest.approx((model == employees).mean(), abs=0.01)


def test_payroll_goes_with_employment(fitted):
    """Ranks correlate; a quarter is about a quarter, and never above the year."""
    emp, payann, payqtr1 = (fitted[name].to_numpy() for name in ("emp", "payann", "payqtr1"))
    ranks = [np.argsort(np.argsort(values, kind="stable")) for values in (emp, payann)]
    assert np.corrcoef(ranks)[0, 1] > 0.75
    assert (payqtr1 <= payann).all()
    assert payqtr1.sum() / payann.sum() == pytest.approx(0.25, abs=0.03)
    assert 25 < payann.sum() / emp.sum() < 100


def test_firms_have_many_establishments_of_one_industry_in_many_places(fitted):
    """About a fifth of the establishments, as without a fit."""
    with duckdb.connect() as connection:
        connection.register("est", fitted)
        alone, most, industries, counties = connection.sql(
            "SELECT sum(n) FILTER (n = 1) / sum(n), max(n), max(industries), max(counties) FROM "
            "(SELECT firm, count(*) AS n, count(DISTINCT naics) AS industries, "
            "count(DISTINCT county) AS counties FROM est GROUP BY firm)"
        ).fetchall()[0]
    assert 0.75 < alone < 0.85
    assert most > 50
    assert industries == 1
    assert counties > 30


def test_totals_of_cells_are_kept_exactly():
    """Without size classes employment and payroll add up to what is published, in every cell."""
    source = np.random.default_rng(3)
    cells = 400
    est = source.integers(1, 60, cells)
    emp = (est * source.gamma(0.3, 40, cells)).astype(np.int64)
    emp[:5] = 0
    given = pa.table(
        {
            "fips": [f"01{index:03d}" for index in range(cells)],
            "naics": ["722511"] * cells,
            "est": est,
            "emp": emp,
            "payann_k": 40 * emp + 7,
        }
    )
    table = business(fitted_to=published(given), seed=1)
    rows = zip(*(given[name].to_pylist() for name in given.column_names), strict=True)
    assert counted(table, "county", measures=("emp", "payann")) == {
        (fips,): (count, heads, pay) for fips, _, count, heads, pay in rows
    }
    assert pc.min(table["emp"]).as_py() == 0
    assert pc.min(table["payann"]).as_py() >= 0
    # A few have much of it, here too.
    large = np.sort(table["emp"].to_numpy())[::-1]
    assert large[: len(large) // 100].sum() > 0.15 * large.sum()
    half = business(len(table) // 2, fitted_to=published(given), seed=1)
    assert pc.sum(half["emp"]).as_py() == pytest.approx(emp.sum() / 2, rel=0.1)


def test_payroll_follows_employment_that_is_shared_out():
    """Of two counties with as many establishments, the one with 100 times the jobs pays more."""
    given = pa.table(
        {"fips": ["01001", "01003"], "naics": ["44"] * 2, "est": [500] * 2, "emp": [1000, 100_000]}
    )
    found = counted(business(fitted_to=published(given)), "county", measures=("emp", "payann"))
    assert found["01001",][:2] == (500, 1000)
    assert found["01003",][:2] == (500, 100_000)
    assert found["01003",][2] > 20 * found["01001",][2]


def test_zip_codes_and_their_counties_are_columns():
    """With the counties of ZIP codes as every other establishment; without, by ZIP code alone."""
    given = pa.table({"zip": ["00501", "99999"], "naics": ["44", "52"], "est": [3, 2]})
    counties = pa.table({"zip": ["00501"], "fips": ["36103"]})
    table = business(fitted_to=published(given, counties=counties))
    assert table.column_names == [*SCHEMA.names[:4], "zip", *SCHEMA.names[4:]]
    assert counted(table, "state", "county", "zip", "naics") == {
        ("36", "36103", "00501", "44"): (3,),
        ("99", "99999", "99999", "52"): (2,),
    }
    bare = business(fitted_to=published(given))
    assert bare.column_names == ["id", "firm", "zip", "naics", "emp", "payann", "payqtr1"]


def test_a_file_holds_the_same_as_the_table(listed, tmp_path):
    """Written in chunks of whole cells; the same seed, the same file; another, another."""
    table = published(listed)
    rows = 1_100_000
    path = business(rows, tmp_path / "est.parquet", fitted_to=table, seed=4)
    memory = business(rows, fitted_to=table, seed=4)
    assert len(memory["emp"].chunks) > 1
    assert pq.read_table(path).cast(memory.schema).equals(memory)
    assert memory["id"].to_pylist() == list(range(rows))
    assert not business(rows, fitted_to=table, seed=5).equals(memory)
    assert [each.name for each in tmp_path.iterdir()] == ["est.parquet"]


def test_a_file_can_be_given_by_its_name(listed, fitted, tmp_path):
    """It is read with what its columns are called."""
    pq.write_table(listed, tmp_path / "cbp.parquet")
    assert business(fitted_to=tmp_path / "cbp.parquet", seed=2).equals(fitted)
    assert business(fitted_to=str(tmp_path / "cbp.parquet"), seed=2).equals(fitted)


def test_bad_sizes_are_refused(listed):
    """With what to type."""
    table = published(listed)
    for rows in (-1, 1.5, True):
        with pytest.raises(InputError, match="expected a whole number such as 1_000_000"):
            business(rows, fitted_to=table)
    with pytest.raises(InputError, match=r"rows is missing; .* Only fitted_to"):
        business()
    with pytest.raises(InputError, match="expected at most"):
        business(10**18, fitted_to=table)
    empty = published(pa.table({"fips": ["01001"], "naics": ["44"], "est": [0]}))
    with pytest.raises(InputError, match="holds no establishments"):
        business(1, fitted_to=empty)
    assert len(business(fitted_to=empty)) == 0


def test_what_is_interrupted_leaves_no_file(listed, tmp_path, monkeypatch):
    """The file takes its name when it is complete."""

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", fail)
    with pytest.raises(KeyboardInterrupt):
        business(fitted_to=published(listed), path=tmp_path / "est.parquet")
    assert list(tmp_path.iterdir()) == []
