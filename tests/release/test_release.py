"""A release from end to end: charged once, sealed, published whole, whatever happens."""

import contextlib
import errno
import json
import os
import re
import sqlite3
import warnings
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import (
    BudgetExceededError,
    InputError,
    Ledger,
    LedgerError,
    ReleaseError,
    SourceError,
    SpecError,
)
from perrecord.laws import DiscreteStudent
from perrecord.release import publish
from perrecord.release.identity import identity_of
from perrecord.release.publish import ledger_of, release, staging_folder
from perrecord.release.reading import read_published
from perrecord.release.spec import build, load_spec, open_table
from tests.noise.checks import Replayed

SPEC = """\
title: Farms by state
source: farms.parquet
table: farms
id: id
dimensions:
  state: {label: State, values: [NM, TX, VA]}
measures:
  cattle: {resolution: 1, label: Head of cattle}
splits:
  moderate: {cattle: 50}
keys:
  states: {values: {state: [NM, TX, VA]}}
  found: {select: {rho: 0.1, delta: 1e-6, split: moderate}}
budget:
  rho: 2
  splits: [moderate]
  selections: [{keys: [state], rho: 0.1, delta: 1e-6, split: moderate}]
ledger: farms.ledger
queries:
  - name: states
    title: Farms and cattle by state
    rollup: [state]
    keys: states
    answers:
      farms: {count: records, rho: 0.1}
      cattle: {sum: cattle, split: moderate, rho: 0.2}
      median: {median: cattle, candidates: [0, 10, 50, 100], rho: 0.1}
      mean: {average: cattle, clamp: [0, 100], rho: 0.1}
  - name: selected
    group_by: [state]
    keys: found
    answers:
      farms: {count: records, rho: 0.1}
post_processing: {floor_at_zero: true, round: {mean: 1}}
outputs: {csv: true}
examples:
  - {name: a small farm, cattle: 12, state: TX}
  - {name: a feedlot, cattle: 20000, state: TX}
"""
ROWS = {
    "id": list(range(60)),
    "state": ["TX", "NM", "TX"] * 20,
    "cattle": [7, 30, 9000] + [12] * 57,
}
FILES = [
    "datapackage.json",
    "manifest.json",
    "methodology.md",
    "policy.html",
    "policy.json",
    "tables/selected.csv",
    "tables/selected.parquet",
    "tables/states_by_state.csv",
    "tables/states_by_state.parquet",
    "tables/states_total.csv",
    "tables/states_total.parquet",
]


def prepared(folder: Path, rows=ROWS, spec=SPEC, *, ledger=True) -> Path:
    """Write a spec and its data, and make the ledger; return the spec's path."""
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table(rows), folder / "farms.parquet")
    path = folder / "release.yaml"
    path.write_text(spec)
    if ledger:
        loaded = load_spec(path)
        with open_table(loaded) as table:
            Ledger.create(loaded.ledger, build(loaded, table.schema).budget)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_name_that_the_spec_takes_can_be_published(tmp_path):
    """One rule for both: 200 characters, as many as a table's name may have."""
    query, column = "q" * 96, "c" * 100
    text = SPEC.replace("  - name: states\n", f"  - name: {query}\n")
    text = text.replace("  state: {label", f"  {column}: state\n  state: {{label")
    text = text.replace("rollup: [state]", f"rollup: [{column}]")
    text = text.replace("{values: {state: [", f"{{values: {{{column}: [")
    out = tmp_path / "out"
    release(prepared(tmp_path, spec=text), out)
    name = f"tables/{query}_by_{column}.parquet"
    assert len(Path(name).stem) == 200
    assert (out / name).is_file()


def test_a_release_writes_these_files_and_nothing_else(tmp_path):
    """Tables with every declared key, the policy, the page, the method, a manifest of digests."""
    spec, out = prepared(tmp_path), tmp_path / "out"
    outcome = release(spec, out)
    files = contents(out)
    assert sorted(files) == FILES
    assert outcome.did == "made"
    manifest = json.loads(files.pop("manifest.json"))
    assert {name: sha256(found).hexdigest() for name, found in files.items()} == {
        name: each["sha256"] for name, each in manifest["files"].items()
    }
    assert manifest["charge"] == outcome.charge.hash
    rows = pq.read_table(out / "tables/states_by_state.parquet")
    assert rows["state"].to_pylist() == ["NM", "TX", "VA"]
    for name in ("farms", "farms_se", "farms_low", "farms_high", "farms_floored", "median"):
        assert name in rows.column_names
    assert "mean_rounded" in rows.column_names
    assert (out / "tables").stat().st_mode & 0o777 == 0o755
    described = json.loads(files["datapackage.json"])
    fields = {each["name"] for each in described["resources"][0]["schema"]["fields"]}
    assert fields == set(rows.column_names)


def test_a_table_is_described_by_its_own_answers(tmp_path):
    """Another table may have an answer of the same name and of another kind."""
    text = SPEC.replace("mean: {average", "farms2: {average").replace(
        "round: {mean: 1}", "round: {}"
    )
    text = text.replace(
        "      farms: {count: records, rho: 0.1}\npost",
        "      farms2: {count: records, rho: 0.1}\npost",
    )
    release(prepared(tmp_path, spec=text), tmp_path / "out")
    described = json.loads((tmp_path / "out" / "datapackage.json").read_bytes())
    words = {
        each["name"]: {field["name"]: field["description"] for field in each["schema"]["fields"]}
        for each in described["resources"]
    }
    assert "delta method" in words["states_by_state"]["farms2_se"]
    assert "standard deviation of the noise" in words["selected"]["farms2_se"]


def test_the_published_policy_is_that_of_the_workload(tmp_path):
    """Anybody can recompute it: the sum of all answers, below the budget that it names."""
    out = tmp_path / "out"
    charge = release(prepared(tmp_path), out).charge
    published = read_published((out / "policy.json").read_text())
    feedlot = {"state": "TX", "cattle": "9000"}
    pieces = 9000 // 50
    twice = 2  # by state and in total
    expected = (twice * 3 + 1 + pieces**2 * (twice * 2 + 1)) * published.total.minimum() / 12
    assert published.total == charge.policy
    assert published.loss(feedlot) == expected
    assert published.total.minimum() * 10 == 12
    assert float(published.delta(feedlot)) > 0.99
    assert published.budget == Ledger.open(tmp_path / "farms.ledger").budget
    assert [share.charge.name for share in published.breakdown(feedlot)][-2:] == [
        "selected.keys",
        "selected.farms",
    ]


def test_intervals_are_left_out_where_nobody_wants_them(tmp_path):
    """Standard errors stay, and no document speaks of intervals."""
    spec = prepared(tmp_path, spec=SPEC.replace("csv: true", "csv: true, intervals: false"))
    release(spec, tmp_path / "out")
    for path in (tmp_path / "out/tables").glob("*.parquet"):
        names = pq.read_schema(path).names
        assert not [name for name in names if name.endswith(("_low", "_high"))]
        assert [name for name in names if name.endswith("_se")]
    files = contents(tmp_path / "out")
    for name in ("methodology.md", "datapackage.json"):
        assert b"onfidence interval" not in files[name]


def test_a_retry_is_charged_once_and_gives_the_sealed_bytes(tmp_path):
    """To the same folder nothing is done; to another one the same bytes go."""
    spec, out, other = prepared(tmp_path), tmp_path / "out", tmp_path / "other"
    release(spec, out)
    assert release(spec, out).did == "nothing"
    assert release(spec, other).did == "published again"
    assert contents(out) == contents(other)
    kinds = [type(entry).__name__ for entry in Ledger.open(tmp_path / "farms.ledger").entries()]
    assert kinds == ["Creation", "Charge", "Seal", "Publication", "Publication"]


@pytest.mark.parametrize(
    "stage", ["released_table", "release_files", "staging.write_files", "seal"]
)
def test_before_the_seal_a_retry_draws_fresh_noise_under_the_same_charge(
    tmp_path, monkeypatch, stage
):
    """Whatever was computed was never seen, and is not used."""
    spec, out = prepared(tmp_path), tmp_path / "out"

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if stage == "seal":
            patch.setattr(Ledger, "seal", interrupted)
        else:
            patch.setattr(f"perrecord.release.publish.{stage}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            release(spec, out)
    assert not out.exists()
    loaded = load_spec(spec)
    ledger = ledger_of(loaded)
    (charge,) = ledger.entries()[1:]
    staged = staging_folder(ledger, charge.identity)
    before = contents(staged) if staged.exists() else {}
    assert release(spec, out).did == "made"
    assert len(ledger.entries()) == 4
    assert before.get("tables/states_total.parquet") != contents(out)["tables/states_total.parquet"]


def test_after_the_seal_a_retry_publishes_what_was_sealed(tmp_path, monkeypatch):
    """Interrupted between seal and publication: the bytes are those of the seal."""
    spec, out = prepared(tmp_path), tmp_path / "out"

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("perrecord.release.publish.staging.publish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            release(spec, out)
    ledger = ledger_of(load_spec(spec))
    staged = staging_folder(ledger, ledger.entries()[1].identity)
    sealed = contents(staged)
    assert staged.stat().st_mode & 0o777 == 0o700
    assert release(spec, out).did == "published again"
    published = contents(out)
    assert published == {name: sealed[name] for name in sealed if not name.startswith("numbers/")}
    assert sorted(published) == FILES


def test_sealed_bytes_that_are_lost_cannot_be_made_again(tmp_path, monkeypatch):
    """Fresh noise under a seal would be a second release for one charge."""
    spec = prepared(tmp_path)
    release(spec, tmp_path / "out")
    ledger = ledger_of(load_spec(spec))
    staged = staging_folder(ledger, ledger.entries()[1].identity)
    (staged / "policy.json").write_text("{}")
    with pytest.raises(ReleaseError, match="Restore that folder from a backup"):
        release(spec, tmp_path / "other")


def test_changed_data_or_a_changed_spec_is_another_release(tmp_path):
    """It is charged for itself; the budget ends it."""
    spec = prepared(tmp_path)
    release(spec, tmp_path / "out")
    rows = {**ROWS, "cattle": [8, *ROWS["cattle"][1:]]}
    pq.write_table(pa.table(rows), tmp_path / "farms.parquet")
    with pytest.raises(BudgetExceededError):
        release(spec, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_the_identity_of_a_release_is_of_the_files_that_are_read(tmp_path):
    """A link to one of them adds no record and is no other data; another file is both."""
    spec = prepared(tmp_path, spec=SPEC.replace("source: farms.parquet", "source: '*.parquet'"))
    loaded, secret = load_spec(spec), bytes(32)
    before = identity_of(loaded, secret)
    (tmp_path / "link.parquet").symlink_to(tmp_path / "farms.parquet")
    (tmp_path / "hard.parquet").hardlink_to(tmp_path / "farms.parquet")
    (tmp_path / "zzz.parquet").hardlink_to(tmp_path / "farms.parquet")
    with open_table(loaded) as table:
        rows = table.engine.frame(f"SELECT count(*) AS n FROM {table.engine.relation}")
    assert rows.to_pydict() == {"n": [60]}
    assert [path.name for path in loaded.source_files] == ["farms.parquet"]
    assert identity_of(loaded, secret) == before
    pq.write_table(pa.table(ROWS), tmp_path / "more.parquet")
    assert identity_of(loaded, secret) != before


CONSTANT = SPEC.replace("sum: cattle, split: moderate", "count: cattle").replace("rho: 2", "rho: 4")
CONSTANT = CONSTANT[: CONSTANT.index("  - name: selected")] + "outputs: {csv: true}\n"


def test_other_data_are_another_snapshot_of_the_ledger(tmp_path):
    """Another file is charged on top where its loss has a limit, and it is said before (T4)."""
    spec = prepared(tmp_path, spec=CONSTANT)
    remarks = []
    first = release(spec, tmp_path / "out", remark=remarks.append)
    other = pa.table({**ROWS, "cattle": [8, *ROWS["cattle"][1:]]})
    pq.write_table(other, tmp_path / "farms.parquet")
    second = release(spec, tmp_path / "other", remark=remarks.append)
    assert first.charge.snapshot != second.charge.snapshot
    assert remarks[0] is None
    assert "were made on another snapshot of the data" in remarks[1]
    pq.write_table(other, tmp_path / "farms-december.parquet")
    renamed = CONSTANT.replace("farms.parquet", "farms-december.parquet")
    spec.write_text(renamed.replace("Farms by", "Cattle by"))
    assert release(spec, tmp_path / "third").charge.snapshot == second.charge.snapshot
    spec.write_text(renamed.replace("count: cattle", "sum: cattle, split: moderate"))
    with pytest.raises(BudgetExceededError, match="they cost more the larger a record is"):
        release(spec, tmp_path / "fourth")


def test_the_identity_of_a_release_is_known_to_its_ledger_alone(tmp_path):
    """Whoever guesses the data cannot check the guess: another secret gives another identity."""
    loaded = load_spec(prepared(tmp_path))
    first, again, other = (identity_of(loaded, bytes([i]) * 32) for i in (1, 1, 2))
    assert first == again
    assert first.key != other.key
    assert first.snapshot != other.snapshot


def test_a_database_that_cannot_be_read_costs_no_budget(tmp_path):
    """Its declared columns are copied before the charge; once it can be read, it is released."""
    path = tmp_path / "farms.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE base (id INTEGER, state TEXT, cattle INTEGER)")
        rows = zip(*ROWS.values(), strict=True)
        connection.executemany("INSERT INTO base VALUES (?, ?, ?)", list(rows))
        fails = "abs(-9223372036854775807 - 1) > 0"
        connection.execute(f"CREATE VIEW farms AS SELECT * FROM base WHERE {fails}")
        connection.commit()
        source = "source: {path: 'sqlite://farms.db', relation: farms, snapshot: first}"
        spec = prepared(tmp_path, spec=SPEC.replace("source: farms.parquet", source))
        with pytest.raises(SourceError):
            release(spec, tmp_path / "out")
        ledger = ledger_of(load_spec(spec))
        assert ledger.spent().loss({"cattle": 1, "state": "TX"}) == 0
        connection.execute("DROP VIEW farms")
        connection.execute("CREATE VIEW farms AS SELECT * FROM base")
        connection.commit()
    assert release(spec, tmp_path / "out").did == "made"
    assert ledger.spent().loss({"cattle": 1, "state": "TX"}) > 0


def test_other_keys_are_another_release(tmp_path):
    """A list of keys that changed its rows makes other tables of the same snapshot of the data."""
    (tmp_path / "states.csv").write_text("state\nNM\nTX\nVA\n")
    listed = SPEC.replace("{values: {state: [NM, TX, VA]}}", "{file: states.csv}")
    loaded = load_spec(prepared(tmp_path, spec=listed))
    before = identity_of(loaded, bytes(32))
    (tmp_path / "states.csv").write_text("state\nNM\nTX\nVT\n")
    after = identity_of(loaded, bytes(32))
    assert before.key != after.key
    assert before.snapshot == after.snapshot


def test_one_release_is_made_by_one_process_at_a_time(tmp_path):
    """The second is told; once the first has ended the place is free."""
    lock = tmp_path / "private" / "release.lock"
    with contextlib.ExitStack() as both:
        both.enter_context(publish.staging.locked(lock))
        with pytest.raises(ReleaseError, match="another process"):
            both.enter_context(publish.staging.locked(lock))
    with publish.staging.locked(lock):
        pass


def test_no_file_of_a_release_says_where_it_was_made(tmp_path):
    """Neither the folder of the spec and the data nor that of the release."""
    folder = tmp_path / "a-telling-name"
    release(prepared(folder), folder / "out")
    found = contents(folder / "out")
    assert sorted(found) == FILES
    assert not [name for name, content in found.items() if b"a-telling-name" in content]


def test_a_copy_that_is_not_what_was_sealed_is_not_published(tmp_path):
    """A file that was spoilt since the seal, or on the way, leaves the place empty."""
    staged, out = tmp_path / "staged", tmp_path / "out"
    publish.staging.write_files(staged, {"policy.json": b"{}"})
    with pytest.raises(ReleaseError, match="not what was sealed"):
        publish.staging.publish(staged, {"policy.json": sha256(b"{ }").hexdigest()}, out)
    assert not out.exists()
    publish.staging.publish(staged, {"policy.json": sha256(b"{}").hexdigest()}, out)
    assert contents(out) == {"policy.json": b"{}"}


def test_a_publication_cut_short_leaves_nothing_in_its_place(tmp_path, monkeypatch):
    """The files appear under their public name all at once, and the next run finishes."""
    staged, out = tmp_path / "staged", tmp_path / "out"
    publish.staging.write_files(staged, {"a.json": b"1", "b.json": b"2"})
    sealed = publish.staging.digests(staged)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(publish.staging, "flush", interrupted)
        with pytest.raises(KeyboardInterrupt):
            publish.staging.publish(staged, sealed, out)
    assert not out.exists()
    publish.staging.publish(staged, sealed, out)
    assert publish.staging.digests(out) == sealed


def test_a_folder_that_is_in_the_way_is_left_alone(tmp_path):
    """And nothing is charged."""
    spec = prepared(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="exists already"):
        release(spec, tmp_path / "out")
    assert len(Ledger.open(tmp_path / "farms.ledger").entries()) == 1
    assert contents(tmp_path / "out") == {"mine.txt": b"mine"}


def test_a_folder_that_is_in_the_way_is_refused_before_the_source_is_read(tmp_path, monkeypatch):
    """Whoever mistypes --out does not wait for gigabytes to be hashed first."""
    spec = prepared(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "farms.parquet").unlink(missing_ok=True)
    monkeypatch.setattr(publish, "identity_of", None)
    with pytest.raises(ReleaseError, match="exists already"):
        release(spec, tmp_path / "out")


def test_files_of_others_are_not_read_to_see_that_a_release_is_there(tmp_path, monkeypatch):
    """A sealed release is not looked for file by file: one strange name will do."""
    spec = prepared(tmp_path)
    release(spec, tmp_path / "out")
    home = tmp_path / "home"
    publish.staging.write_files(home, {"manifest.json": b"{}"})
    (home / "photographs").mkdir()
    (home / "photographs" / "mine.jpg").write_bytes(b"mine")
    read, digests = [], publish.staging.digests
    monkeypatch.setattr(
        publish.staging, "digests", lambda folder: read.append(folder) or digests(folder)
    )
    with pytest.raises(ReleaseError, match="exists already"):
        release(spec, home)
    assert home not in read
    assert release(spec, tmp_path / "out").did == "nothing"
    assert tmp_path / "out" in read


def test_a_missing_ledger_is_not_made_on_the_way(tmp_path):
    """It may have been lost, with what was spent."""
    spec = prepared(tmp_path, ledger=False)
    with pytest.raises(LedgerError, match="perrecord ledger create"):
        release(spec, tmp_path / "out")
    assert not (tmp_path / "farms.ledger").exists()


def test_a_ledger_of_another_budget_is_refused(tmp_path):
    """The spec names the budget that its readers are told of."""
    spec = prepared(tmp_path)
    spec.write_text(SPEC.replace("rho: 2", "rho: 3"))
    with pytest.raises(SpecError, match="another budget"):
        release(spec, tmp_path / "out")


def test_what_depends_on_values_never_raises(tmp_path):
    """Null and duplicate ids, NaN, infinite and huge values: every row is a record."""
    rows = {
        "id": [1, 1, None, 2],
        "state": [None, "TX", "zz", "TX"],
        "cattle": [float("nan"), float("inf"), 1e300, -3.0],
    }
    assert release(prepared(tmp_path, rows), tmp_path / "out").did == "made"


def test_a_damaged_source_is_refused_before_anything_is_charged(tmp_path):
    """A truncated file is seen when it is opened."""
    spec = prepared(tmp_path)
    data = tmp_path / "farms.parquet"
    data.write_bytes(data.read_bytes()[:-20])
    with pytest.raises((SourceError, SpecError)):
        release(spec, tmp_path / "out")
    assert len(Ledger.open(tmp_path / "farms.ledger").entries()) == 1


@pytest.mark.parametrize("keys", ["states", "found"])
def test_neighbouring_data_differ_only_where_noise_was_added(tmp_path, keys):
    """With the same random bits: the same files, keys and rows; everything else the same bytes."""
    sides = []
    declared = SPEC.replace("    keys: found\n", f"    keys: {keys}\n")
    for name, rows in (("with", ROWS), ("without", {k: v[1:] for k, v in ROWS.items()})):
        spec = prepared(tmp_path / name, rows, declared)
        release(spec, tmp_path / name / "out", _bits=Replayed(5))
        sides.append(contents(tmp_path / name / "out"))
    with_record, without = sides
    assert list(with_record) == list(without)
    for name in ("policy.json", "policy.html", "methodology.md"):
        assert with_record[name] == without[name]
    packages = [json.loads(side["datapackage.json"]) for side in sides]
    for resource in packages[0]["resources"] + packages[1]["resources"]:
        resource |= {"bytes": 0, "hash": ""}
    assert packages[0] == packages[1]
    for name in FILES:
        if name.endswith(".parquet"):
            first, second = (
                pq.read_table(pa.BufferReader(side[name])) for side in (with_record, without)
            )
            assert first.schema == second.schema
            for column in first.column_names:
                if column == "state" or (column.endswith("_se") and column != "mean_se"):
                    assert first[column].equals(second[column])
            changes = [
                a - b
                for a, b in zip(
                    first["farms"].to_pylist(), second["farms"].to_pylist(), strict=True
                )
            ]
            assert sorted(changes)[:-1] == [0] * (len(changes) - 1)
            assert max(changes) == 1


def one_release(spec: Path, out: Path) -> None:
    """Make a release in a child process, which ends without cleaning up."""
    try:
        release(spec, out)
        os._exit(0)
    except BaseException:
        os._exit(1)


def test_a_name_keeps_its_meaning_for_as_long_as_the_ledger_lasts(tmp_path):
    """Otherwise releases on overlapping parts of the data would pass for disjoint ones."""
    base = SPEC.replace("budget:\n  rho: 2", "budget:\n  rho: 1")
    queries = """\
queries:
  - name: part
    where: grp = '{0}'
    answers: {{n: {{count: records, rho: 1}}}}
"""
    head = base[: base.index("queries:")]
    for number, (expression, value) in enumerate(
        [("state", "TX"), ("CASE WHEN cattle > 5 THEN 'x' ELSE 'y' END", "x")]
    ):
        spec = head.replace("dimensions:\n", f'dimensions:\n  grp: "{expression}"\n')
        path = prepared(tmp_path, spec=spec + queries.format(value), ledger=number == 0)
        if number == 0:
            release(path, tmp_path / "first")
        else:
            with pytest.raises(LedgerError, match="'grp' no longer means what it did"):
                release(path, tmp_path / "second")
    assert len(Ledger.open(tmp_path / "farms.ledger").entries()) == 4


def test_a_measure_or_a_lookup_that_changes_its_meaning_is_noticed():
    """Resolution, range, column, and what a lookup says; not its order."""
    from perrecord import Lookup, Measure, table

    source = pa.table({"county": ["a"], "emp": [1], "pay": [2]})

    def meaning(name, measure=None, regions=("x", "y"), keys=("a", "b")):
        lookup = Lookup({"county": list(keys), "region": list(regions)}, on="county")
        roles = {"dimensions": ["region"], "measures": {"emp": measure or Measure()}}
        with table(source, **roles, lookups=[lookup]) as opened:
            return opened.schema.meaning(name)

    assert meaning("emp") == meaning("emp", Measure(column="emp"))
    for other in (Measure(2), Measure(column="pay"), Measure(largest=9), Measure(outside="cut")):
        assert meaning("emp", other) != meaning("emp")
    assert meaning("region") == meaning("region", regions=("y", "x"), keys=("b", "a"))
    assert meaning("region") != meaning("region", regions=("y", "y"))


def test_a_ledger_restored_from_a_backup_does_not_draw_noise_again(tmp_path):
    """The files that may have been seen are charged anew and published as they were."""
    spec, ledger = prepared(tmp_path), tmp_path / "farms.ledger"
    backup = ledger.read_bytes()
    release(spec, tmp_path / "out")
    ledger.write_bytes(backup)
    outcome = release(spec, tmp_path / "other")
    assert outcome.did == "recovered"
    assert contents(tmp_path / "out") == contents(tmp_path / "other")
    names = [type(entry).__name__ for entry in Ledger.open(ledger).entries()]
    assert names == ["Creation", "Charge", "Seal", "Publication"]


def test_data_that_changes_while_it_is_read_is_not_charged(tmp_path, monkeypatch):
    """The identity would be that of other data."""
    spec = prepared(tmp_path)
    real = publish.run_each

    def changing(*arguments, charge, **options):
        def changed_and_charged():
            pq.write_table(pa.table({**ROWS, "cattle": [1] * 60}), tmp_path / "farms.parquet")
            charge()

        return real(*arguments, charge=changed_and_charged, **options)

    monkeypatch.setattr(publish, "run_each", changing)
    with pytest.raises(ReleaseError, match="changed while it was read"):
        release(spec, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert len(Ledger.open(tmp_path / "farms.ledger").entries()) == 1


def test_a_link_among_sealed_files_is_refused(tmp_path):
    """Nothing but plain files is published, and no link is followed."""
    spec = prepared(tmp_path)
    release(spec, tmp_path / "out")
    ledger = ledger_of(load_spec(spec))
    staged = staging_folder(ledger, ledger.entries()[1].identity)
    (staged / "etc").symlink_to("/etc")
    with pytest.raises(ReleaseError, match="is a link"):
        release(spec, tmp_path / "other")


def test_a_folder_further_up_may_be_one_that_cannot_be_flushed(tmp_path, monkeypatch):
    """Some file systems cannot; the folder of the release itself must be, and is tried again."""
    spec, refused = prepared(tmp_path), [tmp_path.parent]
    flush = publish.staging.flush_one

    def failing(path):
        if path in refused and any(path.glob("**/out/manifest.json")):
            raise OSError(errno.EINVAL, "Invalid argument")
        flush(path)

    monkeypatch.setattr(publish.staging, "flush_one", failing)
    assert release(spec, tmp_path / "out").did == "made"
    refused[:] = [tmp_path / "deep"]
    with pytest.raises(ReleaseError, match=r"could not be flushed.*costs nothing more"):
        release(spec, tmp_path / "deep" / "out")
    refused.clear()
    assert release(spec, tmp_path / "deep" / "out").did == "nothing"


@pytest.mark.parametrize("place", ["farms.ledger.releases/x/out", "release.yaml/out", "dangling"])
def test_a_place_that_cannot_be_published_to_is_refused_before_the_charge(tmp_path, place):
    """Inside the ledger's private folder, below a file, a dangling link."""
    spec = prepared(tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ReleaseError):
        release(spec, tmp_path / place)
    assert len(Ledger.open(tmp_path / "farms.ledger").entries()) == 1


def test_names_of_columns_do_not_become_paths(tmp_path):
    """They become part of a file's name, in letters that every disk takes."""
    hostile = SPEC.replace("state", "x/../../t").replace("x/../../t: {", '"x/../../t": {')
    rows = {"id": ROWS["id"], "x/../../t": ROWS["state"], "cattle": ROWS["cattle"]}
    before = set(tmp_path.rglob("*"))
    with contextlib.suppress(SpecError):  # the spec may refuse such a name for a table
        release(prepared(tmp_path / "in", rows, hostile), tmp_path / "out")
    made = {path for path in set(tmp_path.rglob("*")) - before if path.suffix == ".parquet"}
    folders = {path.parent.name for path in made}
    assert folders <= {"in", "tables"}
    assert pq.read_table(tmp_path / "in/farms.parquet").num_rows == 60


TAPERED = """\
title: Farms
source: farms.parquet
table: farms
id: id
dimensions: [state]
measures: [cattle, sheep]
tapers:
  usual: {cattle: 50, sheep: 1000}
  heavy: {sizes: {cattle: 50}, nu: 3}
budget:
  rho: 1
  tapers: [{measure: cattle, at: 50, rho: 0.2}, {measure: sheep, at: 1000, rho: 0.2}]
ledger: farms.ledger
queries:
  - name: all
    answers:
      cattle: {sum: cattle, taper: usual, rho: 0.2}
      sheep: {sum: sheep, taper: usual, rho: 0.2}
examples:
  - {name: a feedlot, cattle: 20000, sheep: 3, state: TX}
"""


def test_the_method_of_tapered_answers_is_that_of_each(tmp_path):
    """Its own size and nu; losses are at most, and no law is named that nothing is drawn from."""
    rows = {**ROWS, "sheep": ROWS["cattle"]}
    release(prepared(tmp_path, rows, TAPERED), tmp_path / "out")
    text = (tmp_path / "out/methodology.md").read_text()
    assert "total of cattle, noise tapered at 50, nu = 7 |" in text
    assert "total of sheep, noise tapered at 1000, nu = 7 |" in text
    assert re.search(r"\| a feedlot \| at most 37\.\d{1,4} \|", text), text
    assert "Gaussian or discrete Laplace" not in text
    assert "with nu = 7 about 7 in a million lie beyond" in text
    heavy = TAPERED.replace("{sum: cattle, taper: usual", "{sum: cattle, taper: heavy")
    heavy = heavy.replace("at: 50, rho: 0.2}", "at: 50, rho: 0.2, nu: 3}")
    release(prepared(tmp_path / "heavy", rows, heavy), tmp_path / "heavy/out")
    text = (tmp_path / "heavy/out/methodology.md").read_text()
    assert "total of cattle, noise tapered at 50, nu = 3 |" in text
    assert "with nu = 3 about 420 in a million and with nu = 7 about 7 in a million lie" in text


@pytest.mark.parametrize(("nu", "count"), [(3, 420), (7, 7)])
def test_how_many_numbers_lie_beyond_ten_standard_deviations(nu, count):
    """Both sides, of a million, as the method says."""
    law = DiscreteStudent(10**6 * (nu - 2), nu)
    assert 2 * 10**6 * float(law.tail(10_000).upper) == pytest.approx(count, rel=0.005)


def test_the_method_states_the_delta_and_what_is_biased(tmp_path):
    """Selected keys are not pure; cut totals and chosen cells are not unbiased (T2, T9, T12)."""
    release(prepared(tmp_path), tmp_path / "out")
    text = (tmp_path / "out/methodology.md").read_text()
    assert "(P, delta)-PRzCDP" in text
    assert "in both directions" not in text
    assert "not of the values themselves" in text
    pure = SPEC.replace("    keys: found\n", "    keys: states\n").replace(
        "title: Farms", "title: <b>|Farms"
    )
    release(prepared(tmp_path / "pure", spec=pure), tmp_path / "pure/out")
    text = (tmp_path / "pure/out/methodology.md").read_text()
    assert "in both directions" in text
    assert "delta" not in text.partition("## Numbers")[0]
    assert "\\<b\\>\\|Farms" in text


def test_two_releases_to_one_place_do_not_mix(tmp_path):
    """One of them is there, whole; the other is told, and stays sealed."""
    for trial in range(3):
        folder = tmp_path / str(trial)
        pure = SPEC.replace("    keys: found\n", "    keys: states\n")
        first = prepared(folder, spec=pure.replace("rho: 2", "rho: 4"))
        second = folder / "second.yaml"
        second.write_text(first.read_text().replace("title: Farms", "title: More farms"))
        for spec in (first, second):  # both sealed, published elsewhere
            release(spec, folder / f"own-{spec.stem}")
        children = []
        for spec in (first, second):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                one_release(spec, folder / "shared")
            children.append(child)
        ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert sorted(ended) == [0, 1]
        own = [contents(folder / f"own-{spec.stem}") for spec in (first, second)]
        assert contents(folder / "shared") == own[ended.index(0)]


def test_a_source_that_is_given_goes_by_the_name_of_its_snapshot(tmp_path):
    """The same name is the same release and charged once; another name is another one."""
    spec = prepared(tmp_path)
    (tmp_path / "farms.parquet").unlink()
    given = {"source": pa.table(ROWS), "snapshot": "2026-11-01"}
    assert release(spec, tmp_path / "out", **given).did == "made"
    assert release(spec, tmp_path / "other", **given).did == "published again"
    with pytest.raises(BudgetExceededError, match=r"\(2026-11-01; this one is 2026-12-01\)"):
        release(spec, tmp_path / "third", source=pa.table(ROWS), snapshot="2026-12-01")
    for half in ({"source": pa.table(ROWS)}, {"snapshot": "2026-11-01"}):
        with pytest.raises(InputError, match="needs the name of its state"):
            release(spec, tmp_path / "fourth", **half)
