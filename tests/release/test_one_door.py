"""The same fault, given as a spec, as SQL and in Python: one sentence, each at its own place."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from perrecord import Domain, InputError, Keys, Query, SelectCells, SpecError, Split, Taper, table
from perrecord.queries.check import check
from perrecord.queries.sql import from_sql
from perrecord.release.spec import build, check_without_data, open_table, parse_spec

SPECS = Path(__file__).parent / "specs"
BASE = """\
title: Establishments
source: est.csv
table: est
id: id
unit: firm
dimensions: {county: county, naics2: "substr(naics, 1, 2)"}
measures: {emp: 1, payann: 1, rent: 0.01}
splits: {both: {emp: 50, payann: 2500}, emp: {emp: 10}, capped: {thresholds: {emp: 10}, cap: 9}}
tapers: {pays: {payann: 50}}
keys: {counties: {values: {county: ["37001"]}}, cells: {domain: [counties]}}
budget: {CURRENCY: 2}
queries:
- name: all
"""
PAYS = Taper(payann=50)
BOTH, EMP = Split(emp=50, payann=2500), Split(emp=10)
COUNTIES = Keys.from_dict({"county": ["37001"]})
Q = Query("est")


@dataclass(frozen=True)
class Fault:
    """One fault in three languages; `HERE` marks the line of the spec and the piece of the SQL."""

    name: str
    spec: str
    sql: str
    ask: Any
    options: dict[str, Any]
    currency: str = "rho"


def answer(
    name: str, entry: str, sql: str, ask: Any, *given: Any, each: Any = None, **options: Any
) -> Fault:
    """Return a fault of one answer, named x: its fields, its SQL, a method of Query, its options.

    SQL takes the same options; `each` holds those that are given it for this answer alone.
    """
    fields = "".join(f"      {line.strip()}\n" for line in entry.split(";"))
    spec = f"  answers:\n    x:\n{fields}"
    if "HERE" not in spec:
        spec = spec.replace("x:\n", "x: # HERE\n")
    apart = {option: {"x": value} for option, value in (each or {}).items()}
    return Fault(
        name,
        spec,
        f"SELECT {sql} AS x FROM est",
        lambda: ask(*given, **options, **(each or {}), name="x"),
        options | apart,
        "epsilon" if "rho" not in options | apart and "epsilon" in options else "rho",
    )


def counted(name: str, fields: str, sql: str, ask: Any, **options: Any) -> Fault:
    """Return a fault of a query that counts records: the lines of its grouping, and its SQL's."""
    return Fault(
        name,
        f"  {fields.replace('; ', NEXT)}{NEXT}answers: {{x: {{count: records, rho: 1}}}}\n",
        f"SELECT COUNT(*) AS x FROM est {sql}",
        lambda: ask().count(rho=1, name="x"),
        {"rho": 1, **options},
    )


NEXT = "\n  "
SUM, AVG, COUNT, MEDIAN = "<SUM(emp)>", "<AVG(emp)>", "<COUNT(*)>", "<MEDIAN(emp)>"
TWO = [1, 2]
KEPT = SelectCells(Domain(COUNTIES), answer="y", at_least=5)
SETS = [("county", "naics2"), ("naics2", "county")]
FAULTS = [
    answer(
        "an unknown measure",
        "sum: employes # HERE; split: both; rho: 1",
        "SUM(<employes>)",
        *(Q.sum, "employes"),
        rho=1,
        each={"split": BOTH},
    ),
    answer(
        "split and clamp",
        "sum: emp; split: both; clamp: [0, 50]; rho: 1",
        *(SUM, Q.sum, "emp"),
        **{"split": BOTH, "clamp": (0, 50), "rho": 1},
    ),
    answer("neither split nor clamp", "sum: emp; rho: 1", SUM, Q.sum, "emp", rho=1),
    answer("an average without a method", "average: emp; rho: 1", AVG, Q.average, "emp", rho=1),
    answer(
        "split and taper",
        "sum: emp; split: both; taper: 50; rho: 1",
        *(SUM, Q.sum, "emp"),
        **{"split": BOTH, "taper": 50, "rho": 1},
    ),
    answer(
        "a taper for another measure",
        "sum: emp; taper: pays # HERE; rho: 1",
        *(SUM, Q.sum, "emp"),
        rho=1,
        each={"taper": PAYS},
    ),
    answer(
        "a taper off the grid",
        "sum: emp; taper: 0.5 # HERE; rho: 0.001",
        *(SUM, Q.sum, "emp"),
        **{"taper": "0.5", "rho": "0.001"},
    ),
    answer(
        "tapered noise of less than five steps",
        "sum: emp; taper: 2 # HERE; rho: 100",
        *(SUM, Q.sum, "emp"),
        **{"taper": 2, "rho": 100},
    ),
    answer("no amount", "count: records", COUNT, Q.count),
    answer("both amounts", "count: records; rho: 1; epsilon: 1", COUNT, Q.count, rho=1, epsilon=1),
    answer("a rho of 0", "count: records; rho: 0 # HERE", COUNT, Q.count, rho=0),
    answer(
        "a negative epsilon",
        "sum: emp; split: both; epsilon: -1/3 # HERE",
        *(SUM, Q.sum, "emp"),
        **{"split": BOTH, "epsilon": "-1/3"},
    ),
    answer(
        "an amount that no float describes",
        "count: records; rho: 1e-130 # HERE",
        *(COUNT, Q.count),
        rho="1e-130",
    ),
    answer(
        "two amounts for a count", "count: records; rho: [1, 2] # HERE", COUNT, Q.count, rho=(1, 2)
    ),
    answer(
        "three amounts for an average",
        "average: emp; split: both; rho: [1, 2, 3] # HERE",
        *(AVG, Q.average, "emp"),
        split=BOTH,
        each={"rho": (1, 2, 3)},
    ),
    answer(
        "a count of an average for nothing",
        "average: emp; split: both; rho: [1, 0] # HERE",
        *(AVG, Q.average, "emp"),
        **{"split": BOTH, "rho": (1, 0)},
    ),
    answer(
        "a level beyond 1",
        "quantile: emp; level: 1.5 # HERE; candidates: [1, 2]; rho: 1",
        "QUANTILE(emp, <1.5>)",
        *(Q.quantile, "emp", "1.5"),
        **{"candidates": TWO, "rho": 1},
    ),
    answer(
        "a level too fine",
        "quantile: emp; level: 0.12345678901 # HERE; candidates: [1, 2]; rho: 1",
        "QUANTILE(emp, <0.12345678901>)",
        *(Q.quantile, "emp", "0.12345678901"),
        **{"candidates": TWO, "rho": 1},
    ),
    answer("no candidates", "median: emp; rho: 1", MEDIAN, Q.median, "emp", candidates=None, rho=1),
    answer(
        "too many candidates",
        "median: emp; candidates: {from: 0, to: 1000000000000, step: 1} # HERE; rho: 1",
        *(MEDIAN, Q.median, "emp"),
        **{"candidates": range(10**12), "rho": 1},
    ),
    answer(
        "candidates of too many digits",
        "median: emp; candidates: [1e31] # HERE; rho: 1",
        *(MEDIAN, Q.median, "emp"),
        **{"candidates": ["1e31"], "rho": 1},
    ),
    answer(
        "bounds the wrong way round",
        "sum: emp; clamp: [500, 0] # HERE; rho: 1",
        *(SUM, Q.sum, "emp"),
        **{"clamp": (500, 0), "rho": 1},
    ),
    answer(
        "three bounds",
        "sum: emp; clamp: [0, 5, 500] # HERE; rho: 1",
        *(SUM, Q.sum, "emp"),
        **{"clamp": (0, 5, 500), "rho": 1},
    ),
    answer(
        "a bound off the grid",
        "sum: rent; clamp: [0, 0.005] # HERE; rho: 1",
        *("<SUM(rent)>", Q.sum, "rent"),
        **{"clamp": (0, "0.005"), "rho": 1},
    ),
    answer(
        "bounds too wide to be centred",
        "average: emp; clamp: [0, 1e19] # HERE; rho: 1",
        *(AVG, Q.average, "emp"),
        **{"clamp": (0, "1e19"), "rho": 1},
    ),
    answer(
        "a split without the measure",
        "sum: payann; split: emp # HERE; rho: 1",
        *("<SUM(payann)>", Q.sum, "payann"),
        rho=1,
        each={"split": EMP},
    ),
    answer(
        "a split with a cap",
        "sum: emp; split: capped # HERE; rho: 1",
        *(SUM, Q.sum, "emp"),
        **{"split": EMP.capped(9), "rho": 1},
    ),
    answer(
        "an unknown column, different values",
        "count_distinct: frim # HERE; rho: 1",
        *("COUNT(DISTINCT <frim>)", Q.count_distinct, "frim"),
        rho=1,
    ),
    counted(
        "an unknown column, grouped by",
        "group_by: [conty] # HERE; keys: counties",
        "GROUP BY <conty>",
        lambda: Q.group_by("conty", keys=Keys.from_dict({"conty": ["1"]})),
        keys=COUNTIES,
    ),
    counted(
        "a measure with a resolution, grouped by",
        "group_by:; - county; - rent # HERE; keys: counties",
        "GROUP BY county, <rent>",
        lambda: Q.group_by("rent", keys=Keys.from_dict({"rent": [1]})),
        keys=COUNTIES,
    ),
    counted(
        "a grouping without keys",
        "rollup: [county] # HERE",
        "<GROUP BY> county",
        lambda: Q.rollup("county"),
    ),
    Fault(
        "keys without a grouping",
        "  keys: counties # HERE\n  answers: {x: {count: records, rho: 1}}\n",
        "<SELECT> COUNT(*) AS x FROM est",
        lambda: Q.group_by(keys=COUNTIES).count(rho=1, name="x"),
        {"rho": 1, "keys": COUNTIES},
    ),
    counted(
        "a grouping set twice",
        "grouping_sets: [[county, naics2], [naics2, county]] # HERE; keys: counties",
        "<GROUP BY> GROUPING SETS ((county, naics2), (naics2, county))",
        lambda: Q.group_by_sets(SETS, keys=COUNTIES),
        keys=COUNTIES,
    ),
    counted(
        "keys that lack a column",
        "group_by: [county, naics2]; keys: counties # HERE",
        "<GROUP BY> county, naics2",
        lambda: Q.group_by("county", "naics2", keys=COUNTIES),
        keys=COUNTIES,
    ),
    counted(
        "keys of another grouping set",
        "group_by: county; keys:;   'county,naics2': counties # HERE",
        "<GROUP BY> county",
        lambda: Q.group_by_sets(["county"], keys={("county", "naics2"): COUNTIES}),
        keys={("county", "naics2"): COUNTIES},
    ),
    counted(
        "cells kept by no answer",
        "group_by: county; keys:;   domain: cells;   keep: y # HERE;   at_least: 5",
        "<GROUP BY> county",
        lambda: Q.group_by("county", keys=KEPT),
        keys=KEPT,
    ),
    Fault(
        "cells kept by a tapered answer",
        "  group_by: county\n  keys:\n    domain: cells\n    keep: x # HERE\n    at_least: 5\n"
        "  answers: {x: {sum: emp, taper: 50, rho: 1}}\n",
        "SELECT SUM(emp) AS x FROM est <GROUP BY> county",
        lambda: Q.group_by(
            "county", keys=SelectCells(Domain(COUNTIES), answer="x", at_least=5)
        ).sum("emp", taper=50, rho=1, name="x"),
        {"rho": 1, "taper": 50, "keys": SelectCells(Domain(COUNTIES), answer="x", at_least=5)},
    ),
    Fault(
        "an answer named like a column",
        "  group_by: county\n  keys: counties\n  answers:\n"
        "    county: {count: records, rho: 1} # HERE\n",
        "SELECT <COUNT(*)> AS county FROM est GROUP BY county",
        lambda: Q.group_by("county", keys=COUNTIES).count(rho=1, name="county"),
        {"rho": 1, "keys": COUNTIES},
    ),
    Fault(
        "an answer named like what stands beside another",
        "  answers:\n    x: {count: records, rho: 1} # HERE\n    x_se: {count: emp, rho: 1}\n",
        "SELECT <COUNT(*)> AS x, COUNT(emp) AS x_se FROM est",
        lambda: Q.count(rho=1, name="x").count("emp", rho=1, name="x_se"),
        {"rho": 1},
    ),
    counted(
        "a filter that is no condition",
        "where: county # HERE",
        "WHERE <county>",
        lambda: Q.where("county"),
    ),
]


@pytest.fixture(scope="module")
def schema():
    """Return what is known of the table that the specs describe."""
    with table(
        SPECS / "est.csv",
        name="est",
        id="id",
        unit="firm",
        dimensions={"county": '"county"', "naics2": "substr(naics, 1, 2)"},
        measures={"emp": 1, "payann": 1, "rent": "0.01"},
    ) as opened:
        yield opened.schema


def refused(fault: Fault, schema) -> InputError:
    """Return the error that Python shows."""
    with pytest.raises(InputError) as caught:
        check(fault.ask(), schema)
    return caught.value


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_spec_says_the_same_at_its_line(fault, schema):
    """File, line and path are the spec's own; the sentence is that of the constructors."""
    text = BASE.replace("CURRENCY", fault.currency) + fault.spec
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "HERE" in each)
    with pytest.raises(SpecError) as caught:
        run(text)
    place, _, sentence = str(caught.value).partition(": queries[0].")
    sentence = sentence.partition(": ")[2]
    assert sentence == refused(fault, schema).sentence
    assert place == f"{SPECS / 'release.yaml'}:{line}"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_sql_says_the_same_at_its_caret(fault, schema):
    """Carets stand under what the fault is about; the sentence is that of the constructors."""
    text = re.sub("[<>]", "", fault.sql)
    expected = re.search("<(.*)>", fault.sql)
    with pytest.raises(InputError) as caught:
        from_sql(text, schema=schema, **fault.options)
    first, _, carets = str(caught.value).split("\n")
    assert caught.value.sentence == refused(fault, schema).sentence
    assert first.endswith(caught.value.sentence)
    stretch = re.search(r"\^+", carets)
    assert text[stretch.start() - 2 : stretch.end() - 2] == expected[1]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("rho: {x: 0}", "rho is 0; expected a number above 0, such as 0.1."),
        ("rho: {y: 1}", "rho names 'y', which no answer takes. Expected x."),
    ],
)
def test_sql_in_a_spec_shows_an_option_at_its_own_line(option, message):
    """What stands beside the SQL is shown there, and not in the SQL."""
    sql = "  sql: |\n    SELECT COUNT(*) AS x\n    FROM est\n"
    with pytest.raises(SpecError) as caught:
        run(BASE.replace("CURRENCY", "rho") + sql + f"  {option}\n")
    assert str(caught.value).endswith(f":17: queries[0].rho.{option[6]}: {message}")


def test_sql_in_a_spec_shows_what_it_lacks_at_its_own_line():
    """The line is that of the answer, inside the block of text."""
    sql = "  sql: |\n    SELECT COUNT(*) AS n,\n      SUM(emp) AS x\n    FROM est\n  rho: 1\n"
    with pytest.raises(SpecError) as caught:
        run(BASE.replace("CURRENCY", "rho") + sql)
    assert ":16: queries[0].sql: the SQL, line 2, column 3: the answer 'x': a total" in str(
        caught.value
    )


def test_every_answer_says_what_is_wrong_with_it():
    """Several mistakes of one query are shown at once, the first twenty in full."""
    answers = [
        f"    {re.sub('[^a-z0-9]', '_', fault.name)}:{fault.spec.partition('x:')[2]}"
        for fault in FAULTS
        if fault.spec.startswith("  answers:\n    x:") and fault.currency == "rho"
        if "x_se" not in fault.spec
    ]
    with pytest.raises(SpecError) as caught:
        run(BASE.replace("CURRENCY", "rho") + "  answers:\n" + "".join(answers))
    assert str(caught.value).count("queries[0].answers.") == 20
    assert str(caught.value).endswith(f"and {len(answers) - 20} more.")


def run(text: str) -> None:
    """Take a spec all the way to a workload."""
    loaded = parse_spec(text, SPECS / "release.yaml")
    check_without_data(loaded)
    with open_table(loaded) as opened:
        build(loaded, opened.schema)
