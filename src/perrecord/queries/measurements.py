"""The steps that answers are made of: a measurement, one noisy integer per cell, or a choice.

    Measurement    an exact aggregate, made private part by part by its methods (T10 to T13)
    Choice         one of public candidates, by the exponential mechanism (T14)

Whatever runs, prices, states, simulates or replays a workload loops over these and never asks what
kind of answer they belong to.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from perrecord.errors import about, listing
from perrecord.laws.scales import Scale, largest
from perrecord.policy.cases import Cases
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency
from perrecord.policy.weighing import Weighting
from perrecord.queries.aggregates import Aggregate, Bucket, Rows, SquareTotal, Total, WeightTotal
from perrecord.queries.methods import (
    Blurring,
    Leaf,
    Method,
    Methods,
    Tree,
    Widening,
    has_default,
    leaves,
    scales_of,
    tree_of,
)
from perrecord.queries.methods.fitting import check_cases
from perrecord.queries.noise_plan import NoisePlan
from perrecord.tables.measures import check_on_grid
from perrecord.tables.roles import Roles
from perrecord.tables.schema import Schema


@dataclass(frozen=True, slots=True)
class Measurement:
    """One noisy integer per cell: which exact aggregate, by which methods, of which measure.

    A count has no measure. A centred total adds up 2 * value - (low + high), in half steps.
    """

    aggregate: Aggregate
    methods: Methods
    measure: str | None = None
    is_centred: bool = False

    @property
    def tree(self) -> Tree:
        """The parts that its methods tell apart."""
        return tree_of(self.methods)

    @property
    def truth(self) -> Aggregate:
        """What it would be if no value were cut."""
        return self.aggregate if self.measure is None else Total(self.measure, None)

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """What every value is cut to, if one method cuts all."""
        return self.methods.bounds if isinstance(self.methods, Method) else None

    @property
    def widening(self) -> Widening | None:
        """By what public sizes of cells its noise grows; parts of a total have none (T28)."""
        return self.methods.widening if isinstance(self.methods, Method) else None

    @property
    def blurred(self) -> Blurring | None:
        """The method by which its noise grows with the cell's own records, if it does (T28)."""
        return self.methods if isinstance(self.methods, Blurring) else None

    @property
    def squares(self) -> SquareTotal | None:
        """What its noise grows with, if it does: a sum of squares."""
        if self.blurred is None or self.measure is None:
            return None
        return SquareTotal(self.measure)

    @property
    def counted(self) -> tuple[Aggregate, ...]:
        """What must be counted for it: its aggregate, and the squares that its noise grows with."""
        return (self.aggregate,) if self.squares is None else (self.aggregate, self.squares)

    @property
    def centre(self) -> Fraction:
        """What the values are measured from, in the measure's own units."""
        low, high = self.bounds if self.is_centred and self.bounds else (Fraction(0), Fraction(0))
        return (low + high) / 2

    def noise(self, schema: Schema, columns: tuple[str, ...], currency: Currency) -> NoisePlan:
        """Return its noise in cells over these columns."""
        step = Fraction(1) if self.measure is None else schema.measure(self.measure).resolution
        fixed = schema.fixed_by(columns)
        scales = scales_of(self.tree, frozenset(fixed), partial(self.scale, currency=currency))
        own = step / 2 if self.is_centred else step
        return NoisePlan(own, scales, fixed, self.widening, self.blurred)

    def scale(self, method: Method, currency: Currency) -> Scale:
        """Return the noise that one of its methods asks for."""
        return method.scale(self.measure, currency, is_centred=self.is_centred)

    def policy(self, fixed: frozenset[str], currency: Currency) -> Policy:
        """Return what it costs a record, in cells whose keys fix these dimensions."""
        tree = self.tree
        if isinstance(self.methods, Method) and has_default(tree):
            whole = self.methods.whole_policy(currency)
            if whole is not None:
                return whole
        return self._by_parts(tree, None, fixed, currency)

    def _by_parts(
        self, tree: Tree, cell: Scale | None, fixed: frozenset[str], currency: Currency
    ) -> Policy:
        """Return the policy over a tree of parts; `cell` is the cell's noise once it is settled."""
        if isinstance(tree, Leaf):
            own = self.scale(tree.method, currency) if cell is None else cell
            return tree.method.policy(self.measure, currency, own, is_centred=self.is_centred)
        if cell is None and not fixed.issuperset(tree.cases.dimensions):
            cell = largest(self.scale(leaf.method, currency) for leaf in leaves(tree))
        settled = cell
        return _piecewise(
            tree.cases.map(lambda part: self._by_parts(part, settled, fixed, currency)), currency
        )

    def check(self, answer: str, roles: Roles, currency: Currency | None) -> None:
        """Refuse methods that do not fit the table; `answer` is the name to say it by."""
        is_parts = self.measure is not None and isinstance(self.methods, Cases)
        with about(*(["parts"] if is_parts else [])):
            self._check_methods(self.methods, answer, roles, currency)

    def _check_methods(
        self, methods: Methods, answer: str, roles: Roles, currency: Currency | None
    ) -> None:
        if not isinstance(methods, Cases):
            with about(methods.option):
                self._check_tree(tree_of(methods), answer, roles, currency)
            return
        with about("by"):
            check_cases(methods, roles)
        for key, inner in methods.entries:
            with about("cases", listing(key)):
                self._check_methods(inner, answer, roles, currency)
        if methods.default is not None:
            with about("default"):
                self._check_methods(methods.default, answer, roles, currency)

    def _check_tree(self, tree: Tree, answer: str, roles: Roles, currency: Currency | None) -> None:
        if isinstance(tree, Leaf):
            tree.method.check(answer, roles)
            if self.measure is not None:
                self._check_grid(
                    tree.method, self.measure, roles.resolution(self.measure), currency
                )
            return
        check_cases(tree.cases, roles)
        for part in tree.cases.values():
            self._check_tree(part, answer, roles, currency)

    def _check_grid(
        self, method: Method, measure: str, step: Fraction, currency: Currency | None
    ) -> None:
        """Refuse numbers off the grid, and noise too narrow for its loss to hold there (T26)."""
        for word, number in method.grid_numbers(measure):
            check_on_grid(word, number, measure, step)
        if currency is not None:
            self.scale(method, currency).check_grid(step)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of public candidates for each cell: nearest to a quantile of a measure (T14).

    With a weight, records count as often as it says (T37).
    """

    measure: str
    amount: Fraction
    level: Fraction
    candidates: tuple[Fraction, ...]
    weight: Weighting | None = None

    @property
    def bucket(self) -> Bucket:
        """Between which candidates the records are counted."""
        return Bucket(self.measure, self.candidates)

    @property
    def aggregate(self) -> Rows | WeightTotal:
        """What is counted there."""
        return Rows() if self.weight is None else WeightTotal(self.weight.measure)

    def weight_step(self, schema: Schema) -> Fraction:
        """Return what one unit of that is worth: a step of the weight's grid, or one record."""
        return (
            Fraction(1) if self.weight is None else schema.measure(self.weight.measure).resolution
        )

    def policy(self, fixed: frozenset[str], currency: Currency) -> Policy:  # noqa: ARG002
        """Return what it costs a record, whatever its value and its cell."""
        amount = currency.amount(self.amount)
        if self.weight is None:
            return Policy.constant(**amount)
        return Policy.weighed(**amount, measure=self.weight.measure, at=self.weight.at)


Step = Measurement | Choice


def _piecewise(cases: Cases[Policy], currency: Currency) -> Policy:
    default = Policy.zero(currency) if cases.default is None else cases.default
    entries = {key if len(cases.dimensions) > 1 else key[0]: each for key, each in cases.entries}
    dimensions = cases.dimensions if len(cases.dimensions) > 1 else cases.dimensions[0]
    return Policy.by(dimensions, entries, default)
