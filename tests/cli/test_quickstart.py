"""The quickstart's commands and the example, run as they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from perrecord.release.spec import load_spec, warnings_of

ROOT = Path(__file__).parent.parent.parent
BESIDE = Path(sys.executable).parent
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def on_path():
    """Return the environment with `perrecord` on the path."""
    return os.environ | {"PATH": f"{BESIDE}{os.pathsep}{os.environ['PATH']}"}


def test_the_quickstart_runs_from_nothing(tmp_path):
    """Five commands to a release; then its policy, and the doctor."""
    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks[0].splitlines()) == 5
    shown = subprocess.run(
        ["sh", "-euc", "\n".join(blocks)],
        cwd=tmp_path,
        env=on_path(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert (tmp_path / "published" / "policy.html").exists()
    assert "A record with emp = 150" in shown.stdout
    assert "CONFIDENTIAL" in shown.stdout


def test_the_business_example_runs(tmp_path):
    """Synthetic data, keys, ledger, check, release; a second run has nothing left to do."""
    script = ROOT / "examples" / "business" / "run.sh"
    command = ["sh", str(script), str(tmp_path / "demo"), "3000"]
    shown = subprocess.run(command, env=on_path(), capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    tables = {path.stem for path in (tmp_path / "demo" / "published" / "tables").iterdir()}
    assert tables == {
        "county_industry",
        "county_employment",
        "industry_medians",
        "one_state_by_industry",
    }
    again = subprocess.run(command, env=on_path(), capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "\nnothing: " in again.stdout


@pytest.mark.parametrize("folder", [ROOT / "examples" / "business"])
def test_the_example_gives_no_reason_for_hints(folder):
    """What people copy should be beyond reproach."""
    assert warnings_of(load_spec(folder / "release.yaml")) == ()
