"""Crashes, full disks and files that are no ledger: nothing acknowledged is lost or half there."""

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

from perrecord import LedgerError, Policy
from perrecord.accounting import storage
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger
from tests.accounting.conftest import run


def test_a_full_disk_charges_nothing_and_loses_nothing(path):
    """Once there is room again the ledger goes on."""
    Ledger.create(path, Budget(1))
    said = run("small", path, 20_000)
    assert "Nothing was written" in said["message"]
    assert len(said["accepted"]) > 3
    assert said["accepted"] == said["there"]
    assert Ledger.open(path).verify() == len(said["there"]) + 2


def test_a_database_that_may_not_grow_says_that_the_disk_is_full(path, monkeypatch):
    """SQLite's own limit gives its own error for it."""
    ledger = Ledger.create(path, Budget(1))
    pages = path.stat().st_size // 4096
    limited = (*storage._SETTINGS, ("max_page_count", str(pages), pages))
    monkeypatch.setattr(storage, "_SETTINGS", limited)
    with pytest.raises(LedgerError, match=r"disk is full\. Nothing was written"):
        ledger.charge(Policy.constant("0.1"), snapshot="s", label="x" * 10_000)
    monkeypatch.undo()
    assert ledger.verify() == 1


class FailingAtTheEnd:
    """A connection whose commit is done, and then fails to flush the folder."""

    in_transaction = False

    def __init__(self, connection):
        self.connection = connection

    def execute(self, statement, *values):
        """Pass everything on; fail after the commit."""
        done = self.connection.execute(statement, *values)
        if statement == "COMMIT":
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorname = "SQLITE_IOERR_DIR_FSYNC"
            raise error
        return done

    def close(self):
        """Close the connection."""
        self.connection.close()


def test_a_commit_that_may_have_failed_says_so(path, monkeypatch):
    """Asking again with the same identity is charged once, whichever it was."""
    ledger = Ledger.create(path, Budget(1))
    connect = storage.connect
    monkeypatch.setattr(storage, "connect", lambda where: FailingAtTheEnd(connect(where)))
    with pytest.raises(LedgerError, match="may or may not have been written"):
        ledger.charge(Policy.constant("0.6"), snapshot="s", label="a", identity="a")
    monkeypatch.undo()
    assert ledger.charge(Policy.constant("0.6"), snapshot="s", label="a", identity="a").number == 1
    assert ledger.spent() == Policy.constant("0.6")


def test_an_entry_that_is_found_again_is_made_durable(path, monkeypatch):
    """Who wrote it may have died before it was; who is told of it must be able to rely on it."""
    ledger = Ledger.create(path, Budget(1))
    charge = ledger.charge(Policy.constant("0.1"), snapshot="s", label="a", identity="a")
    ledger.seal(charge, {"answers": "1"})
    flushed, flush = [], storage.flush_one
    monkeypatch.setattr(storage, "flush_one", lambda where: (flushed.append(where), flush(where)))
    assert ledger.charge(Policy.constant("0.1"), snapshot="s", label="a", identity="a") == charge
    ledger.seal(charge, {"answers": "1"})
    assert flushed == [path.parent] * 2


def test_a_folder_that_cannot_be_flushed_charges_nothing(path, monkeypatch):
    """SQLite itself would go on, and the journal could be missing when it is needed."""
    ledger = Ledger.create(path, Budget(1))

    def failing(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(storage, "flush_one", failing)
    with pytest.raises(LedgerError, match=r"could not be flushed.*Nothing was written"):
        ledger.charge(Policy.constant("0.1"), snapshot="s", label="a", identity="a")
    monkeypatch.undo()
    assert ledger.verify() == 1


def test_whoever_may_only_read_can_read(path):
    """A read-only file in a read-only folder: entries are shown, a charge says what is missing."""
    folder = Path(tempfile.mkdtemp())
    try:
        where = folder / "ledger.db"
        Ledger.create(where, Budget(1)).charge(Policy.constant("0.1"), snapshot="s", label="a")
        where.chmod(0o444)
        folder.chmod(0o555)
        said = run("reader", where)
        assert said["entries"] == 2
        assert "needs to read and write both the file and its folder" in said["messages"][0]
        assert "may be written" in said["messages"][1]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_what_is_no_ledger_is_refused(path, tmp_path):
    """Missing, a folder, a link, a second name, another kind of file."""
    with pytest.raises(LedgerError, match=r"there is no ledger.*backup"):
        Ledger.open(path)
    assert not path.exists()
    with pytest.raises(LedgerError, match="is not a file"):
        Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="cannot be reached"):
        Ledger.open(tmp_path / ("x" * 300))
    (tmp_path / "notes.txt").write_text("charged 0.1\n" * 100)
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger.open(tmp_path / "notes.txt")
    (tmp_path / "empty.db").touch()
    with pytest.raises(LedgerError, match="not a perrecord ledger"):
        Ledger.open(tmp_path / "empty.db")
    ledger = Ledger.create(path, Budget(1))
    (tmp_path / "link.db").symlink_to(path)
    with pytest.raises(LedgerError, match="symbolic link"):
        Ledger.open(tmp_path / "link.db")
    os.link(path, tmp_path / "twin.db")
    with pytest.raises(LedgerError, match="second name"):
        ledger.charge(Policy.constant("0.1"), snapshot="s", label="a")
    (tmp_path / "twin.db").unlink()
    path.rename(tmp_path / "moved.db")
    with pytest.raises(LedgerError, match="there is no ledger"):
        ledger.spent()
    assert Ledger.open(tmp_path / "moved.db").verify() == 1


def test_a_ledger_is_never_overwritten(path, tmp_path):
    """Nor made where nothing can be written."""
    before = Ledger.create(path, Budget(1)).secret
    for taken in (path, tmp_path):
        with pytest.raises(LedgerError, match="never overwritten"):
            Ledger.create(taken, Budget(1))
    assert Ledger.open(path).secret == before
    with pytest.raises(LedgerError, match="folder that exists"):
        Ledger.create(tmp_path / "missing" / "ledger.db", Budget(1))
    assert [found.name for found in tmp_path.iterdir()] == ["ledger.db"]


def test_a_folder_without_hard_links_is_refused(path, monkeypatch):
    """There a ledger could replace another that appeared meanwhile."""

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(LedgerError, match="supports hard links"):
        Ledger.create(path, Budget(1))
    assert [*path.parent.iterdir()] == []


def test_a_ledger_that_is_held_says_so(path, monkeypatch):
    """After waiting for as long as another process may take."""
    monkeypatch.setattr(storage, "WAIT_SECONDS", 0.1)
    ledger = Ledger.create(path, Budget(1))
    with storage.writing(path), pytest.raises(LedgerError, match="another process has held"):
        ledger.charge(Policy.constant("0.1"), snapshot="s", label="a")
    ledger.charge(Policy.constant("0.1"), snapshot="s", label="a")


def test_a_name_with_anything_in_it(tmp_path):
    """Spaces, question marks, percent signs and hashes mean nothing to the path."""
    path = tmp_path / "a b?mode=memory#%41[x].db"
    Ledger.create(path, Budget(1)).charge(Policy.constant("0.1"), snapshot="s", label="a")
    assert Ledger.open(str(path)).verify() == 2
    assert [*tmp_path.iterdir()] == [path]
