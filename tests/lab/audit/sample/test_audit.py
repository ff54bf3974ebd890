"""The black-box audit, short: nothing above its policy, and broken mechanisms are seen."""

from collections import Counter
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import count as count_up

import numpy as np
import pytest

from perrecord.lab.audit.sample import lone_keys as lone_key_module
from perrecord.lab.audit.sample.audit import sampled
from perrecord.lab.audit.sample.case import LOSSES, SIZES, RowsMechanism, SampledCase
from perrecord.lab.audit.sample.cases import every_case
from perrecord.lab.audit.sample.lone_keys import lone_keys
from perrecord.lab.audit.sample.report import figures_of, sample_audit
from perrecord.lab.audit.sample.worlds import BLANK, rows_in_each
from perrecord.mechanisms import additive, quantiles, selection
from perrecord.noise import bits
from perrecord.policy.split import Split
from perrecord.policy.terms import Currency
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.query import Query
from tests.noise.checks import Replayed

EVERY = list(every_case())
RUNS = 80_000


@pytest.fixture(autouse=True)
def replayed(monkeypatch):
    """The same noise in every run of the tests, so that none of them flickers."""
    monkeypatch.setattr(bits._here, "source", Replayed(2026))


def first(name, loss=None):
    """Return the first case of a mechanism, or the one of this loss."""
    named = [case for case in EVERY if case.name == name]
    return named[0 if loss is None else LOSSES.index(Fraction(loss))]


def least(case, runs=RUNS):
    """Return what was found for one case."""
    (found,) = sampled([case], runs, 1e-5)
    return found


def test_the_cases_cover_mechanisms_sizes_and_losses():
    """Nine orders of magnitude, losses from 0.05 to 10, both currencies."""
    names = Counter(case.name for case in EVERY)
    assert len(names) >= 18
    assert {case.record["emp"] for case in EVERY} >= {*SIZES}
    assert SIZES[-1] // SIZES[0] == 10**9
    assert {case.currency for case in EVERY} == {*Currency}
    assert sum(case.is_exact for case in EVERY) > 40


def test_no_mechanism_loses_more_than_its_policy():
    """One case of each mechanism, run a thousand times; the audit has all cases and millions."""
    cases = list({case.name: case for case in EVERY}.values())
    figures = sample_audit(cases, 1_000)
    assert figures.failures == ()
    found = dict(figures.figures)
    assert found["bounds above the policy"] == "0"
    assert found["runs of each, with the record and without"] == "1,000"
    assert len(figures.tables[0].rows) == len(cases)


@pytest.mark.parametrize("name", ["number of records", "found keys"])
def test_the_attack_comes_close_to_an_exact_policy(name):
    """Nine tenths of rho 1 with 150,000 runs; the full audit shows more."""
    case = first(name, 1) if name == "number of records" else first(name)
    found = least(case, 150_000)
    assert found.policy == 1
    assert 0.9 < found.share <= 1


def smaller(draw, factor):
    """Return a sampler whose noise has a parameter smaller by a factor."""

    def broken(law, *given, **options):
        parameter, *others = (getattr(law, each.name) for each in fields(law))
        return draw(type(law)(parameter * factor, *others), *given, **options)

    return broken


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("number of records", 1),
        ("total, exact accounting", 1),
        ("total, clamped below zero", None),
        ("total, noise by sector", None),
        ("average, split", None),
        ("total, epsilon", None),
        ("total, tapered", None),
    ],
)
def test_noise_that_is_too_small_is_caught(monkeypatch, name, loss):
    """A variance, or a scale, of four fifths of what the policy promises."""
    case = first(name, loss)
    assert not least(case).is_violated
    broken = smaller(additive.draw, Fraction(4, 5))
    monkeypatch.setattr(additive, "draw", broken)
    assert least(case).is_violated


def test_keys_published_too_easily_are_caught(monkeypatch):
    """One row fewer is asked for than the threshold says."""
    before = list(lone_keys(RUNS, 1e-4))
    assert not any(key.is_violated or key.is_short for key in before)
    noisy = selection.noisy
    monkeypatch.setattr(selection, "noisy", lambda rows, noise: noisy(rows, noise) + 1)
    after = [key for key in lone_keys(RUNS, 1e-4) if key.is_violated]
    assert {key.pieces for key in after} >= {5, 8, 10, 13}


def test_a_threshold_that_breaks_its_promise_is_caught(monkeypatch):
    """With a lower threshold the policy says so itself; the promise of 1e-6 is held against it."""
    lower = replace_threshold(lone_key_module._SELECTED, 10)
    asked = Query("worlds").group_by("world", keys=lower).count(rho="0.1")
    monkeypatch.setattr(lone_key_module, "_ASKED", asked)
    found = list(lone_keys(20_000, 1e-4))
    assert not any(key.is_violated or key.is_short for key in found)
    sample = least(first("number of records", 1), 20_000)
    assert "promised" in figures_of([sample], found).failures[0]


def replace_threshold(found, threshold):
    """Return the same selection with another threshold."""
    return SelectKeys(rho=found.rho, threshold=threshold, split=found.split)


def test_empty_cells_that_never_pass_are_caught(monkeypatch):
    """A cell that appears would prove its record."""
    case = first("empty cells of a domain from 1")
    assert not least(case).is_violated
    monkeypatch.setattr(selection, "passing", lambda *_, **__: 0)
    assert least(case).is_violated


@pytest.mark.parametrize(
    "name", ["two cells, one less the other", "two answers, one less the other"]
)
def test_noise_that_is_shared_is_caught(monkeypatch, name):
    """The same noise in two cells, or in two answers, is gone in their difference."""
    case = first(name)
    assert 0.4 < least(case).least < 0.5  # half of rho 1: two noises instead of one
    draw = additive.draw

    def shared(law, count, bits_given):
        if name.startswith("two cells"):
            return np.repeat(draw(law, count // 2, bits_given), 2)
        monkeypatch.setattr(bits._here, "source", Replayed(next(seeds) // 2))
        return draw(law, count, bits_given)

    seeds = count_up()
    monkeypatch.setattr(additive, "draw", shared)
    assert least(case).is_violated


def test_a_quantile_at_twice_its_epsilon_is_caught(monkeypatch):
    """The exponential mechanism with weights squared."""
    case = first("median")
    assert not least(case).is_violated
    choose = quantiles.choose
    monkeypatch.setattr(
        quantiles, "choose", lambda scores, rate, **o: choose(scores, 2 * rate, **o)
    )
    assert least(case).is_violated


@dataclass(frozen=True)
class Leaking(RowsMechanism):
    """A mechanism that gives a record away in one run of two thousand, and else is right."""

    def outputs(self, session, worlds):
        """Return its number for each world."""
        mechanism = rows_in_each(self.rho, worlds)

        def leaking(rows):
            outputs = mechanism(rows)
            if rows.num_rows > 3 * worlds:  # the record is there
                outputs[::2000] = 1e9
            return outputs

        return session.run_on_split_rows(
            leaking, self.split, columns=["world"], rho=self.rho
        ).result


def test_a_rare_leak_is_caught():
    """The divergence hardly moves; a single event shows it."""
    rho = Fraction(1, 20)
    others = tuple({**BLANK, "emp": 1} for _ in range(3))
    scheme = Split(emp=100).capped(10)
    for mechanism, is_violated in ((RowsMechanism, False), (Leaking, True)):
        case = SampledCase("rows", {**BLANK, "emp": 1}, mechanism(scheme, rho), others)
        assert least(case, 300_000).is_violated == is_violated


@pytest.mark.audit
def test_noise_that_is_two_per_cent_too_small_is_caught_by_the_full_audit(monkeypatch):
    """Four millions of runs show an excess of 4 % at rho 1."""
    case = first("number of records", 1)
    assert not least(case, 4_000_000).is_violated
    broken = smaller(additive.draw, Fraction(98, 100) ** 2)
    monkeypatch.setattr(additive, "draw", broken)
    assert least(case, 4_000_000).is_violated


def test_few_runs_show_nothing_and_say_so():
    """A bound of 0 is no evidence, and nothing is divided by it."""
    found = least(first("number of records", "1/20"), 1000)
    empty = type(found)(found.case, found.policy, 0.0, 1000)
    figures = figures_of([empty], [])
    assert figures.failures == ()
    assert figures.tables[0].rows[0][-2:] == ("0.0%", "too few runs")
    assert ("least share of the policy shown where it is exact, losses from 0 to 0.1", "0.0%") in (
        figures.figures
    )


def test_a_weak_attack_is_no_evidence():
    """Where millions of runs show little of an exact loss, the audit says that it has no teeth."""
    found = least(first("number of records", 1), 20_000)
    weak = type(found)(found.case, Fraction(2), found.least, 4_000_000)
    assert "no teeth" in figures_of([weak], []).failures[0]
    assert (
        "the policy says 0.1 rho"
        in figures_of([type(found)(found.case, Fraction(1, 10), found.least, 20_000)], []).failures[
            0
        ]
    )
