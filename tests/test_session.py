"""The session: charged first, answered then, and nothing otherwise."""

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from perrecord import (
    Answers,
    Budget,
    BudgetExceededError,
    Domain,
    InputError,
    Keys,
    Ledger,
    LedgerError,
    Measure,
    Policy,
    Query,
    QueryError,
    SelectCells,
    SelectKeys,
    Session,
    SourceError,
    Split,
    table,
)
from perrecord import session as door
from perrecord.queries.cells import Cells

SCHEME = Split(emp=50)
HUGE = 10**9
SOURCE = pa.table({"state": ["NC", "NC", "TX"], "emp": [120, 20, 7]})
KEYS = Keys.from_dict({"state": ["NC", "TX", "VA"]})


@pytest.fixture
def opened():
    """Three establishments."""
    with table(SOURCE, name="est", dimensions=["state"], measures=["emp"]) as found:
        yield found


def started(opened, tmp_path, rho=3 * HUGE, **options):
    """Return a session with a new ledger."""
    budget = Budget(rho=rho, splits=[SCHEME], **options)
    return Session(opened, ledger=tmp_path / "est.ledger", budget=budget, new=True)


def test_a_query_is_charged_and_answered(opened, tmp_path):
    """From Python or from SQL, with the policy of what was asked."""
    session = started(opened, tmp_path)
    query = Query("est").group_by("state", keys=KEYS).sum("emp", split=SCHEME, rho=HUGE)
    found = session.ask(query)
    text = "SELECT state, SUM(emp) AS sum_emp FROM est GROUP BY state"
    same = session.ask(text, keys=KEYS, split=SCHEME, rho=HUGE)
    assert found.table.equals(same.table)
    assert found.table["sum_emp"].to_pylist() == [140, 7, 0]
    assert session.ledger.spent() == Policy.split(2 * HUGE, SCHEME)
    labels = [entry.label for entry in session.ledger.entries()[1:]]
    assert labels == ["sum_emp by state"] * 2
    assert session.policy == session.ledger.budget


def test_several_groupings_give_several_answers_for_one_charge(opened, tmp_path):
    """A rollup is one question with one charge, which pays for each of its groupings."""
    session = started(opened, tmp_path)
    answers = session.ask_all(Query("est").rollup("state", keys=KEYS).count(rho=HUGE))
    assert [len(each) for each in answers] == [3, 1]
    assert len(session.ledger.entries()) == 2
    assert session.ledger.spent() == Policy.constant(2 * HUGE)


def test_what_comes_back_depends_on_what_is_typed_alone(opened, tmp_path):
    """ask: one table for a query or text, a list for a list; ask_all: always a list."""
    session = started(opened, tmp_path, rho=100)
    query, text = Query("est").count(rho=1), "SELECT COUNT(*) FROM est"
    assert isinstance(session.ask(query), Answers)
    assert isinstance(session.ask(text, rho=1), Answers)
    assert [len(each) for each in session.ask([query])] == [1]
    assert [len(each) for each in session.ask_all(query)] == [1]
    assert [len(each) for each in session.ask_all(text, rho=1)] == [1]
    assert [len(each) for each in session.ask_all((query, query))] == [1, 1]


def test_several_groupings_are_no_one_table(opened, tmp_path):
    """They are refused before the charge, with what to type."""
    session = started(opened, tmp_path, rho=10)
    text = "SELECT COUNT(*) FROM est GROUP BY ROLLUP (state)"
    query = Query("est").rollup("state", keys=KEYS).count(rho=1)
    refused = r"has 2 groupings.*with ask_all.*Nothing was charged"
    with pytest.raises(QueryError, match=refused):
        session.ask(query)
    with pytest.raises(QueryError, match=refused):
        session.ask(text, keys=KEYS, rho=1)
    assert session.ledger.spent() == Policy.zero()
    assert len(session.ask_all(text, keys=KEYS, rho=1)) == 2


def test_what_the_budget_does_not_allow_reads_no_data(opened, tmp_path, monkeypatch):
    """The refusal comes before the engine; what is allowed does reach it."""
    session = started(opened, tmp_path, rho=1)
    ran = []
    monkeypatch.setattr(door, "run", lambda *_, **__: ran.append("run") or [None])
    with pytest.raises(BudgetExceededError, match="Nothing was charged"):
        session.ask(Query("est").count(rho=2))
    assert ran == []
    assert len(session.ledger.entries()) == 1
    session.ask(Query("est").count(rho=1))
    assert ran == ["run"]


def test_a_charge_is_never_given_back(opened, tmp_path, monkeypatch):
    """If the computation fails, what was charged stays charged."""
    session = started(opened, tmp_path)

    def failing(*_):
        raise SourceError("the computation failed.")

    monkeypatch.setattr(Cells, "reading", failing)
    with pytest.raises(SourceError, match="computation"):
        session.ask(Query("est").count(rho=1))
    assert session.ledger.spent() == Policy.constant(1)


def test_a_preview_costs_nothing_and_reads_nothing(opened, tmp_path, monkeypatch):
    """The charge, the noise, the loss of example records, and whether the budget allows it."""
    session = started(opened, tmp_path, rho=1)
    monkeypatch.setattr(type(opened.engine), "keep", None)
    query = Query("est").count(rho="0.5").sum("emp", split=SCHEME, rho="0.5")
    preview = session.preview(query, examples={"a giant": {"emp": 5000}, "a shop": {"emp": 3}})
    assert preview.is_affordable
    assert dict(preview.losses) == {"a giant": 5000 + Policy.constant("0.5").minimum(), "a shop": 1}
    assert preview.left == (10_000 - dict(preview.losses)["a giant"], 0)
    assert preview.spent == Policy.zero()
    assert [round(each.deviations[0], 3) for each in preview.answers] == [1.0, 50.0]
    assert "noise of standard deviation 50" in str(preview)
    dear = session.preview("SELECT COUNT(*) FROM est", rho=2)
    assert not dear.is_affordable
    assert "would lose 2 rho" in str(dear)
    assert len(session.ledger.entries()) == 1


def test_selected_keys_need_a_slot(opened, tmp_path):
    """A delta budget lists its selections; each is filled once (T4)."""
    slot = Policy.slot("0.1", ["state"], split=SCHEME, delta="1e-6")
    session = started(opened, tmp_path, rho=1, slots=[slot])
    chosen = SelectKeys(rho="0.1", delta="1e-6", split=SCHEME)
    query = Query("est").group_by("state", keys=chosen).count(rho="0.1")
    session.ask(query)
    with pytest.raises(BudgetExceededError, match="no free slot"):
        session.ask(query)


def test_any_mechanism_goes_through_the_same_door(opened, tmp_path):
    """On split rows at rho pieces^2, on unsplit ones at rho (T8)."""
    session = started(opened, tmp_path, rho=2)
    split = session.run_on_split_rows(
        lambda rows: rows.num_rows, SCHEME.capped(10), columns=["emp"], rho="0.5"
    )
    assert split.result == 3 + 1 + 1
    assert split.policy.loss({"emp": 120}) == 9 * Policy.constant("0.5").minimum()
    whole = session.run(lambda rows: rows.num_rows, columns=["emp"], rho="0.5", where="emp > 10")
    assert whole.result == 2
    ran = []
    with pytest.raises(BudgetExceededError):
        session.run(ran.append, columns=["emp"], rho="1.1")
    assert ran == []
    assert len(session.ledger.entries()) == 3
    seen = session.run(lambda _: len(session.ledger.entries()), columns=["emp"], rho="1")
    assert seen.result == 4  # its own charge was there first


def test_what_cannot_be_run_is_refused_before_it_is_charged(tmp_path):
    """A threshold that noise alone would flood with cells costs nothing to ask for.

    A preview refuses it, too, in the same words.
    """
    domain = Domain.from_dict({"town": range(10**5), "code": range(10**5)})
    cells = SelectCells(domain, answer="count", at_least=0)
    source = pa.table({"town": [1], "code": [2]})
    with table(source, name="est", dimensions=["town", "code"]) as opened:
        session = Session(opened, ledger=tmp_path / "est.ledger", budget=Budget(1), new=True)
        query = Query("est").group_by("town", "code", keys=cells).count(rho=1)
        for asked in (session.preview, session.ask):
            with pytest.raises(QueryError, match="by noise alone"):
                asked(query)
    assert len(session.ledger.entries()) == 1


def test_a_name_means_the_same_in_every_session_of_a_ledger(opened, tmp_path):
    """Losses add up record by record: another grid under an old name is refused (T4)."""
    query = Query("est").sum("emp", split=SCHEME, rho=1)
    ledger = started(opened, tmp_path).ledger
    Session(opened, ledger=ledger).ask(query)
    with table(SOURCE, name="est", measures={"emp": Measure(10)}) as coarse:
        session = Session(coarse, ledger=ledger)
        with pytest.raises(LedgerError, match="no longer means what it did"):
            session.ask(query)
    assert len(ledger.entries()) == 2


def test_a_lost_ledger_is_not_made_again(opened, tmp_path):
    """A new one would forget what was spent; it takes new=True to start one, once."""
    path = tmp_path / "est.ledger"
    with pytest.raises(LedgerError, match="restore it from a backup"):
        Session(opened, ledger=path, budget=Budget(1))
    with pytest.raises(InputError, match="needs a budget"):
        Session(opened, ledger=path, new=True)
    Session(opened, ledger=path, budget=Budget(1), new=True)
    with pytest.raises(LedgerError):
        Session(opened, ledger=path, budget=Budget(1), new=True)
    with pytest.raises(LedgerError, match="another budget"):
        Session(opened, ledger=path, budget=Budget(2))
    assert Session(opened, ledger=Ledger.open(path)).policy == Policy.constant(1)
    assert "est" in repr(Session(opened, ledger=path))


def test_options_go_with_sql_text(opened, tmp_path):
    """A query value carries its own."""
    with pytest.raises(InputError, match="go with SQL text"):
        started(opened, tmp_path).ask(Query("est").count(rho=1), rho=1)


def test_a_mistyped_option_is_said_in_our_words(opened, tmp_path):
    """With those that there are, and the one that was meant."""
    session = started(opened, tmp_path)
    for ask in (session.ask, session.ask_all, session.preview):
        with pytest.raises(
            QueryError, match=r"no option 'candidate'\. .* Did you mean 'candidates'"
        ):
            ask("SELECT MEDIAN(emp) FROM est", rho=1, candidate=[1, 2])


def test_a_session_says_which_data_it_asked(tmp_path):
    """A farm that became a mine, in files, frames and by name: never in two disjoint parts (T4)."""

    def asked(sector):
        part = Query("est").where(f"sector = '{sector}'")
        return part.count(rho=1)

    def year(sector):
        return pa.table({"sector": [sector], "emp": [5]})

    pq.write_table(year("farm"), tmp_path / "november.parquet")
    pq.write_table(year("mine"), tmp_path / "december.parquet")
    doors = {
        "files": [(tmp_path / "november.parquet", None), (tmp_path / "december.parquet", None)],
        "frames": [(year("farm"), None), (year("mine"), None)],
        "names": [(year("farm"), "2026-11"), (year("farm"), "2026-12")],
    }
    for name, ((november, first), (december, second)) in doors.items():
        path = tmp_path / f"{name}.ledger"
        with table(november, name="est", dimensions=["sector"]) as opened:
            session = Session(opened, ledger=path, budget=Budget(1), new=True, snapshot=first)
            session.ask(asked("farm"))
        with table(december, name="est", dimensions=["sector"]) as opened:
            session = Session(opened, ledger=path, snapshot=second)
            seen = session.preview(asked("mine"))
            assert not seen.is_affordable
            assert "another snapshot of the data" in str(seen)
            with pytest.raises(BudgetExceededError, match="another snapshot of the data"):
                session.ask(asked("mine"))
        with table(november, name="est", dimensions=["sector"]) as opened:  # the same as before
            Session(opened, ledger=path, snapshot=first).ask(asked("mine"))
        assert len({entry.snapshot for entry in Ledger.open(path).entries()[1:]}) == 1


def test_a_preview_says_that_the_data_is_another(opened, tmp_path):
    """Also when the budget allows it; what is left is what the largest losses leave."""
    session = started(opened, tmp_path, rho=10)
    session.ask(Query("est").count(rho=1))
    assert session.preview(Query("est").count(rho=1)).remark is None
    with table(SOURCE.slice(1), name="est", dimensions=["state"], measures=["emp"]) as changed:
        other = Session(changed, ledger=session.ledger)
        query = Query("est").where("state = 'TX'").count(rho=2)
        seen = other.preview(query, examples={"a shop": {"state": "NC", "emp": 0}})
        assert seen.is_affordable
        assert (seen.losses[0][1], seen.left) == (0, (7,))
        assert "Note: earlier charges of this ledger were made on another snapshot" in str(seen)
        other.ask(query)
    assert session.ledger.spent() == Policy.constant(3)


def test_the_same_data_has_another_snapshot_in_another_ledger(opened, tmp_path):
    """The hash is keyed with the ledger's secret: exports of two ledgers cannot be compared."""
    found = []
    for name in ("a", "b"):
        session = Session(opened, ledger=tmp_path / name, budget=Budget(1), new=True)
        session.ask(Query("est").count(rho=1))
        found.append(session.ledger.entries()[1].snapshot)
        assert found[-1] in session.ledger.export()
    assert found[0].startswith("hmac:")
    assert found[0] != found[1]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_that_changes_under_a_session_is_noticed(tmp_path, monkeypatch, ending):
    """Nothing is charged, whether it changed before the question or while it was read."""
    path = tmp_path / f"est.{ending}"

    def write(number):
        if ending == "csv":
            path.write_text(f"emp\n{number}\n")
        else:
            pq.write_table(pa.table({"emp": [number]}), path)

    write(12)
    with table(path, name="est", measures=["emp"]) as opened:
        session = started(opened, tmp_path)
        session.ask(Query("est").count(rho=1))
        real = door.run

        def changing(*arguments, charge):
            def changed_and_charged():
                write(14)
                charge()

            return real(*arguments, charge=changed_and_charged)

        monkeypatch.setattr(door, "run", changing)
        for _ in range(2):  # while it is read, and from then on
            with pytest.raises(SourceError, match="changed since the table was opened"):
                session.ask(Query("est").count(rho=1))
        with pytest.raises(SourceError, match="changed since the table was opened"):
            session.run(len, columns=["emp"], rho=1)
        assert len(session.ledger.entries()) == 2


def test_a_table_that_is_read_anew_by_each_query_needs_a_name(tmp_path):
    """Before a ledger is made; files need none."""
    path, ledger = tmp_path / "est.parquet", tmp_path / "est.ledger"
    pq.write_table(SOURCE, path)
    with table(ds.dataset(path), name="est", measures=["emp"]) as opened:
        with pytest.raises(InputError, match='snapshot="2026-11-01"'):
            Session(opened, ledger=ledger, budget=Budget(1), new=True)
        assert not ledger.exists()
        session = Session(opened, ledger=ledger, budget=Budget(1), new=True, snapshot="2026")
        session.ask(Query("est").count(rho=1))
        assert session.ledger.entries()[1].snapshot == "2026"
    with (
        table(path, name="est", measures=["emp"]) as opened,
        pytest.raises(InputError, match="leave snapshot= out"),
    ):
        Session(opened, ledger=ledger, snapshot="2026")
