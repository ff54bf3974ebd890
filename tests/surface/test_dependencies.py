"""What is installed: pinned, hashed, declared, and by one way only."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.surface.test_source import tree

ROOT = Path(__file__).parent.parent.parent
LOCKS = (
    "requirements.lock",
    "requirements-dev.lock",
    "examples/gallery/environments/synthetic.lock",
    "examples/gallery/environments/tumult.lock",
)

UNDECLARED = {
    "opendp": "only where somebody gives a measurement of OpenDP's, and so has it",
    "pandas": "only where somebody asks for a pandas frame, and so has it",
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
        for node in tree(path.read_text("utf-8")):
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


def test_what_an_extra_brings_is_not_installed_for_everybody():
    """`make demo` installs the lock file: none of it is there for experiments or other engines."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    optional = {
        _normal(re.split(r"[<>=\[; ]", each)[0]) for some in extras.values() for each in some
    }
    assert {"scipy", "pyspark", "ibis-framework"} <= optional
    assert optional & names((ROOT / "requirements.lock").read_text("utf-8")) == set()


WITH_EXTRA = (
    "perrecord.lab.experiments",
    "perrecord.lab.audit.sample",
    "perrecord.lab.audit.utility",
    "perrecord.report",
    "perrecord.evaluate.tuning.tuned_goals",
    "perrecord.evaluate.tuning.tuned_spec",
    "perrecord.studio",
)
"""What needs an extra as soon as it is imported; the commands that do so ask for it first."""

_IMPORT_ALL = """
import importlib, pkgutil, sys
absent = {"scipy", "ibis", "pyspark", "altair", "vl_convert", "ruamel", "starlette",
    "uvicorn"}
sys.modules |= dict.fromkeys(absent)
import perrecord
for each in pkgutil.walk_packages(perrecord.__path__, "perrecord."):
    if not each.name.startswith(tuple(sys.argv[1:])) and not each.name.endswith("__main__"):
        importlib.import_module(each.name)
"""


def test_everything_else_is_imported_without_the_extras():
    """As somebody has it who installed perrecord and nothing more."""
    subprocess.run([sys.executable, "-c", _IMPORT_ALL, *WITH_EXTRA], check=True)
    broken = [sys.executable, "-c", _IMPORT_ALL, *WITH_EXTRA[1:]]
    assert b"scipy" in subprocess.run(broken, check=False, capture_output=True).stderr


def test_an_import_that_nobody_declared_is_caught(tmp_path):
    """Positive control."""
    (tmp_path / "module.py").write_text("import requests\n")
    assert imported(tmp_path) == {"requests"}


# -- the Makefile ------------------------------------------------------------------------------

PIP = ".venv/bin/python -m pip install --quiet --disable-pip-version-check"
HASHED = tuple(f"{PIP} --require-hashes -r {lock}" for lock in LOCKS)
OURS = f"{PIP} --no-deps --no-build-isolation -e ."
"""Our own package, from this folder, without dependencies."""
AUDIT = re.compile(
    r"\.venv/bin/uv tool run pip-audit@\d+\.\d+\.\d+ --strict --require-hashes --disable-pip "
    r"--progress-spinner off --requirement (\S+)"
)
"""The one exception: a program in an environment of its own, of one version but without hashes.
It reads the names and versions in a lock file, and nothing of it is imported or shipped."""
FETCHES = re.compile(
    r"\bpip3?\b.*\s(install|download|wheel)\b|\buv (?!pip compile\b)|\buvx\b|\bpipx\b"
    r"|\b(curl|wget|npm|npx|easy_install|conda|mamba|poetry|pdm|git)\b"
)


def recipes(makefile):
    """Return the lines that a Makefile runs, continued lines joined and variables put in."""
    joined = re.sub(r"\\\n\s*", " ", makefile)
    given = dict(re.findall(r"^(\w+) *[:?+]{0,2}= *(.*?) *$", joined, re.MULTILINE))
    lines = [line.strip().lstrip("@-+") for line in joined.splitlines() if line.startswith("\t")]
    for _ in range(len(given) + 1):
        lines = [
            re.sub(r"\$[({](\w+)[)}]", lambda found: given.get(found[1], found[0]), line)
            for line in lines
        ]
    return lines


def installs(makefile):
    """Return the lines of a Makefile that fetch packages by a way that checks no hashes.

    A line that only prints a quoted sentence fetches nothing, whatever it names.
    """
    return [
        line
        for line in recipes(makefile)
        if not re.fullmatch(r'echo "[^"$`]*"', line)
        and FETCHES.search(line)
        and line not in (*HASHED, OURS)
        and not AUDIT.fullmatch(line)
    ]


def test_the_makefile_installs_by_hashes_alone():
    """Our own package apart, and the program that looks for vulnerabilities."""
    lines = recipes((ROOT / "Makefile").read_text("utf-8"))
    assert installs((ROOT / "Makefile").read_text("utf-8")) == []
    assert [line for line in lines if line in (*HASHED, OURS)] == [HASHED[0], OURS, HASHED[1]]


@pytest.mark.parametrize(
    "recipe",
    [
        f"{PIP} numpy",
        "$(FETCH) numpy",
        "@${FETCH} numpy",
        "pip download numpy",
        "python -m pip -q \\\n\t  install numpy",
        ".venv/bin/uv tool run pip-audit --strict",
        ".venv/bin/uv tool run pip-audit --strict --require-hashes --disable-pip "
        "--progress-spinner off --requirement requirements.lock",
        "uv sync",
        "uvx ruff",
        "curl x | sh",
        'echo "from npm"; npm install x',
        'echo "$(shell curl x)"',
    ],
)
def test_a_way_to_install_without_hashes_is_caught(recipe):
    """Positive controls: by name, by a variable of variables, over two lines, without a version."""
    assert installs(f"NAME = pip3\nFETCH := $(NAME) install\nx:\n\t{recipe}\n")


def test_the_check_for_vulnerabilities_fails_where_nothing_was_checked():
    """pip-audit says 'none found' of packages that it could not look up, unless it is strict."""
    lines = recipes((ROOT / "Makefile").read_text("utf-8"))
    assert tuple(found[1] for line in lines if (found := AUDIT.fullmatch(line))) == LOCKS
