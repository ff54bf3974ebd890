"""The replay audit: no violation in the library, and every broken twin of it is caught."""

import json
from copy import copy
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from perrecord import InputError, Policy
from perrecord.audit import random_tables
from perrecord.audit.replay import answers as answer_checks
from perrecord.audit.replay import selection as selection_checks
from perrecord.audit.replay.audit import replay
from perrecord.mechanisms import additive, quantiles, run, selection
from perrecord.mechanisms.selection import Selected
from perrecord.policy import slots, split
from perrecord.queries import plan, policies, scan, values
from perrecord.queries import rows as split_rows
from perrecord.queries.aggregates import Filled, Rows, Total
from perrecord.release import publish
from perrecord.tables.keys import Keys
from tests.cli.conftest import run as run_command

MOST = 3000
"""Pairs within which a broken twin must be found."""


def figure(found, name):
    """Return a figure by the beginning of its name."""
    return next(value for known, value in found.figures if known.startswith(name))


def count(found, name):
    """Return a figure that is a number, before what stands in brackets."""
    return int(figure(found, name).split()[0].replace(",", ""))


# -- the library itself ------------------------------------------------------------------------


def test_no_record_loses_more_than_its_policy_says():
    """1,500 pairs, whatever is asked; most records lose something, and many all they may."""
    found = replay(1500, seed=11)
    assert found.failures == ()
    assert count(found, "neighbouring pairs") >= 1500
    assert count(found, "pairs in which the record lost something") > 750
    assert count(found, "pairs in which exact accounting demanded") > 100
    assert count(found, "keys of one record") > 10
    assert count(found, "pairs run twice") >= 20
    assert count(found, "pairs released twice") >= 4
    kinds = {row[0] for row in found.tables[0].rows}
    assert {"quantile", "key selection", "any mechanism on split rows"} <= kinds


def test_the_same_seed_asks_the_same():
    """Whoever repeats an audit finds what it found; one table can be repeated alone."""
    assert replay(80, seed=4, first=1) == replay(80, seed=4, first=1)
    assert replay(80, seed=4, first=1) != replay(80, seed=5, first=1)
    with pytest.raises(InputError, match="at least one"):
        replay(0, seed=4)


@pytest.mark.audit
def test_a_hundred_thousand_pairs():
    """The full audit: no violation, every kind of answer in reach of thousands of records."""
    found = replay(100_000, seed=1)
    assert found.failures == ()
    assert count(found, "pairs run twice") >= 1000
    assert count(found, "pairs released twice") >= 200
    assert all(int(row[1].replace(",", "")) > 1000 for row in found.tables[0].rows)


# -- broken twins ------------------------------------------------------------------------------


def caught(*messages, first=0):
    """Tell whether the audit finds such a fault first, within a few thousand pairs."""
    found = replay(MOST, seed=2, first=first, most_violations=1).failures
    return any(each in failure for failure in found for each in messages)


def test_a_policy_that_promises_a_millionth_less_is_caught(monkeypatch):
    """Exact accounting leaves no room at all."""
    honest, less = policies.answer_policy, 1 - Fraction(1, 10**6)
    monkeypatch.setattr(plan, "answer_policy", lambda *given: honest(*given) * less)
    assert caught("the policy says")


@pytest.mark.parametrize(
    ("owner", "message"), [(plan.PlannedGrouping, "a grouping"), (plan.Plan, "a workload")]
)
def test_a_sum_that_forgets_a_part_is_caught(monkeypatch, owner, message):
    """What answers cost adds up, in a grouping and over all of them (T4)."""

    def forgetful(self):
        parts = self.groupings if isinstance(self, plan.Plan) else self.answers
        return Policy.total([parts[0].policy])

    monkeypatch.setattr(owner, "policy", property(forgetful))
    assert caught(message)


def test_a_lookup_that_doubles_records_is_caught(monkeypatch):
    """A key that is in a lookup twice makes two records of one."""
    first, second = random_tables.DECLARED["lookups"]
    doubled = copy(first)
    object.__setattr__(doubled, "table", pa.concat_tables([first.table, first.table]))
    monkeypatch.setitem(random_tables.DECLARED, "lookups", [doubled, second])
    assert caught("something else than it adds", "pieces")


def test_noise_that_is_one_per_cent_too_small_is_caught(monkeypatch):
    """Both currencies: sigma^2, and the scale."""
    honest = additive.spread

    def smaller(*given, currency, **options):
        factor = Fraction(99, 100) ** currency.power
        return honest(*given, currency=currency, **options) * factor

    monkeypatch.setattr(additive, "spread", smaller)
    assert caught("the policy says")


def test_a_policy_by_floor_is_caught(monkeypatch):
    """One step beyond a threshold is one more piece: m(r) is rounded up."""
    monkeypatch.setattr(split, "ceil_div", lambda size, limit: size // limit)
    assert caught("the policy says", "pieces")


def test_pieces_counted_by_floor_are_caught(monkeypatch):
    """The same in the engine: key selection and rows see fewer pieces than m(r)."""

    def floor(value, threshold, dialect):
        quotient, _ = dialect.divided(f"abs({value})", threshold)
        return f"coalesce({quotient}, {dialect.literal(0)})"

    monkeypatch.setattr(values, "_ceiling", floor)
    assert caught("pieces")


def test_a_null_that_is_counted_is_caught(monkeypatch):
    """COUNT(a) leaves records out in which a is NULL."""
    honest = scan._aggregated

    def counting(aggregate, value, dialect):
        return honest(Rows() if isinstance(aggregate, Filled) else aggregate, value, dialect)

    monkeypatch.setattr(scan, "_aggregated", counting)
    assert caught("something else than it adds")


def test_a_null_that_is_summed_as_a_bound_is_caught(monkeypatch):
    """NULL adds 0, also where values are clamped to 5 at least."""
    honest = scan.total_value

    def filled(total, resolution, parts):
        value = honest(total, resolution, parts)
        return value if total.clamps is None else f"coalesce({value}, 5)"

    monkeypatch.setattr(scan, "total_value", filled)
    assert caught("something else than it adds")


def test_keys_taken_from_the_data_are_caught(monkeypatch):
    """Declared keys that are empty must appear."""
    honest = run._Run._selected

    def occupied(self, read):
        aggregates = self.grouping.aggregates
        if not isinstance(self.grouping.grouping.cells, Keys) or not aggregates:
            return honest(self, read)
        keys, _ = read.occupied(self.columns, aggregates[0])
        declared = set(self.grouping.grouping.cells.rows())
        is_known = [row in declared for row in Keys.trusted(keys)]
        return Selected(Keys.trusted(keys.filter(pa.array(is_known, pa.bool_()))), None)

    monkeypatch.setattr(run._Run, "_selected", occupied)
    assert caught("control flow", "whole releases")


def test_a_quantile_chosen_at_twice_its_rate_is_caught(monkeypatch):
    """Its scores change by their sensitivity, and the rate is what makes that cheap."""
    honest = quantiles.selection_rate
    monkeypatch.setattr(answer_checks, "selection_rate", lambda *given: 2 * honest(*given))
    assert caught("quantile", first=3)


def test_a_delta_of_one_piece_fewer_is_caught(monkeypatch):
    """A key of one record appears with Pr[Z >= tau - m]."""
    honest = slots.Slot.delta
    monkeypatch.setattr(slots.Slot, "delta", lambda self, pieces: honest(self, pieces - 1))
    assert caught("another probability than delta")


def test_a_threshold_that_counts_the_keys_is_caught(monkeypatch):
    """A key may not appear because another does: the decision looks at one key at a time."""

    def crowded(chosen, keys, noisy):
        moved = noisy + (5 if keys.num_rows % 2 else -5)
        return selection.keys_reaching(chosen, keys, moved)

    monkeypatch.setattr(selection_checks, "keys_reaching", crowded)
    assert caught("another key appeared, vanished or changed")


def test_cells_that_are_kept_by_what_others_hold_are_caught(monkeypatch):
    """In a domain too each cell is kept by its own number."""

    def crowded(chosen, positions, noisy, noise):
        moved = noisy + (5 if noisy.sum() % 2 else -5)
        return selection.cells_reaching(chosen, positions, moved, noise)

    monkeypatch.setattr(selection_checks, "cells_reaching", crowded)
    assert caught("another cell appeared, vanished or changed", first=11)


def test_sums_in_floats_are_caught(monkeypatch):
    """Beyond 2^53 a sum of floats changes by something else than the record's value."""
    honest = scan._aggregated

    def rounded(aggregate, value, dialect):
        if isinstance(aggregate, Total):
            return f"CAST(sum(CAST({value} AS DOUBLE)) AS HUGEINT)"
        return honest(aggregate, value, dialect)

    monkeypatch.setattr(scan, "_aggregated", rounded)
    assert caught("something else than it adds", "the policy says", "exactly")


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
    assert caught("do not sum up", first=4)


def test_noise_that_hangs_on_empty_cells_is_caught(monkeypatch):
    """How many random bits are drawn must not tell which cells are empty."""
    honest = run.estimate

    def telling(name, exact, keys, noise, bits):
        bits.words16(np.count_nonzero(exact))
        return honest(name, exact, keys, noise, bits)

    monkeypatch.setattr(run, "estimate", telling)
    assert caught("random bits were drawn in another way")


def test_a_statement_that_hangs_on_the_data_is_caught(monkeypatch):
    """A second question only where the first found something: the engine's log would tell."""
    honest = run._Run._released

    def curious(self, asked, keys, read):
        for exact in read.numbers.values():
            list(read.cells.engine.local(f"SELECT {int(exact.sum())}"))
        return honest(self, asked, keys, read)

    monkeypatch.setattr(run._Run, "_released", curious)
    assert caught("other statements were sent to the engine")


def test_a_document_that_hangs_on_the_data_is_caught(monkeypatch):
    """Beside the tables every file of a release is the same, byte for byte."""
    honest = publish.release_files

    def telling(workload, planned, answers, public, charge):
        said = str([each.table.to_pydict() for each in answers]).encode()
        return honest(workload, planned, answers, {**public, "methodology.md": said}, charge)

    monkeypatch.setattr(publish, "release_files", telling)
    assert caught("methodology.md", first=3)


def test_progress_that_hangs_on_the_data_is_caught(monkeypatch):
    """What a release says on the way is seen by whoever watches."""
    honest = publish.run

    def telling(planned, table, _bits):
        answers = honest(planned, table, _bits=_bits)
        monkeypatch.setattr(publish._Release, "_seal", sealing(answers))
        return answers

    def sealing(answers):
        def seal(self, charge):
            self.progress(str([each.table.to_pydict() for each in answers]))
            return original(self, charge)

        return seal

    original = publish._Release._seal
    monkeypatch.setattr(publish, "run", telling)
    assert caught("it said something else on the way", first=3)


# -- the command -------------------------------------------------------------------------------


def test_the_command_prints_figures_and_ends_with_0():
    """As text for people, as JSON for programs."""
    shown = run_command("audit", "replay", "--pairs", "80", "--first", "1")
    assert shown.code == 0
    assert "violations" in shown.out
    printed = json.loads(
        run_command("audit", "replay", "--pairs", "80", "--first", "1", "--json").out
    )
    assert printed["name"] == "replay"
    assert ["violations", "0"] in printed["figures"]
    assert printed["failures"] == []
    assert printed["tables"][0]["rows"]


def test_the_command_names_the_offending_table_and_ends_with_1(monkeypatch):
    """A violation can be repeated by its seed and table."""
    monkeypatch.setattr(
        plan, "answer_policy", lambda *given: policies.answer_policy(*given) * "0.9"
    )
    shown = run_command("audit", "replay", "--pairs", "80", "--seed", "9", "--first", "2")
    assert shown.code == 1
    assert "seed 9, table 2 (repeat it with --seed 9 --first 2 --pairs 1)" in shown.err
