"""Answers that add up over all tables: least squares over hierarchies (T31, T32)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import Self

import numpy as np
import pyarrow as pa

from perrecord.exact import text
from perrecord.laws.widths import deviation
from perrecord.mechanisms.answers import Answers
from perrecord.queries.hierarchies import Family
from perrecord.queries.hierarchies.placing import Layout, layout_of
from perrecord.release.processing.fits import FamilyFit, fit_family
from perrecord.release.processing.step import Added, AnswerPlace, Making, WorkloadStep
from perrecord.release.spec import Workload
from perrecord.released.columns import Estimate
from perrecord.released.fitting.descent import nonnegative
from perrecord.released.fitting.printing import Whole, printed, whole
from perrecord.released.fitting.trees import Floats, Indices
from perrecord.released.numbers import floats, to_arrow

ENDING = "_consistent"
_FINE = 10_000
"""A step of the grid is printed in so many parts, so that rounding does not show in a sum."""
_FITS = 2.0**61
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
        """Return the step as a workload asks for it; None if it does not."""
        entry = workload.post_processing.consistent
        return None if entry is None else cls(workload, entry.nonnegative, entry.whole)

    def added(self, answers: Sequence[Answers]) -> Mapping[AnswerPlace, Making]:
        """Return what makes the columns beside every answer that belongs to a family."""
        workload, found = self.workload, dict[AnswerPlace, Making]()
        layouts: dict[object, Layout] = {}
        for family in workload.families.fitted:
            tables = tuple(member.grouping for member in family.members)
            layout = layouts.get(tables)
            if layout is None:
                keys = [answers[each].keys for each in tables]
                layout = layout_of(family, workload.schema, keys, workload.hierarchies)
                layouts[tables] = layout
            for member, columns in zip(
                family.members, self._columns(family, layout, answers), strict=True
            ):
                found[member.grouping, member.answer] = columns
        return found

    def _columns(
        self, family: Family, layout: Layout, answers: Sequence[Answers]
    ) -> Iterator[Making]:
        """Yield what makes the columns of each member of a family."""
        measured = [_measured(answers[each.grouping], each.answer) for each in family.members]
        step = measured[0].step
        values = [floats(each.numbers) for each in measured]
        fit = fit_family(family, layout, values, [_variances(each) for each in measured])
        if fit is None:
            yield from (partial(self._nothing, len(each)) for each in values)
            return
        shown = _Shown.of(fit, self)
        for place in fit.places:
            yield partial(shown.columns, place, step, self._reach())

    def _nothing(self, rows: int) -> Iterator[Added]:
        """Yield empty columns: there are too many combinations, or equations were not solved."""
        nothing = pa.nulls(rows, pa.float64())
        yield from ((ending, nothing) for ending in self._endings())

    def _reach(self) -> float | None:
        outputs = self.workload.outputs
        return (
            NormalDist().inv_cdf(float(1 + outputs.confidence) / 2) if outputs.intervals else None
        )

    def _endings(self) -> Iterator[str]:
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
        return " ".join(self._sentences(quoted))

    def _sentences(self, quoted: Callable[[str], str]) -> Iterator[str]:
        yield (
            f"Columns that end in `{ENDING}` add up over all tables of this release, to the last "
            "digit: they are fitted to the answers by generalised least squares with the variances "
            "of the noise, which are public. They are unbiased, no less accurate than the answers "
            "they are fitted to, and a function of the published answers and of public facts "
            "alone, so they cost no privacy. It is taken for granted that the listed keys of a "
            "table hold all of what the next coarser table counts; where keys were selected from "
            "the data, an unpublished rest is allowed for."
        )
        yield (
            f"Standard errors that end in `{ENDING}_se` are those of least squares where the noise "
            "is a product over the hierarchies or the tables lie one below the other; otherwise "
            "they are never too small, and the equations are solved by conjugate gradients until "
            "their residual is 1e-8 of what it was. Intervals are the normal law's, which is "
            "approximate."
        )
        for family in self.workload.families.fitted:
            names = dict.fromkeys(member.answer for member in family.members)
            levels = "; ".join(
                " > ".join(quoted(", ".join(level)) or "all" for level in each.levels)
                for each in family.hierarchies
            )
            yield (
                f"Fitted together over {len(family.members)} tables: "
                f"{', '.join(map(quoted, names))} ({levels})."
            )
        if self.has_nonnegative:
            yield (
                f"Columns that end in `{ENDING}_nonnegative` are moved from the top down: a "
                "negative total becomes 0, and what is below a number is moved as little as "
                "possible so that nothing is negative and the sum is kept. That makes small "
                "numbers too large on average and large ones beside them too small."
            )
        if self.has_whole:
            yield (
                f"Columns that end in `{ENDING}_whole` are "
                + ("the non-negative ones " if self.has_nonnegative else "")
                + "rounded to whole steps, under each number the largest remainders up. "
                "Over several hierarchies this is done along one way down, and all other numbers "
                "are sums of what is at its end."
            )


def _measured(answers: Answers, name: str) -> Estimate:
    column = answers.column(name)
    assert isinstance(column, Estimate)  # noqa: S101 - only such answers belong to a family
    return column


def _variances(column: Estimate) -> Floats:
    """Return the variance of each cell's noise, in steps."""
    of_law = np.array([max(deviation(law), _LEAST_DEVIATION) ** 2 for law in column.laws])
    return np.asarray(of_law[column.which])


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """A fit as it is printed: whole numbers of a unit, which is a part of a step."""

    unit: Fraction
    numbers: Whole
    nonnegative: Whole | None
    whole: Whole | None
    deviations: Floats

    @classmethod
    def of(cls, fit: FamilyFit, step: Consistent) -> "_Shown":
        values, variances = fit.fitted.values, fit.fitted.variances
        is_known = np.isfinite(variances)
        values = np.where(is_known, values, 0.0)
        parts = _parts(values)
        numbers = printed(fit.trees, values * float(parts), is_known)
        signs = rounded = None
        if step.has_nonnegative:
            found = nonnegative(fit.trees, values, variances)
            signs = printed(fit.trees, found * float(parts), is_known)
        if step.has_whole:
            of = numbers if signs is None else signs
            rounded = whole(fit.trees, of, is_known, int(parts)) if parts > 1 else of
        return cls(
            1 / parts,
            numbers.ravel(),
            None if signs is None else signs.ravel(),
            None if rounded is None else rounded.ravel(),
            np.sqrt(variances.ravel()),
        )

    def columns(self, place: Indices, step: Fraction, reach: float | None) -> Iterator[Added]:
        """Yield what stands beside the answer whose rows are at these places."""
        unit = self.unit * step
        errors = self.deviations[place] * float(step)
        is_unknown = ~np.isfinite(errors)
        numbers = self.numbers[place]
        yield ENDING, _masked(to_arrow(numbers, unit), is_unknown)
        yield f"{ENDING}_se", pa.array(errors, mask=is_unknown)
        if reach is not None:
            middle = numbers * float(unit)
            yield f"{ENDING}_low", pa.array(middle - reach * errors, mask=is_unknown)
            yield f"{ENDING}_high", pa.array(middle + reach * errors, mask=is_unknown)
        if self.nonnegative is not None:
            shown = to_arrow(self.nonnegative[place], unit)
            yield f"{ENDING}_nonnegative", _masked(shown, is_unknown)
        if self.whole is not None:
            coarse = max(unit, step)
            yield f"{ENDING}_whole", _masked(to_arrow(self.whole[place], coarse), is_unknown)


def _masked(column: pa.Array, is_unknown: np.ndarray) -> pa.Array:
    if not is_unknown.any():
        return column
    kept = np.where(is_unknown, -1, np.arange(len(column)))
    return column.take(pa.array(kept, mask=is_unknown))


def _parts(values: Floats) -> Fraction:
    """Return in how many parts of a step all sums of these numbers fit into 64 bits."""
    most, parts = float(np.abs(values).sum()), Fraction(_FINE)
    while most * float(parts) >= _FITS:
        parts /= 10
    return parts
