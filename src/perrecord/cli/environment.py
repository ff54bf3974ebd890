# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What perrecord runs on: versions, Java, a place to write, randomness."""

import platform
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import perrecord

_REQUIRED = ("duckdb", "pyarrow", "numpy", "python-flint", "sqlglot", "pydantic", "cryptography")
_OF_AN_EXTRA = re.compile(r"(?P<package>[\w.-]+).*\bextra == ['\"](?P<extra>[^'\"]+)")
_OLDEST_JAVA = 17


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; what is not `fine` keeps perrecord from working."""

    name: str
    fine: bool
    detail: str


def environment() -> Iterator[Finding]:
    """Yield what was found about this machine; no data is opened."""
    yield Finding("perrecord", True, perrecord.__version__)
    yield Finding("Python", sys.version_info >= (3, 11), platform.python_version())
    for name in _REQUIRED:
        found = _version(name)
        yield Finding(name, found is not None, found or "missing: pip install perrecord")
    yield _tried("DuckDB answers", _duckdb)
    yield Finding("SQLite", True, f"{sqlite3.sqlite_version}, for the ledger")
    for name, extra in _optional().items():
        missing = f"not installed; optional: pip install 'perrecord[{extra}]'"
        yield Finding(name, True, _version(name) or missing)
    yield Finding("Java", True, _java())
    yield _tried("temporary folder", _temporary)
    yield _tried("randomness", _randomness)
    yield Finding("clock", True, "irrelevant; the ledger notes the day and nothing depends on it")


def _optional() -> dict[str, str]:
    """Return the packages that extras bring, each with the first extra that does."""
    packages: dict[str, str] = {}
    for requirement in requires("perrecord") or ():
        if match := _OF_AN_EXTRA.match(requirement):
            packages.setdefault(match["package"], match["extra"])
    return packages


def _tried(name: str, action: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, action())
    except Exception as error:
        return Finding(name, False, f"failed: {type(error).__name__}")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _duckdb() -> str:
    from perrecord.tables.engines.database import Database

    database = Database()
    try:
        database.run("SELECT 1")
    finally:
        database.close()
    return "yes"


def _java() -> str:
    path = shutil.which("java")
    if path is None:
        return f"not found; only Spark needs it, {_OLDEST_JAVA} or newer"
    try:
        shown = subprocess.run(  # noqa: S603 -- the java on the path, which Spark would start too
            [path, "-version"], capture_output=True, text=True, check=False, timeout=30
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return f"{path} does not start; only Spark needs it"
    found = re.search(r'version "([0-9._]+)', shown)
    number = found[1] if found else "of an unknown version"
    is_old = found is not None and int(found[1].partition(".")[0]) < _OLDEST_JAVA
    return f"{number}; Spark needs {_OLDEST_JAVA} or newer" if is_old else number


def _temporary() -> str:
    with tempfile.NamedTemporaryFile(prefix="perrecord-") as file:
        file.write(b"perrecord")
        file.flush()
    folder = Path(tempfile.gettempdir())
    return f"{folder}, {shutil.disk_usage(folder).free / 2**30:,.1f} GiB free"


def _randomness() -> str:
    from perrecord.noise.bits import system_bits

    first, second = system_bits().words32(8), system_bits().words32(8)
    if (first == second).all():
        raise RuntimeError
    return "the operating system's works"
