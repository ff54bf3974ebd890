"""Hostile keys and names where people read them: no terminal codes, no markup."""

import json
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from perrecord.cli import output
from perrecord.release import methodology
from tests.cli.conftest import run
from tests.hostile.keys import EVERY
from tests.hostile.keys_release import quoted, released, shared_folder, spec, write_folder

# -- terminals ---------------------------------------------------------------------------------


def obeyed(text):
    """Return the characters that a terminal would obey, but for ends of lines."""
    controls = {chr(each) for each in (*range(32), *range(127, 160))} - {"\n"}
    marks = set(
        "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
    )
    return sorted(set(text) & (controls | marks))


def shown(*arguments):
    """Return what a command prints."""
    found = run(*arguments)
    return found.out + found.err


@pytest.fixture
def folder():
    """A folder with a release of every hostile key."""
    return shared_folder()


COMMANDS = (
    ["check", "release.yaml"],
    ["check", "release.yaml", "--json"],
    ["policy", "out"],
    ["policy", "out", "--json"],
    ["policy", "out", "--record", "emp=3", "--record", "key=\x1b[31m\u202e"],
    ["policy", "out", "--record", "\x1b[31mno such field=3"],
    ["ledger", "show", "est.ledger"],
    ["ledger", "show", "est.ledger", "--json"],
    ["doctor", "release.yaml"],
    ["release", "release.yaml", "--out", "out\x1b[2J"],
    ["check", "\x1b[31mmissing.yaml"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command)[:30])
def test_commands_print_nothing_that_a_terminal_obeys(command, folder, monkeypatch):
    """Titles, keys, fields and paths with control characters are printed as escapes."""
    monkeypatch.chdir(folder)
    text = shown(*command)
    assert text.strip()
    assert obeyed(text) == []


def test_json_for_programs_is_exact(folder, monkeypatch):
    """Escapes of JSON: a program reads the title as it is."""
    monkeypatch.chdir(folder)
    title = json.loads((folder / "out" / "datapackage.json").read_text("utf-8"))["title"]
    assert obeyed(title)
    assert json.loads(shown("check", "release.yaml", "--json"))["title"] == title


def test_messages_about_hostile_names_are_inert(tmp_path, monkeypatch):
    """Mistakes at every mention of a name: what is shown of it is escaped."""
    write_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    hostile = "\x1b]0;x\x07\u202e\x9b31m"
    for old, new in (
        ("keys: csv,", f"keys: {quoted(hostile)},"),
        ("split: by_key", f"split: {quoted(hostile)}"),
        ("sum: emp", f"sum: {quoted(hostile)}"),
        ("name: from_csv", f"name: {quoted(hostile)}"),
        ("source: est.parquet", f"source: {quoted(hostile)}"),
        ("  plain: {", f"  {quoted(hostile)}: {{"),
        ("outputs: {", f"{quoted(hostile)}: {{"),
    ):
        assert old in spec()
        (tmp_path / "release.yaml").write_text(spec().replace(old, new, 1), "utf-8")
        text = shown("check", "release.yaml")
        assert "perrecord: " in text, old
        assert obeyed(text) == [], old


def test_a_command_that_prints_names_as_they_are_is_caught(folder, monkeypatch):
    """Broken twin."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(output, "visible", lambda text: text)
    assert "\x1b" in obeyed(shown("ledger", "show", "est.ledger"))


# -- Markdown ----------------------------------------------------------------------------------


def elements(text):
    """Return what a Markdown document holds beside plain text, and its headings."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inner)}
    heads = [after.content for before, after in pairwise(tokens) if before.type == "heading_open"]
    return kinds, heads


def foreign(text):
    """Return the kinds of elements that a methodology never holds of its own."""
    kinds, _ = elements(text)
    wanted = {"html_block", "html_inline", "link_open", "image", "ordered_list_open", "hr"}
    return sorted(kinds & wanted)


def test_the_methodology_holds_names_as_text(folder):
    """No link, image, HTML or foreign heading; every heading and table is still there."""
    text = (folder / "out" / "methodology.md").read_text("utf-8")
    assert foreign(text) == []
    _, heads = elements(text)
    assert len(heads) == 5 + 9 + 1
    assert obeyed(text) == []


def test_a_methodology_that_trusts_names_is_caught(tmp_path, monkeypatch):
    """Broken twin: words as they are."""
    monkeypatch.setattr(methodology, "inline", lambda words: words)
    out = released(tmp_path, EVERY[:8])
    assert "html_inline" in foreign((out / "methodology.md").read_text("utf-8"))
