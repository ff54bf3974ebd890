"""Hostile keys and names do nothing: no SQL, no file elsewhere."""

import csv
import json
import os
import shutil
from contextlib import closing, suppress

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Keys, Lookup, PerrecordError, Query, QueryError, Session, SourceError, table
from perrecord.accounting.budget import Budget
from perrecord.errors import ReleaseError
from perrecord.release import staging
from perrecord.tables.engines.database import Database
from tests.hostile.keys import EVERY, KINDS
from tests.hostile.keys_release import (
    RHO,
    literal,
    released,
    shared_folder,
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
    usual = {"SELECT", "CREATE", "INSERT", "DROP", "SET", "ATTACH"}
    found = []
    for text in texts:
        kinds = [each.type.name for each in duckdb.extract_statements(text)]
        if len(kinds) != 1 or kinds[0] not in usual:
            found.append(text)
    return found


def tree(folder):
    """Return every path below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


GIVEN = {
    "est.parquet",
    "keys.csv",
    "keys.parquet",
    "region_keys.parquet",
    "regions.parquet",
    "release.yaml",
}
"""What stands in the folder before the release."""


def wanted(out):
    """Return the paths that a release makes beside its spec: its files, sealed and published."""
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    files = {"manifest.json", *manifest["files"]}
    files |= {path.rpartition("/")[0] for path in files if "/" in path}
    (lock,) = (out.parent / "est.ledger.releases").glob("*.lock")
    sealed = f"est.ledger.releases/{lock.stem}"
    tables = [path for path in files if path.endswith(".parquet")]
    kept = {path.replace("tables/", "numbers/").replace(".parquet", ".arrow") for path in tables}
    return {
        *(f"{sealed}/{path}" for path in ("numbers", "numbers/rendering", *kept)),
        *("est.ledger", "est.ledger.releases", "out", f"{sealed}.lock", sealed),
        *(f"{place}/{path}" for place in ("out", sealed) for path in files),
    }


def strays(above, folder):
    """Return the paths below a folder above a release that are there without reason, or missing."""
    own = {f"{folder.relative_to(above)}/{path}" for path in GIVEN | wanted(folder / "out")}
    way = {parent.relative_to(above).as_posix() for parent in (folder, *folder.parents)
           if parent != above and parent.is_relative_to(above)}  # fmt: skip
    return sorted(tree(above) ^ (own | way))


def state(path):
    """Return when a file changed last, or None where there is none."""
    return os.lstat(path).st_mtime_ns if os.path.lexists(path) else None


OUTSIDE = "/tmp/canary"
"""The file elsewhere that our keys would make."""


def test_a_release_sends_single_statements_and_leaves_its_own_files(
    tmp_path, statements, monkeypatch, record_property
):
    """Every SQL text is one statement; no file appears but the release and what it keeps."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = state(OUTSIDE)
    released(inner)
    assert OUTSIDE in EVERY
    assert state(OUTSIDE) == before
    assert statements
    assert smuggled(statements) == []
    assert strays(tmp_path, inner) == []
    record_property("SQL statements looked at", len(statements))
    record_property("files and folders found where they belong", len(tree(tmp_path)))


@pytest.mark.parametrize(
    "stray",
    ["stray", "a/passwd", "a/b/evil.sh", "a/b/out/evil.sh", "a/b/out/tables/x", "a/b/out/empty/"],
)
def test_a_stray_file_is_seen(stray, tmp_path):
    """Positive controls, one at every level above, beside and within the release."""
    inner = tmp_path / "a" / "b"
    shutil.copytree(shared_folder(), inner)
    before = strays(tmp_path, inner)  # other tests may have released once more in there
    if stray.endswith("/"):
        (tmp_path / stray).mkdir()
    else:
        (tmp_path / stray).touch()
    (inner / "out" / "policy.html").unlink()
    seen = {*strays(tmp_path, inner)} - {*before}
    assert seen == {stray.rstrip("/"), "a/b/out/policy.html"}


CARELESS = {
    "SELECT '{}' FROM missing": "'; DROP TABLE canary; --",
    "SELECT upper('{}') FROM missing": "'); COPY (SELECT 42) TO 'canary.csv'; --",
}
"""Texts with a place for a key, and what it makes of them where nothing is escaped."""


@pytest.mark.parametrize("text", CARELESS)
def test_a_smuggled_statement_is_seen(text, statements, tmp_path, monkeypatch):
    """Broken twins: a key put into the text as it is."""
    monkeypatch.chdir(tmp_path)
    key = CARELESS[text]
    assert key in KINDS["SQL"]
    with closing(Database()) as database, suppress(PerrecordError):
        database.run(text.format(key))
    assert smuggled(statements) == [text.format(key)]


def test_a_condition_that_a_key_widens_is_seen():
    """Broken twin: this one stays a single statement, and shows in the count."""
    key = "' OR '1'='1"
    assert key in KINDS["SQL"]
    careless, ours = f"key = '{key}'", f"key = {literal(key)}"
    with closing(Database()) as database:
        database.view("est", pa.table({"key": list(EVERY)}))
        found = [
            database.table(f"SELECT COUNT(*) AS n FROM est WHERE {condition}")["n"].to_pylist()
            for condition in (careless, ours)
        ]
    assert found == [[len(EVERY)], [1]]


def test_a_database_of_somebody_else_is_only_read(tmp_path):
    """Keys that would drop a table, put into filters and key sets of a query on it."""
    path = tmp_path / "theirs.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE canary AS SELECT 1 AS one")
        connection.register("rows", pa.table({"key": list(EVERY)}))
        connection.execute("CREATE TABLE est AS FROM rows")
    with table(f"duckdb://{path}", relation="est", name="est", dimensions=["key"]) as opened:
        ledger, budget = tmp_path / "s.ledger", Budget(10**9)
        session = Session(opened, ledger=ledger, budget=budget, new=True, snapshot="theirs")
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
