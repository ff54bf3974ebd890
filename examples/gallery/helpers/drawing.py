"""A picture of bars as SVG, so that a program of the gallery shows what it found."""

import math
from html import escape
from pathlib import Path

COLOURS = ("#9aa5ad", "#0b6074", "#b5532a")
"""Of the first, second and third series."""
LEFT, RIGHT, THICK, GAP = 190, 660, 13, 14


def bars(
    path: Path,
    title: str,
    note: str,
    found: dict[str, dict[str, float]],
    shown: str = "{:,.0f}",
    *,
    logarithmic: bool = False,
) -> None:
    """Write a picture: a group of bars for each name, a bar for each series in it.

    Logarithmic bars begin at half of the least value.
    """
    values = [value for group in found.values() for value in group.values()]
    least, greatest = min(values), max(values)
    series = list(next(iter(found.values())))
    parts = []
    y = 88
    for name, group in found.items():
        middle = y + THICK * len(group) / 2 + 5
        place = f'x="{LEFT - 10}" y="{middle:.0f}"'
        parts.append(f'<text {place} text-anchor="end">{escape(name)}</text>')
        for colour, value in zip(COLOURS, group.values(), strict=False):
            share = (
                math.log(2 * value / least) / math.log(2 * greatest / least)
                if logarithmic
                else max(0.0, value / greatest)
            )
            width = (RIGHT - LEFT) * share
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{THICK - 2}" '
                f'fill="{colour}"/>'
                f'<text x="{LEFT + width + 6:.1f}" y="{y + THICK - 3}" font-size="11">'
                f"{shown.format(value)}</text>"
            )
            y += THICK
        y += GAP
    legend, x = [], 20
    for colour, name in zip(COLOURS, series, strict=False):
        legend.append(
            f'<rect x="{x}" y="60" width="11" height="11" fill="{colour}"/>'
            f'<text x="{x + 16}" y="70">{escape(name)}</text>'
        )
        x += 34 + 7 * len(name)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {y}" width="760" height="{y}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#223">'
        f'<rect width="760" height="{y}" fill="#fcfbf8"/>'
        f'<text x="20" y="26" font-size="16" font-weight="600">{escape(title)}</text>'
        f'<text x="20" y="46" fill="#667">{escape(note)}</text>'
    )
    path.write_text("\n".join([head, *legend, *parts, "</svg>"]) + "\n", encoding="utf-8")
