"""Addresses of databases, such as duckdb://est.db, and the files that some of them name."""

import re
from pathlib import Path
from typing import TypeGuard
from urllib.parse import quote, unquote

_OF_DATABASE_FILES = ("duckdb", "sqlite")


def is_address(source: object) -> TypeGuard[str]:
    """Return whether the source is written as scheme://rest."""
    return isinstance(source, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source) is not None


def scheme_of(address: str) -> str:
    """Return what stands before ://, in lower case."""
    return address.partition("://")[0].lower()


def file_of(address: str) -> Path | None:
    """Return the file that the address of a DuckDB or SQLite database names, else None.

    Two slashes begin a relative path and three an absolute one.

    >>> str(file_of("duckdb://est.db")), str(file_of("sqlite:///data/my%20farms.db"))
    ('est.db', '/data/my farms.db')
    """
    if scheme_of(address) not in _OF_DATABASE_FILES:
        return None
    written = address.partition("://")[2].partition("?")[0]
    return Path(unquote(written)).expanduser()


def absolute_address(address: str, folder: Path) -> str:
    """Return the address with its file, if it names one, taken from this folder.

    >>> absolute_address("duckdb://est.db", Path("/data")), absolute_address("mysql://h/d", Path())
    ('duckdb:///data/est.db', 'mysql://h/d')
    """
    file = file_of(address)
    return address if file is None else f"{scheme_of(address)}://{quote(str(folder / file))}"
