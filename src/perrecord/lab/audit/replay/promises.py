"""The delta that whoever selects keys promises an unsplit record, compared with its threshold.

The threshold is the least tau with Pr[Z >= tau - 1] <= delta (T9): smaller ones break the promise,
larger ones hide keys for nothing.
"""

from collections.abc import Iterator
from fractions import Fraction
from random import Random

from perrecord.lab.audit.replay.checks import NOBODY, Check
from perrecord.laws import DiscreteGaussian
from perrecord.queries.groupings import SelectKeys

PROMISE = "delta of an unsplit record"


def promise_checks(random: Random, count: int) -> Iterator[Check]:
    """Yield whether so many random selections keep the delta that they were given."""
    for _ in range(count):
        rho = Fraction(random.randrange(1, 400), random.choice([10, 100, 1000]))
        delta = Fraction(random.randrange(1, 1000), 10 ** random.randrange(4, 16))
        yield Check(PROMISE, NOBODY, fault=_fault(rho, delta))


def _fault(rho: Fraction, delta: Fraction) -> str | None:
    threshold = SelectKeys(rho=rho, delta=delta).threshold
    law = DiscreteGaussian(1 / (2 * rho))
    if law.tail(threshold - 1).upper > delta:
        return f"with rho {rho} a lone record appears more often than delta {delta} says"
    if law.tail(threshold - 2).lower <= delta:
        return f"with rho {rho} a smaller threshold would keep delta {delta}"
    return None
