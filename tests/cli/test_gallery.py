"""The programs of the gallery, run as they are, yield what its page says.

Two of them build an environment of their own for another project's packages, which takes longer
than all the others together: `make audit` runs those.
"""

import os
import re
import subprocess
import sys

import pytest

from tests.cli.test_quickstart import ROOT

PAGE = " ".join((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8").split())
FOLDER = ROOT / "examples" / "gallery"


def shown(program, folder):
    """Run a program; return what it printed."""
    done = subprocess.run(
        [sys.executable, FOLDER / program],
        cwd=folder,
        env=os.environ,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_ranges_err_less_than_single_classes(tmp_path):
    """By a fifth or so; the errors of one run vary, those of single classes are computed."""
    text = shown("ranges.py", tmp_path)
    error, rows = re.search(r"mean error ([\d.]+) rows of ([\d,]+)", text).groups()
    assert f"rows of {rows}" in PAGE
    assert re.search(r"same rho: ([\d.]+)", text)[1] in PAGE
    assert 1 < float(error) < 15  # it is near 6; several times that would be another mechanism
    assert "of 5,000 loses 1000\n" in text


def test_descent_finds_the_shares_of_workers_and_of_workplaces(tmp_path):
    """Each to within two hundredths of the truth."""
    text = shown("gradient_descent.py", tmp_path)
    shares = [[int(each) for each in re.findall(r"(\d+)%", line)] for line in text.splitlines()]
    by_worker, by_workplace, *found = [each for each in shares if each]
    assert found[0] == pytest.approx(by_worker, abs=2)
    assert found[1] == pytest.approx(by_workplace, abs=2)
    assert f"{by_worker[0]} % of workers, {by_worker[1]} % in finance" in PAGE
    assert f"{by_workplace[0]} and {by_workplace[1]} %" in PAGE


def test_opendp_counts_what_the_page_says(tmp_path):
    """The share of high wages by worker and by establishment."""
    text = shown("opendp_measurements.py", tmp_path)
    plain, split = re.findall(r"(\d+)% high", text)
    assert abs(int(split) - 37) <= 1
    assert abs(int(plain) - 11) <= 1
    assert "by worker, 37 % of wages are high; counted by establishment, 11 %" in PAGE


def test_top_keys_are_those_of_workers_and_a_threshold_is_refused(tmp_path):
    """The share of employees that each choice holds; a measurement with a delta is not run."""
    text = shown("top_keys.py", tmp_path)
    by_pieces, by_establishment = re.findall(r"^chosen by \w+: (\d+)%", text, re.MULTILINE)
    assert abs(int(by_pieces) - 62) <= 10  # which of the nearly equal ones is a matter of noise
    assert int(by_establishment) <= 8
    best = re.search(r"hold (\d+)%", text)[1]
    assert f"the best choice has {best} %" in PAGE
    assert "a threshold is refused: the measurement is private in the sense of" in text


@pytest.mark.audit
def test_synthetic_pieces_are_spread_as_workers_are(tmp_path):
    """By private-pgm, in an environment that the first run makes."""
    text = shown("synthetic.py", tmp_path)
    rows, true = (
        int(each.replace(",", ""))
        for each in re.findall(r"([\d,]+) synthetic pieces; .* ([\d,]+)", text)[0]
    )
    assert rows == pytest.approx(true, abs=150)
    for line in re.findall(r"^region .*$", text, re.MULTILINE):
        truth, drawn, by_establishment = map(float, re.findall(r"([\d.]+)%", line))
        assert drawn == pytest.approx(truth, abs=1.5)
        assert truth > by_establishment
    assert float(re.search(r"([\d.]+)% of the pieces lie elsewhere", text)[1]) < 4
    assert "of 5,000 loses 3000\n" in text


@pytest.mark.audit
@pytest.mark.spark
def test_tumult_cuts_nobody_off(tmp_path):
    """On split rows totals err by noise alone, in every industry; the bound would cut much off."""
    text = shown("tumult.py", tmp_path)
    numbers = [
        [int(each.replace(",", "")) for each in found]
        for found in re.findall(
            r"truth ([\d,]+), .* rows ([\d,]+), .* ([\d,]+)$", text, re.MULTILINE
        )
    ]
    assert len(numbers) == 5
    for true, found, cut in numbers:
        assert abs(found - true) < 6 * 112  # Gaussian: fewer than one run in 10^8 fails
        assert true - cut > 6 * 112
    assert "of 5,000 loses 1000\n" in text


def test_every_program_is_on_the_page():
    """And nothing else is."""
    named = set(re.findall(r"\| `(\w+\.py)` \|", PAGE))
    assert named == {each.name for each in FOLDER.glob("*.py")}
