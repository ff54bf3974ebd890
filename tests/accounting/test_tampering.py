"""Whatever is changed behind the ledger's back is found, or changes nothing that it says."""

import json
import shutil
import sqlite3

import pytest

from perrecord import LedgerError, Policy
from perrecord.accounting import entries, rows
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger
from tests import first
from tests.accounting.conftest import by_hand


def written(path, number):
    """Return the line of one entry."""
    connection = sqlite3.connect(path)
    (line,) = connection.execute("SELECT written FROM entry WHERE number = ?", (number,)).fetchone()
    connection.close()
    return line


def changed(path, number, old, new):
    """Return the line of one entry with something replaced in it."""
    line = written(path, number)
    assert old in line
    return line.replace(old, new)


CHANGES = {
    "an amount": (
        "entry 4 was changed",
        lambda path: [
            (
                "UPDATE entry SET written = ? WHERE number = 4",
                changed(path, 4, '"amount":"0.25"', '"amount":"0.01"'),
            )
        ],
    ),
    "an amount and its hash": (
        "entry 5 does not follow",
        lambda path: [
            (
                "UPDATE entry SET written = ?, hash = ? WHERE number = 4",
                line := changed(path, 4, '"amount":"0.25"', '"amount":"0.01"'),
                entries.digest(line),
            )
        ],
    ),
    "the last amount and its hash": (
        "does not end where",
        lambda path: [
            (
                "UPDATE entry SET written = ?, hash = ? WHERE number = 5",
                line := changed(path, 5, '"amount":"0.125"', '"amount":"0.01"'),
                entries.digest(line),
            )
        ],
    ),
    "an identity beside its text": (
        "entry 5 was changed beside its text",
        lambda path: [("UPDATE entry SET identity = 'other' WHERE number = 5",)],
    ),
    "an entry deleted": (
        "entry 4 is missing",
        lambda path: [("DELETE FROM entry WHERE number = 4",)],
    ),
    "the last entry deleted": (
        "entry 5 is missing",
        lambda path: [("DELETE FROM entry WHERE number = 5",)],
    ),
    "the first entry deleted": (
        "entry 0 is missing",
        lambda path: [("DELETE FROM entry WHERE number = 0",)],
    ),
    "every entry deleted": (
        "missing",
        lambda path: [("DELETE FROM entry",), ("UPDATE head SET count = 0",)],
    ),
    "two entries swapped": (
        "entry 4 ",
        lambda path: [
            ("UPDATE entry SET number = 99 WHERE number = 4",),
            ("UPDATE entry SET number = 4 WHERE number = 5",),
            ("UPDATE entry SET number = 5 WHERE number = 99",),
        ],
    ),
    "an entry added": (
        "entry 6 ",
        lambda path: [
            (
                "INSERT INTO entry (number, written, hash, kind) VALUES (6, ?, ?, 'charge')",
                line := changed(path, 4, '"number":4', '"number":6'),
                entries.digest(line),
            )
        ],
    ),
    "the head": ("does not end where", lambda path: [("UPDATE head SET count = 4",)]),
    "the head deleted": ("lost its head", lambda path: [("DELETE FROM head",)]),
    "the secret": (
        "secret was changed",
        lambda path: [("UPDATE secret SET value = zeroblob(32)",)],
    ),
    "the secret deleted": ("lost its secret", lambda path: [("DELETE FROM secret",)]),
    "a trigger": ("triggers were changed", lambda path: [("CREATE TABLE more (a)",)]),
    "the application": ("not a perrecord ledger", lambda path: [("PRAGMA application_id = 7",)]),
    "the version": ("version 2.*upgrade", lambda path: [("PRAGMA user_version = 2",)]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_by_hand_is_found(lived, what):
    """On opening, by verify, and before the next charge of a process that has it open."""
    message, statements = CHANGES[what]
    # The open ledger has checked all but the last entries, as another process would have.
    before = Ledger.open(lived.path)
    by_hand(lived.path, *statements(lived.path))
    with pytest.raises(LedgerError, match=message) as refused:
        Ledger.open(lived.path)
    assert str(lived.path) in str(refused.value)
    with pytest.raises(LedgerError):
        before.verify()
    if what not in ("an amount", "an amount and its hash", "an entry deleted", "the secret",
                    "the secret deleted", "the first entry deleted"):  # fmt: skip
        with pytest.raises(LedgerError):
            before.charge(Policy.constant("0.01"), snapshot="s", label="after the change")


def test_the_triggers_refuse_what_goes_through_them(lived):
    """Anybody who uses SQLite without removing them first."""
    connection = sqlite3.connect(lived.path, isolation_level=None)
    for statement in (
        "UPDATE entry SET written = ''",
        "DELETE FROM entry",
        "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE number = 4",
        "UPDATE head SET count = 1",
    ):
        with pytest.raises(sqlite3.IntegrityError, match=r"ledger|appended"):
            connection.execute(statement)
    connection.close()
    assert lived.verify() == 6


def rewritten(path, number, old, new):
    """Rewrite an entry and every hash after it: what a chain alone cannot show."""
    ledger = Ledger.open(path)
    statements, previous = [], None
    for entry in ledger.entries():
        line = written(path, entry.number)
        if entry.number == number:
            assert old in line
            line = line.replace(old, new)
        if previous is not None:
            line = entries.line({**json.loads(line), "previous": previous})
        previous = entries.digest(line)
        statement = "UPDATE entry SET written = ?, hash = ? WHERE number = ?"
        statements.append((statement, line, previous, entry.number))
    by_hand(path, *statements, ("UPDATE head SET hash = ?", previous))


def test_a_rewritten_ledger_is_found_by_a_hash_that_was_noted(lived, path):
    """Against the whole file rewritten there is only what was kept elsewhere, or in memory."""
    noted = [entry.hash for entry in lived.entries() if entry.number in (1, 5)]
    assert lived.verify(noted) == 6
    rewritten(path, 4, '"amount":"0.25"', '"amount":"0.01"')
    again = Ledger.open(path)  # the chain is whole
    assert again.verify(noted[:1]) == 6
    with pytest.raises(LedgerError, match="noted down earlier"):
        again.verify(noted)
    with pytest.raises(LedgerError, match="not the one that was there before"):
        lived.spent()


def test_an_older_copy_is_found_by_a_process_that_has_seen_more(lived, path):
    """Restoring a backup under a running process does not reset what it knows."""
    shutil.copy(path, path.with_name("backup.db"))
    lived.charge(Policy.constant("0.1"), snapshot="s", label="after the backup")
    lived.spent()
    shutil.copy(path.with_name("backup.db"), path)
    with pytest.raises(LedgerError, match="replaced by an older one"):
        lived.charge(Policy.constant("0.01"), snapshot="s", label="after the restore")


def test_the_same_charge_made_again_after_a_rollback_is_found_by_its_hash(lived, path):
    """It says the same of the same day, and is another entry all the same."""
    backup = path.read_bytes()
    charge = {"snapshot": "s", "label": "release", "identity": "2026"}
    noted = lived.charge(Policy.constant("0.1"), **charge).hash
    path.write_bytes(backup)
    again = Ledger.open(path)
    assert again.charge(Policy.constant("0.1"), **charge).hash != noted
    with pytest.raises(LedgerError, match="noted down earlier"):
        again.verify([noted])


def test_a_chain_that_leaves_out_the_amount_is_caught(path, monkeypatch):
    """A broken twin of the chain does not see a changed amount; ours does."""

    def broken(line):
        fields = json.loads(line)
        return original(entries.line({**fields, "policy": None}))

    original = entries.digest
    for digest, found in ((broken, False), (original, True)):
        monkeypatch.setattr(entries, "digest", digest)
        monkeypatch.setattr(rows, "digest", digest)
        where = path.with_name(f"{found}.db")
        ledger = Ledger.create(where, Budget(1))
        ledger.charge(Policy.constant("0.9"), snapshot="s", label="a")
        line = changed(where, 1, '"amount":"0.9"', '"amount":"0.1"')
        by_hand(where, ("UPDATE entry SET written = ? WHERE number = 1", line))
        try:
            spent = Ledger.open(where).spent()
            assert (found, spent) == (False, Policy.constant("0.1"))
        except LedgerError:
            assert found


def test_a_check_that_forgets_the_head_is_caught(lived, monkeypatch):
    """A broken twin of the check does not see that the last charge is gone; ours does."""
    by_hand(lived.path, ("DELETE FROM entry WHERE number = 5",))
    with pytest.raises(LedgerError):
        Ledger.open(lived.path)
    last = last_hash(lived.path)
    monkeypatch.setattr(rows, "head", lambda path, connection: (5, last))
    assert Ledger.open(lived.path).verify() == 5


def last_hash(path):
    """Return the hash of the last entry that is there."""
    connection = sqlite3.connect(path)
    (found,) = connection.execute("SELECT hash FROM entry ORDER BY number DESC").fetchone()
    connection.close()
    return found


def said(path):
    """Return all that a ledger says, or None if it refuses."""
    try:
        ledger = Ledger.open(path)
        return ledger.export(), ledger.secret, ledger.budget, ledger.verify()
    except LedgerError:
        return None


@pytest.mark.parametrize("step", first(1, [151, 61]))
def test_no_flipped_byte_changes_what_the_ledger_says(lived, tmp_path, step):
    """Every region of the file: either it is refused, or the byte meant nothing."""
    content = bytearray(lived.path.read_bytes())
    copy, truth, refused = tmp_path / "copy.db", said(lived.path), 0
    places = range(0, len(content), step)
    for place in places:
        content[place] ^= 0xFF
        copy.write_bytes(content)
        content[place] ^= 0xFF
        found = said(copy)
        assert found in (None, truth), place
        refused += found is None
    assert refused > len(places) / 20  # most of a small database is unused room


def test_every_byte_of_a_line_counts(lived, tmp_path):
    """Where the entries themselves lie, each flipped bit is refused."""
    content = bytearray(lived.path.read_bytes())
    start = content.index(b'{"charge":1,"day"')
    copy = tmp_path / "copy.db"
    for place in range(start, start + 120):
        content[place] ^= 1
        copy.write_bytes(content)
        content[place] ^= 1
        assert said(copy) is None, place


@pytest.mark.parametrize("share", [0, 1, 50, 100, 4096, "half", "one byte less", "one page less"])
def test_a_truncated_file_is_refused_and_left_alone(lived, share):
    """It says to restore the backup, and is not made anew."""
    content = lived.path.read_bytes()
    size = len(content)
    sizes = {"half": size // 2, "one byte less": size - 1, "one page less": size - 4096}
    cut = content[: sizes.get(share, share)]
    lived.path.write_bytes(cut)
    with pytest.raises(LedgerError, match="restore the newest backup"):
        Ledger.open(lived.path)
    with pytest.raises(LedgerError):
        lived.charge(Policy.constant("0.1"), snapshot="s", label="a")
    assert lived.path.read_bytes() == cut
