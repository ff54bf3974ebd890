"""Files of other programs as doors: text by other settings, workbooks, and statistical packages."""

import csv
import io
import math
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from perrecord.lab.audit.doors import sas7bdat
from perrecord.lab.audit.doors.door import Door, DoorSource, package
from perrecord.lab.audit.doors.held import Held
from perrecord.lab.audit.doors.spelling import TEXT
from perrecord.tables.reading import File

_SWAPPED = str.maketrans(",.", ".,")
_NO_XML = str.maketrans({"\f": " ", "\v": " ", "\0": "x"})
"""Characters that a workbook cannot hold, and others that read alike: blanks, and no digits."""
_NUMBERS = ("int8", "int16", "int32", "float64", "float64")
_PACKAGES = ("pyreadstat", "pandas")


def other_file_doors() -> list[Door]:
    """Return the doors of files that other programs write."""
    return [
        Door("text by other settings", _set_apart, (TEXT,), is_text=True),
        Door("Excel", _workbook, (TEXT,), is_text=True, needs=("openpyxl",), records=15, every=2),
        Door("SPSS", _spss, _NUMBERS, is_trimmed=True, needs=_PACKAGES, every=2),
        Door("Stata", _stata, _NUMBERS, is_trimmed=True, needs=_PACKAGES, every=2),
        Door("SAS", _sas, _NUMBERS, is_trimmed=True, needs=_PACKAGES, every=2),
        Door("SAS transport", _transport, _NUMBERS[:3], is_trimmed=True, needs=_PACKAGES, every=2),
    ]


def _set_apart(folder: Path, held: Held, random: Random) -> DoorSource:
    """Write semicolons, decimal commas, other quotes and encodings, packed or not."""
    packed, encoding = random.choice(["", ".zst"]), random.choice(["utf-8", "utf-16", "utf-32"])
    quote, separator = random.choice("'\""), random.choice(";|\t")
    decimal = random.choice(".,")
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=separator, quotechar=quote, lineterminator="\r\n")
    writer.writerow(held.kinds)
    numbers = {measure.column or name for name, measure in held.measures.items()}
    for row in held.rows:
        is_swapped = {name for name in numbers if decimal == "," and row[name] is not None}
        writer.writerow(
            row[name].translate(_SWAPPED) if name in is_swapped else row[name]
            for name in held.kinds
        )
    path = folder / f"rows.csv{packed}"
    data = sink.getvalue().encode(encoding)
    path.write_bytes(pa.compress(data, "zstd", asbytes=True) if packed else data)
    return DoorSource(
        File(path, separator=separator, encoding=encoding, decimal=decimal, quote=quote)
    )


def _workbook(folder: Path, held: Held, random: Random) -> DoorSource:
    openpyxl = package("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    title = random.choice(["Records", "Ñ & 'x'"])
    sheet = book.create_sheet(title)
    sheet.append(list(held.kinds))
    for row in held.rows:
        cells = []
        for name in held.kinds:
            cell = openpyxl.cell.WriteOnlyCell(sheet)
            if row[name] is not None:
                cell.value = row[name].translate(_NO_XML)
                cell.data_type = "s"  # = begins no formula, and #N/A is no error
            cells.append(cell)
        sheet.append(cells)
    if other := random.random() < 0.5:
        book.create_sheet("Notes").append(["not these"])
    book.save(folder / "rows.xlsx")
    return DoorSource(File(folder / "rows.xlsx", sheet=title if other else None))


def _spss(folder: Path, held: Held, random: Random) -> DoorSource:
    is_packed = random.random() < 0.5
    path = folder / ("rows.zsav" if is_packed else "rows.sav")
    package("pyreadstat").write_sav(_frame(held), str(path), compress=is_packed)
    return DoorSource(path)


def _stata(folder: Path, held: Held, _: Random) -> DoorSource:
    """Write what Stata can hold: no infinity, which is no number either."""
    path, frame = folder / "rows.dta", _frame(held)
    package("pyreadstat").write_dta(frame.replace([math.inf, -math.inf], math.nan), str(path))
    return DoorSource(path)


def _sas(folder: Path, held: Held, random: Random) -> DoorSource:
    """Write a data set, its rows packed or not, as no package but ReadStat does."""
    path = folder / "rows.sas7bdat"
    formats = [sas7bdat.TEXT if kind == TEXT else "" for kind in held.kinds.values()]
    rows = [[row[name] for name in held.kinds] for row in held.rows]
    is_packed = random.random() < 0.5
    sas7bdat.write_sas7bdat(path, list(held.kinds), formats, rows, is_packed=is_packed)
    return DoorSource(path)


def _transport(folder: Path, held: Held, _: Random) -> DoorSource:
    path = folder / "rows.xpt"
    package("pyreadstat").write_xport(_frame(held), str(path), file_format_version=8)
    return DoorSource(path)


def _frame(held: Held) -> Any:
    """Return the rows as pandas has them: numbers as floats, of which None is none."""
    pandas = package("pandas")
    return pandas.DataFrame(
        {
            name: pandas.Series(
                [row[name] for row in held.rows], dtype=object if kind == TEXT else "float64"
            )
            for name, kind in held.kinds.items()
        }
    )
