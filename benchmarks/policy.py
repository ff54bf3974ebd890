"""How long a policy takes: one record, a million rows, a ledger's question, a large document.

    python benchmarks/policy.py [--write]

Times are the best of several; the ratio sets exact evaluation beside the same formula in Python's
floats, which is fast and wrong at the ceilings. With `--write` the table is kept in
`benchmarks/policy.md`.
"""

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import machine

from perrecord import Policy, Split

RESULTS = Path(__file__).resolve().parent / "policy.md"
RECORD = {"employees": 150, "payroll": 10_000_000, "naics": "n4957"}


def best(function: Callable[[], object], repeat: int, tries: int = 5) -> float:
    """Return the least seconds per call over several tries."""
    times = []
    for _ in range(tries):
        began = time.perf_counter()
        for _ in range(repeat):
            function()
        times.append((time.perf_counter() - began) / repeat)
    return min(times)


def in_floats() -> float:
    """Return the same loss in floats."""
    pieces = max(1, math.ceil(RECORD["employees"] / 50), math.ceil(RECORD["payroll"] / 5e6))
    return 0.1 + 0.2 * pieces**2


def main() -> None:
    """Measure, print, and keep the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the table in policy.md")
    given = parser.parse_args()
    scheme = Split(employees=50, payroll=5_000_000)
    policy = Policy.constant("0.1") + Policy.split("0.2", scheme)
    cases = {f"n{i}": Split(employees=i + 1, payroll=1000 * (i + 1)) for i in range(5000)}
    large = Policy.split("0.2", Split.by("naics", cases, default=scheme))
    written = large.to_json()
    rows = 1_000_000
    source = np.random.default_rng(1)
    columns = {
        "employees": source.integers(0, 10_000, rows),
        "payroll": source.integers(0, 10**9, rows),
        "naics": np.array([f"n{i}" for i in range(5000)])[source.integers(0, 5000, rows)],
    }
    exact, floats = best(lambda: policy.loss(RECORD), 2000), best(in_floats, 2000)
    budget = Policy.largest(policy * 2, Policy.split(1, Split(employees=10)))
    found = [("loss of one record", f"{exact * 1e6:.1f} µs ({exact / floats:.0f} × floats)")]
    for name, function, repeat in (
        ("the same, one case among 5,000", lambda: large.loss(RECORD), 2000),
        ("is_below a budget over two schemes", lambda: policy.is_below(budget), 20),
    ):
        found.append((name, f"{best(function, repeat) * 1e6:.1f} µs"))
    for name, function in (
        ("5,000 cases to JSON", large.to_json),
        ("5,000 cases from JSON", lambda: Policy.from_json(written)),
        ("5,000 cases below twice themselves", lambda: large.is_below(large * 2)),
        ("a million rows, plain", lambda: policy.losses(columns)),
        ("a million rows, 5,000 cases", lambda: large.losses(columns)),
    ):
        found.append((name, f"{best(function, 1, tries=3) * 1e3:.1f} ms"))
    lines = [
        "# How long a policy takes",
        "",
        f"{machine()}. The best of several. Made by `python benchmarks/policy.py --write`.",
        "",
        "| | time |",
        "|---|---|",
        *(f"| {name} | {taken} |" for name, taken in found),
    ]
    print("\n".join(lines))
    if given.write:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
