"""The numbers of the quick run as they should be, and how far a fresh run may be from them.

If a change moves them on purpose, write them again and look at the difference:

    .venv/bin/python -m tests.lab.experiments.references
"""

import csv
import math
import tempfile
from pathlib import Path

from tests.cli.conftest import run

REFERENCE = Path(__file__).parent / "reference"
DRAWN = {"drawn"}
"""Columns of real noise, which is new in every run."""

CLOSE = 1e-6
"""What closed forms may differ by, as a share; the files hold nine digits."""

TINY = 1e-12
"""What numbers next to 0 may differ by."""

BY_SOLVER = {
    ("cbp-suppression", "complementary"): 0.2,
    ("cbp-suppression", "hidden"): 0.02,
    ("cbp-suppression", "hidden_value"): 0.1,
}
"""Which cells protect others hangs on which of several best solutions a linear programme ends at,
and so on the version of HiGHS: what such numbers may differ by, as a share of themselves."""

VERDICTS = REFERENCE / "verdicts.txt"
"""A line for each claim as the terminal shows it: the verdict and what the paper says."""


def made(folder: Path) -> tuple[Path, str]:
    """Run the quick form of everything; return where its figures are, and its verdicts."""
    found = run("reproduce", "all", "--quick", "--out", folder)
    assert found.code == 0, found.err
    return folder / "index-figures", verdicts_in(found.out)


def verdicts_in(printed: str) -> str:
    """Return what the terminal shows without its last line, the path of the page."""
    return "".join(printed.splitlines(keepends=True)[:-1])


def rewrite() -> None:
    """Write the reference anew."""
    with tempfile.TemporaryDirectory() as folder:
        figures, verdicts = made(Path(folder) / "paper")
        VERDICTS.write_text(verdicts, encoding="utf-8")
        for path in REFERENCE.glob("*.csv"):
            path.unlink()
        for path in sorted(figures.glob("*.csv")):
            with (REFERENCE / path.name).open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                rows = read(path)
                writer.writerow(rows[0])
                writer.writerows([_short(each) for each in row.values()] for row in rows)


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file without the columns of drawn noise."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {name: value for name, value in row.items() if name not in DRAWN}
            for row in csv.DictReader(file)
        ]


def differences(found: Path, reference: Path) -> list[str]:
    """Return where a fresh file is further from its reference than it may be."""
    ours, theirs = read(found), read(reference)
    if len(ours) != len(theirs) or ours[0].keys() != theirs[0].keys():
        return [f"{found.name}: {len(ours)} rows of {[*ours[0]]}, not {len(theirs)}"]
    return [
        f"{found.name}:{number}: {name} is {one[name]}, not {other[name]}"
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True), start=2)
        for name in one
        if not _is_close(one[name], other[name], tolerance(found.stem, name))
    ]


def tolerance(stem: str, column: str) -> float:
    """Return by what share of itself a number of a file may differ."""
    return BY_SOLVER.get((stem, column), CLOSE)


def _is_close(one: str, other: str, share: float) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=share, abs_tol=TINY)
    except ValueError:
        return one == other


def _short(value: str) -> str:
    """Return a number with nine digits; anything else, whole numbers too, as it is."""
    try:
        number = float(value)
    except ValueError:
        return value
    return value if number.is_integer() and "e" not in value else f"{number:.9g}"


if __name__ == "__main__":
    rewrite()
