"""A workload's true numbers with a target for each answer -> amounts that reach the targets (T22).

How much noise an answer may have follows from its target in closed form, and its amounts from that.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from perrecord.errors import CurrencyError, InputError
from perrecord.evaluate.accuracy.errors import CellErrors, cell_errors
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.truths import CountedCells, Truth, counted, truths, truths_of
from perrecord.evaluate.tuning.candidates import Candidate, candidates, is_open
from perrecord.evaluate.tuning.needs import (
    allowed,
    asked_otherwise,
    balanced,
    factor_for,
    factors,
    has_zeros_only,
    is_tapered,
    is_too_narrow,
)
from perrecord.evaluate.variants import WorkloadTable, one_set_each, with_factor
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import SelectCells
from perrecord.queries.methods import Blurring, Tapering, Tree, leaves
from perrecord.queries.plan import Plan, plan
from perrecord.queries.query import Query
from perrecord.release.goals import Target, check_names, target_of
from perrecord.tables.table import Table

AnswerPlace = tuple[int, str]
"""A table of the workload, by number, and an answer of it."""

Bounds = tuple[Fraction, Fraction] | None
"""What values are cut to, if they are."""

Times = Mapping[AnswerPlace, Fraction]
"""What the error of each answer's target is multiplied by."""


class OutOfReach(InputError):  # noqa: N818 - a state of the data, told apart inside this package
    """No amount reaches a goal: clamping cuts off too much, or a taper would be too narrow."""


@dataclass(frozen=True, slots=True)
class Tuner:
    """A workload, each table by itself, its true numbers, and the target of each answer."""

    asked: tuple[WorkloadTable, ...]
    table: Table
    planned: Plan
    truths: Mapping[AnswerPlace, Truth]
    targets: Mapping[AnswerPlace, Target]
    _cut: dict[tuple[AnswerPlace, Bounds], Truth] = field(default_factory=dict)
    """The true numbers beside totals that are cut where they were not as written."""
    _allowed: dict[tuple[AnswerPlace, Bounds, Fraction, int | None], Floats] = field(
        default_factory=dict
    )
    _reached: dict[tuple[str, AnswerPlace, Fraction], Answer] = field(default_factory=dict)
    """What was found for a candidate and a multiple: caps are tried one answer at a time."""

    @classmethod
    def of(
        cls,
        queries: Mapping[str, Query],
        table: Table,
        targets: Sequence[Target],
        cells: CountedCells | None = None,
    ) -> "Tuner":
        """Read the true numbers of a workload, and give each answer the target that is about it.

        They are not read again where `cells` have them.
        """
        asked = one_set_each(queries)
        planned = plan([each.query for each in asked], table.schema)
        if planned.policy.currency is not Currency.RHO:
            raise CurrencyError("tuning is in zCDP; give the answers rho, not epsilon.")
        if cells is None or not cells.serves(planned):
            cells = counted(planned, table)
        found = {(each.query, each.answer.name): each for each in truths_of(planned, cells)}
        names = {place: asked[place[0]].names(place[1]) for place in found}
        check_names(targets, [name for each in names.values() for name in each])
        aims = {place: target_of(targets, names[place]) for place in found}
        kept = {
            place: aim
            for place, aim in aims.items()
            if aim is not None
            and (aim.about is not None or not _stays(asked, place, found[place].answer))
        }
        if not kept:
            raise InputError(
                "there is no goal for any count, total or average; give one, such as '5% for "
                "95% of cells'. Medians and quantiles have no single noise to compare with a "
                "goal."
            )
        # Where all numbers are 0 there is nothing to be accurate about.
        aimed = {place: aim for place, aim in kept.items() if not has_zeros_only(found[place])}
        return cls(asked, table, planned, found, aimed)

    @property
    def untouched(self) -> tuple[str, ...]:
        """Answers that stay as they are, as table.answer: no target, or all of them 0."""
        return tuple(
            f"{each.name}.{answer.name}"
            for number, each in enumerate(self.asked)
            for answer in each.query.answers
            if (number, answer.name) not in self.targets
        )

    def candidates(self, schemes: Mapping[str, Scheme]) -> tuple[Candidate, ...]:
        """Return the ways to choose from, and read what clamping would cut off."""
        answers = [self.truths[place].answer for place in self.targets]
        resolutions = {name: each.resolution for name, each in self.table.schema.measures}
        found = candidates(schemes, answers, resolutions)
        self._read_clamped([each for each in found if each.is_biased])
        return found

    def _read_clamped(self, clamped: Sequence[Candidate]) -> None:
        """Read the totals of clamped candidates, all of them in one pass."""
        asked = [
            (number, replace(each.query, answers=kept))
            for number, each in enumerate(self.asked)
            if (kept := tuple(a for a in each.query.answers if is_open(a)))
            and not isinstance(each.query.groupings[0].cells, SelectCells)
        ]
        queries = [each.applied(query) for each in clamped for _, query in asked]
        for truth in truths(plan(queries, self.table.schema), self.table) if queries else ():
            place = asked[truth.query % len(asked)][0], truth.answer.name
            self._cut[place, _bounds(truth.answer)] = truth

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
            changed = {
                answer.name: self._once(candidate, place, answer, multiples[place])
                for answer in candidate.applied(each.query).answers
                if (place := (number, answer.name)) in self.targets
            }
            answers = tuple(changed.get(answer.name, answer) for answer in each.query.answers)
            found.append(replace(each.query, answers=answers))
        return tuple(found)

    def _once(
        self, candidate: Candidate, place: AnswerPlace, answer: Answer, times: Fraction
    ) -> Answer:
        key = candidate.name, place, times
        if key not in self._reached:
            self._reached[key] = self._tuned(place, answer, times)
        return self._reached[key]

    def _tuned(self, place: AnswerPlace, answer: Answer, times: Fraction) -> Answer:
        answer = balanced(answer, self._truth(place, answer))
        found = with_factor(answer, self._factor(place, answer, times))
        if not is_tapered(self._asked(place, answer)):
            return found
        # Where several parts share a cell, another taper may have the most noise by now.
        while (more := self._factor(place, found, times)) > 1:
            found = with_factor(found, more)
        if is_too_narrow(self._asked(place, found)):  # other cells ask for so large an amount
            raise self._out_of_reach(place, answer)
        return found

    def _factor(self, place: AnswerPlace, answer: Answer, times: Fraction) -> Fraction:
        found = self._factors(place, self._asked(place, answer), times)
        factor = factor_for(found, self.targets[place].share)
        assert factor is not None  # noqa: S101 - some cell has another number than 0
        if not math.isfinite(factor):
            raise self._out_of_reach(place, answer)
        return Fraction(factor)

    def _out_of_reach(self, place: AnswerPlace, answer: Answer) -> OutOfReach:
        is_taper = any(
            isinstance(leaf.method, Tapering | Blurring) for leaf in leaves(_tree(answer))
        )
        reason = _BLURRED if answer.is_blurred else _TOO_NARROW if is_taper else _CUT_OFF
        return OutOfReach(
            f"{self.asked[place[0]].name}.{place[1]}: no amount reaches the goal "
            f"{str(self.targets[place])!r}, {reason}, or give it a goal of its own."
        )

    def _factors(self, place: AnswerPlace, truth: Truth, times: Fraction) -> Floats:
        """Return by how much each cell's amounts miss the target, errors multiplied."""
        goal, bounds = self.targets[place].goal.times(times), _bounds(truth.answer)

        def most(nu: int | None) -> Floats:
            key = place, bounds, times, nu
            if key not in self._allowed:
                self._allowed[key] = allowed(truth, goal, nu)
            return self._allowed[key]

        return factors(truth, goal, most)

    def _truth(self, place: AnswerPlace, answer: Answer) -> Truth:
        """Return the true numbers behind an answer whose values are cut as this one's are."""
        written, bounds = self.truths[place], _bounds(answer)
        if bounds == _bounds(written.answer):
            return written
        if (place, bounds) not in self._cut:
            raise OutOfReach("where noise decides which cells are published, no clamp is tried.")
        return self._cut[place, bounds]

    def _asked(self, place: AnswerPlace, answer: Answer) -> Truth:
        try:
            return asked_otherwise(self._truth(place, answer), answer, self.table.schema)
        except InputError:  # next to no noise: a loss that no taper can have
            raise self._out_of_reach(place, answer) from None

    def errors(self, place: AnswerPlace, answer: Answer) -> CellErrors:
        """Return the errors that an answer would have with these amounts, at its own confidence."""
        return cell_errors(self._asked(place, answer), self.targets[place].goal.confidence)

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


def _bounds(answer: Answer) -> Bounds:
    return answer.measurements[0].bounds


def _tree(answer: Answer) -> Tree:
    return answer.measurements[0].tree


_TOO_NARROW = (
    "because tapered noise would be narrower than 5 steps of the measure's resolution. Give the "
    "measure a finer resolution, split it instead (split: ...)"
)
_BLURRED = (
    "because the noise that grows with the size of the cells misses it alone, or the rest would be "
    "narrower than 5 steps of the measure's resolution. Blur it by less (blur: ...)"
)
_CUT_OFF = (
    "because clamping cuts off too much. Split it instead (split: ...), clamp at a higher bound"
)


def _stays(asked: Sequence[WorkloadTable], place: AnswerPlace, answer: Answer) -> bool:
    """Tell whether only a goal about an answer by its name changes it.

    If one that decides which cells of a domain are published were less accurate, it would let
    through empty ones. A blurred total errs by a share of its records, whatever its amount.
    """
    cells = asked[place[0]].query.groupings[0].cells
    return answer.is_blurred or (isinstance(cells, SelectCells) and cells.answer == place[1])
