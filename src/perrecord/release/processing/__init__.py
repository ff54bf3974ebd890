"""Post-processing: a stage between the noise and the files, read from top to bottom.

Nothing here reads data, and nothing here costs privacy (T6): steps see published numbers alone.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from perrecord.mechanisms.answers import Answers
from perrecord.release.processing.consistent import Consistent
from perrecord.release.processing.flooring import Flooring
from perrecord.release.processing.rounding import Rounding
from perrecord.release.processing.step import Added, Place, Step, TableStep, WorkloadStep
from perrecord.release.spec import Workload

STEPS: tuple[type[Step], ...] = (Flooring, Rounding, Consistent)
"""What can be asked for, in the order in which it is done."""

Across = Mapping[Place, Sequence[Added]]
"""What steps that look across tables add beside each answer."""


def steps_of(workload: Workload) -> tuple[Step, ...]:
    """Return the steps that a release asks for, in order."""
    return tuple(found for step in STEPS if (found := step.asked(workload)) is not None)


def looks_across(workload: Workload) -> bool:
    """Tell whether a step needs all tables at once; else each is written as it comes."""
    return any(isinstance(step, WorkloadStep) for step in steps_of(workload))


def across(workload: Workload, answers: Sequence[Answers]) -> Across:
    """Return what is added by looking at all tables, given in the order of the plan."""
    found: dict[Place, list[Added]] = {}
    for step in steps_of(workload):
        if isinstance(step, WorkloadStep):
            for place, columns in step.added(answers).items():
                found.setdefault(place, []).extend(columns)
    return found


def processed(answers: Answers, workload: Workload, place: int, beside: Across) -> pa.Table:
    """Return the rows of a grouping with their errors and, beside them, what each step adds.

    `place` is that of the grouping in the plan.
    """
    outputs = workload.outputs
    rows = answers.with_errors(outputs.confidence if outputs.intervals else None)
    added: list[tuple[str, Added]] = [
        (column.name, each)
        for step in steps_of(workload)
        if isinstance(step, TableStep)
        for column in answers.columns
        for each in step.added(column)
    ]
    added += [
        (column.name, each)
        for column in answers.columns
        for each in beside.get((place, column.name), ())
    ]
    for name, (ending, values) in added:
        rows = rows.append_column(f"{name}{ending}", values)
    return rows
