# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""Data on stdout, everything else on stderr."""

import json
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import typer

_LONGEST = 12


def show(*lines: str) -> None:
    """Write lines to stdout."""
    for line in lines:
        typer.echo(line)


def show_json(value: Any) -> None:
    """Write a value to stdout as JSON."""
    show(json.dumps(value, ensure_ascii=False, indent=2))


def say(text: str) -> None:
    """Write a remark to stderr."""
    typer.echo(text, err=True)


def complain(text: str) -> None:
    """Write what went wrong to stderr, marked where colours are welcome."""
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
    every = [list(heads), *(list(row) for row in rows)]
    widths = [max(len(row[place]) for row in every) for place in range(len(heads))]
    return [
        margin
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in every
    ]


def amount(value: Fraction) -> str:
    """Return a loss for people: exact where that is short, else rounded up.

    >>> amount(Fraction(3, 4)), amount(Fraction(10**20, 7))
    ('0.75', '1.42857e+19')
    """
    from perrecord.exact import float_up, text

    exact = text(value)
    return exact if len(exact) <= _LONGEST else f"{float_up(value):.6g}"


def indented(text: str, margin: str = "  ") -> list[str]:
    """Return the lines of a text, moved to the right."""
    return [f"{margin}{line}" for line in text.splitlines()]
