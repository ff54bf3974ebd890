"""Where a workload stands on a frontier: how its errors compare with those that are aimed at."""

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from perrecord.evaluate.accuracy.errors import cell_errors
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.truths import Truth
from perrecord.evaluate.tuning.tune import Tuning


def standing(truths: Iterable[tuple[str, Truth]], found: Tuning) -> float | None:
    """Return what the errors aimed at must be multiplied by so that a workload just reaches them.

    `truths` are its true numbers with their noise, each beside the name of its table. None if an
    answer that was tuned is not there, or has other numbers.

    >>> import perrecord, pyarrow as pa
    >>> from perrecord.evaluate.accuracy.truths import truths
    >>> from perrecord.evaluate.tuning.tune import tune
    >>> with perrecord.table(pa.table({"emp": [10, 20, 970]}), measures=["emp"]) as source:
    ...     asked = perrecord.Query().sum("emp", taper=50, rho=1)
    ...     found = tune({"all": asked}, source, "10% for 100% of cells")
    ...     planned = perrecord.queries.plan.plan(asked, source.schema)
    ...     numbers = [("all", each) for each in truths(planned, source)]
    >>> round(standing(numbers, found), 2)
    0.73
    """
    there = {(table, each.answer.name): each for table, each in truths}
    largest = 0.0
    for aim in found.answers:
        truth = there.get((aim.table, aim.before.name))
        if truth is None:
            return None
        errors = cell_errors(truth, aim.target.goal.confidence)
        known = errors.relative(errors.reach)[~errors.is_zero]
        if len(known) != aim.cells - aim.zeros:
            return None
        largest = max(largest, _at(known, aim.target.share) / float(aim.within))
    return largest


def _at(errors: Floats, share: Fraction) -> float:
    """Return the error that a share of the cells does not exceed."""
    return float(np.sort(errors)[math.ceil(share * len(errors)) - 1])
