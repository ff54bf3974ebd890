"""How long it takes to start: the import, the help, a small release."""

import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

from full_size.measuring import measured
from full_size.workload import command, create_ledger, python

TURNS = 5
MOST_SECONDS = {"import perrecord": 0.3, "perrecord --help": 0.5, "a small release": 3.0}
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "business" / "release.yaml"


def measure(small: Path, scratch: Path) -> dict[str, float]:
    """Return the median seconds of each, taking turns; the release is the example's."""
    taken: dict[str, list[float]] = {}
    for turn in range(TURNS):
        for name, run in _starts(small, scratch / f"start{turn}").items():
            taken.setdefault(name, []).append(run())
    return {name: statistics.median(each) for name, each in taken.items()}


def _starts(small: Path, out: Path) -> dict[str, Callable[[], float]]:
    def saying(text: str) -> Callable[[], float]:
        return lambda: measured([python(), "-c", text]).wall

    return {
        "python -c pass": saying("pass"),
        "import numpy, pyarrow, duckdb": saying("import numpy, pyarrow, duckdb"),
        "import perrecord": saying("import perrecord"),
        "perrecord --help": lambda: measured([command(), "--help"]).wall,
        "a small release": lambda: _small_release(small, out),
    }


def _small_release(small: Path, out: Path) -> float:
    out.mkdir()
    for name in ("est.parquet", "counties.csv", "industries2.csv"):
        (out / name).symlink_to(small / name)
    spec = shutil.copy(EXAMPLE, out / "release.yaml")
    create_ledger(Path(spec))
    cost = measured([command(), "release", spec, "--out", out / "published", "--quiet"])
    shutil.rmtree(out)
    return cost.wall
