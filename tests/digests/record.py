"""Digests of cases as a file, and how two of them differ."""

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from tests.digests.cases import contents

RECORDED = Path(__file__).with_name("recorded.json")

Digests = dict[str, dict[str, str]]
"""By case and file."""

RAISED = "raised"
_SHORT = 16
_PACKAGES = ("altair", "duckdb", "numpy", "pyarrow", "sqlglot")
"""What decides bytes beside our own code."""


def made_with() -> dict[str, str]:
    """Return the versions that the bytes of files depend on."""
    found = {name: version(name) for name in _PACKAGES}
    return {"python": ".".join(platform.python_version_tuple()[:2]), **found}


def digests_of(case: str) -> dict[str, str]:
    """Return the digest of every file of a case; of one that fails, what was raised."""
    try:
        found = contents(case)
    except Exception as error:  # the others are still worth comparing
        return {RAISED: f"{type(error).__name__}: {error}"}
    return {file: sha256(each).hexdigest()[:_SHORT] for file, each in found.items()}


def computed(cases: list[str], jobs: int) -> Digests:
    """Return the digests of cases, several processes at work."""
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        return dict(zip(cases, pool.map(digests_of, cases), strict=True))


def write(path: Path, found: Digests) -> None:
    """Write digests with a line for each case."""
    lines = ",\n".join(f"{json.dumps(case)}: {json.dumps(found[case])}" for case in sorted(found))
    text = f'{{"made_with": {json.dumps(made_with())},\n"digests": {{\n{lines}\n}}}}\n'
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    os.replace(partial, path)


def read(path: Path) -> tuple[Digests, dict[str, str]]:
    """Return recorded digests, and the versions that they were made with."""
    found = json.loads(path.read_text())
    return found["digests"], found["made_with"]


def differences(recorded: Digests, found: Digests, cases: Iterable[str]) -> list[tuple[str, str]]:
    """Return each case and file that is not as recorded, or missing on one side."""
    return [
        (case, file)
        for case in cases
        for file in _differing(recorded.get(case, {}), found.get(case, {}))
    ]


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[str]:
    return (file for file in dict.fromkeys((*one, *other)) if one.get(file) != other.get(file))
