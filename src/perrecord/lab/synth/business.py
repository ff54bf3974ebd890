"""Business establishments: heavy-tailed, calibrated to published percentiles or a published table.

`establishments` says what the measures are; `fitted` draws the establishments of a published table.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import InputError
from perrecord.lab.synth.establishments import (
    ANNUAL_PAYROLL,
    EMPLOYEES,
    SCHEMA,
    SHARE_IN_FIRMS,
    annual_score,
    firms_for,
    first_quarter,
    rank_of,
)
from perrecord.lab.synth.files import CHUNK, check_rows, gathered
from perrecord.lab.synth.fitted import fitted
from perrecord.lab.synth.industries import industry_codes, industry_shares
from perrecord.lab.synth.places import county_codes, county_shares
from perrecord.lab.synth.published import PublishedCounts, published
from perrecord.lab.synth.scores import Scores, at_score, mix, pick, standardised


def business(
    rows: int | None = None,
    path: str | Path | None = None,
    *,
    seed: int = 0,
    fitted_to: PublishedCounts | str | Path | None = None,
) -> pa.Table | Path:
    """Return synthetic establishments as an Arrow table, or write them to a Parquet file.

    Columns: id, firm, state, county (five digits, state first), naics (six digits), emp, payann and
    payqtr1 in $1,000. About a fifth of the establishments belong to firms with several, the
    largest of which have thousands. Memory stays bounded when a path is given.

    `fitted_to` is a published table, read by `published`, or its file: then there are as many
    establishments of every place, industry and size class as it says, or its proportion of `rows`.
    naics has as many digits as published. A table of ZIP codes adds the column zip; it has state
    and county when `published` was given the counties of its ZIP codes.

    >>> business(3, seed=1).column_names
    ['id', 'firm', 'state', 'county', 'naics', 'emp', 'payann', 'payqtr1']
    """
    if fitted_to is not None:
        table = fitted_to if isinstance(fitted_to, PublishedCounts) else published(fitted_to)
        return fitted(table, rows, path, seed=seed)
    if rows is None:
        raise InputError(
            "rows is missing; expected a whole number such as 1_000_000. Only fitted_to, a "
            "published table, says by itself how many establishments there are."
        )
    return gathered(_batches(check_rows(rows), seed), SCHEMA, path)


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
        return cls(
            counties=pa.array(codes),
            states=pa.array(states),
            state_of_county=np.array([place[code[:2]] for code in codes], dtype=np.int32),
            naics=pa.array(industries),
            county_bounds=np.cumsum(county_shares(source)),
            industry_bounds=bounds,
            size_of_industry=standardised(source.standard_normal(len(industries)), shares),
            pay_of_industry=standardised(source.standard_normal(len(industries)), shares),
            industry_of_firm=pick(bounds, source.random(firms_for(rows))),
        )


def _batches(rows: int, seed: int) -> Iterator[pa.RecordBatch]:
    first, *seeds = np.random.SeedSequence(seed).spawn(1 + math.ceil(rows / CHUNK))
    world = _World.of(rows, np.random.default_rng(first))
    for index, own in enumerate(seeds):
        start = index * CHUNK
        yield _batch(world, start, min(CHUNK, rows - start), np.random.default_rng(own))


def _batch(world: _World, start: int, count: int, source: np.random.Generator) -> pa.RecordBatch:
    identifiers = np.arange(start, start + count, dtype=np.int64)
    county = pick(world.county_bounds, source.random(count))
    industry = pick(world.industry_bounds, source.random(count))
    firms = len(world.industry_of_firm)
    rank = (firms * rank_of(source.random(count))).astype(np.int64)
    in_firm = source.random(count) < SHARE_IN_FIRMS
    firm = np.where(in_firm, rank, firms + identifiers)
    industry = np.where(in_firm, world.industry_of_firm[rank], industry)

    size = mix(world.size_of_industry[industry], source.standard_normal(count), 0.35)
    annual = annual_score(size, world.pay_of_industry[industry], source.standard_normal(count))
    payann = at_score(annual, ANNUAL_PAYROLL)
    columns = [
        identifiers,
        firm,
        pa.DictionaryArray.from_arrays(world.state_of_county[county], world.states),
        pa.DictionaryArray.from_arrays(county, world.counties),
        pa.DictionaryArray.from_arrays(industry.astype(np.int32), world.naics),
        at_score(size, EMPLOYEES).astype(np.int32),
        payann,
        first_quarter(annual, payann, source.standard_normal(count)),
    ]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)
