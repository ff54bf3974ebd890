"""Tables in memory as doors: Arrow, pandas and Polars."""

from pathlib import Path
from random import Random
from typing import Any

from perrecord.lab.audit.doors.door import Door, DoorSource, arrow_of, package
from perrecord.lab.audit.doors.held import Held
from perrecord.lab.audit.doors.parquet import as_held
from perrecord.lab.audit.doors.spelling import FLOATS, WHOLE


def frame_doors() -> list[Door]:
    """Return the doors of frames."""
    return [
        Door("Arrow", _arrow),
        Door("pandas", _pandas, (*FLOATS, *WHOLE), needs=("pandas",)),
        Door("Polars", _polars, needs=("polars",)),
    ]


def _arrow(_: Path, held: Held, random: Random) -> DoorSource:
    return DoorSource(as_held(held, random))


def _pandas(_: Path, held: Held, random: Random) -> DoorSource:
    """Whole numbers with one missing are of pandas' own nullable types, or their column is text."""
    pandas = package("pandas")
    columns: dict[str, Any] = {}
    for name, kind in held.kinds.items():
        values = [row[name] for row in held.rows]
        if kind in FLOATS:
            dtype = kind
        elif kind in WHOLE:
            nullable = kind.replace("int", "Int").replace("uI", "UI")
            dtype = nullable if None in values or random.random() < 0.5 else kind
        else:
            dtype = random.choice(["object", "string", "category"])
        columns[name] = pandas.Series(values, dtype=dtype)
    return DoorSource(pandas.DataFrame(columns))


def _polars(_: Path, held: Held, random: Random) -> DoorSource:
    polars = package("polars")
    frame = polars.from_arrow(arrow_of(held))
    if random.random() < 0.5:
        frame = frame.with_columns(polars.col("sector").cast(polars.Categorical))
    return DoorSource(frame.lazy() if random.random() < 0.5 else frame)
