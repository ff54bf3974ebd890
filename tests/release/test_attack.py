"""What somebody who knows every other record could find out (T19): from the noise, per measure."""

import json
import math
import statistics
from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest

from perrecord import (
    DocumentError,
    Keys,
    Policy,
    Query,
    SchemaError,
    SelectKeys,
    Split,
    clamping,
    splitting,
    table,
)
from perrecord.laws.scales import scale_of
from perrecord.mechanisms.run import run
from perrecord.policy.cases import Cases
from perrecord.queries.methods.parts import Parts
from perrecord.queries.plan import plan
from perrecord.release.attack import estimates, recognised, shifted_loss
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from perrecord.release.noise import CellNoise, Noise
from perrecord.release.reading import read_published
from perrecord.release.stated import stated_noise, stated_rows
from tests import first

ROWS = {
    "county": ["a", "a", "b", "b", "b"],
    "sector": ["farm", "mine", "farm", "mine", None],
    "emp": [12, 400, 30, 7, 3],
    "pay": [60, 900, 80, 20, 5],
}
COUNTIES = Keys.from_dict({"county": ["a", "b"]})
FIELDS = (
    Field("county", "text", values=("a", "b")),
    Field("sector", "text"),
    Field("emp", "measure", resolution=Fraction(1)),
    Field("pay", "measure", resolution=Fraction(5)),
)


def source(rows=ROWS):
    """Return the table of some rows."""
    return table(
        pa.table(rows), name="t", dimensions=["county", "sector"], measures={"emp": 1, "pay": 5}
    )


def published(*queries, fields=FIELDS):
    """Return what is published of queries, as a release does it."""
    with source() as found:
        planned = plan(list(queries), found.schema)
    charges = []
    for number, grouping in enumerate(planned.groupings):
        if grouping.selection is not None:
            rows = stated_rows(planned, grouping)
            charges.append(PublishedCharge(f"{number}.keys", "Keys", grouping.selection, rows))
        charges += [
            PublishedCharge(
                f"{number}.{each.answer.name}",
                each.answer.name,
                each.policy,
                stated_noise(planned, grouping, each.answer),
            )
            for each in grouping.answers
        ]
    return PublishedPolicy("T", "t", fields, tuple(charges), planned.policy)


def errors(found, record):
    """Return the standard error of each measure."""
    return {each.measure: each.error for each in estimates(found, record)}


RECORD = {"county": "a", "sector": "mine", "emp": "400", "pay": "900"}
SCHEME = Split(emp=50, pay=250)


def test_each_measure_has_the_error_of_the_totals_about_it():
    """Two totals of emp and an average of pay; counts tell of no measure."""
    query = Query("t").group_by("county", keys=COUNTIES).count(rho="1")
    first = query.sum("emp", split=SCHEME, rho="0.2").average("pay", split=SCHEME, rho="0.4")
    found = published(first, Query("t").sum("emp", split=SCHEME, rho="0.1"))
    # sigma^2: 2500/0.4, 2500/0.2; an average's total has half of its rho
    expected = {"emp": 1 / math.sqrt(0.4 / 2500 + 0.2 / 2500), "pay": 250 / math.sqrt(2 * 0.2)}
    assert errors(found, RECORD) == pytest.approx(expected, rel=1e-9)
    small = errors(found, {**RECORD, "emp": "1", "pay": "5"})
    assert small == pytest.approx(expected, rel=1e-9)  # whatever the loss is
    assert estimates(found, RECORD)[0].relative == pytest.approx(expected["emp"] / 400)
    assert estimates(found, {**RECORD, "emp": "0"})[0].relative is None


def test_an_attacker_attains_it():
    """Four hundred releases: who subtracts the other records errs by the standard error.

    The sample variance of 400 normal estimates leaves 0.7 to 1.35 of the truth, and their mean four
    of its standard errors, with a chance below one in 5,000.
    """
    asked = (
        Query("t")
        .group_by("county", keys=COUNTIES)
        .sum("emp", split=SCHEME, rho="0.5", name="total"),
        Query("t").sum("emp", split=SCHEME, rho="0.3", name="total"),
    )
    with source() as found:
        planned = plan(asked * 20, found.schema)  # twenty releases in one run, each with its noise
        runs = [[each.with_errors(None) for each in run(planned, found)] for _ in range(20)]
    tables = [each.to_pylist() for answers in runs for each in answers]
    told = []
    for by_county, whole in zip(tables[::2], tables[1::2], strict=True):
        seen = [(by_county[0]["total"] - 12, by_county[0]["total_se"])]
        seen += [(whole[0]["total"] - 52, whole[0]["total_se"])]
        weights = [1 / error**2 for _, error in seen]
        told.append(sum(w * v for w, (v, _) in zip(weights, seen, strict=True)) / sum(weights))
    assert len(told) == 400
    released = published(*asked)
    error = errors(released, RECORD)["emp"]
    assert 0.7 < statistics.variance(told) / error**2 < 1.35
    assert abs(statistics.mean(told) - 400) < 4 * error / 20


@pytest.mark.parametrize("law", ["gaussian", "laplace", "student3", "student7"])
def test_one_number_tells_as_closely_as_its_noise_is_wide(law):
    """Whatever its law: no estimate that moves with the number errs by less; several add up."""
    cell = CellNoise(law, Fraction(2500), Fraction(1))
    told = Noise("values", "emp", cell)
    policy = Policy.split("0.1", Split(emp=50))
    for numbers in (1, 4):
        charge = PublishedCharge("a", "A", policy, numbers * (told,))
        found = PublishedPolicy("T", "t", FIELDS, (charge,), policy)
        assert errors(found, RECORD)["emp"] == pytest.approx(
            float(scale_of(law, cell.spread, cell.step).law(cell.step).variance().upper) ** 0.5
            / numbers**0.5,
            rel=1e-9,
        )


def test_the_cell_the_part_and_the_filter_decide():
    """Noise by sector where the key fixes it, the largest where it does not; no entry, no error."""
    by_sector = Split.by("sector", {"farm": Split(emp=5)}, Split(emp=50))
    sectors = Keys.from_dict({"sector": ["farm", "mine"]})
    apart = published(
        Query("t").group_by("sector", keys=sectors).sum("emp", split=by_sector, rho="0.5")
    )
    together = published(Query("t").sum("emp", split=by_sector, rho="0.5"))
    farm = {**RECORD, "sector": "farm"}
    assert errors(apart, RECORD)["emp"] == errors(together, RECORD)["emp"] == 50
    assert (errors(apart, farm)["emp"], errors(together, farm)["emp"]) == (
        pytest.approx(5, rel=1e-9),
        50,
    )
    some = Query("t").where("sector = 'mine'").sum("emp", split=SCHEME, rho="0.5")
    assert errors(published(some), RECORD)["emp"] == 50
    assert errors(published(some), farm) == {"emp": None, "pay": None}
    hidden = published(Query("t").where("emp > 3").sum("emp", split=SCHEME, rho="0.5"))
    assert [each.is_least for each in estimates(hidden, RECORD)] == [True, False]


def test_a_clamped_total_tells_only_of_values_within_its_bounds():
    """Beyond them it tells of the bound; a centred average likewise."""
    for query in (
        Query("t").sum("emp", clamp=(0, 100), rho="0.5"),
        Query("t").average("emp", clamp=(0, 100), rho="1"),
    ):
        found = published(query)
        within, beyond = ({**RECORD, "emp": size} for size in ("100", "101"))
        assert errors(found, within)["emp"] is not None
        (told, _) = estimates(found, beyond)
        assert (told.error, told.is_cut) == (None, True)
    parts = Parts(
        "sector",
        {"farm": splitting(Split(emp=50), rho="0.5"), ...: clamping(0, 100, rho="0.5")},
    )
    mixed = published(Query("t").sum("emp", parts=parts))
    assert errors(mixed, RECORD)["emp"] is None  # a mine of 400 is cut to 100
    assert errors(mixed, {**RECORD, "sector": "farm"})["emp"] == 100  # the cell's largest


def test_published_rows_tell_of_the_measure_that_decides_the_pieces():
    """The sd is about T/sqrt(2 rho); one piece tells nothing, and unpublished rows neither."""
    found = {
        rows_as: published(
            Query("t")
            .group_by(
                "county", keys=SelectKeys(rho="0.5", threshold=3, split=SCHEME, rows_as=rows_as)
            )
            .count(rho="1")
        )
        for rows_as in ("rows", None)
    }
    # emp makes 8 pieces, pay 4
    assert errors(found["rows"], RECORD) == {"emp": pytest.approx(50, rel=0.15), "pay": None}
    assert errors(found["rows"], {**RECORD, "emp": "50", "pay": "250"}) == {
        "emp": None,
        "pay": None,
    }
    assert errors(found[None], RECORD) == {"emp": None, "pay": None}


@pytest.mark.parametrize("count", first(1, [24, 60]))
def test_what_a_record_really_loses_never_exceeds_its_policy(count):
    """Random records and prices: the shift's loss, where it can be said, is at most P(r)."""
    random, said = Random(5), 0
    for _ in range(count):
        rho = [Fraction(random.randrange(1, 60), 10000) for _ in range(4)]
        query = (
            Query("t").group_by("county", keys=COUNTIES).count(rho=min(rho[0], Fraction(1, 200)))
        )
        query = query.sum(
            "emp", split=SCHEME, rho=rho[1], accounting=random.choice(["split", "exact"])
        )
        query = query.average("pay", clamp=(0, 500), rho=min(rho[2], Fraction(1, 100)))
        found = published(
            query, Query("t").where("sector = 'mine'").sum("pay", split=SCHEME, rho=rho[3])
        )
        record = {
            "county": "a",
            "sector": random.choice(["mine", "farm", None]),
            "emp": str(random.randrange(0, 900)),
            "pay": random.choice([None, str(5 * random.randrange(200))]),
        }
        loss = shifted_loss(found, record)
        assert loss is not None
        assert 0 < loss <= found.loss(record)
        said += loss < found.loss(record)
        assert 0.05 < recognised(found, record) <= 1
    assert said > count * 2 / 3


@pytest.mark.parametrize(
    "query",
    [
        Query("t").count(rho="0.1"),  # sigma 2.2 steps
        Query("t").count(rho="0.001").median("emp", candidates=[1, 50], rho="0.1"),
        Query("t").where("emp > 3").sum("emp", split=SCHEME, rho="0.1"),
        Query("t").count_distinct("sector", rho="0.001"),
        Query("t").sum("emp", split=SCHEME, epsilon="0.1"),
        Query("t")
        .group_by("county", keys=SelectKeys(rho="0.001", threshold=300))
        .count(rho="0.001"),
    ],
    ids=["small sigma", "quantile", "hidden filter", "distinct", "Laplace", "selection"],
)
def test_about_is_said_only_where_the_law_allows_it(query):
    """Small or other noise, choices, and records that may not be in it: only "at most" is said."""
    assert shifted_loss(published(query), RECORD) is None


def test_noise_that_is_not_stated_says_nothing():
    """A charge without noise, or a reserve for further answers."""
    policy = Policy.split("0.1", Split(emp=50))
    noise = (Noise("values", "emp", CellNoise("gaussian", Fraction(12500), Fraction(1))),)
    for charges, total in (
        ((PublishedCharge("a", "A", policy),), policy),
        ((PublishedCharge("a", "A", policy, noise),), 2 * policy),
    ):
        found = PublishedPolicy("T", "t", FIELDS, charges, total)
        assert estimates(found, RECORD) == ()
        assert recognised(found, RECORD) is None


# -- the document --------------------------------------------------------------------------------


def test_noise_round_trips_through_the_document():
    """Parts, filters, bounds and laws, read back as they were."""
    by_sector = Split.by("sector", {"farm": Split(emp=5)}, Split(emp=50))
    sectors = Keys.from_dict({"sector": ["farm", "mine"]})
    found = published(
        Query("t")
        .where("county IN ('a', 'b')")
        .group_by("sector", keys=sectors)
        .sum("emp", split=by_sector, rho="0.5")
        .average("pay", clamp=(-5, 100), rho="1/3"),
        Query("t").median("emp", candidates=[1, 5], rho="0.1"),
    )
    again = read_published(found.to_json())
    assert again == found
    assert again.to_json() == found.to_json()
    assert estimates(again, RECORD) == estimates(found, RECORD)


@pytest.mark.parametrize(
    "change",
    [
        lambda noise: noise.update(moved="cells"),
        lambda noise: noise.update(measure=None),
        lambda noise: noise.update(measure="county"),
        lambda noise: noise.update(measure="rent"),
        lambda noise: noise.update(certain="yes"),
        lambda noise: noise.update(cells=None),
        lambda noise: noise["cells"].update(variance="1"),
        lambda noise: noise["cells"].update(spread="0"),
        lambda noise: noise["cells"].update(law="normal"),
        lambda noise: noise["cells"].update(bounds=["5", "5"]),
        lambda noise: noise["cells"].update(bounds=["5"]),
        lambda noise: noise.update(
            cells={"dimensions": ["emp"], "cases": [], "default": noise["cells"]}
        ),
        lambda noise: noise.pop("centred"),
    ],
)
def test_spoilt_noise_is_refused(change):
    """Whatever is wrong, the document says where."""
    document = json.loads(published(Query("t").sum("emp", split=SCHEME, rho="0.5")).to_json())
    change(document["charges"][0]["noise"][0])
    with pytest.raises(DocumentError):
        read_published(json.dumps(document))


def test_noise_of_no_field_is_refused():
    """A page could not look it up."""
    cell = CellNoise("gaussian", Fraction(1), Fraction(1))
    noise = Noise("records", None, Cases.of("industry", {"farm": cell}, None))
    charge = PublishedCharge("a", "A", Policy.constant(1), (noise,))
    with pytest.raises(SchemaError, match="'industry', which is not a field that is a dimension"):
        PublishedPolicy("T", "t", FIELDS, (charge,), Policy.constant(1))
