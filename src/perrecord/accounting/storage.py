"""The file of a ledger: one SQLite database, made whole or not at all, opened for every call.

A connection per call keeps threads and forked processes apart. Nothing here opens the file with
Python's own `open`: closing any descriptor of a file drops every lock that this process holds on
it, another thread's transaction included.
"""

import errno
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from perrecord.accounting.entries import EntryRow
from perrecord.accounting.rows import APPLICATION, RESTORE, SCHEMA, VERSION, append
from perrecord.errors import LedgerError
from perrecord.systems import flush_one, user

WAIT_SECONDS = 60
_ASK_AGAIN_SECONDS = 0.01

_SETTINGS = (
    ("trusted_schema", "OFF", 0),  # a planted schema may call nothing with side effects
    ("cell_size_check", "ON", 1),  # look at every page as it is read
    ("foreign_keys", "ON", 1),
    ("journal_mode", "DELETE", "delete"),
    ("synchronous", "EXTRA", 3),  # under FULL the last commit can be lost with the power
    ("fullfsync", "ON", 1),  # macOS: flush the disk's own cache too
)


_REMEDIES = {
    errno.EACCES: "whoever charges must be able to read the folder as well as write to it",
    errno.EINVAL: "keep the ledger on a local disk",
}
_UNDONE = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
"""Failures of a commit before its last step, which is to delete the journal."""


def create(path: Path, first: EntryRow, secret: bytes) -> None:
    """Make a ledger with its first entry: all of it appears under its name, or nothing.

    It is written under another name, flushed, and then linked: a link never replaces a file.
    """
    if os.path.lexists(path):
        raise _already_there(path)
    try:
        # mkstemp gives mode 0600, which the ledger keeps.
        descriptor, name = tempfile.mkstemp(prefix=name_while_creating(path), dir=path.parent)
        os.close(descriptor)
    except OSError as error:
        raise LedgerError(
            f"{path}: no ledger can be made there ({error.strerror}); give a path in a folder that "
            "exists and may be written."
        ) from None
    temporary = Path(name)
    try:
        with closing(connect(temporary)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("INSERT INTO head VALUES (1, 0, '')")
            connection.execute("INSERT INTO secret VALUES (1, ?)", (secret,))
            append(connection, first)
            connection.execute("COMMIT")
        flush_one(temporary)
        os.link(temporary, path)
    except FileExistsError:
        raise _already_there(path) from None
    except OSError as error:
        raise LedgerError(
            f"{path}: the ledger could not be made ({error.strerror}), and there is none now. "
            "Give a path on a local disk whose file system supports hard links."
        ) from None
    except sqlite3.Error as error:
        raise refusal(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)
        Path(f"{temporary}-journal").unlink(missing_ok=True)
    try:
        flush_one(path.parent)
    except OSError as error:
        raise LedgerError(
            f"{path}: the ledger was made, but its folder could not be flushed to the disk "
            f"({error.strerror}). Check it: perrecord ledger verify {path}"
        ) from None


def _already_there(path: Path) -> LedgerError:
    return LedgerError(
        f"{path}: there is a file already, and a ledger is never overwritten. To use it, skip this "
        "step: perrecord check and perrecord release use the ledger that the spec names, and a "
        f"Session opens it if you leave out new=True. To see what it is: perrecord ledger show "
        f"{path}"
    )


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the ledger for one look at it: every read sees the same state."""
    with _opened(path) as connection:
        connection.execute("BEGIN")
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the ledger for one transaction: all of it is written, or nothing.

    The folder is flushed first. An entry that is found and not written may be the last work of a
    process that died, or whose disk failed, before the end of its journal was on the disk: the
    entry could still go with the power. And SQLite does not check whether its own flush of a new
    journal's name has failed.
    """
    with _opened(path) as connection:
        _begin(connection)
        yield connection
        _flush_names(path)
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction or _reason(error) in _UNDONE:
                raise  # the transaction is rolled back
            raise LedgerError(
                f"{path}: the disk failed while the entry was made durable "
                f"({_reason(error)}). It may or may not have been written: run `perrecord ledger "
                "verify`, and ask again with the same identity, which is charged once."
            ) from None


def _begin(connection: sqlite3.Connection) -> None:
    """Begin to write, once nobody else does.

    SQLite asks ever more rarely the longer it has waited, so that in a crowd those who came last
    go first, and some never. Here everybody asks equally often.
    """
    until = time.monotonic() + WAIT_SECONDS
    connection.execute("PRAGMA busy_timeout = 0")
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            if _reason(error) != "SQLITE_BUSY" or time.monotonic() > until:
                raise
        time.sleep(_ASK_AGAIN_SECONDS)
    connection.execute(f"PRAGMA busy_timeout = {1000 * WAIT_SECONDS:.0f}")


def _flush_names(path: Path) -> None:
    """Make the names in the ledger's folder survive a loss of power."""
    try:
        flush_one(path.parent)
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "check the disk and try again")
        raise LedgerError(
            f"{path}: its folder could not be flushed to the disk ({error.strerror}), and a charge "
            f"could be lost. Nothing was written; {remedy}."
        ) from None


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    _look_at(path)
    try:
        with closing(connect(path)) as connection:
            _check_kind(path, connection)
            yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:  # names and texts are bytes to SQLite
        raise refusal(path, error) from None


def connect(path: Path) -> sqlite3.Connection:
    """Open a database that exists, with the settings that make a commit durable."""
    if sqlite3.sqlite_version_info < (3, 37):
        raise LedgerError(
            f"this Python comes with SQLite {sqlite3.sqlite_version}; a ledger needs 3.37 or "
            "newer. Use a newer Python."
        )
    # Two slashes at the beginning would name a host.
    uri = f"file:///{quote(os.fsencode(path).lstrip(b'/'))}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=WAIT_SECONDS)
    try:
        for name, value, expected in _SETTINGS:
            connection.execute(f"PRAGMA {name} = {value}")
            (found,) = connection.execute(f"PRAGMA {name}").fetchone()
            if found != expected:
                raise LedgerError(
                    f"{path}: SQLite's {name} is {found!r} and cannot be set to {value}, without "
                    "which a charge could be lost. Keep the ledger on a local disk."
                )
    except BaseException:
        connection.close()
        raise
    return connection


def _look_at(path: Path) -> None:
    """Refuse what is no plain file of its own, before SQLite touches it."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        raise LedgerError(
            f"{path}: there is no ledger. If there was one, restore it from your backup; a new one "
            "would forget what was spent. To start the first, type perrecord ledger create SPEC "
            "with the spec that names it, or in Python Ledger.create(path, Budget(...))."
        ) from None
    except OSError as error:
        raise LedgerError(
            f"{path}: the ledger cannot be reached ({error.strerror}); check the folder."
        ) from None
    if stat.S_ISLNK(found.st_mode):
        raise LedgerError(f"{path}: is a symbolic link; give the path of the ledger itself.")
    if not stat.S_ISREG(found.st_mode):
        raise LedgerError(f"{path}: is not a file; give the path of a ledger, such as ledger.db.")
    _look_at_journal(path, found)
    if found.st_nlink > 1 and _links_left(path, found) > 1:
        raise LedgerError(
            f"{path}: the file has a second name (a hard link), under which SQLite would not see "
            "what is being written. Delete the other name; make backups as copies."
        )


def _look_at_journal(path: Path, ledger: os.stat_result) -> None:
    """Refuse what somebody planted beside a ledger: SQLite would write what it says into it.

    The journal belongs to whoever writes. Only where anybody may write to the folder, it must be
    of the ledger's owner; others who may are trusted with the ledger. There is never a write-ahead
    log.
    """
    for suffix in ("-wal", "-shm"):
        if os.path.lexists(f"{path}{suffix}"):
            raise LedgerError(f"{path}{suffix}: {_PLANTED}")
    try:
        found = os.lstat(f"{path}-journal")
        is_open = path.parent.stat().st_mode & stat.S_IWOTH
    except OSError:
        return
    owners = (ledger.st_uid, user(), 0)
    if not stat.S_ISREG(found.st_mode) or (is_open and found.st_uid not in owners):
        raise LedgerError(f"{path}-journal: {_PLANTED}")


_PLANTED = (
    "is not one of the ledger's own files, and SQLite would obey it. Copy the ledger and this "
    "file to a safe place, find out who put it there, restore the newest backup, and keep the "
    "ledger in a folder that only its users may write to."
)


def _links_left(path: Path, found: os.stat_result) -> int:
    """Remove the name under which a ledger was created, if a crash left it behind."""
    with suppress(OSError), os.scandir(path.parent) as names:
        for other in names:
            if other.name.startswith(name_while_creating(path)) and other.inode() == found.st_ino:
                os.unlink(other.path)
    return path.lstat().st_nlink


def name_while_creating(path: Path) -> str:
    """Return how the name begins under which a ledger is written before it is there."""
    return f".{path.name}.creating-"


def _check_kind(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise LedgerError(
            f"{path}: is not a perrecord ledger. If it was one, it is damaged: {RESTORE}"
        )
    if version != VERSION:
        raise LedgerError(
            f"{path}: is a ledger of version {version}; this perrecord reads version {VERSION}. "
            "A newer perrecord may read it: pip install --upgrade perrecord."
        )


def refusal(path: Path, error: Exception) -> LedgerError:
    """Return what an error of SQLite means to whoever keeps the ledger."""
    name = getattr(error, "sqlite_errorname", None) or ""
    match name.removeprefix("SQLITE_").split("_")[0]:
        case "NOTADB":
            fault = f"is not a ledger, or its beginning is damaged: {RESTORE}"
        case "FULL":
            fault = "the disk is full. Nothing was written; make room and try again."
        case "BUSY" | "LOCKED":
            fault = (
                f"another process has held the ledger for {WAIT_SECONDS} seconds. Nothing was "
                "written; find out what it is doing and try again."
            )
        case "READONLY" | "CANTOPEN" | "PERM" | "AUTH":
            fault = (
                f"cannot be opened or written here ({_reason(error)}). Nothing was written; the "
                "user who runs this needs to read and write both the file and its folder."
            )
        case "IOERR":
            fault = (
                f"the disk failed, or has no room left ({_reason(error)}). Nothing was written; "
                "check the disk and try again."
            )
        case _:
            fault = f"is damaged ({_reason(error)}): {RESTORE}"
    return LedgerError(f"{path}: {fault}")


def _reason(error: Exception) -> str:
    return getattr(error, "sqlite_errorname", None) or type(error).__name__
