"""Keys that only one record has: how often they are published, beside delta(pieces) (T9)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perrecord.lab.audit.sample.bounds import Counted, CountedShares
from perrecord.lab.audit.sample.worlds import BLANK, charged_policy, rounds_of, session_on
from perrecord.policy.split import Split
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.plan import plan
from perrecord.queries.query import Query

PIECES = (1, 3, 5, 8, 10, 13, 20)
PROMISED = Fraction(1, 10**6)
"""To a record of one piece: too rare for a sample, which would show nothing but an absurd rate."""
_SELECTED = SelectKeys(rho="0.1", delta=PROMISED, split=Split(emp=100))
_ASKED = Query("worlds").group_by("world", keys=_SELECTED).count(rho="0.1")


@dataclass(frozen=True, slots=True)
class LoneKey:
    """What share of lone keys was published, as an interval, and what the policy says."""

    pieces: int
    delta: Fraction
    published: int
    runs: int
    low: float
    high: float

    @property
    def is_violated(self) -> bool:
        """Whether more were published than delta allows."""
        return self.low > self.delta

    @property
    def is_short(self) -> bool:
        """Whether fewer were published than the law says: keys are lost that need not be."""
        return self.high < self.delta


def lone_keys(
    runs: int, chance: float, step: Callable[[str], None] = lambda _: None
) -> Iterator[LoneKey]:
    """Yield the rate at which a record's own key is published, for records of several sizes.

    Each interval misses the true rate with at most this chance.
    """
    for pieces in PIECES:
        step(f"lone keys of {pieces} pieces")
        yield _lone_key(pieces, runs, chance / 2)


def _lone_key(pieces: int, runs: int, chance: float) -> LoneKey:
    record = {**BLANK, "emp": 100 * pieces}
    worlds, rounds = rounds_of(runs)
    with session_on(
        [record], worlds, lambda schema: plan(_ASKED, schema).policy, rounds
    ) as session:
        published = sum(len(session.ask(_ASKED)) for _ in range(rounds))
        delta = charged_policy(session).delta(record)
    total = rounds * worlds
    shares = CountedShares.of(Counted(np.zeros(1), np.array([published]), total), chance)
    return LoneKey(pieces, delta, published, total, float(shares.low[0]), float(shares.high[0]))
