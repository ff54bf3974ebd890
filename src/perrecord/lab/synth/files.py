"""Batches of records → an Arrow table, or a Parquet file that appears whole or not at all."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.errors import InputError

CHUNK = 500_000
"""Records that are drawn at a time."""


def gathered(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: str | Path | None
) -> pa.Table | Path:
    """Return batches as a table, or write them to a file and return its path.

    Only one batch is held when a path is given. The file takes its name when it is complete.
    """
    if path is None:
        return pa.Table.from_batches(list(batches), schema)
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def check_rows(rows: object, example: str = "1_000_000") -> int:
    """Return a number of rows, or refuse what is none."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
        raise InputError(f"rows is {rows!r}; expected a whole number such as {example}.")
    return rows


def hundredths(values: npt.NDArray[np.int64], digits: int) -> pa.Array:
    """Return non-negative counts of a hundredth as exact decimals of two places.

    >>> hundredths(np.array([5, 1230]), 9).to_pylist()
    [Decimal('0.05'), Decimal('12.30')]
    """
    # Arrow holds a decimal as a 128-bit integer, low half first.
    halves = np.zeros((len(values), 2), dtype="<i8")
    halves[:, 0] = values
    buffers = [None, pa.py_buffer(halves.tobytes())]
    return pa.Array.from_buffers(pa.decimal128(digits, 2), len(values), buffers)
