"""Tuning a blurred total: a goal that names it, and what no amount can do."""

from fractions import Fraction

import pyarrow as pa
import pytest

from perrecord import Blur, InputError, Keys, Query, Split, table
from perrecord.evaluate.tuning.tune import tune
from perrecord.laws.blurring import blurred_rho
from perrecord.laws.tapering import tapered_rho

COUNTIES = Keys.from_dict({"county": ["Kent", "York"]})
OWN = "0.1"
PUBLIC = Blur("0.1", scale={"county": ["Kent", "York"], "size": [800, 600]})
ROWS = {"county": ["Kent"] * 9 + ["York"] * 40, "emp": [200] * 9 + [100] * 40}
"""Cells of 1,800 and of 4,000; their sums of squares are 360,000 and 400,000."""

BLURS = pytest.mark.parametrize("blur", [OWN, PUBLIC], ids=["own", "public"])


def asked(blur, rho=1):
    """Return a split total and a blurred one by county."""
    query = Query().group_by("county", keys=COUNTIES)
    query = query.sum("emp", split=Split(emp=50), rho=1, name="split")
    return {"all": query.sum("emp", taper=50, blur=blur, rho=rho, name="blurred")}


@pytest.fixture(scope="module")
def source():
    """Return establishments in two counties."""
    with table(pa.table(ROWS), dimensions=["county"], measures=["emp"]) as found:
        yield found


@BLURS
def test_blurred_totals_keep_their_amounts(blur, source):
    """A goal that is about every answer leaves them as they are, and says so."""
    found = tune(asked(blur), source, "50% for 50% of cells", schemes={})
    assert found.untouched == ("all.blurred",)
    assert found.queries[0].query.answers[1] == asked(blur)["all"].answers[1]


@BLURS
def test_a_goal_that_names_a_blurred_total_is_just_reached(blur, source):
    """By the noise of the cells themselves: the amount is the price of what their sizes leave."""
    found = tune(asked(blur), source, ["blurred: 20% for 100% of cells"])
    (tuned,) = found.answers
    assert (tuned.met_before, tuned.met_after) == (1, 1)  # an amount of 1 was more than it takes
    amount = found.queries[0].query.answers[1].measurements[0].methods.amount
    less = tune(asked(blur, amount * Fraction(99, 100)), source, ["blurred: 20% for 100% of cells"])
    assert less.answers[0].met_before < 1  # by one per cent less, Kent misses it
    assert less.queries[0].query.answers[1].measurements[0].methods.amount == amount
    # |noise| < 360 of 1,800 with 95 %: A / 7 is at most (359.5 / t)^2, t = 2.3646.
    most = 7 * Fraction("359.5") ** 2 / Fraction("2.36462") ** 2
    if blur == OWN:  # 7 by^2 Q is 25,200 in Kent, in two digits
        expected = blurred_rho(50, most - 26_000, "0.1")
    else:  # 7 by^2 800^2 is 44,800
        expected = tapered_rho(50, most - 45_000)
    assert float(amount) == pytest.approx(float(expected), rel=1e-3)


@BLURS
def test_what_blurring_alone_misses_is_out_of_reach(blur, source):
    """No amount takes off what the sizes of the cells add; the way out is named."""
    with pytest.raises(InputError, match=r"blurred: no amount reaches.*Blur it by less"):
        tune(asked(blur), source, ["blurred: 5% for 100% of cells"])
