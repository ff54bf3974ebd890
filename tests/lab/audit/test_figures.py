"""The figures audit: nothing differs, and each figure that is altered by a little is noticed."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from perrecord import Blur, Keys, Query, table
from perrecord.cli.audit import command_output
from perrecord.evaluate.accuracy.errors import accuracy
from perrecord.evaluate.accuracy.mixtures import mixture_sizes, mixture_widths
from perrecord.lab.audit import random_tables
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.shown import by_hand, students
from perrecord.lab.audit.shown.audit import Blind, Kinds, figures, published
from perrecord.lab.audit.shown.checks import check
from perrecord.lab.audit.shown.declared import records_of
from perrecord.lab.audit.shown.evaluation import thresholds
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.laws import Mean, mean_size
from perrecord.lab.audit.shown.numerals import AtLeast, AtMost, Near, is_as_expected
from perrecord.lab.audit.shown.source import asked, noisy
from perrecord.queries.plan import plan
from perrecord.release import publish

pytestmark = pytest.mark.usefixtures("expected_once")

SEEDS = (("5 0", False, "tapers 1"), ("5 8", True, None))
"""Random releases; the first is tapered and blurred, the last is evaluated and tuned, too."""

STRUCTURE = ("rows", "columns", "name", "number of", ": variant", ": kind", ": table", ": answer",
             ": measure")  # fmt: skip
"""Kinds that compare names, and how many there are of something: they hold no number to alter."""

JUDGED = {
    "ledger: budget",  # compared as documents as well
    "ledger: spent",
    "policy: measures estimated",
    "report of evaluate: A check",  # beside what drawn noise gave
    "tables: average",
    "tune: frontier",
    "tune: goal",
    "tune: no more than needed",
}
"""Kinds of which no one number is altered: whether a tuned spec reaches its goal, for example."""

BY_HAND = [
    ("manifest: digest", "manifest.json", r'"sha256": "(\w)', "x"),
    ("manifest: charge", "manifest.json", r'"charge": "(\w)', "x"),
    ("manifest: files", "manifest.json", r'"(policy.html)"', "other.html"),
    ("ledger in words: hashes", "ledger", r" (\w)\w{63}$", "x"),
    ("release: files", "release --json", r'"(policy.html)"', "other.html"),
    ("methodology: confidence", "methodology.md", r"intervals hold with (95) %", "94"),
    ("check: policy in words", "check --json", r'"words": "[^"]*?\\n\D*(\d)', "77"),
    ("tables: few records", None, r'_few_records": (true|false)', None),
]
"""Kinds that are no numbers by themselves, and how each is altered."""


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Return some random releases, their noise from given bits, with all that is shown of them."""
    honest = publish.release
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            publish,
            "release",
            lambda *given, **options: honest(*given, **options, _bits=FrozenBits(1)),
        )
        return [
            published(
                Random(seed),
                tmp_path_factory.mktemp("figures"),
                1,
                command_output,
                Kinds() if tapers is None else Kinds(Random(tapers), Random("blurs 4")),
                is_evaluated=whole,
            )
            for seed, whole, tapers in SEEDS
        ]


def found_in(release, *names):
    """Return what comparing a release, or some of its texts, finds."""
    findings = Comparisons()
    check(findings, release, names or None)
    return findings


def test_every_figure_is_recomputed_and_none_differs(releases):
    """Every text of every release: all figures agree."""
    for release in releases:
        assert found_in(release).failures == []


def test_every_kind_of_figure_is_noticed_by_name_when_it_is_altered(releases):
    """Broken twins of all that is shown: one in the last digit more, and the audit names it."""
    blind, made = Blind(), set()
    for release in releases:
        made |= set(found_in(release).made)
        blind.look(release, Random(1), 70, "")
    assert blind.missed == []
    figures = {what for what in made if not any(each in what for each in STRUCTURE)}
    assert figures - blind.noticed <= JUDGED | {what for what, *_ in BY_HAND}


@pytest.mark.parametrize(("what", "name", "pattern", "new"), BY_HAND, ids=str)
def test_what_is_no_number_is_noticed_too(what, name, pattern, new, releases):
    """Digests, file names and flags: each altered once where it occurs."""
    texts = [
        (release, each, text)
        for release in releases
        for each, text in release.shown.items()
        if (each == name or (name is None and each.startswith("tables/"))) and ".csv" not in each
    ]
    found = [(r, each, text, re.search(pattern, text, re.M)) for r, each, text in texts]
    release, each, text, match = next(case for case in found if case[3])
    put = new or ("false" if match[1] == "true" else "true")
    changed = text[: match.start(1)] + put + text[match.end(1) :]
    assert found_in(replace(release, shown={**release.shown, each: changed}), each).wrong[what]


def test_a_text_that_lost_a_number_is_noticed(releases):
    """A sentence without its figure does not pass for one that is right."""
    release = releases[0]
    text = release.shown["check"].replace("Charge\n", "Charge 1\n", 1)
    changed = replace(release, shown={**release.shown, "check": text})
    assert found_in(changed, "check").failures


def test_a_short_audit_finds_nothing_wrong():
    """The audit as the command runs it."""
    found = figures(1, 1, 1, 3, command_output, lambda done: None)
    assert found.failures == ()
    told = dict(found.figures)
    assert told["figures that differ"] == told["of them not noticed"] == "0"
    json.loads(found.to_json())


@pytest.mark.parametrize(
    ("numeral", "expected", "agrees"),
    [
        ("1,235", Near(1234.6), True),
        ("1,236", Near(1234.6), False),
        ("0.5", Near(0.52), False),
        ("1.23e+04", Near(12_345.0, 3, whole=0), True),
        ("2 × 10¹²", Near(2.004e12), True),
        ("0.334", AtMost(1 / 3), True),
        ("0.333", AtMost(1 / 3), False),
        ("0.335", AtMost(1 / 3), False),
        ("1.42858e+19", AtMost(Fraction(10**20, 7), 6), True),
        ("3.99999e+16", AtLeast(4 * 10**16 - Fraction(1, 3)), True),
        ("4e+16", AtLeast(4 * 10**16 - Fraction(1, 3)), False),
        ("0.1", Fraction(1, 10), True),
        ("12", None, True),
    ],
)
def test_a_numeral_is_as_expected_to_its_last_digit(numeral, expected, agrees):
    """Rounded to the nearest, up or down, and by no more than the last digit that is shown."""
    assert is_as_expected(numeral, expected) is agrees


def test_the_laws_by_hand_are_those_of_small_examples():
    """Three values of a narrow law, added up on paper; a wide one is its parameter."""
    weight = 2.718281828459045 ** (-2)  # sigma^2 = 1/4
    narrow = 2 * (weight + 4 * weight**4) / (1 + 2 * weight + 2 * weight**4)
    assert by_hand.variance("gaussian", Fraction(1, 4), Fraction(1)) == pytest.approx(
        narrow, rel=1e-6
    )
    assert by_hand.variance("gaussian", Fraction(10**8), Fraction(1)) == 1e8
    assert by_hand.variance("laplace", Fraction(50), Fraction(1, 2)) == pytest.approx(
        5000 - 0.25 / 6, rel=1e-9
    )
    assert by_hand.half_width("gaussian", Fraction(625), Fraction(1), 0.95) == 49
    assert by_hand.tail(Fraction(5), 12) == pytest.approx(1.0818e-7, rel=1e-4)
    assert by_hand.epsilon(1) == pytest.approx(7.7666, abs=1e-3)


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize(("total", "count"), [(1.0, 0.0), (0.8, 0.6), (0.01, 1.0)])
def test_errors_of_tapered_averages_are_integrals_of_their_own(total, count, nu):
    """Student noise plus normal noise; one in the last of six digits more is another size."""
    mean = Mean(true=1.0, bias=0.0, total=total, count=count, nu=nu)
    parts = np.array([total]), np.array([count])
    assert mean.size(0.0) == pytest.approx(mixture_sizes(*parts, nu)[0], rel=1e-6)
    width = mixture_widths(*parts, Fraction(95, 100), nu)[0]
    assert mean.below(width) == pytest.approx(0.95, abs=1e-3)
    normal = Mean(true=1.0, bias=0.0, total=total, count=count, nu=0)
    assert (normal.size(0.0) == pytest.approx(mean.size(0.0), rel=1e-6)) == (total < count / 10)


def test_errors_of_blurred_totals_are_recomputed_from_their_records():
    """By hand as `evaluate` has them: cell by cell, in both currencies."""
    rows = random_tables.rows(Random(1), 24, extreme=False)
    sectors = [each for each in random_tables.VALUES["sector"] if each is not None]
    for currency in ("rho", "epsilon"):
        answer = {"sum": "emp", "taper": 50, "blur": {"by": 0.4, "signed": True}, currency: 0.3}
        query = {"name": "q", "group_by": ["sector"], "keys": "cells", "answers": {"b": answer}}
        keys = {"cells": {"values": {"sector": sectors}}}
        spec = {"queries": [query], "keys": keys, "measures": {"emp": 1}}
        (one,) = asked(spec, records_of(spec, rows))
        sizes = {
            key["sector"]: mean_size(noisy(spec, one, key, records)[0])
            for key, records in one.cells
        }
        asking = Query().group_by("sector", keys=Keys.from_dict({"sector": sectors}))
        blur = Blur("0.4", signed=True)
        asking = asking.sum("emp", taper=50, blur=blur, **{currency: "0.3"})
        with table(random_tables.arrow(rows), dimensions=["sector"], measures=["emp"]) as source:
            (found,) = accuracy(plan(asking, source.schema), source)
        wanted = [sizes[sector] for sector in found.truth.keys["sector"].to_pylist()]
        assert found.noise_size == pytest.approx(wanted, rel=1e-6)
        assert max(wanted) > min(wanted)


def test_sizes_begin_at_a_tenth_of_a_taper_too():
    """A taper has no threshold; the round size that its losses are told by stands for one."""
    term = {"type": "tapered", "measure": "emp", "amount": "1", "spread": "10000", "nu": 7}
    policy = {"currency": "rho", "terms": [term], "splits": [], "slots": []}
    assert thresholds(policy, "emp") == [students.round_size(Fraction(10_000))]
    blurred = {"type": "blurred", "measure": "emp", "spread": "10000", "nu": 7, "at": "70"}
    assert thresholds({**policy, "terms": [blurred]}, "emp") == [70]
    assert thresholds(policy, "pay") == []
