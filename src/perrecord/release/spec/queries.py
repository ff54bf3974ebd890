"""The queries of a spec as `Query` values."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from perrecord.errors import InputError
from perrecord.policy.split import Scheme
from perrecord.queries.check import checks_of
from perrecord.queries.groupings import SelectCells, WhichCells
from perrecord.queries.methods import Accounting, Blur, Taper
from perrecord.queries.query import Query
from perrecord.queries.sql import SQLOptions, from_sql
from perrecord.release.spec.answers import Answering, Candidates, amount, named_taper, weighting_of
from perrecord.release.spec.pieces import DeclaredCells
from perrecord.release.spec.places import note
from perrecord.release.spec.problems import Path, Problems
from perrecord.release.spec.query_checks import sets_of
from perrecord.release.spec.questions import (
    EVERY,
    BlurEntry,
    CellsEntry,
    QueryEntry,
    columns_of_set,
)
from perrecord.tables.domains import Domain
from perrecord.tables.schema import Schema

Noting = Callable[[], AbstractContextManager[None]]
ColumnNames = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """What every query of a spec is built with; the schema is missing until the table is open."""

    table: str
    splits: Mapping[str, Scheme]
    tapers: Mapping[str, Taper]
    keys: Mapping[str, DeclaredCells]
    accounting: Accounting
    schema: Schema | None
    blur: Callable[[BlurEntry], Blur]

    def query(self, entry: QueryEntry, path: Path, problems: Problems) -> Query | None:
        """Return the query, or None after noting why there is none."""
        before = len(problems.found)
        noting = partial(_noting, entry, path, problems)
        query: Query | None = None
        with noting():
            query = (
                self._from_sql(entry) if entry.sql is not None else self._in_parts(entry, noting)
            )
        is_sound = len(problems.found) == before
        if query is not None and is_sound and entry.sql is None and self.schema is not None:
            for check in checks_of(query, self.schema):
                with noting():
                    check()
        return query if len(problems.found) == before else None

    def _in_parts(self, entry: QueryEntry, noting: Noting) -> Query:
        query = Query(self.table)
        with noting():
            query = query if entry.where is None else query.where(entry.where)
        with noting():
            query = query.group_by_sets(sets_of(entry), keys=self._keys(entry.keys))
        answering = Answering(self.splits, self.tapers, self.accounting, self.schema, self.blur)
        for name, answer in (entry.answers or {}).items():
            with noting():
                query = answering.answered(query, name, answer)
        return query

    def _from_sql(self, entry: QueryEntry) -> Query | None:
        if self.schema is None:
            return None
        convert: dict[str, Callable[[Any], Any]] = {
            **{"rho": amount, "epsilon": amount, "candidates": Candidates},
            "split": self.splits.__getitem__,
            "taper": partial(named_taper, tapers=self.tapers),
            "blur": self.blur,
            "weight": weighting_of,
        }
        options: dict[str, Any] = {
            name: _for_every(_each(given, convert.get(name)))
            for name in SQLOptions.__optional_keys__
            if isinstance(given := getattr(entry, name), Mapping)
        }
        return from_sql(
            str(entry.sql),
            schema=self.schema,
            keys=self._keys(entry.keys),
            accounting=entry.accounting or self.accounting,
            **options,
        )

    def _keys(self, entry: CellsEntry | None) -> WhichCells | dict[ColumnNames, WhichCells] | None:
        if entry is None or entry.sets is None:
            return None if entry is None else self._cells(entry)
        return {columns_of_set(name): self._cells(each) for name, each in entry.sets.items()}

    def _cells(self, entry: CellsEntry) -> WhichCells:
        found = self.keys[str(entry.keys or entry.domain)]
        if not isinstance(found, Domain):
            return found
        return SelectCells(found, answer=str(entry.keep), at_least=entry.at_least or 0)


@contextmanager
def _noting(entry: QueryEntry, path: Path, problems: Problems) -> Iterator[None]:
    """Note an error about the query at its place in the spec."""
    try:
        yield
    except InputError as error:
        note(error, path, entry, problems)


def _each(given: Mapping[str, Any], convert: Callable[[Any], Any] | None) -> Mapping[str, Any]:
    return given if convert is None else {name: convert(each) for name, each in given.items()}


def _for_every(given: Mapping[str, Any]) -> Any:
    """Return what holds for every answer, or else the mapping by name."""
    return given.get(EVERY, given)
