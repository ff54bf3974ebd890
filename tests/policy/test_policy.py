"""Policies: the paper's worked examples, the laws of the algebra, errors."""

import itertools
import math
import sqlite3
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import (
    AmountError,
    CurrencyError,
    InexactNumberError,
    InputError,
    MissingFieldError,
    Policy,
    Split,
    UnknownCaseError,
    meaning,
)
from tests import first
from tests.policy import strategies as some
from tests.policy.test_split import SCHEME, TABLE

RHO, RHO_1, RHO_2, RHO_3 = (Fraction(n, 10) for n in (1, 2, 3, 5))


def test_the_sum_of_the_papers_first_example():
    """Losses 9 rho, 9 rho, 4 rho, 4 rho, rho."""
    policy = Policy.split(RHO, SCHEME)
    assert [policy.loss(record) for record in TABLE] == [RHO * k for k in (9, 9, 4, 4, 1)]


def test_a_median_and_a_sum():
    """rho_1 + 9 rho_2, twice; rho_1 + 4 rho_2, twice; rho_1 + rho_2."""
    policy = Policy.constant(RHO_1) + Policy.split(RHO_2, SCHEME)
    expected = [RHO_1 + k * RHO_2 for k in (9, 9, 4, 4, 1)]
    assert [policy.loss(record) for record in TABLE] == expected


def test_key_selection_and_two_sums_with_piecewise_thresholds():
    """9, 9, 4, 1 and 1 times (rho_1 + rho_2 + rho_3), and a delta that the paper leaves out."""
    mining = Split(employees=50, payroll=10_000_000)
    scheme = Split.by("industry", {"Mining": mining}, default=SCHEME)
    policy = (
        Policy.selection(RHO_1, ["industry"], split=scheme, delta="1e-6")
        + Policy.split(RHO_2, scheme)
        + Policy.split(RHO_3, scheme)
    )
    total = RHO_1 + RHO_2 + RHO_3
    assert [policy.loss(record) for record in TABLE] == [total * k for k in (9, 9, 4, 1, 1)]
    assert policy.delta(TABLE[0]) > policy.delta(TABLE[2]) > policy.delta(TABLE[4]) > 0
    assert policy.delta(TABLE[4]) <= Fraction(1, 10**6)


def test_exact_accounting_is_never_above_split_accounting():
    """T11: r^2/(2 sigma^2) <= rho m^2, with equality at multiples of the threshold."""
    split, exact = Policy.split(1, Split(x=5)), Policy.exact(1, measure="x", threshold=5)
    for value in range(-40, 41):
        assert exact.loss({"x": value}) <= split.loss({"x": value})
    assert exact.loss({"x": 15}) == split.loss({"x": 15}) == 9


def test_only_sigma_matters_to_the_exact_policy():
    """T11: (T, rho) and (cT, c^2 rho) are the same mechanism, so the same policy."""
    assert Policy.exact(1, measure="x", threshold=5) == Policy.exact(9, measure="x", threshold=15)


def test_pure_epsilon_policies_are_linear():
    """T16: eps * pieces, and exactly eps |r| / T."""
    split = Policy.split(epsilon="0.5", split=Split(x=5))
    exact = Policy.exact(epsilon="0.5", measure="x", threshold=5)
    assert split.loss({"x": -12}) == Fraction(3, 2)
    assert exact.loss({"x": -12}) == Fraction(6, 5)
    assert split.group_loss([{"x": 12}, {"x": 1}]) == 2


def test_parallel_parts_may_differ_in_everything():
    """T5: constant here, split there, nothing elsewhere."""
    policy = Policy.by(
        "industry",
        {"Mining": Policy.constant(2), "Retail": Policy.split(1, SCHEME)},
        default=Policy.zero(),
    )
    assert [policy.loss(record) for record in TABLE] == [0, 0, 2, 2, 1]
    assert policy.minimum() == 0
    assert policy.supremum() is None


def test_personalised_policies_hang_on_the_identifier():
    """T20: P(r) = Phi(id)."""
    policy = Policy.personalised("id", {1: "0.5", 2: "2"}, default="0.1")
    assert [policy.loss(record) for record in TABLE[:3]] == [
        Fraction(1, 2),
        2,
        Fraction(1, 10),
    ]
    assert policy.supremum() == 2


def test_a_budget_spread_over_schemes_is_their_largest():
    """T4: rho * max over s of m_s^2, which is one scheme of the least thresholds."""
    coarse, other = Split(employees=100, payroll=1_000_000), Split(employees=10, payroll=10**9)
    budget = Policy.largest(Policy.split(1, coarse), Policy.split(1, other))
    assert budget.loss(TABLE[0]) == max(coarse.pieces(TABLE[0]), other.pieces(TABLE[0])) ** 2
    assert budget == Policy.split(1, Split(employees=10, payroll=1_000_000))


def test_minimum_and_supremum_with_caps_and_cases():
    """PolicyMin is at the zero record of the cheapest case; a cap bounds the loss."""
    policy = Policy.constant("0.5") + Policy.by(
        "region",
        {"north": Policy.split(1, Split(x=5).capped(4))},
        default=Policy.split(2, Split(x=5).capped(3)),
    )
    assert policy.minimum() == Fraction(3, 2)
    assert policy.supremum() == Fraction(1, 2) + 18


@given(some.policies, some.records)
def test_the_minimum_is_below_every_loss(policy, record):
    """And the supremum above, where there is one, and the bound above that."""
    loss, top, bound = policy.loss(record), policy.supremum(), policy.bound()
    assert policy.minimum() <= loss
    assert top is None or loss <= top
    assert bound is None or (top is not None and top <= bound)


def test_a_bound_takes_few_steps_where_dimensions_depend_on_one_another():
    """It is above the supremum there; a supremum of forty would take years."""

    def linked(count):
        cases = {("a", "b"): Policy.constant("0.1"), ("b", "a"): Policy.constant("0.2")}
        pairs = [(f"d{place:02}", f"d{place + 1:02}") for place in range(count)]
        return Policy.total(Policy.by(pair, cases, Policy.constant("0.05")) for pair in pairs)

    assert (linked(3).supremum(), linked(3).bound()) == (Fraction(1, 2), Fraction(3, 5))
    assert linked(40).bound() == 8


@given(some.policies, some.records, st.sampled_from(some.MEASURES), some.values)
def test_losses_grow_with_size(policy, record, name, other):
    """P is monotone in each |r(a)|."""
    larger = {**record, name: max(abs(record[name] or 0), abs(other or 0))}
    assert policy.loss(larger) >= policy.loss(record)


@pytest.mark.parametrize("kind", ["constant", "split", "exact", "cases"])
def test_like_terms_add_up(kind):
    """Two charges of one kind, scheme or table of cases lose their sum, whoever pays (T4)."""

    def paid(amount):
        return {
            "constant": Policy.constant(amount),
            "split": Policy.split(amount, Split(x=5)),
            "exact": Policy.exact(amount, measure="x", threshold=5),
            "cases": Policy.by("k", {"a": Policy.split(amount, Split(x=5))}, Policy.zero()),
        }[kind]

    record = {"k": "a", "x": 12}
    total = paid("0.1") + paid("0.3")
    assert total.loss(record) == 4 * paid("0.1").loss(record) > 0
    assert total == paid("0.4")


@given(some.policies, some.policies, some.policies, some.records, some.amounts)
def test_composition_is_an_algebra(first, second, third, record, factor):
    """Commutative, associative, distributive; and losses add and scale."""
    assert first + second == second + first
    assert (first + second) + third == first + (second + third)
    assert factor * (first + second) == factor * first + second * factor
    assert (first + second).loss(record) == first.loss(record) + second.loss(record)
    assert (factor * first).loss(record) == factor * first.loss(record)
    assert sum([first, second, third], Policy.zero()) == first + second + third
    assert first + Policy.zero() == first


@given(some.policies, some.policies, some.records)
def test_equal_policies_are_equal_functions(first, second, record):
    """The normal form never makes two different functions equal; the hash follows."""
    if first == second:
        assert first.loss(record) == second.loss(record)
        assert hash(first) == hash(second)
    assert Policy.largest(first, second).loss(record) == max(
        first.loss(record), second.loss(record)
    )
    assert Policy.largest(first, second) == Policy.largest(second, first)
    assert Policy.largest(first, first) == first


def test_the_normal_form_sees_through_the_way_of_writing():
    """The same function written in different ways is one policy."""
    a, b, c = Policy.constant(1), Policy.split(1, Split(x=2)), Policy.split(1, Split(x=3))
    by_split = Policy.split(1, Split.by("region", {"north": Split(x=2)}, Split(x=3)))
    assert by_split == Policy.by("region", {"north": b}, default=c)
    assert a + by_split == Policy.by("region", {"north": a + b}, default=a + c)
    assert Policy.by("region", {"north": a}, default=a) == a
    assert Policy.split(1, Split(x=2).capped(1)) == a
    nested = Policy.by("region", {"north": Policy.by("kind", {1: a}, b)}, b)
    pairs = Policy.by(("region", "kind"), {("north", 1): a}, b)
    swapped = Policy.by(("kind", "region"), {(1, "north"): a}, b)
    assert nested == pairs == swapped
    assert Policy.by("kind", {1: Policy.by("region", {"north": a}, b)}, b) == pairs
    assert b != c
    assert Policy.by("kind", {1: a}, b) != Policy.by("kind", {True: a}, b)


def test_a_policy_tells_what_a_loss_means():
    """The record's delta is taken along; a policy in epsilon speaks for itself."""
    policy = Policy.selection("0.1", ["k"], split=Split(x=1), delta="1e-6")
    record = {"k": "a", "x": 10}
    assert policy.meaning(record) == meaning(10, key_delta=policy.delta(record))
    with pytest.raises(CurrencyError, match="in pure epsilon"):
        Policy.constant(epsilon=1).meaning({})


@pytest.mark.parametrize("count", first(1, [1000, 5000]))
def test_thousands_of_cases_add_compare_and_describe(count):
    """Large partitions work everywhere, not only in evaluation."""
    cases = {f"n{i}": Policy.split(Fraction(i + 1, 7), Split(x=i + 1)) for i in range(count)}
    policy = Policy.by("naics", cases, Policy.constant(1)) + Policy.constant("0.1")
    assert policy.loss({"naics": "n999", "x": 5000}) == Fraction(1000, 7) * 25 + Fraction(1, 10)
    assert policy.is_below(policy + policy)
    assert not (policy + policy).is_below(policy)
    assert policy == Policy.constant("0.1") + Policy.by("naics", cases, Policy.constant(1))
    assert "more cases" in policy.describe()
    assert policy.minimum() == Fraction(1, 7) + Fraction(1, 10)


def rounded_up(found, truth):
    """Tell whether a number is the truth or above it by less than one part in 2^180."""
    return truth <= found <= truth * (1 + Fraction(1, 2**180))


def test_slots_of_a_unit_with_several_records_add_up_within_a_key():
    """T9: two records of five pieces in one key cost delta(10) = 0.13, not twice delta(5)."""
    policy = Policy.selection("0.1", ["key"], split=Split(x=1), delta="1e-6")
    five = {"key": "a", "x": 5}
    together = policy.group_delta([five, five])
    assert together == policy.delta({"key": "a", "x": 10})
    assert float(together) == pytest.approx(0.13, rel=0.01)
    apart = policy.group_delta([five, {**five, "key": "b"}])
    single = policy.delta(five)
    assert rounded_up(apart, 1 - (1 - single) ** 2)
    assert policy.substitution_delta(five, {"key": "b", "x": 1}) == single


def test_a_slot_in_each_part_is_a_selection_of_its_own():
    """One run over all records and one run per part are different policies: groups tell."""
    alone = Policy.slot("1/100", ["key"], threshold=2)
    parts = Policy.by("region", {"north": alone}, default=alone)
    records = [{"region": "north", "key": "a"}, {"region": "south", "key": "a"}]
    one, curve = alone.delta(records[0]), alone.form.slots[0].delta
    assert parts.delta(records[0]) == one
    assert alone.group_delta(records) == curve(2)
    # Two selections, or one of a filter that lets both parts pass: the bound holds for either.
    assert rounded_up(parts.group_delta(records), 1 - (1 - curve(2)) * (1 - curve(0)))
    assert parts.group_delta(records) >= max(curve(2), 1 - (1 - one) ** 2)
    assert parts != alone
    assert not parts.is_below(alone)
    assert not alone.is_below(parts)
    assert parts.is_below(parts + alone)
    assert Policy.from_json(parts.to_json()).group_delta(records) == parts.group_delta(records)


def test_slots_in_overlapping_parts_are_told_apart():
    """Two selections, on a = 1 and on b = 1, each with its own records."""
    slot = Policy.slot("1/10", ["k"], split=Split(x=1), threshold=2)
    policy = Policy.by("a", {1: slot}, Policy.zero()) + Policy.by("b", {1: slot}, Policy.zero())
    records = [
        {"k": "v", "x": 1, "a": 1, "b": 0},
        {"k": "v", "x": 2, "a": 0, "b": 1},
        {"k": "u", "x": 2, "a": 0, "b": 1},
        {"k": "u", "x": 2, "a": 1, "b": 1},
    ]
    curve = slot.form.slots[0].delta
    missed = (1 - curve(1)) * (1 - curve(2)) * (1 - curve(2)) * (1 - curve(4))
    bound = (1 - curve(3)) * (1 - curve(0)) * (1 - curve(6)) * (1 - curve(0))
    assert rounded_up(policy.group_delta(records), 1 - bound)
    assert policy.group_delta(records) >= 1 - missed


@pytest.mark.parametrize("threshold", [-3, 0, 2, 13, 40])
@pytest.mark.parametrize("rho", ["1/100", "1/10", "2"])
def test_parts_taken_together_are_never_less_visible(rho, threshold):
    """For every way to merge three parts of one key into selections."""
    slot = Policy.slot(rho, ["k"], split=Split(x=1), threshold=threshold)
    policy = Policy.by("a", {1: slot, 2: slot, 3: slot}, Policy.zero())
    curve = slot.form.slots[0].delta
    for pieces in itertools.product((1, 2, 5, 12, 30), repeat=3):
        records = [{"k": "v", "x": x, "a": place + 1} for place, x in enumerate(pieces)]
        bound = policy.group_delta(records)
        x, y, z = pieces
        for merged in ((x, y, z), (x + y, z), (x, y + z), (x + z, y), (x + y + z,)):
            assert bound >= 1 - math.prod(1 - curve(each) for each in merged)


def test_many_slots_and_keys_take_no_time():
    """Deltas are rounded up as they compose, so that a firm in 5,000 keys is answered at once."""
    policy = Policy.selection("0.1", ["key"], split=Split(x=1), delta="1e-6")
    records = [{"key": index, "x": 1 + index % 9} for index in range(5000)]
    assert 0.9 < policy.group_delta(records) <= 1


def test_many_charges_add_up_in_one_go():
    """T4: a ledger of a thousand different charges."""
    charges = [Policy.split("0.001", Split(x=index + 1)) for index in range(1000)]
    whole = Policy.total(charges)
    assert whole.loss({"x": 1}) == 1
    assert whole == sum(charges[1:], charges[0])


def test_database_rows_and_numpy_values_are_records_too():
    """A truth value of numpy is one; an error names a row's fields, never its values."""
    policy = Policy.by("a", {True: Policy.constant(9), 2: Policy.constant(2)}, Policy.constant(1))
    assert policy.loss({"a": np.True_}) == policy.loss({"a": True}) == 9
    assert policy.loss({"a": np.int8(1)}) == policy.loss({"a": 1}) == 1
    assert policy.loss({"a": float("nan")}) == policy.loss({"a": None}) == 1
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    row = connection.execute("SELECT 12 AS x, 987654 AS pay").fetchone()
    connection.close()
    series = pd.DataFrame({"x": [12], "pay": [987654]}).iloc[0]
    for record in (row, series):
        assert Policy.split(1, Split(x=5)).loss(record) == 9
        with pytest.raises(MissingFieldError, match=r"no measure 'emp'\. It has x, pay"):
            Policy.split(1, Split(emp=5)).loss(record)


def test_a_policy_that_covers_no_record_says_so():
    """Cases that exclude one another leave nothing to minimise over."""
    nothing = Policy.by("a", {1: Policy.by("a", {2: Policy.constant(5)})})
    apart = Policy.by("c", {1: Policy.constant(1)}) + Policy.by(
        ("a", "c"), {(1, 2): Policy.constant(1)}
    )
    for policy in (nothing, apart):
        with pytest.raises(InputError, match="covers no record"):
            policy.minimum()
        with pytest.raises(InputError, match="covers no record"):
            policy.supremum()


def test_shared_decisions_are_taken_out_of_cases():
    """The same function, nested or side by side."""
    inner = Policy.by("b", {1: Policy.constant(2)}, Policy.constant(1))
    nested = Policy.by("a", {1: inner + Policy.constant(5)}, default=inner + Policy.constant(7))
    assert nested == inner + Policy.by("a", {1: Policy.constant(5)}, default=Policy.constant(7))


def test_deltas_of_several_selections_compose():
    """T4: 1 - prod(1 - delta_i)."""
    policy = Policy.selection("0.1", ["key"], delta="1e-6")
    one = policy.delta({"key": "a"})
    assert rounded_up((policy + policy).delta({"key": "a"}), 1 - (1 - one) ** 2)
    assert Policy.constant(1).delta({}) == 0


@pytest.mark.parametrize("rho", ["0.1", "2"])
def test_a_delta_is_never_below_the_law_and_hardly_above(rho):
    """Pr[Z >= tau - pieces] by sums of eighty digits; what is stated is rounded up, never down."""
    policy = Policy.selection(rho, ["key"], split=Split(x=1), threshold=13)
    with mpmath.workdps(80):
        weights = [mpmath.exp(-mpmath.mpf(rho) * k**2) for k in range(100)]
        whole = 2 * mpmath.fsum(weights) - 1
        for pieces in range(1, 13):
            true = mpmath.fsum(weights[13 - pieces :]) / whole
            stated = policy.delta({"key": "a", "x": pieces})
            error = mpmath.mpf(stated.numerator) / stated.denominator / true - 1
            assert 0 < error < mpmath.mpf(2) ** -60


BAD = [
    (
        lambda: Policy.split(Split(x=1), "0.1"),
        AmountError,
        "rho is a split; the amount comes first",
    ),
    (lambda: Policy.from_json({}), InputError, "the policy is a dict; expected the text"),
    (lambda: Policy.constant(1).is_below(None), InputError, "cannot compare a policy and a None"),
    (lambda: Policy.by("a", None), InputError, "the cases are a NoneType"),
    (lambda: Policy.by("a", {1: 5}), InputError, "a int is given where a policy is expected"),
    (lambda: Policy.by(None, {1: Policy.constant(1)}), InputError, "expected a column name"),
    (lambda: Policy.exact(1, measure=5, threshold=1), InputError, "the measure is 5"),
    (lambda: Policy.slot(1, None, threshold=3), InputError, "names no key"),
    (lambda: Policy.slot(1, ["k"], threshold=3, split=5), InputError, "the split is a int"),
    (lambda: Policy.zero("rho"), InputError, "the currency is 'rho'"),
    (lambda: Policy.constant(1).loss(None), InputError, "the record is a NoneType"),
    (lambda: Policy.constant(1).group_loss({"x": 1}), InputError, "the records are a dict"),
    (lambda: Policy.constant("1e-999"), InputError, "longer than 1000 digits"),
    (lambda: Policy.by("a", {1: Policy.zero()}).loss({"a": [1]}), InputError, "'a' is a list"),
    (lambda: Policy.by("a", {1: Policy.zero()}).loss({"a": 1.0}), InputError, "'a' is a float"),
    (lambda: Policy.constant(0.1), InexactNumberError, "rho is a float"),
    (lambda: Policy.constant(-1), AmountError, "rho is -1; expected a number that is not negative"),
    (Policy.constant, AmountError, "needs one amount"),
    (lambda: Policy.constant(1, epsilon=1), AmountError, "needs one amount"),
    (lambda: Policy.split(1, 50), InputError, "the split is a int; expected a Split"),
    (Policy.largest, InputError, "no policy was given"),
    (lambda: Policy.largest(1), InputError, "a int is given where a policy is expected"),
    (
        lambda: Policy.constant(1) + Policy.constant(epsilon=1),
        CurrencyError,
        "cannot add a policy in rho and one in epsilon",
    ),
    (
        lambda: Policy.constant(1).is_below(Policy.constant(epsilon=1)),
        CurrencyError,
        "cannot compare a policy in rho and one in epsilon",
    ),
    (
        lambda: Policy.by("d", {1: Policy.constant(1)}, Policy.constant(epsilon=1)),
        CurrencyError,
        "cannot combine",
    ),
    (
        lambda: Policy.split(1, Split(x=1)).loss({"y": 1}),
        MissingFieldError,
        "the record has no measure 'x'. It has y.",
    ),
    (
        lambda: Policy.by("d", {"a": Policy.constant(1)}).loss({"d": "b"}),
        UnknownCaseError,
        "matches none of the declared cases",
    ),
    (lambda: Policy.selection(1, ["k"]), InputError, "either threshold=13 or delta='1e-6'"),
    (lambda: Policy.selection(1, [], delta="1e-6"), InputError, "names no key"),
    (lambda: Policy.selection(0, ["k"], delta="1e-6"), AmountError, "rho of a key selection is 0"),
    (lambda: Policy.selection(1, ["k"], delta="1e-6") * 2, InputError, "cannot be scaled"),
    (
        lambda: Policy.largest(Policy.selection(1, ["k"], delta="1e-6")),
        InputError,
        "deltas have no largest",
    ),
    (
        lambda: (
            Policy.by("d", {"a": Policy.constant(1)}) + Policy.by("d", {"b": Policy.constant(1)})
        ),
        InputError,
        "share no case of d",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD)
def test_bad_policies_get_their_own_error(make, error, message):
    """Each mistake is named, with what to type instead."""
    with pytest.raises(error, match=message):
        make()
