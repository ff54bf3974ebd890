"""A declared finite domain of keys: every combination of a few key sets, never written out.

All keys that could occur are known, most are empty, and a query pays only for those that are not
and for those that pass by noise alone (T9). So a domain of 10^9 cells, or 10^15, is its factors
and an order: a cell is a position from 0 to size - 1, and positions rise as keys do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from perrecord.errors import InputError, listing
from perrecord.noise.bits import BitSource, system_bits
from perrecord.noise.samplers import count_of
from perrecord.noise.uniform import integers_below
from perrecord.tables.keys import Keys, KeyValue

Positions = NDArray[np.int64]

_MOST_CELLS = 1 << 62
_MOST_KEYS = 50_000_000


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Domain:
    """Every combination of a key of each factor, in the order that `Keys` would have.

    >>> domain = Domain.from_dict({"state": ["TX", "NM"], "kind": ["farm", "ranch", "mill"]})
    >>> domain
    Domain(6 of state, kind)
    >>> domain.decode(np.array([0, 4])).to_pylist()
    [{'state': 'NM', 'kind': 'farm'}, {'state': 'TX', 'kind': 'mill'}]
    """

    factors: tuple[Keys, ...]

    def __init__(self, *factors: Keys) -> None:
        strays = [type(each).__name__ for each in factors if not isinstance(each, Keys)]
        if strays or not factors:
            raise InputError(
                f"the domain is made of {listing(strays) or 'nothing'}; expected key sets, such as "
                'Domain(Keys.from_dict({"state": ["TX", "NM"]})).'
            )
        names = [name for each in factors for name in each.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(
                f"two factors of the domain name {listing(twice)}; a domain takes key sets of "
                "different columns. Keys that belong together make one factor."
            )
        object.__setattr__(self, "factors", factors)
        if self.size > _MOST_CELLS:
            raise InputError(
                f"the domain of {listing(names)} has about 2^{self.size.bit_length()} cells; "
                "expected at most 2^62. Leave out a column, or list the keys that can occur."
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Iterable[KeyValue]]) -> "Domain":
        """Return the domain of every combination of the listed values, a factor for each column."""
        if not isinstance(values, Mapping):
            raise InputError(
                f"the domain is a {type(values).__name__}; expected lists of values by column, "
                'such as {"state": ["TX", "NM"]}.'
            )
        return cls(*(Keys.from_dict({name: each}) for name, each in values.items()))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the key columns, in order."""
        return tuple(name for each in self.factors for name in each.columns)

    @property
    def size(self) -> int:
        """The number of cells."""
        return prod(len(each) for each in self.factors)

    @property
    def strides(self) -> tuple[int, ...]:
        """The step between rows of each factor: a position is the sum of row * stride.

        >>> Domain.from_dict({"state": ["TX", "NM"], "kind": ["farm", "ranch", "mill"]}).strides
        (3, 1)
        """
        later = [len(each) for each in self.factors[:0:-1]]
        return tuple(accumulate(later, mul, initial=1))[::-1]

    def decode(self, indices: Positions) -> pa.Table:
        """Return the keys at these positions, in their order."""
        positions = _positions(indices, self.size, "the positions")
        columns: list[pa.ChunkedArray] = []
        for factor, stride in zip(self.factors, self.strides, strict=True):
            # A domain without cells has no positions, but its zeros must not divide.
            rows = positions // max(stride, 1) % max(len(factor), 1)
            columns += factor.table.take(pa.array(rows)).columns
        return pa.table(columns, names=list(self.columns))

    def sample(
        self, count: int, occupied: Positions, *, _bits: BitSource | None = None
    ) -> Positions:
        """Return `count` distinct positions outside `occupied`, every such set equally likely.

        Both `occupied`, which rises, and what is returned are sorted. Time and memory grow with
        the two and not with the domain.

        >>> Domain.from_dict({"n": range(5)}).sample(3, np.array([1, 3])).tolist()
        [0, 2, 4]
        """
        taken = _positions(occupied, self.size, "the occupied positions")
        if (taken[1:] <= taken[:-1]).any():
            raise InputError(
                "the occupied positions do not rise; expected each once, sorted: np.unique does so."
            )
        wanted, free = count_of(count, "the number of positions"), self.size - len(taken)
        if wanted > free:
            raise InputError(
                "more positions were asked for than the domain has free cells; expected at most "
                "domain.size - len(occupied)."
            )
        ranks = _distinct(wanted, free, _bits or system_bits())
        # Before the k-th occupied cell lie taken[k] - k free ones; so the free cell of rank r has
        # as many occupied cells before it as there are k with taken[k] - k <= r.
        return ranks + np.searchsorted(taken - np.arange(len(taken)), ranks, side="right")

    def keys(self) -> Keys:
        """Return the domain written out, up to 50 million keys."""
        if self.size > _MOST_KEYS:
            raise InputError(
                f"the domain has {self.size:,} cells; at most {_MOST_KEYS:,} are written out as "
                "keys. Decode the positions that are needed, or group by fewer columns."
            )
        return reduce(mul, self.factors)

    def __repr__(self) -> str:
        return f"Domain({self.size:,} of {listing(self.columns)})"


def _positions(indices: object, size: int, what: str) -> Positions:
    """Return the positions if they are some; the message shows none, they may be confidential."""
    if not isinstance(indices, np.ndarray) or indices.dtype != np.int64 or indices.ndim != 1:
        raise InputError(f"{what} are not a list of int64; give something like np.array([0, 4]).")
    if len(indices) and not (indices.min() >= 0 and indices.max() < size):
        raise InputError(f"{what} leave the domain; expected each from 0 to {size - 1:,}.")
    return indices


def _distinct(count: int, below: int, source: BitSource) -> Positions:
    """Return a sorted set of `count` integers below a bound, every such set equally likely.

    Numbers are drawn independently and gathered until there are enough different ones. Each round
    draws as many as are missing, so none is ever thrown out but for having been drawn before:
    renaming the integers changes nothing, hence all sets of that size are equally likely. Up to
    half of them a draw is new at least every other time; beyond, the rest is drawn instead.
    """
    if 2 * count > below:
        is_chosen = np.ones(below, dtype=np.bool_)
        is_chosen[_distinct(below - count, below, source)] = False
        return np.flatnonzero(is_chosen)
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        drawn = integers_below(below, count - len(found), source)
        found = np.sort(np.concatenate([found, drawn]))  # np.unique hashes, many times slower
        found = found[np.diff(found, prepend=-1) > 0]
    return found
