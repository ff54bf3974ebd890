"""`evaluate`: what a workload costs its records and what it buys, beside other ways to ask it.

All of it is confidential, unless the table is public or synthetic. The scans run in the engine;
what comes to Python are cells, and a few hundred points of each distribution.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import pyarrow as pa

from perrecord.errors import InputError
from perrecord.evaluate.accuracy.errors import CellErrors, each_accuracy
from perrecord.evaluate.accuracy.fitted import fits_of, fitted_rows
from perrecord.evaluate.accuracy.following import following_rows
from perrecord.evaluate.accuracy.quantiles import QuantileErrors, quantile_accuracy, summed_up
from perrecord.evaluate.accuracy.summaries import (
    LIMITS,
    AnswerErrors,
    Row,
    box,
    by_size,
    drawn,
    noise_and_bias,
)
from perrecord.evaluate.accuracy.truths import CountedCells, counted
from perrecord.evaluate.losses.alike import AlikeRecords, alike_records
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.evaluate.losses.least import least_losses
from perrecord.evaluate.losses.policies import each_cell_losses, policy_losses
from perrecord.evaluate.losses.realised import Losses, losses
from perrecord.evaluate.losses.record_sizes import changes_by_size, losses_by_size
from perrecord.evaluate.shown import evaluation_panel
from perrecord.evaluate.tuning.candidates import WRITTEN
from perrecord.evaluate.tuning.fitness import fitness
from perrecord.evaluate.tuning.tuner import Tuner
from perrecord.evaluate.variants import Variant, accounted, one_set_each, variants
from perrecord.exact import Exact, rational
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.queries.hierarchies import Families, Member, SummedTable, families_of
from perrecord.queries.hierarchies.summed import joined
from perrecord.queries.methods import Accounting
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.release.goals import Goal, Target, percent
from perrecord.tables.lookups import Lookup
from perrecord.tables.table import Table
from perrecord.watch import logged

_LOG = logging.getLogger("perrecord.evaluate")

SHARE = Fraction(95, 100)
"""The share of the cells that one rho for each answer makes fit for use."""

AS_CHARGED, SHARE_OF_CELLS, EVERY_CELL = (
    "95% of cells, as charged",
    "95% of cells, by exact accounting",
    "in theory: every cell, a rho for each",
)
"""The readings of a goal (T22). Nobody can ask for the last: its rhos follow from true numbers."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The losses at which the cells come within an error, in one reading of that goal."""

    within: Fraction
    reading: str
    losses: Distribution
    missed: tuple[str, ...]
    """Answers that cannot come so close, whatever the rho, each with the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What was found about a workload, table by table and answer by answer. Confidential."""

    confidence: Fraction
    limits: tuple[Fraction, ...]
    """The errors that cells should come within, each a share of the true number."""
    variants: tuple[Variant, ...]
    """The workload as written, and what it is compared with."""
    policies: tuple[Policy, ...]
    """What each of them costs."""
    compared: tuple[Distribution, ...]
    """The policy losses of the records under each of them."""
    least: tuple[Distribution | None, ...]
    """The least that the records could lose by answers as accurate; None under pure epsilon (T30).

    Of several answers the largest counts; clamped ones, which are biased, are left out.
    """
    errors: pa.Table
    """Five numbers of the cells' expected errors, for each variant, table and answer."""
    parts: pa.Table
    """The same for noise alone and for bias alone."""
    drawn: pa.Table
    """Of the workload as written: the median over cells, expected and averaged over draws."""
    by_size: pa.Table
    """Of the workload as written: errors by the number of records in a cell."""
    losses: Losses
    """Of the workload as written: what records and units lose."""
    otherwise: tuple[str, Distribution] | None
    """The policy losses of the same noise by the other accounting, where that differs (T11)."""
    sizes: pa.Table
    """The loss of a record against its size, and the least possible, under each variant."""
    changes: pa.Table
    """Of the workload as written: what it costs that a record of some size is somewhat greater."""
    fitness: tuple[Fit, ...]
    """What it would take to be fit for use; nothing without counts or totals in rho."""
    quantiles: pa.Table
    """Of medians and quantiles under each variant: figures in units, true zeros included."""
    fitted: pa.Table
    """Of the workload as written: errors of the median cell before and after tables are fitted so
    that they add up, and of tables that follow; nothing where there are neither (T32)."""

    @property
    def currency(self) -> Currency:
        """Rho or epsilon."""
        return self.losses.currency

    @property
    def records(self) -> int:
        """How many records the table has."""
        return self.losses.policy.count

    def _repr_html_(self) -> str:
        """Show it in a notebook, marked as confidential: nobody said that it is not."""
        return evaluation_panel(self)


def evaluate(  # noqa: PLR0913 -- an option for every choice
    queries: Mapping[str, Query],
    table: Table,
    *,
    schemes: Mapping[str, Scheme] | None = None,
    top_codes: bool = True,
    budgets: Sequence[Exact] = (),
    example: Mapping[str, Any] | None = None,
    confidence: Exact = "0.95",
    limits: Sequence[Exact] = LIMITS,
    repeats: int = 20,
    consistent: bool = False,
    hierarchies: Sequence[Lookup] = (),
    following: Sequence[SummedTable] = (),
    on_step: Callable[[str], None] = lambda _: None,
) -> Evaluation:
    """Return what a workload costs and what it buys, beside other schemes, top-codes and budgets.

    Errors are expected ones in closed form (T21); those of the workload as written are also
    averaged over `repeats` draws of its noise, as a check. `limits` are the errors that cells
    should come within (T22). `budgets` are factors: 2 doubles every amount. Where tables are made
    `consistent`, errors are also told after fitting (T32), and those of tables `following` from
    them; `hierarchies` are those that are declared.

    >>> import perrecord
    >>> with perrecord.table(pa.table({"emp": [10, 20, 970]}), measures=["emp"]) as source:
    ...     scheme = perrecord.Split(emp=50)
    ...     asked = perrecord.Query().sum("emp", split=scheme, rho=1)
    ...     found = evaluate({"all": asked}, source, schemes={"fifty": scheme})
    >>> [each.name for each in found.variants]
    ['as written', 'fifty', 'top-code fifty']
    >>> found.errors["middle"].to_pylist()
    [0.028..., 0.028..., 0.92...]
    """
    factors = [rational(each, "a budget") for each in budgets]
    found = variants(queries.values(), schemes or {}, top_codes=top_codes, budgets=factors)
    on_step = logged(_LOG, on_step)
    on_step("computing errors and drawing noise")
    named = ("errors", "parts", "drawn", "by_size", "quantiles", "fitted")
    rows: dict[str, list[Row]] = {name: [] for name in named}
    asked = one_set_each(queries)
    together = plan([each.query for each in asked], table.schema)
    families = families_of(together, hierarchies) if consistent else Families((), ())
    for follows in following:
        families = joined(together, families, follows, hierarchies)
    members = {member for family in families.fitted for member in family.members}
    fitted: dict[Member, CellErrors] = {}
    for each in _errors(list(queries), found, table, confidence):
        rows["errors"].append(box(each, limits))
        is_written = each.variant == found[0].name
        if isinstance(each.errors, QuantileErrors):
            rows["quantiles"].append(each.labels | summed_up(each.errors))
        else:
            rows["parts"] += noise_and_bias(each)
            if is_written:
                rows["drawn"].append(drawn(each, each.errors, repeats))
                # As written comes first, so its tables have the numbers of its groupings.
                member = Member(each.errors.truth.query, each.errors.truth.answer.name)
                if member in members:
                    fitted[member] = each.errors
        if is_written:
            rows["by_size"] += by_size(each, limits)
    order = {each.name: place for place, each in enumerate(found)}
    rows["errors"].sort(key=lambda row: order[row["variant"]])  # quantiles come last
    names = [each.name for each in asked]
    for family in families.fitted:
        fits = fits_of(family, together, hierarchies, fitted)
        rows["fitted"] += [*fitted_rows(fits, names, fitted), *following_rows(fits, names, fitted)]
    on_step("computing losses")
    plans = {each.name: plan(each.queries, table.schema) for each in found}
    policies = [each.policy for each in plans.values()]
    own, *others = plans.values()
    lost = losses(own, table)
    shares = tuple(rational(each, "a limit") for each in limits)
    with alike_records(table) as records:
        compared = [lost.policy, *(policy_losses(policy, records) for policy in policies[1:])]
        least = [lost.least, *(least_losses(each, records) for each in others)]
        otherwise = _otherwise(found[0], policies[0], records)
        on_step("computing fitness for use")
        fit = _fitness(queries, records, shares, confidence)
    return Evaluation(
        rational(confidence, "the confidence"),
        shares,
        found,
        tuple(policies),
        tuple(compared),
        tuple(least),
        pa.Table.from_pylist(rows["errors"]),
        pa.Table.from_pylist(rows["parts"]),
        pa.Table.from_pylist(rows["drawn"]),
        pa.Table.from_pylist(rows["by_size"]),
        lost,
        otherwise,
        losses_by_size(plans, table.schema, example),
        changes_by_size(own, example),
        tuple(fit),
        pa.Table.from_pylist(rows["quantiles"]),
        pa.Table.from_pylist(rows["fitted"]),
    )


def _errors(
    names: Sequence[str], found: Sequence[Variant], table: Table, confidence: Exact
) -> Iterator[AnswerErrors]:
    """Yield the errors of every variant; one scan for each filter serves them all."""
    asked = [
        (variant, each)
        for variant in found
        for each in one_set_each(zip(names, variant.queries, strict=True))
    ]
    planned = plan([each.query for _, each in asked], table.schema)
    every: tuple[Iterable[CellErrors | QuantileErrors], ...] = (
        each_accuracy(planned, table, confidence=confidence),
        quantile_accuracy(planned, table, confidence=confidence),
    )
    for errors in chain.from_iterable(every):
        variant, each = asked[errors.truth.query]
        yield AnswerErrors(variant.name, variant.kind, each.name, errors)


def _otherwise(
    written: Variant, policy: Policy, records: AlikeRecords
) -> tuple[str, Distribution] | None:
    """Return the losses by exact accounting of what is charged by pieces, or the reverse."""
    others: tuple[tuple[Accounting, str], ...] = (
        ("exact", "by exact accounting"),
        ("split", "by pieces"),
    )
    for accounting, name in others:
        queries = accounted(written.queries, accounting)
        other = plan(queries, records.table.schema).policy
        if other != policy:
            return name, policy_losses(other, records)
    return None


def _fitness(
    queries: Mapping[str, Query],
    records: AlikeRecords,
    limits: Sequence[Fraction],
    confidence: Exact,
) -> list[Fit]:
    table = records.table
    planned = plan(list(queries.values()), table.schema)
    answers = [answer for query in queries.values() for answer in query.answers]
    is_known = any(answer.is_additive and not answer.is_blurred for answer in answers)
    if planned.policy.currency is not Currency.RHO or not is_known:
        return []
    cells = counted(planned, table)
    every = [
        fitness(planned, table, within=each, confidence=confidence, cells=cells) for each in limits
    ]
    by_cell = each_cell_losses([each.by_cell() for each in every], table)
    found = []
    for within, needed, in_theory in zip(limits, every, by_cell, strict=True):
        goal = Target(Goal.of(within, confidence), SHARE)
        charged = _as_charged(queries, table, goal, cells)
        if charged is not None:
            found.append(Fit(within, AS_CHARGED, policy_losses(charged, records), ()))
        by_share = policy_losses(needed.policies(SHARE), records)
        for reading, share, lost in (
            (SHARE_OF_CELLS, SHARE, by_share),
            (EVERY_CELL, None, in_theory),
        ):
            missed = tuple(
                f"{each.name} ({each.hindrance})"
                for each in needed.requirements
                if each.unreachable and (share is None or each.rho(share) is None)
            )
            found.append(Fit(within, reading, lost, missed))
    return found


def _as_charged(
    queries: Mapping[str, Query], table: Table, goal: Target, cells: CountedCells
) -> Policy | None:
    """Return what the workload costs when it is tuned, or None where it cannot be."""
    try:
        return Tuner.of(queries, table, [goal], cells).policy(WRITTEN)
    except InputError:  # clamping cuts off too much, or there is nothing to tune
        return None


def fitness_table(found: Sequence[Fit]) -> pa.Table:
    """Return the distributions of all goals and readings in one table."""
    tables = []
    for each in found:
        rows = each.losses.to_arrow()
        for column, value in (("reading", each.reading), ("within", percent(each.within))):
            rows = rows.add_column(0, column, pa.array([value] * rows.num_rows, pa.string()))
        tables.append(rows)
    return pa.concat_tables(tables) if tables else pa.table({})
