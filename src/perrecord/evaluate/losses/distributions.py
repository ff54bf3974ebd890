"""Distributions of losses, summed up in the engine: a few hundred points, however many records."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import InputError, ProbabilityError
from perrecord.evaluate.workspace import Workspace
from perrecord.exact import Exact, rational
from perrecord.laws.law import Floats

Ints = npt.NDArray[np.int64]
_Batch = tuple[Floats, Ints, Ints]
"""Values, how many records have each, and the range of floats that each lies in."""

AGREEMENT = 1e-9
"""So far, relatively, a loss computed in the engine may be from the exact one."""

_MOST_VALUES = 1000
_MOST_HELD = 1 << 24  # rows of 24 bytes
_RANGE_BITS = 18  # 64 ranges between a number and twice that
_NO_TABLES: Mapping[str, pa.Table] = {}
_SHARES = [
    *(Fraction(index, 500) for index in range(501)),
    *(1 - Fraction(1, 10**digits) for digits in range(3, 10)),
]


@dataclass(frozen=True, slots=True)
class Distribution:
    """How a loss is spread over records or units: values, and how many have at most each.

    Up to 1,000 different values all are kept. Of more, the quantiles at every 0.2 % and at
    99.9 %, 99.99 %, ... are, each exact, and the ends; between kept values the answers err upwards.

    >>> losses = Distribution.of([1, 1, 1, 4])
    >>> losses.quantile("0.75"), losses.quantile(1), losses.share_above(1)
    (1.0, 4.0, 0.25)
    """

    values: tuple[float, ...]
    at_most: tuple[int, ...]

    @classmethod
    def of(cls, losses: Iterable[float | Fraction]) -> "Distribution":
        """Return the distribution of numbers at hand."""
        values, counts = np.unique(np.array([float(each) for each in losses]), return_counts=True)
        return cls(tuple(values.tolist()), tuple(np.cumsum(counts).tolist()))

    @property
    def count(self) -> int:
        """How many records or units there are."""
        return self.at_most[-1] if self.at_most else 0

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of records or units at or below each value."""
        count = self.count
        return tuple(number / count for number in self.at_most)

    @property
    def largest(self) -> float:
        """The largest loss; 0 where there is nobody."""
        return self.values[-1] if self.values else 0.0

    def quantile(self, share: Exact) -> float:
        """Return the least value that this share of the records, or more, does not exceed."""
        level = rational(share, "the share")
        if not 0 <= level <= 1:
            raise ProbabilityError(f"the share is {share}; expected 0 to 1, such as '0.5'.")
        if not self.values:
            raise InputError("there are no records, so no quantiles; look at .count first.")
        return self.values[bisect_left(self.at_most, max(1, ceil(level * self.count)))]

    def share_above(self, loss: float | Fraction) -> float:
        """Return the share above a loss, differences within one part in 10^9 left out."""
        limit = float(loss)
        place = bisect_right(self.values, limit + abs(limit) * AGREEMENT)
        below = self.at_most[place - 1] if place else 0
        return (self.count - below) / self.count if self.count else 0.0

    def to_arrow(self) -> pa.Table:
        """Return a row for each value, with the share at or below it."""
        return pa.table(
            {
                "value": pa.array(self.values, pa.float64()),
                "share": pa.array(self.shares, pa.float64()),
                "at_most": pa.array(self.at_most, pa.int64()),
            }
        )


def distribution(
    space: Workspace,
    relation: str,
    value: str,
    number: str | None,
    points: Iterable[float | Fraction],
    tables: Mapping[str, pa.Table] = _NO_TABLES,
) -> Distribution:
    """Return the distribution of a column of a local relation, `number` counting each row.

    Without it each row is one record, and most are taken to have a value of their own.
    The shares above the points are exact as well. The relation is read once, with the public tables
    that it joins.
    """
    limits = [float(each) for each in points]
    limits = [each + abs(each) * AGREEMENT for each in limits]
    ranks = space.add_local(_ranks(_SHARES))
    wanted = space.add_local(pa.table({"point": pa.array(limits, pa.float64())}))
    rows = space.read(
        f"WITH running AS MATERIALIZED ({_running(relation, value, number)}), "
        "whole AS (SELECT count(*) AS number FROM running) "
        "SELECT running.value, running.at_most FROM running, whole "
        f"WHERE whole.number <= {_MOST_VALUES} "
        f"UNION {_at_ranks(ranks)} "
        f"UNION SELECT running.value, running.at_most FROM {wanted} AS wanted "
        "ASOF JOIN running ON wanted.point >= running.value ORDER BY value",
        tables,
    )
    return Distribution(tuple(rows["value"].to_pylist()), tuple(rows["at_most"].to_pylist()))


def quantiles(
    space: Workspace,
    relation: str,
    value: str,
    number: str,
    shares: Sequence[Fraction],
    tables: Mapping[str, pa.Table] = _NO_TABLES,
) -> list[float]:
    """Return the least values that these shares of a local relation do not exceed; 0 if empty.

    It is read twice and never sorted: how many values lie in each range of floats, then the values
    of the few ranges that hold an answer. What is not too large is held in between, because to
    compute the values takes longer than all the rest. No value is below 0.
    """
    sql = f"SELECT {value} AS value, CAST({number} AS BIGINT) AS number FROM {relation}"
    counts = np.zeros(1 << _RANGE_BITS, np.int64)
    held, rows = list[_Batch](), 0
    for batch in _streamed(space, sql, tables):
        values, numbers, ranges = batch
        np.add.at(counts, ranges, numbers)
        rows += len(values)
        if rows <= _MOST_HELD:
            held.append(batch)
        else:
            held.clear()
    at_most = np.cumsum(counts)
    count = int(at_most[-1])
    if not count:
        return [0.0 for _ in shares]
    ranks = [max(1, ceil(share * count)) for share in shares]
    is_wanted = np.zeros(len(counts), np.bool_)
    is_wanted[np.searchsorted(at_most, ranks)] = True
    again = held or _streamed(space, sql, tables)  # each row is held, or none
    columns = zip(*([each[is_wanted[batch[2]]] for each in batch] for batch in again), strict=True)
    found, each, ranges = map(np.concatenate, columns)
    order = np.argsort(found)
    found, each, ranges = found[order], each[order], ranges[order]
    # What lies in ranges that nobody asked for comes before the values of the next one.
    below = at_most[ranges] - counts[ranges]
    starts = np.searchsorted(ranges, ranges)
    running = np.cumsum(each)
    reached = below + running - (running - each)[starts]
    return [float(found[np.searchsorted(reached, rank)]) for rank in ranks]


def _streamed(space: Workspace, sql: str, tables: Mapping[str, pa.Table]) -> Iterator[_Batch]:
    """Yield what a SELECT of `value` and `number` gives, batch by batch."""
    with space.stream(sql, tables) as batches:
        for batch in batches:
            values = batch["value"].to_numpy(zero_copy_only=False)
            yield values, batch["number"].to_numpy(zero_copy_only=False), _ranges(values)


def _ranges(values: Floats) -> Ints:
    """Return the range of floats that each value lies in, numbered as they are ordered.

    The first bits of a float that is not negative, read as a whole number, grow with it.
    """
    bits = np.ascontiguousarray(values).view(np.uint64) >> np.uint64(63 - _RANGE_BITS)
    return bits.astype(np.int64)


def _running(relation: str, value: str, number: str | None) -> str:
    """Return the SELECT of every different value, and how many have at most that."""
    if number is None:  # to gather equal values first would take twice the time and memory
        return (
            "SELECT value, at_most FROM (SELECT value, CAST(sum(1) OVER running AS BIGINT) "
            "AS at_most, lead(value) OVER running AS next "
            f"FROM (SELECT {value} AS value FROM {relation}) "
            "WINDOW running AS (ORDER BY value ROWS UNBOUNDED PRECEDING)) "
            "WHERE next IS DISTINCT FROM value"
        )
    return (
        "SELECT value, CAST(sum(number) OVER (ORDER BY value ROWS UNBOUNDED PRECEDING) AS BIGINT) "
        f"AS at_most FROM (SELECT {value} AS value, CAST(sum({number}) AS BIGINT) AS number "
        f"FROM {relation} GROUP BY 1)"
    )


def _ranks(shares: Sequence[Fraction]) -> pa.Table:
    return pa.table(
        {
            "top": pa.array([each.numerator for each in shares], pa.int64()),
            "bottom": pa.array([each.denominator for each in shares], pa.int64()),
        }
    )


def _at_ranks(ranks: str) -> str:
    """Return the SELECT of the values at the ranks of some shares, ceil(share * count) from 1."""
    rank = (
        "greatest(1, CAST((CAST(top AS HUGEINT) * count + bottom - 1) // bottom AS BIGINT)) AS rank"
    )
    return (
        f"SELECT running.value, running.at_most FROM (SELECT {rank} FROM {ranks}, "
        "(SELECT max(at_most) AS count FROM running) AS counted) AS wanted "
        "ASOF JOIN running ON wanted.rank <= running.at_most"
    )
