"""Optimal key selection: it keeps (epsilon, delta), and nothing that does finds keys more often."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from perrecord.errors import InputError
from perrecord.lab.experiments.keys.chances import Selecting, optima
from perrecord.lab.experiments.keys.optimal import least_records, optimal_chances

CASES = [(0.1, 1e-3), (math.log(2), 0.1), (1.0, 1e-6), (2.14, 1.1e-6), (5.0, 1e-9), (0.01, 0.3)]


def excess(chances, epsilon, delta):
    """Return by how much neighbouring numbers of records break (epsilon, delta), in any direction.

    The outcome is one bit, so its two values are all the events that matter.
    """
    below, above = np.array(chances[:-1]), np.array(chances[1:])
    growth = math.exp(epsilon)
    pairs = [(above, below), (below, above), (1 - below, 1 - above), (1 - above, 1 - below)]
    return max(float((first - growth * second - delta).max()) for first, second in pairs)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_it_keeps_epsilon_and_delta(epsilon, delta):
    """For all neighbours up to 400 records; a little more at any one of them would not."""
    chances = optimal_chances(epsilon, delta, 400)
    assert excess(chances, epsilon, delta) <= 1e-12
    for count in range(1, 400):
        if chances[count] < 0.999:
            raised = list(chances)
            raised[count] += 1e-4 * (1 - raised[count])  # the twin
            assert excess(raised, epsilon, delta) > 0


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
@pytest.mark.parametrize("most", [1, 2, 5, 12])
def test_nothing_finds_a_key_more_often(epsilon, delta, most):
    """A linear programme over all selections that keep (epsilon, delta) finds the same chance."""
    growth = math.exp(epsilon)
    rows, bounds = [], []
    for n in range(1, most + 1):
        for first, second in ((n, n - 1), (n - 1, n)):
            row = np.zeros(most + 1)
            row[first], row[second] = 1, -growth  # p_first <= e^eps p_second + delta
            rows.append(row)
            bounds.append(delta)
            row = np.zeros(most + 1)
            row[first], row[second] = -1, growth  # the same of 1 - p
            rows.append(row)
            bounds.append(growth + delta - 1)
    objective = np.zeros(most + 1)
    objective[most] = -1
    limits = [(0, 0)] + [(0, 1)] * most
    found = linprog(objective, A_ub=np.array(rows), b_ub=bounds, bounds=limits)
    assert -found.fun == pytest.approx(optimal_chances(epsilon, delta, most)[most], abs=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_recursion_is_the_closed_form(epsilon, delta):
    """Two geometric sums that meet, as the paper's theorem has it."""
    growth = math.exp(epsilon)
    switch = 1 + math.floor(math.log((growth + 2 * delta - 1) / ((growth + 1) * delta)) / epsilon)

    def closed(n):
        if n <= switch:
            return math.expm1(n * epsilon) / (growth - 1) * delta
        left = math.exp(-(n - switch) * epsilon)
        return min(1.0, (1 - left) * (1 + delta / (growth - 1)) + left * closed(switch))

    chances = optimal_chances(epsilon, delta, 100)
    assert chances == pytest.approx([closed(n) for n in range(101)], rel=1e-9)


def test_a_record_alone_is_found_with_delta_whatever_epsilon_is():
    """And more records never with less."""
    for epsilon, delta in CASES:
        chances = optimal_chances(epsilon, delta, 1000)
        assert chances[:2] == [0.0, pytest.approx(delta)]
        assert chances == sorted(chances)
        assert chances[-1] <= 1
        assert least_records(chances, 1.1) is None


@pytest.mark.parametrize("rho", ["0.01", "0.1", "1"])
def test_threshold_selection_stays_below_it(rho):
    """At both conversions of rho (T18); at half the epsilon it would not."""
    unsplit = Selecting(rho, "1e-6")
    ours = [0.0, *(unsplit.chance_of(count) for count in range(1, 101))]
    generic, own = optima(unsplit)
    assert own.epsilon < generic.epsilon
    for best in (generic, own):
        assert excess(ours, best.epsilon, best.delta) <= 1e-12
        assert all(a <= b for a, b in zip(ours, best.chances(100), strict=True))
    assert excess(ours, own.epsilon / 2, own.delta) > 0  # the twin


@pytest.mark.parametrize(
    ("epsilon", "delta", "most"), [(0, 0.1, 3), (1, 0, 3), (1, 2, 3), (1, 0.1, -1)]
)
def test_what_is_no_guarantee_is_refused(epsilon, delta, most):
    """Epsilon and delta are above 0."""
    with pytest.raises(InputError, match="expected epsilon above 0"):
        optimal_chances(epsilon, delta, most)
