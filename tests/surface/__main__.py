"""Hostile keys, supply and surface, long and short forms, as figures.

    python -m tests.surface

One JSON object on stdout, progress on stderr; the exit code is 1 if anything failed.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.hostile.test_keys_round_trip import OF_KIND

ROOT = Path(__file__).parent.parent.parent


class Tally:
    """A plugin of pytest that adds up what tests say they looked at, and which did not pass."""

    def __init__(self):
        self.figures: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.failures: list[str] = []

    def pytest_runtest_logreport(self, report):
        """Take a test's outcome, and the properties it recorded; a skipped test shows nothing."""
        if report.failed or report.skipped:
            self.failures.append(f"{report.nodeid} {report.outcome} ({report.when})")
        if report.when == "call" or report.skipped:
            self.outcomes[report.outcome] += 1
        if report.when == "call" and report.passed:
            for name, number in report.user_properties:
                self.figures[name] += number


def tests() -> list[str]:
    """Return the files of tests that belong to this audit."""
    keys = sorted((ROOT / "tests" / "hostile").glob("test_keys_*.py"))
    return [str(path) for path in (*keys, ROOT / "tests" / "surface")]


def run() -> tuple[Tally, int]:
    """Run every test, audits included; what pytest prints goes to stderr."""
    tally = Tally()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        options = ["-q", "-n", "0", "-m", "audit or not audit", "-p", "no:cacheprovider"]
        code = pytest.main([*options, f"--rootdir={ROOT}", *tests()], plugins=[tally])
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)
    return tally, int(code)


def report(tally: Tally) -> dict:
    """Return the figures of a run: what its tests recorded, and nothing else."""
    kinds = {
        name.removeprefix(OF_KIND): number
        for name, number in tally.figures.items()
        if name.startswith(OF_KIND)
    }
    figures = [["hostile keys that came back, each once", f"{sum(kinds.values()):,}"]]
    figures += [
        [name, f"{number:,}"]
        for name, number in sorted(tally.figures.items())
        if not name.startswith(OF_KIND)
    ]
    figures += [
        [f"tests that {_ENDED[name]}", f"{number:,}"]
        for name, number in sorted(tally.outcomes.items())
    ]
    rows = [[kind, f"{number:,}"] for kind, number in kinds.items()]
    return {
        "name": "surface",
        "figures": figures,
        "tables": [{"caption": "Hostile keys by kind", "columns": ["kind", "keys"], "rows": rows}],
        "failures": tally.failures,
    }


_ENDED = {"passed": "passed", "failed": "failed", "skipped": "were skipped"}


def main() -> int:
    """Print the figures; return the exit code."""
    tally, code = run()
    found = report(tally)
    if code and not found["failures"]:
        found["failures"].append(f"pytest ended with exit code {code}")
    print(json.dumps(found, ensure_ascii=False, indent=2))
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
