"""The tuned spec: it says what was found, costs what was found, and keeps all else."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Keys, Query
from perrecord.errors import InputError, InternalError
from perrecord.evaluate.tuning import tuned_spec as module
from perrecord.evaluate.tuning.of_spec import check_names
from perrecord.evaluate.tuning.tune import tune
from perrecord.evaluate.tuning.tuned_spec import tuned_spec
from perrecord.lab.synth import business
from perrecord.queries.plan import plan
from perrecord.release.spec import build, load_spec, open_table, parse_spec, spec_schema
from perrecord.release.spec.schemes import splits_of

pytestmark = pytest.mark.usefixtures("no_frontier")

SPEC = """\
# Kept: a comment on top.
title: Establishments   # kept
source: {path: data/est.parquet, memory_limit: 1GB}
table: est
dimensions:
  county: county
  state: substr(county, 1, 2)
  naics2: substr(naics, 1, 2)
  large: emp > 1000
measures: {emp: 1, payann: 1}
splits:
  moderate: {emp: 20, payann: 1000}
  by_state: {by: state, cases: {"06": {emp: 40}, "48": {emp: 60}}, default: {emp: 10}}
keys:
  states: {file: data/states.csv}
  sectors: {values: {naics2: ["11", "31", "44", "62"]}}
  cells: {product: [states, sectors]}
  truths: {values: {large: [true, false]}}
budget: {rho: 5, splits: [moderate]}
ledger: data/est.ledger
queries:
  # Kept: what the levels are.
  - name: levels
    title: By state and sector
    where: emp > 0
    grouping_sets: [[state, naics2], [naics2], []]
    keys: {"state, naics2": cells, naics2: sectors}
    answers:
      n: {count: records, rho: 0.1}
      emp: {sum: emp, split: moderate, rho: 0.2}     # kept, too
      pay: {average: payann, split: moderate, rho: 0.1}
  - name: sized
    group_by: large
    keys: truths
    answers:
      emp:
        sum: emp
        parts:
          by: large
          cases: {true: {split: moderate, rho: 0.1}, false: {clamp: [0, 1000], rho: 0.2}}
          default: {clamp: [0, 1000], rho: 0.3}
      middle: {median: emp, candidates: [0, 5, 10, 50], rho: 0.05}
  - name: states
    group_by: state
    keys: states
    answers: {emp: {sum: emp, split: by_state, rho: 0.1}}
  - name: asked
    sql: |
      SELECT state, naics2, COUNT(*) AS n, SUM(payann) AS pay, AVG(emp) AS mean
      FROM est
      WHERE state = '06'
      GROUP BY GROUPING SETS ((state, naics2), (state), ())
    keys: {"state, naics2": cells, state: states}
    rho: 0.1
    split: moderate
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a spec, its source and a list of keys."""
    path = tmp_path_factory.mktemp("spec")
    (path / "data").mkdir()
    data = business(4_000, seed=4)
    pq.write_table(data, path / "data" / "est.parquet")
    states = sorted(set(data["state"].to_pylist()))
    (path / "data" / "states.csv").write_text("state\n" + "\n".join(states) + "\n")
    (path / "release.yaml").write_text(SPEC)
    return path


KNOWN = {}
"""Tunings by what was asked for: many specs here differ in their words alone."""


def tuned_once(queries, table, goals, schemes):
    """Return a tuning, found once for all tests that ask the same."""
    key = repr((queries, goals, schemes))
    if key not in KNOWN:
        KNOWN[key] = tune(queries, table, goals, schemes=schemes)
    return KNOWN[key]


def tuned(folder, goals="10% for 90% of cells", *, with_schemes=True):
    """Return a tuning, and the spec that says it, as text and loaded."""
    loaded = load_spec(folder / "release.yaml")
    target = folder / "confidential" / "tuned.yaml"
    target.parent.mkdir(exist_ok=True)
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
        schemes = splits_of(loaded.spec, table.schema, loaded.problems()) if with_schemes else None
        queries = {each.name: each.query for each in workload.queries}
        found = tuned_once(queries, table, goals, schemes)
        text = tuned_spec(loaded, found, table.schema, target, is_public=False)
        again = build(parse_spec(text, target), table.schema)
        policy = plan([each.query for each in again.queries], table.schema).policy
    return found, text, again, policy


@pytest.mark.parametrize("with_schemes", [True, False])
def test_it_costs_what_was_found_and_keeps_the_tables(folder, with_schemes):
    """Grouping sets become queries, in parts and in SQL; amounts, parts and schemes are theirs."""
    found, text, again, policy = tuned(folder, with_schemes=with_schemes)
    assert policy == found.policy
    names = [each.name for each in again.queries]
    assert names == [
        "levels_by_state_naics2", "levels_by_naics2", "levels_total", "sized", "states",
        "asked_by_state_naics2", "asked_by_state", "asked_total",
    ]  # fmt: skip
    assert names == [each.name for each in found.queries]
    for asked, named in zip(found.queries, again.queries, strict=True):
        assert asked.query.answers == named.query.answers
        assert asked.query.filter == named.query.filter
    assert ("tuned" in text.replace("# Tuned", "")) is with_schemes


GOALS = """tuning:
  goals:
    "*": 10% for 90% of cells     # kept
    levels.emp: 20% for 80% of cells
    levels_total.emp: 1% for 100% of cells
"""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            GOALS,
            {
                "*": "10% for 90% of cells",
                "levels_total.emp": "1% for 100% of cells",
                "levels_by_state_naics2.emp": "20% for 80% of cells",
                "levels_by_naics2.emp": "20% for 80% of cells",
            },
        ),
        (
            'tuning: {goals: "asked.n: 20% for 80% of cells"}\n',
            {
                "asked_by_state_naics2.n": "20% for 80% of cells",
                "asked_by_state.n": "20% for 80% of cells",
                "asked_total.n": "20% for 80% of cells",
            },
        ),
        ("tuning: {goals: 20% for 80% of cells}\n", {"*": "20% for 80% of cells"}),
    ],
)
def test_goals_follow_a_query_that_becomes_several(folder, written, expected):
    """Otherwise the tuned spec would have goals about answers that it lacks."""
    path = folder / "release.yaml"
    path.write_text(SPEC + written)
    try:
        _, text, *_ = tuned(folder)
    finally:
        path.write_text(SPEC)
    assert ("# kept\n" in text.split("tuning:")[1]) is ("# kept" in written)
    assert dict(parse_spec(text, path).spec.tuning.goals) == expected


def test_comments_and_everything_else_stay(folder):
    """What tuning is not about is as it was written, and the top says what the file is."""
    _, text, again, _ = tuned(folder, "levels.n: 10% for 90% of cells")
    assert text.startswith("# Tuned from release.yaml by perrecord, to reach:\n#   levels.n: 10%")
    assert "CONFIDENTIAL" in text
    for line in ("# Kept: a comment on top.", "# kept", "# Kept: what the levels are."):
        assert line in text
    assert 'by_state: {by: state, cases: {"06": {emp: 40}' in text
    assert "budget: {rho: 5, splits: [moderate]}" in text
    sized = next(each.query for each in again.queries if each.name == "sized")
    with open_table(load_spec(folder / "release.yaml")) as table:
        before = build(load_spec(folder / "release.yaml"), table.schema)
    assert sized == next(each.query for each in before.queries if each.name == "sized")


def test_paths_are_right_from_the_new_folder(folder):
    """Source, keys and ledger are found from where the spec was written."""
    _, text, _, _ = tuned(folder)
    target = folder / "confidential" / "tuned.yaml"
    target.write_text(text)
    loaded = load_spec(target)
    assert Path(loaded.source).resolve() == (folder / "data" / "est.parquet").resolve()
    assert loaded.ledger.resolve() == (folder / "data" / "est.ledger").resolve()
    assert loaded.public_files[0].resolve() == (folder / "data" / "states.csv").resolve()


def test_labels_are_found_from_the_new_folder(folder):
    """In both of their forms."""
    states = (folder / "data" / "states.csv").read_text().split()[1:]
    codes = [*states, "11", "31", "44", "62"]
    (folder / "data" / "names.csv").write_text(
        "code,name\n" + "".join(f"{code},Name of {code}\n" for code in dict.fromkeys(codes))
    )
    where = folder / "labelled"
    where.mkdir()
    (where / "data").symlink_to(folder / "data")
    labels = "labels: {state: data/names.csv, naics2: {file: data/names.csv}}\n"
    (where / "release.yaml").write_text(f"{labels}{SPEC}")
    _, text, _, _ = tuned(where)
    assert "labels: {state: ../data/names.csv, naics2: {file: ../data/names.csv}}" in text


def test_every_path_of_a_spec_is_one_that_is_moved():
    """Whoever adds a file to specs has it moved, and tested above."""
    schema = spec_schema()
    models = {"Spec": schema, **schema["$defs"]}
    paths = {
        (model, name)
        for model, described in models.items()
        for name, entry in described.get("properties", {}).items()
        if re.search(r"\b(files?|path|folder)\b", entry["description"], re.IGNORECASE)
    }
    moved = {
        ("Spec", "ledger"),
        ("BlurEntry", "scale"),
        ("KeysEntry", "file"),
        ("LabelsEntry", "file"),
        ("LookupEntry", "source"),
        ("SourceEntry", "path"),
        ("SourceEntry", "last"),
    }
    how = {"separator", "encoding", "decimal", "quote"}  # a file is read by, which stay with it
    assert {each for each in paths if each[1] not in how} == moved | {("KeysEntry", "columns")}


def test_scales_are_found_from_the_new_folder(folder):
    """Of answers and beside SQL, where what is blurred stays tapered."""
    (folder / "data" / "sizes.csv").write_text("state,size\n06,9\n")
    blurred = """\
  - name: blurred
    group_by: state
    keys: states
    answers:
      one: {sum: emp, taper: 20, rho: 0.1, blur: {by: 0.1, scale: data/sizes.csv}}
      two: {sum: payann, taper: 20, rho: 0.1, blur: {by: 0.1, scale: data/sizes.csv}}
      own: {sum: emp, taper: 20, rho: 0.1, blur: 0.1}
  - name: asked_blurred
    sql: SELECT state, SUM(emp) AS jobs, SUM(payann) AS pay, COUNT(*) AS n FROM est GROUP BY state
    keys: states
    rho: 0.1
    taper: 20
    blur: {jobs: {by: 0.1, scale: data/sizes.csv}, pay: 0.2}
"""
    where = folder / "blurred"
    where.mkdir()
    (where / "data").symlink_to(folder / "data")
    (where / "release.yaml").write_text(f"{SPEC.partition('  # Kept: what')[0]}{blurred}")
    found, text, _, policy = tuned(where)
    assert text.count("scale: ../data/sizes.csv") == 3
    assert policy == found.policy


ODD = """\
%YAML 1.1
---
title: Odd names
source: est.parquet
table: est
dimensions: {domain: "substr(naics, 1, 1)", sets: state, keys: county}
measures: {emp: 1}
splits: {s: {emp: 20}}
keys:
  both: {values: {domain: ["1", "2", "3"], sets: ["06", "48"]}}
  ones: {values: {domain: ["1", "2", "3"]}}
budget: {rho: 50.1234567890123456789012345, splits: [s]}
queries:
  - name: odd
    grouping_sets: [[domain, sets], [domain]]
    keys: {"domain, sets": both, domain: ones}
    answers:
      2019: {count: records, rho: 1e-1}
      true: {sum: emp, split: s, rho: 0.100}
      on: {sum: emp, split: s, rho: 1/3}
"""


def test_odd_names_and_long_numbers_are_kept(tmp_path):
    """Names that YAML takes for numbers or truths, dimensions named like entries, all digits."""
    pq.write_table(business(3_000, seed=2), tmp_path / "est.parquet")
    (tmp_path / "release.yaml").write_text(ODD)
    found, text, again, policy = tuned(tmp_path, "true: 20% for 50% of cells")
    assert policy == found.policy
    assert "rho: 50.1234567890123456789012345" in text
    assert "2019: {count: records, rho: 1e-1}" in text
    assert "on: {sum: emp, split: s, rho: 1/3}" in text
    assert [len(each.query.groupings[0].columns) for each in again.queries] == [2, 1]


def test_names_that_would_be_too_long_are_refused_before_any_work():
    """A table may have a longer name than a query."""
    query = Query().rollup("c" * 40, "d" * 40, keys=Keys.from_dict({"c" * 40: [1], "d" * 40: [1]}))
    with pytest.raises(InputError, match="shorter name"):
        check_names({"q" * 60: query.count(rho=1)})
    check_names({"q": query.count(rho=1)})


def test_under_caps_the_top_says_what_is_reached(folder):
    """Not the goals, which the caps have moved."""
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as table:
        queries = {each.name: each.query for each in build(loaded, table.schema).queries}
        record = {"emp": 5, "payann": 90, "state": "06", "naics2": "44", "large": False}
        found = tune(queries, table, "10% for 90% of cells", examples={"r": record}, caps={"r": 1})
        text = tuned_spec(loaded, found, table.schema, folder / "tuned.yaml", is_public=True)
    assert text.startswith("# Tuned from release.yaml by perrecord, under caps on losses")
    assert "#   states.emp: " in text


def test_a_public_one_is_not_marked(folder):
    """Tuned on public data, it may be published as it is."""
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as table:
        queries = {each.name: each.query for each in build(loaded, table.schema).queries}
        found = tuned_once(queries, table, "10% for 90% of cells", None)
        text = tuned_spec(loaded, found, table.schema, folder / "tuned.yaml", is_public=True)
    assert "CONFIDENTIAL" not in text


def test_a_file_that_says_something_else_is_never_written(folder, monkeypatch):
    """A twin that rounds amounts to one digit is caught before anything is written."""
    monkeypatch.setattr(module, "_number", lambda value: module._Number(f"{float(value):.1g}"))
    with pytest.raises(InternalError, match="does not cost what was found"):
        tuned(folder)


def test_another_source_of_the_same_columns_serves(folder):
    """Tuned on a frame, the spec still names its own source."""
    loaded = load_spec(folder / "release.yaml")
    prior = business(5_000, seed=9)
    assert isinstance(prior, pa.Table)
    with open_table(loaded, prior) as table:
        queries = {each.name: each.query for each in build(loaded, table.schema).queries}
        found = tune(queries, table, "20% for 80% of cells")
        text = tuned_spec(loaded, found, table.schema, folder / "tuned.yaml", is_public=True)
    assert "path: data/est.parquet" in text
