"""The library as somebody gets it: a wheel and its hard dependencies in an empty environment."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from perrecord.accounting import entries
from perrecord.policy import document as policy_document
from perrecord.release import document as published_document
from perrecord.release.spec import spec_schema
from perrecord.version import VERSION

ROOT = Path(__file__).parent.parent.parent
UV = Path(sys.executable).with_name("uv")
MOST = 420 * 2**20
"""Bytes that everybody installs."""


def ran(*command, **environment):
    """Run a command that must succeed; return what it printed."""
    known = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    done = subprocess.run(
        [str(each) for each in command], check=False, capture_output=True, text=True, env=known
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, made from the source distribution as whoever downloads that would."""
    folder = tmp_path_factory.mktemp("dist")
    ran(UV, "build", "--out-dir", folder, ROOT)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel and what it demands, as locked, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    ran(UV, "venv", "--python", sys.executable, folder / "env")
    for what in (("--require-hashes", "-r", ROOT / "requirements.lock"), ("--no-deps", wheel)):
        ran(UV, "pip", "install", *what, VIRTUAL_ENV=folder / "env")
    return folder / "env"


def size(folder):
    """Return the bytes of all files below."""
    return sum(each.stat().st_size for each in folder.rglob("*") if not each.is_symlink())


def test_the_readme_runs_with_the_hard_dependencies_alone(installed, tmp_path, record_property):
    """Its example and the commands of a release; and what everybody installs is bounded."""
    (block,) = re.findall(r"```python\n(>>> .*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "readme.txt").write_text(block)
    ran(installed / "bin" / "python", "-m", "doctest", tmp_path / "readme.txt")
    demo = ROOT / "examples" / "business" / "run.sh"
    command = installed / "bin" / "perrecord"
    ran("sh", demo, tmp_path / "demo", "500", PERRECORD=command)
    assert (tmp_path / "demo" / "published" / "policy.html").is_file()
    record_property("megabytes installed", size(installed) // 2**20)
    assert size(installed) < MOST


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("evaluate", "x.yaml", "--out", "out"), "reports"),
        (("tune", "x.yaml", "--goal", "5% for 95% of cells", "--out", "out"), "reports"),
        (("studio", "x.yaml"), "studio"),
        (("reproduce", "keys", "--out", "out"), "lab"),
        (("audit", "sample", "--runs", "1000"), "lab"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else each,
)
def test_a_command_without_its_extra_says_what_to_type(installed, arguments, extra):
    """Before it reads or writes anything."""
    done = subprocess.run(
        [installed / "bin" / "perrecord", *arguments], check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert f"pip install 'perrecord[{extra}]'" in " ".join(done.stderr.split())


def test_what_an_index_shows_of_the_package_is_valid(wheel):
    """Of the wheel and of the source distribution: metadata, and the README as it is drawn."""
    files = sorted(wheel.parent.glob("perrecord-*"))
    assert {each.suffix for each in files} == {".whl", ".gz"}
    ran(sys.executable, "-m", "twine", "check", "--strict", *files)


def test_it_runs_without_being_installed(wheel, tmp_path):
    """As `uvx perrecord` and `pipx run perrecord` do: in an environment made for one command."""
    shown = ran(
        UV, "tool", "run", "--python", sys.executable, "--with-requirements",
        ROOT / "requirements.lock", "--from", wheel, "perrecord", "--version",
        UV_TOOL_DIR=tmp_path,
    )  # fmt: skip
    assert VERSION in shown


def test_documents_name_the_versions_of_the_code():
    """The citation names that of the package, the page of versions those of every format."""
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    page = (ROOT / "docs" / "versions.md").read_text()
    for name, version in (
        (policy_document.FORMAT, policy_document.VERSIONS[-1]),
        (published_document.FORMAT, published_document.VERSION),
        (entries.FORMAT, entries.VERSION),
    ):
        assert f'"format": "{name}", "version": {version}' in page
    assert f"`{spec_schema()['$id']}`" in page
    assert f"`version: {spec_schema()['properties']['version']['const']}`" in page
