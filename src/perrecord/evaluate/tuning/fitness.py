"""Fitness for use: the least budget that makes the cells as accurate as a goal asks (T22).

The goal is |noise| < d |true| with probability gamma. It reads the true numbers, so whatever comes
of it is confidential, unless the table is public or synthetic.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from perrecord.errors import CurrencyError, InputError, ProbabilityError
from perrecord.evaluate.accuracy.noise_size import Floats, gaussian
from perrecord.evaluate.accuracy.truths import Truth, truths
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.policies import CellPolicies, cell_losses, policy_losses
from perrecord.evaluate.tuning.goals import Goal
from perrecord.evaluate.tuning.needs import allowed
from perrecord.exact import Exact, parameter, round_up
from perrecord.laws.scales import GaussianScale, Scale
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.methods import Branch, Scales, Tree, leaves
from perrecord.queries.plan import Plan
from perrecord.queries.policies import on_filtered
from perrecord.tables.table import Table

_BITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """What one answer needs in one grouping: for each cell the most noise that meets the goal.

    `variances` are the largest sigma^2 in steps of the grid, rounded down: NaN where the true
    number is 0 (no noise is below 0), and 0 where the bias of clamping alone misses the goal.
    A rho goes with its cell's sensitivity: sigma^2 = size^2 / (2 rho).
    """

    truth: Truth
    goal: Goal
    variances: Floats
    law_sizes: tuple[Fraction, ...]
    """For each law of the answer's noise, the sensitivity that it goes with."""

    @property
    def name(self) -> str:
        """The answer, and what it is grouped by."""
        return f"{self.truth.answer.name} by {', '.join(self.truth.columns) or 'total'}"

    @property
    def sizes(self) -> tuple[Fraction, ...]:
        """Each cell's sensitivity."""
        return tuple(self.law_sizes[which] for which in self.truth.total.which.tolist())

    @property
    def zeros(self) -> int:
        """How many cells have a true number of 0."""
        return int(np.isnan(self.variances).sum())

    @property
    def unreachable(self) -> int:
        """How many cells no rho brings to the goal, because clamping biased them too much."""
        return int((self.variances == 0).sum())

    @property
    def values(self) -> Floats:
        """Each cell's least rho as a float: NaN for zeros, infinite where none will do."""
        noisy = self.truth.total
        squares = np.array([float(size / noisy.step) ** 2 for size in self.law_sizes])
        with np.errstate(divide="ignore"):
            return np.asarray(squares[noisy.which] / (2 * self.variances))

    def rhos(self) -> list[Fraction | None]:
        """Return each cell's least rho, rounded up by less than one part in 10^5."""
        known: dict[tuple[float, Fraction], Fraction] = {}  # many small cells have the same number
        found: list[Fraction | None] = []
        for variance, size in zip(self.variances.tolist(), self.sizes, strict=True):
            if not variance > 0:
                found.append(None)
                continue
            if (variance, size) not in known:
                known[variance, size] = self._rho(variance, size)
            found.append(known[variance, size])
        return found

    def rho(self, share: Exact = 1) -> Fraction | None:
        """Return the one rho with which this share of the cells, zeros apart, meets the goal.

        It is that percentile of the cells' rhos; None if so many cannot meet it at all.
        """
        level = parameter(share, "the share")
        if not 0 < level <= 1:
            raise ProbabilityError(f"the share is {share}; expected above 0 and up to 1.")
        values = self.values
        cells = np.flatnonzero(~np.isnan(values))
        if not len(cells):
            return None
        value = np.sort(values[cells])[math.ceil(level * len(cells)) - 1]
        if math.isinf(value):
            return None
        # Floats find the place; of the exact numbers that stand there the largest is safe.
        here = np.flatnonzero(values == value)
        found = zip(
            self.variances[here].tolist(), self.truth.total.which[here].tolist(), strict=True
        )
        return max(self._rho(variance, self.law_sizes[which]) for variance, which in set(found))

    def _rho(self, variance: float, size: Fraction) -> Fraction:
        return round_up(size**2 / (2 * Fraction(variance) * self.truth.total.step**2), _BITS)


@dataclass(frozen=True, slots=True, eq=False)
class Fitness:
    """What a workload needs so that its counts and totals are fit for use, in both readings.

    Every cell meets the goal, each with a rho of its own; or a share of the cells does, with one
    rho for each answer.
    """

    planned: Plan
    goal: Goal
    requirements: tuple[Requirement, ...]

    def policy(self, share: Exact | None = None) -> Policy:
        """Return the policy that the goal implies, by exact accounting (T11, T22).

        Without a share every cell has its own rho, and records outside all cells, or in cells set
        apart, lose nothing. Thresholds cancel: the loss is (value / sigma)^2 / 2. What selecting
        keys costs is not in it.
        """
        return Policy.total(self._policies(share))

    def losses(self, table: Table, share: Exact | None = None) -> Distribution:
        """Return what the records of the table lose under the implied policy."""
        if share is not None:
            return policy_losses(self._policies(share), table)
        return cell_losses([self._by_cell(each) for each in self.requirements], table)

    def _by_cell(self, required: Requirement) -> CellPolicies:
        """Return the implied policy as a rho for each cell, times what a rho of 1 costs there."""
        truth, rhos = required.truth, required.values
        bases = [_loss(truth, Fraction(1), size) for size in required.law_sizes]
        return CellPolicies(
            truth.keys,
            np.where(np.isfinite(rhos), rhos, 0.0),
            truth.total.which,
            tuple(self._filtered(base, truth) for base in bases),
        )

    def _policies(self, share: Exact | None) -> list[Policy]:
        return [self._filtered(_policy(each, share), each.truth) for each in self.requirements]

    def _filtered(self, policy: Policy, truth: Truth) -> Policy:
        condition = self.planned.queries[truth.query].filter
        return on_filtered(policy, condition, self.planned.schema.dimension_names)

    def to_arrow(self) -> pa.Table:
        """Return a row for each cell of each answer: its key as text, its true number, its rho."""
        tables = []
        for each in self.requirements:
            truth = each.truth
            rows = truth.keys.num_rows
            step = float(truth.total.step)
            table = pa.table(
                {
                    "query": pa.array([truth.query] * rows, pa.int64()),
                    "grouping": pa.array([", ".join(truth.columns)] * rows, pa.string()),
                    "answer": pa.array([truth.answer.name] * rows, pa.string()),
                    "key": pa.array(_key_texts(truth.keys), pa.string()),
                    "true": pa.array(truth.total.exact.astype(np.float64) * step, pa.float64()),
                    "rho": pa.array(
                        np.where(np.isinf(each.values), np.nan, each.values),
                        pa.float64(),
                        from_pandas=True,
                    ),
                }
            )
            tables.append(table)
        return pa.concat_tables(tables)


def fitness(planned: Plan, table: Table, *, within: Exact, confidence: Exact = "0.95") -> Fitness:
    """Return the least rho for |noise| < within * |true| with this probability, cell by cell (T22).

    Rhos are exact rationals, rounded up by less than one part in 10^5. Averages and quantiles are
    left out: their errors are no one noise.

    For normal noise rho = (z T / (d S))^2 / 2, with z the quantile of |N|; here the noise is
    discrete, so for small sigma the law itself is asked.

    >>> import perrecord
    >>> from perrecord.queries.plan import plan
    >>> with perrecord.table(pa.table({"emp": [10, 20, 970]}), measures=["emp"]) as source:
    ...     asked = perrecord.Query().sum("emp", split=perrecord.Split(emp=50), rho=1)
    ...     found = fitness(plan(asked, source.schema), source, within="0.1")
    >>> round(float(found.requirements[0].rho()), 3), float(found.policy().loss({"emp": 970}))
    (0.485, 182.53...)
    """
    goal = Goal.of(within, confidence)
    if planned.policy.currency is not Currency.RHO:
        raise CurrencyError("fitness for use is in zCDP; give the answers rho, not epsilon.")
    found = [
        _requirement(each, goal)
        for each in truths(planned, table)
        if each.count is None and each.answer.is_scaled
    ]
    if not found:
        raise InputError(
            "the workload has no count and no total but tapered ones, whose amounts do not scale; "
            "averages and quantiles have no one noise to compare with a goal."
        )
    return Fitness(planned, goal, tuple(found))


def _requirement(truth: Truth, goal: Goal) -> Requirement:
    noisy = truth.total
    known = _sizes(truth)
    sizes = [
        known[GaussianScale(gaussian(law).sigma_squared * noisy.step**2)] for law in noisy.laws
    ]
    return Requirement(truth, goal, allowed(truth, goal), tuple(sizes))


def _sizes(truth: Truth) -> dict[Scale, Fraction]:
    """Return the sensitivity that each scale of an answer comes from, the largest if of several.

    Where methods differ from part to part, a cell's noise is that of one of them (T11).
    """
    step = truth.answer.measurements[0]
    found: dict[Scale, Fraction] = {}
    for leaf in leaves(step.tree):
        size = leaf.method.sensitivity(step.measure)
        own = step.scale(leaf.method, Currency.RHO)
        found[own] = max(size, found.get(own, size))
    return found


def _policy(required: Requirement, share: Exact | None) -> Policy:
    truth = required.truth
    if share is not None:
        one = required.rho(share)
        if one is None:
            return Policy.zero()
        sizes = _sizes(truth)
        return _by_scale(truth.total.noise.scales, lambda found: _loss(truth, one, sizes[found]))
    made: dict[tuple[int, Fraction], Policy] = {}  # cells with the same rho share one policy
    losses: list[Policy | None] = []
    for rho, size in zip(required.rhos(), required.sizes, strict=True):
        if rho is not None and (id(rho), size) not in made:
            made[id(rho), size] = _loss(truth, rho, size)
        losses.append(made.get((id(rho), size)))
    if not truth.columns:
        return losses[0] or Policy.zero()
    keys = zip(*(column.to_pylist() for column in truth.keys.columns), strict=True)
    cases = {key: each for key, each in zip(keys, losses, strict=True) if each is not None}
    return Policy.by(truth.columns, cases, Policy.zero())


def _by_scale(scales: Scales, loss: Callable[[Scale], Policy]) -> Policy:
    """Return a policy that depends on a cell's noise as the noise depends on its key."""
    if scales.cases is None:
        return Policy.zero() if scales.value is None else loss(scales.value)
    cases = scales.cases.map(lambda each: _by_scale(each, loss))
    default = Policy.zero() if cases.default is None else cases.default
    return Policy.by(cases.dimensions, dict(cases.entries), default)


def _loss(truth: Truth, rho: Fraction, size: Fraction) -> Policy:
    """Return value^2 / (2 sigma^2), or the most that it can be where the method bounds the value.

    sigma^2 = size^2 / (2 rho) is the cell's; which method a record has, its part says.
    """
    measure = truth.answer.measurements[0].measure

    def of(tree: Tree) -> Policy:
        if all(leaf.method.bound(measure) is None for leaf in leaves(tree)):
            return Policy.exact(rho, measure=measure or "", threshold=size)
        bounds = {leaf.method.bound(measure) for leaf in leaves(tree)}
        if len(bounds) == 1 and (bound := bounds.pop()) is not None:
            return Policy.constant(rho * (bound / size) ** 2)
        assert isinstance(tree, Branch)  # noqa: S101 - one leaf is one of the two above
        cases = tree.cases.map(of)
        default = Policy.zero() if cases.default is None else cases.default
        return Policy.by(cases.dimensions, dict(cases.entries), default)

    return of(truth.answer.measurements[0].tree)


def _key_texts(keys: pa.Table) -> list[str]:
    """Return each key as text, its parts joined."""
    if not keys.num_columns:
        return [""] * keys.num_rows
    columns = (column.to_pylist() for column in keys.columns)
    return [", ".join(map(str, key)) for key in zip(*columns, strict=True)]
