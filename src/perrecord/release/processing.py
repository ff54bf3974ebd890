"""What post-processing adds beside the answers, in exact whole numbers. Nothing here reads data."""

from fractions import Fraction

import numpy as np
import pyarrow as pa

from perrecord.mechanisms.answers import Answers
from perrecord.release.spec import Workload
from perrecord.released.columns import Chosen, Estimate, Ratio, Released
from perrecord.released.numbers import common_step, rounded_to, to_arrow


def processed(answers: Answers, workload: Workload) -> pa.Table:
    """Return the rows with their errors and, beside them, what post-processing adds."""
    outputs = workload.outputs
    rows = answers.with_errors(outputs.confidence if outputs.intervals else None)
    for column in answers.columns:
        if workload.post_processing.floor_at_zero and not isinstance(column, Chosen):
            rows = rows.append_column(f"{column.name}_floored", floored(column))
        places = workload.post_processing.round.get(column.name)
        if places is not None:
            rows = rows.append_column(f"{column.name}_rounded", rounded(column, places))
    return rows


def floored(column: Estimate | Ratio) -> pa.Array:
    """Return an answer with 0 in the place of what noise made negative."""
    if isinstance(column, Ratio):
        return pa.array(np.maximum(column.values().to_numpy(), 0.0))
    return to_arrow(np.maximum(column.numbers, 0), column.step)


def rounded(column: Released, places: int) -> pa.Array:
    """Return an answer rounded to so many decimals, or to tens, hundreds and so on if negative.

    Counts, totals and quantiles exactly, however large, ties away from zero; averages in floats.
    """
    unit = Fraction(10) ** -places
    match column:
        case Ratio():
            return pa.array(np.round(column.values().to_numpy(), places))
        case Estimate():
            return to_arrow(rounded_to(column.numbers, column.step / unit), unit)
        case Chosen():
            step = common_step(column.candidates)
            steps = np.array([int(each / step) for each in column.candidates], np.object_)
            return to_arrow(rounded_to(steps, step / unit)[column.index], unit)


def unit_of(places: int) -> str:
    """Return what an answer is rounded to, for people.

    >>> unit_of(-2), unit_of(0), unit_of(3)
    ('the nearest 100', 'the nearest whole number', '3 decimals')
    """
    if places == 0:
        return "the nearest whole number"
    return f"the nearest {10**-places:,}" if places < 0 else f"{places} decimals"
