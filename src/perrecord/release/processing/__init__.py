"""Post-processing: a stage between the noise and the files, read from top to bottom.

Nothing here reads data, and nothing here costs privacy (T6): steps see published numbers alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from perrecord.mechanisms.answers import Answers
from perrecord.release.processing.consistent import Consistent
from perrecord.release.processing.flooring import Flooring
from perrecord.release.processing.rounding import Rounding
from perrecord.release.processing.status import Status
from perrecord.release.processing.step import Added, Making, ProcessingStep, TableStep, WorkloadStep
from perrecord.release.spec import Workload
from perrecord.released.derived import Computed

STEPS: tuple[type[ProcessingStep], ...] = (Flooring, Rounding, Status, Consistent)
"""What can be asked for, in the order in which it is done."""

Beside = Mapping[str, Sequence[Making]]
"""What makes the columns that steps across tables add to one of them, by its answers' names."""


@dataclass(frozen=True, slots=True)
class Across:
    """What looking at all tables gives."""

    beside: tuple[Beside, ...]
    """What is added to each table, in the order of the plan."""
    following: Mapping[str, Beside]
    """The columns of tables that follow, by their names."""
    warnings: tuple[str, ...]
    """What is wrong with the release, as far as its published numbers show it."""


def steps_of(workload: Workload) -> tuple[ProcessingStep, ...]:
    """Return the steps that a release asks for, in order."""
    return tuple(found for step in STEPS if (found := step.asked(workload)) is not None)


def looks_across(workload: Workload) -> bool:
    """Tell whether something needs all tables at once; else each is written as it comes."""
    if any(number.others for number in workload.derived):
        return True
    return any(isinstance(step, WorkloadStep) for step in steps_of(workload))


def across(workload: Workload, answers: Sequence[Answers]) -> Across:
    """Return what is added by looking at all tables, given in the order of the plan."""
    beside: list[dict[str, list[Making]]] = [{} for _ in answers]
    following: dict[str, dict[str, list[Making]]] = {
        each.name: {answer: [] for answer in each.answers} for each in workload.following
    }
    warnings: list[str] = []
    for step in steps_of(workload):
        if isinstance(step, WorkloadStep):
            found = step.added(answers)
            for (place, answer), making in found.beside.items():
                beside[place].setdefault(answer, []).append(making)
            for name, columns in found.following.items():
                for answer, making in columns.items():
                    following[name][answer].append(making)
            warnings.extend(found.warnings)
    return Across(tuple(beside), following, tuple(warnings))


def summed(keys: pa.Table, columns: Beside) -> pa.Table:
    """Return the rows of a table that follows."""
    rows = keys
    for name, makings in columns.items():
        for making in makings:
            for ending, values in making():
                rows = rows.append_column(f"{name}{ending}", values)
    return rows


def processed(
    answers: Answers, workload: Workload, beside: Beside, derived: Sequence[Computed] = ()
) -> pa.Table:
    """Return the rows of a grouping with their errors, derived numbers, and what each step adds."""
    outputs = workload.outputs
    confidence = outputs.confidence if outputs.intervals else None
    rows = answers.with_errors(confidence)
    added: list[tuple[str, Added]] = [
        (column.name, each)
        for column in derived
        for each in (("", column.values()), *column.beside(confidence))
    ]
    added += [
        (column.name, each)
        for step in steps_of(workload)
        if isinstance(step, TableStep)
        for column in (*answers.columns, *derived)
        for each in step.added(column)
    ]
    added += [
        (column.name, each)
        for column in answers.columns
        for making in beside.get(column.name, ())
        for each in making()
    ]
    for name, (ending, values) in added:
        rows = rows.append_column(f"{name}{ending}", values)
    return rows
