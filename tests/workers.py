"""Which worker runs what, under `pytest -n`: whole files, so that what they share is made once.

Everything that needs Spark is one unit, because a JVM and a cluster for each worker would be many.
Long units come first, so that no worker is left alone with one at the end.
"""

from typing import Any

from xdist.scheduler import LoadScopeScheduling

SPARK = "everything that needs Spark"
FIRST = (
    SPARK,
    "tests/lab/experiments/test_reproduce.py",
    "tests/faults/test_faults.py",
    "tests/lab/experiments/cbp/test_experiment.py",
    "tests/cli/test_quickstart.py",
)
"""The units that take longest, in that order."""


class WholeFiles(LoadScopeScheduling):
    """Gives a worker that has nothing left the next file."""

    def _split_scope(self, nodeid: str) -> str:
        is_on_spark = nodeid.startswith("tests/engines/") or "spark" in nodeid.lower()
        return SPARK if is_on_spark else nodeid.partition("::")[0]

    def _assign_work_unit(self, node: Any) -> None:
        longest = next((each for each in FIRST if each in self.workqueue), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
