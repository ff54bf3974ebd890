"""`perrecord studio`: it says where it is, and ends with whoever started it."""

import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from tests.cli.conftest import run, started


def address_of(process):
    """Return the address that a studio prints first."""
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    return address


def is_answering(address):
    """Return whether anybody is there."""
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return answer.status == 403
    except urllib.error.HTTPError as error:
        return error.code == 403
    except OSError:
        return False


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_when_it_is_told_to(spec, told):
    """By Ctrl-C, by the system, by its terminal; that is how it is meant to end."""
    with started("studio", "release.yaml", cwd=spec.parent) as process:
        address = address_of(process).partition("/enter")[0]
        assert is_answering(address)
        process.send_signal(told)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "The studio has ended." in said
    assert not is_answering(address)


def test_it_ends_with_its_parent(spec):
    """A shell that is killed leaves none behind."""
    program = f"""
import subprocess, sys
child = subprocess.Popen(
    [sys.executable, "-c", "from perrecord.cli import main; main()", "studio", "release.yaml"],
    cwd={str(spec.parent)!r}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
print(child.pid, child.stdout.readline(), flush=True)
sys.stdin.read()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    number, address = parent.stdout.readline().split()
    address = address.partition("/enter")[0]
    assert is_answering(address)
    parent.kill()
    parent.communicate()
    for _ in range(600):
        if not is_answering(address):
            break
    else:
        os.kill(int(number), signal.SIGKILL)
        raise AssertionError("it went on without its parent")


def test_it_ends_when_nobody_asks(spec, monkeypatch):
    """After so many minutes; none at all ends it at once."""
    monkeypatch.chdir(spec.parent)
    ran = run("studio", "release.yaml", "--idle", "0")
    assert ran.code == 0
    assert ran.out.startswith("http://127.0.0.1:")


def test_a_spec_that_is_not_there_is_refused(tmp_path):
    """Before anything is served."""
    ran = run("studio", tmp_path / "nothing.yaml")
    assert ran.code == 1
    assert "perrecord init" in ran.err
    assert ran.out == ""
