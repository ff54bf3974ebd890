"""The published policies that the page is tested on: plain, piecewise, with keys, pure epsilon."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord import (
    Currency,
    Keys,
    Measure,
    Parts,
    Policy,
    Query,
    SelectKeys,
    Split,
    Taper,
    Weight,
    Weighting,
    clamping,
    splitting,
    table,
    tapering,
)
from perrecord.lab.synth.industries import industry_codes
from perrecord.policy.outputs import NoisyNumber
from perrecord.policy.scopes import Scope
from perrecord.queries.plan import plan
from perrecord.release.contents import published_policy
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from perrecord.release.noise import CellNoise, Noise
from perrecord.release.outputs import outputs_of_answer, outputs_of_keys
from perrecord.release.series import EarlierCharges, PublishedSeries
from perrecord.release.spec import build, load_spec, open_table
from perrecord.release.stated import stated_noise, stated_rows

INDUSTRIES = tuple(sorted({code[:3] for code in industry_codes()}))
REGIONS = ("North", "East", "South", "West")


def employees(resolution=1, **more):
    """Return the field of a count of people."""
    return Field(
        "employees", "measure", "Employees", "people", resolution=Fraction(resolution), **more
    )


def payroll(resolution=1000, **more):
    """Return the field of a sum of money."""
    return Field(
        "payroll", "measure", "Annual payroll", "dollars", resolution=Fraction(resolution), **more
    )


def published(title, fields, charges, **more):
    """Return a release whose total is the sum of its charges."""
    every = tuple(
        PublishedCharge(name, name.capitalize(), policy) for name, policy in charges.items()
    )
    total = Policy.total(charges.values())
    return PublishedPolicy(title, "establishments", fields, every, total, **more)


@cache  # values: each is made once
def plain():
    """Return constants, two schemes, one of them capped, and exact terms on odd thresholds."""
    scheme = Split(employees=50, payroll="5000000")
    return published(
        "Establishments, employment and payroll by county",
        (employees("0.1"), payroll(), Field("county", "text", "County")),
        {
            "number of establishments": Policy.constant("0.1"),
            "employment": Policy.split("0.1", scheme),
            "payroll": Policy.exact("1/7", measure="payroll", threshold="1234567.5"),
            "sample of records": Policy.split("0.01", Split(employees="16.7").capped(1000)),
        },
        budget=Policy.constant("0.1")
        + Policy.split(1, scheme)
        + Policy.exact("1/7", measure="payroll", threshold="1234567.5")
        + Policy.split("0.01", Split(employees="16.7").capped(1000)),
        notes=("Counts are exact to a tenth of a person.", "Thresholds were set in March."),
    )


@cache
def piecewise():
    """Return thresholds by industry and region, nested cases and the largest of several."""
    by_industry = {
        code: Split(employees=10 + index, payroll=100_000 * (1 + index % 7))
        for index, code in enumerate(INDUSTRIES)
    }
    nested = Split.by(
        "public",
        {True: Split(employees=500)},
        Split.by("industry", by_industry, Split(employees=25, payroll=250_000)),
    )
    rates = {
        (code, size): Policy.split(Fraction(1, 3 + index), nested)
        + Policy.constant(Fraction(size, 100))
        for index, code in enumerate(INDUSTRIES[:40])
        for size in (1, 2**53 + 1)
    }
    return published(
        "Employment by industry and class",
        (
            Field("industry", "text", "Industry", values=INDUSTRIES),
            Field("class", "integer", "Class", values=(1, 2, 3, 2**53, 2**53 + 1)),
            Field("public", "truth", "Publicly owned"),
            employees(largest=10**17, outside="cut"),
            payroll(),
        ),
        {
            "employment": Policy.split("0.25", nested),
            "by class": Policy.by(("industry", "class"), rates, Policy.constant("0.02")),
            "payroll or employment": Policy.largest(
                Policy.split("0.1", Split(employees=40)),
                Policy.exact("0.3", measure="payroll", threshold=333_333) + Policy.constant("0.05"),
                Policy.by("public", {True: Policy.constant(2)}, Policy.constant("0.5")),
            ),
        },
    )


@cache
def selecting():
    """Return key selections: one for all, and one in some regions alone."""
    scheme = Split(employees=50)
    local = Policy.selection("0.05", ["industry"], split=scheme, threshold=30)
    return published(
        "Employment in the industries of each region",
        (
            Field("region", "text", "Region", values=REGIONS),
            employees(),
            Field("industry", "text", "Industry", values=INDUSTRIES),
        ),
        {
            "industries that occur": Policy.selection(
                "0.1", ["industry", "region"], split=scheme, delta="1e-6"
            ),
            "local industries": Policy.by(
                "region",
                {"North": local, "East": local + Policy.slot("0.5", ["industry"], threshold=9)},
                Policy.zero(),
            ),
            "employment": Policy.exact("0.2", measure="employees", threshold=50),
        },
        notes=("Industries are shown where enough pieces are found.",),
    )


@cache
def pure_epsilon():
    """Return a release in pure epsilon."""
    return published(
        "Cattle by county",
        (
            Field("cattle", "measure", "Cattle", "head", resolution=Fraction(1, 4)),
            Field("organic", "truth", "Organic farm"),
        ),
        {
            "farms": Policy.constant(epsilon="0.1"),
            "cattle": Policy.exact(epsilon="0.5", measure="cattle", threshold=250),
            "organic farms": Policy.by(
                "organic",
                {True: Policy.split(epsilon="0.2", split=Split(cattle=75))},
                Policy.constant(epsilon=0),
            ),
        },
    )


SECTORS = ("farm", "mine", "shop")


@cache
def noisy(*, is_wide=False):
    """Return a release with its noise: parts, filters, bounds, averages, quantiles.

    With `is_wide` every answer is a count or a total with Gaussian noise of at least ten steps.
    """
    rows = pa.table({"sector": ["farm"], "head": ["x"], "emp": [1], "pay": [5], "rent": [1]})
    sectors = Keys.from_dict({"sector": SECTORS})
    scheme = Split(emp=50, pay=250)
    by_sector = Split.by("sector", {"farm": Split(emp=20, pay=100)}, scheme)
    query = (
        Query("t")
        .group_by("sector", keys=sectors)
        .count(rho="0.004")
        .sum("emp", split=by_sector, rho="0.02", accounting="exact")
        .average("pay", clamp=(-10, 500), rho="0.008")
    )
    whole = Query("t").where("sector IN ('farm', 'mine')").count("emp", rho="0.001")
    whole = whole.sum("pay", split=by_sector, rho="0.01")
    others = Query("t").where("pay > 100").sum("emp", split=scheme, rho="0.3", name="hidden")
    others = others.median("emp", candidates=[1, 5, 50], rho="0.1").count(rho="0.2")
    parts = Parts(
        "head", {"x": splitting(Split(rent=40), rho="0.2"), ...: clamping(0, 500, rho="0.1")}
    )
    fields = (
        Field("sector", "text", "Sector", values=SECTORS),
        Field("head", "text", "Kind of firm", values=("x", "y", None)),
        Field("emp", "measure", "Employees", "people", resolution=Fraction(1)),
        Field("pay", "measure", "Annual payroll", "$", resolution=Fraction(5)),
        Field("rent", "measure", "Rent", resolution=Fraction(1), largest=10**6),
    )
    queries = [query, whole]
    if not is_wide:
        queries += [others, Query("t").sum("rent", parts=parts)]
    with table(
        rows, name="t", dimensions=["sector", "head"], measures={"emp": 1, "pay": 5, "rent": 1}
    ) as found:
        planned = plan(queries, found.schema)
    return PublishedPolicy("Payroll by sector", "t", fields, charges_of(planned), planned.policy)


@cache
def tapered(currency="rho"):
    """Return a release with Student noise: totals, an average, parts, both nu; a count beside."""
    rows = pa.table({"sector": ["farm"], "emp": [1], "pay": [5]})
    sectors = Keys.from_dict({"sector": SECTORS})
    of_parts = {
        "farm": tapering(Taper(pay=500), **{currency: 2}),
        ...: tapering(Taper(pay=90), **{currency: "0.1"}),
    }
    query = (
        Query("t")
        .group_by("sector", keys=sectors)
        .count(**{currency: "0.01"})
        .sum("emp", taper=50, **{currency: "0.2"})
        .sum("emp", taper=Taper(emp=50, nu=3), **{currency: "0.2"}, name="again")
        .average("pay", taper=1000, **{currency: "0.1"})
        .sum("pay", parts=Parts("sector", of_parts))
    )
    whole = Query("t").sum("emp", taper=50, **{currency: "0.2"})
    fields = (
        Field("sector", "text", "Sector", values=SECTORS),
        Field("emp", "measure", "Employees", "people", resolution=Fraction(1)),
        Field("pay", "measure", "Annual payroll", "$", resolution=Fraction(5)),
    )
    with table(rows, name="t", dimensions=["sector"], measures={"emp": 1, "pay": 5}) as found:
        planned = plan([query, whole], found.schema)
    return PublishedPolicy("Jobs and pay", "t", fields, charges_of(planned), planned.policy)


@cache
def changing(currency="rho"):
    """Return a release with every kind of output that a change of a record may cost.

    Quantiles, distinct values, selections of keys, filters that dimensions show and others that
    they do not, cells that go by a measure.
    """
    rows = pa.table({"sector": ["farm"], "head": ["x"], "emp": [1], "pay": [5]})
    sectors = Keys.from_dict({"sector": SECTORS})
    sizes = Keys.from_dict({"emp": [1, 2, 3]})
    scheme = Split(emp=50, pay=250)

    def cost(amount):
        return {currency: amount}

    def chosen(query):
        return (
            query.median("emp", candidates=[1, 5, 50, 51, 52, 400, 4000], **cost("0.1"))
            .quantile("pay", "0.9", candidates=range(0, 100_000, 100), **cost("0.02"))
            .median("emp", candidates=[70], name="one", **cost("0.01"))
            .count_distinct("head", **cost("0.3"))
            .count("emp", **cost("0.04"))
            .sum("pay", clamp=(-20, 5000), **cost("0.2"))
        )

    queries = [
        chosen(Query("t").group_by("sector", keys=sectors)),
        chosen(Query("t").where("pay > 100")),
        chosen(Query("t").where("sector IN ('farm', 'mine')")),
        chosen(Query("t").group_by("emp", keys=sizes)),
    ]
    if currency == "rho":
        select = SelectKeys(rho="0.5", threshold=9, split=scheme, rows_as="rows")
        for query in (Query("t"), Query("t").where("pay > 100"), Query("t").where("head = 'x'")):
            queries.append(query.group_by("sector", keys=select).count(rho="0.4"))
    fields = (
        Field("sector", "text", "Sector", values=SECTORS),
        Field("head", "text", "Kind of firm", values=("x", "y", None)),
        Field("emp", "measure", "Employees", "people", resolution=Fraction(1)),
        Field("pay", "measure", "Annual payroll", "$", resolution=Fraction(5), largest=10**6),
    )
    with table(
        rows, name="t", dimensions=["sector", "head"], measures={"emp": 1, "pay": 5}
    ) as found:
        planned = plan(queries, found.schema)
    return PublishedPolicy("Every output", "t", fields, charges_of(planned), planned.policy)


@cache
def weighted(currency="rho"):
    """Return a release of derived and weighted measures, and of what they are computed from."""
    rows = pa.table({"sector": ["farm"], "hours": [1.5], "wage": [2.0], "w": [1.25]})
    measures = {
        "hours": Measure("0.25", largest=1000),
        "wage": Measure("0.05", largest=10_000, outside="cut"),
        "pay": Measure("0.1", expression="hours * wage - 5", largest=50_000, outside="cut"),
    }
    amount = {currency: "0.1"}
    sectors = Keys.from_dict({"sector": SECTORS})
    asked = (
        Query("t")
        .group_by("sector", keys=sectors)
        .sum("w", clamp=(0, 30), **amount)
        .sum("weighted_pay", taper=500, **amount)
        .sum("pay", split=Split(pay=500), **amount)
        .sum("weighted_wage", split=Split(weighted_wage=30), accounting="exact", **amount)
        .median("pay", candidates=[0, 10, 100, 1000], **amount)
        .quantile(
            "hours", "0.75", candidates=[0, 10, 20, 40], weight=Weighting("w", at=5), **amount
        )
        .median(
            "wage", candidates=[0, 5, 10], weight=Weighting("pay", at="0.7"), name="mid", **amount
        )
    )
    weight = Weight("w", "0.01", largest=60)
    with table(rows, name="t", dimensions=["sector"], measures=measures, weight=weight) as found:
        planned = plan(asked, found.schema)
    fields = [Field("sector", "text", "Sector", values=SECTORS)]
    for name, each in planned.schema.measures:
        fields.append(
            Field(
                name, "measure", resolution=each.resolution, largest=each.largest,
                outside=each.outside, expression=str(each.expression or ""),
                computed=each.expression,
            )
        )  # fmt: skip
    return PublishedPolicy(
        "Weighted", "t", tuple(fields), charges_of(planned), planned.policy, unit_column="firm"
    )


def charges_of(planned):
    """Return every answer and selection of a plan with its price, its noise and its outputs."""
    found = []
    for number, grouping in enumerate(planned.groupings):
        if grouping.selection is not None:
            told = stated_rows(planned, grouping), outputs_of_keys(planned, grouping)
            found.append(PublishedCharge(f"{number}.keys", "Keys", grouping.selection, *told))
        found += [
            PublishedCharge(
                f"{number}.{each.answer.name}",
                f"Table {number}: {each.answer.name}",
                each.policy,
                stated_noise(planned, grouping, each.answer),
                outputs_of_answer(planned, grouping, each.answer),
            )
            for each in grouping.answers
        ]
    return tuple(found)


@cache
def published_rows():
    """Return a selection of keys whose counts of split rows are published."""
    keys = ["region"]
    selection = Policy.selection("0.02", keys, split=Split(employees=50, payroll=900), threshold=40)
    rows = (Noise("pieces", None, CellNoise("gaussian", Fraction(25), Fraction(1))),)
    total = Policy.exact("0.2", measure="employees", threshold=50)
    noise = (Noise("values", "employees", CellNoise("gaussian", Fraction(6250), Fraction(1))),)
    charges = (
        PublishedCharge("t.keys", "Keys", selection, rows),
        PublishedCharge("t.emp", "Jobs", total, noise),
    )
    fields = (Field("region", "text", "Region"), employees(), payroll(1))
    return PublishedPolicy("Regions that occur", "t", fields, charges, selection + total)


@cache
def blurred(currency=Currency.RHO):
    """Return totals whose noise grows with the records of their cell, of both nu, one by filter."""
    form = {"rho": None, "epsilon": None, currency.value: "0.2"}
    charges, total = [], Policy.zero(currency)
    kinds = (("0.1", 7, True), ("0.2", 3, True), ("0.05", 7, False))
    for place, (by, nu, certain) in enumerate(kinds):
        policy = Policy.blurred(measure="employees", at=50, by=by, nu=nu, **form)
        (term,) = policy.form.terms
        cell = CellNoise(f"student{nu}", term.growth.spread, Fraction(1), by=term.growth.by)
        noise = Noise("values", "employees", cell, is_certain=certain)
        output = NoisyNumber(noise, Scope(("region",), is_certain=True), currency)
        charges.append(PublishedCharge(f"t.{place}", "Jobs", policy, (noise,), outputs=(output,)))
        total += policy
    fields = (Field("region", "text", "Region"), employees())
    return PublishedPolicy("Blurred jobs", "t", fields, tuple(charges), total)


@cache
def series():
    """Return a release of the third of five years, with what was charged in each so far."""
    plain_years, scheme = plain(), Split(employees="33.5")
    earlier = (
        EarlierCharges("2024", ("Establishments, 2024",), plain_years.total),
        EarlierCharges("2025", ("Establishments", "A sample"), Policy.split("0.5", scheme)),
        EarlierCharges("2026", ("A sample",), Policy.constant("1/3")),
    )
    years = tuple(map(str, range(2024, 2029)))
    unread = (("2025", "By region"),)
    limit = plain_years.budget * 5
    found = PublishedSeries("2026", years, earlier, unread, limit, "late returns")
    return replace(plain_years, series=found)


LINKED = """
title: Changes of employment by county, 2027
source: {path: this.parquet, last: last.parquet}
id: id
unit: firm
dimensions:
  county: {values: [Kent, York]}
  change_kind: {values: [entry, exit, continuing, moved in, moved out]}
measures:
  emp_change: {column: emp, label: Change of employees}
  net: {column: record_count, label: Net change in establishments}
keys:
  counties: {values: {county: [Kent, York]}}
  kinds: {values: {change_kind: [entry, exit]}}
budget: {rho: 9, tapers: [{measure: emp_change, at: 5, rho: 0.2, times: 4}]}
queries:
  - name: counties
    group_by: county
    keys: counties
    answers:
      employment: {sum: emp_change, taper: 5, rho: 0.2}
      establishments: {sum: net, clamp: [-1, 1], rho: 0.1}
      middle: {median: emp_change, candidates: [-50, -5, 0, 5, 50], rho: 0.1}
  - name: kinds
    group_by: change_kind
    keys: kinds
    answers: {n: {count: records, rho: 0.1}, employment: {sum: emp_change, taper: 5, rho: 0.2}}
  - {name: risen, where: emp_change > 0, answers: {n: {count: records, rho: 0.1}}}
"""


@cache
def linked():
    """Return a release of changes between two periods, as a spec makes it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows = pa.table({"id": [1], "firm": [1], "county": ["Kent"], "emp": [3]})
        for file in ("this.parquet", "last.parquet"):
            pq.write_table(rows, folder / file)
        (folder / "changes.yaml").write_text(LINKED)
        loaded = load_spec(folder / "changes.yaml")
        with open_table(loaded) as opened:
            return published_policy(build(loaded, opened.schema))


EVERY = {
    "noisy": noisy,
    "wide noise": lambda: noisy(is_wide=True),
    "published rows": published_rows,
    "plain": plain,
    "series": series,
    "piecewise": piecewise,
    "selecting": selecting,
    "pure epsilon": pure_epsilon,
    "changing": changing,
    "changing, pure epsilon": lambda: changing("epsilon"),
    "tapered": tapered,
    "tapered, pure epsilon": lambda: tapered("epsilon"),
    "blurred": blurred,
    "blurred, pure epsilon": lambda: blurred(Currency.EPSILON),
    "weighted": weighted,
    "weighted, pure epsilon": lambda: weighted("epsilon"),
    "linked": linked,
}

HOSTILE = (
    '</script><script>window.harmed="script"</script>',
    "<img src=x onerror=window.harmed='image'>",
    "\"' onfocus=window.harmed=1 autofocus x='",
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202etfel ot thgir\u202c \u200f",
    "__proto__",
    "constructor",
    "W" * 600,
    "\ud800 half a pair",
)


def hostile():
    """Return a policy whose every name and value tries to break out."""
    measure, *names = HOSTILE
    fields = (
        Field(measure, "measure", measure, "<b>" + measure, resolution=Fraction(1)),
        Field("__proto__", "measure", resolution=Fraction(1)),
        *(
            Field(f"{name}!", "text", name, values=HOSTILE, expression=" ".join(HOSTILE))
            for name in names[:2]
        ),
    )
    scheme = Split({measure: 5, "__proto__": 7})
    policy = Policy.split("0.1", scheme)
    for place, field in enumerate(fields[2:], 2):
        cases = {value: Policy.constant(Fraction(i, place)) for i, value in enumerate(HOSTILE, 1)}
        policy += Policy.by(field.name, cases, Policy.zero())
    selection = Policy.selection("0.2", [names[0], measure], split=scheme, threshold=6)
    charges = (
        PublishedCharge(measure, names[0], policy),
        PublishedCharge(names[0], names[7], selection),
    )
    total = policy + selection
    record = {field.name: HOSTILE[0] for field in fields[2:]}
    record = {measure: Fraction(5), "__proto__": Fraction(8)} | record
    examples = tuple((name, record) for name in HOSTILE)
    return PublishedPolicy(names[0], measure, fields, charges, total, None, HOSTILE, examples)
