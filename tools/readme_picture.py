"""Draw docs/images/skew.svg, the README's picture: top-coding beside splitting on skewed data.

    python tools/readme_picture.py

Synthetic establishments; total payroll by two-digit industry at rho = 0.1. For each threshold the
typical relative error, root mean square of bias and noise, of a clamped total and of a split one.
"""

import math
from pathlib import Path
from statistics import median

from perrecord import Keys, Query, Split, table
from perrecord.evaluate.accuracy.errors import accuracy
from perrecord.lab.synth import business
from perrecord.lab.synth.industries import SECTORS
from perrecord.queries.plan import plan

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "skew.svg"
THRESHOLDS = [500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000]
ROWS, RHO = 300_000, "0.1"
LEFT, RIGHT, TOP, BOTTOM = 86, 690, 66, 330
COLOURS = {"clamp": "#b5532a", "split": "#0b6074"}


def errors() -> dict[str, list[float]]:
    """Return the median relative error over industries, for each threshold and method."""
    keys = Keys.from_dict({"naics2": SECTORS})
    roles = {"dimensions": {"naics2": "substr(naics, 1, 2)"}, "measures": ["payann"]}
    found: dict[str, list[float]] = {"clamp": [], "split": []}
    with table(business(ROWS), **roles) as est:
        for threshold in THRESHOLDS:
            query = Query().group_by("naics2", keys=keys)
            query = query.sum("payann", clamp=(0, threshold), rho=RHO, name="clamp")
            query = query.sum("payann", split=Split(payann=threshold), rho=RHO, name="split")
            for each in accuracy(plan(query, est.schema), est):
                sizes = zip(each.bias, each.deviation, each.true, strict=True)
                relative = [math.hypot(bias, noise) / true for bias, noise, true in sizes]
                found[each.truth.answer.name].append(median(relative))
    return found


def across(threshold: float) -> float:
    """Return where a threshold stands."""
    span = math.log(THRESHOLDS[-1] / THRESHOLDS[0])
    return LEFT + (RIGHT - LEFT) * math.log(threshold / THRESHOLDS[0]) / span


def upwards(error: float) -> float:
    """Return where an error stands, between 0.01 % and 100 %."""
    return BOTTOM + (TOP - BOTTOM) * (math.log10(error) + 4) / 4


def drawn(found: dict[str, list[float]]) -> str:
    """Return the picture."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" width="760" height="400" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#223">',
        '<rect width="760" height="400" fill="#fcfbf8"/>',
        '<text x="20" y="26" font-size="16" font-weight="600">Total payroll by industry: the error '
        "of cutting giants off, and of splitting them</text>",
        '<text x="20" y="46" fill="#667">typical relative error at the same rho = 0.1, '
        "300,000 synthetic establishments</text>",
    ]
    for power in range(-4, 1):
        y, shown = upwards(10.0**power), f"{100 * 10.0**power:g} %"
        parts.append(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{shown}</text>')
    for threshold in (1000, 10_000, 100_000):
        parts.append(
            f'<text x="{across(threshold):.1f}" y="{BOTTOM + 20}" text-anchor="middle">'
            f"{threshold:,}</text>"
        )
    middle = (LEFT + RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{BOTTOM + 44}" text-anchor="middle" fill="#667">threshold, in '
        "thousand dollars: where values are cut off, or what one piece may hold</text>"
    )
    labels = {"clamp": ("top-coding", 26), "split": ("splitting", 26)}
    for name, colour in COLOURS.items():
        points = [
            (across(threshold), upwards(error))
            for threshold, error in zip(THRESHOLDS, found[name], strict=True)
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        label, shift = labels[name]
        x, y = points[2]
        parts.append(
            f'<text x="{x + 10:.1f}" y="{y + shift:.1f}" fill="{colour}" font-weight="600">'
            f"{label}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(drawn(errors()))
