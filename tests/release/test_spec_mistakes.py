"""Mistakes in specs: each file of specs/mistakes has its message in the .txt beside it.

To add one, write NN-name.yaml and the message that it ought to give. Files are loaded from their
own folder, then checked, opened on ../est.csv and built, until one of these steps refuses.
"""

import contextlib
import functools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord import SpecError
from perrecord.release.spec import (
    build,
    check_without_data,
    load_spec,
    open_table,
    parse_spec,
    spec_schema,
)
from perrecord.release.spec.read import parse_document

SPECS = Path(__file__).parent / "specs"
MISTAKES = SPECS / "mistakes"
NAMES = sorted(path.stem for path in MISTAKES.glob("*.yaml"))


def refused(path: str) -> SpecError:
    """Return the error of a spec that has one."""
    with pytest.raises(SpecError) as caught:
        run(path)
    return caught.value


def run(path: str) -> None:
    """Take a spec all the way to a workload."""
    loaded = load_spec(path)
    check_without_data(loaded)
    with open_table(loaded) as table:
        build(loaded, table.schema)


@pytest.mark.parametrize("name", NAMES)
def test_a_mistake_is_shown_at_its_place(name, monkeypatch):
    """File, line, path; what was found, what was expected, what is close."""
    monkeypatch.chdir(MISTAKES)
    expected = (MISTAKES / f"{name}.txt").read_text(encoding="utf-8")
    error = refused(f"{name}.yaml")
    assert f"{error}\n" == expected
    assert error.__cause__ is None


def test_there_are_many_mistakes_and_every_one_has_its_message():
    """A message without its file would check nothing."""
    assert len(NAMES) >= 100
    assert sorted(path.stem for path in MISTAKES.glob("*.txt")) == NAMES


def test_every_key_of_a_spec_is_told_where_it_belongs():
    """Written at the top, whatever section it is a key of is named."""
    schema = spec_schema()
    top = set(schema["properties"])
    inside = {
        key for each in schema["$defs"].values() for key in each.get("properties", ())
    } - top  # fmt: skip
    assert len(inside) > 50
    for key in inside:
        with pytest.raises(SpecError) as caught:
            parse_spec(f"title: x\nsource: x.csv\nbudget: {{rho: 1}}\nqueries: []\n{key}: 1\n")
        (said,) = (each for each in str(caught.value).splitlines() if f"no key {key!r}" in each)
        assert "It belongs under " in said


def test_a_file_that_is_not_there(tmp_path):
    """Or may not be read."""
    assert "there is no such file" in str(refused(str(tmp_path / "release.yaml")))


def test_a_huge_file_is_not_read(tmp_path):
    """Long lists belong into files of keys."""
    path = tmp_path / "release.yaml"
    path.write_text("title: x\n" + "# padding\n" * 30_000, encoding="utf-8")
    assert "longer than 250,000 bytes" in str(refused(str(path)))


def test_a_long_number_is_not_read(tmp_path):
    """It would slow everything that touches it."""
    path = tmp_path / "release.yaml"
    path.write_text(f"title: x\nbudget: {{rho: {'9' * 2000}}}\n", encoding="utf-8")
    assert str(refused(str(path))).endswith(
        "release.yaml:2: budget.rho: a number of more than 1000 digits; expected fewer."
    )


def test_an_unreadable_source_is_shown_at_the_source(tmp_path):
    """The engine's own words stay inside."""
    (tmp_path / "est.parquet").write_bytes(b"PAR1 no parquet")
    path = tmp_path / "release.yaml"
    path.write_text(
        "title: x\nsource: est.parquet\nbudget: {rho: 1}\n"
        "queries: [{name: q, answers: {n: {count: records, rho: 0.1}}}]\n",
        encoding="utf-8",
    )
    error = refused(str(path))
    assert "release.yaml:2: source: the file" in str(error)
    assert "could not be read as Parquet" in str(error)


def test_a_large_product_of_keys_is_refused_before_it_is_made(tmp_path):
    """It would exhaust memory; a domain does not."""
    rows = "".join(f"{number:06}\n" for number in range(20_000))
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"{name}\n{rows}", encoding="utf-8")
    path = tmp_path / "release.yaml"
    path.write_text(
        "title: x\nsource: est.csv\ndimensions: [a, b]\nbudget: {rho: 1}\n"
        "keys: {a: {file: a.csv}, b: {file: b.csv}, both: {product: [a, b]}}\n"
        "queries: [{name: q, answers: {n: {count: records, rho: 0.1}}}]\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError, match="the product has 400,000,000 keys"):
        check_without_data(load_spec(path))


MENDED = [
    ("124", "thresholds: {emp: 1}, split: moderate, cap: 3", "split: moderate"),
    ("124", "thresholds: {emp: 1}, split: moderate, cap: 3", "thresholds: {emp: 1}, cap: 3"),
    ("126", '"1_1": moderate', '"-11": moderate, "0": moderate'),
    ("127", '"011"', "11"),
    ("130", '"True"', '"False"'),
    ("131", "TRUE", "FALSE"),
    ("132", "{null: median}", '{"nil": median}'),
    ("133", "~:", "none:"),
    ("134", "../headless.csv", "../est.csv"),
    ("136", "../headless_twice.csv", "../est.csv"),
    ("137", "est_by_COUNTY", "est_by_STATE"),
    ("138", "est_total", "est_totals"),
    ("138", "rollup:", "group_by:"),
    ("140", "e" * 101, "e" * 100),
    ("142", "rollup:", "group_by:"),
    ("144", "a" * 99, "a" * 93),
    ("160", "a" * 99, "a" * 93),
    ("161", "ROLLUP (", "("),
    ("162", "est_total", "est_totals"),
    ("163", "1e31", "1e30"),
]


@pytest.mark.parametrize(("number", "wrong", "right"), MENDED)
def test_a_mistake_that_is_mended_is_none(number, wrong, right, tmp_path):
    """What is refused is refused for that alone."""
    (path,) = MISTAKES.glob(f"{number}-*.yaml")
    text = path.read_text(encoding="utf-8")
    assert wrong in text
    mended = text.replace(wrong, right).replace("../", f"{SPECS}/")
    (tmp_path / path.name).write_text(mended, encoding="utf-8")
    run(str(tmp_path / path.name))


def test_no_message_about_a_csv_file_without_header_quotes_its_first_line():
    """Whatever the spec declares."""
    for path in MISTAKES.glob("13*-csv-*.txt"):
        text = path.read_text(encoding="utf-8")
        assert not any(value in text for value in ("SECRET", "Mary", "111110", "12.5"))


EVERYTHING = parse_document((SPECS / "good" / "everything.yaml").read_text("utf-8"), "x")
JUNK = st.sampled_from(
    [None, True, -1, 0, 7, 10**30, "", "x", "0.1", "county", "moderate", "1/0", "*", [], [[]],
     ["county", "county"], [1, 2], [None], {}, {"": 1}, {"by": 1}, {"from": "cells"}, {"x": {}},
     {"split": "moderate"}, {"thresholds": {}}, {"sets": {}}, {"keys": "cells"}, {"domain": "wide"}]
)  # fmt: skip


def replaced(value, path, junk):
    """Return the value with one place of it changed."""
    if not path:
        return junk
    first, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, first: replaced(value[first], rest, junk)}
    return [replaced(each, rest, junk) if n == first else each for n, each in enumerate(value)]


@settings(max_examples=75)
@given(st.sampled_from(sorted(EVERYTHING.lines, key=str)), JUNK)
def test_whatever_stands_anywhere_is_read_or_refused(path, junk):
    """No value at any place of a spec gives another error than a SpecError."""
    text = json.dumps(replaced(EVERYTHING.value, path, junk))
    schema = _schema()
    with contextlib.suppress(SpecError):
        loaded = parse_spec(text, SPECS / "good" / "changed.yaml")
        check_without_data(loaded)
        if all(getattr(loaded.spec, each) == getattr(ORIGINAL, each) for each in DECLARED):
            build(loaded, schema)


DECLARED = ("source", "table", "id", "unit", "dimensions", "measures", "lookups")
ORIGINAL = load_spec(SPECS / "good" / "everything.yaml").spec


@functools.cache
def _schema():
    """Return the schema that the unchanged declarations give."""
    with open_table(load_spec(SPECS / "good" / "everything.yaml")) as table:
        return table.schema
