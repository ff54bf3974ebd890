"""`ledger`: made once, shown, verified, exported."""

import hashlib
import json
import sqlite3
from itertools import pairwise

from perrecord import Budget, Ledger, Split
from tests.cli.conftest import changed, run


def test_create_makes_the_ledger_of_the_spec(folder):
    """With its budget and its title; a second one is refused."""
    shown = run("ledger", "create", "release.yaml")
    assert (shown.code, shown.out) == (0, f"{folder / 'est.ledger'}\n")
    ledger = Ledger.open(folder / "est.ledger")
    assert ledger.budget == Budget(1, Split(emp=50))
    assert ledger.name == "Establishments by county"
    before = (folder / "est.ledger").read_bytes()
    again = run("ledger", "create", "release.yaml")
    assert again.code == 1
    assert "a ledger is never overwritten" in again.err
    assert f"perrecord ledger show {folder / 'est.ledger'}" in again.err
    assert (folder / "est.ledger").read_bytes() == before


def test_create_warns_of_a_budget_that_its_own_spec_exceeds(folder):
    """Whoever meets the refusal only later is told that the ledger may be made again."""
    changed(folder, "{rho: 1, splits: [moderate]}", "{rho: 0.1, splits: [moderate]}")
    made = run("ledger", "create", "release.yaml")
    assert made.code == 0
    assert "too small for the spec's own queries (Establishments by county)" in made.err
    assert "its budget is 0.1" in made.err
    for command in (("check", "release.yaml"), ("release", "release.yaml", "--out", "out")):
        refused = run(*command)
        assert refused.code == 1
        assert "its budget is 0.1" in refused.err
        assert "may also be deleted and made again" in refused.err
        assert "perrecord ledger create release.yaml" in refused.err
    changed(folder, "{rho: 0.1, splits: [moderate]}", "{rho: 1, splits: [moderate]}")
    for command in (("check", "release.yaml"), ("release", "release.yaml", "--out", "out")):
        refused = run(*command)
        assert "made with another budget" in refused.err
        assert "may also be deleted and made again" in refused.err
    (folder / "est.ledger").unlink()  # as the message says
    again = run("ledger", "create", "release.yaml")
    assert (again.code, "too small" in again.err) == (0, False)
    assert run("release", "release.yaml", "--out", "out").code == 0
    changed(folder, "{rho: 1, splits: [moderate]}", "{rho: 2, splits: [moderate]}")
    assert "made again" not in run("check", "release.yaml").err


def test_create_warns_of_each_period_whose_budget_is_too_small(folder):
    """A spec that several periods share is named once."""
    changed(folder, "{rho: 1, splits: [moderate]}", "{rho: 0.1, splits: [moderate]}")
    made = run("ledger", "create", "release.yaml", "--periods", "2026..2028")
    assert made.code == 0
    assert made.err.count("too small for the spec's own queries") == 1


def test_the_path_of_a_ledger_is_printed_without_detours(folder):
    """Unless the detour is by a link, whose other end is another place."""
    (folder / "tuning").mkdir()
    changed(folder, "ledger: est.ledger", "ledger: tuning/../est.ledger")
    assert run("ledger", "create", "release.yaml").out == f"{folder / 'est.ledger'}\n"
    (folder / "far" / "inside").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "far" / "inside")
    changed(folder, "ledger: tuning/../est.ledger", "ledger: link/../est.ledger")
    assert run("ledger", "create", "release.yaml").code == 0
    assert (folder / "far" / "est.ledger").exists()


def test_create_needs_a_name(folder):
    """The spec says where the ledger is."""
    changed(folder, "ledger: est.ledger\n", "")
    assert "names no ledger" in run("ledger", "create", "release.yaml").err


def test_show(published):
    """Budget, charges and their states; as JSON, every entry."""
    shown = run("ledger", "show", "est.ledger")
    assert shown.code == 0
    assert "published  hmac:" in shown.out
    assert "  Establishments by county  " in shown.out
    assert "may lose 1 rho; charged of it so far: 0.3." in shown.out
    found = run("ledger", "show", "est.ledger", "--json").json()
    assert [each["kind"] for each in found["entries"]] == [
        "creation",
        "charge",
        "seal",
        "publication",
    ]
    assert found["budget"]["format"] == found["spent"]["format"] == "perrecord-policy"


def test_an_empty_ledger(charged):
    """Nothing was charged yet."""
    assert "No charges yet." in run("ledger", "show", "est.ledger").out


def test_verify_knows_noted_hashes(published):
    """Those of the manifest are there, others are not."""
    noted = json.loads((published / "published" / "manifest.json").read_text("utf-8"))["charge"]
    assert run("ledger", "verify", "est.ledger").out == "4 entries, all hashes fit.\n"
    known = run("ledger", "verify", "est.ledger", "--noted", noted, "--json")
    assert known.json() == {"entries": 4, "noted": [noted], "sound": True}
    other = run("ledger", "verify", "est.ledger", "--noted", noted, "--noted", "0" * 64)
    assert (other.code, other.out) == (1, "")
    assert "which was noted down earlier" in other.err


def test_a_changed_ledger_is_refused(published):
    """By every command that opens it."""
    with sqlite3.connect(published / "est.ledger") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for command in ("show", "verify", "export"):
        shown = run("ledger", command, "est.ledger")
        assert (shown.code, shown.out) == (1, "")
        assert "est.ledger" in shown.err


def test_export_is_a_chain_of_lines_without_the_secret(published):
    """Anybody can check it with SHA-256 alone."""
    shown = run("ledger", "export", "est.ledger")
    lines = shown.out.splitlines()
    for before, after in pairwise(lines):
        assert json.loads(after)["previous"] == hashlib.sha256(before.encode()).hexdigest()
    assert Ledger.open("est.ledger").secret.hex() not in shown.out


def test_a_ledger_that_is_not_there(folder):
    """It is not made on the way."""
    shown = run("ledger", "show", "none.ledger")
    assert shown.code == 1
    assert not (folder / "none.ledger").exists()


def test_a_lost_ledger_is_not_replaced_while_its_releases_are_there(published):
    """Their files show that something was spent, which a new ledger would not know."""
    (published / "est.ledger").unlink()
    shown = run("ledger", "create", "release.yaml")
    assert shown.code == 1
    assert "Restore it from a backup" in shown.err
    assert not (published / "est.ledger").exists()


def test_a_missing_ledger_is_made_by_a_command(folder):
    """Whoever typed a command is told a command."""
    assert "type perrecord ledger create SPEC" in run("ledger", "show", "none.ledger").err
