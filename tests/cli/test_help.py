"""Help, version, completion, start-up, and the reference made from the help."""

import runpy
import sys
from pathlib import Path

import pytest

import perrecord
from tests.cli.conftest import outside, run

ROOT = Path(__file__).parent.parent.parent
COMMANDS = [
    "init",
    "check",
    "evaluate",
    "tune",
    "reproduce",
    "release",
    "policy",
    "audit replay",
    "audit doors",
    "audit utility",
    "audit sample",
    "ledger create",
    "ledger show",
    "ledger verify",
    "ledger export",
    "synth business",
    "synth cbp",
    "synth sim",
    "synth cis",
    "synth nass",
    "synth keys",
    "doctor",
    "schema",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_examples_of_itself(command):
    """Whoever asks for help can copy a line."""
    shown = run(*command.split(), "--help")
    assert shown.code == 0
    assert f"Examples:\n  perrecord {command}" in shown.out


def test_the_help_lists_every_command_and_the_exit_codes():
    """The first screen says what there is and how commands end."""
    shown = run("--help").out
    assert all(f"  {command.split()[0]} " in shown for command in COMMANDS)
    assert "Exit codes:\n  0    fine" in shown
    assert "  130  interrupted" in shown


def test_the_help_loads_nothing_heavy(tmp_path):
    """Start-up stays quick: engines and parsers are loaded by the commands that need them."""
    code = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    heavy = {"altair", "duckdb", "pyarrow", "sqlglot", "rich", "jinja2", "scipy", "pandas"}
    for arguments in (["--help"], ["release", "--help"], ["audit", "replay", "--help"]):
        shown = outside(*arguments, cwd=tmp_path, code=code)
        assert shown.code == 0
        loaded = set(shown.err.split())
        assert "typer" in loaded
        assert not heavy & loaded
        # Typer itself converts the options of a single command with pydantic.
        assert "pydantic" not in loaded or len(arguments) > 1


def test_the_version():
    """It goes to stdout."""
    assert run("--version").out == f"perrecord {perrecord.__version__}\n"


def test_a_mistake_on_the_command_line_ends_with_2():
    """Usage goes to stderr; the close match is named."""
    for arguments in (["chek"], ["release", "release.yaml"], ["synth", "business", "--rows", "x"]):
        shown = run(*arguments)
        assert shown.code == 2
        assert shown.out == ""
        assert "perrecord" in shown.err
    assert "'check'" in run("chek").err


def test_the_shell_completes_commands(tmp_path):
    """Typer's completion knows the commands."""
    environment = {
        "_PERRECORD_COMPLETE": "complete_bash",
        "COMP_WORDS": "perrecord le",
        "COMP_CWORD": "1",
    }
    assert outside(cwd=tmp_path, **environment).out.split() == ["ledger"]


def test_it_runs_as_a_module_and_is_installed_as_perrecord(tmp_path):
    """`perrecord` stands beside the Python that it is installed for."""
    assert (Path(sys.executable).parent / "perrecord").exists()
    code = "import runpy, sys; sys.argv = ['perrecord', '--version']; "
    shown = outside(
        cwd=tmp_path, code=code + "runpy.run_module('perrecord.cli', run_name='__main__')"
    )
    assert shown.out.startswith("perrecord ")


def test_the_reference_is_what_the_help_says():
    """If this fails: .venv/bin/python tools/cli_reference.py."""
    made = runpy.run_path(str(ROOT / "tools" / "cli_reference.py"))["reference"]()
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == made
