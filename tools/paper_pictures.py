"""Draw docs/images/paper: the findings of docs/experiments.md, each as one picture.

    python tools/paper_pictures.py

Every number is one that the page states of the full run; a number that it does not state stops
the drawing.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples" / "gallery"))

from helpers.drawing import bars  # noqa: E402

FOLDER = ROOT / "docs" / "images" / "paper"
PAGE = " ".join((ROOT / "docs" / "experiments.md").read_text(encoding="utf-8").split())
Group = dict[str, dict[str, str]]

PICTURES: dict[str, tuple[str, str, Group, bool]] = {
    "top-coding": (
        "One total of 1,000 skewed records, cut off at the best bound",
        "root mean square error, per cent of the total; the smaller alpha, the heavier the tail",
        {
            "alpha = 1.1": {"rho = 0.1": "49.3", "rho = 10": "40"},
            "alpha = 1.2": {"rho = 0.1": "28.9", "rho = 10": "19.7"},
            "alpha = 1.5": {"rho = 0.1": "9.51", "rho = 10": "4.42"},
            "alpha = 2": {"rho = 0.1": "3.34", "rho = 10": "1.06"},
        },
        False,
    ),
    "splitting": (
        "Splitting: the finer the threshold, the smaller the error",
        "median relative error, per cent; simulated data, rho = 1, 1,000 records a cell",
        {
            "cut off at 200": {"median error": "6.8"},
            "split at 1,000": {"median error": "9.55"},
            "split at 50": {"median error": "0.478"},
            "split at 2": {"median error": "0.0191"},
        },
        False,
    ),
    "business": (
        "County Business Patterns: median errors in cells of 100 or more establishments",
        "per cent, on a logarithmic scale; total budget 1, over six levels of industries",
        {
            "top-codes": {"best": "24", "worst": "325"},
            "split Conservative": {"best": "4.6", "worst": "32"},
            "split Moderate": {"best": "0.23", "worst": "1.6"},
            "split Median": {"best": "0.092", "worst": "0.33"},
            "EZS noise (no guarantee)": {"best": "2.4", "worst": "3"},
        },
        True,
    ),
    "giants": (
        "What the largest establishment loses",
        "rho, on a logarithmic scale; total budget 1, the same sizes and amounts",
        {
            "Conservative": {"by splitting": "54,361", "by tapering": "436"},
            "Moderate": {"by splitting": "21,729,795", "by tapering": "866"},
            "Median": {"by splitting": "578,871,433", "by tapering": "1,065"},
        },
        True,
    ),
    "methods": (
        "What a total of the same error costs a record of 5,000 employees",
        "rho, on a logarithmic scale; employment by county and sector",
        {
            "noise on the logarithm": {"loss": "426,280"},
            "noise on the square root": {"loss": "65,512"},
            "splitting": {"loss": "33,333"},
            "tapering": {"loss": "37.2"},
            "least possible": {"loss": "10.9"},
        },
        True,
    ),
    "realised": (
        "How far the policy is above what an establishment really loses",
        "times, at the median",
        {
            "Conservative": {"times": "2.5"},
            "Moderate": {"times": "2.41"},
            "Median": {"times": "2.03"},
        },
        False,
    ),
}


def main() -> None:
    """Draw them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (title, note, found, logarithmic) in PICTURES.items():
        for number in (each for group in found.values() for each in group.values()):
            if number not in PAGE:
                raise SystemExit(f"{name}: docs/experiments.md does not say {number}")
        values = {
            key: {series: float(each.replace(",", "")) for series, each in group.items()}
            for key, group in found.items()
        }
        bars(FOLDER / f"{name}.svg", title, note, values, "{:,.12g}", logarithmic=logarithmic)


if __name__ == "__main__":
    main()
