"""Where the studio's numbers come from: no record is read without the marked door, none escapes it.

Every confidential cell holds a canary: all that the studio answers, logs and leaves in files is
searched for them.
"""

import logging
import tempfile
from random import Random

import pyarrow.parquet as pq
import pytest

from perrecord.errors import InputError
from perrecord.evaluate.accuracy.errors import accuracy as cell_accuracy
from perrecord.evaluate.accuracy.summaries import summary
from perrecord.evaluate.accuracy.truths import counted
from perrecord.evaluate.confidential import HEADER
from perrecord.release.spec import build, open_table, parse_spec
from perrecord.report.numbers import percent
from perrecord.studio import accuracy, facts
from perrecord.studio.doors import CLOSED, StudioDoor, chosen_door
from perrecord.studio.synthetic import drawn_table
from tests.cli.conftest import run
from tests.hostile import bases
from tests.hostile.canaries import SAID, Canaries, files_below, search
from tests.studio.conftest import SPEC, visiting

DOORS = {
    "closed": CLOSED,
    "public": StudioDoor("public", "public.parquet"),
    "synthetic": StudioDoor("synthetic", rows=500),
    "confidential": StudioDoor("confidential"),
}
EXAMPLE = """\
examples:
  - {name: a corner shop, emp: 3, rent: 1.5, county: "37001", kind: "11"}
"""
ADDRESSES = (
    *("/", "/errors", "/values", "/beside", "/found", "/levels", "/curves", "/ledger", "/policy"),
    *("/progress", "/guide", "/changed?since=x"),
    *("/studio.js", "/progress.js", "/studio.css", "/nothing"),
)
EDITS = (
    {"amount": "0.3"},
    {"method": "clamp"},
    {"size": "5 to 60"},
    {"size": "nothing"},
    {"method": "taper"},
    {"blur": "0.1"},
)


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A spec beside a table with a canary in every confidential cell, a public file, a log."""
    canaries = Canaries(Random(22))
    folder, temporary = tmp_path / "work", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    bases.write(folder, bases.public_files())
    pq.write_table(bases.table(canaries), folder / "est.parquet")
    pq.write_table(bases.table(Canaries(Random(1))), folder / "public.parquet")
    (folder / "release.yaml").write_text(bases.spec_text("simple") + EXAMPLE)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return canaries, folder / "release.yaml", temporary


def seen(spec, door):
    """Return all that is answered while somebody works with a studio, by address."""
    answers = {}

    def look(visitor, when, addresses=ADDRESSES[:9]):
        for address in addresses:
            status, headers, text = visitor.ask(address)
            answers[f"{address} {when}"] = f"{status}\n{headers}\n{text}"

    with visiting(spec, door) as visitor:
        look(visitor, "at first", ADDRESSES)
        for number, typed in enumerate(EDITS):
            answers[f"/choose {number}"] = visitor.choose("0/employees", **typed)
            answers[f"/errors {number}"] = visitor.ask("/errors")[2]
        visitor.ask("/compare", {"step": "0"})
        visitor.ask("/find", {})
        look(visitor, "beside the first")
        good = visitor.text()
        for broken in (good.replace("emp: 1", "emp: 1e-9"), ""):
            visitor.path.write_text(broken)
            look(visitor, f"while broken, {len(broken)}")
        visitor.path.write_text(good)
        spec.with_name("est.parquet").write_bytes(b"PAR1 cut off")
        look(visitor, "with a source that is broken")
    return answers


@pytest.mark.parametrize("door", DOORS)
def test_no_value_of_a_record_is_answered_logged_or_written(planted, caplog, door):
    """Whichever door: pages, errors, files, temporary files, logs; a release's files as well.

    But for the panel of values behind the confidential door, which is marked.
    """
    canaries, spec, temporary = planted
    caplog.set_level(logging.DEBUG)
    run("ledger", "create", "release.yaml")
    answers = seen(spec, DOORS[door])
    places = [(name, text.encode(), SAID) for name, text in answers.items()]
    values = [each for each in places if each[0].startswith("/values")]
    if door == "confidential":
        assert search(canaries, values).found != ()
        places = [each for each in places if each not in values]
    places.append(("the log", caplog.text.encode(), SAID))
    files = [*files_below(spec.parent, apart_from=["est.parquet"]), *files_below(temporary)]
    assert len(canaries) > 90
    assert search(canaries, [*places, *files]).found == ()
    assert sorted(each.name for each in temporary.iterdir()) == []
    # What rests on confidential records says so, and nothing else does.
    marked = {name for name, text in answers.items() if HEADER in text}
    of_data = (
        *("How accurate it would be</h3>", "<caption>Error of the median cell</caption>"),
        "<h1>Values</h1>",
    )
    shown = {name for name, text in answers.items() if any(each in text for each in of_data)}
    assert marked >= (shown if door == "confidential" else set())
    assert {name.split()[0] for name in marked} <= (
        {"/errors", "/beside", "/values"} if door == "confidential" else set()
    )
    assert bool(shown) == (door != "closed")
    assert ("Frontier" in answers["/found beside the first"]) <= DOORS[door].is_public
    assert ("<h1>Values</h1>" in answers["/values at first"]) == (door != "closed")
    assert ('data-later="/values"' in answers["/ at first"]) == DOORS[door].is_public
    says_so = "started with --confidential" in answers["/ at first"]
    assert says_so == (door == "confidential")


def test_a_canary_that_is_answered_is_found(planted, monkeypatch):
    """Positive control: an error that quotes a record, let through."""
    canaries, spec, _ = planted
    monkeypatch.setattr(facts, "withheld", lambda made: made())
    monkeypatch.setattr(facts, "build", lambda *_: open_failing(canaries.texts[0]))
    with visiting(spec, CLOSED) as visitor:
        text = visitor.ask("/")[2]
    assert search(canaries, [("the page", text.encode(), SAID)]).found != ()


def open_failing(text):
    """Fail as a message that quotes a record does."""
    raise InputError(f"{text} is no number.")


def test_confidential_errors_are_those_of_the_source(spec):
    """The same numbers that `evaluate` has of it."""
    with visiting(spec, StudioDoor("confidential")) as visitor:
        _, _, text = visitor.ask("/errors")
    loaded = parse_spec(SPEC, spec)
    with open_table(loaded) as table:
        errors = cell_accuracy(build(loaded, table.schema).plan, table)
    rows = summary(errors, by=("query", "answer", "size")).to_pylist()
    assert [percent(row["median_relative_error"]) in text for row in rows] == [True] * len(rows)


def test_drawn_records_have_the_columns_and_keys_of_the_spec(spec):
    """Without the source being there, always the same, and every place is a key of the spec."""
    spec.with_name("est.parquet").unlink()
    loaded = parse_spec(SPEC, spec)
    drawn = drawn_table(loaded, 300)
    assert drawn.equals(drawn_table(loaded, 300))
    assert set(drawn["county"].to_pylist()) == {"37001", "48001", "48003"}
    assert min(drawn["emp"].to_pylist()) >= 1
    assert drawn["id"].to_pylist() == list(range(300))
    with open_table(loaded, drawn) as table:
        assert build(loaded, table.schema).plan.groupings
    with visiting(spec, StudioDoor("synthetic", rows=300)) as visitor:
        assert "300 synthetic records" in visitor.page()
        assert visitor.ask("/errors")[0] == 200


def test_a_column_that_cannot_be_guessed_is_refused(spec):
    """With its name, and what to do."""
    text = SPEC.replace('county, state: "substr(county, 1, 2)"}', "county, kind: kind}")
    with pytest.raises(InputError, match=r"'kind' can be drawn.*--data"):
        drawn_table(parse_spec(text, spec), 10)


def test_one_door_at_most(spec):
    """Two are refused before anything is opened."""
    with pytest.raises(InputError, match="give one of them"):
        chosen_door("x.parquet", synthetic=True, confidential=False)
    assert chosen_door(None, synthetic=False, confidential=False) == CLOSED
    ran = run("studio", spec, "--synthetic", "--confidential")
    assert ran.code == 1
    assert "give one of them" in ran.err


def test_a_number_that_was_not_counted_is_counted_and_kept(spec, monkeypatch):
    """A clamp and a blur each need one; going back to them counts nothing again."""
    scans = []
    monkeypatch.setattr(
        accuracy, "counted", lambda *a, **how: scans.append(1) or counted(*a, **how)
    )
    door = StudioDoor("synthetic", rows=50)
    with visiting(spec, door) as visitor:
        shown = []
        for typed in ({"method": "clamp"}, {"method": "taper"}, {"blur": "0.1"}, {"blur": ""}):
            visitor.choose("0/employees", **typed)
            shown.append(visitor.ask("/errors")[2])
        for typed in ({"method": "clamp"}, {"method": "taper"}, {"blur": "0.1"}):
            visitor.choose("0/employees", **typed)
            shown.append(visitor.ask("/errors")[2])
        assert visitor.ask("/progress")[2] == ""
    assert shown[4:] == shown[:3]
    assert len(set(shown)) == 3
    assert len(scans) == 2
