# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""Data on stdout, everything else on stderr."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from perrecord.errors import shortened, visible

if TYPE_CHECKING:
    from perrecord.policy.policy import Policy


def show(*lines: str) -> None:
    """Write lines to stdout; what a terminal would obey is written as an escape."""
    for line in lines:
        typer.echo(inert(line))


def show_json(value: Any) -> None:
    """Write a value to stdout as JSON, which a program reads back as it was."""
    written = json.dumps(value, ensure_ascii=False, indent=2)
    typer.echo(re.sub(r"[^ -~\n]", _in_json, written))


def _in_json(found: re.Match[str]) -> str:
    """Return a character of a JSON text, as its escape where a terminal would obey it."""
    character = found[0]
    return character if visible(character) == character else json.dumps(character)[1:-1]


def say(text: str) -> None:
    """Write a remark to stderr; what a terminal would obey is written as an escape."""
    typer.echo(inert(text), err=True)


def inert(text: str) -> str:
    r"""Return lines with nothing else in them that a terminal would obey.

    >>> print(inert("name:\n  \x1b[2J"))
    name:
      \x1b[2J
    """
    return "\n".join(map(visible, text.split("\n")))


def complain(text: str) -> None:
    """Write what went wrong to stderr, marked where colours are welcome; long lines are cut."""
    text = shortened(inert(text))
    if not sys.stderr.isatty():
        say(f"perrecord: {text}")
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    console.print("perrecord:", style="red", end=" ")
    console.print(text)


def columns(heads: Sequence[str], rows: Iterable[Sequence[str]], margin: str = "  ") -> list[str]:
    """Return rows as aligned lines; nothing is cut, whatever the width of the terminal.

    >>> columns(["name", "loss"], [["a shop", "0.3"]], margin="")
    ['name    loss', 'a shop  0.3']
    """
    every = [list(heads), *([visible(cell) for cell in row] for row in rows)]
    widths = [max(len(row[place]) for row in every) for place in range(len(heads))]
    return [
        margin
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in every
    ]


def amount(value: Fraction) -> str:
    """Return a loss for people: exact where that is short, else rounded up.

    >>> amount(Fraction(3, 4)), amount(Fraction(10**20, 7))
    ('0.75', '1.42858e+19')
    """
    from perrecord.exact import amount_up

    return amount_up(value)


def indented(policy: "Policy", margin: str = "  ") -> list[str]:
    """Return a policy in plain English, moved to the right."""
    return [f"{margin}{line}" for line in policy.lines()]
