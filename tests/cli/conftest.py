"""A small confidential table with a secret in it, its spec, and ways to run the command."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from perrecord.cli import app
from perrecord.report.figure import Pictures

SECRET = "Kleptomaniac-Holdings"
SECRET_NUMBER = 918_273_645
SOURCE = pa.table(
    {
        "id": [1, 2, 3, 4],
        "county": ["37001", "37001", "48001", SECRET],
        "emp": [120, 20, 7, SECRET_NUMBER],
    }
)
SPEC = """\
title: Establishments by county
source: est.parquet
table: est
id: id
dimensions: {county: county, state: "substr(county, 1, 2)"}
measures: {emp: 1}
splits:
  moderate: {emp: 50}
keys:
  counties: {values: {county: ["37001", "48001", "48003"]}}
budget: {rho: 1, splits: [moderate]}
ledger: est.ledger
queries:
  - name: counties
    title: By county
    group_by: [county]
    keys: counties
    answers:
      establishments: {count: records, rho: 0.1}
      employees: {sum: emp, split: moderate, rho: 0.2}
examples:
  - {name: a corner shop, emp: 3, county: "37001"}
  - {name: a plant, emp: 150, county: "37001"}
"""


class Ran:
    """What a command printed, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def json(self):
        """Return stdout, read as JSON."""
        return json.loads(self.out)


def run(*arguments: object, **environment: str) -> Ran:
    """Run a command inside this process."""
    found = CliRunner().invoke(
        app, [str(each) for each in arguments], prog_name="perrecord", env=environment
    )
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return Ran(found.exit_code, found.stdout, found.stderr)


def run_block(text: str) -> str:
    """Run the commands of a block of a guide inside this process; return what they printed."""
    printed = ""
    for line in text.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "perrecord", line
        found = run(*arguments)
        assert found.code == 0, found.err
        printed += found.out
    return printed


def started(*arguments: object, cwd: Path, code: str = "", **options) -> subprocess.Popen:
    """Start the command as a process of its own; `code` is run before it.

    A shell that starts the tests in the background has them ignore SIGQUIT; a terminal does not.
    """
    plain = "import signal; signal.signal(signal.SIGQUIT, signal.SIG_DFL)"
    program = f"{plain}\n{code}\nfrom perrecord.cli import main\nmain()"
    environment = os.environ | options.pop("env", {})
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=cwd,
        env=environment,
        **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options),
    )


def outside(*arguments: object, cwd: Path, code: str = "", **environment: str) -> Ran:
    """Run the command as a process of its own."""
    process = started(*arguments, cwd=cwd, code=code, env=environment)
    out, err = process.communicate(timeout=60)
    return Ran(process.returncode, out, err)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table and its spec, which is the current one."""
    pq.write_table(SOURCE, tmp_path / "est.parquet")
    (tmp_path / "release.yaml").write_text(SPEC, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the charts of reports undrawn, for tests that look at everything else."""
    blank = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>'
    drawn = Pictures(wide=blank, narrow=blank)
    monkeypatch.setattr("perrecord.report.write.pictures", lambda *_, **__: drawn)


@pytest.fixture
def charged(folder):
    """The same, with its ledger."""
    assert run("ledger", "create", "release.yaml").code == 0
    return folder


@pytest.fixture
def published(charged):
    """The same, with its release in the folder `published`."""
    assert run("release", "release.yaml", "--out", "published").code == 0
    return charged


def changed(folder: Path, old: str, new: str) -> None:
    """Change a piece of the spec."""
    path = folder / "release.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
