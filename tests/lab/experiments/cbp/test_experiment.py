"""The whole experiment on County Business Patterns, on few establishments."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Split
from perrecord.lab.experiments.cbp import experiment as cbp
from perrecord.lab.experiments.cbp.experiment import FULL, QUICK, run

SMALL = replace(QUICK, rows=30_000, fewest=20, goals=(Fraction(1, 20), Fraction(1, 5)))


@pytest.fixture
def small(monkeypatch):
    """The quick run with fewer establishments and goals."""
    monkeypatch.setattr(cbp, "QUICK", SMALL)


def test_the_schemes_are_those_of_the_papers_tables():
    """In EMP, PAYANN, PAYQTR1; both runs have the same, and cells of 100 or more."""
    assert FULL.top_codes == QUICK.top_codes
    assert FULL.splits == QUICK.splits
    assert FULL.top_codes["Conservative"] == Split(emp=1000, payann=100_000, payqtr1=25_000)
    assert FULL.splits["Median"] == Split(emp=2, payann=104, payqtr1=24)
    assert (FULL.fewest, FULL.budget, QUICK.fewest) == (100, 1, 100)


def test_the_experiment_has_its_figures_claims_and_steps(small):
    """It says what it does, and what it leaves out."""
    steps = []
    found = run(quick=True, step=steps.append)
    assert found.name == "cbp"
    assert [figure.name for figure in found.figures] == [
        "cbp-errors",
        "cbp-errors-by-budget",
        "cbp-losses",
        "cbp-fitness",
        "cbp-agency-noise",
        "cbp-suppression",
        "cbp-methods",
        "cbp-blurring",
        "cbp-changes",
    ]
    assert len(found.claims) == 13
    assert {claim.verdict for claim in found.claims} >= {"holds", "holds with a condition"}
    assert len(steps) == 8
    assert all(each.startswith("CBP: ") for each in steps)
    words = " ".join(found.text)
    assert "20 or more establishments" in words
    assert "void its guarantee" in words
    assert "1/30 for each of 30 answers" in words
    assert "Neither carries a formal guarantee" in words
    for figure in found.figures:
        assert figure.finding
        assert figure.reading
        assert figure.tables
        assert figure.numbers.num_rows


def test_a_published_table_takes_the_place_of_the_papers_percentiles(small, tmp_path: Path):
    """Its industries have two digits, so there are two levels and ten answers."""
    path = tmp_path / "published.parquet"
    counties = [f"08{number:03d}" for number in range(1, 21)]
    cells = {
        "fips": counties * 2,
        "naics": ["72"] * 20 + ["11"] * 20,
        "empszes": ["220"] * 40,
        "est": [30] * 20 + [5] * 20,
    }
    pq.write_table(pa.table(cells), path)
    found = run(quick=True, step=lambda _: None, source=path)
    assert "fitted to the published table published.parquet" in found.text[0]
    assert "0.1 for each of 10 answers" in found.text[1]
