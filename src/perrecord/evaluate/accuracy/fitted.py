"""How accurate answers are once they are fitted so that all tables add up (T31, T32).

Standard errors before and after follow from public keys and public noise alone; the fitted numbers
are never made. Only relative errors take the true numbers, and are confidential.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from perrecord.evaluate.accuracy.errors import CellErrors
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.summaries import Row, middle
from perrecord.laws.normal import normal_size
from perrecord.laws.widths import deviation
from perrecord.policy.terms import Currency
from perrecord.queries.hierarchies import Family, Member
from perrecord.queries.hierarchies.placing import NO_KEYS, Layout, layout_of
from perrecord.queries.plan import Plan
from perrecord.release.processing.fits import FamilyFit, fit_family
from perrecord.tables.keys import Keys
from perrecord.tables.lookups import Lookup


@dataclass(frozen=True, slots=True, eq=False)
class Deviations:
    """Standard errors of one answer's cells in units: of its noise, and fitted.

    Fitted ones are never below the true ones; they are None where nothing could be fitted, and
    NaN where a cell has no number.
    """

    member: Member
    noise: Floats
    fitted: Floats | None

    @property
    def gain(self) -> float | None:
        """Fitted over published, in the median cell; None if nothing was fitted."""
        return None if self.fitted is None else middle(self.fitted / self.noise)


@dataclass(frozen=True, slots=True, eq=False)
class FittedFamily:
    """A family as it will be fitted: its noise, and what fitting makes of that."""

    family: Family
    planned: Plan
    declared: Sequence[Lookup]
    layout: Layout
    noise: tuple[Floats, ...]
    """Of each member the standard deviation in units: by cell, or one number for all."""
    fit: FamilyFit | None

    @classmethod
    def of(
        cls, family: Family, planned: Plan, declared: Sequence[Lookup], found: Mapping[int, Keys]
    ) -> "FittedFamily":
        """Return a family fitted; `found` has keys that are selected from the data."""
        keys = [keys_of_member(planned, member, found) for member in family.members]
        every = zip(family.members, keys, strict=True)
        noise = tuple(_noise(planned, member, own) for member, own in every)
        following = [table.keys for table in family.following]
        layout = layout_of(family, planned.schema, [*keys, *following], declared)
        none = [np.zeros(len(each), dtype=np.int64) for each in keys]
        fit = fit_family(family, layout, none, [each**2 for each in noise])
        return cls(family, planned, declared, layout, noise, fit)

    def fitted(self, table: int) -> Floats | None:
        """Return the standard error of each row of a table: of a member, or one that follows."""
        if self.fit is None:
            return None
        rows = self.fit.rows[table]
        variances = rows.of_product(self.fit.fitted.factors)
        known = np.sqrt(np.where(np.isfinite(variances), variances, np.nan))
        return np.broadcast_to(known, rows.shape).ravel()

    def deviations(self) -> list[Deviations]:
        """Return standard errors of every answer, in the family's order."""
        return [
            Deviations(member, np.broadcast_to(own, self.layout.count(place)), self.fitted(place))
            for place, (member, own) in enumerate(zip(self.family.members, self.noise, strict=True))
        ]


def deviations_of(
    family: Family, planned: Plan, declared: Sequence[Lookup], found: Mapping[int, Keys]
) -> list[Deviations]:
    """Return standard errors of every answer of a family, in its order.

    `found` has the keys of groupings whose keys are selected from the data.
    """
    return FittedFamily.of(family, planned, declared, found).deviations()


def keys_of_member(planned: Plan, member: Member, found: Mapping[int, Keys]) -> Keys:
    """Return the keys of a member's table; `found` has those that are selected from the data."""
    cells = planned.groupings[member.grouping].grouping.cells
    if cells is None:
        return NO_KEYS
    return cells if isinstance(cells, Keys) else found[member.grouping]


def _noise(planned: Plan, member: Member, keys: Keys) -> Floats:
    """Return the standard deviation of each cell's noise in units; one if all have the same."""
    grouping = planned.groupings[member.grouping]
    (answer,) = [c.answer for c in grouping.answers if c.answer.name == member.answer]
    currency = planned.queries[grouping.query].currency or Currency.RHO
    (step,) = answer.measurements
    noise = step.noise(planned.schema, grouping.grouping.columns, currency)
    laws, which = noise.laws(keys.table)
    sizes = np.array([deviation(law) for law in laws]) * float(noise.step)
    return np.asarray(sizes[0] if len(sizes) == 1 else sizes[which])


def fits_of(
    family: Family, planned: Plan, declared: Sequence[Lookup], errors: Mapping[Member, CellErrors]
) -> FittedFamily:
    """Return a family as it will be fitted, with the keys that its true numbers have."""
    found = {member.grouping: Keys.trusted(errors[member].truth.keys) for member in family.members}
    return FittedFamily.of(family, planned, declared, found)


def fitted_rows(
    fits: FittedFamily, tables: Sequence[str], errors: Mapping[Member, CellErrors]
) -> Iterator[Row]:
    """Yield a row for each fitted answer: errors of the median cell before and after.

    Errors after are the normal law's. Where noise decides which cells are published, they are
    those of all cells that the data holds. An answer that is alone is its own fit.
    """
    planned = fits.planned
    for each in fits.deviations() if len(fits.family.members) > 1 else []:
        own = errors[each.member]
        after = None
        if each.fitted is not None:
            after = own.relative(normal_sizes(each.fitted, np.abs(own.bias)))
        yield {
            "table": tables[each.member.grouping],
            "level": ", ".join(planned.groupings[each.member.grouping].grouping.columns) or "all",
            "answer": each.member.answer,
            "cells": len(own.true),
            "zeros": int(own.is_zero.sum()),
            "before": middle(own.relative(own.size)),
            "after": None if after is None else middle(after),
            "standard_error_ratio": each.gain,
            "follows": None,
        }


def normal_sizes(deviations: Floats, biases: Floats) -> Floats:
    """Return E|N + b|; sums of clamped totals are biased by the sums of their biases."""
    if not biases.any():
        return deviations * math.sqrt(2 / math.pi)
    return normal_size(deviations, biases)
