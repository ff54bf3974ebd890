"""Files as agencies publish them: read, refused and fitted to; see `tests.public_files`."""

import duckdb
import pytest

from perrecord.errors import InputError, SourceError
from perrecord.lab.synth import business, nass, published
from perrecord.lab.synth.sizes import CODES


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("nass_2022_milk.csv.gz", [(50, 12), (1512, 850)]),
        ("nass_2022_layers.csv.gz", [(50, 12), (2697, 348)]),
    ],
)
def test_quick_stats_files_are_read(public_file, name, known):
    """Counties that are withheld are counted; Alaska's have no code."""
    loaded = nass(public_file(name))
    records = len(loaded.table)
    withheld = loaded.left_out["(D) values"]
    assert (records, withheld) in known
    assert loaded.left_out == {"(D) values": withheld}
    kept = nass(public_file(name), suppressed="null").table
    assert len(kept) == records + withheld
    assert kept["inventory"].null_count == withheld
    assert len(set(kept["county"].to_pylist())) == records + withheld
    assert "02 ANCHORAGE" in kept["county"].to_pylist()


def test_a_file_of_classes_asks_for_one(public_file):
    """Dairies by the size of their herd: classes, no totals."""
    path = public_file("nass_2022_milk_ops_by_herd.csv.gz")
    with pytest.raises(InputError, match=r"no totals.*'INVENTORY OF MILK COWS: \(50 TO 99 HEAD\)'"):
        nass(path)
    assert len(nass(path, category="INVENTORY OF MILK COWS: (50 TO 99 HEAD)").table) in (6, 744)


def test_a_table_that_is_no_quick_stats_file_is_refused(public_file):
    """Its columns are named."""
    with pytest.raises(SourceError, match="has no Program, Year, Period"):
        nass(public_file("cattle_tx_neighbors_county.csv"))


@pytest.mark.parametrize("name", ["zbp_zip_naics2_size_2016", "zbp_zip_naics6_size_2016"])
def test_zip_code_business_patterns_are_fitted_exactly(public_file, tmp_path, name):
    """Every ZIP code, industry and size class as published."""
    path = public_file(f"{name}.parquet")
    table = published(path, counties=public_file("zip_to_county.csv.gz"))
    out = business(path=tmp_path / "est.parquet", fitted_to=table)
    cases = " ".join(
        f"WHEN emp BETWEEN {low} AND {high or 10**9} THEN '{code}'"
        for code, (low, high) in CODES.items()
        if code != "210"
    )
    found = f"(SELECT zip, naics, CASE {cases} END, count(*) FROM '{out}' GROUP BY ALL)"
    wanted = f"(SELECT zip, naics, empszes, est FROM '{path}' WHERE empszes <> '1')"
    assert _difference(found, wanted) == 0


def test_county_business_patterns_are_fitted_exactly(public_file, tmp_path):
    """Establishments, employment and payroll of every county and industry."""
    path = public_file("cbp_county_naics6_2021.parquet")
    out = business(path=tmp_path / "est.parquet", fitted_to=path)
    found = f"(SELECT county, naics, count(*), sum(emp), sum(payann) FROM '{out}' GROUP BY ALL)"
    wanted = f"(SELECT fips, naics, est, emp, payann_k FROM '{path}')"
    assert _difference(found, wanted) == 0


def _difference(one, other):
    """Return how many rows are in one of two tables alone."""
    with duckdb.connect() as connection:
        return connection.sql(
            f"SELECT count(*) FROM (({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}))"
        ).fetchall()[0][0]
