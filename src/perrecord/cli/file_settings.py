"""Options that say how a text file is read; commands that read one have them alike."""

from typing import Annotated

import typer

Separator = Annotated[
    str | None, typer.Option(help="What separates fields of a text file, such as ';'.")
]
Encoding = Annotated[str | None, typer.Option(help="The encoding of text, such as windows-1252.")]
Decimal = Annotated[str | None, typer.Option(help="The decimal sign of a text file: , or .")]


def said_of_file(**settings: str | None) -> dict[str, str]:
    """Return the settings that were given.

    >>> said_of_file(separator=";", encoding=None)
    {'separator': ';'}
    """
    return {name: each for name, each in settings.items() if each is not None}
