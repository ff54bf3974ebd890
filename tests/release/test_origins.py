"""What follows from a measure, however it does: no stated cost of a greater value is too low."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from perrecord import Lookup, table
from perrecord.errors import MissingFieldError, SchemaError
from perrecord.evaluate.losses.record_sizes import changes_by_size, losses_by_size
from perrecord.policy.changes import change_loss
from perrecord.release.contents import published_policy
from perrecord.release.fields import Field, change_of
from perrecord.release.origins import Origins
from perrecord.release.outputs import outputs_of
from perrecord.release.page_data import deciding
from perrecord.release.reading import read_published
from perrecord.release.spec import build, load_spec, open_table
from perrecord.tables.expressions import Column, describe

SIZES = range(1, 130)
HEAD = """\
title: Sizes
source: est.csv
table: est
budget: {rho: 100}
ledger: est.ledger
"""


def class_of(size):
    """Return the size class that the public list gives."""
    return "S" if size < 10 else "M" if size < 104 else "L"


@dataclass(frozen=True)
class World:
    """A spec, the measure that becomes greater, and a record of the table for each value of it."""

    spec: str
    measure: str
    records: tuple[dict[str, Any], ...]
    decided: tuple[str, ...]
    """The fields that may be others where it is another, and that something depends on."""
    is_said: bool = True
    """Whether what a greater value costs is known."""


def counts(**answers):
    """Return queries, one for each dimension, that count records, and their keys."""
    keys = "".join(
        f"  {name}: {{values: {{{name}: {values}}}}}\n" for name, values in answers.items()
    )
    queries = "".join(
        f"  - {{name: by_{name}, title: T, group_by: [{name}], keys: {name}, "
        "answers: {n: {count: records, rho: 1}}}\n"
        for name in answers
    )
    return f"keys:\n{keys}queries:\n{queries}"


CLASSES = ("S", "M", "L")
CLASSED = (
    HEAD
    + "lookups:\n  - {source: classes.csv, on: {emp: size}}\ndimensions: {class: class}\n"
    + "measures: {emp: 1}\nkeys:\n  k: {values: {class: [S, M, L]}}\nqueries:\n"
)
CLASSED_ROWS = tuple({"emp": size, "class": class_of(size)} for size in SIZES)
WORLDS = {
    "a public list says which class a size is": World(
        HEAD
        + "lookups:\n  - {source: classes.csv, on: {emp: size}}\n"
        + "  - {source: wide.csv, on: {class: of}}\n"
        + "dimensions: {class: class, marked: \"class || 'x'\", wide: wide}\nmeasures: {emp: 1}\n"
        + counts(class_=[*CLASSES], marked=["Sx", "Mx", "Lx"], wide=["few", "many"]).replace(
            "class_", "class"
        ),
        "emp",
        tuple(
            {
                "emp": size,
                "class": class_of(size),
                "marked": f"{class_of(size)}x",
                "wide": "few" if class_of(size) == "S" else "many",
            }
            for size in SIZES
        ),
        ("class", "marked", "wide"),
    ),
    "a computed measure has the name of a column": World(
        HEAD
        + "dimensions: {class: \"CASE WHEN pay > 100 THEN 'L' ELSE 'S' END\"}\n"
        + "measures: {hours: {resolution: 1, largest: 1000}, wage: {resolution: 1, largest: "
        + "1000}, pay: {expression: hours * wage, resolution: 1, "
        + "largest: 1000000}}\n"
        + counts(**{"class": ["S", "L"]}),
        "hours",
        tuple(
            {"hours": size, "wage": 10, "pay": 10 * size, "class": "L" if size > 10 else "S"}
            for size in SIZES
        ),
        ("class",),
    ),
    "a name has no letter": World(
        HEAD
        + "dimensions: {class: \"CASE WHEN \\\"€\\\" > 9 THEN 'L' ELSE 'S' END\"}\n"
        + 'measures: {"€": 1}\n'
        + counts(**{"class": ["S", "L"]}),
        "€",
        tuple({"€": size, "class": "L" if size > 9 else "S"} for size in SIZES),
        ("class",),
    ),
    "a class is of a measure and a dimension": World(
        HEAD
        + "dimensions: {sector: sector, class: \"sector || CASE WHEN emp > 9 THEN '+' ELSE '-' "
        + 'END"}\nmeasures: {emp: 1}\n'
        + counts(**{"class": ["a+", "a-"]}),
        "emp",
        tuple(
            {"sector": "a", "emp": size, "class": f"a{'+' if size > 9 else '-'}"} for size in SIZES
        ),
        ("class",),
    ),
    "a public list says what another measure is": World(
        HEAD
        + "lookups:\n  - {source: rates.csv, on: {emp: size}}\n"
        + "measures: {emp: 1, rate: 1}\n"
        + "queries:\n  - {name: all, title: T, answers: {emp: {sum: emp, clamp: [0, 200], rho: 1}, "
        + "rate: {sum: rate, clamp: [0, 9], rho: 1}}}\n",
        "emp",
        tuple({"emp": size, "rate": size // 40} for size in SIZES),
        ("rate",),
        is_said=False,
    ),
    "two measures are of one column": World(
        HEAD
        + "measures: {emp: 1, staff: {column: emp, resolution: 1}}\n"
        + "queries:\n  - {name: all, title: T, answers: {emp: {sum: emp, clamp: [0, 200], rho: 1}, "
        + "staff: {sum: staff, clamp: [0, 200], rho: 1}}}\n",
        "emp",
        tuple({"emp": size, "staff": size} for size in SIZES),
        ("staff",),
        is_said=False,
    ),
    "a measure is computed from another of the same column": World(
        HEAD
        + "measures: {emp: {resolution: 1, largest: 1000}, staff: {column: emp, resolution: 1, "
        + "largest: 1000}, wage: {resolution: 1, largest: 1000}, cost: {expression: staff * wage, "
        + "resolution: 1, largest: 1000000}}\n"
        + "queries:\n  - {name: all, title: T, answers: {cost: {sum: cost, clamp: [0, 9000], "
        + "rho: 1}}}\n",
        "emp",
        tuple({"emp": size, "staff": size, "wage": 10, "cost": 10 * size} for size in SIZES),
        ("cost",),
        is_said=False,
    ),
    "a class is of another measure of the same column": World(
        HEAD
        + "dimensions: {class: \"CASE WHEN staff > 9 THEN 'L' ELSE 'S' END\"}\n"
        + "measures: {emp: 1, staff: {column: emp, resolution: 1}}\n"
        + counts(**{"class": ["S", "L"]}),
        "emp",
        tuple({"emp": size, "staff": size, "class": "L" if size > 9 else "S"} for size in SIZES),
        ("class",),
    ),
    "a class of a list has medians and averages": World(
        CLASSED
        + "  - {name: q, title: T, group_by: [class], keys: k, answers: {m: {median: emp, "
        + "candidates: {from: 0, to: 130, step: 1}, rho: 1}, a: {average: emp, clamp: [0, 80], "
        + "rho: [1, 0.001]}, d: {count_distinct: class, rho: 1}}}\n",
        "emp",
        CLASSED_ROWS,
        ("class",),
    ),
    "a class of a list is filtered by": World(
        CLASSED
        + "  - {name: q, title: T, group_by: [class], keys: k, answers: {n: {count: records, "
        + "rho: 1}}}\n"
        + "  - {name: w, title: T, where: \"class = 'L'\", answers: {n: {count: records, "
        + "rho: 30}}}\n",
        "emp",
        CLASSED_ROWS,
        ("class",),
        is_said=False,
    ),
    "a class of a list says how a total is made private": World(
        CLASSED
        + "  - {name: q, title: T, group_by: [class], keys: k, answers: {t: {sum: emp, parts: "
        + "{by: class, cases: {S: {clamp: [0, 5], rho: 1}, M: {clamp: [0, 500], rho: 7}}, default: "
        + "{clamp: [0, 500], rho: 9}}}}}\n",
        "emp",
        CLASSED_ROWS,
        ("class",),
        is_said=False,
    ),
}


@pytest.fixture(scope="module", params=WORLDS)
def world(request, tmp_path_factory):
    """Give a world, its workload, and what is published of it, with examples of all sizes."""
    found, folder = WORLDS[request.param], tmp_path_factory.mktemp("world")
    columns = ("id", "emp", "hours", "wage", "pay", "€", "sector")
    rows = pa.table({name: ["a" if name == "sector" else 1] for name in columns})
    pa.csv.write_csv(rows, folder / "est.csv")
    classes = {"size": list(SIZES), "class": [class_of(size) for size in SIZES]}
    pa.csv.write_csv(pa.table(classes), folder / "classes.csv")
    rates = {"size": list(SIZES), "rate": [size // 40 for size in SIZES]}
    pa.csv.write_csv(pa.table(rates), folder / "rates.csv")
    wide = {"of": [*CLASSES], "wide": ["few", "many", "many"]}
    pa.csv.write_csv(pa.table(wide), folder / "wide.csv")
    examples = "".join(
        f"  - {{name: n{size}, {', '.join(f'{_name(k)}: {v}' for k, v in record.items())}}}\n"
        for size, record in zip(SIZES, map(_given, found.records), strict=True)
    )
    (folder / "release.yaml").write_text(f"{found.spec}examples:\n{examples}")
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as opened:
        workload = build(loaded, opened.schema)
    published = published_policy(workload)
    return found, workload, read_published(published.to_json())


def _given(record):
    """Return a record without what follows from its wage, and so is not given."""
    names = ("pay", "cost") if "wage" in record else ()
    return {name: value for name, value in record.items() if name not in names}


def _name(text):
    return f'"{text}"' if text == "€" else text


def true_cost(world, workload, before, after):
    """Return what it costs that one row of the table is another, by the plan itself."""
    records = [next(r for r in world.records if r[world.measure] == v) for v in (before, after)]
    return change_loss(outputs_of(workload.plan), records[:1], records[1:]).amount


def test_no_stated_cost_of_a_greater_value_is_too_low(world):
    """On both sides of every bound; where nothing is said, too, a pair of records is refused."""
    world, workload, published = world
    stated = {
        (each.value, each.other): each
        for each in published.changes
        if each.measure == world.measure
    }
    assert bool(stated) == world.is_said
    for size in SIZES:
        for percent in (5, 10, 20):
            other = -(-size * (100 + percent) // 100)
            if other not in SIZES or (size, other) not in stated:
                continue
            assert stated[size, other].loss.amount >= true_cost(world, workload, size, other)


def test_two_records_that_say_their_measures_alone_are_not_priced_too_low(world):
    """Columns that neither says may follow from what differs."""
    world, workload, published = world
    measures = [each.name for each in published.fields if each.kind == "measure"]
    for before, after in ((9, 10), (10, 11), (50, 60), (103, 104), (20, 120)):
        pair = [
            {name: row[name] for name in measures}
            for size in (before, after)
            for row in world.records
            if row[world.measure] == size
        ]
        try:
            cost = published.change(*pair)
        except MissingFieldError:
            continue
        assert cost.amount >= true_cost(world, workload, before, after)


def test_a_record_that_a_list_gives_nothing_is_as_unknown_as_others(tmp_path):
    """Its measure is NULL now, and may be something when the other one is greater."""
    pa.csv.write_csv(pa.table({"id": [1], "emp": [1]}), tmp_path / "est.csv")
    pa.csv.write_csv(pa.table({"size": [10], "rate": [1000]}), tmp_path / "rates.csv")
    (tmp_path / "release.yaml").write_text(
        WORLDS["a public list says what another measure is"].spec
        + "examples: [{name: nine, emp: 9, rate: null}]\n"
    )
    loaded = load_spec(tmp_path / "release.yaml")
    with open_table(loaded) as opened:
        assert not published_policy(build(loaded, opened.schema)).changes


def test_what_is_not_said_may_be_another_where_a_dimension_differs(tmp_path):
    """A state may go with its county, though no expression says so: whichever costs more."""
    pa.csv.write_csv(pa.table({"county": ["a"], "state": ["x"], "emp": [1]}), tmp_path / "est.csv")
    spec = HEAD + "dimensions: {county: county, state: state}\nmeasures: {emp: 1}\n"
    (tmp_path / "release.yaml").write_text(spec + counts(county=["a", "b"], state=["x", "y"]))
    loaded = load_spec(tmp_path / "release.yaml")
    with open_table(loaded) as opened:
        found = published_policy(build(loaded, opened.schema))
    cost = found.change({"emp": 1, "county": "a"}, {"emp": 1, "county": "b"})
    assert (cost.amount, cost.is_exact) == (4, False)
    same = {"emp": 1, "state": "x"}
    cost = found.change({**same, "county": "a"}, {**same, "county": "b"})
    assert (cost.amount, cost.is_exact) == (2, True)


def test_the_page_knows_what_a_measure_decides(world):
    """It leaves out what it cannot tell."""
    world, _, published = world
    found = deciding(published)
    assert tuple(each.name for each in found.get(world.measure, ())) == world.decided


def test_evaluate_never_shows_less_than_it_costs(world):
    """Its curves of greater values leave a measure out, or are of the rows of the table."""
    world, workload, _ = world
    example = dict(world.records[0])
    losses_by_size({"as written": workload.plan}, workload.schema, example)
    for row in changes_by_size(workload.plan, example).to_pylist():
        size = int(row["size"])
        if row["measure"] != world.measure or size not in SIZES or "wage" in world.records[0]:
            continue  # the curves are of records without a wage
        for percent in (5, 10, 20):
            other = -(-size * (100 + percent) // 100)
            if other in SIZES:
                cost = float(true_cost(world, workload, size, other))
                assert row[f"{percent}_percent_more"] >= cost * (1 - 1e-9)


@pytest.mark.parametrize("role", ["unit", "id"])
def test_units_do_not_follow_from_a_measure(role):
    """What a change of the measure costs a count of units could not be told."""
    firms = Lookup({"size": [1, 2], "firm": ["a", "b"]}, on={"emp": "size"})
    with pytest.raises(SchemaError, match=f"the {role} 'firm' follows from emp"):
        table(pa.table({"emp": [1]}), measures=["emp"], lookups=[firms], **{role: "firm"})


def test_a_change_that_may_become_two_is_not_priced(tmp_path):
    """A row that enters another class is one that moved out, and one that moved in."""
    for name, size in (("this", 100), ("last", 90)):
        rows = pa.table({"id": [1], "county": ["A"], "emp": [size]})
        pa.csv.write_csv(rows, tmp_path / f"{name}.csv")
    (tmp_path / "release.yaml").write_text(
        HEAD.replace("est.csv", "{path: this.csv, last: last.csv}")
        + "id: id\ndimensions: {size: \"CASE WHEN emp > 100 THEN 'L' ELSE 'S' END\", "
        + "change_kind: change_kind}\nmeasures: {emp: 1}\n"
        + "queries:\n  - {name: q, title: T, answers: {e: {sum: emp, clamp: [-500, 500], "
        + "rho: 1}}}\n"
        + "examples:\n  - {name: g, size: S, change_kind: continuing, emp: 10}\n"
    )
    loaded = load_spec(tmp_path / "release.yaml")
    with open_table(loaded) as opened:
        workload = build(loaded, opened.schema)
    found = published_policy(workload)
    assert not found.changes
    assert [each.name for each in deciding(found)["emp"]] == ["size"]
    assert not changes_by_size(workload.plan).num_rows
    with pytest.raises(MissingFieldError, match="depends on size"):
        found.change({"emp": 10}, {"emp": 11})
    assert found.change({"emp": 10, "size": "S"}, {"emp": 11, "size": "S"}).amount


@pytest.mark.parametrize("text", ["SUM(x", "hours * wage", "   "])
def test_a_measure_that_cannot_be_read_may_be_of_any_column(text):
    """So that it decides every dimension, and nothing ends with a fault."""
    pay = Field("pay", "measure", resolution=Fraction(1), expression=text)
    origins = Origins.of([pay, Field("class", "text")])
    assert [each.name for each in origins.decided_by("pay")] == ["class"]


def test_a_change_of_a_column_with_an_odd_name_is_of_that_column():
    """Whatever the name holds."""
    for name in ("emp", "a of this period - b", 'a"b of the period before', "€"):
        column = change_of(describe(Column(name)))
        change = Field("c", "measure", resolution=Fraction(1), expression=column)
        assert Origins.of([change]).columns["c"] == {name}


def test_an_expression_that_cannot_be_read_may_follow_from_every_measure():
    """A document of somebody else's may hold one."""
    emp = Field("emp", "measure", resolution=Fraction(1))
    origins = Origins.of(
        [emp, Field("class", "text", expression="SOMETHING(x"), Field("s", "text")]
    )
    assert [each.name for each in origins.decided_by("emp")] == ["class"]
    assert origins.followed("emp", {"emp": 1, "class": "S"}, {"emp": 2, "class": "S"}) == (
        {"emp": 1},
        {"emp": 2},
    )
