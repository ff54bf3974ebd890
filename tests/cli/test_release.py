"""`release`: made, published again, nothing; interrupted and gone on with."""

import json
import os
import pty
import re
import signal

import pytest

from perrecord import Ledger
from perrecord.accounting.entries import Charge
from tests.cli.conftest import changed, outside, run, started

RELEASE = ("release", "release.yaml", "--out", "published")
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")


def charges(folder):
    """Return how many charges the ledger holds."""
    return sum(isinstance(each, Charge) for each in Ledger.open(folder / "est.ledger").entries())


def test_made_then_nothing_then_published_again(charged):
    """It says which of the three; one charge pays for all."""
    made = run(*RELEASE)
    assert made.code == 0
    assert made.out.startswith(f"made: {charged / 'published'}\n")
    assert "tables/counties.parquet" in made.out
    assert ".csv" not in made.out  # written when the spec asks for it
    assert run(*RELEASE).out.startswith("nothing: ")
    again = run("release", "release.yaml", "--out", "elsewhere")
    assert again.out.startswith("published again: ")
    assert charges(charged) == 1
    same = [(charged / place / "policy.json").read_bytes() for place in ("published", "elsewhere")]
    assert same[0] == same[1]


def test_as_json(charged):
    """The charge's hash is the one that the manifest holds; both hashes are in the ledger."""
    found = run(*RELEASE, "--json").json()
    noted = [found["charge"]["hash"], found["seal"]["hash"]]
    assert Ledger.open(charged / "est.ledger").verify(noted) == 4
    manifest = json.loads((charged / "published" / "manifest.json").read_text("utf-8"))
    assert found["did"] == "made"
    assert found["charge"]["hash"] == manifest["charge"]
    assert "policy.html" in found["files"]


def test_without_a_ledger_it_says_how_to_make_one(folder):
    """It is never made on the way."""
    shown = run(*RELEASE)
    assert shown.code == 1
    assert "ledger create release.yaml" in shown.err
    assert not (folder / "est.ledger").exists()


def test_a_folder_that_holds_something_else(charged):
    """Nothing is overwritten, and nothing charged."""
    (charged / "published").mkdir()
    (charged / "published" / "notes.txt").write_text("mine", encoding="utf-8")
    shown = run(*RELEASE)
    assert shown.code == 1
    assert "give another folder with --out" in shown.err
    assert charges(charged) == 0


def test_beyond_the_budget(published):
    """Refused with the reason; nothing was charged."""
    changed(published, "rho: 0.2", "rho: 0.65")
    shown = run("release", "release.yaml", "--out", "second")
    assert shown.code == 1
    assert "Nothing was charged" in shown.err
    assert not (published / "second").exists()
    assert charges(published) == 1


def test_piped_it_says_nothing_of_its_progress(charged):
    """With --json, stdout is JSON and stderr is empty."""
    shown = outside(*RELEASE, "--json", cwd=charged)
    assert shown.code == 0
    assert shown.json()["did"] == "made"
    assert shown.err == ""


def on_terminal(*arguments, cwd, **environment):
    """Run the command with a terminal as its stderr; return what it showed there."""
    ours, theirs = pty.openpty()
    slow = (
        "import time, perrecord.mechanisms.run as run\n"
        "scanned = run.scanned\n"
        "run.scanned = lambda *given: (time.sleep(0.4), scanned(*given))[1]"
    )
    process = started(
        *arguments,
        cwd=cwd,
        code=slow,
        env={"TERM": "xterm-256color", **environment},
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so when the other side is closed
            break
        if not part:
            break
        shown += part
    process.communicate(timeout=60)
    os.close(ours)
    return process.returncode, shown.decode()


def test_on_a_terminal_it_shows_its_progress(charged):
    """On stderr, the steps by name."""
    code, shown = on_terminal(*RELEASE, cwd=charged)
    assert code == 0
    assert "reading the data" in shown
    assert COLOUR.search(shown)


def test_no_color_and_quiet_are_honoured(charged):
    """Without colours, and without progress at all."""
    code, shown = on_terminal(*RELEASE, cwd=charged, NO_COLOR="1")
    assert code == 0
    assert "reading the data" in shown
    assert not COLOUR.search(shown)
    code, shown = on_terminal("release", "release.yaml", "--out", "b", "--quiet", cwd=charged)
    assert code == 0
    assert "reading" not in shown


def test_errors_are_coloured_on_a_terminal_unless_told_not_to(charged):
    """The mark in front of the message is red."""
    arguments = ("release", "none.yaml", "--out", "published")
    code, shown = on_terminal(*arguments, cwd=charged)
    assert (code, bool(COLOUR.search(shown))) == (1, True)
    code, shown = on_terminal(*arguments, cwd=charged, NO_COLOR="1")
    assert (code, bool(COLOUR.search(shown))) == (1, False)


@pytest.mark.parametrize(
    ("step", "seconds", "before"),
    [("run_each", 60, 0), ("released_table", 2, 1), ("release_files", 60, 1)],
)
def test_ctrl_c_ends_with_130_and_the_next_run_finishes(charged, step, seconds, before):
    """Interrupted before the seal: nothing is out, and one charge pays for the release.

    Threads that are at work on a table finish it first.
    """
    slow = (
        "import sys, time, perrecord.release.publish as publish\n"
        "def wait(*given, **options):\n"
        "    print('there', file=sys.stderr, flush=True)\n"
        f"    time.sleep({seconds})\n"
        f"publish.{step} = wait"
    )
    process = started(*RELEASE, cwd=charged, code=slow)
    assert process.stderr.readline() == "there\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Run the same command again to continue" in err
    assert "Traceback" not in err
    assert not (charged / "published").exists()
    assert charges(charged) == before
    second = run(*RELEASE)
    assert second.out.startswith("made: ")
    assert charges(charged) == 1
