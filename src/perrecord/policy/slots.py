"""Key selection slots: the delta part of a policy (T2, T9).

A slot (rho, tau) stands for one run of threshold selection: split rows are counted per key, noise
of variance parameter 1 / (2 rho) is added, and keys that reach tau are published. A record with m
pieces, alone in its key, is thereby revealed with probability delta(m) = Pr[Z >= tau - m].
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from perrecord.errors import AmountError, InputError
from perrecord.exact import Exact, parameter, round_up
from perrecord.laws import DiscreteGaussian
from perrecord.policy.cases import Record, dimension
from perrecord.policy.split import Scheme, Split, SplitBy


@dataclass(frozen=True, slots=True)
class Slot:
    """One permitted run of key selection. A charge fills a slot only when all of it is equal."""

    rho: Fraction
    threshold: int
    split: Scheme | None
    keys: tuple[str, ...]

    @classmethod
    def of(
        cls,
        rho: object,
        keys: Iterable[str],
        split: Scheme | None,
        threshold: int | None,
        delta: Exact | None,
    ) -> "Slot":
        """Build from tau itself, or from the delta that an unsplit record is promised."""
        amount = parameter(rho, "the rho of a key selection")
        if amount <= 0:
            raise AmountError(f"the rho of a key selection is {rho}; expected a number above 0.")
        names = (
            (keys,) if isinstance(keys, str) else tuple(keys if isinstance(keys, Iterable) else ())
        )
        if not names or not all(isinstance(name, str) and name for name in names):
            raise InputError('a key selection names no key; give the columns, such as ["county"].')
        if split is not None and not isinstance(split, Split | SplitBy):
            raise InputError(f"the split is a {type(split).__name__}; expected a Split or None.")
        if (threshold is None) == (delta is None):
            raise InputError(
                "a key selection takes either threshold=13 or delta='1e-6', one of the two."
            )
        if delta is not None:
            threshold = DiscreteGaussian.for_zcdp(amount).selection_threshold(delta)
        if not isinstance(threshold, int) or isinstance(threshold, bool):
            raise InputError(f"the threshold is {threshold!r}; expected a whole number.")
        return cls(amount, threshold, split, tuple(sorted(names)))

    def pieces(self, record: Record) -> int:
        """Return how many rows the record adds to its key's count."""
        return 1 if self.split is None else self.split.pieces(record)

    def delta(self, pieces: int) -> Fraction:
        """Return delta(m) = Pr[Z >= tau - m], rounded up."""
        return _tail(self.rho, self.threshold - pieces)

    def delta_of_parts(self, parts: Iterable[Iterable[Record]]) -> Fraction:
        """Return 1 - prod over keys k of (1 - delta(M_k)) (1 - delta(0))^(n_k - 1), rounded up.

        M_k adds up the pieces of the records in key k: two records of five pieces alone in one
        key are as visible as one of ten. n_k is the number of parts that they lie in, each of them
        a selection of its own, or all of them one: the bound holds for both (docs/theory.md).
        """
        totals: Counter[tuple[object, ...]] = Counter()
        counts: Counter[tuple[object, ...]] = Counter()
        for part in parts:
            own: Counter[tuple[object, ...]] = Counter()
            for record in part:
                values = (dimension(record, name) for name in self.keys)
                own[tuple((type(value), value) for value in values)] += self.pieces(record)
            totals += own
            counts.update(own.keys())
        return any_of(
            delta
            for key, pieces in totals.items()
            for delta in (self.delta(pieces), *[self.delta(0)] * (counts[key] - 1))
        )


def any_of(deltas: Iterable[Fraction]) -> Fraction:
    """Return 1 - prod(1 - delta), rounded up: how deltas of selections compose (T4)."""
    total = Fraction(0)
    for delta in deltas:
        total = round_up(total + delta - total * delta) if total else delta
    return min(total, Fraction(1))


@lru_cache(maxsize=4096)
def _tail(rho: Fraction, start: int) -> Fraction:
    return min(Fraction(1), DiscreteGaussian.for_zcdp(rho).tail(start).upper)
