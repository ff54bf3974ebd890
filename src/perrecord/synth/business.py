"""Business establishments: heavy-tailed, calibrated to published percentiles.

The marginals are fixed by the percentiles that the paper gives for its thresholds (County Business
Patterns): employment 47 % <= 2, 66 % <= 5, 97 % <= 100; annual payroll in $1,000 50 % <= 104,
79 % <= 500, 99 % <= 10,000; first quarter 50 % <= 24, 80 % <= 125, 99 % <= 2,500. Each measure is a
monotone function of a standard normal score; the scores are correlated, so payroll goes with
employment while every marginal stays as given.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.errors import InputError
from perrecord.synth.industries import industry_codes, industry_shares
from perrecord.synth.places import county_codes, county_shares

Scores = npt.NDArray[np.float64]

EMPLOYEES = {
    0.10: 0, 0.33: 1, 0.47: 2, 0.57: 3, 0.66: 5, 0.78: 9, 0.885: 19, 0.945: 49, 0.97: 100,
    0.99: 250, 0.9965: 500, 0.9988: 1000, 0.9999: 3500, 0.99999: 9000, 0.999999: 20_000,
}  # fmt: skip
ANNUAL_PAYROLL = {
    0.005: 0, 0.10: 9, 0.25: 31, 0.50: 104, 0.65: 225, 0.79: 500, 0.90: 1450, 0.97: 4300,
    0.99: 10_000, 0.999: 60_000, 0.9999: 260_000, 0.99999: 900_000, 0.999999: 2_500_000,
}  # fmt: skip
QUARTER_PAYROLL = {
    0.03: 0, 0.10: 2, 0.25: 7, 0.50: 24, 0.65: 53, 0.80: 125, 0.90: 345, 0.97: 1040,
    0.99: 2500, 0.999: 15_000, 0.9999: 65_000, 0.99999: 225_000, 0.999999: 625_000,
}  # fmt: skip
"""Share of establishments -> the value that so many do not exceed."""

SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "firm": pa.int64(),
        "state": pa.dictionary(pa.int32(), pa.string()),
        "county": pa.dictionary(pa.int32(), pa.string()),
        "naics": pa.dictionary(pa.int32(), pa.string()),
        "emp": pa.int32(),
        "payann": pa.int64(),
        "payqtr1": pa.int64(),
    }
)

_CHUNK = 500_000
_SHARE_IN_FIRMS = 0.22
_ROWS_PER_FIRM = 12


def business(rows: int, path: str | Path | None = None, *, seed: int = 0) -> pa.Table | Path:
    """Return synthetic establishments as an Arrow table, or write them to a Parquet file.

    Columns: id, firm, state, county (five digits, state first), naics (six digits), emp, payann and
    payqtr1 in $1,000. About a fifth of the establishments belong to firms with several, the
    largest of which have thousands. Memory stays bounded when a path is given.

    >>> business(3, seed=1).column_names
    ['id', 'firm', 'state', 'county', 'naics', 'emp', 'payann', 'payqtr1']
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
        raise InputError(f"rows is {rows!r}; expected a whole number such as 1_000_000.")
    if path is None:
        return pa.Table.from_batches(list(_batches(rows, seed)), SCHEMA)
    target = Path(path)
    with pq.ParquetWriter(target, SCHEMA, compression="zstd") as writer:
        for batch in _batches(rows, seed):
            writer.write_batch(batch)
    return target


@dataclass(frozen=True, slots=True)
class _World:
    """What all chunks share: where establishments are, what they do, which firms there are."""

    counties: pa.Array
    states: pa.Array
    state_of_county: npt.NDArray[np.int32]
    naics: pa.Array
    county_bounds: Scores
    industry_bounds: Scores
    size_of_industry: Scores
    pay_of_industry: Scores
    industry_of_firm: npt.NDArray[np.int32]

    @classmethod
    def of(cls, rows: int, source: np.random.Generator) -> "_World":
        codes = county_codes()
        states = sorted({code[:2] for code in codes})
        place = {state: index for index, state in enumerate(states)}
        industries = industry_codes()
        shares = industry_shares(source)
        bounds = np.cumsum(shares)
        firms = max(1, int(rows * _SHARE_IN_FIRMS / _ROWS_PER_FIRM))
        return cls(
            counties=pa.array(codes),
            states=pa.array(states),
            state_of_county=np.array([place[code[:2]] for code in codes], dtype=np.int32),
            naics=pa.array(industries),
            county_bounds=np.cumsum(county_shares(source)),
            industry_bounds=bounds,
            size_of_industry=_standardised(source.standard_normal(len(industries)), shares),
            pay_of_industry=_standardised(source.standard_normal(len(industries)), shares),
            industry_of_firm=_pick(bounds, source.random(firms)),
        )


def _batches(rows: int, seed: int) -> Iterator[pa.RecordBatch]:
    first, *seeds = np.random.SeedSequence(seed).spawn(1 + math.ceil(rows / _CHUNK))
    world = _World.of(rows, np.random.default_rng(first))
    for index, own in enumerate(seeds):
        start = index * _CHUNK
        yield _batch(world, start, min(_CHUNK, rows - start), np.random.default_rng(own))


def _batch(world: _World, start: int, count: int, source: np.random.Generator) -> pa.RecordBatch:
    identifiers = np.arange(start, start + count, dtype=np.int64)
    county = _pick(world.county_bounds, source.random(count))
    industry = _pick(world.industry_bounds, source.random(count))
    # A firm's share of the establishments in firms falls off as a power of its rank.
    firms = len(world.industry_of_firm)
    rank = (firms * source.random(count) ** 2.5).astype(np.int64)
    in_firm = source.random(count) < _SHARE_IN_FIRMS
    firm = np.where(in_firm, rank, firms + identifiers)
    industry = np.where(in_firm, world.industry_of_firm[rank], industry)

    size = _mix(world.size_of_industry[industry], source.standard_normal(count), 0.35)
    pay = _mix(world.pay_of_industry[industry], source.standard_normal(count), 0.5)
    annual = _mix(size, pay, 0.88)
    quarter = _mix(annual, source.standard_normal(count), 0.995)
    payann = _at_score(annual, ANNUAL_PAYROLL)
    payqtr1 = np.minimum(_at_score(quarter, QUARTER_PAYROLL), payann)
    columns = [
        identifiers,
        firm,
        pa.DictionaryArray.from_arrays(world.state_of_county[county], world.states),
        pa.DictionaryArray.from_arrays(county, world.counties),
        pa.DictionaryArray.from_arrays(industry.astype(np.int32), world.naics),
        _at_score(size, EMPLOYEES).astype(np.int32),
        payann,
        payqtr1,
    ]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)


def _pick(bounds: Scores, uniform: Scores) -> npt.NDArray[np.int32]:
    """Return categories with the shares whose cumulative sums are given."""
    return np.minimum(np.searchsorted(bounds, uniform), len(bounds) - 1).astype(np.int32)


def _mix(shared: Scores, own: Scores, correlation: float) -> Scores:
    """Return standard normal scores that correlate with others."""
    return correlation * shared + math.sqrt(1 - correlation**2) * own


def _standardised(scores: Scores, shares: Scores) -> Scores:
    """Return scores of mean 0 and variance 1 when weighted by shares."""
    centred = scores - shares @ scores
    return np.asarray(centred / math.sqrt(shares @ centred**2))


def _at_score(scores: Scores, percentiles: dict[float, int]) -> npt.NDArray[np.int64]:
    """Return whole values whose distribution passes through the percentiles exactly.

    log(1 + value) runs straight between them on the normal scale, and on beyond the last.
    """
    at = np.array([NormalDist().inv_cdf(share) for share in percentiles])
    logs = np.log1p(np.array(list(percentiles.values()), dtype=np.float64))
    slope = (logs[-1] - logs[-2]) / (at[-1] - at[-2])
    far = at[-1] + 3
    curve = np.interp(scores, [*at, far], [*logs, logs[-1] + 3 * slope])
    return np.asarray(np.ceil(np.expm1(curve) - 1e-9), dtype=np.int64)
