"""The audit of faults in its quick form; `python -m tests.faults` is the long one."""

import json
import subprocess
import sys

import pytest

from tests.faults.parts import PARTS

TRACED = [pytest.param(part, marks=pytest.mark.strace) for part in PARTS if part != "load"]


@pytest.mark.parametrize("part", [*TRACED, "load"])
def test_nothing_is_lost_or_half_there(part):
    """Every fault of a sample, and every broken twin is caught."""
    command = [sys.executable, "-m", "tests.faults", "--quick", "--part", part]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout)
    assert found["failures"] == []
    assert ran.returncode == 0
    assert found["figures"]
