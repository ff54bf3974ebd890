"""Tuning: the least loss that reaches a goal of accuracy, or the least error under caps on losses.

Each answer's amounts follow from its goal in closed form (`tuner`). What is left to choose is how
totals are made private: split, and by which thresholds, or tapered, or clamped. Each candidate gets
the amounts that reach the goals, and the one whose policy is smallest in the chosen sense is taken.
Nothing is simulated.

It reads the true numbers: what comes of it is confidential, and a spec that was tuned on the
confidential data is not private. Tune on public, prior or synthetic data instead.
"""

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import pyarrow as pa

from perrecord.errors import AmountError, InputError, listing, suggestion
from perrecord.evaluate.accuracy.within import is_share, known_within, share_of
from perrecord.evaluate.losses.alike import AlikeRecords, alike_records
from perrecord.evaluate.tuning.candidates import WRITTEN, Candidate
from perrecord.evaluate.tuning.capped import Caps, Record, kept, least_errors
from perrecord.evaluate.tuning.frontier import frontier
from perrecord.evaluate.tuning.senses import (
    LossAt,
    LossOf,
    Smallest,
    least_sizes,
    sizes,
    smallest,
)
from perrecord.evaluate.tuning.tuner import AnswerPlace, OutOfReach, Times, Tuner
from perrecord.evaluate.variants import WorkloadTable
from perrecord.exact import Exact, parameter
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.queries.answers.answer import Answer, amounts_of
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.release.goals import Target, percent, target
from perrecord.tables.table import Table
from perrecord.watch import logged

_LOG = logging.getLogger("perrecord.evaluate")

_SHARES = (Fraction(1, 2), Fraction(99, 100), Fraction(1))
_TIE = 1e-9

UNDER_CAPS = "the errors, as multiples of the goals on average"
"""What schemes are judged by where losses have caps."""


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """One answer of one table: its target, its amounts before and after, how many cells meet it."""

    table: str
    columns: tuple[str, ...]
    before: Answer
    after: Answer
    target: Target
    within: Fraction
    """The error that was aimed at: the target's own, or the least that caps allow."""
    cells: int
    zeros: int
    met_before: float | None
    met_after: float | None
    """The shares of the cells, zeros apart, that come within the error."""
    is_met_before: bool
    is_met_after: bool
    """Whether these are as many as the target asks for."""


@dataclass(frozen=True, slots=True, eq=False)
class Tuning:
    """A tuned workload, what it costs, and the frontier that it lies on. Confidential."""

    answers: tuple[Tuned, ...]
    untouched: tuple[str, ...]
    """Answers that no goal is about, as table.answer; their amounts stay."""
    queries: tuple[WorkloadTable, ...]
    """The tuned workload, each table by itself."""
    candidate: Candidate
    choices: tuple[tuple[Candidate, float], ...]
    """Every way that was tried, the smallest first, with what it was judged by.

    It is infinite for what cannot reach the goals.
    """
    judged_by: str
    """In which sense a policy is small; under caps, the errors that are needed to keep them."""
    before: Policy
    policy: Policy
    losses: tuple[tuple[str, float, float, float], ...]
    """Losses of records, by name: as written, tuned, and the least possible as tuned (T30)."""
    frontier: pa.Table

    def to_arrow(self) -> pa.Table:
        """Return a row for each answer of each table."""
        rows = [
            {
                "table": each.table,
                "answer": each.before.name,
                "goal": str(replace(each.target, about=None)),
                "within": float(each.within),
                "amount_before": shown_amounts(each.before),
                "amount_after": shown_amounts(each.after),
                "cells": each.cells,
                "zeros": each.zeros,
                "met_before": each.met_before,
                "met_after": each.met_after,
            }
            for each in self.answers
        ]
        return pa.Table.from_pylist(rows)


def tune(
    queries: Mapping[str, Query],
    table: Table,
    goals: "str | Target | Sequence[str | Target]",
    *,
    schemes: Mapping[str, Scheme] | None = None,
    smallest_in: "str | Smallest" = "99%",
    examples: Mapping[str, Record] | None = None,
    caps: Mapping[str, Exact] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Tuning:
    """Return the amounts, and the splits or tapers, with which every goal is just reached (T22).

    A goal such as `"5% for 95% of cells"` holds for every count, total and average of every table
    by itself, `"emp: 5% for 95% of cells"` for one answer. Answers without a goal, quantiles, key
    selections and answers whose cells are all 0 keep their amounts, and so do blurred totals and
    the answer that decides which cells of a domain are kept, unless a goal names them. Amounts are
    rounded up to four digits.

    With `schemes`, which may be empty, split and tapered totals are made private in the way whose
    policy is smallest: split by `schemes`, finer and coarser ones, or tapered (`candidates`).
    Smallest is meant in `"largest"`, in a percentile of the records' losses such as `"99%"`, or in
    the loss of one of the `examples`. Clamps and tapers with nu = 3 are tried beside them, for
    comparison, and never chosen: clamped totals are too low, and noise with nu = 3 has more numbers
    far out. Without schemes all stays as it is but the amounts.

    With `caps` on the losses of examples, the errors of the goals are multiplied by the numbers of
    the least sum with which no example loses more than its cap: an answer that costs it little may
    err little, whatever the others must.

    >>> import perrecord
    >>> with perrecord.table(pa.table({"emp": [10, 20, 970]}), measures=["emp"]) as source:
    ...     asked = {"all": perrecord.Query().sum("emp", split=perrecord.Split(emp=50), rho=1)}
    ...     found = tune(asked, source, "10% for 100% of cells")
    ...     best = tune(asked, source, "10% for 100% of cells", schemes={}, smallest_in="largest")
    >>> found.to_arrow()["amount_after"].to_pylist(), found.policy.loss({"emp": 150})
    (['0.4851'], Fraction(43659, 10000))
    >>> best.candidate.name, round(float(best.policy.loss({"emp": 970})), 1)
    ('tapered', 17.4)
    """
    wanted = [target(each) for each in ([goals] if isinstance(goals, str | Target) else goals)]
    known = dict(examples or {})
    sense, limits = smallest(smallest_in, known), _caps(caps or {}, known)
    on_step = logged(_LOG, on_step)
    on_step("reading the true numbers")
    tuner = Tuner.of(queries, table, wanted)
    with alike_records(table) as records:
        on_step("comparing splits, tapers and clamps")
        tried = (WRITTEN,) if schemes is None else tuner.candidates(schemes)
        ranked = _ranked(tuner, records, tried, sense, limits)
        chosen = [each for each in ranked if not each.candidate.is_for_comparison]
        best = chosen[_least([each.rank for each in chosen])]
        times = tuner.even()
        if limits and tuner.targets:
            on_step("looking for the least errors")
            times = kept(tuner, best.candidate, limits, best.errors)
        on_step("following the frontier")
        tuned = tuner.tuned(best.candidate, times)
        planned = plan(tuned, table.schema)
        shares = sorted({*_SHARES, *([sense.share] if isinstance(sense, LossAt) else [])})
        senses: list[Smallest] = [*map(LossAt, shares), *(LossOf(*each) for each in known.items())]
        before, after = sizes([tuner.planned.policy, planned.policy], senses, records)
        (least,) = least_sizes([planned], senses, records)
        order = sorted(ranked, key=lambda each: (each is not best, each.rank))
        return Tuning(
            _answers(tuner, tuned, times),
            tuner.untouched,
            tuple(replace(a, query=query) for a, query in zip(tuner.asked, tuned, strict=True)),
            best.candidate,
            tuple((each.candidate, each.rank) for each in order),
            UNDER_CAPS if limits else str(sense),
            tuner.planned.policy,
            planned.policy,
            tuple(zip(map(str, senses), before, after, least, strict=True)),
            frontier(tuner, records, [each.candidate for each in order], times, senses),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """A candidate, what it is judged by, and under caps the errors that keep them."""

    candidate: Candidate
    rank: float
    errors: Mapping[AnswerPlace, float]


def _ranked(
    tuner: Tuner,
    records: AlikeRecords,
    tried: Sequence[Candidate],
    sense: Smallest,
    limits: Caps,
) -> list[_Ranked]:
    """Return every candidate with what it is judged by, infinite if the goals are out of reach."""
    found: dict[Candidate, Policy | Mapping[AnswerPlace, float]] = {}
    missed: list[OutOfReach] = []
    for each in tried:
        try:
            if limits and tuner.targets:
                found[each] = least_errors(tuner, each, limits)
            else:
                found[each] = tuner.policy(each)
        except OutOfReach as error:
            missed.append(error)
    if not found:
        raise missed[0]
    policies = [each for each in found.values() if isinstance(each, Policy)]
    judged = iter(row[0] for row in sizes(policies, [sense], records))
    return [
        _Ranked(each, math.inf, {}) if each not in found else _judged(each, found[each], judged)
        for each in tried
    ]


def _judged(
    candidate: Candidate,
    found: Policy | Mapping[AnswerPlace, float],
    judged: Iterator[float],
) -> _Ranked:
    if isinstance(found, Policy):
        return _Ranked(candidate, next(judged), {})
    return _Ranked(candidate, sum(found.values()) / len(found), found)


def _caps(given: Mapping[str, Exact], examples: Mapping[str, Record]) -> Caps:
    found = {}
    for name, written in given.items():
        if name not in examples:
            raise InputError(
                f"the cap is on {name!r}, which is not an example record. Examples are "
                f"{listing(examples) or 'none'}.{suggestion(name, examples)}"
            )
        cap = parameter(written, f"the cap of {name}")
        if cap <= 0:
            raise AmountError(f"the cap of {name} is {written}; expected a loss above 0.")
        found[name] = examples[name], cap
    return found


def _least(ranks: Sequence[float]) -> int:
    """Return the place of the least rank, the first of those that are as good as equal."""
    least = min(ranks)
    return next(place for place, rank in enumerate(ranks) if rank <= least * (1 + _TIE))


def _answers(tuner: Tuner, tuned: Sequence[Query], times: Times) -> tuple[Tuned, ...]:
    found = []
    for place, aim in tuner.targets.items():
        asked, truth = tuner.asked[place[0]], tuner.truths[place]
        (after,) = [each for each in tuned[place[0]].answers if each.name == place[1]]
        within = aim.goal.times(times[place]).within
        before, now = (
            known_within(tuner.errors(place, each), within) for each in (truth.answer, after)
        )
        found.append(
            Tuned(
                asked.name,
                truth.columns,
                truth.answer,
                after,
                aim,
                within,
                len(truth.records),
                len(truth.records) - len(before),
                share_of(before),
                share_of(now),
                is_share(before, aim.share),
                is_share(now, aim.share),
            )
        )
    return tuple(found)


def shown_amounts(answer: Answer) -> str:
    """Return an answer's amounts for people: an average's are for its total and its count.

    A record pays one of those between which `or` stands.

    >>> from perrecord.queries.query import Query
    >>> shown_amounts(Query().count(rho="0.1").answers[0])
    '0.1'
    """
    return " + ".join(
        " or ".join(f"{float(each):.4g}" for each in amounts_of(step)) for step in answer.steps
    )


def shown_choices(found: Tuning, most: int = 5) -> tuple[tuple[Candidate, float], ...]:
    """Return the best ways that were tried, and of each kind at least the best."""
    kinds: dict[str, int] = {}
    for place, (each, _) in enumerate(found.choices):
        kinds.setdefault(each.kind, place)
    kept = {*range(most), *kinds.values()}
    return tuple(each for place, each in enumerate(found.choices) if place in kept)


def shown_goal(each: Tuned) -> str:
    """Return what was aimed at, for people."""
    share, confidence = percent(each.target.share), percent(each.target.goal.confidence)
    within = 100 * float(each.within)
    shown = f"{within:,.0f}" if within >= 1000 else f"{within:.4g}"
    return f"{shown}% for {share} of cells, at {confidence}"
