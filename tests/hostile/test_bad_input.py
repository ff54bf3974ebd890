"""Bad input is refused without a canary, with its place and its remedy; nothing hangs.

The quick form of `python -m tests.hostile.bad_input`, and the proof that each of its checks can
fail: an engine's error that is let through, a message without a field, a case that hangs, a
process that dies, a ledger that was changed.
"""

import sys
from pathlib import Path
from random import Random

import pytest

from perrecord.errors import SourceError
from perrecord.tables.engines import database
from tests.hostile import bases, running
from tests.hostile.bad_input import audited, report
from tests.hostile.canaries import Canaries, search
from tests.hostile.cases import SPEC, spec_case
from tests.hostile.parquet_faults import data_case
from tests.hostile.plan import SHARES, built, planned
from tests.hostile.rules import Ran, faults_of
from tests.hostile.running import run_case
from tests.hostile.spec_faults import chosen, places
from tests.hostile.workers import Pool

QUICK = 150


def test_some_of_all_kinds_are_refused_as_they_should_be():
    """A fixed seed, so that whatever is found can be found again."""
    outcomes = audited(QUICK, seed=1, workers=1)
    found = report(outcomes, 0, 1)
    assert found["failures"] == []
    assert sum(not each.is_valid for each in outcomes) > QUICK * 2 / 3
    assert {builder for builder, _ in planned(QUICK)} == set(SHARES)
    assert min(each.canaries for each in outcomes) > 50
    assert sum(each.went_on for each in outcomes) > 3


@pytest.mark.audit
def test_thousands_of_all_kinds_are_refused_as_they_should_be():
    """More than 2,000 of them malformed."""
    outcomes = audited(3_000, seed=2)
    assert report(outcomes, 0, 2)["failures"] == []
    assert sum(not each.is_valid for each in outcomes) > 2_000


@pytest.mark.parametrize("base", bases.SPECS)
@pytest.mark.parametrize("source", bases.SOURCES)
def test_what_the_cases_are_made_of_is_good(base, source, tmp_path):
    """Otherwise a case would be refused for another fault than its own."""
    canaries = Canaries(Random(1))
    case = data_case("good", "", base, bases.source_bytes(canaries, source), canaries, source)
    outcome = run_case(case, 1, tmp_path)
    assert (outcome.is_valid, outcome.faults) == (True, [])


def test_every_place_of_every_spec_has_its_turn():
    """The stride over the places leaves none out."""
    number = sum(len(places(base)) for base in bases.SPECS)
    assert len({chosen(turn) for turn in range(number)}) == number


def test_the_same_seed_gives_the_same_cases():
    """In whichever process; another seed gives others."""
    assert built(1, 7, QUICK).files == built(1, 7, QUICK).files
    assert built(1, 7, QUICK).files != built(2, 7, QUICK).files


# -- each check can fail -----------------------------------------------------------------------


def _case(number: int = 0):
    """Return a case whose CSV file is ragged, which the engine says with the line itself."""
    canaries = Canaries(Random(number))
    text = bases.csv_text(bases.columns(canaries)) + f"{canaries.text()},{canaries.number()}\n"
    return data_case("bad CSV", "ragged", "simple", text.encode(), canaries, "est.csv")


def test_an_engine_error_that_is_let_through_is_caught(tmp_path, monkeypatch):
    """A twin of the boundary that chains what the engine said."""

    def leaky(message, action):
        try:
            return action()
        except Exception as error:
            raise SourceError(f"{message} {error}") from error

    assert run_case(_case(), 1, tmp_path).faults == []
    monkeypatch.setattr(database, "sealed", leaky)
    faults = run_case(_case(), 1, tmp_path).faults
    assert any(fault.startswith("the canary") and "stderr" in fault for fault in faults)


def test_a_canary_is_found_in_every_form():
    """Text, UTF-16, digits with separators, integers and floats in binary."""
    canaries = Canaries(Random(3))
    text, number = canaries.text(), canaries.number()
    assert search(canaries, [("nothing", b"x" * 1000)]).found == ()
    for _, form in canaries.forms():
        assert search(canaries, [("there", b"before" + form + b"after")]).found
    for written in (text, str(number), f"{number:,}", f"{number / 100:.2f}", repr(float(number))):
        assert search(canaries, [("there", written.encode())]).found


def test_a_canary_in_a_file_left_behind_is_caught(tmp_path, monkeypatch):
    """In the temporary folder and beside the ledger."""
    case = _case()

    def careless(*arguments, **_):
        Path("est.ledger.notes").write_text(case.canaries.texts[0])
        Path("../tmp/spilled").write_bytes(b"rows")
        return Ran(arguments, 1, "", "perrecord: release.yaml:2: source: broken; mend it.\n")

    monkeypatch.setattr(running, "run", careless)
    faults = run_case(case, 1, tmp_path).faults
    assert any("est.ledger.notes" in fault for fault in faults)
    assert any("the temporary folder holds" in fault for fault in faults)


GOOD = "perrecord: release.yaml:3: queries[0].keys: no keys 'x'. Keys are a. Did you mean 'a'?\n"


@pytest.mark.parametrize(
    ("code", "message", "fault"),
    [
        (3, GOOD, "exit code 3"),
        (-11, GOOD, "exit code -11"),
        (1, "Traceback (most recent call last):\n", "it says 'Traceback'"),
        (1, GOOD.replace("release.yaml:3: queries[0].keys: ", ""), "no place"),
        (1, GOOD.replace("queries[0].keys: ", ""), "no field"),
        (1, "perrecord: release.yaml:3: title: wrong.\n", "no remedy"),
        (1, GOOD.replace("?", ""), "no full stop"),
        (1, GOOD.replace("'x'", f"'{'x' * 5000}'"), "a line of"),
        (1, GOOD.replace("'x'", "'\x1b[31m'"), "control characters"),
        (1, GOOD.replace("'x'", "'\u202e'"), "control characters"),
        (1, GOOD.replace("perrecord: ", ""), "does not say who speaks"),
    ],
)
def test_a_bad_message_is_caught(code, message, fault):
    """Each rule by a message that breaks it alone."""
    assert list(faults_of(Ran(("check",), 1, "", GOOD), names_field=True)) == []
    found = list(faults_of(Ran(("check",), code, "", message), names_field=True))
    assert any(fault in each for each in found)


def test_what_hangs_and_what_dies_is_caught():
    """And the cases after it are run all the same."""
    program = (
        "import json, os, sys, time\n"
        "for line in sys.stdin:\n"
        "    number = int(line)\n"
        "    if number == 1: time.sleep(100)\n"
        "    if number == 3: os.abort()\n"
        "    print(json.dumps({'number': number, 'kind': 'fine', 'what': ''}), flush=True)\n"
    )
    found = Pool([sys.executable, "-c", program], 1, patience=1.5).run(range(5))
    assert [each.kind for each in found] == ["fine", "lost", "fine", "lost", "fine"]
    assert found[1].faults == ["no end after 2 s"]
    assert found[3].faults == ["the process died with -6"]


def test_a_release_that_is_refused_too_late_is_caught(tmp_path, monkeypatch):
    """Something was published, the ledger says more than a charge, or is no ledger any more."""
    case, run = spec_case("another type", "", "simple", "title: x\n", Random(5)), running.run

    def late(*arguments, **options):
        if arguments[0] == "release":
            good = bases.spec_text("simple").encode()
            bad = Path(SPEC).read_bytes()
            Path(SPEC).write_bytes(good)
            run(*arguments)
            Path(SPEC).write_bytes(bad)
        return run(*arguments, **options)

    assert run_case(case, 1, tmp_path).faults == []
    monkeypatch.setattr(running, "run", late)
    faults = run_case(case, 1, tmp_path).faults
    assert any("left ['out']" in fault for fault in faults)
    assert any("left the ledger with" in fault for fault in faults)
