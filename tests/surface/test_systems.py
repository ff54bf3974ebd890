"""Other systems, simulated: without `fcntl`, signals, owners and modes, every command works."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import perrecord
from tests.cli.conftest import SPEC

LACKING = """
import os, signal, sys
for name in ("fcntl", "grp", "pwd", "readline", "resource", "termios", "tty", "syslog"):
    sys.modules[name] = None
for name in ("SIGHUP", "SIGQUIT", "SIGKILL", "SIGUSR1"):
    delattr(signal, name)
for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_DIRECTORY", "fork", "geteuid", "getuid",
             "register_at_fork", "sched_getaffinity"):
    delattr(os, name)
import warnings
warnings.simplefilter("ignore")
"""
"""What Windows does not have; filelock then warns that its locks are soft ones."""

COMMANDS = (
    "schema",
    "check release.yaml",
    "ledger create release.yaml",
    "release release.yaml --out published",
    "release release.yaml --out published",
    "ledger verify est.ledger",
    "ledger show est.ledger",
    "policy published --record emp=150",
    "export published --to px --out px",
    "export published --to xlsx --out release.xlsx",
    "doctor release.yaml",
    "synth business --rows 10 --out more.parquet",
    "init more.parquet --out more.yaml",
)

IN_TURN = """
from typer.testing import CliRunner
from perrecord.cli import app
from perrecord.cli.command import ended_once
with ended_once():
    for command in COMMANDS:
        found = CliRunner().invoke(app, command.split(), prog_name="perrecord")
        assert found.exit_code == 0, (command, found.stderr, found.exception)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a table and its spec."""
    rows = {"id": [1, 2, 3], "county": ["37001", "37001", "48001"], "emp": [120, 20, 7]}
    pq.write_table(pa.table(rows), tmp_path / "est.parquet")
    (tmp_path / "release.yaml").write_text(SPEC, "utf-8")
    return tmp_path


def ran(folder, code):
    """Run a program where these are lacking."""
    command = [sys.executable, "-c", LACKING + code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_command_works_without_them(folder):
    """A release is made, published, looked at and exported."""
    found = ran(folder, f"COMMANDS = {COMMANDS!r}\n{IN_TURN}")
    assert found.returncode == 0, found.stderr
    assert (folder / "published" / "policy.html").is_file()


def test_a_lock_keeps_others_out_without_them(folder):
    """By the library that stands in for flock; and lets them in when it is let go."""
    code = """
from pathlib import Path
from perrecord.systems import fcntl, held
assert fcntl is None
with held(Path("a.lock")) as first:
    with held(Path("a.lock")) as second:
        print(first, second)
with held(Path("a.lock")) as third:
    print(third)
"""
    assert ran(folder, code).stdout.split() == ["True", "False", "True"]


def test_nothing_else_asks_for_what_some_systems_lack():
    """One module knows the differences; audits that ship with the library are no exception."""
    source = Path(perrecord.__file__).parent
    names = ("import fcntl", '"fcntl"', "geteuid", "SIGHUP", "O_NOFOLLOW", "O_CLOEXEC", "os.fork(")
    found = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for name in names
        if name in path.read_text("utf-8")
    }
    assert found <= {"systems.py", "cli/command.py"}
    signals = (source / "cli" / "command.py").read_text("utf-8")
    assert "signal.SIGHUP" not in signals
