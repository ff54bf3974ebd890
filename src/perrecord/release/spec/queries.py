"""The queries of a spec as `Query` values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from perrecord.errors import InputError, QueryError
from perrecord.policy.split import Scheme
from perrecord.queries.check import check
from perrecord.queries.groupings import Grouping, SelectCells, WhichCells
from perrecord.queries.methods import Accounting
from perrecord.queries.methods.parts import Parts, Priced, clamping, splitting
from perrecord.queries.query import Query
from perrecord.queries.sql import from_sql
from perrecord.release.spec.pieces import DeclaredCells, case_keys
from perrecord.release.spec.problems import Path, Problems
from perrecord.release.spec.query_checks import columns_of_set, sets_of
from perrecord.release.spec.questions import (
    EVERY,
    AnswerEntry,
    CandidatesEntry,
    CellsEntry,
    MethodEntry,
    PartsEntry,
    QueryEntry,
)
from perrecord.tables.domains import Domain
from perrecord.tables.schema import Schema

ColumnNames = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """What every query of a spec is built with; the schema is missing until the table is open."""

    table: str
    splits: Mapping[str, Scheme]
    keys: Mapping[str, DeclaredCells]
    accounting: Accounting
    schema: Schema | None

    def query(self, entry: QueryEntry, path: Path, problems: Problems) -> Query | None:
        """Return the query, or None after noting why there is none."""
        before = len(problems.found)
        query: Query | None = None
        if entry.sql is None:
            query = self._in_parts(entry, path, problems)
        elif self.schema is not None:
            with problems.at(*path, "sql"):
                query = self._from_sql(entry, path, problems)
        if query is None or len(problems.found) > before:
            return None
        self._check(query, path, problems)
        return query

    def _in_parts(self, entry: QueryEntry, path: Path, problems: Problems) -> Query:
        query = Query(self.table)
        with problems.at(*path, "where"):
            query = query if entry.where is None else query.where(entry.where)
        form = "rollup" if entry.rollup is not None else "grouping_sets"
        with problems.at(*path, "group_by" if entry.group_by is not None else form):
            sets, before = sets_of(entry), len(problems.found)
            cells = self._cells_of(entry, path, problems, sets)
            if len(problems.found) == before:
                query = query.group_by_sets(sets, keys=cells)
        for name, answer in (entry.answers or {}).items():
            with problems.at(*path, "answers", name):
                query = self._answered(query, name, answer)
        return query

    def _cells_of(
        self, entry: QueryEntry, path: Path, problems: Problems, sets: list[ColumnNames]
    ) -> Any:
        """Return the cells of every grouping set; those that do not fit are noted at keys."""
        if entry.keys is None:
            return None
        cells = self._keys(entry.keys)
        for columns in sets:
            with problems.at(*path, "keys"):
                Grouping.of(columns, cells.get(columns) if isinstance(cells, dict) else cells)
        return cells

    def _keys(self, entry: CellsEntry | None) -> WhichCells | dict[ColumnNames, WhichCells] | None:
        if entry is None or entry.sets is None:
            return None if entry is None else self._cells(entry)
        return {columns_of_set(name): self._cells(each) for name, each in entry.sets.items()}

    def _cells(self, entry: CellsEntry) -> WhichCells:
        found = self.keys[str(entry.keys or entry.domain)]
        if not isinstance(found, Domain):
            return found
        return SelectCells(found, answer=str(entry.keep), at_least=entry.at_least or 0)

    # -- answers --------------------------------------------------------------------------------

    def _answered(self, query: Query, name: str, answer: AnswerEntry) -> Query:
        price: dict[str, Any] = {
            "rho": _amount(answer.rho),
            "epsilon": _amount(answer.epsilon),
            "name": name,
        }
        if answer.count is not None:
            return query.count(None if answer.count == "records" else answer.count, **price)
        if answer.count_distinct is not None:
            return query.count_distinct(answer.count_distinct, **price)
        if answer.median is not None:
            return query.median(answer.median, candidates=numbers(answer.candidates), **price)
        if answer.quantile is not None:
            return query.quantile(
                answer.quantile,
                answer.level or Fraction(0),
                candidates=numbers(answer.candidates),
                **price,
            )
        method: dict[str, Any] = {
            "split": None if answer.split is None else self.splits[answer.split],
            "clamp": answer.clamp,
            "accounting": answer.accounting or self.accounting,
        }
        if answer.average is not None:
            return query.average(answer.average, **method, **price)
        parts = None if answer.parts is None else self._parts(answer.parts)
        return query.sum(str(answer.sum), parts=parts, **method, **price)

    def _parts(self, entry: PartsEntry) -> Parts:
        values = case_keys(entry.cases, entry.by, self.schema)
        methods: dict[Any, Priced] = {
            values[case]: self._priced(method) for case, method in entry.cases.items()
        }
        if entry.default is not None:
            methods[...] = self._priced(entry.default)
        return Parts(entry.by, methods)

    def _priced(self, entry: MethodEntry) -> Priced:
        if entry.clamp is not None:
            return clamping(*entry.clamp, rho=entry.rho, epsilon=entry.epsilon)
        return splitting(
            self.splits[str(entry.split)],
            rho=entry.rho,
            epsilon=entry.epsilon,
            accounting=entry.accounting or self.accounting,
        )

    # -- SQL ------------------------------------------------------------------------------------

    def _from_sql(self, entry: QueryEntry, path: Path, problems: Problems) -> Query | None:
        if self.schema is None:
            return None
        rho, epsilon = _amounts(entry.rho), _amounts(entry.epsilon)
        split = None if entry.split is None else {n: self.splits[s] for n, s in entry.split.items()}
        listed = None
        if entry.candidates is not None:
            listed = {name: numbers(each) for name, each in entry.candidates.items()}
        try:
            return from_sql(
                str(entry.sql),
                schema=self.schema,
                keys=self._keys(entry.keys),
                rho=_for_every(rho),
                epsilon=_for_every(epsilon),
                split=_for_every(split),
                clamp=_for_every(entry.clamp),
                candidates=_for_every(listed),
                accounting=entry.accounting or self.accounting,
            )
        except QueryError as error:
            option = str(error).partition(" ")[0]
            is_option = getattr(entry, option, None) is not None if option in _OPTIONS else False
            problems.add((*path, option if is_option else "sql"), str(error))
            return None

    # -- against the table ----------------------------------------------------------------------

    def _check(self, query: Query, path: Path, problems: Problems) -> None:
        """Check the query against the table; note what does not fit at its place."""
        if self.schema is None:
            return
        try:
            check(query, self.schema)
        except InputError as error:
            place = _place_of(str(error), query, self.schema)
            problems.add((*path, *place), str(error))


def _place_of(message: str, query: Query, schema: Schema) -> Path:
    """Return the part of a query that alone gives the same message."""
    total = replace(query, groupings=(Grouping((), None),), filter=None)
    alone: dict[Path, Query] = {
        ("answers", answer.name): replace(total, answers=(answer,)) for answer in query.answers
    }
    if query.filter is not None:
        alone["where",] = replace(total, filter=query.filter)
    for place, part in alone.items():
        try:
            check(part, schema)
        except InputError as error:
            if str(error) == message:
                return place
    return ("keys",) if "keys" in message or "cells" in message else ("group_by",)


_OPTIONS = ("keys", "rho", "epsilon", "split", "clamp", "candidates")


def _amount(given: tuple[Fraction, ...] | None) -> Fraction | tuple[Fraction, ...] | None:
    return given[0] if given is not None and len(given) == 1 else given


def _amounts(given: Mapping[str, tuple[Fraction, ...]] | None) -> dict[str, Any] | None:
    return None if given is None else {name: _amount(each) for name, each in given.items()}


def _for_every(given: Any) -> Any:
    """Return what holds for every answer, or else the mapping by name."""
    return given[EVERY] if given is not None and EVERY in given else given


def numbers(entry: CandidatesEntry | None) -> list[Fraction]:
    """Return the candidates of a quantile."""
    if entry is None:
        return []
    if entry.values is not None:
        return list(entry.values)
    first, last, step = entry.first, entry.to, entry.step
    if first is None or last is None or step is None:
        return []
    return [first + place * step for place in range(int((last - first) // step) + 1)]
