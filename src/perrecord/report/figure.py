"""A figure: what it shows in words, in a picture and in numbers."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from perrecord.errors import InputError
from perrecord.report.drawing import drawn
from perrecord.report.theme import ChartSpec, Width

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table as people read it: its numbers are text already. A long one may be folded away."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    may_fold: bool = True

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.heads):
                raise InputError(
                    f"a row of the table {self.title!r} has {len(row)} cells; expected "
                    f"{len(self.heads)}, one for each head."
                )


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture that is drawn for a width, its numbers, and what it says.

    `name` is the stem of its files, `finding` the caption: what is found, in plain language.
    `reading` says how to read the picture, and `numbers` go into a file beside it.
    """

    name: str
    title: str
    finding: str
    reading: str
    draw: Callable[[Width], ChartSpec]
    numbers: pa.Table
    tables: tuple[ShownTable, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(
                f"the figure is named {self.name!r}; expected letters, digits, _ and -, such as "
                "'loss-by-size', because files are named after it."
            )


@dataclass(frozen=True, slots=True)
class Pictures:
    """A figure drawn as SVG for wide paper and for a telephone."""

    wide: str
    narrow: str


def pictures(figure: Figure, *, is_public: bool) -> Pictures:
    """Return the pictures of a figure; unless public, each is marked as confidential."""
    return Pictures(
        wide=drawn(figure.draw("wide"), title=figure.title, is_public=is_public),
        narrow=drawn(figure.draw("narrow"), title=figure.title, is_public=is_public),
    )
