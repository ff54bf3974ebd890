"""Tapered totals and averages: the noise that is drawn is the noise that the policy prices."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from perrecord import (
    Budget,
    Keys,
    Parts,
    Policy,
    Query,
    QueryError,
    Session,
    Split,
    Taper,
    clamping,
    splitting,
    table,
    tapering,
)
from perrecord.errors import InputError
from perrecord.laws import DiscreteStudent
from perrecord.policy.terms import Currency
from perrecord.queries.plan import plan

ROWS = pa.table({"k": ["a", "a", "b"], "emp": [40, -7, None], "pay": [0.5, 1000.25, 3.0]})
HALF = Parts("k", {...: splitting(Split(emp=5), rho=1)})
BOTH = Keys.from_dict({"k": ["a", "b"]})


def opened():
    """Return a small table; pay is in steps of a quarter."""
    return table(ROWS, name="est", dimensions=["k"], measures={"emp": 1, "pay": "0.25"})


def planned(query):
    """Return the plan of a query on it."""
    with opened() as found:
        return plan(query, found.schema)


def test_words_name_the_size_of_the_answers_own_measure():
    """As it was written, whatever other measures the taper has sizes for."""
    taper = Taper(emp=250, pay=30, nu=7)
    asked = Query("est").sum("emp", taper=taper, rho="0.1").average("pay", taper=taper, rho="0.2")
    total, mean = (each for grouping in planned(asked).groupings for each in grouping.answers)
    assert "a record of 250 loses 0.1" in total.policy.describe()
    assert "pay" not in total.policy.describe()
    assert "a record of 30 loses 0.1" in mean.policy.describe()
    assert "emp" not in mean.policy.describe()
    words = [each.answer.described(str) for each in (total, mean)]
    assert "tapered at 250, nu = 7" in words[0]
    assert "tapered at 30, nu = 7" in words[1]
    assert "30" not in words[0]
    assert "250" not in words[1]


@pytest.mark.parametrize("currency", list(Currency))
@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize(("measure", "step"), [("emp", Fraction(1)), ("pay", Fraction(1, 4))])
def test_the_noise_that_is_drawn_is_what_the_policy_prices(currency, nu, measure, step):
    """Of the same spread and nu, in the measure's units; a record of the size loses the amount."""
    taper = Taper({measure: 50}, nu=nu)
    found = planned(Query("est").sum(measure, taper=taper, **currency.amount(Fraction(1, 5))))
    ((charged,),) = (grouping.answers for grouping in found.groupings)
    (measured,) = charged.answer.measurements
    (law,), _ = measured.noise(found.schema, (), currency).laws(pa.table({"": [1]}).select([]))
    (term,) = charged.policy.form.terms
    assert law == DiscreteStudent(term.growth.spread / step**2, nu)
    for shift in (1, 50, 12_345):
        price = law.rho(shift) if currency is Currency.RHO else law.epsilon(shift)
        loss = charged.policy.loss({measure: -shift * step})
        assert float(loss) == pytest.approx(float(price), rel=1e-15)
    assert float(charged.policy.loss({measure: 50})) == pytest.approx(0.2, rel=1e-9)


def test_parts_that_share_a_cell_share_the_widest_taper():
    """And pay less than they were asked for; by group each has its own."""
    parts = Parts(
        "k", {"a": tapering(Taper(emp=50), rho=1), ...: tapering(Taper(emp=50), rho="0.1")}
    )
    together = planned(Query("est").sum("emp", parts=parts)).policy
    wide = Policy.tapered("0.1", measure="emp", at=50)
    assert together == wide
    apart = planned(Query("est").group_by("k", keys=BOTH).sum("emp", parts=parts)).policy
    narrow = Policy.tapered(1, measure="emp", at=50)
    assert apart.loss({"k": "a", "emp": 9}) == narrow.loss({"emp": 9})
    assert apart.loss({"k": "b", "emp": 9}) == wide.loss({"emp": 9})


def test_laws_are_not_mixed_in_a_cell():
    """A taper beside a clamp needs a grouping that tells them apart."""
    parts = Parts("k", {"a": tapering(Taper(emp=50), rho=1), ...: clamping(0, 5, rho=1)})
    with pytest.raises(QueryError, match="noise of different laws"):
        planned(Query("est").sum("emp", parts=parts))
    planned(Query("est").group_by("k", keys=BOTH).sum("emp", parts=parts))
    nus = Parts(
        "k", {"a": tapering(Taper(emp=50), rho=1), ...: tapering(Taper(emp=50, nu=3), rho=1)}
    )
    with pytest.raises(QueryError, match="tapers of different nu"):
        planned(Query("est").sum("emp", parts=nus))


def test_answers_are_charged_and_unbiased(tmp_path):
    """Four thousand sessions' worth of noise in one: its mean and its spread are those stated."""
    keys = Keys.from_dict({"k": [f"{number}" for number in range(4_000)]})
    query = Query("est").group_by("k", keys=keys).sum("emp", taper=50, rho="0.5")
    with opened() as found:
        budget = Budget("0.1", Split(emp=50), tapers=Policy.tapered("0.5", measure="emp", at=50))
        session = Session(found, ledger=tmp_path / "est.ledger", budget=budget, new=True)
        answers = session.ask(query).to_arrow().to_pydict()
        assert len(session.ledger.entries()) == 2
        assert session.ledger.spent() == Policy.tapered("0.5", measure="emp", at=50)
    numbers, error = np.array(answers["sum_emp"], dtype=float), answers["sum_emp_se"][0]
    assert abs(numbers.mean()) < 5 * error / np.sqrt(4_000)
    assert numbers.std() == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Taper, "names no measure"),
        (lambda: Taper(emp=0), "expected a number above 0"),
        (lambda: Taper(emp=5, nu=4), "expected 3 or 7"),
        (lambda: Taper(emp=5, nu=[7]), "nu is a list; expected the number 3 or 7"),
        (lambda: Taper(50), "a taper is a int; expected a size for each measure"),
        (lambda: Taper("emp"), "a taper is a str; expected a size for each measure"),
        (lambda: Taper([("emp", 50)]), "a taper is a list; expected a size for each measure"),
        (lambda: Query("est").sum("emp", taper=-1, rho=1), "expected a number above 0"),
        (lambda: tapering(50, rho=1), "such as Taper"),
        (lambda: Query("est").sum("emp", taper=5, split=Split(emp=5), rho=1), "split and taper"),
        (lambda: Query("est").sum("emp", taper=5, accounting="exact", rho=1), "is for splits"),
        (lambda: planned(Query("est").sum("emp", taper=Taper(pay=5), rho=1)), "no size for 'emp'"),
        (
            lambda: planned(Query("est").sum("emp", taper=Taper(emp=5, x=1), rho=1)),
            "no measure 'x'",
        ),
        (lambda: planned(Query("est").sum("emp", taper="0.5", rho="0.01")), "multiple"),
        (lambda: planned(Query("est").sum("emp", taper=2, rho=9)), "less than 2.24 steps of 1"),
        (lambda: Query("est").sum("emp", parts=HALF, taper=5), "its own taper"),
    ],
)
def test_what_cannot_be_tapered_is_refused(given, message):
    """In words that say what to do."""
    with pytest.raises(InputError, match=message):
        given()
