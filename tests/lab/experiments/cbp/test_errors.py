"""The errors table: boxes in closed form, rows that others append, figures drawn from it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from perrecord.evaluate.accuracy.errors import simulated_error
from perrecord.evaluate.accuracy.summaries import FIVE, AnswerErrors, box
from perrecord.evaluate.variants import SPLITTING
from perrecord.lab.experiments.cbp.data import ATTRIBUTES, LEVELS, MEASURES, establishments
from perrecord.lab.experiments.cbp.error_figures import errors_by_budget, errors_by_level
from perrecord.lab.experiments.cbp.errors import (
    EVERY_LEVEL,
    SCHEMA,
    TAPERING,
    error_row,
    error_rows,
    errors_table,
    measured,
    medians_of_all_cells,
    tapered_variants,
)
from perrecord.lab.experiments.cbp.experiment import QUICK
from perrecord.lab.experiments.cbp.pooled import pooled_share
from perrecord.report.figure import pictures

USE = replace(QUICK, rows=60_000, fewest=20, budgets=(Fraction(1), Fraction(10)))


@pytest.fixture(scope="module")
def data():
    """Establishments of one state."""
    with establishments(USE.rows, seed=1, fewest=USE.fewest, states=USE.states) as found:
        yield found


@pytest.fixture(scope="module")
def errors(data):
    """The errors under every scheme and budget."""
    return measured(data, USE.budgets, USE.splits, USE.top_codes)


@pytest.fixture(scope="module")
def rows(errors):
    """The errors table, row by row."""
    return error_rows(errors, draws_for=USE.budget)


def test_there_is_a_box_for_every_budget_scheme_level_and_attribute(data, rows):
    """And one for all levels together."""
    levels = len(data.evaluated)
    assert levels >= 3
    assert len(rows) == 2 * 9 * (levels + 1) * len(ATTRIBUTES)
    assert {row["level"] for row in rows} <= {*LEVELS.values(), EVERY_LEVEL}
    assert errors_table(rows).schema == SCHEMA


def test_cells_are_those_of_the_librarys_boxes_and_errors_spread_wider(errors, rows):
    """The library's boxes are over expected errors; ours are over the noise too."""
    theirs = [
        box(AnswerErrors(each.variant.name, each.variant.kind, "t", each.errors), ["0.05"])
        for each in errors
    ]
    names = ["cells", "zeros", "variant", "kind"]
    ours = [row for row in rows if row["level"] != EVERY_LEVEL]
    for one, other in zip(ours, theirs, strict=True):
        assert {name: one[name] for name in names} == {name: other[name] for name in names}
        if one["kind"] == SPLITTING and one["attribute"] in MEASURES:
            assert one["low"] < other["low"]
            assert one["high"] * other["low"] > other["high"] * one["low"]


def test_tapering_errs_as_splitting_does(errors, rows):
    """Standard errors are 5 to 6 % larger, medians are not; counts are the same."""
    known = {(row["budget"], row["variant"], row["level"], row["attribute"]): row for row in rows}
    for row in rows:
        if row["kind"] == TAPERING and row["budget"] == "1":
            scheme = row["variant"].replace("taper", "split")
            split = known["1", scheme, row["level"], row["attribute"]]
            if row["attribute"] in MEASURES:
                assert 0.9 < row["middle"] / split["middle"] < 1.02
            else:
                assert row["middle"] == split["middle"]
    deviations = {
        (each.variant.name, each.level): each.errors.deviation[0]
        for each in errors
        if each.budget == 1 and each.attribute == "PAYANN"
    }
    for (name, level), deviation in deviations.items():
        if name.startswith("taper"):
            assert 1.05 < deviation / deviations[name.replace("taper", "split"), level] < 1.06


def test_tapering_is_left_out_where_its_noise_would_be_too_narrow(data):
    """Less than five steps wide: at a budget of 100 for a threshold of 2, not for one of 100."""
    offered = {
        budget: [each.name for each in tapered_variants(data.evaluated, budget, USE.splits, LEVELS)]
        for budget in (Fraction(10), Fraction(100))
    }
    assert offered[10] == ["taper Conservative", "taper Moderate", "taper Median"]
    assert "taper Conservative" in offered[100]
    assert "taper Median" not in offered[100]


@pytest.mark.parametrize("variant", ["top-code Aggressive", "split Moderate", "taper Moderate"])
def test_so_many_errors_are_below_a_quantile(errors, rows, variant):
    """By the laws themselves, level by level and over all levels, bias included."""
    for row in rows:
        if (row["variant"], row["budget"]) != (variant, "1") or row["attribute"] not in MEASURES:
            continue
        own = [
            each.errors
            for each in errors
            if (each.variant.name, each.budget, each.attribute) == (variant, 1, row["attribute"])
            and row["level"] in (EVERY_LEVEL, LEVELS[each.level])
        ]
        for name, share in FIVE.items():
            assert pooled_share(own, row[name] * (1 + 1e-6)) >= share - 1e-9
            assert pooled_share(own, row[name] * (1 - 1e-6)) < share
        assert row["above_5_percent"] == 1 - pooled_share(own, 0.05)


def test_real_draws_follow_the_quantiles_and_not_expected_errors(errors, rows):
    """60 draws of all levels of one attribute: shares below the five numbers, within 6 deviations.

    A share over n errors strays by at most 0.5/√n, so a false alarm has a chance below 2e-8. The
    twin: of expected errors, far fewer are below the low end.
    """
    own = [
        each.errors
        for each in errors
        if (each.variant.name, each.budget, each.attribute) == ("split Moderate", 1, "EMP")
    ]
    (row,) = [
        each
        for each in rows
        if (each["variant"], each["budget"], each["attribute"]) == ("split Moderate", "1", "EMP")
        and each["level"] == EVERY_LEVEL
    ]
    drawn = np.concatenate([simulated_error(each, 1) for each in own for _ in range(60)])
    expected = np.concatenate([each.relative(each.size) for each in own])
    drawn, expected = drawn[~np.isnan(drawn)], expected[~np.isnan(expected)]
    apart = 3 / np.sqrt(len(drawn))
    for name, share in FIVE.items():
        assert abs((drawn <= row[name]).mean() - share) < apart
    assert abs((expected <= row["low"]).mean() - FIVE["low"]) > 0.04


def test_levels_together_are_all_their_cells(errors, rows):
    """The box of all levels is over as many cells, and within the ends of the others."""
    for row in rows:
        if row["level"] == EVERY_LEVEL and row["budget"] == "1":
            own = [
                each
                for each in rows
                if each["level"] != EVERY_LEVEL
                and all(each[name] == row[name] for name in ("budget", "variant", "attribute"))
            ]
            assert row["cells"] == sum(each["cells"] for each in own)
            lowest, highest = min(r["low"] for r in own), max(r["high"] for r in own)
            assert lowest <= row["middle"] <= highest


def test_closed_forms_are_the_same_in_every_run(data, rows):
    """Only what is drawn differs."""
    again = error_rows(
        measured(data, [USE.budget], USE.splits, USE.top_codes), draws_for=USE.budget
    )
    before = [dict(row) for row in rows if row["budget"] == "1"]
    drawn = [
        (one.pop("drawn"), other.pop("drawn")) for one, other in zip(before, again, strict=True)
    ]
    assert before == again
    known = [pair for pair in drawn if None not in pair]
    assert len(known) == len([row for row in before if row["level"] != EVERY_LEVEL])
    assert any(one != other for one, other in known)


def test_drawn_errors_are_of_the_size_of_the_median(rows):
    """The median of a draw is as large as the median over cells and noise, on average.

    One box strays by a standard deviation of at most 0.9, the mean over 45 boxes or more by 0.14;
    the limits are five of those away, which happens with a chance below 1e-6.
    """
    ratios = [
        row["drawn"] / row["middle"]
        for row in rows
        if row["drawn"] is not None and row["kind"] == SPLITTING
    ]
    assert len(ratios) >= 45
    assert 0.3 < np.mean(ratios) < 1.8


def test_an_unbiased_error_is_the_noise_over_the_true_number(data, errors):
    """Medians over all cells agree with those of the evaluated ones where all are evaluated."""
    moderate = [e for e in errors if e.variant.name == "split Moderate" and e.budget == 1]
    found = medians_of_all_cells(data, moderate)
    assert set(found) == set(MEASURES)
    one = next(each for each in moderate if each.attribute == "EMP" and each.level == 0)
    true = data.cells[0].totals["EMP"]
    wanted = np.quantile(one.errors.noise_size[0] / true[true > 0], 0.5, method="inverted_cdf")
    assert found["EMP"][0] == wanted
    for numbers in found.values():
        assert numbers == sorted(numbers)


def test_rows_of_other_methods_stand_beside_ours(rows):
    """A row without a budget is shown in the figure by level, and not in that by budget."""
    other = [
        error_row(
            np.array([0.01, 0.02, np.nan]),
            kind="noise factors",
            variant="EZS noise",
            level=row["level"],
            attribute=row["attribute"],
        )
        for row in rows
        if row["variant"] == "split Median" and row["budget"] == "1"
    ]
    figure = errors_by_level([*rows, *other], "1", USE.fewest, 10)
    assert "mean of its errors in 10 draws" in figure.reading
    assert "EZS noise" in figure.numbers["variant"].to_pylist()
    assert "EZS noise" in {row[0] for row in figure.tables[0].rows}
    assert "EZS noise" in pictures(figure, is_public=True).wide
    by_budget = errors_by_budget([*rows, *other], USE.fewest)
    assert "EZS noise" not in by_budget.numbers["variant"].to_pylist()


def test_a_row_without_numbers_has_no_box():
    """Cells whose true number is 0 are counted and have no error."""
    row = error_row(np.array([np.nan]), kind="k", variant="v", level="l", attribute="EMP")
    assert row["middle"] is None
    assert (row["cells"], row["zeros"], row["above_5_percent"]) == (1, 1, None)


@pytest.mark.parametrize("make", [errors_by_level, errors_by_budget])
def test_figures_are_drawn_in_both_widths(rows, make):
    """Every scheme and attribute is named in both."""
    args = ("1", USE.fewest, 10) if make is errors_by_level else (USE.fewest,)
    figure = make(rows, *args)
    for picture in (drawn := pictures(figure, is_public=True)).wide, drawn.narrow:
        for name in (*ATTRIBUTES, "top-code Aggressive", "split Median"):
            assert name in picture
    assert figure.finding.endswith(".")
