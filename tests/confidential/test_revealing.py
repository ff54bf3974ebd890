"""Where exact numbers are revealed, where noisy ones are made, where an engine's rows are read."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import perrecord
from tests.surface.test_source import imports, modules, tree

ROOT = Path(__file__).parents[2]
SOURCE = Path(perrecord.__file__).parent
REVEALING = "perrecord.confidential.revealing"


def contract(source):
    """Return whether the contract on who may reveal is kept by the package below a folder."""
    lint = Path(sys.executable).with_name("lint-imports")
    options = ("--no-logo", "--no-cache", "--contract", "revealing")
    ended = subprocess.run(
        [lint, *options, "--config", ROOT / "pyproject.toml"],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 kept" in ended.stdout or "1 broken" in ended.stdout, ended.stdout + ended.stderr
    return ended.returncode == 0


def test_exact_numbers_are_revealed_by_those_who_may():
    """The contract in pyproject.toml is kept."""
    assert contract(SOURCE.parent)


@pytest.mark.parametrize(
    ("file", "is_allowed"),
    [
        ("release/contents.py", False),
        ("released/columns.py", False),
        ("session.py", False),
        ("queries/cells.py", False),
        ("mechanisms/run.py", False),
        ("mechanisms/write.py", False),
        ("report/page.py", False),
        ("cli/release.py", False),
        ("mechanisms/additive.py", True),
        ("evaluate/accuracy/errors.py", True),
    ],
)
def test_the_contract_breaks_when_others_reveal(tmp_path, file, is_allowed):
    """Broken twins: one module more imports what reveals."""
    shutil.copytree(SOURCE, tmp_path / "perrecord", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "perrecord" / file
    path.write_text(f"{path.read_text('utf-8')}\nfrom {REVEALING} import revealed\n", "utf-8")
    assert contract(tmp_path) is is_allowed


INSIDE = {"confidential/held.py", "confidential/revealing.py"}


def looks_inside(text):
    """Return whether a module touches what a `Confidential` holds without revealing it."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "_content")
        or (isinstance(node, ast.Constant) and node.value == "_content")
        for node in tree(text)
    )


def test_nobody_looks_inside():
    """The name of what is held occurs where it is held and where it is revealed."""
    assert {path.as_posix() for path, text in modules() if looks_inside(text)} == INSIDE
    assert looks_inside("exact._content")
    assert looks_inside("getattr(exact, '_content')")


MAKES_NOISY = {
    "mechanisms/additive.py",
    "mechanisms/quantiles.py",
    "mechanisms/selection.py",
    "mechanisms/kept.py",
    "lab/audit/replay/selection.py",
}


def makes_noisy(text):
    """Return whether a module says of numbers that they are noisy."""
    return any(
        isinstance(node, ast.Call)
        and (getattr(node.func, "id", None) or getattr(node.func, "attr", None)) == "NoisyIntegers"
        for node in tree(text)
    ) or any(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", None) == "cast"
        and "NoisyIntegers" in ast.unparse(node)
        for node in tree(text)
    )


def test_only_mechanisms_say_that_numbers_are_noisy():
    """And an audit that adds noise of its own; no other module turns integers into noisy ones."""
    assert {path.as_posix() for path, text in modules() if makes_noisy(text)} == MAKES_NOISY
    assert makes_noisy("NoisyIntegers(exact)")
    assert makes_noisy("numbers.NoisyIntegers(exact)")
    assert makes_noisy("cast(NoisyIntegers, exact)")
    assert not makes_noisy("def f(noisy: NoisyIntegers) -> None: ...")


READS = {"local", "batches", "arrow", "frame"}
"""The methods of an engine that give rows. Arrow has no types, so no checker follows them."""

READERS = {
    "evaluate/coverage.py",
    "evaluate/doctor.py",
    "evaluate/workspace.py",
    "mechanisms/rows.py",
    "queries/cells.py",
    "tables/readable.py",
}


def reads_rows(text):
    """Return whether a module asks an engine for rows."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in READS
        and "engine" in ast.unparse(node.value)
        for node in tree(text)
    )


def test_an_engine_is_read_in_a_few_places():
    """A new one is a decision: what it reads is confidential, and must become so by its type."""
    found = {path.as_posix() for path, text in modules() if reads_rows(text)}
    assert {each for each in found if not each.startswith("lab/")} == READERS
    assert reads_rows("table.engine.arrow(sql)")
    assert not reads_rows("records.arrow(sql)")


def test_nobody_but_who_reads_or_reveals_has_plain_integers_of_the_data():
    """`tally.integers` reads a column of an engine's; those who may are few."""
    readers = {
        path.as_posix()
        for path, text in modules()
        if "perrecord.confidential.tally.integers" in imports(tree(text))
    }
    assert readers == {"queries/cells.py", "evaluate/accuracy/quantiles.py"}
