"""Values that are not of their type: the source is refused before anything is charged."""

import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest

from perrecord import Budget, Keys, Query, Session, Split, table
from perrecord.accounting.entries import Charge
from perrecord.accounting.ledger import Ledger
from perrecord.errors import BudgetExceededError, SourceError
from perrecord.queries import cells
from perrecord.release.publish import release
from perrecord.tables import readable
from perrecord.tables.engines.boundary import ReadError
from perrecord.tables.readable import check_readable
from tests.tables.test_statistics import guest

BAD = [b"ok", b"caf\xe9", b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\x80", b"\xc0\xaf"]
KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
DOORS = ["parquet", "dataset", "guest"]
SCHEME = Split(emp=10)


def text(values, kind=None):
    """Return an Arrow column whose text is whatever bytes are given."""
    kind = kind or pa.string()
    if pa.types.is_dictionary(kind):
        places = pa.array(range(len(values)), pa.int32())
        return pa.DictionaryArray.from_arrays(places, text(values))
    if pa.types.is_string_view(kind):
        return pa.array(values, pa.binary_view()).view(kind)
    binary = pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()
    return pa.Array.from_buffers(kind, len(values), pa.array(values, binary).buffers())


def rows(values, kind=None):
    """Return a table with a text column of such bytes."""
    return pa.table({"name": text(values, kind), "emp": [1] * len(values)})


def session(opened, tmp_path, snapshot=None):
    """Return a session with a new ledger."""
    budget = Budget(1, SCHEME)
    return Session(opened, ledger=tmp_path / "l.ledger", budget=budget, new=True, snapshot=snapshot)


def spent(found):
    """Return how many charges the ledger of a session holds."""
    return sum(isinstance(each, Charge) for each in found.ledger.entries())


@pytest.mark.parametrize("bad", BAD[1:4])
@pytest.mark.parametrize(
    ("door", "kind"),
    [*(("arrow", kind) for kind in KINDS), *((door, KINDS[0]) for door in DOORS)],
    ids=str,
)
def test_bytes_that_are_no_text_are_refused_before_the_charge(door, bad, kind, tmp_path):
    """No byte of them is quoted; the ledger is as it was."""
    source = rows([b"ok", bad, b"fine"], kind)
    if door in ("parquet", "guest"):
        source = tmp_path / "t.parquet"
        pq.write_table(rows([b"ok", bad, b"fine"], kind), source)
    if door == "guest":
        source = guest(source)
    if door == "dataset":
        source = pa_dataset.dataset(rows([b"ok", bad, b"fine"], kind))
    with table(source, dimensions={"first": "substr(name, 1, 2)"}, measures=["emp"]) as opened:
        asking = session(opened, tmp_path, "now" if door in ("dataset", "guest") else None)
        # A table of somebody's database is copied first, and that fails as a whole.
        message = (
            "the source could not" if door == "guest" else "a column '(name|first)' that cannot"
        )
        with pytest.raises(SourceError, match=f"{message} be read") as error:
            asking.ask(Query().sum("emp", split=SCHEME, rho="0.1"))
        assert "caf" not in str(error.value)
        assert spent(asking) == 0


def test_columns_that_nothing_reads_do_not_matter(tmp_path):
    """Only what is declared is read."""
    pq.write_table(rows(BAD), tmp_path / "t.parquet")
    for source in (rows(BAD), tmp_path / "t.parquet"):
        with table(source, measures=["emp"]) as opened:
            check_readable(opened)


@pytest.mark.parametrize("role", ["id", "unit"])
def test_ids_and_units_are_read_too(role):
    """Their different values are counted."""
    with (
        table(rows(BAD), measures=["emp"], **{role: "name"}) as opened,
        pytest.raises(SourceError, match="a column 'name'"),
    ):
        check_readable(opened)


def test_any_text_that_is_text_is_read():
    """The empty one, NUL, emoji, the last code point, what is no character; and NULL."""
    values = ["", "\0", "a\0b", "\U0001f404", "\U0010ffff", "\ufffe", "\u0301", None]
    source = pa.table({"name": values, "emp": [1] * len(values)})
    with table(source, dimensions=["name"], measures=["emp"]) as opened:
        check_readable(opened)


def test_more_text_than_can_be_handed_on_is_refused(tmp_path, monkeypatch):
    """Arrow takes 2 GB in a batch: many long texts would fail there, after the charge."""
    monkeypatch.setattr(cells, "_MOST_LONG_TEXT", 20_000)
    for count, is_fine in ((2, True), (3, False)):
        source = pa.table({"name": [f"{i}{'x' * 9_000}" for i in range(count)] + ["short"] * 50})
        with table(source, dimensions=["name"]) as opened:
            (tmp_path / str(count)).mkdir()
            asking = session(opened, tmp_path / str(count))
            keys = Keys.from_dict({"name": ["short"]})
            question = Query().group_by("name", keys=keys).count(rho="0.1")
            if is_fine:
                asking.ask(question)
            else:
                with pytest.raises(SourceError, match="far too long text"):
                    asking.ask(question)
            assert spent(asking) == is_fine


def test_a_question_that_exceeds_the_budget_reads_nothing(tmp_path):
    """It is refused first, whatever the records hold."""
    with table(rows(BAD), dimensions=["name"], measures=["emp"]) as opened:
        asking = session(opened, tmp_path)
        with pytest.raises(BudgetExceededError):
            asking.ask(Query().sum("emp", split=SCHEME, rho=2))


def test_a_session_reads_its_source_once(tmp_path, monkeypatch):
    """Before the first charge."""
    seen = []
    monkeypatch.setattr("perrecord.session.check_readable", seen.append)
    with table(rows([b"a"]), dimensions=["name"], measures=["emp"]) as opened:
        asking = session(opened, tmp_path)
        for _ in range(2):
            asking.ask(Query().sum("emp", split=SCHEME, rho="0.1"))
        assert seen == [opened]


def test_a_session_reads_before_it_charges(tmp_path, monkeypatch):
    """A scan that fails, for whatever reason, costs nothing; so do rows that cannot be had."""
    with table(rows([b"a"]), dimensions=["name"], measures=["emp"]) as opened:
        asking = session(opened, tmp_path)
        monkeypatch.setattr(opened.engine, "keep", failing)
        monkeypatch.setattr(opened.engine, "frame", failing)
        monkeypatch.setattr(opened.engine, "arrow", failing)
        with pytest.raises(SourceError, match="pulled"):
            asking.ask(Query().sum("emp", split=SCHEME, rho="0.1"))
        with pytest.raises(SourceError, match="pulled"):
            asking.run(len, columns=["emp"], rho="0.1")
        with pytest.raises(SourceError, match="pulled"):
            asking.run(len, columns=["emp"], rho="0.1", native=True)
        assert spent(asking) == 0


def failing(*_):
    """Fail as an engine does."""
    raise ReadError("the plug was pulled.")


SPEC = """
title: T
source: t.parquet
dimensions: [name]
measures: [emp]
splits: {s: {emp: 10}}
budget: {rho: 1, splits: [s]}
ledger: l.ledger
queries: [{name: q, where: "name = 'ok'", answers: {n: {sum: emp, split: s, rho: 0.1}}}]
"""


def test_a_release_is_refused_before_its_charge(tmp_path):
    """The ledger is as it was."""
    pq.write_table(rows(BAD), tmp_path / "t.parquet")
    (tmp_path / "spec.yaml").write_text(SPEC)
    ledger = Ledger.create(tmp_path / "l.ledger", Budget(1, SCHEME), name="T")
    with pytest.raises(SourceError, match="a column 'name' that cannot be read"):
        release(tmp_path / "spec.yaml", tmp_path / "out")
    assert not any(isinstance(each, Charge) for each in Ledger.open(ledger.path).entries())


def test_a_release_from_a_frame_is_refused_by_its_text(tmp_path):
    """DuckDB checks the text of files, and hands on whatever a frame says is text."""
    (tmp_path / "spec.yaml").write_text(SPEC.replace("where: \"name = 'ok'\", ", ""))
    ledger = Ledger.create(tmp_path / "l.ledger", Budget(1, SCHEME), name="T")
    with pytest.raises(SourceError, match="a column 'name' that cannot be read"):
        release(tmp_path / "spec.yaml", tmp_path / "out", source=rows(BAD), snapshot="now")
    assert not any(isinstance(each, Charge) for each in Ledger.open(ledger.path).entries())


def test_a_session_looks_at_its_text_once(tmp_path, monkeypatch):
    """Not again with each question: a pass over all of it would cost as much as the answer."""
    seen, honest = [], readable.check_text
    monkeypatch.setattr(readable, "check_text", lambda table: seen.append(honest(table)))
    with table(rows([b"a"]), dimensions=["name"], measures=["emp"]) as opened:
        asking = session(opened, tmp_path)
        for _ in range(3):
            asking.ask(Query().sum("emp", split=SCHEME, rho="0.1"))
    assert len(seen) == 1
