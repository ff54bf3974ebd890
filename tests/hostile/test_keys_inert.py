"""Hostile keys and names do nothing: no SQL, no file elsewhere, no terminal codes, no markup."""

import csv
import json
import os
from contextlib import closing
from itertools import pairwise

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from markdown_it import MarkdownIt

from perrecord import Keys, Lookup, PerrecordError, Query, QueryError, Session, SourceError, table
from perrecord.accounting.budget import Budget
from perrecord.cli import output
from perrecord.errors import ReleaseError
from perrecord.release import methodology, staging
from perrecord.tables.engines.database import Database
from tests.cli.conftest import run
from tests.hostile.keys import EVERY, KINDS
from tests.hostile.keys_release import (
    RHO,
    literal,
    quoted,
    released,
    shared_folder,
    spec,
    write_folder,
)

# -- SQL ---------------------------------------------------------------------------------------


class Recorded:
    """A cursor of DuckDB that notes every SQL text it is given."""

    def __init__(self, cursor, texts):
        self.cursor, self.texts = cursor, texts

    def __getattr__(self, name):
        """Return the cursor's own; what takes SQL notes it first."""
        found = getattr(self.cursor, name)
        if name not in ("execute", "sql"):
            return found

        def noted(sql, *more):
            self.texts.append(sql)
            return found(sql, *more)

        return noted


@pytest.fixture
def statements(monkeypatch):
    """Every SQL text that our own DuckDB is given."""
    texts = []
    cursor = Database._cursor
    monkeypatch.setattr(Database, "_cursor", lambda self: Recorded(cursor(self), texts))
    return texts


def smuggled(texts):
    """Return the texts that hold several statements, or one of a kind that we never send."""
    kinds = {"SELECT", "CREATE", "INSERT", "DROP", "SET", "ATTACH"}
    found = []
    for text in texts:
        parsed = duckdb.extract_statements(text)
        if len(parsed) != 1 or not {str(each.type).split(".")[-1] for each in parsed} <= kinds:
            found.append(text)
    return found


def tree(folder):
    """Return every path below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


EXPECTED = {
    "est.ledger",
    "est.parquet",
    "keys.csv",
    "keys.parquet",
    "out",
    "region_keys.parquet",
    "regions.parquet",
    "release.yaml",
    "est.ledger.releases",
}


def test_a_release_sends_single_statements_and_leaves_its_own_files(
    tmp_path, statements, monkeypatch, record_property
):
    """Every SQL text is one statement; no file appears but the release and what it keeps."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    released(inner)
    assert statements
    assert smuggled(statements) == []
    found = tree(tmp_path)
    tops = {path.split("/")[2] for path in found if path.count("/") >= 2}
    assert tops == EXPECTED
    assert not [path for path in found if "canary" in path]
    record_property("SQL statements looked at", len(statements))


def test_a_smuggled_statement_is_seen(statements):
    """Broken twin: a literal put between quotes as it is."""
    for key in KINDS["SQL"][:3]:
        with closing(Database()) as database, pytest.raises(PerrecordError):
            database.run(f"SELECT '{key}' FROM missing")
    assert smuggled(statements[:1]) == statements[:1]


def test_a_database_of_somebody_else_is_only_read(tmp_path):
    """Keys that would drop a table, put into filters and key sets of a query on it."""
    path = tmp_path / "theirs.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE canary AS SELECT 1 AS one")
        connection.register("rows", pa.table({"key": list(EVERY)}))
        connection.execute("CREATE TABLE est AS FROM rows")
    with table(f"duckdb://{path}", relation="est", name="est", dimensions=["key"]) as opened:
        session = Session(opened, ledger=tmp_path / "s.ledger", budget=Budget(10**9), new=True)
        for key in (*KINDS["SQL"], *KINDS["quotes"]):
            asked = f"SELECT COUNT(*) AS n FROM est WHERE key = {literal(key)}"
            assert session.ask(asked, rho=RHO).table["n"].to_pylist() == [1]
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT one FROM canary").fetchall() == [(1,)]
        assert [row[0] for row in connection.execute("SHOW TABLES").fetchall()] == ["canary", "est"]


def test_a_source_of_text_gives_every_key(tmp_path):
    """A CSV source: every key but the empty text, which there is a missing value."""
    path = tmp_path / "est.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["key"], *([key] for key in EVERY)])
    with table(path, name="est", dimensions=["key"]) as opened:
        session = Session(opened, ledger=tmp_path / "s.ledger", budget=Budget(10**9), new=True)
        keys = Keys.from_columns(pa.table({"key": [*EVERY, None]}))
        found = session.ask(Query("est").group_by("key", keys=keys).count(rho=RHO)).table
    counts = dict(zip(found["key"].to_pylist(), found["count"].to_pylist(), strict=True))
    assert counts == {**dict.fromkeys(EVERY, 1), "": 0, None: 1}


# -- names -------------------------------------------------------------------------------------

NAMES = tuple({key.casefold(): key for key in EVERY if key and "\0" not in key}.values())
"""Hostile names of columns: none empty, no two that differ in case alone."""


@pytest.mark.parametrize("name", ["\0", "a\0b"])
def test_a_column_with_nul_in_its_name_is_refused(name, tmp_path):
    """DuckDB would call it something else; frames and files are refused in the same words."""
    path = tmp_path / "est.csv"
    path.write_text(f"{name}\nx\n")
    for source in (pa.table({name: ["x"]}), path):
        with pytest.raises(SourceError, match="the character NUL"):
            table(source, name="est", dimensions=[])


def counted_by(name):
    """Return the question how often a column holds its own name."""
    keys = Keys.from_dict({name: [name]})
    return Query("est").group_by(name, keys=keys).count(rho=RHO, name=f"{name}!")


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.audit)])
def test_columns_and_answers_of_hostile_names_keep_them(
    step, tmp_path, statements, record_property
):
    """In one query each: grouped by, counted as, and written to Parquet under the very name."""
    source = pa.table({name: pa.array([name, "x"], pa.string()) for name in NAMES})
    kept = []
    with table(source, name="est", dimensions=NAMES) as opened:
        session = Session(opened, ledger=tmp_path / "s.ledger", budget=Budget(10**9), new=True)
        chosen = NAMES[::step]
        for start in range(0, len(chosen), 50):
            names = chosen[start : start + 50]
            every = session.ask([counted_by(name) for name in names])
            for name, answers in zip(names, every, strict=True):
                answers.write_parquet(tmp_path / "answers.parquet")
                read = pq.read_table(tmp_path / "answers.parquet").to_pylist()
                assert [(row[name], row[f"{name}!"]) for row in read] == [(name, 1)]
                kept.append(name)
    assert smuggled(statements) == []
    if step == 1:
        record_property("names of columns and answers", len(kept))


def test_more_columns_than_an_engine_groups_by_are_refused_before_the_charge(tmp_path):
    """One query by 62 columns in all works; by 63 it is refused, and nothing was charged."""
    names = [f"c{number}" for number in range(63)]
    source = pa.table({name: [name] for name in names})
    with table(source, name="est", dimensions=names) as opened:
        session = Session(opened, ledger=tmp_path / "s.ledger", budget=Budget(10**9), new=True)
        assert len(session.ask([counted_by(name) for name in names[:62]])) == 62
        before = session.ledger.spent()
        with pytest.raises(QueryError, match="group by 63 different columns"):
            session.ask([counted_by(name) for name in names])
        assert session.ledger.spent() == before


@pytest.mark.parametrize("name", [".x", "[0]", "..", "x.y"])
def test_names_that_arrow_takes_for_paths_are_names(name):
    """In key sets, their algebra and lookups."""
    keys = Keys.from_dict({name: ["b", "a"]})
    assert keys.rows() == [("a",), ("b",)]
    assert (keys - Keys.from_dict({name: ["a"]})).rows() == [("b",)]
    assert keys.project([name]) == keys
    looked_up = Lookup(pa.table({name: ["b", "a"], "region": ["x", "y"]}), on=name)
    assert looked_up.digest("region") == Lookup(
        pa.table({name: ["a", "b"], "region": ["y", "x"]}), on=name
    ).digest("region")


def test_names_of_files_cannot_leave_the_folder():
    """Whatever a table is called, no file of a release has a path of its own."""
    for name in (form.format(key) for key in EVERY for form in ("{}", "tables/{}", "{}.csv")):
        if staging._NAME.fullmatch(name):
            assert ".." not in name.split("/")
            assert not name.startswith("/")
            assert name.count("/") <= name.startswith("tables/")


def test_a_raw_name_in_a_path_is_caught_by_the_tree(tmp_path):
    """Broken twin: a path joined with the name as it is shows outside; ours is refused."""
    folder = tmp_path / "out"
    folder.mkdir()
    before = tree(tmp_path)
    (folder / "../canary").write_bytes(b"")
    assert tree(tmp_path) - before == {"canary"}
    with pytest.raises(ReleaseError, match="rename"):
        staging.write_files(tmp_path / "ours", {"../canary": b""})


# -- terminals ---------------------------------------------------------------------------------


def obeyed(text):
    """Return the characters that a terminal would obey, but for ends of lines."""
    controls = {chr(each) for each in (*range(32), *range(127, 160))} - {"\n"}
    marks = set(
        "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
    )
    return sorted(set(text) & (controls | marks))


def shown(*arguments):
    """Return what a command prints."""
    found = run(*arguments)
    return found.out + found.err


@pytest.fixture
def folder():
    """A folder with a release of every hostile key."""
    return shared_folder()


COMMANDS = (
    ["check", "release.yaml"],
    ["check", "release.yaml", "--json"],
    ["policy", "out"],
    ["policy", "out", "--json"],
    ["policy", "out", "--record", "emp=3", "--record", "key=\x1b[31m\u202e"],
    ["policy", "out", "--record", "\x1b[31mno such field=3"],
    ["ledger", "show", "est.ledger"],
    ["ledger", "show", "est.ledger", "--json"],
    ["doctor", "release.yaml"],
    ["release", "release.yaml", "--out", "out\x1b[2J"],
    ["check", "\x1b[31mmissing.yaml"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command)[:30])
def test_commands_print_nothing_that_a_terminal_obeys(command, folder, monkeypatch):
    """Titles, keys, fields and paths with control characters are printed as escapes."""
    monkeypatch.chdir(folder)
    text = shown(*command)
    assert text.strip()
    assert obeyed(text) == []


def test_json_for_programs_is_exact(folder, monkeypatch):
    """Escapes of JSON: a program reads the title as it is."""
    monkeypatch.chdir(folder)
    title = json.loads((folder / "out" / "datapackage.json").read_text("utf-8"))["title"]
    assert obeyed(title)
    assert json.loads(shown("check", "release.yaml", "--json"))["title"] == title


def test_messages_about_hostile_names_are_inert(tmp_path, monkeypatch):
    """Mistakes at every mention of a name: what is shown of it is escaped."""
    write_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    hostile = "\x1b]0;x\x07\u202e\x9b31m"
    for old, new in (
        ("keys: csv,", f"keys: {quoted(hostile)},"),
        ("split: by_key", f"split: {quoted(hostile)}"),
        ("sum: emp", f"sum: {quoted(hostile)}"),
        ("name: from_csv", f"name: {quoted(hostile)}"),
        ("source: est.parquet", f"source: {quoted(hostile)}"),
        ("  plain: {", f"  {quoted(hostile)}: {{"),
        ("outputs: {", f"{quoted(hostile)}: {{"),
    ):
        assert old in spec()
        (tmp_path / "release.yaml").write_text(spec().replace(old, new, 1), "utf-8")
        text = shown("check", "release.yaml")
        assert "perrecord: " in text, old
        assert obeyed(text) == [], old


def test_a_command_that_prints_names_as_they_are_is_caught(folder, monkeypatch):
    """Broken twin."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(output, "visible", lambda text: text)
    assert "\x1b" in obeyed(shown("ledger", "show", "est.ledger"))


# -- Markdown ----------------------------------------------------------------------------------


def elements(text):
    """Return what a Markdown document holds beside plain text, and its headings."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inner)}
    heads = [after.content for before, after in pairwise(tokens) if before.type == "heading_open"]
    return kinds, heads


def foreign(text):
    """Return the kinds of elements that a methodology never holds of its own."""
    kinds, _ = elements(text)
    wanted = {"html_block", "html_inline", "link_open", "image", "ordered_list_open", "hr"}
    return sorted(kinds & wanted)


def test_the_methodology_holds_names_as_text(folder):
    """No link, image, HTML or foreign heading; every heading and table is still there."""
    text = (folder / "out" / "methodology.md").read_text("utf-8")
    assert foreign(text) == []
    _, heads = elements(text)
    assert len(heads) == 5 + 9 + 1
    assert obeyed(text) == []


def test_a_methodology_that_trusts_names_is_caught(tmp_path, monkeypatch):
    """Broken twin: words as they are."""
    monkeypatch.setattr(methodology, "_inline", lambda words: words)
    out = released(tmp_path, EVERY[:8])
    assert "html_inline" in foreign((out / "methodology.md").read_text("utf-8"))


def test_files_outside_tmp_are_untouched():
    """The fragments name paths that stay absent."""
    assert not os.path.lexists("/tmp/canary")
