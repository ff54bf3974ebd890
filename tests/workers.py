"""Which worker runs what, under `pytest -n`: whole files, so that what they share is made once.

Everything that needs Spark is one unit, because a JVM and a cluster for each worker would be many.
Long units come first, so that no worker is left alone with one at the end.
"""

import os
from typing import Any

from xdist.scheduler import LoadScopeScheduling

SPARK = "everything that needs Spark"
FIRST = (
    SPARK,
    "tests/cli/test_gallery.py",
    "tests/browser/test_records.py",
    "tests/browser/test_figures.py",
    "tests/lab/experiments/test_reproduce.py",
    "tests/faults/test_faults.py",
    "tests/noise/test_students.py",
    "tests/twins/test_twins.py",
    "tests/lab/audit/sample/test_audit.py",
    "tests/cli/test_evaluate.py",
    "tests/evaluate/tuning/test_tune.py",
    "tests/cli/test_quickstart.py",
    "tests/lab/audit/test_doors.py",
    "tests/hostile/test_bad_input.py",
    "tests/laws/test_tapering.py",
)
"""The units that take longest, in that order."""


def workers() -> int:
    """Return one worker more than there are cores: one of them mostly waits, for Spark."""
    return (os.cpu_count() or 1) + 1


class WholeFiles(LoadScopeScheduling):
    """Gives a worker that has nothing left the next file."""

    def _split_scope(self, nodeid: str) -> str:
        is_spark = nodeid.startswith("tests/engines/") and "postgres" not in nodeid
        if is_spark or "spark" in nodeid.lower():
            return SPARK
        return nodeid.partition("::")[0]

    def _assign_work_unit(self, node: Any) -> None:
        longest = next((each for each in FIRST if each in self.workqueue), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
