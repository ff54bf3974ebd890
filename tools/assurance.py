"""Run every audit, and with --write put their figures into docs/assurance.md.

Each audit is a program that prints its figures as JSON and fails if it finds anything wrong. What
the page says of an audit stands here; the figures are those of the run.

    python tools/assurance.py                    every audit; the page goes to stdout
    python tools/assurance.py --only replay      one of them
    python tools/assurance.py --write            every audit, into docs/assurance.md
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "assurance.md"

HEAD = """\
# Assurance: what was tried to prove perrecord wrong

Every figure on this page is of one run of `make audit`. It runs the programs below one after the
other, fails if one of them finds anything wrong, and writes this page. A short form of each, the
long tests apart, is part of `make test`. What the evidence does not cover is in
[known-limits.md](known-limits.md); what is proved and where is in [theory.md](theory.md) and
[noise.md](noise.md).

"""


@dataclass(frozen=True, slots=True)
class Audit:
    """One audit: its name, what it shows, and the program that runs it."""

    name: str
    title: str
    words: str
    program: tuple[str, ...]


AUDITS = (
    Audit(
        "replay",
        "Replay: the change of the answers, exactly",
        "Random tables, queries, schemes, filters and keys, each table with a record and without "
        "it, noise frozen. The change of every exact answer, divided by its noise, is compared "
        "with P(r) as rationals: no sampling, no tolerance. Where keys are selected, noise is "
        "coupled key by key. Some pairs are whole releases, which must agree in everything but "
        "the numbers.",
        ("perrecord", "audit", "replay", "--json"),
    ),
    Audit(
        "sample",
        "Samples: what an attacker can show",
        "Each mechanism is run millions of times with a record and without it, through the same "
        "door as a user's questions. From the shares of outputs above fixed cuts follows a lower "
        "bound on the loss that holds for any mechanism (Clopper and Pearson's intervals, one "
        "confidence for all). A bound above the policy would be a proven breach. Where accounting "
        "is exact the bound must come close, or the audit has no teeth. At large losses it stays "
        "further off, because what shows them is too rare for a sample of millions to count.",
        ("perrecord", "audit", "sample", "--json"),
    ),
    Audit(
        "twins",
        "Broken twins: would a mistake be noticed?",
        "Mistakes that a tired engineer might make are put into a copy of the code, one at a time. "
        "Each must make a test fail that is named beforehand, and that passes without it.",
        ("python", "-m", "tests.twins"),
    ),
    Audit(
        "faults",
        "Faults: killed, out of space, unplugged, tampered with",
        "Releases and charges are killed at random moments and at every system call that changes "
        "the disk, given errors at each of them, and cut short by a simulated loss of power that "
        "drops what was not flushed. Afterwards: no output without a charge, no charge lost, no "
        "partial file, and a retry that is charged once. Ledgers are damaged, replaced and rolled "
        "back. Variants that publish first or do not flush are held to the same checks, and must "
        "fail them.",
        ("python", "-m", "tests.faults"),
    ),
    Audit(
        "bad input",
        "Bad input: malformed specs and data",
        "Each confidential cell holds a canary that occurs nowhere else. After every command on "
        "every malformed spec or file, the outputs, messages, temporary files and the ledger are "
        "searched for it. Each message must name what is wrong and what to do; nothing may hang or "
        "end as a fault of perrecord's own.",
        ("python", "-m", "tests.hostile.bad_input"),
    ),
    Audit(
        "surface",
        "Hostile keys, and the surface",
        "Keys that try to be SQL, formulas, scripts, paths or terminal commands must come out as "
        "they went in, and do nothing on the way. No command may use the network; files and "
        "folders that hold confidential data must be private and temporary ones gone.",
        ("python", "-m", "tests.surface"),
    ),
    Audit(
        "long tests",
        "Long tests",
        "The statistical tests of the samplers and other tests that take too long for every "
        "change, with millions of draws in place of hundreds of thousands.",
        ("python", "-m", "pytest", "-n", "auto", "-q", "-rfEs", "-m", "audit"),
    ),
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What an audit found, and how long it took."""

    audit: Audit
    figures: dict[str, Any]
    seconds: float


def run(audit: Audit) -> Ran:
    """Run one audit; its progress goes to stderr."""
    print(f"{audit.title} ...", file=sys.stderr)
    start = time.monotonic()
    program, *arguments = audit.program
    command = [str(Path(sys.executable).parent / program), *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - start
    found = _of_pytest(done.stdout) if "pytest" in arguments else _of_json(done.stdout)
    if done.returncode and not found["failures"]:
        found["failures"] = [f"the program ended with {done.returncode}"]
    return Ran(audit, found, seconds)


def _of_json(printed: str) -> dict[str, Any]:
    try:
        found = json.loads(printed)
        return {each: list(found[each]) for each in ("figures", "tables", "failures")}
    except (ValueError, KeyError, TypeError):
        return {"figures": [], "tables": [], "failures": ["it printed no figures"]}


def _of_pytest(printed: str) -> dict[str, Any]:
    found = re.findall(r"(\d+) (passed|failed|skipped|error)", printed)
    counts = {what: number for number, what in found}
    failures = re.findall(r"^(?:FAILED|ERROR|SKIPPED) (.*)$", printed, re.MULTILINE)
    figures = [[what, counts.get(what, "0")] for what in ("passed", "failed", "skipped", "error")]
    if "passed" not in counts:
        failures.append("no test passed")
    return {"figures": figures, "tables": [], "failures": failures}


def page(ran: list[Ran]) -> str:
    """Return the page."""
    return HEAD + "\n".join([*_machine(ran), *(line for each in ran for line in _section(each))])


def _machine(ran: list[Ran]) -> Iterator[str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("duckdb", "numpy", "pyarrow"))
    yield f"perrecord {version('perrecord')} at {_revision()}, {time.strftime('%d %B %Y')}: "
    yield f"{os.cpu_count()} cores, "
    yield f"{memory:.0f} GiB, {platform.system()} {platform.machine()}, "
    yield f"Python {platform.python_version()}, {packages}."
    yield ""
    yield "| audit | failures | minutes |"
    yield "|---|---:|---:|"
    for each in ran:
        link = f"[{each.audit.title}](#{_anchor(each.audit.title)})"
        yield f"| {link} | {len(each.figures['failures'])} | {each.seconds / 60:.1f} |"
    yield ""


def _revision() -> str:
    """Return which state of the code the figures are of."""
    shown = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stdout.strip() or "an unknown revision"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _section(ran: Ran) -> Iterator[str]:
    yield f"## {ran.audit.title}"
    yield ""
    yield ran.audit.words
    yield ""
    yield f"Again: `{' '.join(ran.audit.program)}`"
    yield ""
    for what, value in ran.figures["figures"]:
        yield f"- {what}: {value}"
    yield ""
    for failure in ran.figures["failures"]:
        yield f"- **failed**: {_plain(failure)}"
    for table in ran.figures["tables"]:
        yield from _table(table)


def _table(table: dict[str, Any]) -> Iterator[str]:
    yield f"<details><summary>{table['caption']}</summary>"
    yield ""
    yield f"| {' | '.join(table['columns'])} |"
    yield f"|{'---|' * len(table['columns'])}"
    for row in table["rows"]:
        yield f"| {' | '.join(map(_plain, row))} |"
    yield ""
    yield "</details>"
    yield ""


def _plain(text: str) -> str:
    """Return text on one line in which nothing is Markdown or HTML."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))


def main() -> None:
    """Run the audits; end with 1 if one failed."""
    parser = argparse.ArgumentParser(description="Run every audit.")
    parser.add_argument("--only", choices=[each.name for each in AUDITS], help="run one of them")
    parser.add_argument("--write", action="store_true", help="write docs/assurance.md")
    given = parser.parse_args()
    if given.write and given.only:
        parser.error("--write writes the page of all audits; leave --only out.")
    ran = [run(each) for each in AUDITS if given.only in (None, each.name)]
    if given.write:
        TARGET.write_text(page(ran), encoding="utf-8")
    else:
        print(page(ran))
    failures = [f"{each.audit.name}: {f}" for each in ran for f in each.figures["failures"]]
    print(*failures, f"{len(failures)} failures", sep="\n", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
