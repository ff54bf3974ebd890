"""What the page says of a spec, computed by the library from its text alone.

A fact is the library's own: price and noise from the plan, losses from the policy, hints and the
ledger's word as `perrecord check` has them. None is computed from records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import pyarrow as pa

from perrecord.confidential.withheld import withheld
from perrecord.errors import InputError, PerrecordError
from perrecord.evaluate.losses.record_sizes import KeptCosts, changes_by_size
from perrecord.mechanisms.run import check_plan
from perrecord.release.changes import Raised
from perrecord.release.checking import (
    SHOWN_PERCENT,
    CheckedRelease,
    LedgerCheck,
    checked_release,
    ledger_check,
    planned_policy,
)
from perrecord.release.page import policy_page
from perrecord.release.spec import LoadedSpec, Workload, build, check_without_data
from perrecord.release.spec.load import canonical, parse_spec
from perrecord.release.spec.models import Spec
from perrecord.studio.choices import AnswerChoices, choices_of
from perrecord.studio.doors import CLOSED, StudioDoor, file_state
from perrecord.tables.table import Table


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one text; what a mistake in it hides is missing."""

    text: str
    problems: str = ""
    """What is wrong with it, each mistake on a line of its own and with its place."""
    loaded: LoadedSpec | None = None
    workload: Workload | None = None
    checked: CheckedRelease | None = None
    choices: tuple[AnswerChoices, ...] = ()

    def whole(self) -> tuple[LoadedSpec, Workload]:
        """Return the spec and its workload, or refuse while the spec has mistakes."""
        if self.loaded is None or self.workload is None:
            raise InputError("the spec has mistakes; correct them first.")
        return self.loaded, self.workload


@dataclass(frozen=True, slots=True)
class Curves:
    """What a record of any size loses, and what a change costs; it takes a moment to compute."""

    by_size: pa.Table
    """Of `changes_by_size`: presence and 5, 10, 20 % more, for each measure and size."""
    raised: tuple[Raised, ...]
    """Of each example and measure: what 10 % more would cost."""


class SpecReading:
    """Reads specs, one text after another, and keeps open the table that they have in common."""

    def __init__(self, path: Path, door: StudioDoor = CLOSED) -> None:
        self._path = path
        self._door = door
        self._table: tuple[object, Table] | None = None

    def facts(self, text: str) -> Facts:
        """Return what is known of a text; mistakes are facts too."""
        loaded = workload = None
        try:
            loaded = parse_spec(text, self._path)
            workload = self._workload(loaded)
            checked = checked_release(loaded, workload)
        except PerrecordError as error:
            choices = () if loaded is None else choices_of(text, loaded, workload)
            return Facts(text, str(error), loaded, None, None, choices)
        return Facts(text, "", loaded, workload, checked, choices_of(text, loaded, workload))

    def close(self) -> None:
        """Close the table."""
        if self._table is not None:
            self._table[1].close()
            self._table = None

    def _workload(self, loaded: LoadedSpec) -> Workload:
        check_without_data(loaded)
        table = withheld(lambda: self._opened(loaded))
        workload = withheld(lambda: build(loaded, table.schema))
        check_plan(workload.plan)
        return workload

    def _opened(self, loaded: LoadedSpec) -> Table:
        """Return the table, opened anew only if the spec or a file says something else of it."""
        declared = _declared(loaded), self._door.state(loaded)
        if self._table is None or self._table[0] != declared:
            self.close()
            self._table = declared, self._door.opened(loaded)
        return self._table[1]


_OF_TABLE = ("source", "table", "id", "unit", "dimensions", "measures", "lookups", "examples")


def _declared(loaded: LoadedSpec) -> object:
    """Return what decides what a table is: its part of the spec, and the state of its files."""
    spec = loaded.spec
    part = Spec.model_construct(**{name: getattr(spec, name) for name in _OF_TABLE})
    lookups = [loaded.resolve(each.source) for each in spec.lookups]
    states = [file_state(each) for each in (*loaded.source_files, *lookups)]
    return canonical(part), tuple(states)


# -- what takes a moment ----------------------------------------------------------------------


class CurvesKept:
    """Curves, from one text to the next: what an edit does not touch is not computed again."""

    def __init__(self) -> None:
        self._costs: KeptCosts = {}

    def of(self, _: LoadedSpec, workload: Workload) -> Curves:
        """Return the losses of records of any size, and what changes of the examples would cost."""
        published = planned_policy(workload)
        example = next((dict(record) for _, record in workload.examples), None)
        raises = (
            each
            for name, _ in published.examples
            for each in published.raised(name, [SHOWN_PERCENT])
        )
        return Curves(changes_by_size(workload.plan, example, self._costs), tuple(raises))


def ledger_of(loaded: LoadedSpec, workload: Workload) -> LedgerCheck:
    """Return what the ledger says; a ledger that cannot be asked refuses."""
    try:
        return withheld(lambda: ledger_check(loaded, workload))
    except PerrecordError as error:
        return LedgerCheck(loaded.ledger, False, "cannot be asked", str(error))


def page_of(_: LoadedSpec, workload: Workload) -> str:
    """Return the policy page as respondents would see it."""
    return policy_page(planned_policy(workload))


Result = TypeVar("Result")


@dataclass(slots=True)
class Kept(Generic[Result]):
    """Something that takes a moment to compute, kept for the text that it was asked for last."""

    compute: Callable[[LoadedSpec, Workload], Result]
    _last: tuple[str, Result] | None = None

    def of(self, facts: Facts) -> Result:
        """Return it, or refuse while the spec has mistakes."""
        whole, last = facts.whole(), self._last
        if last is None or last[0] != facts.text:
            last = self._last = facts.text, self.compute(*whole)
        return last[1]

    def forget(self) -> None:
        """Compute it anew when it is asked for next."""
        self._last = None
