"""Vega-Lite drawn as SVG and PNG without a browser; confidential pictures say so themselves."""

import math
import re
from html import escape
from textwrap import wrap

import vl_convert

from perrecord.errors import InternalError
from perrecord.evaluate.confidential import HEADER
from perrecord.report.text import plain
from perrecord.report.theme import BAD, FONT, LABEL_SIZE, LINE_HEIGHT, ChartSpec, themed

VEGA_LITE = "6.4"
"""The version of Vega-Lite that figures are written for."""

_BOLD_LETTER = 0.62 * LABEL_SIZE
"""How wide a letter of the mark is at most, on average."""

_ROOT = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"[^>]*>')


def drawn(spec: ChartSpec, *, title: str, is_public: bool) -> str:
    """Return a specification as SVG with our looks; unless public, under a band that marks it."""
    inner = vl_convert.vegalite_to_svg(themed(spec), vl_version=VEGA_LITE, allowed_base_urls=[])
    width, height = size(inner)
    band, top = ("", 0) if is_public else _band(width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + top}" '
        f'viewBox="0 0 {width} {height + top}" role="img">'
        f"<title>{escape(plain(title))}</title>"
        f'<rect width="100%" height="100%" fill="white"/>{band}'
        f'<svg y="{top}"{inner.removeprefix("<svg")}</svg>'
    )


def _band(width: int) -> tuple[str, int]:
    """Return the mark across the top of a picture, and where the picture begins below it."""
    lines = wrap(HEADER, int((width - 16) / _BOLD_LETTER))
    words = "".join(
        f'<text x="8" y="{LINE_HEIGHT * (number + 1) + 2}" fill="white" font-weight="bold" '
        f'font-size="{LABEL_SIZE}" font-family="{FONT}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    height = LINE_HEIGHT * len(lines) + 10
    return f'<rect width="{width}" height="{height}" fill="{BAD}"/>{words}', height + 8


def png(svg: str) -> bytes:
    """Return an SVG as PNG, with two pixels for each of its own."""
    return vl_convert.svg_to_png(svg, scale=2)


def size(svg: str) -> tuple[int, int]:
    """Return the width and height of an SVG in pixels."""
    root = _ROOT.match(svg)
    if root is None:
        raise InternalError("a picture has no size.")
    return math.ceil(float(root[1])), math.ceil(float(root[2]))
