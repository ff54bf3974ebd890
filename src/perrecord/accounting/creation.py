"""Making a ledger: the whole of it appears under its name, or nothing."""

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from perrecord.accounting.schema import APPLICATION, SCHEMA, VERSION, Row, append
from perrecord.accounting.storage import connect, flush_one, name_while_creating, refusal
from perrecord.errors import LedgerError


def create(path: Path, first: Row, secret: bytes) -> None:
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
            f"{path}: the ledger could not be made ({error.strerror}), and there is none now. Give "
            "a path on a local disk whose file system knows hard links."
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
            f"({error.strerror}). Look whether it opens: Ledger.open(path)."
        ) from None


def _already_there(path: Path) -> LedgerError:
    return LedgerError(
        f"{path}: there is a file already, and a ledger is never overwritten. "
        "To use it: Ledger.open(path)."
    )
