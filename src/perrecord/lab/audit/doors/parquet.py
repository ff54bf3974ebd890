"""Parquet files as doors: every numeric type, any row groups, statistics or none."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.lab.audit.doors.door import Door, DoorSource, arrow_of, package
from perrecord.lab.audit.doors.held import Held
from perrecord.lab.audit.doors.spelling import TEXT
from perrecord.lab.audit.doors.text_files import spread


def parquet_doors() -> list[Door]:
    """Return the doors of Parquet files, and of Arrow's own datasets over them."""
    return [
        Door("Parquet", _single),
        Door("several Parquet files, by a glob", _several),
        Door("an Arrow dataset of Parquet files", _dataset, is_named=True),
    ]


def as_held(held: Held, random: Random) -> pa.Table:
    """Return the rows in Arrow, the text in one of the types that text has."""
    return arrow_of(held, {"sector": random.choice([TEXT, "dictionary", "large text"])})


def _single(folder: Path, held: Held, random: Random) -> DoorSource:
    path = folder / "rows.parquet"
    _write(path, as_held(held, random), random, random.random() < 0.5)
    return DoorSource(path)


def _several(folder: Path, held: Held, random: Random) -> DoorSource:
    kind = {"sector": random.choice([TEXT, "large text"])}
    as_integers = random.random() < 0.5  # how decimals are stored is part of a file's types

    def write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
        _write(path, arrow_of(replace(held, rows=tuple(rows)), kind), random, as_integers)

    return DoorSource(spread(folder, held, random, ".parquet", write))


def _dataset(folder: Path, held: Held, random: Random) -> DoorSource:
    path = folder / "rows.parquet"
    _write(path, as_held(held, random), random)
    return DoorSource(package("pyarrow.dataset").dataset(str(path)))


def _write(path: Path, rows: pa.Table, random: Random, as_integers: bool = False) -> None:
    pq.write_table(
        rows,
        path,
        row_group_size=random.choice([1, 7, 64, 100_000]),
        write_statistics=random.choice([True, False]),
        use_dictionary=random.choice([True, False]),
        data_page_version=random.choice(["1.0", "2.0"]),
        store_decimal_as_integer=as_integers,
    )
