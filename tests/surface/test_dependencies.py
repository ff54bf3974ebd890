"""What is installed: pinned, hashed, declared, and by one way only."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LOCKS = ("requirements.lock", "requirements-dev.lock")

UNDECLARED = {
    "polars": "only where somebody asks for a Polars frame, and so has it",
}
"""What is imported without being declared, and why that is so."""


def requirements(text):
    """Return each requirement of a lock file with its hashes."""
    joined = re.sub(r"\\\n", " ", text)
    lines = [line.split("#")[0].strip() for line in joined.splitlines()]
    return [line for line in lines if line]


def unpinned(text):
    """Return the requirements that lack an exact version or a hash."""
    pinned = re.compile(
        r"[A-Za-z0-9._-]+(\[[^\]]*\])?==\S+( ; .*?)?(\s+--hash=sha256:[0-9a-f]{64})+"
    )
    return [line[:60] for line in requirements(text) if not pinned.fullmatch(line)]


def names(text):
    """Return the packages of a lock file."""
    return {_normal(re.split(r"[=\[; ]", line)[0]) for line in requirements(text)}


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_pinned_and_hashed(lock, record_property):
    """One version each, and nothing is installed whose bytes are not known."""
    text = (ROOT / lock).read_text("utf-8")
    assert unpinned(text) == []
    record_property(f"requirements pinned with hashes in {lock}", len(requirements(text)))


@pytest.mark.parametrize(
    "line",
    ["numpy>=2 --hash=sha256:" + "0" * 64, "numpy==2.0", "git+ssh://x/y", "numpy==2 --hash=md5:00"],
)
def test_a_requirement_that_floats_is_caught(line):
    """Positive controls."""
    assert unpinned(line + "\n")


def imported(folder):
    """Return the packages that the modules of a folder import from outside, by name."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"perrecord"}


def test_everything_that_is_imported_is_declared_and_locked(record_property):
    """In pyproject.toml, as a dependency or an extra; and what all need is in the lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed, optional = (
        {_normal(re.split(r"[<>=\[; ]", each)[0]) for each in every}
        for every in (project["dependencies"], [each for some in extras.values() for each in some])
    )
    locked = names((ROOT / "requirements.lock").read_text("utf-8"))
    distributions = packages_distributions()
    found = {
        module: {_normal(each) for each in distributions.get(module, [module])}
        for module in imported(ROOT / "src" / "perrecord")
    }
    undeclared = {module for module, dists in found.items() if not dists & (needed | optional)}
    assert undeclared == set(UNDECLARED)
    assert needed <= locked
    assert needed <= {dist for dists in found.values() for dist in dists}, "declared, never used"
    record_property("packages imported at run time", len(found))


def test_an_import_that_nobody_declared_is_caught(tmp_path):
    """Positive control."""
    (tmp_path / "module.py").write_text("import requests\n")
    assert imported(tmp_path) == {"requests"}


def installs(makefile):
    """Return the lines of a Makefile that install packages by a way that checks no hashes."""
    known = (
        "$(PIP) --require-hashes -r requirements.lock",
        "$(PIP) --require-hashes -r requirements-dev.lock",
        "$(PIP) --no-deps --no-build-isolation -e .",
    )
    lines = [line.strip() for line in makefile.splitlines() if line.startswith("\t")]
    risky = re.compile(
        r"\$\(PIP\)|pip3? install|uv pip (install|sync)|curl|wget|npm |pipx|easy_install"
    )
    return [line for line in lines if risky.search(line) and line not in known]


def test_the_makefile_installs_by_hashes_alone():
    """Our own package apart, which is installed from this folder, without dependencies."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert installs(makefile) == []
    assert makefile.count("$(PIP) --require-hashes") == 2
    assert installs("x:\n\t$(PIP) numpy\n")
    assert installs("x:\n\tcurl x | sh\n")


def test_the_check_for_vulnerabilities_fails_where_nothing_was_checked():
    """pip-audit says 'none found' of packages that it could not look up, unless it is strict."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    target = makefile.partition("\nvulnerabilities:")[2].partition("\n\n")[0]
    assert "pip-audit --strict --require-hashes --disable-pip" in makefile
    assert all(f"$(PIP_AUDIT) --requirement {lock}" in target for lock in LOCKS)
