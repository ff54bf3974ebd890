"""A process that runs cases: reads their numbers from stdin, writes an outcome for each to stdout.

Its memory is bounded, so that what is too large fails in here and not on the whole machine.
"""

import faulthandler
import json
import os
import resource
import sys
import tempfile
import warnings
from dataclasses import asdict
from pathlib import Path

from tests.hostile.plan import built
from tests.hostile.running import run_case

MEMORY = 4 * 2**30


def main() -> None:
    """Run cases until there are no more numbers."""
    seed, count = map(int, sys.argv[1:3])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    faulthandler.enable()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="hostile-") as root:
        for line in sys.stdin:
            number = int(line)
            outcome = run_case(built(seed, number, count), number, Path(root))
            print(json.dumps(asdict(outcome)), file=answers, flush=True)


if __name__ == "__main__":
    main()
