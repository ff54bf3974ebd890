"""A workload's true numbers with a target for each answer -> amounts that reach the targets (T22).

Noise scales as one over the amount, so an answer's amounts follow from its target in closed form.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from perrecord.errors import CurrencyError, InputError
from perrecord.evaluate.accuracy.errors import CellErrors, cell_errors
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.truths import Truth, truths
from perrecord.evaluate.tuning.candidates import WRITTEN, Candidate, candidates
from perrecord.evaluate.tuning.goals import Target, check_names, target_of
from perrecord.evaluate.tuning.needs import (
    allowed,
    asked_otherwise,
    balanced,
    factor_for,
    factors,
    has_zeros_only,
)
from perrecord.evaluate.variants import (
    WorkloadTable,
    measure_of,
    one_set_each,
    resplit,
    with_factor,
)
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import SelectCells
from perrecord.queries.plan import Plan, plan
from perrecord.queries.query import Query
from perrecord.tables.table import Table

AnswerPlace = tuple[int, str]
"""A table of the workload, by number, and an answer of it."""

Times = Mapping[AnswerPlace, Fraction]
"""What the error of each answer's target is multiplied by."""


class OutOfReach(InputError):  # noqa: N818 - a state of the data, told apart inside this package
    """No amount reaches a goal, because clamping cuts off too much."""


@dataclass(frozen=True, slots=True)
class Tuner:
    """A workload, each table by itself, its true numbers, and the target of each answer."""

    asked: tuple[WorkloadTable, ...]
    table: Table
    planned: Plan
    truths: Mapping[AnswerPlace, Truth]
    targets: Mapping[AnswerPlace, Target]
    _allowed: dict[tuple[AnswerPlace, Fraction], Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, queries: Mapping[str, Query], table: Table, targets: Sequence[Target]) -> "Tuner":
        """Read the true numbers of a workload, and give each answer the target that is about it."""
        asked = one_set_each(queries)
        planned = plan([each.query for each in asked], table.schema)
        if planned.policy.currency is not Currency.RHO:
            raise CurrencyError("tuning is in zCDP; give the answers rho, not epsilon.")
        found = {
            (each.query, each.answer.name): each
            for each in truths(planned, table)
            if each.answer.is_scaled
        }
        names = {place: asked[place[0]].names(place[1]) for place in found}
        check_names(targets, [name for each in names.values() for name in each])
        aims = {place: target_of(targets, names[place]) for place in found}
        kept = {
            place: aim
            for place, aim in aims.items()
            if aim is not None and not (aim.about is None and _decides_cells(asked, place))
        }
        if not kept:
            raise InputError(
                "there is no goal for any count, total or average; give one, such as '5% for 95% "
                "of cells'. Medians and quantiles have no one noise to compare with a goal, and "
                "tapered answers are left as they are."
            )
        # Where all numbers are 0 there is nothing to be accurate about.
        aimed = {place: aim for place, aim in kept.items() if not has_zeros_only(found[place])}
        return cls(asked, table, planned, found, aimed)

    @property
    def untouched(self) -> tuple[str, ...]:
        """Answers that stay as they are, as table.answer: without a target, or all of them 0."""
        return tuple(
            f"{each.name}.{answer.name}"
            for number, each in enumerate(self.asked)
            for answer in each.query.answers
            if (number, answer.name) not in self.targets
        )

    def candidates(self, schemes: Mapping[str, Scheme]) -> tuple[Candidate, ...]:
        """Return the schemes to choose from; by exact accounting thresholds make no difference."""
        answers = [self.truths[place].answer for place in self.targets]
        measures = {
            measure_of(each) for each in answers if each.scheme is not None and not each.is_tight
        }
        if not measures or not schemes:
            return (WRITTEN,)
        resolutions = {name: each.resolution for name, each in self.table.schema.measures}
        return candidates(schemes, measures, resolutions)

    def even(self, times: Fraction = Fraction(1)) -> Times:
        """Return the same multiple for every target."""
        return dict.fromkeys(self.targets, times)

    def policy(self, candidate: Candidate, times: Times | None = None) -> Policy:
        """Return what the tuned workload costs."""
        return plan(self.tuned(candidate, times), self.table.schema).policy

    def tuned(self, candidate: Candidate, times: Times | None = None) -> tuple[Query, ...]:
        """Return the queries with the amounts that reach the targets, errors multiplied.

        What no target is about stays as it is, its scheme too.
        """
        found, multiples = [], times or self.even()
        for number, each in enumerate(self.asked):
            (other,) = resplit([each.query], candidate.scheme)
            changed = {
                answer.name: self._tuned(place, answer, multiples[place])
                for answer in other.answers
                if (place := (number, answer.name)) in self.targets
            }
            answers = tuple(changed.get(answer.name, answer) for answer in each.query.answers)
            found.append(replace(each.query, answers=answers))
        return tuple(found)

    def _tuned(self, place: AnswerPlace, answer: Answer, times: Fraction) -> Answer:
        answer = balanced(answer, self.truths[place])
        factor = factor_for(self.factors(place, answer, times), self.targets[place].share)
        assert factor is not None  # noqa: S101 - some cell has another number than 0
        if not math.isfinite(factor):
            raise OutOfReach(
                f"{self.asked[place[0]].name}.{place[1]}: no amount reaches the goal "
                f"{str(self.targets[place])!r}, because clamping cuts off too much. Split it "
                "instead (split: ...), clamp at a higher bound, or give it a goal of its own."
            )
        return with_factor(answer, Fraction(factor))

    def factors(self, place: AnswerPlace, answer: Answer, times: Fraction) -> Floats:
        """Return by how much each cell's amounts miss the target, errors multiplied."""
        if (place, times) not in self._allowed:
            goal = self.targets[place].goal.times(times)
            self._allowed[place, times] = allowed(self.truths[place], goal)
        otherwise = asked_otherwise(self.truths[place], answer, self.table.schema)
        return factors(otherwise, self._allowed[place, times])

    def errors(self, place: AnswerPlace, answer: Answer) -> CellErrors:
        """Return the errors that an answer would have with these amounts, at its own confidence."""
        otherwise = asked_otherwise(self.truths[place], answer, self.table.schema)
        return cell_errors(otherwise, self.targets[place].goal.confidence)

    def fixed(self) -> Policy:
        """Return what is paid for answers that stay as they are and for the selection of keys."""
        every = [Policy.zero()]
        for grouping in self.planned.groupings:
            every += [
                charged.policy
                for charged in grouping.answers
                if (grouping.query, charged.answer.name) not in self.targets
            ]
            if grouping.selection is not None:
                every.append(grouping.selection)
        return Policy.total(every)


def _decides_cells(asked: Sequence[WorkloadTable], place: AnswerPlace) -> bool:
    """Tell whether an answer decides which cells of a domain are published.

    Less accurate, it would let through cells that are empty; only a goal about it alone changes it.
    """
    cells = asked[place[0]].query.groupings[0].cells
    return isinstance(cells, SelectCells) and cells.answer == place[1]
