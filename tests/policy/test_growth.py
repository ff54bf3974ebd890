"""A loss that grows in its own way takes one file and its name: everything else follows from it."""

import json
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import BudgetExceededError, DocumentError, Policy, Split, table
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger
from perrecord.evaluate.losses.loss_sql import LossWriter
from perrecord.evaluate.workspace import DOUBLE
from perrecord.policy.loss import GOOD_BITS
from perrecord.policy.reading import GROWTHS
from perrecord.policy.reads import names_read
from perrecord.queries.values import JoinedTables
from tests.policy.growths import GROWTHS_OF_TESTS, Root, Saturating, Secretive, Slow, growing
from tests.policy.strategies import policies, records

ROOT, SLOW = Root(Fraction(2)), Slow(Fraction(25))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Register the growths of the tests, as a later kind of noise would be."""
    for growth in GROWTHS_OF_TESTS:
        monkeypatch.setitem(GROWTHS, growth.kind, growth)


def test_losses_say_whether_they_are_exact():
    """sqrt(8/2) is 2; sqrt(6/2) is at most what is said, by less than one part in 2^90."""
    policy = growing(3, "x", ROOT)
    assert policy.loss({"x": 8}) == 6
    assert policy.bounded_loss({"x": -8}).is_exact
    assert policy.loss({"x": None}) == 0
    found = policy.bounded_loss({"x": 6})
    assert not found.is_exact
    assert found.least**2 < 27 < found.amount**2
    assert found.amount - found.least == found.amount / 2**GOOD_BITS
    assert str(found) == "at most 5.19616"


def test_sums_gather_like_terms_and_keep_what_is_exact():
    """P + P is twice P, by value and by form; a constant beside it stays exact."""
    one = growing(1, "x", ROOT)
    assert one + one == 2 * one == growing(2, "x", ROOT)
    assert len((one + one).form.terms) == 1
    assert one != growing(1, "y", ROOT)
    assert one != growing(1, "x", Root(Fraction(3)))
    both = one + Policy.constant("0.1")
    assert both.bounded_loss({"x": 2}).amount == Fraction(11, 10)
    assert both.bounded_loss({"x": 2}).is_exact
    assert not both.bounded_loss({"x": 3}).is_exact
    larger = Policy.largest(one, Policy.constant(2))
    assert larger.bounded_loss({"x": 3}).is_exact  # the constant is the largest
    assert not larger.bounded_loss({"x": 9}).is_exact


def test_words_and_fields():
    """A formula, plain English, LaTeX, and the measure that it reads."""
    policy = growing("1/2", "x", ROOT)
    assert repr(policy) == "Policy(0.5·√(|x|/2))"
    assert "0.5 times the square root of (the size of x divided by 2)" in policy.describe()
    assert r"0.5 \, \sqrt{|r(\text{x})|/2}" in policy.latex()
    assert names_read(policy) == {"x"}


def test_documents_hold_it_and_refuse_what_they_do_not_know(monkeypatch):
    """Written and read back; a kind that is not registered, or a field too many, is refused."""
    policy = growing("1/3", "x", ROOT) + Policy.constant(1)
    written = policy.to_json()
    assert Policy.from_json(written) == policy
    document = json.loads(written)
    term = next(each for each in document["terms"] if each["type"] == "root")
    assert term == {"type": "root", "amount": "1/3", "measure": "x", "scale": "2"}
    term["more"] = "1"
    with pytest.raises(DocumentError, match="holds more"):
        Policy.from_json(json.dumps(document))
    monkeypatch.delitem(GROWTHS, "root")
    with pytest.raises(DocumentError, match="the type is 'root'"):
        Policy.from_json(written)


def test_a_bounded_growth_is_below_its_limit_and_others_below_no_constant():
    """2x/(x+5) never reaches 2; a square root passes every constant."""
    bounded = growing(1, "x", Saturating(Fraction(5)))
    assert bounded.is_below(Policy.constant(2))
    assert not bounded.is_below(Policy.constant("1.9"))
    assert bounded.supremum() == bounded.bound() == 2
    assert not growing(1, "x", ROOT).is_below(Policy.constant(10**9))
    assert growing(1, "x", ROOT).supremum() is None
    assert growing(1, "x", ROOT).minimum() == 0


def test_a_corner_decides_against_pieces():
    """g(|x|) <= rho m^2 for every record if and only if g(T) <= rho (the corner lemma of T26)."""
    policy, most = growing(1, "x", SLOW), SLOW.loss(Fraction(50)).amount
    scheme = Split(x=50, y=3)
    assert policy.is_below(Policy.split(most, scheme))
    assert not policy.is_below(Policy.split(most * Fraction(999, 1000), scheme))
    rest = Policy.constant("0.5") + Policy.exact(1, measure="y", threshold=3)
    assert (policy + rest).is_below(Policy.split(most + Fraction(3, 2), scheme))
    assert not (policy + rest).is_below(Policy.split(most + 1, scheme))
    assert not policy.is_below(Policy.split(10**6, Split(y=3)))  # does not see x


def test_corners_take_constants_together_with_a_growth():
    """Pieces of 20 against pieces of 50 and a constant, which no covering pays: the walk does."""
    policy, most = growing(1, "x", SLOW), SLOW.loss(Fraction(50)).amount
    left = policy + Policy.split("0.5", Split(x=20))
    rest = Policy.constant("2.5")
    assert left.is_below(Policy.split(most + Fraction("3.3"), Split(x=50)) + rest)
    assert not left.is_below(Policy.split(most + 3, Split(x=50)) + rest)
    assert not left.is_below(Policy.split("3.3", Split(x=50)) + rest)  # as if there were no growth


def test_growths_pay_for_powers_and_for_each_other():
    """P <= r^2/A for nu = 3; one of a larger scale is below one of a smaller."""
    policy = growing(1, "x", SLOW)
    assert policy.is_below(Policy.exact(1, measure="x", threshold=25))
    assert not policy.is_below(Policy.exact("0.99", measure="x", threshold=25))
    wider = growing(1, "x", Slow(Fraction(50)))
    assert wider.is_below(policy)
    assert not policy.is_below(wider)
    assert (policy * Fraction(1, 4)).is_below(wider)


def test_a_budget_of_a_growth_is_filled_exactly():
    """What both sides hold cancels as it stands: no rounding comes between."""
    share = growing("0.3", "x", ROOT)
    budget = growing("0.9", "x", ROOT)
    assert (share + share + share).is_below(budget)
    assert not (share + share + share + growing("1e-30", "x", ROOT)).is_below(budget)


def test_an_excess_is_one_beyond_all_rounding():
    """Two ways to write one loss differ by rounding alone: no record is said to exceed."""
    one = growing(1, "x", Secretive(Fraction(2, 100)))  # sqrt(50 x) = 10 sqrt(x/2)
    ten = growing(10, "x", Secretive(Fraction(2)))
    amounts = [(one.loss({"x": x}), ten.loss({"x": x})) for x in range(1, 60)]
    assert any(a > b for a, b in amounts)
    assert not one.is_below(ten)  # neither proved nor disproved
    assert one.excess(ten) is None
    assert ten.excess(one) is None
    for other in (Policy.constant(1), one * Fraction(99, 100)):
        found = ten.excess(other)
        assert found.loss > found.limit == other.loss(found.record)


growths = st.one_of(
    st.builds(Root, st.fractions("1/3", 9, max_denominator=5)),
    st.builds(Slow, st.fractions("1/3", 9, max_denominator=5)),
    st.builds(Saturating, st.fractions("1/3", 9, max_denominator=5)),
)
growing_losses = st.builds(
    growing, st.fractions(0, 2, max_denominator=12), st.sampled_from(["x", "y"]), growths
)


def test_a_ledger_takes_them_up_to_its_budget_and_not_beyond(tmp_path):
    """Charges are written down, read again and compared, as those of every other loss."""
    most = SLOW.loss(Fraction(50)).amount
    ledger = Ledger.create(tmp_path / "ledger.db", Budget(2 * most, Split(x=50)))
    for _ in range(2):
        ledger.charge(growing(1, "x", SLOW), snapshot="s", label="a total")
    for opened in (ledger, Ledger.open(tmp_path / "ledger.db")):
        assert opened.spent() == growing(2, "x", SLOW)
        with pytest.raises(BudgetExceededError):
            opened.charge(growing("1e-9", "x", SLOW), snapshot="s", label="a total")


@settings(deadline=None, max_examples=60)
@given(st.lists(growing_losses, min_size=1, max_size=2), policies, policies, records)
def test_a_yes_holds_for_every_record(grown, one, other, record):
    """With growths on either side, below means below, however losses are rounded."""
    left, right = Policy.total([*grown, one]), Policy.total([grown[0], other])
    for low, high in ((left, right), (right, left), (grown[-1], other)):
        if low.is_below(high, most_steps=20_000):
            assert low.bounded_loss(record).least <= high.bounded_loss(record).amount


def test_whole_columns_are_rounded_up_as_ever():
    """float64 losses of columns: never below the exact ones, and close."""
    policy = growing("0.7", "x", SLOW) + Policy.split("0.1", Split(x=50))
    sizes = [0, 1, 7, 7, 300, 10**6, None]
    found = policy.losses({"x": pa.array(sizes, pa.int64())})
    for size, loss in zip(sizes, found, strict=True):
        exact = policy.loss({"x": size})
        assert exact <= Fraction(float(loss)) <= exact * (1 + Fraction(1, 2**40))


def test_losses_in_sql_are_those_of_the_policy():
    """What evaluation adds up in SQL agrees to nine digits."""
    rows = pa.table({"x": pa.array([0, 4, 250, None], pa.int64())})
    policy = growing(2, "x", SLOW) + growing(1, "x", ROOT)
    with table(rows, name="t", dimensions=[], measures={"x": "1/2"}) as source:
        writer = LossWriter(source.schema, 2, JoinedTables(source.engine.dialect, "p"))
        loss = writer.form(policy.form)
        sql = f"SELECT {loss} AS loss FROM {writer.records(source)}".replace(DOUBLE, "DOUBLE")
        found = source.engine.arrow(sql)["loss"].to_pylist()
    exact = [float(policy.loss({"x": value})) for value in (0, 4, 250, None)]
    np.testing.assert_allclose(found, exact, rtol=1e-9)
    assert math.isclose(exact[3], 0)
