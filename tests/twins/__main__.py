"""Every broken twin, tried: `python -m tests.twins [--only NAME] [--jobs 2]`.

A table goes to stderr, the figures as JSON to stdout. The exit code is 1 if a twin survived.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from tests.twins.every import EVERY
from tests.twins.twin import Twin
from tests.twins.workshop import Trial, Workshop


def main() -> int:
    """Try the twins that were asked for; return the exit code."""
    options = argparse.ArgumentParser(description="Break the code, and see which test notices.")
    options.add_argument("--only", help="twins whose name or file holds this text")
    options.add_argument("--jobs", type=int, default=2, help="how many to try at once")
    given = options.parse_args()
    twins = [twin for twin in EVERY if not given.only or given.only in f"{twin.file} {twin.name}"]
    if not twins:
        options.error(f"no twin is named like {given.only!r}")
    found = tried(twins, given.jobs)
    sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    return 1 if found["failures"] else 0


def tried(twins: Sequence[Twin], jobs: int) -> dict[str, Any]:
    """Return the figures of a run over these twins."""
    start = monotonic()
    tests = sorted({test for twin in twins for test in twin.tests})
    with TemporaryDirectory(prefix="perrecord-twins-") as folder:
        workshops: Queue[Workshop] = Queue()
        for job in range(jobs):
            place = Path(folder).resolve() / str(job)
            place.mkdir()
            workshops.put(Workshop(place))
        with ThreadPoolExecutor(jobs) as pool:
            shares = [tests[job::jobs] for job in range(jobs)]
            failing = sorted(t for found in pool.map(_Turn(workshops).whole, shares) for t in found)
            _say(f"the unbroken copy: {len(tests) - len(failing)} of {len(tests)} tests pass")
            waiting = [pool.submit(_Turn(workshops).broken, twin) for twin in twins]
            trials = []
            for each in as_completed(waiting):
                trials.append(each.result())
                _say(_line(trials[-1]))
    return _figures(twins, trials, tests, failing, monotonic() - start)


class _Turn:
    """A turn at one of the workshops, whichever is free."""

    def __init__(self, workshops: "Queue[Workshop]") -> None:
        self._workshops = workshops

    def whole(self, tests: Sequence[str]) -> list[str]:
        """Return those of the tests that do not pass on the unbroken copy."""
        if not tests:
            return []
        workshop = self._workshops.get()
        try:
            ending = workshop.run(tests, limit=600)
        finally:
            self._workshops.put(workshop)
        failing = [test for test in tests if not ending.has_passed(test)]
        if failing:
            _say(ending.said)
        return failing

    def broken(self, twin: Twin) -> Trial:
        """Return what came of a twin."""
        workshop = self._workshops.get()
        try:
            return workshop.attempt(twin)
        finally:
            self._workshops.put(workshop)


def _figures(
    twins: Sequence[Twin],
    trials: Sequence[Trial],
    tests: Sequence[str],
    failing: Sequence[str],
    seconds: float,
) -> dict[str, Any]:
    order = {twin: place for place, twin in enumerate(twins)}
    every = sorted(trials, key=lambda trial: order[trial.twin])
    caught = [trial for trial in every if trial.verdict == "caught"]
    failures = [f"the test {test} fails on the unbroken copy" for test in failing]
    failures += [
        f"the twin {trial.twin.name!r} ({trial.twin.file}): {trial.verdict}"
        for trial in every
        if trial.verdict != "caught"
    ]
    return {
        "name": "twins",
        "figures": [
            ["broken twins", f"{len(every):,}"],
            ["broken twins caught by the tests named for them", f"{len(caught):,}"],
            ["files broken", f"{len({twin.file for twin in twins}):,}"],
            ["tests that catch them", f"{len(tests):,}"],
            ["tests that pass on the unbroken copy", f"{len(tests) - len(failing):,}"],
            ["seconds", f"{seconds:,.0f}"],
        ],
        "tables": [
            {
                "caption": "Every broken twin, and the test that catches it",
                "columns": ["fault", "file", "result", "caught by"],
                "rows": [
                    [
                        trial.twin.name,
                        trial.twin.file,
                        trial.verdict,
                        ", ".join(
                            dict.fromkeys(name.partition("[")[0] for name in trial.caught_by)
                        ),
                    ]
                    for trial in every
                ],
            }
        ],
        "failures": failures,
    }


def _line(trial: Trial) -> str:
    tests = f"{len(trial.caught_by)} failing" if trial.verdict == "caught" else trial.said
    return (
        f"{trial.verdict:>9}  {trial.seconds:5.1f} s  {trial.twin.file}: {trial.twin.name}: {tests}"
    )


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
