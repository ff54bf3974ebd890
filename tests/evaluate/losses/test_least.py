"""The least possible losses of a table's records and units, beside what they lose (T30)."""

import pyarrow as pa
import pytest

from perrecord import Blur, Keys, Query, Split
from perrecord.evaluate.losses.least import least_loss, least_losses, unbiased_outputs
from perrecord.evaluate.losses.realised import losses
from perrecord.lab.audit.shown.by_hand import least_loss as by_hand
from perrecord.laws import DiscreteGaussian, DiscreteStudent
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.methods.parts import Parts, clamping, splitting, tapering
from perrecord.queries.methods.tapering import Taper
from perrecord.queries.plan import plan
from perrecord.tables.table import table

ROWS = pa.table(
    {
        "firm": [1, 1, 2, 2, 3],
        "k": ["a", "a", "b", "c", "lost"],
        "emp": [40, 2_000, 30, None, 500],
    }
)
KEYS = Keys.from_dict({"k": ["a", "b", "c"]})


def opened():
    """Return five establishments of three firms, one of them outside the keys."""
    return table(ROWS, unit="firm", dimensions=["k"], measures=["emp"])


def variance(law):
    """Return the variance of a law."""
    return float(law.variance().upper)


def test_of_several_answers_the_largest_counts():
    """A record moves a count by 1 and totals by its value; NULL moves the count alone."""
    asked = (
        Query()
        .group_by("k", keys=KEYS)
        .count(rho="0.01")
        .sum("emp", taper=50, rho="0.2")
        .sum("emp", split=Split(emp=50), rho="0.1", name="again")
    )
    with opened() as source:
        planned = plan(asked, source.schema)
        found, lost = least_losses(planned, source), losses(planned, source)
        outputs = unbiased_outputs(planned)
        single = [float(least_loss(outputs, row)) for row in ROWS.to_pylist()]
    tapered = variance(DiscreteStudent.for_rho("0.2", at=50))
    count, split = variance(DiscreteGaussian(50)), variance(DiscreteGaussian(12_500))
    most = {
        x: max(by_hand(1, count), by_hand(x, tapered), by_hand(x, split))
        for x in (40, 2_000, 30, 0)
    }
    expected = sorted([most[40], most[2_000], most[30], most[0], 0.0])
    assert most[30] == by_hand(30, tapered)
    assert sorted(single) == pytest.approx(expected, rel=1e-9)
    assert list(found.values) == pytest.approx(expected, rel=1e-9)
    assert lost.least.values == found.values
    assert all(a <= b for a, b in zip(lost.least.values, lost.realised.values, strict=True))
    # The firm of both records in one cell moves its total by 2,040.
    assert lost.units.least.largest == pytest.approx(by_hand(2_040, tapered), rel=1e-9)
    assert lost.units.least.largest > found.largest


def test_noise_that_differs_by_part_is_that_of_the_record():
    """Each cell has its own law and variance."""
    parts = Parts("k", {"a": tapering(Taper(emp=50, nu=3), rho="0.5"),
                        ...: splitting(Split(emp=9), rho="0.5")})  # fmt: skip
    asked = Query().group_by("k", keys=KEYS).sum("emp", parts=parts)
    with opened() as source:
        planned = plan(asked, source.schema)
        found, outputs = least_losses(planned, source), unbiased_outputs(planned)
        single = [float(least_loss(outputs, row)) for row in ROWS.to_pylist()]
    wide = variance(DiscreteStudent.for_rho("0.5", at=50, nu=3))
    narrow = variance(DiscreteGaussian(81))
    expected = [by_hand(40, wide), by_hand(2_000, wide), by_hand(30, narrow), 0, 0]
    assert single == pytest.approx(expected, rel=1e-9)
    assert list(found.values) == pytest.approx(sorted(set(expected)), rel=1e-9)


@pytest.mark.parametrize(
    "asked",
    [
        Query().sum("emp", clamp=(0, 100), rho=1),
        Query().sum("emp", parts=Parts("k", {"a": clamping(0, 9, rho=1),
                                             ...: splitting(Split(emp=9), rho=1)})),
        Query().count_distinct("k", rho=1),
        Query().median("emp", candidates=[1, 2, 3], rho=1),
        Query().group_by("k", keys=SelectKeys(rho=1, threshold=9)).count(rho=1),
    ],
    ids=["clamped", "a part clamped", "different values", "quantiles", "selected keys"],
)  # fmt: skip
def test_nothing_is_said_of_what_is_biased_or_selected(asked):
    """Whatever is no unbiased count or total of a cell that is always published."""
    with opened() as source:
        planned = plan(asked, source.schema)
        assert least_losses(planned, source).largest == 0


@pytest.mark.parametrize(
    "blur",
    [Blur("0.1"), Blur("0.1", scale={"k": ["a", "b"], "size": [1_000, 10**6]})],
    ids=["by its records", "by public sizes"],
)
def test_nothing_is_said_of_blurred_totals(blur):
    """Their variance is another in each cell: neither of records of a table nor of any other."""
    asked = Query().group_by("k", keys=KEYS).sum("emp", taper=50, blur=blur, rho="0.2")
    counted = asked.count(rho="0.01")
    with opened() as source:
        for query, most in ((asked, 0.0), (counted, by_hand(1, variance(DiscreteGaussian(50))))):
            planned = plan(query, source.schema)
            outputs = unbiased_outputs(planned)
            single = [float(least_loss(outputs, row)) for row in ROWS.to_pylist()]
            assert max(single) == pytest.approx(most, rel=1e-9)
            assert least_losses(planned, source).largest == pytest.approx(most, rel=1e-9)


def test_a_missing_key_that_is_published_is_a_key():
    """A record without a dimension has the cell of those without it, if there is one."""
    rows = pa.table({"k": ["a", None], "emp": [40, 30]})
    for values, cells in ((["a", None], 2), (["a"], 1)):
        keys = Keys.from_dict({"k": values})
        asked = Query().group_by("k", keys=keys).sum("emp", taper=50, rho="0.2")
        with table(rows, dimensions=["k"], measures=["emp"]) as source:
            planned = plan(asked, source.schema)
            found, outputs = least_losses(planned, source), unbiased_outputs(planned)
            single = [float(least_loss(outputs, row)) for row in rows.to_pylist()]
        assert sorted(single) == pytest.approx(list(found.values), rel=1e-9)
        assert sum(each > 0 for each in single) == cells


def test_there_is_none_under_pure_epsilon():
    """T30 is about zCDP."""
    with opened() as source:
        planned = plan(Query().sum("emp", taper=50, epsilon=1), source.schema)
        assert least_losses(planned, source) is None
        assert losses(planned, source).least is None
