"""Run the audits, and write what they found to docs/assurance.md.

Each audit is a program that prints its figures as JSON and fails if it finds anything wrong. What
the page says of an audit stands here; the figures are those of its last run, which are kept in
docs/assurance.json with the state of the code that they are of.

    python tools/assurance.py                    every audit
    python tools/assurance.py --only replay      one of them; the others' figures stay

Audits that keep one core busy run two at a time, the longest first; the others follow, each alone.
"""

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "assurance.md"
KEPT = ROOT / "docs" / "assurance.json"
LONGEST_SECONDS = 5400
KEEPING = Lock()
RUNNING: list["subprocess.Popen[str]"] = []

HEAD = """\
# Assurance: what was tried to prove perrecord wrong

`make audit` runs the programs below, fails if one of them finds anything wrong,
and writes this page; every figure is of the run that its section names. A short form of each, the
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
    is_alone: bool = False
    """Whether it keeps every core busy by itself."""


AUDITS = (
    Audit(
        "replay",
        "Replay: the change of the answers, exactly",
        "Random tables, queries, schemes, filters and keys, each table with a record and without "
        "it. The change of every exact answer, divided by its noise, is compared with P(r) as "
        "rationals: no sampling, no tolerance. What a change of a tapered or blurred answer "
        "costs is irrational; it is computed once more, in ball arithmetic, and may not be above "
        "P(r), and a tapered one not below it by more than one part in 2^25. Weights, measures "
        "that follow from others, linked periods and the histories of units are computed once "
        "more, record by record. Where keys are selected, noise is coupled key by "
        "key. A share is really run, with frozen bits: every released number is recomputed from "
        "the records, the prices and the bits, and both sides must agree in everything but what "
        "the record adds. A share of these are whole releases, compared file by file; "
        "where their tables add up, every sum is found again from the published files alone.",
        ("perrecord", "audit", "replay", "--json"),
    ),
    Audit(
        "doors",
        "Doors: the same records, by every way in",
        "Random records, their numbers spelled as people and programs spell them, come in as text, "
        "as Parquet of every numeric type with and without statistics, in several files behind "
        "globs and links, as pandas and Polars frames, from DuckDB and SQLite files, SAS, Stata, "
        "SPSS and Excel files, a PostgreSQL server, through Ibis on engines with odd settings, "
        "from Spark, from two linked periods, and to OpenDP measurements of every domain. A "
        "small reader of the audit's own says what each record is, from how it was spelled; the "
        "engine's exact numbers, the policy's reading of the record and what a measurement is "
        "given are compared with it, and what a record changes with P(r), exactly, and for tapered "
        "answers to one part in 2^25.",
        ("perrecord", "audit", "doors", "--json"),
    ),
    Audit(
        "utility",
        "Utility: answers mean what their SQL says",
        "Every kind of answer, over random tables full of ties, nulls, duplicates, zeros, "
        "negatives, giants and empty cells. With so much rho that noise vanishes, or for tapered "
        "answers is of millionths, each published number, in answers and in the CSV and Parquet "
        "files of whole releases, must equal what an aggregate in plain SQL gives in a DuckDB of "
        "the audit's own; a quantile must be one. Releases of several tables, of surveys and of "
        "two linked periods, have what follows from other numbers, too: weighted totals and "
        "quantiles, measures that expressions give, changes and the levels that they add up to, "
        "totals blurred by a little, derived numbers, consistent columns and tables that follow, "
        "rounded and floored numbers, words of status, ends of intervals. "
        "With little rho, the noise in very many cells is "
        "compared with the exact law that its price calls for, written anew: its shape, its "
        "variance, the chance of each candidate of a quantile and of each key, standard errors, "
        "and how often intervals hold the truth.",
        ("perrecord", "audit", "utility", "--json"),
    ),
    Audit(
        "sample",
        "Samples: what an attacker can show",
        "Each mechanism is run millions of times with a record and without it, through the same "
        "door as a user's questions. The shares of outputs above fixed cuts give a lower bound "
        "on the loss that holds for any mechanism (Clopper and Pearson's intervals, one "
        "confidence for all). A bound above the policy would be a proven breach. Where "
        "accounting is exact the bound must come close, or the audit has no teeth. At large "
        "losses it stays further off, because what shows them is too rare for a sample of "
        "millions to count.",
        ("perrecord", "audit", "sample", "--json"),
    ),
    Audit(
        "figures",
        "Figures: every number that people are shown",
        "Random specs are checked and released, and random records looked up, by the commands "
        "themselves; one spec in three is evaluated and tuned, too. Every loss, limit, "
        "estimate, standard error, interval, share of cells, count and digest that they print, "
        "report and publish is recomputed from policy.json and the tables, and for confidential "
        "reports from the spec and its source, by code other than that under audit. Then "
        "figures of each text are altered, one at a time, by one in the last digit that is "
        "shown: the audit must notice each. The policy page, with every point of its curves, is "
        "compared in the same way by the tests, in Chromium. Not recomputed: what a search "
        "finds (the frontier of `tune`, its other schemes, the cost of fitness for use) and "
        "what drawn noise gives.",
        ("perrecord", "audit", "figures", "--json"),
    ),
    Audit(
        "twins",
        "Broken twins: would a mistake be noticed?",
        "Mistakes that a tired engineer might make are put into a copy of the code, one at a time. "
        "Each must make a test fail that is named beforehand, and that passes without it.",
        ("python", "-m", "tests.twins"),
        is_alone=True,
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
        is_alone=True,
    ),
    Audit(
        "bad input",
        "Bad input: malformed specs and data",
        "Each confidential cell holds a canary that occurs nowhere else. After every command on "
        "every malformed spec or file, the outputs, messages, temporary files and the ledger are "
        "searched for it. Each message must name what is wrong and what to do; nothing may hang or "
        "end as a fault of perrecord's own.",
        ("python", "-m", "tests.hostile.bad_input"),
        is_alone=True,
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
        "Tests with more random cases than `make test` has time for: samplers with ten million "
        "draws in place of hundreds of thousands, noise that is 2 % too small, which the audit by "
        "samples must see, workloads on every engine beside the reference, histories of records, "
        "numbers as engines read them, more examples of every property. Those of hostile keys and "
        "of the surface are above.",
        (
            *("python", "-m", "pytest", "-n", "auto", "-q", "-rfEs", "tests"),
            *("-m", "audit or hypothesis", "--hypothesis-profile=perrecord-long"),
            *("--ignore=tests/hostile", "--ignore=tests/surface"),
        ),
        is_alone=True,
    ),
)


def run(audit: Audit) -> dict[str, Any]:
    """Run one audit; its progress goes to stderr. A test that is skipped is a failure."""
    print(f"{audit.title} ...", file=sys.stderr)
    start, code = time.monotonic(), _revision()
    program, *arguments = audit.program
    command = [str(Path(sys.executable).parent / program), *arguments]
    environment = os.environ | {"PERRECORD_REQUIRE_SYSTEM_PACKAGES": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, process_group=0
    ) as process:
        RUNNING.append(process)
        try:
            printed, _ = process.communicate(timeout=LONGEST_SECONDS)
        except BaseException:
            end(process)
            raise
        finally:
            RUNNING.remove(process)
    found = _of_pytest(printed) if "pytest" in arguments else _of_json(printed)
    if process.returncode and not found["failures"]:
        found["failures"] = [f"the program ended with {process.returncode}"]
    minutes = f"{(time.monotonic() - start) / 60:.1f}"
    day = time.strftime("%d %B %Y")
    return found | {"minutes": minutes, "code": code, "day": day, "machine": _machine()}


def end(process: "subprocess.Popen[str]") -> None:
    """End a program and all that it has started."""
    os.killpg(process.pid, signal.SIGKILL)


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("duckdb", "numpy", "pyarrow"))
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {system}, {packages}"


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


def page(kept: dict[str, Any]) -> str:
    """Return the page: an overview of all audits, and a section for each that was run."""
    ran = [(each, kept[each.name]) for each in AUDITS if each.name in kept]
    return HEAD + "\n".join([*_overview(kept), *(line for each in ran for line in _section(*each))])


def _overview(kept: dict[str, Any]) -> Iterator[str]:
    yield "| audit | failures | minutes |"
    yield "|---|---:|---:|"
    for audit in AUDITS:
        found = kept.get(audit.name)
        if found is None:
            yield f"| {audit.title} | not run in full yet | |"
        else:
            link = f"[{audit.title}](#{_anchor(audit.title)})"
            yield f"| {link} | {len(found['failures'])} | {found['minutes']} |"
    yield ""


def _revision() -> str:
    """Return which state of the code and its tests the figures are of."""
    newest = _git("log", "-1", "--format=%h", "--", "src", "tests")
    return f"{newest}, changed since" if _git("status", "-s", "--", "src", "tests") else newest


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _section(audit: Audit, found: dict[str, Any]) -> Iterator[str]:
    yield f"## {audit.title}"
    yield ""
    yield audit.words
    yield ""
    yield f"Again: `{' '.join(audit.program)}`. This run: {found['day']}, code {found['code']}, "
    yield f"{found['machine']}."
    yield ""
    for what, value in found["figures"]:
        yield f"- {_plain(what)}: {_plain(value)}"
    yield ""
    for failure in found["failures"]:
        yield f"- **failed**: {_plain(failure)}"
    for table in found["tables"]:
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


def _kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def keep(audit: Audit, found: dict[str, Any]) -> None:
    """Keep what an audit found beside what the others did, and write the page."""
    with KEEPING:
        kept = _kept()
        kept[audit.name] = found
        ordered = {each.name: kept[each.name] for each in AUDITS if each.name in kept}
        KEPT.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        TARGET.write_text(page(ordered), encoding="utf-8")


def run_and_keep(audit: Audit) -> list[str]:
    """Run an audit, keep what it found, and return what is wrong."""
    found = run(audit)
    keep(audit, found)
    return [f"{audit.name}: {each}" for each in found["failures"]]


def main() -> None:
    """Run the audits; end with 1 if one failed."""
    parser = argparse.ArgumentParser(description="Run the audits, and write their page.")
    parser.add_argument("--only", choices=[each.name for each in AUDITS], help="run one of them")
    only = parser.parse_args().only
    wanted = [each for each in AUDITS if only in (None, each.name)]
    took = {name: float(found["minutes"]) for name, found in _kept().items()}
    longest_first = sorted(wanted, key=lambda each: -took.get(each.name, 0))
    failures = []
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(run_and_keep, each) for each in longest_first if not each.is_alone]
        try:
            for each in waiting:
                failures += each.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(RUNNING):
                end(process)
            raise
    for audit in wanted:
        if audit.is_alone:
            failures += run_and_keep(audit)
    print(*failures, f"{len(failures)} failures", sep="\n", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
