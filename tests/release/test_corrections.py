"""Corrections that change no number: the sealed numbers are shown anew, under the same charge."""

import json
import shutil
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Ledger, ReleaseError
from perrecord.release import identity as identities
from perrecord.release.identity import identity_of
from perrecord.release.ledgers import releases_folder
from perrecord.release.publish import ledger_of, release
from perrecord.release.spec import load_spec
from perrecord.release.spec.entry import SHOWN, Entry
from perrecord.release.spec.models import Spec
from tests.release.test_release import FILES, SPEC, contents, prepared

SECRET = bytes(32)

SHOWS = {
    "a title": ("title: Farms by state", "title: Farms, by state and in all"),
    "a description": ("table: farms\n", "table: farms\ndescription: all of them\n"),
    "a query's title": ("title: Farms and cattle by state", "title: Farms and cattle"),
    "a label": ("label: State,", "label: US state,"),
    "public values": ("values: [NM, TX, VA]}\nmeasures", "values: [NM, TX]}\nmeasures"),
    "a unit": ("label: Head of cattle}", "label: Head of cattle, unit: heads}"),
    "examples": ("cattle: 20000, state: TX", "cattle: 30000, state: TX"),
    "confidence": ("outputs: {csv: true}", "outputs: {csv: true, confidence: 0.5}"),
    "other files": ("outputs: {csv: true}", "outputs: {intervals: false, licence: CC0-1.0}"),
    "post-processing": ("{floor_at_zero: true, round: {mean: 1}}", "{round: {cattle: -3}}"),
    "memory": (
        "source: farms.parquet",
        "source: {path: farms.parquet, memory_limit: 1GB, spill_folder: /tmp}",
    ),
}
DECIDES = {
    "an amount": (
        "farms: {count: records, rho: 0.1}\n      cattle",
        "farms: {count: records, rho: 0.2}\n      cattle",
    ),
    "a threshold": ("moderate: {cattle: 50}", "moderate: {cattle: 60}"),
    "a key": ("states: {values: {state: [NM, TX, VA]}}", "states: {values: {state: [NM, TX]}}"),
    "a filter": ("    rollup: [state]", "    where: state = 'TX'\n    rollup: [state]"),
    "a name": ("- name: selected", "- name: chosen"),
    "candidates": ("candidates: [0, 10, 50, 100]", "candidates: [0, 10, 50, 90]"),
    "a budget": ("  rho: 2\n", "  rho: 3\n"),
    "a resolution": ("resolution: 1,", "resolution: 10,"),
    "a dimension": ("  state: {label", "  state: {expression: upper(state), label"),
}


def changed(change, spec=SPEC):
    """Return the spec with one passage in the place of another, which it must have."""
    old, new = change
    assert spec.count(old) == 1, (old, spec.count(old))
    return spec.replace(old, new)


def keys_of(folder, spec):
    """Return the identity and the rendering of a spec."""
    (folder / "release.yaml").write_text(spec, encoding="utf-8")
    found = identity_of(load_spec(folder / "release.yaml"), SECRET)
    return found.key, found.rendering


@pytest.mark.parametrize("what", SHOWS)
def test_what_is_only_shown_is_no_other_release(tmp_path, what):
    """The same identity, another rendering."""
    prepared(tmp_path)
    key, rendering = keys_of(tmp_path, SPEC)
    other = keys_of(tmp_path, changed(SHOWS[what]))
    assert other[0] == key
    assert other[1] != rendering


@pytest.mark.parametrize("what", DECIDES)
def test_what_decides_a_number_is_another_release(tmp_path, what):
    """Another identity, and its own charge."""
    prepared(tmp_path)
    assert keys_of(tmp_path, changed(DECIDES[what]))[0] != keys_of(tmp_path, SPEC)[0]


def test_every_entry_that_is_only_shown_is_known_here():
    """Whatever is not in this list is part of the identity: new entries are, until they say so."""
    found, seen = set(), set()

    def entries(model):
        if model in seen:
            return
        seen.add(model)
        for name, field in model.model_fields.items():
            if SHOWN in field.metadata:
                found.add(f"{model.__name__}.{name}")
        for other in (*Entry.__subclasses__(), *model.__subclasses__()):
            entries(other)

    entries(Spec)
    assert found == {
        "SourceEntry.memory_limit",
        "SourceEntry.spill_folder",
        "DimensionEntry.label",
        "DimensionEntry.values",
        "MeasureEntry.label",
        "MeasureEntry.unit",
        "QueryEntry.title",
        "Spec.title",
        "Spec.derived",
        "Spec.description",
        "Spec.hierarchies",
        "Spec.labels",
        "Spec.ledger",
        "Spec.post_processing",
        "Spec.outputs",
        "Spec.examples",
        "Spec.revision",
        "Spec.tuning",
        "Spec.version",
    }


def test_a_correction_shows_the_same_numbers_at_no_charge(tmp_path):
    """Every number is the sealed one; the ledger holds one charge, one seal, two places."""
    spec = prepared(tmp_path)
    first = release(spec, tmp_path / "out")
    ledger = ledger_of(load_spec(spec))
    spent = ledger.spent()
    text = changed(("Farms by state", "Farms, corrected"))
    text = changed(("{floor_at_zero: true, round: {mean: 1}}", "{round: {cattle: -3}}"), text)
    text = changed(("outputs: {csv: true}", "outputs: {csv: true, confidence: 0.5}"), text)
    spec.write_text(text, encoding="utf-8")
    again = release(spec, tmp_path / "corrected")
    assert (again.did, again.charge, again.seal) == ("corrected", first.charge, first.seal)
    assert ledger.spent() == spent
    assert [type(each).__name__ for each in ledger.entries()] == [
        "Creation",
        "Charge",
        "Seal",
        "Publication",
        "Publication",
    ]
    before, after = contents(tmp_path / "out"), contents(tmp_path / "corrected")
    assert sorted(after) == FILES
    for name in (each for each in FILES if each.endswith(".parquet")):
        old, new = (pq.read_table(pa.BufferReader(side[name])) for side in (before, after))
        shared = [each for each in old.column_names if each in new.column_names]
        kept = [each for each in shared if not each.endswith(("_low", "_high"))]
        assert old.select(kept).equals(new.select(kept))
        assert not any(each.endswith("_floored") for each in new.column_names)
    manifest = json.loads(after["manifest.json"])
    assert (manifest["charge"], manifest["seal"]) == (first.charge.hash, first.seal.hash)
    assert manifest["title"] == "Farms, corrected"
    for name, each in manifest["files"].items():
        assert each["sha256"] == sha256(after[name]).hexdigest()
    assert release(spec, tmp_path / "corrected").did == "nothing"
    assert release(spec, tmp_path / "third").did == "corrected"
    assert contents(tmp_path / "third") == after
    spec.write_text(SPEC, encoding="utf-8")
    assert release(spec, tmp_path / "out").did == "nothing"
    left = [each.name for each in releases_folder(ledger.path).iterdir() if each.is_dir()]
    assert left == [first.charge.identity[:32]]


def test_another_version_of_perrecord_shows_the_same_numbers(tmp_path, monkeypatch):
    """It writes its own documents; what was paid for stays paid."""
    spec = prepared(tmp_path)
    release(spec, tmp_path / "out")
    monkeypatch.setattr(identities, "VERSION", "99")
    assert release(spec, tmp_path / "later").did == "corrected"


def test_numbers_that_are_lost_or_changed_are_not_shown(tmp_path):
    """They are sealed as the files are."""
    spec = prepared(tmp_path)
    release(spec, tmp_path / "out")
    ledger = ledger_of(load_spec(spec))
    (numbers,) = releases_folder(ledger.path).glob("*/numbers/selected.arrow")
    spec.write_text(changed(SHOWS["a title"]), encoding="utf-8")
    numbers.write_bytes(numbers.read_bytes() + b" ")
    with pytest.raises(ReleaseError, match="gone or changed"):
        release(spec, tmp_path / "corrected")
    assert not (tmp_path / "corrected").exists()


def test_numbers_are_sealed_and_never_published(tmp_path):
    """They stay in the ledger's private folder."""
    spec = prepared(tmp_path)
    seal = release(spec, tmp_path / "out").seal
    assert {name for name in seal.digests if name.startswith("numbers/")} == {
        "numbers/rendering",
        "numbers/selected.arrow",
        "numbers/states_by_state.arrow",
        "numbers/states_total.arrow",
    }
    assert sorted(contents(tmp_path / "out")) == FILES


def test_a_corrected_spec_finds_numbers_that_a_restored_ledger_forgot(tmp_path):
    """They are charged anew, and shown as the spec has it now."""
    spec = prepared(tmp_path)
    ledger = tmp_path / "farms.ledger"
    backup = ledger.read_bytes()
    release(spec, tmp_path / "out")
    numbers = contents(tmp_path / "out")["tables/states_by_state.parquet"]
    ledger.write_bytes(backup)
    spec.write_text(changed(SHOWS["a title"]), encoding="utf-8")
    assert release(spec, tmp_path / "corrected").did == "recovered"
    after = contents(tmp_path / "corrected")
    assert after["tables/states_by_state.parquet"] == numbers
    assert json.loads(after["manifest.json"])["title"] == "Farms, by state and in all"
    assert len(Ledger.open(ledger).entries()) == 4


def test_an_interrupted_correction_is_finished_by_running_it_again(tmp_path, monkeypatch):
    """At every step that can be interrupted, and once it is there nothing is done."""
    spec = prepared(tmp_path)
    release(spec, tmp_path / "out")
    spec.write_text(changed(SHOWS["a title"]), encoding="utf-8")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    publish = "perrecord.release.publish"
    for step in ("staging.write_files", "staging.publish", "Ledger.publish"):
        with monkeypatch.context() as patch:
            patch.setattr(f"{publish}.{step}", interrupted)
            with pytest.raises(KeyboardInterrupt):
                release(spec, tmp_path / "corrected")
    assert release(spec, tmp_path / "corrected").did == "nothing"
    shutil.rmtree(tmp_path / "corrected")
    assert release(spec, tmp_path / "corrected").did == "corrected"
