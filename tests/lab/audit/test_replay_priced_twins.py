"""Broken twins of prices and of exact integers: the replay audit catches each of them."""

from copy import copy
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from perrecord import Policy
from perrecord.lab.audit import random_tables
from perrecord.laws import DiscreteGaussian
from perrecord.mechanisms import quantiles
from perrecord.policy import slots, split
from perrecord.queries import plan, scan, values
from perrecord.queries import rows as split_rows
from perrecord.queries.aggregates import Filled, Rows, Total
from perrecord.queries.answers import Answer
from perrecord.queries.noise_plan import NoisePlan
from tests.lab.audit.caught import caught


def test_a_policy_that_promises_a_millionth_less_is_caught(monkeypatch):
    """Exact accounting leaves no room at all."""
    honest, less = Answer.policy, 1 - Fraction(1, 10**6)
    monkeypatch.setattr(Answer, "policy", lambda *given: honest(*given) * less)
    assert caught("the policy says")


@pytest.mark.parametrize(
    ("owner", "message", "first"),
    [(plan.PlannedGrouping, "a grouping", 0), (plan.Plan, "a workload", 6)],
)
def test_a_sum_that_forgets_a_part_is_caught(monkeypatch, owner, message, first):
    """What answers cost adds up, in a grouping and over all of them (T4)."""

    def forgetful(self):
        parts = self.groupings if isinstance(self, plan.Plan) else self.answers
        return Policy.total([parts[0].policy])

    monkeypatch.setattr(owner, "policy", property(forgetful))
    assert caught(message, first=first)


def test_a_lookup_that_doubles_records_is_caught(monkeypatch):
    """A key that is in a lookup twice makes two records of one."""
    first, second = random_tables.DECLARED["lookups"]
    doubled = copy(first)
    object.__setattr__(doubled, "table", pa.concat_tables([first.table, first.table]))
    monkeypatch.setitem(random_tables.DECLARED, "lookups", [doubled, second])
    assert caught("something else than it adds", "pieces")


def test_noise_that_is_one_per_cent_too_small_is_caught(monkeypatch):
    """Both currencies: sigma^2, and the scale."""
    honest = NoisePlan.law

    def smaller(self, scale):
        factor = Fraction(99, 100) ** (2 if scale.name == "gaussian" else 1)
        return honest(self, replace(scale, size=scale.size * factor))

    monkeypatch.setattr(NoisePlan, "law", smaller)
    assert caught("the policy says")


def test_a_policy_by_floor_is_caught(monkeypatch):
    """One step beyond a threshold is one more piece: m(r) is rounded up."""
    monkeypatch.setattr(split, "ceil_div", lambda size, limit: size // limit)
    assert caught("the policy says", "pieces", first=2)


def test_pieces_counted_by_floor_are_caught(monkeypatch):
    """The same in the engine: key selection and rows see fewer pieces than m(r)."""

    def floor(value, threshold, dialect):
        quotient, _ = dialect.divided(f"abs({value})", threshold)
        return f"coalesce({quotient}, {dialect.literal(0)})"

    monkeypatch.setattr(values, "_ceiling", floor)
    assert caught("pieces", first=5)


def test_a_null_that_is_counted_is_caught(monkeypatch):
    """COUNT(a) leaves records out in which a is NULL."""
    honest = scan._aggregated

    def counting(aggregate, value, dialect):
        return honest(Rows() if isinstance(aggregate, Filled) else aggregate, value, dialect)

    monkeypatch.setattr(scan, "_aggregated", counting)
    assert caught("something else than it adds", first=1)


def test_a_null_that_is_summed_as_a_bound_is_caught(monkeypatch):
    """NULL adds 0, also where values are clamped to 5 at least."""
    honest = scan.total_value

    def filled(total, resolution, parts):
        value = honest(total, resolution, parts)
        return value if total.clamps is None else f"coalesce({value}, 5)"

    monkeypatch.setattr(scan, "total_value", filled)
    assert caught("something else than it adds", first=1)


def test_a_delta_of_one_piece_fewer_is_caught(monkeypatch):
    """A key of one record appears with Pr[Z >= tau - m]."""
    honest = slots.Slot.delta
    monkeypatch.setattr(slots.Slot, "delta", lambda self, pieces: honest(self, pieces - 1))
    assert caught("another probability than delta", first=11)


def test_sums_in_floats_are_caught(monkeypatch):
    """Beyond 2^53 a sum of floats changes by something else than the record's value."""
    honest = scan._aggregated

    def rounded(aggregate, shown, dialect):
        if isinstance(aggregate, Total):
            return {shown: f"CAST(sum(CAST({dialect.identifier(shown)} AS DOUBLE)) AS HUGEINT)"}
        return honest(aggregate, shown, dialect)

    monkeypatch.setattr(scan, "_aggregated", rounded)
    assert caught("something else than it adds", "the policy says", "exactly", first=2)


def test_rows_without_their_last_piece_are_caught(monkeypatch):
    """The pieces sum up to the record."""

    def short(value, threshold, dialect):
        full, _ = dialect.divided(f"abs({value})", threshold)
        sign = f"CASE WHEN {value} < 0 THEN -1 ELSE 1 END"
        return (
            f"CASE WHEN {threshold} IS NULL OR {value} IS NULL THEN {value} "
            f"WHEN {split_rows._PIECE} < {full} THEN {sign} * {threshold} "
            f"ELSE {dialect.literal(0)} END"
        )

    monkeypatch.setattr(split_rows, "_share", short)
    assert caught("do not sum up", first=5)


def test_a_rate_that_is_twice_the_price_is_caught(monkeypatch):
    """The scores of a quantile change by their sensitivity; the rate makes that cheap."""
    honest = quantiles.selection_rate
    monkeypatch.setattr(quantiles, "selection_rate", lambda *given: 2 * honest(*given))
    assert caught("quantile: lost", first=8)


def test_a_threshold_below_the_promised_delta_is_caught(monkeypatch):
    """Whoever gives a delta gets the least threshold that keeps it."""
    honest = DiscreteGaussian.selection_threshold

    def lower(self, delta):
        return honest(self, delta) - 3

    monkeypatch.setattr(DiscreteGaussian, "selection_threshold", lower)
    assert caught("more often than delta", first=1)
