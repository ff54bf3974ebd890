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
from perrecord.evaluate.accuracy.errors import cells_of
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.truths import CountedCells, Truth, counted, truths_of
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.policies import (
    CellPolicies,
    TaperedCells,
    cell_losses,
    policy_losses,
)
from perrecord.evaluate.tuning.needs import (
    allowed,
    allowed_by_law,
    method_by_law,
    methods_of,
    nu_of,
    rhos_for,
)
from perrecord.exact import Exact, parameter, round_up
from perrecord.laws import DiscreteStudent
from perrecord.laws.scales import GaussianScale, Scale, student_scale
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.queries.methods import Branch, Method, Scales, Tapering, Tree, leaves
from perrecord.queries.plan import Plan
from perrecord.queries.policies import on_filtered
from perrecord.release.goals import Goal
from perrecord.tables.table import Table

_BITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """What one answer needs in one grouping: for each cell the most noise that meets the goal.

    `most` are the largest sigma^2, or A of Student noise, in steps of the grid, rounded down: NaN
    where the true number is 0 (no noise is below 0), and 0 where the bias of clamping alone misses
    the goal or tapered noise would be narrower than 5 steps. A rho goes with the size of the
    cell's method, its sensitivity or taper: sigma^2 = size^2 / (2 rho), or rho = P(size; A).
    """

    truth: Truth
    goal: Goal
    most: Floats
    methods: tuple[Method, ...]
    """For each law of the answer's noise, the method that asked for it."""

    @property
    def name(self) -> str:
        """The answer, and what it is grouped by."""
        return f"{self.truth.answer.name} by {', '.join(self.truth.columns) or 'total'}"

    @property
    def sizes(self) -> tuple[Fraction, ...]:
        """The size that each cell's rho goes with."""
        every = [method.sensitivity(_measure(self.truth)) for method in self.methods]
        return tuple(every[which] for which in self.truth.total.which.tolist())

    @property
    def zeros(self) -> int:
        """How many cells have a true number of 0."""
        return int(np.isnan(self.most).sum())

    @property
    def unreachable(self) -> int:
        """How many cells no rho brings to the goal."""
        return int((self.most == 0).sum())

    @property
    def hindrance(self) -> str:
        """Why no rho brings those cells to the goal: what each of their laws cannot do."""
        laws = [self.truth.total.laws[each] for each in set(self.truth.total.which[self.most == 0])]
        are_tapered = [isinstance(each, DiscreteStudent) for each in laws]
        reasons = ["tapered noise is never narrower than 5 steps"] if any(are_tapered) else []
        return " and ".join([*reasons, *(["clamping biases them"] if not all(are_tapered) else [])])

    @property
    def values(self) -> Floats:
        """Each cell's least rho as a float: NaN for zeros, infinite where none will do."""
        found = np.full(len(self.most), np.nan)
        for (cells, law), method in zip(cells_of(self.truth.total), self.methods, strict=True):
            found[cells] = rhos_for(self.truth, law, method, self.most[cells])
        return found

    def rhos(self) -> list[Fraction | None]:
        """Return each cell's least rho, rounded up by less than one part in 10^5."""
        known: dict[tuple[float, int], Fraction] = {}  # many small cells have the same number
        found: list[Fraction | None] = []
        for most, which in zip(self.most.tolist(), self.truth.total.which.tolist(), strict=True):
            if not most > 0:
                found.append(None)
                continue
            if (most, which) not in known:
                known[most, which] = self._rho(most, which)
            found.append(known[most, which])
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
        found = zip(self.most[here].tolist(), self.truth.total.which[here].tolist(), strict=True)
        return max(self._rho(most, which) for most, which in set(found))

    def _rho(self, most: float, which: int) -> Fraction:
        cell = self.scale(most, which)
        return round_up(cell.rho(self.methods[which].sensitivity(_measure(self.truth))), _BITS)

    def scale(self, most: float, which: int) -> Scale:
        """Return noise of a size in steps, by one of the laws, in the measure's own units."""
        size = Fraction(most) * self.truth.total.step**2
        nu = nu_of(self.truth.total.laws[which])
        return GaussianScale(size) if nu is None else student_scale(size, nu)


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
        return Policy.total(self.policies(share))

    def losses(self, table: Table, share: Exact | None = None) -> Distribution:
        """Return what the records of the table lose under the implied policy."""
        if share is not None:
            return policy_losses(self.policies(share), table)
        return cell_losses(self.by_cell(), table)

    def by_cell(self) -> list[CellPolicies]:
        """Return the implied policy of each answer where every cell has its own rho."""
        return [self._by_cell(each) for each in self.requirements]

    def _by_cell(self, required: Requirement) -> CellPolicies:
        """Return the implied policy as a rho for each cell, times what a rho of 1 costs there.

        Of tapered cells it is what Student noise costs, 1 / (2 sqrt A) being the cell's.
        """
        truth, rhos = required.truth, required.values
        weights = np.where(np.isfinite(rhos), rhos, 0.0)
        prices: list[Policy | TaperedCells] = []
        for (cells, law), method in zip(cells_of(truth.total), required.methods, strict=True):
            if isinstance(law, DiscreteStudent):
                weights[cells] = _inverse_roots(required.most[cells], truth.total.step)
                entered = self._filtered(Policy.constant(1), truth)
                prices.append(TaperedCells(_measure(truth) or "", law.nu, entered))
            else:
                prices.append(self._filtered(_loss(truth, Fraction(1), method), truth))
        return CellPolicies(truth.keys, weights, truth.total.which, tuple(prices))

    def policies(self, share: Exact | None) -> list[Policy]:
        """Return the implied policy of each answer."""
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


def fitness(
    planned: Plan,
    table: Table,
    *,
    within: Exact,
    confidence: Exact = "0.95",
    cells: CountedCells | None = None,
) -> Fitness:
    """Return the least rho for |noise| < within * |true| with this probability, cell by cell (T22).

    Rhos are exact rationals, rounded up by less than one part in 10^5. Averages and quantiles are
    left out: their errors are no one noise. The true numbers are those of the `cells`, if given.

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
        for each in truths_of(planned, counted(planned, table) if cells is None else cells)
        if each.count is None and not each.answer.is_blurred
    ]
    if not found:
        raise InputError(
            "the workload has no count, and no total that is not blurred; blurred totals, "
            "averages and quantiles have no single noise to compare with a goal."
        )
    return Fitness(planned, goal, tuple(found))


def _requirement(truth: Truth, goal: Goal) -> Requirement:
    most = allowed_by_law(truth, lambda nu: allowed(truth, goal, nu))
    return Requirement(truth, goal, most, methods_of(truth))


def _measure(truth: Truth) -> str | None:
    return truth.answer.measurements[0].measure


def _inverse_roots(most: Floats, step: Fraction) -> Floats:
    """Return 1 / (2 sqrt A) in the measure's own units; 0 where there is no A."""
    found = np.zeros(len(most))
    known = most > 0
    found[known] = 1 / (2 * float(step) * np.sqrt(most[known]))
    return found


def _policy(required: Requirement, share: Exact | None) -> Policy:
    truth = required.truth
    if share is not None:
        one = required.rho(share)
        if one is None:
            return Policy.zero()
        known, noise = method_by_law(truth), truth.total.noise
        return _by_scale(noise.scales, lambda found: _loss(truth, one, known[noise.law(found)]))
    made: dict[tuple[int, int], Policy] = {}  # cells with the same rho share one policy
    losses: list[Policy | None] = []
    for rho, which in zip(required.rhos(), truth.total.which.tolist(), strict=True):
        if rho is not None and (id(rho), which) not in made:
            made[id(rho), which] = _loss(truth, rho, required.methods[which])
        losses.append(made.get((id(rho), which)))
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


def _loss(truth: Truth, rho: Fraction, method: Method) -> Policy:
    """Return value^2 / (2 sigma^2), or the most that it can be where the method bounds the value.

    sigma^2 = size^2 / (2 rho) is the cell's; which method a record has, its part says. A tapered
    cell costs what its Student noise does, whatever the part.
    """
    measure = _measure(truth)
    size = method.sensitivity(measure)
    if isinstance(method, Tapering):
        cell = method.with_amount(rho).scale(measure, Currency.RHO)
        return method.policy(measure, Currency.RHO, cell)

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
