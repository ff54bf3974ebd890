"""Splitting by one measure: a workload at several thresholds and budgets, its errors and losses.

What SIM and CIS have in common: each setting is asked of the library, which gives the errors cell
by cell and the policy losses record by record; what is shown of them is a few numbers each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.evaluate.accuracy.errors import CellErrors, accuracy, simulated_error
from perrecord.evaluate.accuracy.summaries import FIVE
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.policies import policy_losses
from perrecord.evaluate.variants import top_coded
from perrecord.lab.experiments.univariate.spread import error_quantiles
from perrecord.policy.policy import Policy
from perrecord.policy.split import Split
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.report.numbers import amount
from perrecord.tables.table import Table

Row = dict[str, Any]

MEDIAN = FIVE["middle"]
SHOWN = Fraction(999, 1000)
"""So large a share of the records is shown of a distribution; tables have the largest loss."""

_STEP, _TAIL = 0.004, 0.85
"""A point of a distribution is kept when the share has grown by the one, or what is left of it has
fallen to the other."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A workload at one threshold, each of its answers at one rho."""

    threshold: int
    rho: str
    queries: Mapping[str, Query]

    @property
    def label(self) -> str:
        """The threshold as it stands over a box and in a legend."""
        return amount(self.threshold, 9)


@dataclass(frozen=True, slots=True)
class Lost:
    """What the records lose to one setting: its policy, the policy's minimum, all losses."""

    setting: Setting
    policy: Policy
    minimum: Fraction
    losses: Distribution

    @property
    def share_above(self) -> float:
        """The share of the records that lose more than the least that any record loses."""
        return self.losses.share_above(self.minimum)


def errors_of(settings: Sequence[Setting], table: Table) -> list[tuple[Setting, str, CellErrors]]:
    """Return the errors of every answer, with its setting and the name of its query; one scan."""
    asked = [(each, name) for each in settings for name in each.queries]
    planned = plan([each.queries[name] for each, name in asked], table.schema)
    return [(*asked[found.truth.query], found) for found in accuracy(planned, table)]


def medians(settings: Sequence[Setting], table: Table) -> list[Row]:
    """Return the median ARE of every answer over its cells and their noise."""
    return [
        _labels(setting, name, errors) | {"middle": error_quantiles(errors, [MEDIAN])[0]}
        for setting, name, errors in errors_of(settings, table)
    ]


def five_numbers(settings: Sequence[Setting], table: Table, measure: str) -> list[Row]:
    """Return the five numbers of the AREs of every answer, and the median if it is top-coded.

    `top_coded` cuts values at the threshold instead of splitting them (T12): the same noise,
    every record at rho, and a bias.
    """
    coded = {
        (row["rho"], row["threshold"], row["table"], row["answer"]): row["middle"]
        for row in medians([_top_coded(each, measure) for each in settings], table)
    }
    rows = []
    for setting, name, errors in errors_of(settings, table):
        row = _labels(setting, name, errors)
        row |= {"cells": len(errors.true), "zeros": int(errors.is_zero.sum())}
        row |= dict(zip(FIVE, error_quantiles(errors, list(FIVE.values())), strict=True))
        key = (row["rho"], row["threshold"], row["table"], row["answer"])
        rows.append(row | {"top_coded_middle": coded[key]})
    return rows


def _top_coded(setting: Setting, measure: str) -> Setting:
    scheme = Split(**{measure: setting.threshold})
    coded = top_coded(setting.queries.values(), scheme)
    return Setting(setting.threshold, setting.rho, dict(zip(setting.queries, coded, strict=True)))


def _labels(setting: Setting, name: str, errors: CellErrors) -> Row:
    return {
        "table": name,
        "answer": errors.truth.answer.name,
        "rho": float(setting.rho),
        "threshold": setting.threshold,
    }


def drawn_beside(settings: Sequence[Setting], table: Table) -> list[Row]:
    """Return the median ARE of every answer in closed form, and that of one draw of its noise.

    Draws differ from run to run. Answers without a relative error are left out.
    """
    rows = []
    for setting, name, errors in errors_of(settings, table):
        closed = error_quantiles(errors, [MEDIAN])[0]
        if closed is not None:
            drawn = float(np.nanmedian(simulated_error(errors, 1)))
            rows.append(_labels(setting, name, errors) | {"closed": closed, "drawn": drawn})
    return rows


def lost_to(setting: Setting, table: Table, points: Sequence[float] = ()) -> Lost:
    """Return what the records lose; the shares above the minimum and the points are exact."""
    policy = plan(list(setting.queries.values()), table.schema).policy
    minimum = policy.minimum()
    return Lost(setting, policy, minimum, policy_losses(policy, table, points=[minimum, *points]))


def distribution_rows(lost: Sequence[Lost]) -> pa.Table:
    """Return the distribution functions of the losses: rho, threshold, value, share.

    At each rho they end where 99.9 % of the records are below under every threshold: the few
    beyond would take up most of the axis.
    """
    ends: dict[str, float] = {}
    for each in lost:
        own = each.losses.quantile(SHOWN) if each.losses.count else 0.0
        ends[each.setting.rho] = max(own, ends.get(each.setting.rho, 0.0))
    rows = [
        {
            "rho": float(each.setting.rho),
            "threshold": each.setting.threshold,
            "value": value,
            "share": share,
        }
        for each in lost
        for value, share in _thinned(each.losses, ends[each.setting.rho])
    ]
    return pa.Table.from_pylist(rows)


def labelled(table: pa.Table) -> pa.Table:
    """Return distribution functions with their thresholds and budgets as they are written."""
    rows = table.to_pylist()
    names = {
        "split at": [f"T = {row['threshold']:,}" for row in rows],
        "budget": [f"ρ = {row['rho']:g}" for row in rows],
    }
    for name, texts in names.items():
        table = table.append_column(name, pa.array(texts, pa.string()))
    return table


def _thinned(losses: Distribution, end: float) -> list[tuple[float, float]]:
    """Return some points of a distribution function, exact each, from its first to the end."""
    kept: list[tuple[float, float]] = []
    for value, share in zip(losses.values, losses.shares, strict=True):
        if value < end and (not kept or _is_further(kept[-1][1], share)):
            kept.append((value, share))
    return [*kept, (end, 1 - losses.share_above(end))] if losses.count else []


def _is_further(before: float, share: float) -> bool:
    return share - before >= _STEP or 1 - share <= _TAIL * (1 - before)
