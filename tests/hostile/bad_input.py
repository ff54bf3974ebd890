"""Bad input: thousands of malformed specs and data files, a canary in every confidential cell.

    python -m tests.hostile.bad_input --cases 4200 --seed 1

prints what was found as JSON, and ends with 1 if there was any fault. The same seed and number of
cases give the same cases.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.hostile.plan import planned
from tests.hostile.running import LONGEST, Outcome
from tests.hostile.workers import Pool, worker_command

CASES = 4_200
LEAST_REFUSED = 2 / 3  # of all cases: at least 2,000 of a full run


def audited(cases: int, seed: int, workers: int = 2) -> list[Outcome]:
    """Return the outcome of every case."""
    began, done = time.monotonic(), 0

    def tell(_: Outcome) -> None:
        nonlocal done
        done += 1
        if done % 200 == 0:
            seconds = time.monotonic() - began
            print(f"{done:,} of {cases:,} after {seconds:.0f} s", file=sys.stderr, flush=True)

    pool = Pool(worker_command(seed, cases), workers, on_outcome=tell)
    outcomes = pool.run(range(cases))
    for outcome in outcomes:
        if outcome.kind == "lost":
            outcome.what = planned(cases)[outcome.number][0].__name__
    return outcomes


def report(outcomes: Sequence[Outcome], seconds: float, seed: int) -> dict[str, Any]:
    """Return the figures of a run."""
    refused = [each for each in outcomes if not each.is_valid]
    figures = {
        "malformed specs and data files, refused": len(refused),
        "of them malformed for certain, so that to accept one is a fault": sum(
            each.must_refuse for each in refused
        ),
        "changed inputs that turned out to be valid, and were released": len(outcomes)
        - len(refused),
        "kinds of fault": len({each.kind for each in outcomes}),
        "commands run": sum(each.commands for each in outcomes),
        "of them as processes of their own": sum(each.processes for each in outcomes),
        "messages checked": sum(len(each.messages) for each in outcomes),
        "canaries planted": sum(each.canaries for each in outcomes),
        "bytes searched for them": sum(each.searched for each in outcomes),
        "good releases made after a refusal in the same folder": sum(
            each.went_on for each in outcomes
        ),
        "faults": sum(len(each.faults) for each in outcomes),
    }
    failures = [
        f"case {each.number} ({each.kind}: {each.what[:80]}): {fault[:500]}"
        for each in outcomes
        for fault in each.faults
    ]
    if len(refused) < LEAST_REFUSED * len(outcomes):
        failures.append(f"only {len(refused):,} of {len(outcomes):,} inputs were malformed")
    longest = max((each.longest for each in outcomes), default=0.0)
    written = [[name, f"{number:,}"] for name, number in figures.items()]
    return {
        "name": "bad input",
        "figures": [
            *written,
            ["longest command", f"{longest:.1f} s of at most {LONGEST:.0f} s"],
            ["duration", f"{seconds:.0f} s"],
            ["seed", str(seed)],
        ],
        "tables": [_kinds(outcomes)],
        "failures": failures,
    }


def _kinds(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    every = Counter(each.kind for each in outcomes)
    valid = Counter(each.kind for each in outcomes if each.is_valid)
    return {
        "caption": "Bad input by kind",
        "columns": ["what is bad", "cases", "refused", "found valid"],
        "rows": [
            [kind, f"{number:,}", f"{number - valid[kind]:,}", f"{valid[kind]:,}"]
            for kind, number in sorted(every.items())
        ],
    }


def main() -> int:
    """Run the audit and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    began = time.monotonic()
    outcomes = audited(given.cases, given.seed, given.workers)
    found = report(outcomes, time.monotonic() - began, given.seed)
    print(json.dumps(found, indent=1))
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
