"""Bad input is refused without a canary, with its place and its remedy; nothing hangs.

The quick form of `python -m tests.hostile.bad_input`, and the proof that each of its checks can
fail: an engine's error that is let through, a message without a field, a case that hangs, a
process that dies, a ledger that was changed.
"""

import struct
import sys
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pytest

from perrecord.accounting.ledger import Ledger
from perrecord.errors import SourceError
from perrecord.policy.policy import Policy
from perrecord.release.spec import load
from perrecord.release.spec.models import Spec
from perrecord.tables.engines import database
from tests import first
from tests.hostile import bases, running
from tests.hostile.bad_input import audited, report
from tests.hostile.canaries import PUBLISHED, SAID, WRITTEN, Canaries, files_below, search
from tests.hostile.cases import SPEC, spec_case
from tests.hostile.nonsense import rendered
from tests.hostile.parquet_faults import TYPES, data_case
from tests.hostile.plan import SHARES, built, planned
from tests.hostile.rules import Ran, faults_of
from tests.hostile.running import Outcome, run_case
from tests.hostile.spec_faults import chosen, places
from tests.hostile.workers import Pool

QUICK = 58
HOLD_NOTHING = {
    *("truth values", "dates", "times", "moments", "half floats", "bytes", "nothing"),
    "NULL of a number",
}


def test_some_of_all_kinds_are_refused_as_they_should_be():
    """A fixed seed, so that whatever is found can be found again."""
    outcomes = audited(QUICK, seed=1, workers=1)
    found = report(outcomes, 0, 1)
    assert found["failures"] == []
    assert sum(each.must_refuse for each in outcomes) > QUICK / 6
    assert {builder for builder, _ in planned(QUICK)} == set(SHARES)
    assert min(each.canaries for each in outcomes) > 50
    assert sum(each.went_on for each in outcomes) > 2


@pytest.mark.audit
def test_thousands_of_all_kinds_are_refused_as_they_should_be():
    """At least 2,000 of them malformed."""
    outcomes = audited(3_000, seed=2)
    assert report(outcomes, 0, 2)["failures"] == []
    assert sum(not each.is_valid for each in outcomes) >= 2_000


@pytest.mark.parametrize("base", bases.SPECS)
@pytest.mark.parametrize("source", first(1, bases.SOURCES))
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


def _finds(canaries: Canaries, content: bytes, digits: int = WRITTEN) -> bool:
    """Return whether a canary is found in the middle of bytes."""
    return search(canaries, [("there", b"before " + content + b" after", digits)]).found != ()


def test_a_canary_is_found_in_every_form():
    """Cut, in another case or encoding, with separators, rounded, in binary."""
    canaries = Canaries(Random(3))
    text, number = canaries.text(), canaries.number()
    for nothing in (b"x" * 1000, b"1" * 1000, text[:7].encode(), str(number)[:9].encode()):
        assert not _finds(canaries, nothing)
    for form in (
        *(text, text[:12], text[-8:], text.title(), text.upper(), text.encode().hex()),
        *(b64encode(before + text.encode()).decode() for before in (b"", b"a", b"ab")),
        *(str(number), f"{number:,}", f"{number:_}", f"{-number}", f"{number:x}"),
        *(f"{number / 100:.2f}", f"{number / 100:.1f}", f"{number / 100:,.2f}"),
        *(repr(float(number)), f"{number:g}", f"{number:.8g}", f"{float(number):e}"),
    ):
        assert _finds(canaries, form.encode()), form
    for form in (text.encode("utf-16-le"), text.encode("utf-16-be"), str(number).encode("utf-16")):
        assert _finds(canaries, form)
    for code in ("<q", ">q", "<d", ">d"):
        assert _finds(canaries, struct.pack(code, number))
    assert _finds(canaries, str(number)[:8].encode(), SAID)
    assert not _finds(canaries, str(number)[:14].encode(), PUBLISHED)
    assert _finds(canaries, str(number).encode(), PUBLISHED)


@pytest.mark.parametrize("kind", TYPES)
def test_what_a_cell_of_any_type_holds_is_found(kind):
    """As Arrow and DuckDB print it, if the type can hold a canary."""
    canaries = Canaries(Random(4))
    column = TYPES[kind](canaries)
    if not len(canaries):
        assert kind in HOLD_NOTHING
        return
    cells = [each for each in column.to_pylist() if str(each) not in ("nan", "inf", "-inf")]
    assert _finds(canaries, repr(cells[-1]).encode()) or _finds(canaries, str(cells[-1]).encode())
    if kind == "decimal(76, 2)":  # which DuckDB does not read
        return
    with duckdb.connect() as connection:
        connection.register("rows", pa.table({"x": column}))
        said = connection.execute("SELECT x::VARCHAR FROM rows").fetchall()
    numbers = [each for (each,) in said if each not in ("nan", "inf", "-inf")]
    assert _finds(canaries, numbers[-1].encode())


def test_the_rows_of_a_compressed_table_are_searched(tmp_path):
    """The bytes of the file alone would not show them."""
    canaries = Canaries(Random(6))
    content = bases.parquet(bases.table(canaries).select(["firm"]), compression="zstd")
    (tmp_path / "t.parquet").write_bytes(content)
    assert any(
        each.endswith(" in t.parquet") for each in search(canaries, files_below(tmp_path)).found
    )


def test_a_canary_in_a_file_left_behind_is_caught(tmp_path, monkeypatch):
    """In the temporary folder and beside the ledger."""
    case = _case()

    def careless(*arguments, **_):
        Path("est.ledger.notes").write_text(case.canaries.texts[0])
        Path("../tmp/spilled").write_bytes(b"rows")
        return Ran(arguments, 1, "", "perrecord: release.yaml:2: source: broken; correct it.\n")

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
        (1, "perrecord: release.yaml:3: oops: something has gone wrong.\n", "no remedy"),
        (1, "perrecord: release.yaml:3: oops, error: values are bad.\n", "no field"),
        (1, "perrecord: release.yaml: x: type error.\n", "no remedy"),
        (1, "perrecord: the source: name error.\n", "no place"),
        (1, "perrecord: release.yaml:1: title: bad set.\n", "no remedy"),
        (1, "perrecord: release.yaml:3: queries[0].keys: only.\n", "no remedy"),
        (
            1,
            GOOD.replace("no keys 'x'.", "wrong.").replace("queries[0]", "queries[1]"),
            "another field",
        ),
        (1, GOOD.replace("no keys 'x'.", "wrong.").replace("[0].keys", "[0].key"), "another field"),
        (1, GOOD.replace("?", ""), "no full stop"),
        (1, GOOD.replace("'x'", f"'{'x' * 5000}'"), "a line of"),
        (1, GOOD.replace("'x'", "'\x1b[31m'"), "control characters"),
        (1, GOOD.replace("'x'", "'\u202e'"), "control characters"),
        (1, GOOD.replace("perrecord: ", ""), "does not say who speaks"),
    ],
)
def test_a_bad_message_is_caught(code, message, fault):
    """Each rule by a message that breaks it alone."""
    places = [("queries", 0, "keys")]
    assert list(faults_of(Ran(("check",), 1, "", GOOD), names_field=True, places=places)) == []
    ran = Ran(("check",), code, "", message)
    found = list(faults_of(ran, names_field=True, places=places))
    assert any(fault in each for each in found)


def test_what_hangs_and_what_dies_is_caught():
    """And the cases after it are run all the same."""
    program = (
        "import json, os, sys, time\n"
        "for line in sys.stdin:\n"
        "    number = int(line)\n"
        "    if number == 1: time.sleep(1000)\n"
        "    if number == 3: os.abort()\n"
        "    print(json.dumps({'number': number, 'kind': 'fine', 'what': ''}), flush=True)\n"
    )
    found = Pool([sys.executable, "-c", program], 1, patience=10).run(range(5))
    assert [each.kind for each in found] == ["fine", "lost", "fine", "lost", "fine"]
    assert found[1].faults == ["no end after 10 s"]
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


def test_a_release_that_is_charged_and_then_refused_is_caught(tmp_path, monkeypatch):
    """Whether the spec is bad or the source, nothing is charged."""
    run = running.run

    def charged(*arguments, **options):
        if arguments[0] == "release":
            Ledger.open("est.ledger").charge(Policy.constant("0.001"), label="x", snapshot="x")
        return run(*arguments, **options)

    monkeypatch.setattr(running, "run", charged)
    case = spec_case("another type", "", "simple", "title: x\n", Random(5))
    outcome = run_case(case, 1, tmp_path)
    assert outcome.faults == ["a refused release left the ledger with ['Creation', 'Charge']"]


def test_a_malformed_spec_that_is_accepted_is_caught(tmp_path, monkeypatch):
    """A twin of the reader that drops what it does not know."""
    value = {**bases.values_of("simple"), "unknown_field": 7}
    text = rendered(value).replace("SOURCE", "est.parquet")
    case = spec_case("an unknown field", "", "simple", text, Random(5), must_refuse=True)
    assert run_case(case, 1, tmp_path).faults == []
    read = load.read_document

    def lenient(path, name):
        document = read(path, name)
        known = {key: each for key, each in document.value.items() if key in Spec.model_fields}
        return replace(document, value=known)

    monkeypatch.setattr(load, "read_document", lenient)
    outcome = run_case(case, 1, tmp_path)
    assert outcome.is_valid
    assert outcome.faults == [
        "what is malformed was released",
        "what is malformed was found fine by the check",
    ]


def test_a_run_with_too_few_malformed_inputs_fails():
    """Two thirds of them at least."""
    few = [Outcome(number, "fine", "", is_valid=number % 2 == 0) for number in range(100)]
    enough = [Outcome(number, "fine", "", is_valid=number % 4 == 0) for number in range(100)]
    assert report(few, 0, 1)["failures"] == ["only 50 of 100 inputs were malformed"]
    assert report(enough, 0, 1)["failures"] == []
