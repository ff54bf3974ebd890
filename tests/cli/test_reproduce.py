"""`perrecord reproduce` refuses what it cannot run, before it runs for minutes."""

import pytest

from perrecord import extras
from tests.cli.conftest import run


def test_an_unknown_experiment_is_a_mistake_on_the_command_line(tmp_path):
    """The names that there are stand in the message."""
    shown = run("reproduce", "cattle", "--out", tmp_path / "paper")
    assert shown.code == 2
    assert "'sim', 'cis', 'cbp', 'keys', 'all'" in shown.err
    assert not (tmp_path / "paper").exists()


def test_a_folder_must_be_named(tmp_path, monkeypatch):
    """Nothing is written to a place that nobody gave."""
    monkeypatch.chdir(tmp_path)
    assert run("reproduce", "all").code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("which", ["cis", "cbp"])
def test_a_file_that_is_not_there_is_named(tmp_path, which):
    """And no folder is made for what cannot be run."""
    shown = run("reproduce", which, f"--{which}-file", "no.csv", "--out", tmp_path / "paper")
    assert shown.code == 1
    assert "there is no file 'no.csv'" in shown.err
    assert not (tmp_path / "paper").exists()


def test_a_file_for_another_experiment_is_refused(tmp_path):
    """It would be ignored without a word; the message says what to type."""
    path = tmp_path / "quickstats.csv"
    path.write_text("", encoding="utf-8")
    shown = run("reproduce", "sim", "--cis-file", path, "--out", tmp_path / "paper")
    assert shown.code == 1
    assert "perrecord reproduce cis --cis-file quickstats.csv" in shown.err


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    """Before minutes of work, not after."""
    path = tmp_path / "paper"
    path.write_text("", encoding="utf-8")
    shown = run("reproduce", "keys", "--quick", "--out", path)
    assert shown.code == 1
    assert "paper" in shown.err
    assert path.read_text(encoding="utf-8") == ""


def test_without_scipy_it_says_what_to_install(tmp_path, monkeypatch):
    """It is an extra: the library itself does not need it."""
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    shown = run("reproduce", "keys", "--quick", "--out", tmp_path / "paper")
    assert shown.code == 1
    assert "pip install 'perrecord[lab]'" in shown.err
    assert not (tmp_path / "paper").exists()
