"""How commands end when something goes wrong: no traceback, no data, the right exit code."""

import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from perrecord.errors import InternalError
from tests.cli.conftest import SECRET, SECRET_NUMBER, outside, run


def quoting(*_, **__):
    """Fail as a library does that quotes the record it stumbled over."""
    raise ValueError(f"cannot convert {SECRET!r}")


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize(
    ("command", "target"),
    [
        (("release", "release.yaml", "--out", "out"), "perrecord.release.publish.run_each"),
        (("doctor", "release.yaml", "--confidential"), "perrecord.evaluate.doctor.examine"),
        (("check", "release.yaml"), "perrecord.release.spec.build"),
        (("init", "est.parquet", "--out", "new.yaml"), "perrecord.release.spec.template"),
    ],
)
def test_while_data_is_open_an_unforeseen_error_is_withheld(
    charged, monkeypatch, command, target, debug
):
    """It may quote records, so neither its message nor a traceback is shown, debugging or not."""
    monkeypatch.setattr(target, quoting)
    shown = run(*command, PERRECORD_DEBUG=debug)
    assert shown.code == 3
    assert SECRET not in shown.err + shown.out
    assert "Traceback" not in shown.err
    assert "ValueError" in shown.err
    assert "may quote records" in shown.err
    assert "please report it" in shown.err


def test_a_panic_is_withheld_too(charged, monkeypatch):
    """Rust libraries raise what is no Exception."""

    class PanicException(BaseException):
        pass

    def panic(*_, **__):
        raise PanicException(SECRET)

    monkeypatch.setattr("perrecord.release.publish.run_each", panic)
    shown = run("release", "release.yaml", "--out", "out", PERRECORD_DEBUG="1")
    assert (shown.code, SECRET in shown.err) == (3, False)


def test_elsewhere_debugging_shows_where_it_happened(folder, monkeypatch):
    """Without data there is nothing to withhold."""
    monkeypatch.setattr("perrecord.release.spec.spec_schema", quoting)
    shown = run("schema")
    assert shown.code == 3
    assert "ValueError: an unexpected error. This is a bug in perrecord" in shown.err
    assert "PERRECORD_DEBUG=1" in shown.err
    assert "Traceback" not in shown.err
    assert "Traceback" in run("schema", PERRECORD_DEBUG="1").err


def test_our_own_faults_end_with_3(folder, monkeypatch):
    """An InternalError is a bug, not a refusal."""

    def fault():
        raise InternalError("Something is off.")

    monkeypatch.setattr("perrecord.release.spec.spec_schema", fault)
    shown = run("schema")
    assert (shown.code, "Something is off. This is a bug" in shown.err) == (3, True)


def test_an_interrupt_ends_with_130(folder, monkeypatch):
    """In any command."""

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("perrecord.release.spec.spec_schema", interrupted)
    shown = run("schema")
    assert (shown.code, shown.err) == (130, "perrecord: interrupted.\n")


def test_what_the_operating_system_refuses_is_said(folder):
    """A folder that is not there is no bug."""
    shown = run("init", "est.parquet", "--out", "none/mine.yaml")
    assert shown.code == 1
    assert "No such file or directory" in shown.err
    assert "none/mine.yaml" in shown.err


@pytest.mark.parametrize(
    "command",
    [
        ("check", "release.yaml"),
        ("release", "release.yaml", "--out", "out"),
        ("doctor", "release.yaml", "--confidential"),
        ("ledger", "create", "release.yaml"),
        ("policy", "release.yaml"),
    ],
)
def test_no_message_quotes_the_data(folder, command):
    """A damaged file, a CSV whose line is broken: the secret stays where it is."""
    path = folder / "est.parquet"
    whole = path.read_bytes()
    assert SECRET.encode() in whole
    path.write_bytes(whole[:-20] + b"\0" * 20)
    shown = run(*command, PERRECORD_DEBUG="1")
    assert shown.code == 1
    csv = f"id,county,emp\n1,{SECRET},{SECRET_NUMBER},{SECRET}\n"
    (folder / "est.csv").write_text(csv, encoding="utf-8")
    spec = (folder / "release.yaml").read_text("utf-8").replace("est.parquet", "est.csv")
    (folder / "release.yaml").write_text(spec, encoding="utf-8")
    broken = run(*command, PERRECORD_DEBUG="1")
    assert broken.code == 1
    for each in (shown, broken):
        assert SECRET not in each.out + each.err
        assert str(SECRET_NUMBER) not in each.out + each.err


def test_rows_that_fail_while_being_read_are_not_quoted(charged):
    """The file changes after it was opened for the check: the engine's words are withheld."""
    table = pq.read_table(charged / "est.parquet")
    path = charged / "est.parquet"
    pq.write_table(table, path, compression="none")
    content = path.read_bytes()
    place = content.index(SECRET.encode())
    path.write_bytes(content[: place - 12] + b"\xff" * 12 + content[place:])
    for command in (
        ("release", "release.yaml", "--out", "out"),
        ("doctor", "release.yaml", "--confidential"),
    ):
        shown = run(*command)
        assert shown.code in (0, 1)
        assert SECRET not in shown.out + shown.err
        assert "Traceback" not in shown.err


def test_a_reader_that_goes_away_is_no_error(folder):
    """`perrecord schema | head -1` says nothing on stderr."""
    command = f"{sys.executable} -m perrecord.cli schema | head -1"
    shown = subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False
    )
    assert (shown.stdout, shown.stderr) == ("{\n", "")


def test_an_error_of_ours_in_a_process_of_its_own(folder):
    """Its stdout stays empty, stderr holds the message and no traceback."""
    shown = outside("release", "none.yaml", "--out", "out", cwd=folder)
    assert (shown.code, shown.out) == (1, "")
    assert shown.err.startswith("perrecord: ")
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    "typed",
    [
        ("export", "published", "--to", "excel", "--out", "x"),
        ("compare", "old", "new", "--confidence", "many"),
    ],
)
def test_a_mistake_on_the_command_line_has_no_prefix_of_a_library(folder, typed):
    """What was typed is quoted, and what is expected follows."""
    shown = run(*typed)
    assert shown.code == 2
    assert "value error" not in shown.err.lower()
    assert "'excel' is not one of" in shown.err or "valid number" in shown.err
