"""What establishments and firms lose under each splitting scheme: policy and realised (T7, T17)."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from perrecord import Policy, Split
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.policies import policy_losses
from perrecord.evaluate.losses.realised import Losses, UnitLosses, losses
from perrecord.evaluate.variants import accounted
from perrecord.lab.experiments.cbp.data import MEASURES, Establishments, even, tapered, workload
from perrecord.queries.plan import plan

PERCENTILES = {
    "Conservative": {"EMP": 0.97, "PAYANN": 0.99, "PAYQTR1": 0.99},
    "Moderate": {"EMP": 0.66, "PAYANN": 0.79, "PAYQTR1": 0.80},
    "Median": {"EMP": 0.47, "PAYANN": 0.50, "PAYQTR1": 0.50},
}
"""Where the thresholds stand in the paper's data: the share of establishments up to each."""

_SHARES = [
    *(Fraction(place, 100) for place in range(1, 100)),
    *(Fraction(996, 1000), Fraction(999, 1000), Fraction(9999, 10_000), Fraction(1)),
]


@dataclass(frozen=True, slots=True)
class Gap:
    """How far the realised losses of establishments are below the policy, one by one."""

    least: float
    """The least of policy over realised: at least 1, up to rounding."""
    middle: float
    """Half of the establishments are promised no more than so many times what they lose."""
    difference: float
    """The median of policy less realised."""
    share_halved: float
    """The share of the establishments that lose at most half of what the policy says."""


@dataclass(frozen=True, slots=True, eq=False)
class SchemeLosses:
    """The losses under one splitting scheme."""

    scheme: str
    split: Split
    losses: Losses
    units: UnitLosses
    """What firms lose."""
    gap: Gap
    gap_of_one_level: Gap
    """The same for the county level alone, at the same amount for each of its answers."""
    percentiles: Mapping[str, float]
    tapered: Distribution
    """What establishments lose by tapering at the same sizes and amounts (T26)."""

    @property
    def bounds(self) -> dict[str, Distribution]:
        """What firms lose: realised (T17), and by each bound on their records' losses (T7)."""
        return {
            "realised": self.units.realised,
            "policy, tight bound": self.units.tight,
            "policy, advanced bound": self.units.advanced,
            "policy, simple bound": self.units.simple,
        }


def measured_losses(
    data: Establishments, splits: Mapping[str, Split], budget: Fraction
) -> list[SchemeLosses]:
    """Return what everybody loses under each scheme, for every cell of the public key sets."""
    return [_scheme(data, name, split, budget) for name, split in splits.items()]


def gap_between(policy: Policy, realised: Policy, rows: pa.Table) -> Gap:
    """Return how far one policy lies above another, record by record.

    For one record the realised loss is at most the policy of exact accounting (T11, T17), and that
    very policy for counts of records and totals. A count of different firms it only bounds: where
    the firm has another establishment in the cell, leaving this one out does not change it.
    """
    promised, lost = policy.losses(rows), realised.losses(rows)
    ratio = promised / lost
    return Gap(
        float(ratio.min()), _median(ratio), _median(promised - lost), float((ratio >= 2).mean())
    )


def _scheme(data: Establishments, name: str, split: Split, budget: Fraction) -> SchemeLosses:
    amounts = even(budget, data.levels)
    rows = data.rows.select(list(MEASURES.values()))

    def gap(levels: Sequence[int]) -> Gap:
        asked = workload({level: data.keys[level] for level in levels}, split, amounts)
        realised = plan(accounted(asked, "exact"), data.table.schema).policy
        return gap_between(plan(asked, data.table.schema).policy, realised, rows)

    found = losses(plan(workload(data.keys, split, amounts), data.table.schema), data.table)
    taper = plan(workload(data.keys, tapered(split), amounts), data.table.schema)
    assert found.units is not None  # noqa: S101 - the table has firms
    return SchemeLosses(
        name,
        split,
        found,
        found.units,
        gap(data.levels),
        gap(data.levels[:1]),
        {
            attribute: data.share_up_to(attribute, split.threshold(measure))
            for attribute, measure in MEASURES.items()
        },
        policy_losses(taper.policy, data.table),
    )


def curve(found: Distribution) -> pa.Table:
    """Return about a hundred points of a distribution, each exact: its value and its share.

    Values are rounded to nine digits, and those that then are the same are one: the sums of a firm
    differ in their last bits from run to run.
    """
    rounded = [float(f"{value:.9g}") for value in found.values]
    wanted = [found.quantile(share) for share in _SHARES] if found.count else []
    values = sorted({float(f"{value:.9g}") for value in wanted})
    shares = [found.shares[bisect_right(rounded, value) - 1] for value in values]
    return pa.table(
        {"value": pa.array(values, pa.float64()), "share": pa.array(shares, pa.float64())}
    )


def labelled(table: pa.Table, **labels: str) -> pa.Table:
    """Return a table with columns before its own, the same text in every row."""
    for place, (name, value) in enumerate(labels.items()):
        column = pa.array([value] * table.num_rows, pa.string())
        table = table.add_column(place, name, column)
    return table


def _median(numbers: Floats) -> float:
    return float(np.quantile(numbers, 0.5, method="inverted_cdf"))
