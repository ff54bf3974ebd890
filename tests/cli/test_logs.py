"""`--log FILE`: on every command; names and steps, never values."""

import logging
import os
import stat

import pytest
from typer.main import get_command

from perrecord.cli import app
from tests.cli.conftest import SECRET, SECRET_NUMBER, run


def commands(command=None, prefix=()):
    """Yield every command that does something, by its words."""
    command = get_command(app) if command is None else command
    inner = getattr(command, "commands", {})
    if not inner:
        yield prefix, command.loaded()
    for name, each in inner.items():
        yield from commands(each, (*prefix, name))


def test_every_command_takes_a_log():
    """The option is added where commands are, so that none can forget it."""
    lacking = [
        name for name, each in commands() if "--log" not in str([p.opts for p in each.params])
    ]
    assert lacking == []


def test_a_log_tells_what_was_done_and_nothing_of_the_data(charged, monkeypatch):
    """A release, a refusal and a fault; the secret of the data is in no line."""
    run("release", "release.yaml", "--out", "published", "--log", "all.log")
    run("evaluate", "release.yaml", "--log", "all.log")
    run("doctor", "release.yaml", "--log", "all.log")
    run("policy", "published", "--record", f"emp={SECRET_NUMBER}", "--log", "all.log")
    assert run("check", "none.yaml", "--log", "all.log").code == 1
    monkeypatch.setattr("perrecord.release.publish.release", broken)
    assert run("release", "release.yaml", "--out", "other", "--log", "all.log").code == 3
    text = (charged / "all.log").read_text("utf-8")
    for words in (
        "perrecord.cli: perrecord", "release begins", "perrecord.release: charging the ledger",
        "perrecord.ledger: writing a charge", "perrecord.ledger: writing a seal", "release ends",
        "check ends: SpecError", "ERROR perrecord.cli: release ends: InternalError",
    ):  # fmt: skip
        assert words in text, words
    assert SECRET not in text
    assert str(SECRET_NUMBER) not in text
    assert stat.S_IMODE(os.stat("all.log").st_mode) == 0o600
    assert logging.getLogger("perrecord").handlers == []


def broken(*_, **__):
    """Fail as a library would, quoting a record."""
    raise ValueError(f"cannot convert {SECRET!r}")


@pytest.mark.parametrize("place", ["none/a.log", "."])
def test_a_log_that_cannot_be_written_is_refused_before_anything(charged, place):
    """As a mistake on the command line."""
    found = run("release", "release.yaml", "--out", "published", "--log", place)
    assert found.code == 2
    assert not (charged / "published").exists()


def test_without_a_log_nothing_is_logged_to_anywhere(charged, capfd):
    """The library adds no handlers of its own."""
    assert run("check", "release.yaml").code == 0
    assert "perrecord.cli" not in "".join(capfd.readouterr())
