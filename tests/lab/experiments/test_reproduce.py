"""The quick form of everything, run once through the command line, beside its reference."""

import csv
import fcntl
import os
import re
import shutil
import typing

import pytest

from perrecord.cli.reproduce import made_by
from perrecord.lab.experiments.experiment import Verdict
from tests.cli.conftest import run
from tests.lab.experiments import references
from tests.lab.experiments.references import (
    BY_SOLVER,
    DRAWN,
    REFERENCE,
    differences,
    read,
    tolerance,
    verdicts_in,
)
from tests.report.test_page import loads

NAMES = sorted(path.name for path in REFERENCE.glob("*.csv"))
VERDICTS = typing.get_args(Verdict)


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """What the quick run wrote, and what it printed; one run for all workers."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, printed = shared / "reproduced" / "paper", shared / "reproduced" / "printed.txt"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            found = run("reproduce", "all", "--quick", "--out", folder)
            assert found.code == 0, found.err
            printed.write_text(found.out, encoding="utf-8")
    return folder, printed.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def figures(paper):
    """The folder of the figures."""
    return paper[0] / "index-figures"


def test_every_figure_has_its_picture_and_its_numbers(paper, figures):
    """Three files for each, and a page; nothing else."""
    assert sorted(path.name for path in figures.glob("*.csv")) == NAMES
    for suffix in (".png", ".svg"):
        assert [path.stem for path in sorted(figures.glob(f"*{suffix}"))] == [
            name.removesuffix(".csv") for name in NAMES
        ]
    assert {path.name for path in paper[0].iterdir()} == {"index.html", "index-figures"}


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_those_of_the_reference(figures, name):
    """Closed forms to a millionth. Moved on purpose? python -m tests.lab.experiments.references."""
    assert differences(figures / name, REFERENCE / name) == []


def test_verdicts_are_those_of_the_reference(paper):
    """Claim by claim. Turned on purpose? python -m tests.lab.experiments.references."""
    expected = references.VERDICTS.read_text(encoding="utf-8")
    assert verdicts_in(paper[1]).splitlines() == expected.splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_a_reference_that_is_off_by_one_per_cent_is_caught(figures, tmp_path, name):
    """One number, the last that is not 0 nor the solver's, in the middle row of every file."""
    rows = read(REFERENCE / name)
    row = rows[len(rows) // 2]
    stem = name.removesuffix(".csv")
    column = [
        each
        for each, value in row.items()
        if _is_number(value) and float(value) and (stem, each) not in BY_SOLVER
    ][-1]
    row[column] = str(float(row[column]) * 1.01)
    (found,) = differences(figures / name, _written(tmp_path / name, rows))
    assert f": {column} is " in found


@pytest.mark.parametrize(("stem", "column"), BY_SOLVER)
def test_what_hangs_on_the_solver_is_compared_as_a_share_of_itself(figures, tmp_path, stem, column):
    """Every number, however small, is caught when it is off by more than it may be."""
    rows = read(REFERENCE / f"{stem}.csv")
    numbers = [row for row in rows if float(row[column])]
    assert numbers
    for row in numbers:
        row[column] = str(float(row[column]) * (1 + 3 * tolerance(stem, column)))
    found = differences(figures / f"{stem}.csv", _written(tmp_path / f"{stem}.csv", rows))
    assert len(found) == len(numbers)


def test_rows_that_are_missing_are_caught(figures, tmp_path):
    """A file that ends early is no match."""
    short = tmp_path / NAMES[0]
    lines = (REFERENCE / NAMES[0]).read_text(encoding="utf-8").splitlines(keepends=True)
    short.write_text("".join(lines[:-1]), encoding="utf-8")
    assert len(differences(figures / NAMES[0], short)) == 1


def test_references_hold_no_drawn_noise():
    """Nor more than the repository should carry."""
    for name in NAMES:
        assert not DRAWN & read(REFERENCE / name)[0].keys()
    assert sum((REFERENCE / name).stat().st_size for name in NAMES) < 1_500_000


def test_the_page_is_complete_in_itself(paper):
    """It loads nothing; its links lead to files beside it or into itself."""
    html = (paper[0] / "index.html").read_text(encoding="utf-8")
    expected = {f"index-figures/{name}" for name in NAMES}
    expected |= {name.replace(".csv", f".{kind}") for name in expected for kind in ("png", "svg")}
    assert {(tag, name) for tag, name, _ in loads(html)} == {("a", "href")}
    assert {value for *_, value in loads(html)} == expected
    for place in re.findall(r'href="#([^"]+)"', html):
        assert f'id="{place}"' in html


def test_every_claim_has_a_verdict(paper):
    """On the page and in the terminal; all three verdicts occur, and the page says it was quick."""
    *lines, path = paper[1].splitlines()
    assert path == str(paper[0] / "index.html")
    verdicts = [line.split(":")[0] for line in lines]
    assert set(verdicts) == set(VERDICTS)
    assert len(lines) >= 25
    html = (paper[0] / "index.html").read_text(encoding="utf-8")
    cells = re.findall(rf'<th scope="row"[^>]*>({"|".join(VERDICTS)})</th>', html)
    assert sorted(cells) == sorted(verdicts)
    assert "This is the quick form" in html


def test_running_again_replaces_what_was_there(paper, tmp_path):
    """A folder of figures is replaced as a whole; one with other files is refused."""
    folder = tmp_path / "paper"
    shutil.copytree(paper[0], folder)
    assert run("reproduce", "keys", "--quick", "--out", folder).code == 0
    left = {path.stem for path in (folder / "index-figures").iterdir()}
    assert left == {"keys-by-records", "keys-by-threshold", "price-of-being-found"}
    (folder / "index-figures" / "notes.txt").write_text("mine", encoding="utf-8")
    refused = run("reproduce", "keys", "--quick", "--out", folder)
    assert refused.code == 1
    assert "move it away" in refused.err


def test_the_page_names_the_files_it_was_made_from(tmp_path):
    """By name, so that it does not tell where they were."""
    path = tmp_path / "quickstats.csv"
    assert made_by("sim", quick=True, cis_file=None, cbp_file=None) == (
        "perrecord reproduce sim --quick"
    )
    assert made_by("all", quick=False, cis_file=path, cbp_file=tmp_path / "cbp.csv") == (
        "perrecord reproduce all --cis-file quickstats.csv --cbp-file cbp.csv"
    )


def _written(path, rows):
    """Write rows as a file, and return where."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _is_number(value):
    try:
        float(value)
    except ValueError:
        return False
    return True
