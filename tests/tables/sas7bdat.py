"""SAS data sets as ReadStat writes them: the library beneath pyreadstat, which reads them only.

Written through its own C interface, so that a file of the other side is there to read.
"""

import ctypes
from collections.abc import Sequence
from pathlib import Path

STRING, DOUBLE = 0, 5


def write_sas7bdat(
    path: Path, names: Sequence[str], formats: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    """Write rows of text, numbers and None; a column of text has the format "$"."""
    from pyreadstat import _readstat_writer

    library = ctypes.CDLL(_readstat_writer.__file__)
    pointer = ctypes.c_void_p
    for name in ("readstat_writer_init", "readstat_add_variable"):
        getattr(library, name).restype = pointer
    library.readstat_insert_double_value.argtypes = [pointer, pointer, ctypes.c_double]
    with path.open("wb") as file:

        @ctypes.CFUNCTYPE(ctypes.c_ssize_t, pointer, ctypes.c_size_t, pointer)
        def write(data, size, _):
            return file.write(ctypes.string_at(data, size))

        writer = pointer(library.readstat_writer_init())
        library.readstat_set_data_writer(writer, write)
        variables = []
        for name, shown in zip(names, formats, strict=True):
            kind, width = (STRING, 20) if shown == "$" else (DOUBLE, 0)
            added = library.readstat_add_variable(
                writer, name.encode(), kind, ctypes.c_size_t(width)
            )
            variables.append(pointer(added))
            if shown not in ("", "$"):
                library.readstat_variable_set_format(variables[-1], shown.encode())
        checked(library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(len(rows))))
        for row in rows:
            checked(library.readstat_begin_row(writer))
            for variable, value in zip(variables, row, strict=True):
                if value is None:
                    checked(library.readstat_insert_missing_value(writer, variable))
                elif isinstance(value, str):
                    checked(library.readstat_insert_string_value(writer, variable, value.encode()))
                else:
                    checked(library.readstat_insert_double_value(writer, variable, value))
            checked(library.readstat_end_row(writer))
        checked(library.readstat_end_writing(writer))
        library.readstat_writer_free(writer)


def checked(code: int) -> None:
    """Raise if ReadStat says that something is wrong."""
    assert code == 0, f"ReadStat error {code}"
