"""A key of a megabyte: by sessions, files, releases, ledgers, pages; one letter at its end decides.

A spec may be a quarter of a megabyte long, so that such a key comes from files and from the data.
The longest that a spec can state stands in the page too.
"""

import csv
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Keys, Query, Session, Split, table
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger
from perrecord.errors import SpecError
from perrecord.release import page as page_module
from perrecord.release.publish import release
from perrecord.release.reading import read_published
from perrecord.release.spec import build, load_spec, open_table
from perrecord.tables import keys as keys_module
from tests.browser.conftest import chromium, show  # noqa: F401 - fixtures
from tests.browser.typing import element
from tests.hostile.keys import LONG
from tests.hostile.keys_release import RHO, quoted
from tests.hostile.test_keys_pages import harm
from tests.hostile.test_keys_round_trip import as_it_is, asked

TWIN = LONG[:-1] + "!"
LISTED, LISTED_TWIN = LONG[:70_000], LONG[:69_999] + "!"
"""About as long as a spec can state them: both as values, and one as a case."""
VALUES = (LISTED, LISTED_TWIN, "short", *map(str, range(12)))
"""So many that the page offers a field to type in."""
COUNTS = {LONG: 7, TWIN: 4, LISTED: 3, LISTED_TWIN: 2, "short": 1}


def spec(values, cases):
    """Return a spec that states some keys, reads keys from a file and finds others."""
    return f"""\
title: Long keys
source: est.parquet
table: est
id: id
dimensions: {{key: {{expression: key, values: [{", ".join(map(quoted, values))}]}}}}
measures: {{emp: 1}}
splits:
  by_key: {{by: key, cases: {{{", ".join(f"? {quoted(key)} : {{emp: 1}}" for key in cases)}}},
    default: {{emp: 5}}}}
keys:
  declared: {{file: keys.csv, columns: [key]}}
  found: {{select: {{rho: {RHO}, delta: 1e-6}}}}
budget:
  rho: 1000000
  splits: [by_key]
  selections: [{{keys: [key], rho: {RHO}, delta: 1e-6}}]
ledger: est.ledger
outputs: {{csv: true}}
queries:
  - {{name: declared, group_by: key, keys: declared,
     answers: {{n: {{count: records, rho: {RHO}}}, emp: {{sum: emp, split: by_key, rho: {RHO}}}}}}}
  - {{name: found, group_by: key, keys: found, answers: {{n: {{count: records, rho: {RHO}}}}}}}
"""


def written(folder, text):
    """Write the records, the keys and the spec; return the spec's path."""
    each = [key for key, count in COUNTS.items() for _ in range(count)]
    columns = {"id": [*range(len(each))], "key": each, "emp": [10] * len(each)}
    pq.write_table(pa.table(columns), folder / "est.parquet")
    with (folder / "keys.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["key"], *([key] for key in COUNTS)])
    (folder / "release.yaml").write_text(text, "utf-8")
    return folder / "release.yaml"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A release of long keys: declared, found, listed, and the case of a split."""
    folder = tmp_path_factory.mktemp("long")
    path = written(folder, spec(VALUES, [LISTED]))
    loaded = load_spec(path)
    with open_table(loaded) as opened:
        workload = build(loaded, opened.schema)
    Ledger.create(loaded.ledger, workload.budget)
    return release(path, folder / "out").folder


def counts(rows, name):
    """Return an answer by its key."""
    return dict(zip(rows["key"].to_pylist(), rows[name].to_pylist(), strict=True))


def from_csv(path):
    """Return the keys of one of our CSV files."""
    csv.field_size_limit(10**8)
    with path.open(newline="", encoding="utf-8") as file:
        return [as_it_is(row[0]) for row in csv.reader(file)][1:]


def test_a_session_and_its_files_keep_a_long_key(tmp_path):
    """Keys as columns and as a file, answers as CSV and Parquet."""
    found = asked(tmp_path, [LONG, LONG, TWIN])
    assert counts(found.table, "count") == {LONG: 2, TWIN: 1}
    found.write_csv(tmp_path / "long.csv")
    found.write_parquet(tmp_path / "long.parquet")
    assert {*from_csv(tmp_path / "long.csv")} == {LONG, TWIN}
    assert {*pq.read_table(tmp_path / "long.parquet")["key"].to_pylist()} == {LONG, TWIN}
    written(tmp_path, "")
    assert {row[0] for row in Keys.read(tmp_path / "keys.csv")} == {*COUNTS}


def test_a_release_declares_and_finds_a_long_key(out, record_property):
    """From a file of keys, and by selection from the data; in Parquet and CSV."""
    several = {key: count for key, count in COUNTS.items() if count > 1}
    for name, wanted in (("declared", COUNTS), ("found", several)):
        rows = pq.read_table(out / "tables" / f"{name}.parquet")
        assert counts(rows, "n") == wanted
        assert {*from_csv(out / "tables" / f"{name}.csv")} == {*wanted}
        longest = max(len(key) for key in rows["key"].to_pylist())
    rows = pq.read_table(out / "tables" / "declared.parquet")
    assert counts(rows, "emp") == {key: 10 * count for key, count in COUNTS.items()}
    assert longest > 1 << 20
    record_property("characters of the longest key, declared and found", longest)


def test_a_ledger_keeps_a_long_case(tmp_path):
    """A split by such a key, in its budget and in a charge; read back, the loss is the case's."""
    split = Split.by("key", {LONG: Split(emp=1)}, Split(emp=5))
    source = pa.table({"key": [LONG, TWIN], "emp": [10, 10]})
    path = tmp_path / "s.ledger"
    with table(source, name="est", dimensions=["key"], measures=["emp"]) as opened:
        session = Session(opened, ledger=path, budget=Budget(10, split), new=True)
        session.ask(Query("est").sum("emp", split=split, rho=1))
    spent = Ledger.open(path).spent()
    assert spent.loss({"key": LONG, "emp": 10}) == 100
    assert spent.loss({"key": TWIN, "emp": 10}) == 4


def test_a_spec_that_states_a_megabyte_is_told_where_to_put_it(tmp_path):
    """In values and as a case; the advice is what the release above does."""
    for values, cases in (([LONG], ["short"]), (["short"], [LONG])):
        with pytest.raises(SpecError, match="put long lists into files"):
            load_spec(written(tmp_path, spec(values, cases)))


@cache
def in_page(key):
    """Return an expression of JavaScript for one of our keys, without sending a megabyte."""
    start = f"({quoted(LONG[0])} + {quoted(LONG[1:12])}.repeat(100000))"
    ending = "" if LONG.startswith(key) else key[-1]
    return f"{start}.slice(0, {len(key) - len(ending)}) + {quoted(ending)}"


LOOKED_UP = """(() => {
  const control = %s, key = %s;
  control.value = key;
  control.dispatchEvent(new Event("input", {bubbles: true}));
  const shown = document.getElementById("result").dataset;
  return [control.value === key, key.length, shown.state, shown.loss];
})()"""


def looked_up(tab, name, key):
    """Return what the page shows for a long key."""
    return tab.evaluate(LOOKED_UP % (element(name), in_page(key)))


def wanted(published, key):
    """Return the loss of a record of ten employees and this key."""
    return str(published.loss({"emp": "10", "key": key}))


@pytest.mark.browser
def test_long_keys_are_looked_up_in_the_page(out, show, record_property):  # noqa: F811
    """A megabyte put into the field, and keys that stand in the page itself; nothing runs."""
    published = read_published((out / "policy.json").read_text("utf-8"))
    tab = show((out / "policy.html").read_text("utf-8"))
    tab.evaluate(f"{element('emp')}.value = '10', 0")
    assert wanted(published, LISTED) != wanted(published, LISTED_TWIN)
    for key in (LISTED, LISTED_TWIN, LONG, TWIN, LISTED):
        shown = [True, len(key), "valid", wanted(published, key)]
        assert looked_up(tab, "key", key) == shown
    tab.settle()
    assert harm(tab) == [None, 2, 0, 0, [], []]
    record_property("pages opened", 1)


# -- positive controls -------------------------------------------------------------------------


def cut(value):
    """Return data with the last letter of every long text lost."""
    match value:
        case str():
            return value[:-1] if len(value) > 1000 else value
        case dict():
            return {cut(key): cut(each) for key, each in value.items()}
        case list() | tuple():
            return [cut(each) for each in value]
    return value


def test_a_key_set_that_cuts_long_keys_is_caught(tmp_path, monkeypatch):
    """Broken twin: two keys become one, which has no record."""
    original = keys_module._stored

    def cutting(column, name):
        stored = original(column, name)
        return pa.chunked_array([pa.array(cut(stored.to_pylist()), stored.type)])

    monkeypatch.setattr(keys_module, "_stored", cutting)
    assert counts(asked(tmp_path, [LONG, LONG, TWIN]).table, "count") != {LONG: 2, TWIN: 1}


@pytest.mark.browser
def test_a_page_that_cuts_long_keys_is_caught(out, show, monkeypatch):  # noqa: F811
    """Broken twin: the page holds them without their last letter."""
    published = read_published((out / "policy.json").read_text("utf-8"))
    original = page_module._embedded
    monkeypatch.setattr(page_module, "_embedded", lambda data: original(cut(data)))
    tab = show(published)
    tab.evaluate(f"{element('emp')}.value = '10', 0")
    assert looked_up(tab, "key", LISTED)[-1] != wanted(published, LISTED)
