"""Files of other programs that are damaged, or hold what their columns do not say."""

import functools
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat

from perrecord.lab.audit.doors.sas7bdat import write_sas7bdat
from tests.hostile import bases
from tests.hostile.canaries import Canaries
from tests.hostile.cases import SPEC, Builder, Case
from tests.hostile.parquet_faults import data_case

Columns = dict[str, list[Any]]


def _workbook(found: Columns) -> bytes:
    book = openpyxl.Workbook()
    book.active.append(list(found))
    for row in zip(*found.values(), strict=True):
        book.active.append(row)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def _packed(found: Columns) -> bytes:
    return bytes(pa.compress(bases.csv_text(found).encode(), "zstd", asbytes=True))


def _by_package(write: str, found: Columns) -> bytes:
    """Return what pyreadstat writes; it writes files alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        getattr(pyreadstat, write)(pd.DataFrame(found), str(path))
        return path.read_bytes()


def _sas(found: Columns) -> bytes:
    formats = ["$" if any(isinstance(v, str) for v in each) else "" for each in found.values()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        write_sas7bdat(path, list(found), formats, list(zip(*found.values(), strict=True)))
        return path.read_bytes()


WRITERS: dict[str, Callable[[Columns], bytes]] = {
    "est.xlsx": _workbook,
    "est.csv.zst": _packed,
    "est.sav": functools.partial(_by_package, "write_sav"),
    "est.dta": functools.partial(_by_package, "write_dta"),
    "est.xpt": functools.partial(_by_package, "write_xport"),
    "est.sas7bdat": _sas,
}
"""Every format with whatever writes it."""


def _flipped(data: bytes, random: Random) -> bytes:
    found = bytearray(data)
    for _ in range(random.choice([1, 3, 20])):
        found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    return bytes(found)


BYTES: dict[str, tuple[bool, Callable[[bytes, Random], bytes]]] = {
    "empty": (True, lambda data, random: b""),
    "cut in its first half": (True, lambda data, random: data[: random.randrange(1, 300)]),
    "of another format": (True, lambda data, random: b"PAR1" + data + b"PAR1"),
    "zeros": (True, lambda data, random: b"\0" * len(data)),
    "bits flipped": (False, _flipped),
}
"""What is wrong with the bytes of a file, and whether it is malformed for certain."""


def _without(found: Columns) -> Columns:
    return {name: each for name, each in found.items() if name != "emp"}


def _half(found: Columns) -> Columns:
    """Return ids of which some are not whole: no code."""
    return {**found, "id": [each + 0.5 for each in found["id"]]}


SHEETS: dict[str, Callable[[Columns], list[list[Any]]]] = {
    "a formula that was never computed": lambda found: [
        [*found],
        *([f"={each}" for each in row] for row in zip(*found.values(), strict=True)),
    ],
    "names twice": lambda found: [["emp" for _ in found], *zip(*found.values(), strict=True)],
    "no names": lambda found: [list(row) for row in zip(*found.values(), strict=True)],
    "values beside the columns": lambda found: [
        [*found],
        *([*row, row[0]] for row in zip(*found.values(), strict=True)),
    ],
}
"""What is wrong with the rows of a sheet."""


def damaged(random: Random, turn: int) -> Case:
    """Return a file whose bytes are not those of its format."""
    canaries = Canaries(random)
    name = list(WRITERS)[turn % len(WRITERS)]
    what = list(BYTES)[turn // len(WRITERS) % len(BYTES)]
    must_refuse, change = BYTES[what]
    data = change(WRITERS[name](bases.columns(canaries)), random)
    return data_case(
        "other formats, damaged", f"{name}, {what}", "simple", data, canaries, name,
        must_refuse=must_refuse,
    )  # fmt: skip


def misfit(random: Random, turn: int) -> Case:
    """Return a file that is whole, and whose columns or cells do not fit."""
    canaries = Canaries(random)
    found = bases.columns(canaries)
    if turn % 2:
        what = list(SHEETS)[turn // 2 % len(SHEETS)]
        book = openpyxl.Workbook()
        for row in SHEETS[what](found):
            book.active.append(list(row))
        sink = io.BytesIO()
        book.save(sink)
        name, data = "est.xlsx", sink.getvalue()
    else:
        name = list(WRITERS)[2 + turn // 2 % 4]
        what, change = [("codes with decimals", _half), ("no emp", _without)][turn // 8 % 2]
        data = WRITERS[name](change(found))
    return data_case(
        "other formats, misfits", f"{name}, {what}", "simple", data, canaries, name,
        must_refuse=True,
    )  # fmt: skip


SETTINGS = (
    "{path: est.csv, separator: ';'}",
    "{path: est.csv, encoding: utf-16}",
    "{path: est.csv, sheet: Records}",
    "{path: est.csv, quote: '|'}",
    "{path: est.csv, separator: ',', decimal: ','}",
    "{path: est.csv, encoding: rot13}",
)
"""How a plain CSV file cannot be read."""


def misread(random: Random, turn: int) -> Case:
    """Return a good file that the spec reads by other settings than it was written by."""
    canaries = Canaries(random)
    data = bases.csv_text(bases.columns(canaries)).encode()
    what = SETTINGS[turn % len(SETTINGS)]
    case = data_case("other settings", what, "simple", data, canaries, "est.csv", must_refuse=True)
    spec = bases.spec_text("simple", what).encode()
    return Case(
        case.kind, what, case.base, {**case.files, SPEC: spec}, case.data, canaries,
        must_refuse=True, places=(("source",),),
    )  # fmt: skip


BUILDERS: dict[Builder, float] = {damaged: 4, misfit: 3, misread: 2}
"""Each kind with its share of the cases."""
