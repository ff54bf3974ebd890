"""Fitness for use: thresholds cancel by exact accounting, and what top-coding cannot reach."""

from dataclasses import replace
from fractions import Fraction

import pytest

from perrecord.evaluate.tuning.fitness import fitness
from perrecord.lab.experiments.cbp.data import ATTRIBUTES, MEASURES, establishments, even, workload
from perrecord.lab.experiments.cbp.experiment import QUICK
from perrecord.lab.experiments.cbp.fitness import EVERY_CELL, ONE_RHO, QUANTILES, measured_fitness
from perrecord.lab.experiments.cbp.fitness_figures import EXACT, fitness_figure
from perrecord.queries.plan import plan
from perrecord.report.figure import pictures

USE = replace(QUICK, rows=60_000, fewest=20, goals=(Fraction(1, 20), Fraction(1, 5)))


@pytest.fixture(scope="module")
def data():
    """Establishments of one state."""
    with establishments(USE.rows, seed=1, fewest=USE.fewest, states=USE.states) as found:
        yield found


@pytest.fixture(scope="module")
def fits(data):
    """What goals take under every scheme."""
    return measured_fitness(data, USE.goals, USE.splits, USE.top_codes)


def test_thresholds_cancel_by_exact_accounting_and_not_by_pieces(fits):
    """Only sigma matters (T11, T22); by pieces the same measurement shows schemes far apart."""
    assert fits.apart() < 1e-9
    for goal in USE.goals:
        for reading in (ONE_RHO, EVERY_CELL):
            medians = [each.split.quantile("0.5") for each in fits.of(goal, reading)]
            assert max(medians) > 2 * min(medians)


def test_pieces_never_cost_less_than_exact_accounting(fits):
    """At every quantile, for every goal, reading and scheme."""
    for each in fits.schemes:
        for share in QUANTILES:
            assert each.exact.quantile(share) <= each.split.quantile(share) * (1 + 1e-9)


def test_one_rho_is_what_the_library_finds(data, fits):
    """The policy of one scheme at one goal adds up the rhos of its answers."""
    scheme = USE.splits["Moderate"]
    asked = workload(data.evaluated, scheme, even(Fraction(1), data.levels))
    needed = fitness(plan(asked, data.table.schema), data.table, within="0.05")
    rhos = [each.rho("0.95") for each in needed.requirements]
    (own,) = [e for e in fits.of(Fraction(1, 20), ONE_RHO) if e.scheme == "Moderate"]
    assert own.policy.minimum() == sum(rhos)
    assert own.exact.largest == pytest.approx(needed.losses(data.table, "0.95").largest)
    (every,) = [e for e in fits.of(Fraction(1, 20), EVERY_CELL) if e.scheme == "Moderate"]
    assert every.exact.quantile("0.9") == pytest.approx(needed.losses(data.table).quantile("0.9"))


def test_looser_goals_cost_less(fits):
    """Nobody loses more at 20 % than at 5 %."""
    for reading in (ONE_RHO, EVERY_CELL):
        strict, loose = (fits.of(goal, reading) for goal in USE.goals)
        for one, other in zip(strict, loose, strict=True):
            for share in QUANTILES:
                assert other.split.quantile(share) <= one.split.quantile(share)


def test_top_codes_leave_magnitudes_out_of_reach_and_counts_in_reach(data, fits):
    """Bias is what no rho takes away; lower top-codes have more of it."""
    assert fits.unmet == 0
    assert len(fits.reaches) == len(USE.goals) * 3
    for each in fits.reaches:
        assert each.out_of_reach["ESTAB"] == each.out_of_reach["FIRM"] == 0
        assert each.missed <= len(MEASURES) * len(data.evaluated)
        assert each.answers == len(ATTRIBUTES) * len(data.evaluated)
    strict = {each.scheme: each for each in fits.reaches if each.goal == USE.goals[0]}
    assert (
        strict["Aggressive"].out_of_reach["PAYANN"] > strict["Conservative"].out_of_reach["PAYANN"]
    )
    assert strict["Aggressive"].missed > 0


def test_the_figure_has_a_line_for_each_scheme_and_one_for_exact_accounting(fits):
    """In every panel; the table of independence shows the same numbers three times."""
    figure = fitness_figure(fits, USE.fewest)
    labels = {(r["reading"], r["goal"], r["scheme"]) for r in figure.numbers.to_pylist()}
    assert len(labels) == 2 * 2 * 4
    _, independence, _ = figure.tables
    for row in independence.rows:
        assert len(set(row[2:5])) == len(set(row[5:8])) == 1
    for picture in (drawn := pictures(figure, is_public=True)).wide, drawn.narrow:
        assert EXACT in picture
