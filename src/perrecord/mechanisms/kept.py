"""Noisy integers of a grouping, kept as they were drawn, and the answers that they make.

They are all that a charge pays for: files can be made of them again, under other titles or with
other columns beside them, and nothing more is learned from the data. Each is kept with the noise
that it has, so that no later reading of the same spec gives it another.

    key columns      where keys were selected; declared keys are known
    "0", "1", ...    what was measured or chosen, in the order in which noise was drawn
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.errors import ReleaseError
from perrecord.exact import text
from perrecord.laws import DiscreteStudent
from perrecord.mechanisms.additive import blurred_numbers
from perrecord.mechanisms.answers import UNGROUPED, Answers
from perrecord.mechanisms.selection import rows_estimate
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.measurements import Choice, Step
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.released.blurred import Blurred
from perrecord.released.columns import Chosen, Estimate, Released
from perrecord.released.numbers import Integers, NoisyIntegers, whole_numbers
from perrecord.tables.keys import Keys

_NOISE, _KEY = b"noise", "key "


def kept(grouping: PlannedGrouping, answers: Answers) -> bytes:
    """Return the noisy integers behind the answers of a grouping, as an Arrow file."""
    is_declared = isinstance(grouping.grouping.cells, Keys | None)
    names = [] if is_declared else answers.keys.column_names
    columns = {f"{_KEY}{name}": answers.keys[name] for name in names}
    parts = [part for column in answers.columns for part in column.parts]
    columns |= {str(place): _column(part.drawn) for place, part in enumerate(parts)}
    table = pa.table(columns)
    noise = json.dumps([_noise(part) for part in parts]).encode()
    buffer = BytesIO()
    with pa.ipc.new_file(buffer, table.schema.with_metadata({_NOISE: noise})) as file:
        file.write_table(table)
    return buffer.getvalue()


def answers_of(planned: Plan, grouping: PlannedGrouping, content: bytes) -> Answers:
    """Return the answers that kept integers make; refused if their noise would be another now."""
    table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
    return _Kept(planned, grouping, table).answers()


@dataclass(frozen=True, slots=True)
class _Kept:
    """The kept integers of one grouping, with what the plan says of them."""

    planned: Plan
    grouping: PlannedGrouping
    table: pa.Table

    def answers(self) -> Answers:
        keys, query = self._keys(), self.planned.queries[self.grouping.query]
        numbers = self._numbers()
        columns: list[Released] = []
        declared = self.grouping.grouping.cells
        if isinstance(declared, SelectKeys) and declared.rows_as is not None:
            columns.append(rows_estimate(declared, next(numbers), declared.rows_as))
        currency = query.currency or Currency.RHO
        for asked in query.answers:
            results = [
                self._result(asked, step, next(numbers), keys, currency) for step in asked.steps
            ]
            columns.append(asked.combined(results))
        self._check_noise(columns)
        return Answers(keys, tuple(columns), self.grouping.policy, self.grouping.charges)

    def _keys(self) -> pa.Table:
        declared = self.grouping.grouping.cells
        if declared is None:
            return UNGROUPED
        if isinstance(declared, Keys):
            return declared.table
        names = [name for name in self.table.column_names if name.startswith(_KEY)]
        keys = self.table.select(names)
        return keys.rename_columns([name.removeprefix(_KEY) for name in names])

    def _numbers(self) -> Iterator[NoisyIntegers]:
        for name in self.table.column_names:
            if name.isdecimal():
                yield NoisyIntegers(_integers(self.table[name]))

    def _result(
        self, asked: Answer, step: Step, drawn: NoisyIntegers, keys: pa.Table, currency: Currency
    ) -> Estimate | Blurred | Chosen:
        if isinstance(step, Choice):
            return Chosen(asked.name, step.candidates, drawn)
        noise = step.noise(self.planned.schema, self.grouping.grouping.columns, currency)
        if step.blurred is not None:
            return blurred_numbers(asked.name, drawn, noise)
        laws, which = noise.laws(keys)
        return Estimate(asked.name, drawn, noise.step, laws, which)

    def _check_noise(self, columns: list[Released]) -> None:
        """Refuse to say of a number that it has other noise than it was drawn with."""
        then = json.loads((self.table.schema.metadata or {})[_NOISE])
        if [_noise(part) for column in columns for part in column.parts] != then:
            raise ReleaseError(
                "the numbers of this release were drawn by another version of perrecord, with "
                "noise that this one would not draw for the same spec; nothing was published. "
                "Publish the sealed files as they are, with that version and the spec as it was."
            )


def _noise(part: Estimate | Blurred | Chosen) -> dict[str, Any]:
    """Return what a number was drawn with, as plain values; of a blurred one what is public."""
    if isinstance(part, Blurred):
        least = DiscreteStudent(part.spread, part.nu)
        return {"step": text(part.step), "blurred": repr(least), "by": text(part.by)}
    if isinstance(part, Chosen):
        return {"candidates": [text(each) for each in part.candidates]}
    return {"step": text(part.step), "laws": [repr(law) for law in part.laws]}


def _column(numbers: Integers) -> pa.Array:
    """Return integers in 32 bits or 64 where they fit, else as text."""
    if numbers.dtype == np.object_:
        return pa.array([str(each) for each in numbers], pa.string())
    column = pa.array(numbers)
    try:
        return column.cast(pa.int32())
    except pa.ArrowInvalid:
        return column


def _integers(column: pa.ChunkedArray) -> Integers:
    if pa.types.is_string(column.type):
        return whole_numbers([int(each) for each in column.to_pylist()])
    return np.array(column.to_numpy(), dtype=np.int64)
