"""Release specs: what a YAML file means, exactly."""

import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import (
    Domain,
    Keys,
    Parts,
    Policy,
    Query,
    SelectCells,
    SelectKeys,
    SpecError,
    Split,
    clamping,
    splitting,
)
from perrecord.queries.sql import from_sql
from perrecord.release.spec import (
    build,
    check_without_data,
    load_spec,
    open_table,
    parse_spec,
    spec_schema,
    warnings_of,
)
from perrecord.release.spec.read import WrittenNumber, parse_document

SPECS = Path(__file__).parent / "specs"
GOOD = sorted((SPECS / "good").glob("*.yaml"))
DOCS = Path(__file__).parents[2] / "docs"

SMALL = """
title: Establishments
source: est.csv
budget: {rho: RHO}
queries: [{name: all, answers: {records: {count: records, rho: 0.1}}}]
"""


def workload_of(name: str):
    """Build one of the good specs."""
    loaded = load_spec(SPECS / "good" / name)
    check_without_data(loaded)
    with open_table(loaded) as table:
        return build(loaded, table.schema)


def queries_of(name: str) -> dict[str, Query]:
    """Return the queries of one of the good specs, by name."""
    return {each.name: each.query for each in workload_of(name).queries}


# -- numbers and scalars ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        ("0.1", Fraction(1, 10)),
        ("0.10", Fraction(1, 10)),
        ("'0.1'", Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        ("1.5E+2", Fraction(150)),
        ("1/3", Fraction(1, 3)),
        ("2", Fraction(2)),
        ("+.5", Fraction(1, 2)),
        ("1_000", Fraction(1000)),
        ("0.30000000000000004", Fraction("0.30000000000000004")),
        ("0.1000000000000000055511151231257827021181583404541015625", Fraction(0.1)),
    ],
)
def test_a_number_is_what_is_written(written, exact):
    """No float stands between the file and the budget."""
    assert parse_spec(SMALL.replace("RHO", written)).spec.budget.rho == exact


@given(st.decimals(min_value="1e-9", max_value="1e9", allow_nan=False, allow_infinity=False))
def test_every_decimal_is_read_exactly(number):
    """Whatever the number of digits."""
    spec = parse_spec(SMALL.replace("RHO", str(number))).spec
    assert spec.budget.rho == Fraction(number)


def test_plain_words_are_text_as_in_yaml_1_2():
    """`no`, `on` and `y` are countries; only true and false are truth values."""
    value = parse_document(
        "[no, on, y, Yes, off, true, False, null, ~, 2026-11-01, 1:30]", "x"
    ).value
    expected = ["no", "on", "y", "Yes", "off", True, False, None, None, "2026-11-01", "1:30"]
    assert value == expected


def test_numbers_keep_their_text_and_quotes_make_text():
    """1.10 stays 1.10; "1" is text and 1 a whole number."""
    value = parse_document("[1.10, 1e3, 7, '7', -0.5]", "x").value
    assert value == ["1.10", "1e3", 7, "7", "-0.5"]
    kinds = [type(each) for each in value]
    assert kinds == [WrittenNumber, WrittenNumber, int, str, WrittenNumber]


def test_country_codes_stay_text():
    """In keys and in public values."""
    query = queries_of("countries.yaml")["countries"]
    keys = Keys.from_dict({"country": ["no", "on", "y", "null", "1.0", "NO"]})
    expected = (
        Query("records")
        .group_by("country", keys=keys)
        .count(epsilon="0.1", name="records")
        .count("country", epsilon="1/3", name="others")
    )
    assert query == expected
    field = workload_of("countries.yaml").fields[0]
    assert (field.label, field.values) == ("Country", ("no", "on", "yes", "true", "37001"))


# -- queries ------------------------------------------------------------------------------------


def test_the_smallest_spec():
    """A title, a source, a budget, a query."""
    workload = workload_of("smallest.yaml")
    assert [each.query for each in workload.queries] == [Query().count(rho="0.1", name="records")]
    assert workload.budget == Policy.constant(1)
    assert (workload.accounting, workload.outputs.confidence) == ("split", Fraction(19, 20))


def test_every_entry_builds_what_python_would():
    """The spec of the guide against the fluent interface."""
    moderate = Split(emp=50, payann=2500)
    counties = Keys.from_dict({"county": ["37001", "37003", "48001"]})
    sectors = Keys.from_dict({"naics2": ["11", "21"]})
    clamped = clamping(0, 40, rho="0.1")
    found = queries_of("everything.yaml")
    assert found["county_sector"] == (
        Query("est")
        .where("state = '37'")
        .group_by("county", "naics2", keys=counties * sectors)
        .count(rho="0.1")
        .count_distinct("firm", rho="0.1", name="firms")
        .sum("emp", split=moderate, rho="0.2", accounting="exact", name="emp")
        .sum("rent", clamp=(0, 500), rho="0.1", name="rent")
        .average("payann", split=moderate, rho=("0.1", "0.05"), name="pay")
        .median("payann", candidates=range(0, 1001, 10), rho="0.05", name="med")
        .sum(
            "emp",
            parts=Parts(
                "sector",
                {"11": splitting(moderate, rho="0.1"), "21": clamped, ...: clamped},
            ),
            name="mixed",
        )
    )
    total = Query("est").group_by("county", keys=counties)
    assert found["from_sql"] == total.sum("emp", split=moderate, rho="0.1", name="emp")
    assert found["sets"] == Query("est").group_by_sets(
        [("county",), ("naics2",), ()], keys={("county",): counties, ("naics2",): sectors}
    ).count(rho="0.1")
    wide = SelectCells(Domain(counties, sectors), answer="count", at_least=20)
    assert found["wide"] == Query("est").group_by("county", "naics2", keys=wide).count(rho="0.1")
    chosen = SelectKeys(rho="0.1", delta="1e-6", split=moderate)
    assert found["chosen"] == Query("est").group_by("county", keys=chosen).count(rho="0.1")


def test_the_budget_is_the_largest_of_its_splits_with_slots():
    """Rho times the most pieces^2 of any declared scheme, and room for one selection (T4)."""
    moderate = Split(emp=50, payann=2500)
    by_sector = Split.by("sector", {"11": Split(emp=10), "21": moderate}, moderate).capped(1000)
    expected = Policy.largest(Policy.split(2, moderate), Policy.split(2, by_sector)) + Policy.slot(
        "0.1", ["county"], split=moderate, delta="1e-6"
    )
    assert workload_of("everything.yaml").budget == expected


def test_key_algebra():
    """Product, union, difference, filter and projection, through one query each."""
    forms = {
        "product: [counties, sectors]": [("37001", "11"), ("37001", "21"), ("37003", "11"),
                                         ("37003", "21")],
        "union: [one, other]": [("37001", "11"), ("37003", "21")],
        "difference: [cells, one]": [("37001", "21"), ("37003", "11"), ("37003", "21")],
        "filter: {from: cells, county: ['37001']}": [("37001", "11"), ("37001", "21")],
        "project: {from: cells, columns: [county, naics2]}": [
            ("37001", "11"), ("37001", "21"), ("37003", "11"), ("37003", "21")],
    }  # fmt: skip
    for form, rows in forms.items():
        loaded = parse_spec(
            f"""
            title: Keys
            source: est.csv
            dimensions: {{county: county, naics2: "substr(naics, 1, 2)"}}
            keys:
              counties: {{values: {{county: ["37001", "37003"]}}}}
              sectors: {{values: {{naics2: ["11", "21"]}}}}
              cells: {{product: [counties, sectors]}}
              one: {{values: {{county: ["37001"], naics2: ["11"]}}}}
              other: {{values: {{county: ["37003"], naics2: ["21"]}}}}
              asked: {{{form}}}
            budget: {{rho: 1}}
            queries:
              - {{name: q, group_by: [county, naics2], keys: asked,
                 answers: {{n: {{count: records, rho: 0.1}}}}}}
            """,
            SPECS / "inline.yaml",
        )
        with open_table(loaded) as table:
            query = build(loaded, table.schema).queries[0].query
        assert query.groupings[0].cells.rows() == rows, form


def test_cases_take_the_kind_of_their_dimension():
    """`11:` and `"11":` mean the text that the table holds; nested cases, exact sums."""
    small = Split(emp=10, payann=500)
    large = Split(emp=100, payann=5000)
    by_county = Split.by("county", {"37001": large}, small)
    by_sector = Split.by("sector", {"11": small, "21": by_county}, large)
    sectors = Keys.from_dict({"sector": ["11", "21"]})
    both = sectors * Keys.from_dict({"county": ["37001", "37003", "48001"]})
    query = queries_of("sectors.yaml")["sectors"]
    assert query == (
        Query("est")
        .group_by_sets(
            [("sector", "county"), ("sector",), ()],
            keys={("sector", "county"): both, ("sector",): sectors},
        )
        .sum("emp", split=by_sector, rho="0.1", accounting="exact", name="emp")
        .quantile("payann", "0.9", candidates=[0, "10.5", 1000], rho="0.05", name="ninth")
        .sum(
            "emp",
            parts=Parts(
                "sector",
                {
                    "11": splitting(small, rho="0.1", accounting="split"),
                    ...: clamping(0, 40, rho="0.2"),
                },
            ),
            name="mixed",
        )
    )


def test_cases_of_whole_numbers_and_truth_values(tmp_path):
    """The same keys are whole numbers where the column holds whole numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.table({"sector": [11], "large": [True], "emp": [1]})
    pq.write_table(rows, tmp_path / "est.parquet")
    loaded = parse_spec(
        """
        title: Kinds
        source: est.parquet
        dimensions: [sector, large]
        measures: [emp]
        splits:
          by_sector: {by: sector, cases: {"11": {emp: 5}}, default: {emp: 50}}
          by_size: {by: large, cases: {true: {emp: 5}, false: {emp: 50}}}
        budget: {rho: 1, splits: [by_sector, by_size]}
        queries: [{name: all, answers: {emp: {sum: emp, split: by_sector, rho: 0.1}}}]
        """,
        tmp_path / "release.yaml",
    )
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
    by_sector = Split.by("sector", {11: Split(emp=5)}, Split(emp=50))
    by_size = Split.by("large", {True: Split(emp=5), False: Split(emp=50)})
    assert workload.budget == Policy.largest(Policy.split(1, by_sector), Policy.split(1, by_size))


def test_sql_gets_its_options_by_name():
    """The query is what from_sql gives for the same text and options."""
    loaded = load_spec(SPECS / "good" / "sectors.yaml")
    with open_table(loaded) as table:
        found = build(loaded, table.schema).queries[1].query
        expected = from_sql(
            loaded.spec.queries[1].sql,
            schema=table.schema,
            keys=Keys.from_dict({"sector": ["11", "21"]}),
            rho={"n": "0.1", "pay": ("0.1", "0.05"), "middle": "0.02"},
            split={"pay": Split(emp=10, payann=500)},
            candidates={"middle": [Fraction(step, 2) for step in range(201)]},
            accounting="exact",
        )
    assert found == expected


def test_examples_are_rounded_and_derived():
    """An example is the record that the policy sees, and its loss can be worked out."""
    workload = workload_of("sectors.yaml")
    name, record = workload.examples[0]
    assert name == "a mine"
    assert record == {"sector": "21", "county": "37001", "emp": 250, "payann": 9000}
    assert workload.policy.loss(record) > 0


def test_fields_carry_labels_units_and_grids():
    """What the published policy needs to know of each field."""
    fields = {each.name: each for each in workload_of("everything.yaml").fields}
    pay = fields["payann"]
    assert (pay.kind, pay.label, pay.unit) == ("measure", "Annual payroll", "$1,000")
    assert (pay.resolution, pay.largest, pay.outside) == (1, 10**9, "cut")
    assert fields["state"].kind == "text"


# -- the canonical text -------------------------------------------------------------------------


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_the_canonical_text_is_a_spec_that_means_the_same(path):
    """It loads, equals the spec it came from, and is its own canonical text."""
    loaded = load_spec(path)
    again = parse_spec(loaded.canonical, path)
    assert again.spec == loaded.spec
    assert again.canonical == loaded.canonical
    assert json.loads(loaded.canonical)["title"] == loaded.spec.title


def test_layout_does_not_change_the_canonical_text():
    """Comments, quotes, order of keys and spelling of numbers are no part of it; amounts are."""
    one = parse_spec(SMALL.replace("RHO", "0.50"))
    other = parse_spec(
        "# a comment\nqueries:\n- answers:\n    records:\n      rho: 1/10\n      count: 'records'\n"
        '  name: all\nbudget:\n  rho: "0.5"\nsource: {path: est.csv}\ntitle: Establishments\n'
        "table: records\n"
    )
    assert one.canonical == other.canonical
    assert parse_spec(SMALL.replace("RHO", "0.51")).canonical != one.canonical


def test_order_of_answers_is_part_of_the_canonical_text():
    """Columns are published in the order that the spec gives."""
    first = SMALL.replace("RHO", "1").replace(
        "{records: {", "{others: {count: records, rho: 0.1}, records: {"
    )
    second = SMALL.replace("RHO", "1").replace(
        "rho: 0.1}}", "rho: 0.1}, others: {count: records, rho: 0.1}}"
    )
    assert parse_spec(first).canonical != parse_spec(second).canonical


def test_paths_are_relative_to_the_spec(tmp_path, monkeypatch):
    """Wherever the command runs; the folder is no part of the canonical text."""
    text = SMALL.replace("RHO", "1") + "ledger: a.ledger\nkeys: {k: {file: keys/k.csv}}\n"
    (tmp_path / "release.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path.parent)
    loaded = load_spec(Path(tmp_path.name) / "release.yaml")
    assert loaded.source == tmp_path / "est.csv"
    assert loaded.ledger == tmp_path / "a.ledger"
    assert loaded.public_files == (tmp_path / "keys" / "k.csv",)
    assert loaded.canonical == parse_spec(text).canonical


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("sqlite:///a.db", "sqlite:///a.db"),
        ("sqlite://a.db", "sqlite://{folder}/a.db"),
        ("duckdb://data/my%20est.db", "duckdb://{folder}/data/my%20est.db"),
        ("postgres://user:x@host/a.db", "postgres://user:x@host/a.db"),
    ],
)
def test_an_address_of_a_file_is_relative_to_the_spec(tmp_path, monkeypatch, written, expected):
    """Two slashes begin a path from the folder of the spec, three an absolute one."""
    text = SMALL.replace("RHO", "1").replace("est.csv", f"{{path: '{written}', relation: est}}")
    (tmp_path / "release.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path.parent)
    loaded = load_spec(tmp_path / "release.yaml")
    assert loaded.source == expected.format(folder=tmp_path)
    assert loaded.source_files == ()


# -- the JSON Schema ----------------------------------------------------------------------------


def plain(value):
    """Return values as an editor's YAML parser reads them."""
    match value:
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case WrittenNumber():
            return float(value)
    return value


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_specs_meet_the_json_schema(path):
    """So that an editor does not underline what loads."""
    document = parse_document(path.read_text(encoding="utf-8"), path.name)
    jsonschema.Draft202012Validator(spec_schema()).validate(plain(document.value))


@pytest.mark.parametrize(
    "name",
    ["unknown-key", "missing-title", "missing-budget", "missing-query-name", "no-queries",
     "wrong-type-list", "wrong-type-mapping", "number-for-text", "text-for-truth",
     "query-name-with-spaces", "comma-in-flow", "list-at-top", "bad-accounting",
     "clamp-of-three"],
)  # fmt: skip
def test_mistakes_of_shape_do_not_meet_the_json_schema(name):
    """What an editor underlines before anything runs."""
    (path,) = (SPECS / "mistakes").glob(f"[0-9][0-9][0-9]-{name}.yaml")
    document = parse_document(path.read_text(encoding="utf-8"), path.name)
    assert not jsonschema.Draft202012Validator(spec_schema()).is_valid(plain(document.value))


def test_every_field_of_the_json_schema_is_described():
    """An editor shows what a key is for."""
    schema = spec_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for entry in [schema, *schema["$defs"].values()]:
        for name, field in entry["properties"].items():
            assert field.get("description"), name


# -- hints --------------------------------------------------------------------------------------


def hints(text: str, *, built: bool = False) -> list[str]:
    """Return the hints about a spec, without their places."""
    loaded = parse_spec(text, SPECS / "release.yaml")
    workload = None
    if built:
        with open_table(loaded) as table:
            workload = build(loaded, table.schema)
    return [hint.split(": ", 2)[2] for hint in warnings_of(loaded, workload)]


ASKING = """
title: Hints
source: est.csv
dimensions: [county]
measures: [emp, payann]
splits: {moderate: {emp: 50}}
keys: {}
budget: {rho: 1, splits: [moderate]}
queries:
  - name: all
    answers:
      emp: {sum: emp, split: moderate, rho: 0.1}
"""


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("{emp: 50}", "{emp: 1234567}", "the threshold 1234567 looks computed from data"),
        ("split: moderate, rho: 0.1", "clamp: [0, 51237], rho: 0.1", "the bound 51237 looks"),
        ("split: moderate, rho: 0.1", "taper: 51237, rho: 0.1", "the size 51237 looks"),
        ("keys: {}", "keys: {}\ntapers: {usual: {emp: 51237}}", "the size 51237 looks"),
        ("splits: [moderate]}",
         "tapers: [{measure: emp, at: 51237, rho: 0.1}]}", "the size 51237 looks"),
        ("splits: [moderate]}",
         "tapers: [{measure: emp, at: 50, rho: 0.1, times: 101}]}", "10.1 protects nobody"),
        ("keys: {}", "keys: {k: {file: est.txt}}", "'est.txt' lies beside the source"),
        ("{rho: 1,", "{rho: 11,", "11 protects nobody"),
        ("rho: 0.1}", "rho: 20}", "20 protects nobody"),
        ("keys: {}", "keys: {k: {select: {rho: 0.1, delta: 0.01}}}", "a delta of 0.01 reveals"),
        ("{sum: emp, split: moderate,", "{median: emp, candidates: [0, 5],", "2 candidates"),
        ("{sum: emp, split: moderate,", "{median: emp, candidates: [1, 5],", "0 is not among the"),
        ("{sum: emp, split: moderate,", "{median: emp, candidates: [0,1,2,3,4,5,6,7,8,90],",
         "no candidate lies between 8 and 90"),
        ("{sum: emp, split: moderate,", "{quantile: emp, level: 1, candidates: [0, 5],",
         "every candidate at or above the largest value is as good"),
        ("{sum: emp, split: moderate,", "{sum: payann, clamp: [0, 50],", "'payann' is cut off"),
    ],
)  # fmt: skip
def test_what_looks_wrong_is_hinted_at(old, new, hint):
    """Each hint has a spec that calls for it; the unchanged spec calls for none."""
    assert hints(ASKING) == []
    changed = ASKING.replace(old, new)
    assert changed != ASKING
    assert any(found.startswith(hint) for found in hints(changed)), hints(changed)


def test_keys_are_not_read_from_the_source_itself(tmp_path):
    """Keys found in the data reveal who is in it: this is no hint but a refusal."""
    (tmp_path / "est.csv").write_text("county,emp,payann\n37001,1,2\n")
    (tmp_path / "counties.csv").write_text("county\n37001\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "est.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "est.csv")
    for name in ("est.csv", "./est.csv", "link.csv", "hard.csv"):
        path = tmp_path / "release.yaml"
        path.write_text(ASKING.replace("keys: {}", f"keys: {{k: {{file: {name}}}}}"))
        with pytest.raises(SpecError, match="read from the source itself"):
            check_without_data(load_spec(path))
    path.write_text(ASKING.replace("keys: {}", "keys: {k: {file: counties.csv}}"))
    check_without_data(load_spec(path))


def test_a_budget_that_leaves_nothing_or_too_little():
    """Known once the queries are built."""
    assert hints(ASKING, built=True) == []
    whole = hints(ASKING.replace("rho: 0.1}", "rho: 1}"), built=True)
    assert whole == [
        "the queries use the whole budget; nothing is left for another release of this data."
    ]
    (over,) = hints(ASKING.replace("rho: 0.1}", "rho: 2}"), built=True)
    assert over.startswith("the queries cost some record more than the budget allows")


def test_a_hint_has_its_place():
    """File, line and path, as an error has."""
    loaded = parse_spec(ASKING.replace("{emp: 50}", "{emp: 1234567}"), "release.yaml")
    (hint,) = warnings_of(loaded)
    assert hint.startswith("release.yaml:6: splits.moderate.emp: the threshold 1234567 looks")


# -- the guide ----------------------------------------------------------------------------------

GUIDE = (DOCS / "spec.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", GUIDE, re.S | re.M)
WHOLE = [block for block in BLOCKS if block.startswith("title:")]
PIECES = [block for block in BLOCKS if not block.startswith("title:")]


@pytest.mark.parametrize("block", WHOLE)
def test_the_specs_of_the_guide_build(block):
    """Every whole spec in docs/spec.md, on the table of these tests."""
    loaded = parse_spec(block, SPECS / "release.yaml")
    check_without_data(loaded)
    with open_table(loaded) as table:
        assert build(loaded, table.schema).queries


@pytest.mark.parametrize("block", PIECES)
def test_the_pieces_of_the_guide_load(block):
    """A piece of a spec replaces that piece of the guide's whole spec."""
    whole = parse_document(WHOLE[0], "spec.md").value
    piece = parse_document(block, "spec.md").value
    if "queries" in piece:
        del whole["tuning"]  # its goal is about a query that the piece replaces
    for name, value in piece.items():
        merges = name in ("splits", "keys", "dimensions", "measures")
        whole[name] = {**whole.get(name, {}), **value} if merges else value
    loaded = parse_spec(json.dumps(whole), SPECS / "release.yaml")
    check_without_data(loaded)
    with open_table(loaded) as table:
        assert build(loaded, table.schema).queries


def test_the_python_of_the_guide_runs(tmp_path, monkeypatch, capsys):
    """From a folder that holds the guide's first spec; it calls for no hint."""
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE, re.S | re.M)
    for name in ("est.csv", "counties.csv"):
        shutil.copy(SPECS / name, tmp_path)
    (tmp_path / "release.yaml").write_text(WHOLE[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out == ""


def test_the_guide_has_both():
    """Otherwise the two tests above would check nothing."""
    assert WHOLE
    assert len(PIECES) > 5


def test_a_spec_error_is_an_input_error_without_a_cause():
    """No engine's or parser's error hangs behind it."""
    with pytest.raises(SpecError) as caught:
        parse_spec("title: [")
    assert isinstance(caught.value, ValueError)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
