"""What a guide tells people to type exists: commands, options, targets of make, files, names."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from perrecord.cli import app
from perrecord.release.spec import spec_schema
from perrecord.release.spec.read import parse_document

ROOT = Path(__file__).parent.parent.parent
GENERATED = {"assurance.md", "cli.md"}
GUIDES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(each for each in sorted((ROOT / "docs").glob("*.md")) if each.name not in GENERATED),
]
FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^ {4}(perrecord .*)$", re.MULTILINE)
FOLDERS = ("benchmarks", "clients", "docs", "examples", "src", "tests", "tools")
LOGGERS = {
    name
    for each in (ROOT / "src").rglob("*.py")
    for name in re.findall(r'getLogger\("([\w.]+)"\)', each.read_text(encoding="utf-8"))
}
OTHERS = {"--require-hashes", "--write"}
"""Options of other programs that guides name on their own."""


def spans(text):
    """Return what stands in backticks outside of blocks, each on one line."""
    return [" ".join(each.split()) for each in re.findall(r"`([^`]+)`", FENCED.sub("", text))]


def lines(text):
    """Return the lines of blocks that a shell would run, comments taken away."""
    blocks = [block for kind, block in FENCED.findall(text) if kind in {"", "sh", "console"}]
    joined = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+#.*", "", each).strip() for each in (*joined, *INDENTED.findall(text))]


def words(line):
    """Return the words of a line up to a pipe; those in brackets or with dots are placeholders."""
    found = shlex.split(line, comments=False) if line.count("'") % 2 == 0 else line.split()
    return found[: found.index("|")] if "|" in found else found


def options(command):
    """Return the options of a command and of all below it."""
    command = command.loaded() if hasattr(command, "loaded") else command
    own = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    return own.union({"-h", "--help"}, *map(options, getattr(command, "commands", {}).values()))


def unknown(line):
    """Return the words of a command line that name no command or option."""
    _, *rest = words(line)
    command, missing = get_command(app), []
    while rest and hasattr(command, "commands") and re.fullmatch(r"[a-z]+", rest[0]):
        name = rest.pop(0)
        if name not in command.commands:
            return [name]
        command = command.commands[name]
    known = options(command)
    missing += [each for each in rest if each.startswith("--") and each.split("=")[0] not in known]
    return missing


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_every_command_and_option_of_a_guide_exists(page):
    """In blocks and in the text; an option on its own is one of some command."""
    text = page.read_text(encoding="utf-8")
    for line in (*lines(text), *spans(text)):
        if re.match(r"perrecord( |$)", line):
            assert not unknown(line), line
    alone = {
        word
        for span in spans(text)
        if span.startswith("--")
        for word in span.split()
        if word.startswith("--")
    }
    assert alone <= options(get_command(app)) | OTHERS


def test_a_command_that_does_not_exist_is_noticed():
    """The check itself: a wrong command, a wrong option, an option of another command."""
    assert unknown("perrecord chek release.yaml") == ["chek"]
    assert unknown("perrecord ledger creat release.yaml") == ["creat"]
    assert unknown("perrecord check release.yaml --goal 5%") == ["--goal"]
    assert not unknown("perrecord tune release.yaml --goal '5% for 95% of cells'")


def named_in_package(dotted):
    """Tell whether the package has a module, or a name of a module, that is written so."""
    found = importlib.import_module("perrecord")
    for name in dotted.split(".")[1:]:
        if not hasattr(found, name) and importlib.util.find_spec(f"{found.__name__}.{name}"):
            importlib.import_module(f"{found.__name__}.{name}")
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_every_target_file_and_name_of_a_guide_exists(page):
    """Targets of make, files of the repository, and modules and names of the package."""
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for span in (*spans(text), *lines(text)):
        for named in re.findall(r"^(?:\w+=\S+ )?make ([a-z]+)$", span):
            assert named in targets, span
        if re.fullmatch(r"[\w./-]+", span) and span.split("/")[0] in FOLDERS and "/" in span:
            assert (ROOT / span).exists(), span
        if re.fullmatch(r"perrecord(\.\w+)+", span) and span not in LOGGERS:
            assert named_in_package(span), span


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_every_key_at_the_top_of_a_spec_exists(page):
    """Of pieces of specs too, whichever guide shows them."""
    known = {*spec_schema()["properties"], "answers"}
    for kind, block in FENCED.findall(page.read_text(encoding="utf-8")):
        if kind == "yaml":
            assert {*parse_document(block, page.name).value} <= known, block


def test_nobody_is_told_that_no_row_is_read():
    """A CSV file is parsed when it is opened, and files are hashed: only what is true is said."""
    helped = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for text in (helped, *(each.read_text(encoding="utf-8") for each in GUIDES)):
        assert not re.search(r"no row (of the source )?is\s+read|reads\s+no\s+row", text, re.I)
