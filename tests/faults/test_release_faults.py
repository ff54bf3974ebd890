"""Single faults of a release that the audit found, or that nobody can find, one by one."""

import os
import shutil

import pytest

from perrecord import Ledger, LedgerError
from perrecord.release import staging
from perrecord.release.ledgers import releases_folder
from perrecord.release.publish import release
from tests.faults.scene import FILES, NOISY, Workshop, contents
from tests.faults.subjects import make_release


@pytest.fixture
def scene(tmp_path):
    """Return a scene in which a release can be made."""
    workshop = Workshop(tmp_path)
    workshop.prepare()
    return workshop.copied(tmp_path / "scene")


def flushed_names(monkeypatch):
    """Return a list to which every flushed path is added."""
    flushed, flush = [], os.fsync

    def noting(descriptor):
        flushed.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    return flushed


def test_every_folder_that_is_made_is_flushed_into_the_one_above(scene, monkeypatch):
    """Otherwise a whole release, reported as published, could go with the power."""
    top = scene.folder.parent
    flushed = flushed_names(monkeypatch)
    release(scene.spec, top / "site" / "2026" / "farms")
    assert {str(top), str(top / "site"), str(top / "site" / "2026")} <= set(flushed)


def test_a_release_says_what_it_has_acknowledged(scene):
    """The audit relies on what was said; were a step renamed, it would rely on nothing."""
    said = []
    make_release(scene, said.append)
    assert said == ["charged", "sealed", "published"]


def test_a_release_that_is_found_in_place_is_flushed_before_it_is_noted(scene, monkeypatch):
    """Whoever put it there may have died before its name was on the disk."""
    release(scene.spec, scene.out)
    flushed = flushed_names(monkeypatch)
    assert release(scene.spec, scene.out).did == "nothing"
    assert {str(scene.out.parent), str(scene.folder)} <= set(flushed)


def test_names_are_flushed_as_far_up_as_they_can_have_been_made(tmp_path, monkeypatch):
    """A folder that this user may not write to was there before."""
    flushed = flushed_names(monkeypatch)
    writable = {tmp_path, tmp_path.parent}
    monkeypatch.setattr(os, "access", lambda path, _: path in writable)
    staging.flush_names(tmp_path / "out")
    assert flushed == [str(tmp_path), str(tmp_path.parent)]


@pytest.mark.parametrize("left", [b"", b'{"files": {"a": ', b"\xff", b"[]", b'{"files": [1]}'])
def test_staged_files_that_were_cut_short_are_no_release(scene, left):
    """Also when the ledger was restored from before it: the files are made anew."""
    backup = scene.ledger.read_bytes()
    release(scene.spec, scene.out)
    scene.ledger.write_bytes(backup)
    (staged,) = (each for each in releases_folder(scene.ledger).iterdir() if each.is_dir())
    (staged / "manifest.json").write_bytes(left)
    shutil.rmtree(scene.out)
    assert release(scene.spec, scene.out).did == "made"
    assert sorted(contents(scene.out)) == FILES


def test_a_ledger_rolled_back_without_its_staged_files_is_shown_by_a_noted_hash_alone(scene):
    """Rolled back together, nothing in them shows it: noise is drawn a second time."""
    backup = scene.ledger.read_bytes()
    charge = release(scene.spec, scene.out).charge
    first = contents(scene.out)
    for folder in (releases_folder(scene.ledger), scene.out):
        shutil.rmtree(folder)
    scene.ledger.write_bytes(backup)
    assert release(scene.spec, scene.out).did == "made"
    assert contents(scene.out)[NOISY] != first[NOISY]
    ledger = Ledger.open(scene.ledger)
    assert len(ledger.entries()) == 4
    with pytest.raises(LedgerError, match="noted down"):
        ledger.verify([charge.hash])


def test_a_ledger_rolled_back_to_before_the_seal_draws_noise_again(scene, monkeypatch):
    """It looks as after a crash before the seal; the hash of the seal shows it."""
    copies, seal = [], Ledger.seal

    def copying(ledger, *given):
        copies.append(scene.ledger.read_bytes())
        return seal(ledger, *given)

    monkeypatch.setattr(Ledger, "seal", copying)
    release(scene.spec, scene.out)
    noted = Ledger.open(scene.ledger).entries()[2].hash
    first = contents(scene.out)
    shutil.rmtree(scene.out)
    scene.ledger.write_bytes(copies[0])
    assert release(scene.spec, scene.out).did == "made"
    assert contents(scene.out)[NOISY] != first[NOISY]
    with pytest.raises(LedgerError, match="noted down"):
        Ledger.open(scene.ledger).verify([noted])
