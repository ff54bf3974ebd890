"""SAS data sets as ReadStat writes them: the library beneath pyreadstat, which reads them only.

Written through its own C interface, so that a file of the other side is there to read.
"""

import ctypes
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from perrecord.errors import InternalError

_STRING, _DOUBLE = 0, 5
_BY_ROWS = 1
TEXT = "$"
"""The format of a column of text."""


def write_sas7bdat(
    path: Path,
    names: Sequence[str],
    formats: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    is_packed: bool = False,
) -> None:
    """Write rows of text, numbers and None; a column of text has the format "$"."""
    library = ctypes.CDLL(import_module("pyreadstat._readstat_writer").__file__ or "")
    pointer = ctypes.c_void_p
    for name in ("readstat_writer_init", "readstat_add_variable"):
        getattr(library, name).restype = pointer
    library.readstat_insert_double_value.argtypes = [pointer, pointer, ctypes.c_double]
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    with path.open("wb") as file:

        def write(data: Any, size: int, _: Any) -> int:
            return file.write(ctypes.string_at(data, size))

        called = ctypes.CFUNCTYPE(ctypes.c_ssize_t, pointer, ctypes.c_size_t, pointer)(write)
        writer = pointer(library.readstat_writer_init())
        library.readstat_set_data_writer(writer, called)
        if is_packed:
            _check(library.readstat_writer_set_compression(writer, _BY_ROWS))
        variables = []
        for name, shown, values in zip(names, formats, columns, strict=True):
            kind, width = (_STRING, _width(values)) if shown == TEXT else (_DOUBLE, 0)
            added = library.readstat_add_variable(
                writer, name.encode(), kind, ctypes.c_size_t(width)
            )
            variables.append(pointer(added))
            if shown not in ("", TEXT):
                library.readstat_variable_set_format(variables[-1], shown.encode())
        _check(library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(len(rows))))
        for row in rows:
            _check(library.readstat_begin_row(writer))
            for variable, value in zip(variables, row, strict=True):
                if value is None:
                    _check(library.readstat_insert_missing_value(writer, variable))
                elif isinstance(value, str):
                    _check(library.readstat_insert_string_value(writer, variable, value.encode()))
                else:
                    _check(library.readstat_insert_double_value(writer, variable, value))
            _check(library.readstat_end_row(writer))
        _check(library.readstat_end_writing(writer))
        library.readstat_writer_free(writer)


def _width(values: Sequence[object]) -> int:
    """Return how many bytes a column of text has."""
    return max([1, *(len(each.encode()) for each in values if isinstance(each, str))])


def _check(code: int) -> None:
    if code != 0:
        raise InternalError(f"ReadStat could not write a SAS data set: its error {code}.")
