"""A dialect for each engine: every spelling is its own, and nothing asks whose it is."""

import re
from pathlib import Path

import pytest

import perrecord
from perrecord.errors import InputError
from perrecord.tables.dialects import DIALECTS, DUCKDB, Dialect, dialect_of
from perrecord.tables.dialects.duckdb import DuckDB

SOURCES = Path(perrecord.__file__).parent
ASKS = re.compile(
    r"dialect\.name\b|isinstance\([^)]*\b(Dialect|DuckDB|Postgres|Spark)\)"
    r"|name [!=]= [\"'](spark|postgres)"
)


def questions(root: Path) -> list[str]:
    """Return every line outside the dialects that asks which dialect it has."""
    return [
        f"{path.relative_to(root)}:{number}"
        for path in sorted(root.rglob("*.py"))
        if "dialects" not in path.parts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if ASKS.search(line)
    ]


def test_nothing_asks_which_engine_it_writes_for():
    """A choice between engines is a method of the dialect; an `else` never means Spark."""
    assert questions(SOURCES) == []


def test_a_question_is_noticed(tmp_path):
    """Broken twin: a module that asks."""
    (tmp_path / "scan.py").write_text('x = 1 if dialect.name == "duckdb" else 2\n')
    assert questions(tmp_path) == ["scan.py:1"]


def test_a_dialect_that_leaves_something_out_cannot_be_made():
    """A new engine spells everything; nothing falls through to another engine's spelling."""
    spelled = {name for name in vars(DuckDB) if not name.startswith("_")} - {
        "name",
        "wide",
        "double",
    }
    assert spelled == Dialect.__abstractmethods__
    for name in spelled:
        rest = {each: vars(DuckDB)[each] for each in spelled - {name}}
        given = {"name": "partial", "wide": "DECIMAL(38, 0)", "double": "DOUBLE", **rest}
        partial = type("Partial", (Dialect,), given)
        with pytest.raises(TypeError, match=name):
            partial()


def test_dialects_are_found_by_name():
    """Each once; another name is refused with those that there are."""
    assert [dialect_of(dialect.name) for dialect in DIALECTS] == [*DIALECTS]
    assert dialect_of("duckdb") is DUCKDB
    with pytest.raises(InputError, match="expected duckdb, postgres, spark"):
        dialect_of("mysql")
