"""CIS, data in the shape of the USDA's Cattle Inventory Survey: counties in districts in states.

A record is what is published of one county in one year, as in the paper, which has no records of
farms either: its cattle and calves, and the average rent of an acre of pastureland in dollars.

The shape comes from public figures. Inventories run through the percentiles of 500 counties in the
2022 Census of Agriculture (TX, OK, AR, LA, NM) and go on as steeply beyond the last, which gives
the largest county about a million head, and a tail index near 1.8, as theirs. Those states are rich
in cattle, so all counties together hold some 130 million, where the nation has 88. A quarter of the
variance of log inventory is between states, as there, and a fifth between districts of a state, as
among milk cows and layers in all states. Rents are bounded: the Cash Rents Survey has had county
averages from $0.40 (Texas, 2021) to $110 (Indiana, 2010); the curve between them is ours, with a
median of $20, and half of its variance is between states.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import InputError
from perrecord.lab.synth.districts import counties_in_districts
from perrecord.lab.synth.files import check_rows, gathered, hundredths
from perrecord.lab.synth.scores import Scores, at_score, by_rank, mix

INVENTORY = {
    0.0002: 28, 0.002: 111, 0.01: 384, 0.05: 2251, 0.10: 4293, 0.25: 11_855, 0.50: 27_592,
    0.75: 50_508, 0.90: 79_585, 0.95: 115_292, 0.99: 286_194, 0.995: 402_182, 0.998: 583_185,
}  # fmt: skip
"""Share of counties -> head of cattle that so many do not exceed."""

RENT = {
    0.001: 4, 0.05: 25, 0.10: 50, 0.25: 120, 0.50: 200, 0.75: 320, 0.90: 460, 0.99: 800,
    0.9999: 1100,
}  # fmt: skip
"""Share of counties -> rent in tenths of a dollar per acre, which is how rents are published."""

LEAST_RENT, MOST_RENT = 4, 1100

FIRST_YEAR = 2022
MOST_YEARS = 100
_STATE, _DISTRICT, _RENT_STATE, _RENT_DISTRICT = 0.25, 0.21, 0.5, 0.25
_YEAR_TO_YEAR = 0.98
_RENT_DIGITS = 9

_CODES = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "year": pa.int16(),
        "state": _CODES,
        "district": _CODES,
        "county": _CODES,
        "inventory": pa.int64(),
        "rent": pa.decimal128(_RENT_DIGITS, 2),
    }
)


def cattle(
    rows: int | None = None, path: str | Path | None = None, *, seed: int = 0
) -> pa.Table | Path:
    """Return synthetic county records of cattle and rents, or write them to a Parquet file.

    Columns: id, year, state (two digits), district (two digits, which mean something within their
    state), county (five digits, state first), inventory in heads, and rent in dollars per acre,
    between 0.40 and 110, in tenths. Without rows there is one record for each of 3,142 counties,
    in 2022; with fewer rows, for some of them at random; more are those of the years before,
    in which counties keep their size by and large.

    >>> cattle(3, seed=1).column_names
    ['id', 'year', 'state', 'district', 'county', 'inventory', 'rent']
    """
    world = _World.of(np.random.default_rng(np.random.SeedSequence(seed)))
    counties = len(world.inventory)
    wanted = counties if rows is None else check_rows(rows, "3_142")
    if wanted > MOST_YEARS * counties:
        raise InputError(
            f"rows is {wanted}; expected at most {MOST_YEARS * counties}, which is {MOST_YEARS} "
            f"years of {counties} counties."
        )
    return gathered(_batches(world, wanted, seed), SCHEMA, path)


@dataclass(frozen=True, slots=True)
class _World:
    """The counties: where they are, and the scores of their measures in the first year."""

    states: pa.DictionaryArray
    districts: pa.DictionaryArray
    counties: pa.DictionaryArray
    inventory: Scores
    rent: Scores

    @classmethod
    def of(cls, source: np.random.Generator) -> "_World":
        states, districts, counties = zip(*counties_in_districts(), strict=True)
        _, of_state = np.unique(states, return_inverse=True)
        _, of_district = np.unique(np.char.add(states, districts), return_inverse=True)
        return cls(
            states=pa.array(states).dictionary_encode(),
            districts=pa.array(districts).dictionary_encode(),
            counties=pa.array(counties).dictionary_encode(),
            inventory=_nested(of_state, of_district, (_STATE, _DISTRICT), source),
            rent=_nested(of_state, of_district, (_RENT_STATE, _RENT_DISTRICT), source),
        )


def _nested(
    of_state: npt.NDArray[np.int64],
    of_district: npt.NDArray[np.int64],
    shares: tuple[float, float],
    source: np.random.Generator,
) -> Scores:
    """Return scores of counties that share a part with their state and with their district."""
    state, district = shares
    scores = (
        math.sqrt(state) * source.standard_normal(int(of_state.max()) + 1)[of_state]
        + math.sqrt(district) * source.standard_normal(int(of_district.max()) + 1)[of_district]
        + math.sqrt(1 - state - district) * source.standard_normal(len(of_state))
    )
    return by_rank(scores)


def _batches(world: _World, rows: int, seed: int) -> Iterator[pa.RecordBatch]:
    counties = len(world.inventory)
    seeds = np.random.SeedSequence(seed).spawn(math.ceil(rows / counties))
    for index, own in enumerate(seeds):
        start = index * counties
        yield _batch(world, index, start, min(counties, rows - start), np.random.default_rng(own))


def _batch(
    world: _World, years: int, start: int, count: int, source: np.random.Generator
) -> pa.RecordBatch:
    counties = len(world.inventory)
    inventory, rent = world.inventory, world.rent
    if years:
        inventory = mix(inventory, source.standard_normal(counties), _YEAR_TO_YEAR)
        rent = mix(rent, source.standard_normal(counties), _YEAR_TO_YEAR)
    here = np.sort(source.choice(counties, count, replace=False))
    dimes = np.clip(at_score(rent[here], RENT), LEAST_RENT, MOST_RENT)
    columns = [
        pa.array(np.arange(start, start + count, dtype=np.int64)),
        pa.array(np.full(count, FIRST_YEAR - years, dtype=np.int16)),
        *(each.take(pa.array(here)) for each in (world.states, world.districts, world.counties)),
        pa.array(at_score(inventory[here], INVENTORY)),
        hundredths(10 * dimes, _RENT_DIGITS),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
