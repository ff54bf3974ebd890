"""Who may read what: private files stay private under any umask, planted links are refused."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from perrecord import Ledger, LedgerError
from perrecord.accounting import storage
from perrecord.accounting.budget import Budget
from perrecord.cli.command import REFUSED
from perrecord.evaluate.confidential import confidential_folder
from perrecord.release import staging
from tests.cli.conftest import charged, folder, published, run, undrawn  # noqa: F401 - fixtures

OPEN, CLOSED = 0o000, 0o077


@contextmanager
def umask(mask):
    """Set the umask for a while."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def half_written(ledger):
    """Hold a transaction open in which something was written, as SQLite does by itself."""
    with closing(storage.connect(ledger)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE half (a)")
        yield
        connection.execute("ROLLBACK")


def modes(place):
    """Return the mode of a folder or file and of everything below it."""
    every = [place, *place.rglob("*")] if place.is_dir() else [place]
    return {path: stat.S_IMODE(path.lstat().st_mode) for path in every}


def open_to_others(place):
    """Return what below a private place others may read or write."""
    return [str(path) for path, mode in modes(place).items() if mode & 0o077]


@pytest.mark.parametrize("mask", [OPEN, CLOSED])
@pytest.mark.usefixtures("undrawn")
def test_what_is_private_is_private_under_any_umask(mask, folder, record_property):  # noqa: F811
    """The ledger, sealed files, their folder and lock, and confidential results."""
    with umask(mask):
        assert run("ledger", "create", "release.yaml").code == 0
        assert run("release", "release.yaml", "--out", "published").code == 0
        assert run("evaluate", "release.yaml", "--out", "evaluated").code == 0
    private = [folder / name for name in ("est.ledger", "est.ledger.releases", "evaluated")]
    assert [found for place in private for found in open_to_others(place)] == []
    assert len(modes(folder / "est.ledger.releases")) > 8
    record_property(
        "private files and folders looked at", sum(len(modes(each)) for each in private)
    )


@pytest.mark.parametrize(("mask", "of_files", "of_folders"), [
    (OPEN, 0o644, 0o755), (0o022, 0o644, 0o755), (0o027, 0o640, 0o750), (CLOSED, 0o600, 0o700),
])  # fmt: skip
def test_what_is_published_may_be_read_as_far_as_the_umask_lets(
    mask, of_files, of_folders, charged  # noqa: F811
):  # fmt: skip
    """And is never for others to write; a closed umask keeps it until it is to be shown."""
    with umask(mask):
        assert run("release", "release.yaml", "--out", "published").code == 0
    found = modes(charged / "published")
    assert {mode for path, mode in found.items() if path.is_file()} == {of_files}
    assert {mode for path, mode in found.items() if path.is_dir()} == {of_folders}


def test_the_journal_of_a_ledger_is_private(tmp_path):
    """It holds pages of the ledger for as long as a transaction lasts."""
    with umask(OPEN):
        Ledger.create(tmp_path / "est.ledger", Budget(1))
        with half_written(tmp_path / "est.ledger"):
            (journal,) = tmp_path.glob("*-journal")
            assert open_to_others(journal) == []


def test_an_open_file_is_seen(tmp_path):
    """Positive control."""
    with umask(OPEN):
        (tmp_path / "x").mkdir(mode=0o700)
        (tmp_path / "x" / "y").write_bytes(b"")
    assert open_to_others(tmp_path / "x") == [str(tmp_path / "x" / "y")]


# -- links that somebody planted ---------------------------------------------------------------


@pytest.fixture
def victim(tmp_path_factory):
    """A folder of somebody's, with a file that nobody may change."""
    place = tmp_path_factory.mktemp("victim")
    (place / "file").write_text("as it was")
    yield place
    assert [path.name for path in place.iterdir()] == ["file"]
    assert (place / "file").read_text() == "as it was"


def staged(place):
    """Return the folder of the one sealed release."""
    (found,) = [each for each in (place / "est.ledger.releases").iterdir() if each.is_dir()]
    return found


@pytest.mark.parametrize("target", ["", "missing"])
def test_a_link_in_place_of_the_partial_folder_is_refused(published, victim, target):  # noqa: F811
    """Its name is known to whoever saw another try; what it points to stays as it is."""
    planted = published / f".again.{staged(published).name[:12]}.partial"
    planted.symlink_to(victim / target)
    assert run("release", "release.yaml", "--out", "again").code == REFUSED
    assert not (published / "again").exists()
    planted.unlink()
    assert run("release", "release.yaml", "--out", "again").code == 0


def test_a_link_in_place_of_the_private_folder_is_refused(charged, victim):  # noqa: F811
    """Before anything is charged."""
    (charged / "est.ledger.releases").symlink_to(victim)
    ran = run("release", "release.yaml", "--out", "published")
    assert (ran.code, "is a link" in ran.err) == (REFUSED, True)
    assert len(Ledger.open(charged / "est.ledger").entries()) == 1


def test_an_open_private_folder_is_refused(charged):  # noqa: F811
    """With what to type; then it is accepted."""
    place = charged / "est.ledger.releases"
    place.mkdir()
    place.chmod(0o755)
    ran = run("release", "release.yaml", "--out", "published")
    assert (ran.code, "chmod 700" in ran.err) == (REFUSED, True)
    place.chmod(0o700)
    assert run("release", "release.yaml", "--out", "published").code == 0


def test_a_link_in_place_of_the_lock_is_refused(published, victim):  # noqa: F811
    """A lock is a file of its own."""
    lock = staged(published).with_suffix(".lock")
    lock.unlink()
    lock.symlink_to(victim / "file")
    assert run("release", "release.yaml", "--out", "again").code == REFUSED


@pytest.mark.parametrize("target", ["file", "missing"])
def test_a_link_in_place_of_the_journal_is_refused(published, victim, target):  # noqa: F811
    """Its owner is told what is wrong; SQLite by itself says that it cannot open the ledger."""
    ledger = Ledger.open(published / "est.ledger")
    (published / "est.ledger-journal").symlink_to(victim / target)
    with pytest.raises(LedgerError, match="not one of the ledger's own files"):
        ledger.spent()
    assert run("ledger", "show", "est.ledger").code == REFUSED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_journal_of_somebody_else_is_refused_where_anybody_may_write(published):  # noqa: F811
    """SQLite would roll the ledger back to what it says; those who share the folder are trusted."""
    journal = published / "est.ledger-journal"
    journal.write_bytes(b"")
    os.chown(journal, 12345, 12345)
    assert run("ledger", "show", "est.ledger").code == 0
    published.chmod(0o1777)
    ran = run("ledger", "show", "est.ledger")
    assert (ran.code, "not one of the ledger's own files" in ran.err) == (REFUSED, True)


def test_a_planted_write_ahead_log_is_refused(published):  # noqa: F811
    """SQLite would copy it into the ledger: here it holds the pages from before the release."""
    path = published / "est.ledger"
    older = published / "older.db"
    with closing(sqlite3.connect(older)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("CREATE TABLE planted (x)")
        connection.commit()
        for suffix in ("-wal", "-shm"):
            shutil.copy(f"{older}{suffix}", f"{path}{suffix}")
            with pytest.raises(LedgerError, match="not one of the ledger's own files"):
                Ledger.open(path)
            Path(f"{path}{suffix}").unlink()
    assert Ledger.open(path).verify() == 4


def test_a_link_in_a_confidential_folder_is_refused(tmp_path, victim):
    """Tables, pages and the marker are written to files of their own."""
    place = confidential_folder(tmp_path / "found")
    (place.path / "losses.csv").symlink_to(victim / "file")
    (place.path / ".report.html.partial").symlink_to(victim / "file")
    with pytest.raises(OSError, match="symbolic link"):
        place.write("losses", pa.table({"a": [1]}))
    with pytest.raises(OSError, match="symbolic link"):
        place.write_bytes("report.html", b"x")


def test_files_of_a_release_are_always_new(tmp_path, victim):
    """A link or a file in the place of one is refused, not followed."""
    (tmp_path / "x").symlink_to(victim / "file")
    with pytest.raises(FileExistsError):
        staging._new_file(tmp_path / "x", 0o600)


def test_a_file_written_through_a_link_is_seen(tmp_path):
    """Positive control: what the checks above look for does happen to a careless program."""
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    Path(tmp_path / "link").write_text("changed")
    assert (tmp_path / "file").read_text() == "changed"
