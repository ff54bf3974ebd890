"""What a change costs and what a unit loses (T27, T34), against divergences of the real laws."""

import itertools
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import CurrencyError, InputError, MissingFieldError, Policy, RecordError, Split
from perrecord.mechanisms.quantiles import selection_rate
from perrecord.policy.cases import Cases
from perrecord.policy.changes import (
    ChosenCandidate,
    NoisyNumber,
    OnRows,
    Scope,
    Selection,
    change_delta,
    change_loss,
    unit_delta,
    unit_loss,
)
from perrecord.policy.slots import Slot
from perrecord.policy.terms import Currency
from perrecord.queries.answers import Quantile
from perrecord.release.noise import CellNoise, Noise
from tests.policy.divergences import (
    ALPHAS,
    divergences,
    gaussian,
    shifted_gaussian,
    shifted_laplace,
    worst,
)

PLACES = ("a", "b")
SIGMA_SQUARED, SCALE = Fraction(40), Fraction(6)
SLACK = 1 + 1e-7


def cell_noise(law="gaussian", bounds=None):
    """Return the noise of every cell."""
    spread = SIGMA_SQUARED if law == "gaussian" else SCALE
    return CellNoise(law, spread, Fraction(1), bounds)


BOUNDS = (Fraction(-2), Fraction(8))
KINDS = {
    "count": (
        lambda cell: Noise("records", None, cell()),
        len,
    ),
    "count of a column": (
        lambda cell: Noise("records", "x", cell()),
        lambda rows: sum(row["x"] is not None for row in rows),
    ),
    "total": (
        lambda cell: Noise("values", "x", cell()),
        lambda rows: sum(row["x"] or 0 for row in rows),
    ),
    "clamped total": (
        lambda cell: Noise("values", "x", cell(bounds=BOUNDS)),
        lambda rows: sum(min(max(row["x"], -2), 8) for row in rows if row["x"] is not None),
    ),
    "centred total": (
        lambda cell: Noise("values", "x", cell(bounds=BOUNDS), is_centred=True),
        lambda rows: sum(min(max(row["x"], -2), 8) - 3 for row in rows if row["x"] is not None),
    ),
    "distinct firms": (
        lambda cell: Noise("records", None, cell(), is_certain=False),
        lambda rows: len({row["firm"] for row in rows} - {None}),
    ),
    "total of what a filter lets through": (
        lambda cell: Noise("values", "x", cell(), is_certain=False),
        lambda rows: sum(row["x"] or 0 for row in rows if row["hidden"]),
    ),
    "count of what a filter lets through": (
        lambda cell: Noise("records", None, cell(), is_certain=False),
        lambda rows: sum(row["hidden"] for row in rows),
    ),
}
"""Each statement of noise, and the exact number as plain Python has it."""


def random_record(random):
    """Return a record with values on both sides of the bounds."""
    return {
        "place": random.choice(PLACES),
        "firm": random.choice(["f", "g", None]),
        "x": random.choice([None, -9, -2, -1, 0, 3, 5, 8, 20]),
        "hidden": random.random() < 0.7,
    }


def exact_numbers(rows, columns, number):
    """Return the exact number of each cell; cells without records are there too."""
    cells = list(itertools.product(*[PLACES for _ in columns]))
    return {
        cell: number([row for row in rows if tuple(row[name] for name in columns) == cell])
        for cell in cells
    }


@pytest.mark.parametrize("columns", [(), ("place",)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_noisy_numbers_cost_what_their_laws_say(kind, law, columns):
    """Random units among random others: never above C, and C is reached.

    Gaussian: D_alpha/alpha both ways at several alphas. Laplace: every log ratio.
    """
    stated, number = KINDS[kind]
    currency = Currency.RHO if law == "gaussian" else Currency.EPSILON
    noise = stated(lambda bounds=None: cell_noise(law, bounds))
    distinct = "firm" if kind.startswith("distinct") else None
    output = NoisyNumber(noise, Scope(columns, is_certain=True), currency, distinct)
    random, closest = Random(27), 0.0
    for _ in range(60):
        others, before, after = (
            [random_record(random) for _ in range(random.randrange(most))] for most in (3, 4, 4)
        )
        cost = change_loss([output], before, after)
        assert cost == change_loss([output], after, before)
        assert cost.is_exact
        found = 0.0
        one, other = (exact_numbers(others + own, columns, number) for own in (before, after))
        for cell, value in one.items():
            if law == "gaussian":
                found += shifted_gaussian(value, other[cell], SIGMA_SQUARED)
            else:
                found += shifted_laplace(value, other[cell], SCALE)
        assert found <= float(cost.amount) * SLACK + 1e-12
        if noise.is_certain:
            assert found >= float(cost.amount) / SLACK - 1e-9
        if cost.amount:
            closest = max(closest, found / float(cost.amount))
    assert closest > 1 - 1e-6


def test_a_filter_that_dimensions_do_not_show_may_take_distinct_firms_away():
    """Unless it is certain who passes, a firm may be there before and not after."""
    noise = Noise("records", None, cell_noise(), is_certain=False)
    rows = [{"firm": "f"}, {"firm": "f", "x": 1}]
    costs = [
        change_loss([NoisyNumber(noise, Scope((), certain), distinct="firm")], rows[:1], rows[1:])
        for certain in (True, False)
    ]
    assert [cost.amount for cost in costs] == [0, 1 / (2 * SIGMA_SQUARED)]


def test_a_filter_is_unknown_if_either_statement_says_so():
    """Of 5 and 6 either may be left out, and what is left moves the total by as much as 6."""
    costs = [
        change_loss(
            [NoisyNumber(Noise("values", "x", cell_noise(), is_certain=one), Scope((), other))],
            units([5]),
            units([6]),
        )
        for one, other in ((True, True), (True, False), (False, True))
    ]
    assert [cost.amount * 2 * SIGMA_SQUARED for cost in costs] == [1, 36, 36]


def test_the_records_of_a_firm_are_one_firm_in_each_cell():
    """COUNT(DISTINCT firm): rho for each cell, however many records; a count: rho n^2 (T34)."""
    noise = Noise("records", None, cell_noise(), is_certain=False)
    rho, scope = 1 / (2 * SIGMA_SQUARED), Scope(("place",), is_certain=True)
    firm = [{"firm": "f", "place": place} for place in ("a", "a", "a", "b")]
    assert unit_loss([NoisyNumber(noise, scope, distinct="firm")], firm).amount == 2 * rho
    assert unit_loss([NoisyNumber(noise, scope)], firm).amount == 10 * rho
    assert change_loss([NoisyNumber(noise, scope, distinct="firm")], firm, firm[2:]).amount == 0


def test_cells_have_noise_of_their_own_and_filters_shut_out():
    """sigma^2 by the record's own dimensions; a record that no case holds costs nothing."""
    cells = Cases.of("place", {"a": CellNoise("gaussian", Fraction(2), Fraction(1))}, None)
    output = NoisyNumber(Noise("values", "x", cells), Scope(("place",), is_certain=True))
    here, there = {"place": "a", "x": 6}, {"place": "b", "x": 100}
    assert unit_loss([output], [here, there]).amount == 9
    assert change_loss([output], [here], [there]).amount == 9


# -- quantiles ---------------------------------------------------------------------------------


def log_chances(tables, choice):
    """Return the logarithm of each candidate's chance, straight from T14, a row per table."""
    level = float(choice.level)
    rows = []
    for values in tables:
        n = len(values)
        scores = [
            -max(
                0.0,
                sum(value < c for value in values) - level * n,
                sum(value > c for value in values) - (1 - level) * n,
            )
            for c in choice.candidates
        ]
        rows.append(scores)
    weights = np.array(rows) * float(choice.epsilon) / (2 * max(level, 1 - level))
    return weights - np.logaddexp.reduce(weights, axis=1, keepdims=True)


def a_choice(rho="1/10", level="1/2", candidates=(1, 3), *, certain=True, currency=Currency.RHO):
    """Return a quantile over all records."""
    every = tuple(map(Fraction, candidates))
    scope = Scope((), is_certain=certain)
    return ChosenCandidate(Fraction(rho), "x", Fraction(level), every, scope, currency)


def units(values):
    """Return records of values."""
    return [{"x": value} for value in values]


OTHERS = [
    list(values)
    for count in range(5)
    for values in itertools.combinations_with_replacement([0, 1, 2, 3, 4], count)
]
SINGLE = [[value] for value in (0, 1, 2, 3, 4, None)]
SEVERAL = [[], [0, 0], [0, 4], [1, 2, 3], [4, 4, None]]


def largest_divergences(choice, before, after):
    """Return the largest D_alpha/alpha, and log ratio, over all tables of few other records."""
    laws = [
        log_chances([others + [v for v in own if v is not None] for others in OTHERS], choice)
        for own in (before, after)
    ]
    return worst(*laws), float(np.abs(laws[0] - laws[1]).max())


def test_the_worked_number_of_the_theory():
    """The median of {0, 2} becomes that of {4, 2}: candidates 1 and 3, rho = 0.1, 0.375."""
    choice = a_choice()
    p, q = log_chances([[0, 2], [4, 2]], choice)
    eps = float(choice.epsilon)
    limit = eps * np.tanh(eps / 2)  # the divergence as alpha falls to 1
    assert limit == pytest.approx(0.3753, abs=1e-4)
    assert worst(p, q) == pytest.approx(limit, rel=1e-3)
    cost = change_loss([choice], units([0, 2]), units([4, 2]))
    assert limit < cost.amount < Fraction(4, 10)
    assert float(cost.amount) == pytest.approx(0.3834, abs=1e-4)  # f(2 eps)
    assert str(cost) == "at most 0.383397"


@pytest.mark.parametrize(
    ("rho", "level", "candidates"),
    [
        ("1/10", "1/2", (1, 3)),
        ("1/10", "1/4", (1, 3)),
        ("3", "9/10", (1, 2, 3)),
        ("1/50", "0", (0, 2, 4)),
        ("2", "1", (1, 2, 3)),
        ("1/2", "1/3", (2,)),
    ],
)
def test_quantiles_cost_no_more_than_is_said_whatever_the_others_are(rho, level, candidates):
    """Every change of single values, and of several, against every table of few others."""
    choice = a_choice(rho, level, candidates)
    pure = a_choice(choice.epsilon, level, candidates, currency=Currency.EPSILON)
    closest = 0.0
    for before, after in itertools.product([*SINGLE, *SEVERAL], repeat=2):
        cost = change_loss([choice], units(before), units(after))
        ratio = change_loss([pure], units(before), units(after))
        found, log_ratio = largest_divergences(choice, before, after)
        assert found <= float(cost.amount) * SLACK + 1e-9, (before, after)
        assert log_ratio <= float(ratio.amount) * SLACK + 1e-9, (before, after)
        if cost.amount:
            closest = max(closest, found / float(cost.amount))
    assert closest > 0.9 or len(candidates) == 1


def test_quantiles_that_compare_alike_cost_nothing_and_others_at_most_what_t27_says():
    """0 alike; rho for NULL to a value; rho/max(q, 1-q)^2 for any two; k^2 rho for k records."""
    for level in map(Fraction, ("0", "1/4", "1/2", "4/5", "1")):
        choice, rho = a_choice("1/10", level, range(10, 100, 10)), Fraction(1, 10)
        assert change_loss([choice], units([12]), units([17])).amount == 0
        most = max(level, 1 - level) ** 2
        for one, other in itertools.product([5, 10, 15, 50, 55, 99], repeat=2):
            assert change_loss([choice], units([one]), units([other])).amount <= rho / most
            assert change_loss([choice], units([None]), units([other])).amount <= rho
        for k in (1, 2, 7):
            assert unit_loss([choice], units([55] * k)).amount <= k**2 * rho


def test_a_value_that_passes_one_candidate_costs_a_quarter_of_one_that_passes_many():
    """Only that candidate's score changes, by at most 1: log ratios vary within half the range."""
    choice = a_choice("1/1000", "1/2", range(10, 100, 10))
    near = change_loss([choice], units([12]), units([27]))
    far = change_loss([choice], units([12]), units([87]))
    assert float(near.amount) == pytest.approx(0.001, rel=1e-2)
    assert float(far.amount) == pytest.approx(0.004, rel=1e-2)


def test_records_that_may_be_left_out_of_a_quantile_cost_each_its_own_range():
    """A filter that is not known may keep one of the two: never less than any outcome of it."""
    certain, uncertain = a_choice(), a_choice(certain=False)
    for before, after in itertools.product([*SINGLE, [-5]], repeat=2):  # -5 and 0 compare alike
        most = change_loss([uncertain], units(before), units(after)).amount
        for kept_before, kept_after in itertools.product([before, []], [after, []]):
            cost = change_loss([certain], units(kept_before), units(kept_after)).amount
            assert before == after or cost <= most


def test_the_range_of_a_record_is_that_of_the_mechanism():
    """The eps that costs are computed from is the one that candidates are drawn with."""
    choice = a_choice("7/100", "1/3", (1, 2))
    answer = Quantile("q", "x", choice.amount, choice.level, choice.candidates)
    rate = selection_rate(answer, Currency.RHO) * choice.level.denominator
    assert choice.epsilon / (2 * max(choice.level, 1 - choice.level)) == rate


# -- key selection ---------------------------------------------------------------------------------

SLOT = Slot.of("1/2", ["place"], Split(x=5), 6, None)
SHOWN = np.arange(6, 120)


def law_of_key(pieces, *, is_lone):
    """Return the logarithms of "not shown" and of each noisy count, and the chance of the rest.

    With `is_lone` the law is that of a key that the other side lacks, given that it is not shown.
    """
    law = np.full(len(SHOWN) + 1, -np.inf)
    if pieces == 0:
        law[0] = 0.0
        return law, 0.0
    points = np.arange(-120, 120)
    weights = gaussian(points, 0, 1)  # sigma^2 = 1/(2 rho)
    law[1:] = weights[SHOWN - pieces + 120]
    hidden = np.logaddexp.reduce(weights[points < 6 - pieces])
    law[0] = hidden
    if is_lone:
        law[1:], law[0] = -np.inf, 0.0
        return law, float(1 - np.exp(hidden))
    return law, 0.0


UNITS_OF_KEYS = [
    [],
    [("a", 4)],
    [("a", 9)],
    [("b", 12)],
    [("a", 9), ("a", 3)],
    [("a", 9), ("b", 22)],
]


@pytest.mark.parametrize("others", [(0, 0), (0, 1), (1, 0), (3, 3), (40, 40)])
def test_selections_cost_what_their_laws_say(others):
    """Outside events of chance delta on each side, D_alpha <= alpha rho (change of pieces)^2."""
    selection, closest = Selection(SLOT, is_certain=True), 0.0
    for before, after in itertools.product(UNITS_OF_KEYS, repeat=2):
        sides = [[{"place": place, "x": x} for place, x in own] for own in (before, after)]
        cost, delta = change_loss([selection], *sides), change_delta([selection], *sides)
        found, outside = np.zeros((2, len(ALPHAS))), np.zeros((2, 2))
        for number, place in enumerate(PLACES):
            pieces = [
                others[number] + sum(-(-row["x"] // 5) for row in side if row["place"] == place)
                for side in sides
            ]
            laws = []
            for side in (0, 1):
                lone = pieces[side] > 0 and pieces[1 - side] == 0
                law, outside[side, number] = law_of_key(pieces[side], is_lone=lone)
                laws.append(law)
            kept = np.isfinite(laws[0]) | np.isfinite(laws[1])
            p, q = laws[0][kept], laws[1][kept]
            found += np.array([divergences(p, q), divergences(q, p)])
        assert found.max() <= float(cost.amount) * SLACK + 1e-9
        shown = 1 - (1 - outside).prod(axis=1)
        assert shown.max() <= float(delta) + 1e-9
        if others == (0, 0):
            assert shown.max() == pytest.approx(float(delta), abs=1e-9)
        if cost.amount:
            closest = max(closest, found.max() / float(cost.amount))
    assert closest > 0.999 or others != (40, 40)


def test_selections_of_the_theory():
    """Same key rho (m - m')^2 and no delta; different keys rho (m^2 + m'^2), the larger delta."""
    slot = Slot.of("1/10", ["place"], Split(x=50), 13, None)
    selection = Selection(slot, is_certain=True)
    five, ten, elsewhere = (
        {"place": place, "x": x} for place, x in (("a", 250), ("a", 500), ("b", 500))
    )
    assert change_loss([selection], [five], [ten]).amount == Fraction(25, 10)
    assert change_delta([selection], [five], [ten]) == 0
    assert change_loss([selection], [five], [elsewhere]).amount == Fraction(125, 10)
    assert change_delta([selection], [five], [elsewhere]) == slot.delta(10)
    assert unit_delta([selection], [five, {**five, "x": 201}]) == slot.delta(10)
    assert unit_loss([selection], [five, {**five, "x": 201}]).amount == 10
    unsure = Selection(slot, is_certain=False)
    assert change_loss([unsure], [five], [ten]).amount == 10
    assert change_delta([unsure], [five], [ten]) == slot.delta(10)


# -- mechanisms on rows, and everything together ---------------------------------------------------


def test_mechanisms_on_rows_cost_what_t20_says_in_each_cell():
    """Pieces that count +1 for one record and -1 for the other reach (sqrt P + sqrt P')^2."""
    rho = Fraction(1, 80)  # a Gaussian sum of one signed unit a piece, sigma^2 = 40
    output = OnRows(Policy.split(rho, Split(x=5)), Scope(("place",), is_certain=True))
    one, other = {"place": "a", "x": 15}, {"place": "a", "x": 10}
    cost = change_loss([output], [one], [other])
    assert cost.amount == rho * 25
    assert float(cost.amount) == pytest.approx(shifted_gaussian(3, -2, SIGMA_SQUARED), rel=1e-9)
    assert change_loss([output], [one], [{**other, "place": "b"}]).amount == rho * 13
    assert unit_loss([output], [one]).is_exact
    assert change_loss([output], [one], [one]).amount == 0


values = st.none() | st.integers(-60, 60)
rows = st.fixed_dictionaries(
    {
        "place": st.sampled_from(PLACES),
        "firm": st.sampled_from(["f", "g"]),
        "x": values,
    }
)


def workload(rho):
    """Return outputs of every kind with the policy of each, at one price."""
    spread = 1 / (2 * rho)
    count = CellNoise("gaussian", spread, Fraction(1))
    total = CellNoise("gaussian", 100 * spread, Fraction(1))
    cut = CellNoise("gaussian", 64 * spread, Fraction(1), BOUNDS)
    by_place, whole = Scope(("place",), is_certain=True), Scope((), is_certain=True)
    exact = Policy.exact(rho, measure="x", threshold=10)
    slot = Slot.of(rho, ["place"], Split(x=10), 9, None)
    split = Policy.split(rho, Split(x=10))
    constant = Policy.constant(rho)
    candidates = tuple(map(Fraction, (-20, 0, 20)))
    hidden = Noise("values", "x", total, is_certain=False)
    return [
        (NoisyNumber(Noise("records", None, count), by_place), constant),
        (NoisyNumber(Noise("records", "x", count), whole), constant),
        (NoisyNumber(Noise("records", None, count, is_certain=False), whole), constant),
        (
            NoisyNumber(Noise("records", None, count, is_certain=False), by_place, distinct="firm"),
            constant,
        ),
        (NoisyNumber(Noise("values", "x", total), by_place), exact),
        (NoisyNumber(hidden, by_place), exact),
        (NoisyNumber(Noise("values", "x", cut), whole), constant),
        (ChosenCandidate(rho, "x", Fraction(1, 3), candidates, by_place), constant),
        (
            ChosenCandidate(rho, "x", Fraction(1, 2), candidates, Scope((), is_certain=False)),
            constant,
        ),
        (Selection(slot, is_certain=True), split),
        (OnRows(split, by_place), split),
    ]


@settings(deadline=None, max_examples=120)
@given(
    st.lists(rows, max_size=4),
    st.lists(rows, max_size=4),
    st.sampled_from([Fraction(1, 50), Fraction(1), Fraction(9)]),
)
def test_cell_by_cell_is_never_more_than_the_fallback(before, after, rho):
    """T7 of all records that change, for each output and for all of them together."""
    every = workload(rho)
    for output, policy in every:
        assert change_loss([output], before, after).amount <= policy.group_loss(before + after)
        assert unit_loss([output], before[:1]).amount <= policy.group_loss(before[:1])
    outputs, policies = zip(*every, strict=True)
    together = Policy.total(policies)
    cost = change_loss(outputs, before, after)
    assert cost.amount <= together.group_loss(before + after)
    assert cost.amount == sum(change_loss([each], before, after).amount for each in outputs)
    assert change_loss(outputs, before, before).amount == 0


def test_a_small_change_of_a_giant_costs_little_where_t20_says_everything():
    """50,000 to 52,500 employees at sigma 35.36: 2,500 of 4,202,500."""
    noise = Noise("values", "x", CellNoise("gaussian", Fraction(1250), Fraction(1)))
    output = NoisyNumber(noise, Scope((), is_certain=True))
    policy = Policy.exact(1, measure="x", threshold=50)
    one, other = {"x": 50_000}, {"x": 52_500}
    assert change_loss([output], [one], [other]).amount == 2500
    assert policy.substitution_loss(one, other) == 4_202_500


def test_what_does_not_belong_together_is_refused():
    """Currencies do not mix, noise is that of its currency, and pieces come with their keys."""
    gaussian = NoisyNumber(Noise("records", None, cell_noise()), Scope((), is_certain=True))
    pure = a_choice(currency=Currency.EPSILON)
    with pytest.raises(CurrencyError, match="never mix"):
        unit_loss([gaussian, pure], units([1]))
    wrong = NoisyNumber(gaussian.noise, gaussian.scope, Currency.EPSILON)
    with pytest.raises(InputError, match="no loss in epsilon"):
        unit_loss([wrong], units([1]))
    with pytest.raises(InputError, match="no further cost"):
        NoisyNumber(Noise("pieces", None, cell_noise()), gaussian.scope)
    with pytest.raises(InputError, match="list of records"):
        unit_loss([gaussian], {"x": 1})
    with pytest.raises(InputError, match="a list or another value"):
        unit_loss([OnRows(Policy.constant(1), gaussian.scope)], units([[1]]))


def test_a_record_without_a_measure_that_is_added_up_is_refused():
    """A field that is left out is no missing value, which would cost nothing."""
    total = NoisyNumber(Noise("values", "x", cell_noise()), Scope(("place",), is_certain=True))
    whole, without = {"place": "a", "x": 4}, {"place": "a"}
    with pytest.raises(MissingFieldError, match="'x'"):
        unit_loss([total], [without])
    with pytest.raises(MissingFieldError, match="'x'"):
        change_loss([total], [whole], [without])
    assert unit_loss([total], [{**without, "x": None}]).amount == 0


def test_cells_may_go_by_a_measure_of_whole_numbers():
    """Numbers on the grid are fractions; equal ones share a cell, others do not."""
    count = NoisyNumber(Noise("records", None, cell_noise()), Scope(("x",), is_certain=True))
    one = Fraction(1) / (2 * SIGMA_SQUARED)
    assert change_loss([count], [{"x": Fraction(4)}], [{"x": 4}]).amount == 0
    assert change_loss([count], [{"x": Fraction(4)}], [{"x": Fraction(5)}]).amount == 2 * one
    assert change_loss([count], [{"x": Fraction(4)}], [{"x": None}]).amount == 2 * one
    with pytest.raises(RecordError, match="'x'"):
        unit_loss([count], [{"x": Fraction(1, 2)}])
