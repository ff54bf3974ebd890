"""Answers that add up over all tables: least squares over hierarchies (T31, T32)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod
from statistics import NormalDist
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InternalError, listing
from perrecord.exact import text
from perrecord.laws.widths import deviation
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.parallel import in_threads
from perrecord.queries.hierarchies import Family, SummedTable
from perrecord.queries.hierarchies.placing import Layout, layout_of
from perrecord.release.processing.contradicting import contradictions
from perrecord.release.processing.fits import MOST_CODES, FamilyFit, fit_family, sums_beside
from perrecord.release.processing.sentences import ENDING, Sentences
from perrecord.release.processing.step import (
    Added,
    AddedAcross,
    AnswerPlace,
    Making,
    WorkloadStep,
)
from perrecord.release.spec import Workload
from perrecord.released.columns import Estimate
from perrecord.released.fitting.descent import nonnegative
from perrecord.released.fitting.printing import Whole, printed, whole
from perrecord.released.fitting.trees import Flags, Floats, Indices, stretches
from perrecord.released.numbers import tiled, to_arrow
from perrecord.tables.keys import Keys

_FINE = 10_000
"""A step of the grid is printed in so many parts, so that rounding does not show in a sum."""
_FITS = 1e18
_FARTHEST = 16
"""In standard errors: no interval of the normal law reaches as far."""
_LEAST_DEVIATION = 1e-100
"""In steps: noise that is nearly never there is not taken for none."""


@dataclass(frozen=True, slots=True)
class Consistent(WorkloadStep):
    """`consistent: true`, or `{nonnegative: true, whole: true}` for further columns."""

    workload: Workload
    has_nonnegative: bool
    has_whole: bool

    @classmethod
    def asked(cls, workload: Workload) -> Self | None:
        """Return the step as a workload asks for it, also by tables that follow; None if not."""
        entry = workload.post_processing.consistent
        if entry is None:
            return cls(workload, False, False) if workload.following else None
        return cls(workload, entry.nonnegative, entry.whole)

    def added(self, answers: Sequence[Answers]) -> AddedAcross:
        """Return what makes the columns of every family, and which tables contradict others."""
        workload, families = self.workload, self.workload.fits
        layouts: dict[tuple[object, ...], Layout] = {}
        for family in families:
            if _tables(family) not in layouts:
                keys = [self._keys(member.grouping, answers) for member in family.members]
                keys += [table.keys for table in family.following]
                layout = layout_of(family, workload.schema, keys, workload.hierarchies)
                layouts[_tables(family)] = layout
        made = in_threads(
            lambda family: self._columns(family, layouts[_tables(family)], answers),
            families,
            lambda family: sum(len(answers[each.grouping]) for each in family.members),
        )
        beside: dict[AnswerPlace, Making] = {}
        following: dict[str, dict[str, Making]] = {each.name: {} for each in workload.following}
        for family, found in zip(families, made, strict=True):
            every = self._empty(family, answers) if found is None else found
            places = [(member.grouping, member.answer) for member in family.members]
            if len(places) > 1:  # alone, an answer is its own fit
                beside.update(zip(places, every, strict=False))
            sums = (*family.following, *family.beside)
            for table, making in zip(sums, every[len(places) :], strict=True):
                for grouping, answer in places:
                    if grouping == table.source and answer in table.answers:
                        following[table.name][answer] = making
        unfitted = [family for family, found in zip(families, made, strict=True) if found is None]
        warned = (*map(self._unfitted, unfitted), *self._warnings(layouts, answers))
        return AddedAcross(beside, following, warned)

    def _unfitted(self, family: Family) -> str:
        """Return that the numbers of a family are not fitted, in words."""
        names = [self.workload.table_names[each.grouping] for each in family.members]
        return (
            f"the tables {listing(names)} could not be fitted together: their noise differs by too "
            f"much, or they have too many cells. The columns of {family.members[0].answer} that "
            f"end in {ENDING} are empty; the answers themselves are as good as without."
        )

    def _empty(self, family: Family, answers: Sequence[Answers]) -> list[Making]:
        """Return what makes the columns of a family that was not fitted."""
        sums = (*family.following, *family.beside)
        rows = [len(answers[each.grouping]) for each in family.members]
        rows += [each.keys.table.num_rows for each in sums]
        return [partial(self._nothing, each) for each in rows]

    def _warnings(
        self, layouts: Mapping[tuple[object, ...], Layout], answers: Sequence[Answers]
    ) -> Iterator[str]:
        """Yield which tables contradict each other, in words."""
        families = [each for each in self.workload.fits if len(each.members) > 1]
        for tables in dict.fromkeys(map(_tables, families)):
            if layouts[tables].size <= MOST_CODES:
                alike = [each for each in families if _tables(each) == tables]
                for found in contradictions(alike, layouts[tables], answers, len(families)):
                    yield found.words(self.workload.table_names)

    def _keys(self, grouping: int, answers: Sequence[Answers]) -> Keys:
        """Return the keys of a table, as a product if they were declared as one."""
        cells = self.workload.plan.groupings[grouping].grouping.cells
        return cells if isinstance(cells, Keys) else Keys.trusted(answers[grouping].keys)

    def _columns(
        self, family: Family, layout: Layout, answers: Sequence[Answers]
    ) -> list[Making] | None:
        """Return what makes the columns of each member of a family, then of what follows.

        None if there are too many combinations, or if equations could not be solved.
        """
        measured = [_measured(answers[each.grouping], each.answer) for each in family.members]
        step = measured[0].step
        values = [each.numbers for each in measured]
        fit = fit_family(family, layout, values, [_variances(each) for each in measured])
        if fit is None:
            return None
        every = list(_Shown.every(fit, self))
        every += [self._sum(family, table, fit, every) for table in family.beside]
        return [partial(shown.columns, step, self._reach()) for shown in every]

    def _sum(
        self, family: Family, table: SummedTable, fit: FamilyFit, every: "Sequence[_Shown]"
    ) -> "_Shown":
        """Return the rows of a table that is no level, added up from those of its source."""
        workload = self.workload
        place = next(p for p, each in enumerate(family.members) if each.grouping == table.source)
        found = sums_beside(family, table, place, fit, workload.plan, workload.hierarchies)
        rows, variances = found
        if variances is None:
            raise InternalError("a fitted table has no variances.")
        return every[place].summed(rows, table.keys.table.num_rows, np.sqrt(variances))

    def _nothing(self, rows: int) -> Iterator[Added]:
        """Yield empty columns."""
        nothing = pa.nulls(rows, pa.float64())
        yield from ((ending, nothing) for ending in self.endings())

    def _reach(self) -> float | None:
        outputs = self.workload.outputs
        return (
            NormalDist().inv_cdf(float(1 + outputs.confidence) / 2) if outputs.intervals else None
        )

    def endings(self) -> Iterator[str]:
        """Yield the endings of its columns."""
        yield from (ENDING, f"{ENDING}_se")
        if self.workload.outputs.intervals:
            yield from (f"{ENDING}_low", f"{ENDING}_high")
        if self.has_nonnegative:
            yield f"{ENDING}_nonnegative"
        if self.has_whole:
            yield f"{ENDING}_whole"

    def described(self, answer: str) -> Mapping[str, str]:
        """Return what the columns beside an answer hold, for people."""
        level = text(self.workload.outputs.confidence * 100)
        of = f"{answer}{ENDING}"
        rounded = f"{of}_nonnegative" if self.has_nonnegative else of
        return {
            ENDING: f"{answer}, fitted by least squares so that tables add up; unbiased",
            f"{ENDING}_se": f"standard error of {of}, or more",
            f"{ENDING}_low": f"lower end of an approximate confidence interval of {of} ({level} %)",
            f"{ENDING}_high": f"upper end of an approximate confidence interval of {of} "
            f"({level} %)",
            f"{ENDING}_nonnegative": f"{of}, moved so that nothing is negative and tables still "
            "add up; biased",
            f"{ENDING}_whole": f"{rounded}, rounded so that tables still add up",
        }

    def words(self, quoted: Callable[[str], str]) -> str:
        """Return what the step does, for the methodology."""
        asked = Sentences(self.workload, self.has_nonnegative, self.has_whole)
        return " ".join(asked.every(quoted))


def _measured(answers: Answers, name: str) -> Estimate:
    column = answers.column(name)
    assert isinstance(column, Estimate)  # noqa: S101 - only such answers belong to a family
    return column


def _tables(family: Family) -> tuple[object, ...]:
    """Return what tells the layout of a family from those of others."""
    groupings = tuple(member.grouping for member in family.members)
    return groupings, tuple(table.name for table in family.following)


def _variances(column: Estimate) -> Floats:
    """Return the variance of each cell's noise, in steps; one number where all have the same."""
    of_law = np.array([max(deviation(law), _LEAST_DEVIATION) ** 2 for law in column.laws])
    return np.asarray(of_law[0] if len(of_law) == 1 else of_law[column.which])


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """The rows of a table as they are printed: whole numbers of a unit, a part of a step."""

    unit: Fraction
    shape: tuple[int, ...]
    numbers: Whole
    nonnegative: Whole | None
    whole: Whole | None
    deviations: Floats
    """In steps; an axis of the shape along which they stay is 1 long. Infinite: no number."""

    @classmethod
    def every(cls, fit: FamilyFit, step: Consistent) -> "Iterator[_Shown]":
        """Yield the rows of each table of a family; the fitted numbers are gone then."""
        values, is_known = fit.fitted.values, fit.fitted.is_known
        if fit.fitted.adds_up:
            is_known = np.ones_like(is_known)  # so printed numbers do, above what is not published
        if not is_known.all():
            values = np.where(is_known, values, 0.0)
        deviations = tuple(np.sqrt(each) for each in fit.fitted.factors)
        parts = _parts(values, deviations)
        signs = rounded = None
        if step.has_nonnegative:
            variances = fit.fitted.variances
            if fit.fitted.adds_up and len(fit.trees) == 1:
                most = np.max(variances, where=np.isfinite(variances), initial=_LEAST_DEVIATION)
                variances = np.where(np.isfinite(variances), variances, most)
            found = nonnegative(fit.trees, values, variances)
            signs = printed(fit.trees, found, is_known, float(parts), in_place=True)
        numbers = printed(fit.trees, values, is_known, float(parts), in_place=True)
        if step.has_whole:
            of = numbers if signs is None else signs
            rounded = whole(fit.trees, of, is_known, int(parts)) if parts > 1 else of
        for rows in fit.rows:
            yield cls(
                1 / parts,
                rows.shape,
                numbers[rows.index].ravel(),
                None if signs is None else signs[rows.index].ravel(),
                None if rounded is None else rounded[rows.index].ravel(),
                rows.of_product(deviations),
            )

    def summed(self, rows: Indices, count: int, deviations: Floats) -> "_Shown":
        """Return sums of these rows, each in one of so many, with the deviations of the sums."""

        def total(numbers: Whole) -> Whole:
            found = np.zeros(count, dtype=np.int64)
            np.add.at(found, rows, numbers)
            return found

        signs = None if self.nonnegative is None else total(self.nonnegative)
        rounded = None if self.whole is None else total(self.whole)
        return _Shown(self.unit, (count,), total(self.numbers), signs, rounded, deviations)

    def columns(self, step: Fraction, reach: float | None) -> Iterator[Added]:
        """Yield what stands beside the answer that has these rows."""
        unit, is_known = self.unit * step, np.isfinite(self.deviations)
        of_rows = None if is_known.all() else np.broadcast_to(is_known, self.shape).ravel()

        def shown(numbers: Whole, unit: Fraction = unit) -> pa.Array:
            return _masked(to_arrow(numbers.ravel(), unit, is_short=True), of_rows)

        yield ENDING, shown(self.numbers)
        errors = tiled(self.deviations * float(step), self.shape)
        yield f"{ENDING}_se", _masked(errors, of_rows)
        if reach is not None:
            finite = np.where(is_known, self.deviations, 0.0)
            away = np.ceil(finite * (reach / float(self.unit))).astype(np.int64)
            yield f"{ENDING}_low", shown(self.numbers.reshape(self.shape) - away)
            yield f"{ENDING}_high", shown(self.numbers.reshape(self.shape) + away)
        if self.nonnegative is not None:
            yield f"{ENDING}_nonnegative", shown(self.nonnegative)
        if self.whole is not None:
            yield f"{ENDING}_whole", shown(self.whole, max(unit, step))


def _masked(
    column: pa.Array | pa.ChunkedArray, is_known: Flags | None
) -> pa.Array | pa.ChunkedArray:
    """Return the column with NULL where nothing is known."""
    return column if is_known is None else pc.if_else(pa.array(is_known), column, None)


def _parts(values: Floats, deviations: Sequence[Floats]) -> Fraction:
    """Return in how many parts of a step all sums of these numbers, and ends, have 18 digits."""
    widest = prod(float(np.max(each, where=np.isfinite(each), initial=0.0)) for each in deviations)
    most, parts = _FARTHEST * widest, Fraction(_FINE)
    most += sum(float(np.abs(each).sum()) for each in stretches(values, axis=-1))
    while most * float(parts) >= _FITS:
        parts /= 10
    return parts
