"""Broken twins of the mechanisms: what a run releases is not what its price was for."""

from dataclasses import replace

import numpy as np

from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.laws import DiscreteGaussian, DiscreteLaplace
from perrecord.mechanisms import additive, quantiles, run, selection
from perrecord.mechanisms.answers import Answers
from perrecord.queries.answers import Average
from perrecord.queries.cells import Reading
from perrecord.released.columns import Estimate
from perrecord.released.numbers import added
from tests.lab.audit.caught import caught

NUMBER = "is not the exact number with the noise of its law"
KEYS = "other keys were published than those that are declared, or that noise selects"
BITS = "other random bits were drawn than the noise takes"


def size(law):
    """Return how wide a law is."""
    return float(law.variance())


def test_answers_without_noise_are_caught(monkeypatch):
    """The exact numbers, said to be noisy."""

    def bare(name, exact, keys, noise, bits):
        return Estimate(name, revealed(exact), noise.step, *noise.laws(keys))

    monkeypatch.setattr(run, "estimate", bare)
    assert caught(NUMBER)


def test_answers_with_noise_that_is_not_used_are_caught(monkeypatch):
    """The bits are drawn, and the exact numbers published."""
    honest = additive.estimate

    def bare(name, exact, keys, noise, bits):
        return replace(honest(name, exact, keys, noise, bits), numbers=revealed(exact))

    monkeypatch.setattr(run, "estimate", bare)
    assert caught(NUMBER)


def test_twice_the_number_is_caught(monkeypatch):
    """Twice the number with the noise of once."""
    honest = additive.estimate

    def twice(name, exact, keys, noise, bits):
        twofold = Confidential(added(revealed(exact), revealed(exact)))
        return honest(name, twofold, keys, noise, bits)

    monkeypatch.setattr(run, "estimate", twice)
    assert caught(NUMBER)


def test_a_total_of_all_that_is_ten_times_itself_is_caught(monkeypatch):
    """Answers without groups go a way of their own."""
    honest = Reading.numbers

    def numbers(self, aggregate):
        found = revealed(honest(self, aggregate))
        return Confidential(found * (1 if self.columns else 10))

    monkeypatch.setattr(Reading, "numbers", numbers)
    assert caught(NUMBER)


def test_noise_of_another_law_is_caught(monkeypatch):
    """Half the variance is drawn, the whole is said."""
    honest = additive.samplers.draw

    def smaller(law, count, *, _bits):
        if isinstance(law, DiscreteGaussian):
            law = DiscreteGaussian(law.sigma_squared / 2)
        return honest(law, count, _bits=_bits)

    monkeypatch.setattr(additive.samplers, "draw", smaller)
    assert caught(NUMBER, BITS, KEYS)


def test_laplace_noise_of_another_scale_is_caught(monkeypatch):
    """The same under pure epsilon."""
    honest = additive.samplers.draw

    def smaller(law, count, *, _bits):
        if isinstance(law, DiscreteLaplace):
            law = DiscreteLaplace(law.scale / 2)
        return honest(law, count, _bits=_bits)

    monkeypatch.setattr(additive.samplers, "draw", smaller)
    assert caught(NUMBER, BITS)


def test_the_smallest_law_for_every_cell_is_caught(monkeypatch):
    """Where cells have laws of their own, each gets its own."""

    def smallest(name, exact, keys, noise, bits):
        laws, which = noise.laws(keys)
        drawn = additive.draw(min(laws, key=size), len(which), bits)
        return Estimate(name, added(revealed(exact), drawn), noise.step, laws, which)

    monkeypatch.setattr(run, "estimate", smallest)
    assert caught(NUMBER, BITS)


def test_noise_once_for_all_cells_is_caught(monkeypatch):
    """One noise for every cell: differences of cells would be exact."""
    honest = additive.draw

    def same(law, count, bits):
        return np.repeat(honest(law, count, bits)[:1], count)

    monkeypatch.setattr(additive, "draw", same)
    assert caught(NUMBER)


def test_a_count_under_an_average_at_a_hundred_times_its_amount_is_caught(monkeypatch):
    """An average is two numbers, and both are paid for."""
    honest = run._Run._result

    def dear(self, asked, step, *given):
        if isinstance(asked, Average) and step == asked.steps[1]:
            step = replace(step, methods=step.methods.with_amount(100 * step.methods.amount))
        return honest(self, asked, step, *given)

    monkeypatch.setattr(run._Run, "_result", dear)
    assert caught(NUMBER, BITS)


def test_a_quantile_at_ten_times_its_rate_is_caught(monkeypatch):
    """The rate that is priced is the rate at which candidates are chosen."""
    honest = quantiles.choose

    def greedy(scores, rate, *, _bits):
        return honest(scores, 10 * rate, _bits=_bits)

    monkeypatch.setattr(quantiles, "choose", greedy)
    assert caught(NUMBER, first=12)


def test_a_quantile_of_other_scores_is_caught(monkeypatch):
    """Scores that change by more than their sensitivity."""
    honest = quantiles.scores_of

    def larger(*given):
        return (Confidential(3 * revealed(each)) for each in honest(*given))

    monkeypatch.setattr(quantiles, "scores_of", larger)
    assert caught(NUMBER, first=12)


def test_keys_selected_without_noise_are_caught(monkeypatch):
    """Keys, and the cells of a domain that hold records."""

    def nothing(law, count, bits):
        return np.zeros(count, dtype=np.int64)

    monkeypatch.setattr(selection, "draw", nothing)
    assert caught(NUMBER, KEYS, BITS)


def test_empty_cells_that_never_pass_are_caught(monkeypatch):
    """Then whatever cell of a domain appears holds a record."""
    monkeypatch.setattr(selection, "passing", lambda *given, _bits: 0)
    assert caught(KEYS, BITS)


def test_a_threshold_that_counts_the_keys_is_caught(monkeypatch):
    """A key may not appear because another does: the decision looks at one key at a time."""
    honest = selection.keys_reaching

    def crowded(chosen, keys, noisy):
        return honest(chosen, keys, noisy + (5 if keys.num_rows % 2 else -5))

    monkeypatch.setattr(selection, "keys_reaching", crowded)
    assert caught("another key appeared, vanished or changed", KEYS, first=12)


def test_cells_that_are_kept_by_what_others_hold_are_caught(monkeypatch):
    """In a domain too each cell is kept by its own number."""
    honest = selection.cells_reaching

    def crowded(chosen, positions, noisy, noise):
        return honest(chosen, positions, noisy + (5 if noisy.sum() % 2 else -5), noise)

    monkeypatch.setattr(selection, "cells_reaching", crowded)
    assert caught("another cell appeared, vanished or changed", KEYS, first=24)


def test_keys_in_the_order_of_their_rows_are_caught(monkeypatch):
    """The order in which keys are published may not tell which of them is large."""
    honest = selection.keys_reaching

    def by_size(chosen, keys, noisy):
        found = honest(chosen, keys, noisy)
        order = np.argsort(-found.by.numbers)
        rows = found.keys.table.take(order)
        by = replace(found.by, numbers=found.by.numbers[order])
        return selection.Selected(found.keys.trusted(rows), by)

    monkeypatch.setattr(selection, "keys_reaching", by_size)
    assert caught("another key appeared, vanished or changed", KEYS, first=3)


def test_answers_that_state_too_small_a_charge_are_caught(monkeypatch):
    """What a released number costs is held against what its answers say that it costs."""
    honest = Answers.policy_of
    monkeypatch.setattr(Answers, "policy_of", lambda self, name: honest(self, name) * "0.99")
    assert caught("a released number: lost")
