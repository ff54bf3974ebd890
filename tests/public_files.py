"""Public files by their name: small ones of the same columns, made here, and the real ones.

What is checked on the real ones is checked on the made ones first, so that nothing is left out
where the real ones are not at hand. CONTRIBUTING.md says how to name the folder that holds them.
"""

import csv
import gzip
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.lab.synth.sizes import CODES

FOLDER = "PERRECORD_REAL_DATA"
"""The environment variable that names the folder with the real files."""

Row = dict[str, Any]


def real(name: str, folder: Path) -> Path:
    """Return a real file, or leave the test out and say what is missing."""
    given = os.environ.get(FOLDER)
    if not given:
        pytest.skip(f"{FOLDER} is not set; it names the folder with {name}")
    path = Path(given) / name
    if not path.is_file():
        pytest.skip(f"the folder that {FOLDER} names has no {name}")
    return path


def made(name: str, folder: Path) -> Path:
    """Write a small file of the same name and columns, and return its path."""
    path = folder / name
    rows = list(_MADE[name]())
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        content = text.getvalue().encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.fixture(params=[made, real])
def public_file(request, tmp_path) -> Callable[[str], Path]:
    """Give what returns a public file by its name; each test runs on made and on real files."""
    return lambda name: request.param(name, tmp_path)


# -- Quick Stats --------------------------------------------------------------------------------


def _county(state: str, code: str, county: str, item: str, value: str) -> Row:
    number = int(code or 0)
    return {
        "Program": "CENSUS", "Year": 2022, "Period": "END OF DEC", "Geo Level": "COUNTY",
        "State": {"01": "ALABAMA", "02": "ALASKA"}.get(state, "TEXAS"), "State ANSI": state,
        "Ag District": f"DISTRICT {1 + number % 3}", "Ag District Code": 10 * (1 + number % 3),
        "County": county, "County ANSI": code, "Commodity": item.partition(",")[0],
        "Data Item": item, "Domain": "TOTAL", "Domain Category": "NOT SPECIFIED", "Value": value,
        "CV (pct)": "(D)" if value == " (D)" else "(L)",
        "value_num": "" if value == " (D)" else value.replace(",", ""),
    }  # fmt: skip


def _inventory(item: str) -> Iterator[Row]:
    """Yield 60 counties of two states, every fifth withheld, and two of Alaska without a code."""
    yield _county("02", "", "ANCHORAGE", item, "29.00")
    yield _county("02", "", "KENAI PENINSULA", item, "7.00")
    for number in range(60):
        state, code = ("01", "48")[number % 2], f"{2 * number + 1:03d}"
        value = " (D)" if number % 5 == 0 else f"{int(12 * 1.12**number):,}.00"
        yield _county(state, code, f"COUNTY {number}", item, value)


def _operations() -> Iterator[Row]:
    """Yield dairies by the size of their herd: classes alone, no totals."""
    item = "CATTLE, COWS, MILK - OPERATIONS WITH INVENTORY"
    for low, high in ((1, 9), (10, 19), (20, 49), (50, 99), (100, 199), (200, 499)):
        category = f"INVENTORY OF MILK COWS: ({low} TO {high} HEAD)"
        for number in range(low % 7 + 5):
            row = _county("48", f"{2 * number + 1:03d}", f"COUNTY {number}", item, "3.00")
            yield row | {"Domain": "INVENTORY OF MILK COWS", "Domain Category": category}


def _cattle_by_county() -> Iterator[Row]:
    """Yield a table of cattle that is not as Quick Stats writes it."""
    for number in range(5):
        yield {"state": "TX", "county": f"County {number}", "cattle": 1000 * number, "horses": 7}


# -- Business Patterns ---------------------------------------------------------------------------


def _zips(industries: list[str]) -> Callable[[], Iterator[Row]]:
    """Return what yields establishments by ZIP code, industry and size class, and of all sizes."""

    def rows() -> Iterator[Row]:
        source = np.random.default_rng(3)
        for number in range(25):
            for naics in industries:
                place = {"zip": f"{number * 397 % 99999:05d}", "naics": naics}
                classes = [code for code in CODES if code != "210"]
                counts = source.poisson([9, 4, 3, 2, 1, 0.5, 0.2, 0.1, 0.1]).tolist()
                found = {code: each for code, each in zip(classes, counts, strict=True) if each}
                for code, each in ({"1": sum(counts)} | found if found else {}).items():
                    yield place | {"est": each, "empszes": code, "state": "NY"}

    return rows


def _counties_of_zips() -> Iterator[Row]:
    """Yield the county of every second ZIP code; the others lie in none that is known."""
    for number in range(0, 25, 2):
        code = f"{number * 397 % 99999:05d}"
        yield {"zip": code, "state": "NY", "county": "County", "fips": f"36{2 * number + 1:03d}"}


def _counties() -> Iterator[Row]:
    """Yield the establishments, employment and payroll of counties and industries."""
    source = np.random.default_rng(4)
    for number in range(30):
        for naics in ("113310", "236115", "445110", "622110"):
            est = 3 + int(source.poisson(10))
            emp = int(est * source.pareto(1.2) * 4)
            yield {
                "fips": f"01{2 * number + 1:03d}", "naics": naics, "est": est, "emp": emp,
                "payann_k": 41 * emp + est, "state": "AL", "year": 2021,
            }  # fmt: skip


def _mines() -> Iterator[Row]:
    """Yield mines of two years, small as a rule and some very large; some hours are not known."""
    source = np.random.default_rng(5)
    for number in range(1500):
        employees = int(3 * (1 + source.pareto(1.1)))
        yield {
            "YEAR": 2015 + number % 2, "US_STATE": f"S{number % 41:02d}",
            "PRIMARY": f"Kind {int(source.integers(150))}", "AVG_EMP_TOTAL": employees,
            "EMP_HRS_TOTAL": None if number % 50 == 0 else 1900 * employees,
        }  # fmt: skip


_MADE: dict[str, Callable[[], Iterator[Row]]] = {
    "nass_2022_milk.csv.gz": lambda: _inventory("CATTLE, COWS, MILK - INVENTORY"),
    "nass_2022_layers.csv.gz": lambda: _inventory("CHICKENS, LAYERS - INVENTORY"),
    "nass_2022_milk_ops_by_herd.csv.gz": _operations,
    "cattle_tx_neighbors_county.csv": _cattle_by_county,
    "zbp_zip_naics2_size_2016.parquet": _zips(["11", "23", "44", "62"]),
    "zbp_zip_naics6_size_2016.parquet": _zips(["114111", "236115", "445110"]),
    "zip_to_county.csv.gz": _counties_of_zips,
    "cbp_county_naics6_2021.parquet": _counties,
    "msha_mines_2013_2016.parquet": _mines,
}
