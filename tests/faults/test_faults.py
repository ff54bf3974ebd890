"""The audit of faults in its quick form; `python -m tests.faults` is the long one."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from tests.faults.parts import PARTS
from tests.faults.runner import Runner
from tests.faults.subjects import LEDGER

TRACED = [pytest.param(part, marks=pytest.mark.strace) for part in PARTS if part != "load"]
LIMIT = 600


@pytest.mark.parametrize("part", [*TRACED, "load"])
def test_nothing_is_lost_or_half_there(part, tmp_path):
    """Every fault of a sample, and every broken twin is caught."""
    command = [sys.executable, "-m", "tests.faults", "--quick", "--part", part]
    code, said, progress = ended(command, tmp_path)
    assert said, progress
    found = json.loads(said)
    assert found["failures"] == []
    assert code == 0
    assert found["figures"]


def test_what_a_late_audit_started_ends_with_it(tmp_path):
    """Its own children too, which would go on as victims without anybody to watch them."""
    command = ["sh", "-c", f"sleep 1000 & echo $! > {tmp_path}/child; wait"]
    with pytest.raises(subprocess.TimeoutExpired):
        ended(command, tmp_path, limit=2)
    child = int((tmp_path / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    for _ in range(100):  # a process that was killed may take a moment to be gone
        if not state.exists() or state.read_text().split()[2] in "ZX":
            return
        time.sleep(0.1)
    raise AssertionError("what the audit had started goes on")


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_worker_that_is_killed_ends_the_audit(tmp_path):
    """Instead of being waited for until the end of time."""
    with Runner(tmp_path, True, 2) as runner, pytest.raises(BrokenProcessPool):
        runner.map("deaths", die, [(LEDGER.name,)])


def die(*_):
    """End as the operating system ends a process when there is no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)


def ended(command, folder, limit=LIMIT):
    """Return the exit code of a process and what it said; when it is late, end all it started."""
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, progress = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        return process.returncode, said, progress
