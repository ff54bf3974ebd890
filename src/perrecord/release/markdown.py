"""Words of a spec in Markdown: whatever they hold, they stay words."""

import re

from perrecord.errors import visible


def inline(words: str) -> str:
    """Return words of the spec on one line, in which nothing is Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>&#|!~])", r"\\\1", visible(" ".join(words.split())))


def paragraph(words: str) -> str:
    """Return words of the spec as a paragraph: no list, no rule, no heading begins with them."""
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", inline(words))


def code(words: str) -> str:
    """Return words between as many backticks as they do not hold in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", words)), default=0))
    margin = " " if fence != "`" else ""
    return f"{fence}{margin}{visible(words)}{margin}{fence}"
