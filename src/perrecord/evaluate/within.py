"""Whether cells come within an error: one decision for `evaluate` and `tune` (T22).

A cell comes within d if |noise + bias| < d |true| with the confidence that its errors were computed
for. Counts, totals and quantiles lie on a grid, so this is decided on whole numbers of steps, and
an exact tie is never within; `allowed` asks the same of the noise that `fitness` and `tune` look
for.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from perrecord.evaluate.accuracy import CellErrors
from perrecord.evaluate.allowed import limits_below
from perrecord.evaluate.quantile_errors import QuantileErrors
from perrecord.exact import text

Which = npt.NDArray[np.bool_]


def is_within(errors: CellErrors | QuantileErrors, limit: Fraction) -> Which:
    """Return which cells come within an error; none whose true number is 0.

    >>> import pyarrow as pa, perrecord
    >>> from perrecord.evaluate.accuracy import accuracy
    >>> from perrecord.queries.plan import plan
    >>> with perrecord.table(pa.table({"emp": [10, 20, 970]}), measures=["emp"]) as source:
    ...     asked = perrecord.Query().sum("emp", clamp=(0, 1000), rho="0.5")
    ...     (errors,) = accuracy(plan(asked, source.schema), source)
    >>> errors.reach, [is_within(errors, Fraction(each, 1000)) for each in (1960, 1961)]
    (array([1960.]), [array([False]), array([ True])])
    """
    if isinstance(errors, QuantileErrors):  # in whole steps already
        return np.asarray(
            errors.reach <= limits_below(np.where(errors.is_zero, 0.0, errors.true), limit)
        )
    truth = errors.truth
    if truth.count is not None:  # an average is on no grid
        return np.asarray(errors.reach < float(limit) * np.abs(errors.true))
    # The reach of noise on a grid is a whole number of steps.
    steps = np.rint(errors.reach / float(truth.total.step))
    return np.asarray(steps <= limits_below(truth.total.exact, limit))


def known_within(errors: CellErrors | QuantileErrors, limit: Fraction) -> Which:
    """Return the same for the cells whose true number is not 0, the others left out."""
    return is_within(errors, limit)[~errors.is_zero]


def share_of(which: Which) -> float | None:
    """Return the share of the cells that are so; None where there are none."""
    return float(which.mean()) if len(which) else None


def within_column(limit: Fraction) -> str:
    """Return the name of the column that holds the share of cells within a limit.

    >>> within_column(Fraction(1, 20))
    'within_5_percent'
    """
    return f"within_{text(100 * limit)}_percent"


def is_share(which: Which, share: Fraction) -> bool:
    """Tell whether at least this share of the cells is so, exactly."""
    return bool(len(which)) and int(which.sum()) >= share * len(which)
