"""Write docs/cli.md from the help of every command: `python tools/cli_reference.py`."""

from collections.abc import Iterator
from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from perrecord.cli import app

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"
WIDTH = "90"

HEAD = """\
# The command line

Data goes to stdout, everything else to stderr, so that output can be piped. Where a program may
read it, `--json` prints JSON; exact numbers are text in it, as in `policy.json`. Progress is shown
on a terminal alone; `NO_COLOR` switches colours off. `perrecord --install-completion` teaches your
shell the commands. [quickstart.md](quickstart.md) goes from nothing to a release.

| exit code | meaning |
|---|---|
| 0 | fine |
| 1 | refused: the input, the budget, the ledger or the release; the message says why |
| 2 | a mistake on the command line |
| 3 | a fault of perrecord's own: please report it |
| 130 | interrupted or terminated (SIGTERM, SIGHUP); run a release again to continue it |

No message quotes a value of the data. An error that nobody foresaw is shown by its kind alone;
`PERRECORD_DEBUG=1` adds where it happened, but never while data is open, because such an error may
quote records.

The rest of this page is what `--help` prints. It is written by `tools/cli_reference.py`.
"""


def reference() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for path in ((), *_paths(get_command(app))):
        name = " ".join(["perrecord", *path])
        parts.append(f"## {name}\n\n```text\n{_help(path)}\n```\n")
    return "\n".join(parts)


def _paths(command: object, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield (*prefix, name)
        yield from _paths(inner, (*prefix, name))


def _help(path: tuple[str, ...]) -> str:
    shown = CliRunner().invoke(
        app, [*path, "--help"], prog_name="perrecord", env={"COLUMNS": WIDTH, "NO_COLOR": "1"}
    )
    return "\n".join(line.rstrip() for line in shown.stdout.strip().splitlines())


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
