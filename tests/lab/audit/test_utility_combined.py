"""Whole releases in which numbers follow from others: they are their SQL, and broken twins not."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from perrecord.lab.audit.utility.combined import combined_checks
from perrecord.queries import scan
from perrecord.release.processing import consistent
from perrecord.release.processing.status import Status
from perrecord.released import derived
from perrecord.released.numbers import NoisyColumn, rounded_floats, rounded_to, to_arrow
from perrecord.tables import linking, weights

SURVEY, CHANGES, LEVELS, NEGATIVE = 25, 129, 88, 178
"""Seeds: a survey and changes that have nearly everything; a base and changes; negative totals."""


def compared(seed):
    """Return what is compared in one release, and the kinds in which something is wrong."""
    found = list(combined_checks(Random(f"perrecord combined {seed}"), seed))
    return {kind for kind, _ in found}, {kind for kind, fault in found if fault is not None}


@pytest.mark.parametrize(
    ("seed", "kinds"),
    [
        (SURVEY, {"weighted", "weighted quantile", "derived", "consistent", "floored", "sums"}),
        (CHANGES, {"change", "tapered change", "follows", "status", "rounded", "blurred, signed"}),
        (LEVELS, {"change", "levels"}),
    ],
)
def test_what_follows_from_answers_is_its_sql(seed, kinds):
    """A survey and a table of changes: every number beside its SQL."""
    found, wrong = compared(seed)
    assert wrong == set()
    assert kinds <= found


def test_a_tie_of_a_derived_number_goes_away_from_zero():
    """As that of an answer does, and as the methodology says."""
    ties = np.array([2.5, -2.5, 0.125, -1250.0, np.nan])
    assert rounded_floats(ties, 0).tolist()[:2] == [3, -3]
    assert rounded_floats(ties, 2)[2] == 0.13
    assert rounded_floats(ties, -2)[3] == -1300


# -- broken twins ------------------------------------------------------------------------------


def test_weights_that_are_not_cut_are_caught(monkeypatch):
    """A weight of 999 counts as the largest, 30."""
    honest = weights.Measure

    def wide(*given, largest, **others):
        is_weight = "expression" not in others
        return honest(*given, largest=1000 * largest if is_weight else largest, **others)

    monkeypatch.setattr(weights, "Measure", wide)
    assert "weighted" in compared(SURVEY)[1]


def test_faults_of_a_survey_are_caught_each_in_its_kind(monkeypatch):
    """Medians without weights, ratios upside down, floors of rounded numbers, fits and totals."""
    evaluated, printed, total = derived.evaluated, consistent.printed, scan.total_value

    def inverted(found, *given):
        return evaluated(replace(found, above=found.below, below=found.above), *given)

    def floored(self):
        tens = rounded_to(self.numbers, self.step / 10)
        return to_arrow(np.maximum(tens, 0), Fraction(10))

    def moved(trees, values, *given, **others):
        return printed(trees, values + 1.0, *given, **others)

    def cut(asked, resolution, parts):
        written = total(asked, resolution, parts)
        return f"least({written}, 5000000)" if resolution < Fraction(1, 1000) else written

    monkeypatch.setattr(scan, "weight_value", lambda *_: "10")
    monkeypatch.setattr(derived, "evaluated", inverted)
    monkeypatch.setattr(NoisyColumn, "floored", floored)
    monkeypatch.setattr(consistent, "printed", moved)
    monkeypatch.setattr(scan, "total_value", cut)
    _, wrong = compared(SURVEY)
    assert {"weighted quantile", "derived", "floored", "consistent", "blurred"} <= wrong
    assert not {"sums", "weighted", "split", "count"} & wrong  # what was moved still adds up


def test_totals_that_are_only_kept_from_being_negative_are_caught(monkeypatch):
    """What lies below a positive total must sum to it."""
    monkeypatch.setattr(consistent, "nonnegative", lambda _, values, __: np.maximum(values, 0.0))
    assert "consistent, not negative" in compared(NEGATIVE)[1]


def test_a_change_with_its_sign_turned_is_caught(monkeypatch):
    """Last period less this one."""
    honest = linking._change
    monkeypatch.setattr(linking, "_change", lambda *given: f"-({honest(*given)})")
    assert {"change", "levels"} <= compared(LEVELS)[1]


def test_ties_to_even_and_words_that_forget_signs_are_caught(monkeypatch):
    """A negative number is as reliable as a positive one."""

    def grades(self, found):
        return np.where(found.errors <= float(self.caution) * found.values, 0, 2).astype(np.int8)

    monkeypatch.setattr(derived, "rounded_floats", np.round)
    monkeypatch.setattr(Status, "grades", grades)
    assert compared(CHANGES)[1] == {"rounded", "status"}
