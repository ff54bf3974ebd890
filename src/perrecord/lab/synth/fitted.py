"""Establishments of a published table: as many of every cell and size class as it says.

Inside its class, employment follows the distribution of `establishments`; classes without an upper
end have a Pareto tail. Payroll is drawn given employment. Where the table has no size classes but
the totals of its cells, employment and payroll are shared out so that they add up to them. Firms
have establishments of one industry in many places, as elsewhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError
from perrecord.lab.synth.establishments import (
    ANNUAL_PAYROLL,
    CODES,
    EMPLOYEES,
    SCHEMA,
    SHARE_IN_FIRMS,
    annual_score,
    firms_for,
    first_quarter,
    rank_of,
)
from perrecord.lab.synth.files import CHUNK, check_rows, gathered
from perrecord.lab.synth.published import Counts, PublishedCounts
from perrecord.lab.synth.scores import Scores, Whole, at_score, between, score_at, standardised
from perrecord.lab.synth.sizes import ANY, SizeClass

TAIL = 1.55
"""Pr[employees > x] = (low / x)^1.55 in a class of `low` or more.

County Business Patterns 2019 has 21,963 establishments of 500 or more with 30,084,137 employees;
38 in 100 of them have 1,000 or more (2016), which leaves these a mean of about 2,500. So does this
tail, cut at 50 times `low`.
"""
_CUT = 50
_MOST = 2**62


def fitted(
    table: PublishedCounts, rows: int | None, path: str | Path | None, *, seed: int
) -> pa.Table | Path:
    """Return the establishments of a published table, or write them to a Parquet file.

    Without rows there are as many as published in every cell and class; with rows each has its
    proportion of them, rounded up or down at random so that they add up. When a path is given,
    half a million establishments are held at a time, or the largest cell: to read the table of
    6.3 million and to write them took 6 s and 420 MB.
    """
    total = table.establishments
    wanted = total if rows is None else check_rows(rows)
    if wanted and not total:
        raise InputError("the published table holds no establishments; expected some.")
    if wanted * total >= _MOST:
        raise InputError(f"rows is {wanted}; expected at most {_MOST // total - 1}.")
    first, second = np.random.SeedSequence(seed).spawn(2)
    source = np.random.default_rng(first)
    count = _proportion(table.count, wanted, source)
    world = _World.of(table, count, source)
    return gathered(_batches(world, second), world.schema, path)


def _proportion(count: Counts, rows: int, source: np.random.Generator) -> Counts:
    """Return counts in proportion to others that add up to rows, rounded fairly."""
    total = int(count.sum())
    start = int(source.integers(max(1, total)))
    if rows == total:
        return count
    ends = (np.cumsum(count) * rows + start) // total
    return np.diff(ends, prepend=start // total)


@dataclass(frozen=True, slots=True)
class _World:
    """What all chunks share."""

    table: PublishedCounts
    count: Counts
    totals: dict[str, Counts]
    schema: pa.Schema
    labels: dict[str, tuple[npt.NDArray[np.int32], pa.Array]]
    pay_of_industry: Scores
    firm_bounds: Counts

    @classmethod
    def of(cls, table: PublishedCounts, count: Counts, source: np.random.Generator) -> "_World":
        of_industry = np.bincount(
            table.industry, weights=count, minlength=len(table.industries)
        ).astype(np.int64)
        rows = int(count.sum())
        shares = of_industry / max(1, rows)
        firms = firms_for(rows)
        labels = _labels(table)
        kinds = {field.name: field.type for field in SCHEMA}
        places = [name for name in ("state", "county", "zip") if name in labels]
        names = ["id", "firm", *places, "naics", "emp", "payann", "payqtr1"]
        ratio = np.divide(count, table.count, out=np.zeros(len(count)), where=table.count > 0)
        return cls(
            table=table,
            count=count,
            totals={
                name: np.rint(total * ratio).astype(np.int64)
                for name, total in table.totals.items()
            },
            schema=pa.schema({name: kinds.get(name, CODES) for name in names}),
            labels=labels,
            pay_of_industry=standardised(source.standard_normal(len(shares)), shares),
            # Industry k owns the firms from bound k to bound k + 1.
            firm_bounds=np.concatenate([[0], np.cumsum(of_industry) * firms // max(1, rows)]),
        )


def _labels(table: PublishedCounts) -> dict[str, tuple[npt.NDArray[np.int32], pa.Array]]:
    """Return for each column of places which label each of the table's places has."""
    codes = {"zip": table.places} if table.kind == "zip" else {}
    if table.counties is not None:
        codes["county"] = table.counties
        codes["state"] = pc.utf8_slice_codeunits(table.counties, 0, 2)
    found = {}
    for name, values in codes.items():
        known = pc.unique(values)
        known = known.take(pc.sort_indices(known))
        found[name] = (pc.index_in(values, known).to_numpy().astype(np.int32), known)
    return found


def _batches(world: _World, seeds: np.random.SeedSequence) -> Iterator[pa.RecordBatch]:
    """Give the establishments of whole cells, about as many at a time as a chunk holds."""
    ends = np.cumsum(world.count)
    first = start = 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, start + CHUNK, side="right")))
        (own,) = seeds.spawn(1)
        yield _batch(world, slice(first, last), start, np.random.default_rng(own))
        first, start = last, int(ends[last - 1])


def _batch(world: _World, part: slice, start: int, source: np.random.Generator) -> pa.RecordBatch:
    table, count = world.table, world.count[part]
    rows = int(count.sum())
    entry = np.repeat(np.arange(part.start, part.stop), count)
    place, industry = table.place[entry], table.industry[entry]
    identifiers = np.arange(start, start + rows, dtype=np.int64)

    size, emp = _employment(table.classes, table.size[entry], source)
    if "emp" in world.totals:
        emp = _shared_out(world.totals["emp"][part], count, emp)
        size = score_at(emp, EMPLOYEES)
    own = source.standard_normal(rows)
    annual = annual_score(size, world.pay_of_industry[industry], own)
    payann = at_score(annual, ANNUAL_PAYROLL)
    if "payann" in world.totals:
        payann = _shared_out(world.totals["payann"][part], count, payann)
        annual = score_at(payann, ANNUAL_PAYROLL)
    columns = {
        "id": pa.array(identifiers),
        "firm": pa.array(_firms(world.firm_bounds, industry, identifiers, source)),
        "naics": pa.DictionaryArray.from_arrays(pa.array(industry), table.industries),
        "emp": pa.array(emp.astype(np.int32)),
        "payann": pa.array(payann),
        "payqtr1": pa.array(first_quarter(annual, payann, source.standard_normal(rows))),
    }
    for name, (label, values) in world.labels.items():
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(label[place]), values)
    return pa.RecordBatch.from_arrays(
        [columns[name] for name in world.schema.names], schema=world.schema
    )


def _firms(
    bounds: Counts, industry: npt.NDArray[np.int32], identifiers: Whole, source: np.random.Generator
) -> Whole:
    """Return the firm of each establishment; one of a firm's own industry, or one by itself."""
    first, firms = bounds[industry], np.diff(bounds)[industry]
    rank = (firms * rank_of(source.random(len(industry)))).astype(np.int64)
    in_firm = (source.random(len(industry)) < SHARE_IN_FIRMS) & (firms > 0)
    return np.where(in_firm, first + rank, bounds[-1] + identifiers)


def _employment(
    classes: tuple[SizeClass, ...], size: npt.NDArray[np.int32], source: np.random.Generator
) -> tuple[Scores, Whole]:
    """Return the scores of size and the employees of establishments of given classes."""
    uniform = source.random(len(size))
    scores = np.empty(len(size))
    employees = np.empty(len(size), dtype=np.int64)
    for index, each in enumerate(classes):
        here = np.flatnonzero(size == index)
        if len(here):
            scores[here], employees[here] = _inside(each, uniform[here])
    return scores, employees


def _inside(wanted: SizeClass, uniform: Scores) -> tuple[Scores, Whole]:
    """Return scores and employees inside a class."""
    if wanted.high is None and wanted != ANY:
        left = 1 - uniform * (1 - _CUT**-TAIL)
        employees = np.floor(wanted.low * left ** (-1 / TAIL)).astype(np.int64)
        return score_at(employees, EMPLOYEES), employees
    low, high = _score_of(wanted.low - 1), np.inf if wanted == ANY else _score_of(wanted.high or 0)
    scores = between(low, high, uniform)
    return scores, np.clip(at_score(scores, EMPLOYEES), wanted.low, wanted.high)


def _score_of(employees: int) -> float:
    """Return the score up to which establishments have no more employees than that."""
    return float(score_at(np.array([employees]), EMPLOYEES)[0]) if employees >= 0 else -np.inf


def _shared_out(totals: Counts, count: Counts, weights: Whole) -> Whole:
    """Return whole numbers in proportion to weights that add up to the total of every cell.

    The running sums are rounded down, so that each number is off by less than 1.
    """
    # The last of a cell is at position 1 exactly: a number divided by itself.
    running = np.concatenate([[0.0], np.cumsum(weights + 0.5)])
    ends = np.cumsum(count)
    cell = np.repeat(np.arange(len(count)), count)
    before, after = running[ends - count], running[ends]
    position = (running[1:] - before[cell]) / (after - before)[cell]
    cuts = np.floor(totals[cell] * position).astype(np.int64)
    shares = np.diff(cuts, prepend=0)
    first = (ends - count)[count > 0]
    shares[first] = cuts[first]
    return np.asarray(shares)
