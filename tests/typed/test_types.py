"""What a type checker knows of the public interface: all of it, and every wrong use."""

import ast
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import get_type_hints

import pytest

import perrecord
from perrecord.queries.sql import SQLOptions, from_sql
from tests.typed import right

HERE = Path(__file__).parent
WRONG = ("wrong.py", "unnoised.py")
"""Uses of the public interface, and of exact numbers, that are mistakes."""
FINDING = re.compile(r"^(?:.*[/\\])?(\w+\.py):(\d+): error: .*\[([a-z-]+)\]$")
EXPECTED = re.compile(r"# error: ([a-z-]+)$")


@pytest.fixture(scope="module")
def findings():
    """Return what mypy --strict says of the programs, as (file, line, kind).

    What it knows of modules that have not changed is kept from one run of the tests to the next.
    """
    cache = HERE.parents[1] / ".mypy_cache" / "typed"
    cache.mkdir(parents=True, exist_ok=True)
    programs = [str(HERE / name) for name in ("right.py", *WRONG)]
    options = [
        "--strict",
        "--follow-imports=silent",
        "--config-file=",
        f"--cache-dir={cache}",
        "--no-error-summary",
    ]
    options += ["--hide-error-context", "--no-pretty", "--disable-error-code=import-untyped"]
    shown = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *programs],
        cwd=cache,
        env={**os.environ, "MYPYPATH": str(Path(perrecord.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode < 2, shown.stdout + shown.stderr
    errors = [line for line in shown.stdout.splitlines() if ": error:" in line]
    found = [FINDING.match(line) for line in errors]
    assert all(found), shown.stdout
    return [(each[1], int(each[2]), each[3]) for each in found]


def test_a_program_that_uses_every_public_name_is_right(findings):
    """Every `assert_type` holds, and none of the values is Any."""
    assert [each for each in findings if each[0] == "right.py"] == []
    read = ast.walk(ast.parse((HERE / "right.py").read_text(encoding="utf-8")))
    named = {node.id for node in read if isinstance(node, ast.Name)}
    assert {*perrecord.__all__} <= named


def test_the_program_runs_as_its_types_say(tmp_path):
    """Types that are right and a program that is not would be of no use."""
    right.main(tmp_path)


@pytest.mark.parametrize("program", WRONG)
def test_every_wrong_use_is_found(findings, program):
    """Line by line: mypy says what the comment says, and nothing of any other line."""
    lines = (HERE / program).read_text(encoding="utf-8").splitlines()
    expected = {
        number: marked[1]
        for number, line in enumerate(lines, 1)
        if (marked := EXPECTED.search(line))
    }
    found = {number: set() for name, number, _ in findings if name == program}
    for name, number, kind in findings:
        if name == program:
            found[number].add(kind)
    assert found.keys() == expected.keys()
    assert all(kind in found[number] for number, kind in expected.items())


def test_the_types_are_shipped():
    """Without this file no checker reads a type of an installed package."""
    assert files("perrecord").joinpath("py.typed").is_file()


def test_the_options_beside_sql_text_are_those_of_from_sql():
    """They are written down twice, for calls and for whoever hands them on: the same, by type."""
    taken = get_type_hints(from_sql)
    assert get_type_hints(SQLOptions) == {
        name: kind for name, kind in taken.items() if name not in ("text", "schema", "return")
    }
