"""How accurate answers are once they are fitted so that all tables add up (T31, T32).

Standard errors before and after follow from public keys and public noise alone; the fitted numbers
are never made. Only relative errors take the true numbers, and are confidential.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from perrecord.evaluate.accuracy.errors import CellErrors
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.summaries import Row, middle
from perrecord.laws.normal import normal_size
from perrecord.laws.widths import deviation
from perrecord.policy.terms import Currency
from perrecord.queries.hierarchies import Families, Family, Member
from perrecord.queries.hierarchies.placing import NO_KEYS, layout_of
from perrecord.queries.plan import Plan
from perrecord.release.processing.fits import fit_family
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


def deviations_of(
    family: Family, planned: Plan, declared: Sequence[Lookup], found: Mapping[int, Keys]
) -> list[Deviations]:
    """Return standard errors of every answer of a family, in its order.

    `found` has the keys of groupings whose keys are selected from the data.
    """
    keys = [keys_of_member(planned, member, found) for member in family.members]
    noise = [_noise(planned, member, own) for member, own in zip(family.members, keys, strict=True)]
    layout = layout_of(family, planned.schema, keys, declared)
    none = [np.zeros(len(each), dtype=np.int64) for each in keys]
    fit = fit_family(family, layout, none, [each**2 for each in noise])
    every = []
    for place, (member, own) in enumerate(zip(family.members, noise, strict=True)):
        size = len(none[place])
        fitted = None
        if fit is not None:
            rows = fit.rows[place]
            variances = rows.of_product(fit.fitted.factors)
            known = np.sqrt(np.where(np.isfinite(variances), variances, np.nan))
            fitted = np.broadcast_to(known, rows.shape).ravel()
        every.append(Deviations(member, np.broadcast_to(own, size), fitted))
    return every


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


def fitted_errors(
    planned: Plan,
    families: Families,
    declared: Sequence[Lookup],
    tables: Sequence[str],
    errors: Mapping[Member, CellErrors],
) -> pa.Table:
    """Return a row for each fitted answer: errors of the median cell before and after.

    Errors after are the normal law's. Where noise decides which cells are published, they are
    those of all cells that the data holds.
    """
    rows = [
        row
        for family in families.fitted
        for row in _rows(family, planned, declared, tables, errors)
    ]
    return pa.Table.from_pylist(rows)


def _rows(
    family: Family,
    planned: Plan,
    declared: Sequence[Lookup],
    tables: Sequence[str],
    errors: Mapping[Member, CellErrors],
) -> Iterator[Row]:
    found = {member.grouping: Keys.trusted(errors[member].truth.keys) for member in family.members}
    for each in deviations_of(family, planned, declared, found):
        own = errors[each.member]
        after = None
        if each.fitted is not None:
            after = own.relative(_sizes(each.fitted, np.abs(own.bias)))
        yield {
            "table": tables[each.member.grouping],
            "level": ", ".join(planned.groupings[each.member.grouping].grouping.columns) or "all",
            "answer": each.member.answer,
            "cells": len(own.true),
            "zeros": int(own.is_zero.sum()),
            "before": middle(own.relative(own.size)),
            "after": None if after is None else middle(after),
            "standard_error_ratio": each.gain,
        }


def _sizes(deviations: Floats, biases: Floats) -> Floats:
    """Return E|N + b|; sums of clamped totals are biased by the sums of their biases."""
    if not biases.any():
        return deviations * math.sqrt(2 / math.pi)
    return normal_size(deviations, biases)
