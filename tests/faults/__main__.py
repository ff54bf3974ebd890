"""python -m tests.faults [--quick] [--part kills]: prints the figures of the audit of faults.

One JSON object on standard output, progress on standard error; exit code 1 if anything failed.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.parts import PARTS
from tests.faults.runner import Findings, Runner


def main() -> int:
    """Run the parts that are asked for, print what they found, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--quick", action="store_true", help="a sample of everything, on one core")
    parser.add_argument("--part", choices=PARTS, action="append", help="all of them if not given")
    given = parser.parse_args()
    processes = 1 if given.quick else os.cpu_count() or 1
    whole = Findings()
    with (
        tempfile.TemporaryDirectory(prefix="perrecord-faults-") as root,
        Runner(Path(root), given.quick, processes) as runner,
    ):
        for name in given.part or PARTS:
            start = time.monotonic()
            found = PARTS[name](runner)
            whole.figures += found.figures
            whole.tables += found.tables
            whole.failures += found.failures
            print(f"{name}: {time.monotonic() - start:.1f} seconds", file=sys.stderr)
    print(json.dumps({"name": "faults", **vars(whole)}, indent=1))
    return 1 if whole.failures else 0


if __name__ == "__main__":
    sys.exit(main())
