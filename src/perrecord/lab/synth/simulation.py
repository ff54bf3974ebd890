"""SIM, the paper's simulated data: categories and two measures of infinite variance.

    CatIX   1..1000     Categorical(phi)
    HT1     [1, inf)    Pareto(1, 1.2)
    HT2     [1, inf)    Pareto(1, 1.5)

The paper leaves phi open; here every category is as likely as any other, and the three columns are
independent.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from perrecord.lab.synth.files import CHUNK, check_rows, gathered, hundredths
from perrecord.lab.synth.scores import Scores

CATEGORIES = 1000
TAILS = {"ht1": 1.2, "ht2": 1.5}
"""Measure -> its tail index a: Pr[X > x] = x^-a for every x >= 1."""

_DIGITS = 18
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "catix": pa.int32(),
        **{name: pa.decimal128(_DIGITS, 2) for name in TAILS},
    }
)


def simulation(rows: int, path: str | Path | None = None, *, seed: int = 0) -> pa.Table | Path:
    """Return the simulated records as an Arrow table, or write them to a Parquet file.

    Columns: id, catix (1 to 1,000), ht1 and ht2. The measures are continuous in the paper; here
    they are rounded up to a multiple of 0.01 and held as exact decimals, so that with a
    resolution of 0.01 nothing is rounded again. Rounding up keeps Pr[X > x] = x^-a exact at every
    multiple x of 0.01 and adds 0.005 to the mean. A draw is at most 2^(53/a), some 2 * 10^13,
    because uniform numbers are multiples of 2^-53: one in 10^16 records would be larger. Memory
    stays bounded when a path is given.

    >>> simulation(2, seed=1).to_pylist()[0]
    {'id': 0, 'catix': 16, 'ht1': Decimal('1.18'), 'ht2': Decimal('1.30')}
    """
    return gathered(_batches(check_rows(rows), seed), SCHEMA, path)


def pareto(uniform: Scores, tail: float) -> Scores:
    """Return Pareto(1, a) values from uniform numbers in [0, 1): (1 - u)^(-1/a), always finite."""
    return np.asarray((1 - uniform) ** (-1 / tail))


def _batches(rows: int, seed: int) -> Iterator[pa.RecordBatch]:
    for index, own in enumerate(np.random.SeedSequence(seed).spawn(math.ceil(rows / CHUNK))):
        start = index * CHUNK
        yield _batch(start, min(CHUNK, rows - start), np.random.default_rng(own))


def _batch(start: int, count: int, source: np.random.Generator) -> pa.RecordBatch:
    category = source.integers(1, CATEGORIES, count, dtype=np.int32, endpoint=True)
    measures = [pareto(source.random(count), tail) for tail in TAILS.values()]
    columns = [
        pa.array(np.arange(start, start + count, dtype=np.int64)),
        pa.array(category),
        *(hundredths(np.ceil(100 * values).astype(np.int64), _DIGITS) for values in measures),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
