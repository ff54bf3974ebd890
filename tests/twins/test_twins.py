"""The twins fit the code of today; some of them are tried, and the runner can tell."""

import ast
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.twins.every import EVERY
from tests.twins.twin import Twin
from tests.twins.workshop import PROJECT, Workshop

SOURCE = PROJECT / "src" / "perrecord"
LAYERS = {
    "accounting",
    "cli",
    "confidential",
    "evaluate",
    "exact",
    "lab",
    "laws",
    "mechanisms",
    "noise",
    "policy",
    "queries",
    "release",
    "released",
    "report",
    "session",
    "studio",
    "systems",
    "tables",
}
TRIED = (
    "a record of zeros has no piece",
    "integers are reduced by modulo",
    "a session answers before it charges",
)


def named(name: str) -> Twin:
    """Return the twin of this name."""
    (found,) = [twin for twin in EVERY if twin.name == name]
    return found


def test_there_are_many_twins_of_every_layer():
    """At least forty, no two alike."""
    assert len(EVERY) >= 40
    assert {twin.layer for twin in EVERY} == LAYERS
    assert max(Counter(twin.name for twin in EVERY).values()) == 1
    assert len({(twin.file, twin.old, twin.new) for twin in EVERY}) == len(EVERY)


def unknown_names(folder, files):
    """Return the files, given by name and text, that use a name which nothing defines."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    ruff = Path(sys.executable).with_name("ruff")
    options = ("--isolated", "--no-cache", "--select", "F821,F823", "--output-format", "json")
    shown = subprocess.run(
        [ruff, "check", *options, folder], check=False, capture_output=True, text=True
    )
    return {Path(each["filename"]).stem: each["message"] for each in json.loads(shown.stdout)}


def test_a_twin_breaks_what_it_says_and_not_a_name(tmp_path):
    """A twin that names what is gone is caught by its NameError, which proves nothing."""
    broken = {
        f"twin{number}": twin.broken((SOURCE / twin.file).read_text())
        for number, twin in enumerate(EVERY)
    }
    found = unknown_names(tmp_path, broken)
    assert {EVERY[int(name.removeprefix("twin"))].name: why for name, why in found.items()} == {}
    (tmp_path / "other").mkdir()
    assert list(unknown_names(tmp_path / "other", {"gone": "def f():\n    return gone\n"})) == [
        "gone"
    ]


@cache
def source_of(file):
    """Return the text of a module and its programme; several twins break the same module."""
    whole = (SOURCE / file).read_text()
    return whole, ast.dump(ast.parse(whole))


@pytest.mark.parametrize("twin", EVERY, ids=lambda twin: twin.name)
def test_a_twin_fits_the_code(twin):
    """Its text occurs once, what takes its place is Python and another programme."""
    whole, programme = source_of(twin.file)
    assert whole.count(twin.old) == 1
    assert ast.dump(ast.parse(twin.broken(whole))) != programme


@cache
def functions_of(file):
    """Return the functions of a file of tests by their names."""
    tree = ast.parse((PROJECT / "tests" / file).read_text())
    return {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}


def test_the_tests_of_every_twin_exist():
    """Each is a function in its file, and not among the long ones that `make test` leaves out."""
    for test in {test for twin in EVERY for test in twin.tests}:
        file, _, name = test.partition("::")
        function = functions_of(file).get(name.partition("[")[0])
        assert function is not None, test
        marks = [ast.unparse(each) for each in function.decorator_list]
        assert not [mark for mark in marks if mark.endswith((".audit", ".spark", ".browser"))], test


def test_a_text_that_does_not_occur_once_is_refused():
    """The fault must be where it is said to be."""
    twin = Twin("nothing", "version.py", "VERSION", "VERSION", ())
    for source in ("", "VERSION VERSION"):
        with pytest.raises(ValueError, match="expected 1"):
            twin.broken(source)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """Return a copy of the project, and throw it away in the end."""
    return Workshop(tmp_path_factory.mktemp("twins").resolve())


def test_the_tests_of_the_tried_twins_pass_on_the_unbroken_copy(workshop):
    """Otherwise their failing would tell nothing."""
    tests = sorted({test for name in TRIED for test in named(name).tests})
    ending = workshop.run(tests)
    assert [test for test in tests if not ending.has_passed(test)] == []


@pytest.mark.parametrize("name", TRIED)
def test_a_twin_is_caught(workshop, name):
    """One of each of several layers; `python -m tests.twins` tries all."""
    trial = workshop.attempt(named(name))
    assert trial.verdict == "caught", trial.said
    path = SOURCE / trial.twin.file
    copied = workshop.folder / path.relative_to(PROJECT)
    assert copied.read_text() == path.read_text()


QUICK = ("policy/test_split.py::test_an_all_zero_record_is_one_piece",)
INNER = ("policy/split.py", "most = 1\n")


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        ("most = 2 - 1\n", "survived"),
        ("most = 1 +\n", "not run"),
    ],
    ids=["without effect", "no Python"],
)
def test_the_runner_tells_what_is_not_caught(workshop, new, verdict):
    """A change without effect, and one that no test gets past."""
    trial = workshop.attempt(Twin("of a kind", *INNER, new, QUICK))
    assert (trial.verdict, trial.caught_by) == (verdict, ())


def test_the_runner_tells_what_hangs(workshop):
    """The twin says that it was reached before it sleeps; a slow start alone proves nothing."""
    reached = workshop.folder / "reached"
    asleep = f"open({str(reached)!r}, 'w').close(); import time; time.sleep(1000)"
    twin = Twin("of a kind", *INNER, f"most = 1\n        {asleep}\n", QUICK)
    for limit in (4, 16, 64):
        trial = workshop.attempt(twin, limit)
        assert (trial.verdict, trial.caught_by) == ("timeout", ())
        if reached.exists():
            break
    assert reached.exists()


def test_a_fault_that_only_one_of_two_tests_notices_has_survived(workshop):
    """Every test that is named must fail."""
    other = "policy/test_split.py::test_table_2_of_the_paper_row_by_row"
    twin = Twin("of a kind", *INNER, "most = 0\n", (*QUICK, other))
    assert workshop.attempt(twin).verdict == "survived"
