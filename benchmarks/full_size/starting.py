"""How long it takes to start: the import, the help, a small release."""

import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

from full_size.measuring import Cost, measured
from full_size.workload import command, create_ledger, python

TURNS = 5
LIBRARIES = "import numpy, pyarrow, duckdb"
MOST_LOADS = {"import perrecord": 1.5, "perrecord --help": 2.5, "a small release": 15}
"""How many times as long as loading the libraries each may take: 0.3, 0.5 and 3 s where that took
0.2 s, which were the goals before."""
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "business" / "release.yaml"


def measure(small: Path, scratch: Path) -> dict[str, float]:
    """Return the median seconds of each, taking turns; the release is the example's."""
    taken: dict[str, list[float]] = {}
    for turn in range(TURNS):
        for name, run in starts(small, scratch / f"start{turn}", EXAMPLE).items():
            taken.setdefault(name, []).append(run().wall)
    return {name: statistics.median(each) for name, each in taken.items()}


def starts(small: Path, out: Path, example: Path) -> dict[str, Callable[[], Cost]]:
    """Return what is run, by name; the release is of the example's spec on a small table."""

    def saying(text: str) -> Callable[[], Cost]:
        return lambda: measured([python(), "-c", text])

    return {
        "python -c pass": saying("pass"),
        LIBRARIES: saying(LIBRARIES),
        "import perrecord": saying("import perrecord"),
        "perrecord --help": lambda: measured([command(), "--help"]),
        "a small release": lambda: _small_release(small, out, example),
    }


def _small_release(small: Path, out: Path, example: Path) -> Cost:
    out.mkdir()
    for name in ("est.parquet", "counties.csv", "industries2.csv"):
        (out / name).symlink_to(small / name)
    spec = shutil.copy(example, out / "release.yaml")
    create_ledger(Path(spec))
    cost = measured([command(), "release", spec, "--out", out / "published", "--quiet"])
    shutil.rmtree(out)
    return cost
