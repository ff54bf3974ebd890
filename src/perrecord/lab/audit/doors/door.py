"""What a door is: a way for records to come in, and what its columns may be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from perrecord.lab.audit.doors.held import Held
from perrecord.lab.audit.doors.spelling import NUMERIC, TEXT, decimal_size


@dataclass(frozen=True, slots=True)
class DoorSource:
    """What `table` is given: a source, and the options that it needs beside it."""

    source: Any
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Door:
    """A way for records to come in: it puts them into a new folder, or into memory."""

    name: str
    open: Callable[[Path, Held, Random], DoorSource]
    kinds: tuple[str, ...] = NUMERIC
    is_text: bool = False
    is_trimmed: bool = False
    """Whether text has no blanks at its end, and none that is empty, as in statistical packages."""
    needs: tuple[str, ...] = ()
    """Packages, or the program `java`, without which it cannot be tried."""
    records: int = 40
    """How many records a table has here; fewer where opening takes long."""
    every: int = 1
    """Only every so many rounds is it tried; more where opening takes long."""

    is_linked: bool = True
    """Whether two of its sources can be linked as periods: tables of databases cannot."""
    is_named: bool = False
    """Whether nothing but a name tells one state of the data from another."""

    def missing(self) -> list[str]:
        """Return what it needs and is not there."""
        return [name for name in self.needs if find_spec(name) is None]


def package(name: str) -> Any:
    """Return a package that only this audit needs; a door says so in `needs`."""
    return import_module(name)


_NAMED: dict[str, pa.DataType] = {
    TEXT: pa.string(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "large text": pa.large_string(),
}


def arrow_type(kind: str) -> pa.DataType:
    """Return the Arrow type of a kind."""
    if kind.startswith("decimal"):
        return pa.decimal128(*decimal_size(kind))
    return _NAMED[kind] if kind in _NAMED else getattr(pa, kind)()


def arrow_of(held: Held, kinds: Mapping[str, str] | None = None) -> pa.Table:
    """Return the rows in Arrow; some columns may be held in another type of the same values."""
    shown = {**held.kinds, **(kinds or {})}
    return pa.table(
        {
            name: pa.array([row[name] for row in held.rows], arrow_type(kind))
            for name, kind in shown.items()
        }
    )
