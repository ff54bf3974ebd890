"""Post-processing: a stage between the noise and the files, read from top to bottom.

Nothing here reads data, and nothing here costs privacy (T4): steps see published numbers alone.
"""

import pyarrow as pa

from perrecord.mechanisms.answers import Answers
from perrecord.release.processing.flooring import Flooring
from perrecord.release.processing.rounding import Rounding
from perrecord.release.processing.step import Step
from perrecord.release.spec import Workload

STEPS: tuple[type[Step], ...] = (Flooring, Rounding)
"""What can be asked for, in the order in which it is done."""


def steps_of(workload: Workload) -> tuple[Step, ...]:
    """Return the steps that a release asks for, in order."""
    asked = workload.post_processing
    return tuple(found for step in STEPS if (found := step.asked(asked)) is not None)


def processed(answers: Answers, workload: Workload) -> pa.Table:
    """Return the rows with their errors and, beside them, what each step adds."""
    outputs = workload.outputs
    rows = answers.with_errors(outputs.confidence if outputs.intervals else None)
    for step in steps_of(workload):
        for column in answers.columns:
            values = step.values(column)
            if values is not None:
                rows = rows.append_column(f"{column.name}{step.ending}", values)
    return rows
