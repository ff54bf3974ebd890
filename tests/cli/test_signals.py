"""A command that is told to end tidies up, is not broken off by a second signal, and says 130."""

import signal

import pytest

from perrecord.cli.command import INTERRUPTED
from tests.cli.conftest import started

WITHOUT = """
def plain():
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler)
    return nullcontext()
c.ended_once = plain
"""
"""Every signal is Ctrl-C, as it would be without our handler."""


def tidying(tmp_path, first, *later, code=""):
    """Send signals to a command that takes a while to tidy up; return its code and stderr."""
    slow = """
import signal, sys, time
from contextlib import nullcontext
import perrecord.cli as c
def app(**_):
    try:
        print("running", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("tidying", flush=True)
        time.sleep(1.5)
        print("tidied", flush=True)
        sys.exit(130)
c.app = app
"""
    process = started(cwd=tmp_path, code=slow + code)
    shown = process.stdout.readline()
    process.send_signal(first)
    shown += process.stdout.readline()
    for each in later:
        process.send_signal(each)
    out, err = process.communicate(timeout=60)
    return process.returncode, (shown + out).split(), err


@pytest.mark.parametrize(
    "later", [(signal.SIGHUP, signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGINT)]
)
def test_tidying_is_not_broken_off(later, tmp_path):
    """Signals after the first do nothing; who presses Ctrl-C again hears what would."""
    code, shown, err = tidying(tmp_path, signal.SIGTERM, *later)
    assert (code, shown) == (INTERRUPTED, ["running", "tidying", "tidied"])
    assert "Ctrl-\\ ends it at once" in err
    assert "Traceback" not in err


def test_tidying_that_is_broken_off_is_seen(tmp_path):
    """Broken twin: every signal raises."""
    code, shown, _ = tidying(tmp_path, signal.SIGTERM, signal.SIGHUP, code=WITHOUT)
    assert code != INTERRUPTED
    assert "tidied" not in shown


@pytest.mark.parametrize("wanted", [(signal.SIGQUIT,), (signal.SIGTERM, signal.SIGQUIT)])
def test_control_backslash_ends_at_once_without_a_core(wanted, tmp_path):
    """Also in the middle of tidying; a process that dumps its memory would die of the signal."""
    code, shown, err = tidying(tmp_path, *wanted)
    assert (code, err) == (INTERRUPTED, "")
    assert "tidied" not in shown


def test_a_late_signal_does_not_change_how_it_ended(tmp_path):
    """One that comes while Python is taken down, after all was tidied."""
    late = (
        "import os, signal, perrecord.cli as c; c.app = lambda **_: None\n"
        "class Late:\n"
        "    def __del__(self, kill=os.kill, own=os.getpid(), wanted=signal.SIGTERM):\n"
        "        kill(own, wanted)\n"
        "late = Late()"
    )
    process = started(cwd=tmp_path, code=late)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def test_the_command_line_runs_outside_the_main_thread(tmp_path):
    """Signals are the main thread's alone, so they are left as they are."""
    code = (
        "import sys, threading; from perrecord.cli import main\n"
        "sys.argv = ['perrecord', '--version']\n"
        "other = threading.Thread(target=main); other.start(); other.join(); sys.exit()"
    )
    process = started(cwd=tmp_path, code=code)
    out, err = process.communicate(timeout=60)
    assert (out.startswith("perrecord "), err) == (True, "")
