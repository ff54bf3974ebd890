"""One case, run as a curator would: check, ledger, release, and what must hold afterwards."""

import gc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import typer
from click.testing import CliRunner

from perrecord.accounting.ledger import Ledger
from perrecord.cli import app
from tests.hostile import bases
from tests.hostile.canaries import SAID, Canaries, files_below, search
from tests.hostile.cases import SPEC, Case, good_files
from tests.hostile.rules import Ran, faults_of

LONGEST = 20.0  # seconds of the processor for one command
CONFIDENTIAL = ("evaluation", "tuning")
"""Folders that hold exact results by design: made for the curator alone, marked, mode 0700."""

PUBLIC = ("work/out/", "work/again/", "work/est.ledger.releases/")
"""Folders that hold noisy answers."""

UNREADABLE = ("broken YAML", "no spec at all", "no file")
"""Kinds whose spec may be no YAML, or none of ours: there is a line at most, and no field."""

NAMES_OF_COLUMNS = {"no header, and text alone": "work/new.yaml"}
"""Where a canary is a column's name: init cannot tell a first line of text from a line of names.

docs/known-limits.md says so. Nothing else may show it.
"""


@dataclass(slots=True)
class Outcome:
    """What became of a case; plain values, because it crosses processes."""

    number: int
    kind: str
    what: str
    must_refuse: bool = False
    is_valid: bool = False
    went_on: bool = False
    commands: int = 0
    processes: int = 0
    canaries: int = 0
    searched: int = 0
    longest: float = 0.0
    faults: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


@cache
def _program() -> Any:
    return typer.main.get_command(app)


def run(*arguments: str, debug: bool = False) -> Ran:
    """Run a command inside this process."""
    began = time.process_time()
    found = CliRunner().invoke(
        _program(),
        list(arguments),
        prog_name="perrecord",
        env={"PERRECORD_DEBUG": "1" if debug else None},
    )
    seconds = time.process_time() - began
    error = found.stderr
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        error += f"Traceback: {found.exception!r}"
    return Ran(arguments, found.exit_code, found.stdout, error, seconds)


def start(*arguments: str, debug: bool = False) -> Ran:
    """Run a command as a process of its own, in the current folder."""
    environment = os.environ | ({"PERRECORD_DEBUG": "1"} if debug else {})
    began = _children()
    found = subprocess.run(
        [sys.executable, "-m", "perrecord.cli", *arguments],
        capture_output=True,
        env=environment,
        check=False,
    )
    seconds = _children() - began
    out, err = (each.decode("utf-8", "replace") for each in (found.stdout, found.stderr))
    return Ran(("process", *arguments), found.returncode, out, err, seconds)


def _children() -> float:
    """Return the seconds of the processor that ended processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    """Be in a folder whose temporary files go to one beside it; what descriptors get is kept."""
    work, temporary = folder / "work", folder / "tmp"
    work.mkdir(parents=True)
    temporary.mkdir()
    before, old = Path.cwd(), os.environ.get("TMPDIR")
    os.chdir(work)
    os.environ["TMPDIR"], tempfile.tempdir = str(temporary), None
    kept = [(number, os.dup(number)) for number in (1, 2)]
    written = os.open(folder / "descriptors", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number, _ in kept:
        os.dup2(written, number)
    try:
        yield work
    finally:
        for number, copy in kept:
            os.dup2(copy, number)
            os.close(copy)
        os.close(written)
        os.chdir(before)
        os.environ.pop("TMPDIR", None)
        if old is not None:
            os.environ["TMPDIR"] = old
        tempfile.tempdir = None


@cache
def _ledger(base: str) -> bytes:
    """Return the ledger of a good spec, as bytes."""
    with tempfile.TemporaryDirectory() as folder, _inside(Path(folder) / "ledger") as work:
        bases.write(work, good_files(base, Canaries(Random(0))))
        made = run("ledger", "create", SPEC)
        if made.code:
            raise RuntimeError(f"the base {base} is no good: {made.err}")
        return (work / "est.ledger").read_bytes()


def run_case(case: Case, number: int, root: Path) -> Outcome:
    """Run all of a case in a folder of its own, which is gone afterwards."""
    outcome = Outcome(number, case.kind, case.what, case.must_refuse)
    prepared = _ledger(case.base)
    folder = root / f"case-{number}"
    try:
        with _inside(folder) as work:
            bases.write(work, case.files)
            if case.prepare is not None:
                case.prepare(work)
            every = _commands(case, number, work, prepared, outcome)
        _check_messages(case, every, outcome)
        _check_canaries(case, folder, every, outcome)
    finally:
        shutil.rmtree(folder)
    outcome.canaries = len(case.canaries)
    return outcome


def _commands(case: Case, number: int, work: Path, prepared: bytes, outcome: Outcome) -> list[Ran]:
    """Run the commands; return how each ended."""
    debug = number % 2 == 1
    reads_data = case.source_is_bad
    checked = run("check", SPEC, debug=debug)
    every = [checked]
    if number % 12 == 0 or (reads_data and number % 6 == 1):
        every.append(run("doctor", SPEC, "--confidential", debug=debug))
    if reads_data and number % 4 == 0:
        name = next((each for each in case.data if (work / each).is_file()), "none.csv")
        every.append(run("init", name, "--out", "new.yaml", debug=debug))
    if number % 20 == 0 and (checked.is_refused or number % 400 == 0):
        every.append(run("evaluate", SPEC, debug=debug))
        every.append(run("tune", SPEC, debug=debug))
    if number % 3 == 0:
        every.append(run("ledger", "create", SPEC, debug=debug))
    path = work / "est.ledger"
    is_prepared = not path.exists()
    if is_prepared:
        path.write_bytes(prepared)
    if case.meanwhile is not None:
        case.meanwhile(work)
    before = _state(path)
    act = start if number % 25 == 0 else run
    outcome.processes += act is start
    released = act("release", SPEC, "--out", "out", debug=debug)
    every.append(released)
    outcome.is_valid = not released.is_refused
    outcome.commands = len(every)
    outcome.longest = max(each.seconds for each in every)
    outcome.messages = [each.err for each in every if each.is_refused]
    if released.is_refused:
        _check_nothing_published(work, before, outcome)
        if is_prepared and number % 10 == 3 and case.meanwhile is None:
            every.append(_go_on(case, work, outcome))
    elif case.must_refuse:
        outcome.faults.append("what is malformed was released")
    elif checked.is_refused and case.meanwhile is None:
        outcome.faults.append("the check refused what the release made")
    if case.must_refuse and not case.source_is_bad and not checked.is_refused:
        outcome.faults.append("what is malformed was found fine by the check")
    return every


def _state(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"


def _check_nothing_published(work: Path, before: str, outcome: Outcome) -> None:
    """Note whatever a refused release left behind: the ledger is as it was, too."""
    path = work / "est.ledger"
    left = [each.name for each in work.iterdir() if each.name == "out" or "partial" in each.name]
    left += [each.name for each in work.rglob("hacked*")]
    if left:
        outcome.faults.append(f"a refused release left {left}")
    if _state(path) != before:
        ledger = Ledger.open(path)
        kinds = [type(each).__name__ for each in ledger.entries()]
        outcome.faults.append(f"a refused release left the ledger with {kinds}")


def _go_on(case: Case, work: Path, outcome: Outcome) -> Ran:
    """Release the good spec and good data in the same folder; note if that is refused."""
    spec = work / SPEC
    if spec.is_dir():
        spec.rmdir()
    elif os.path.lexists(spec):
        spec.unlink()
    bases.write(work, good_files(case.base, case.canaries))
    again = run("release", SPEC, "--out", "again")
    outcome.went_on = True
    if again.is_refused:
        outcome.faults.append(f"the good release afterwards was refused: {again.err}")
    return again


def _check_messages(case: Case, every: list[Ran], outcome: Outcome) -> None:
    names_field = case.kind not in UNREADABLE
    for ran in every:
        if ran.seconds > LONGEST:
            outcome.faults.append(f"{' '.join(ran.command)}: {ran.seconds:.1f} s")
        is_changed = case.places and "again" not in ran.command
        places = case.places if is_changed else ()
        outcome.faults += faults_of(ran, names_field=names_field, places=places)


def _is_given(case: Case, name: str, content: bytes) -> bool:
    """Return whether a file is as the case wrote it, and so is no work of a command."""
    return case.files.get(name.removeprefix("work/")) == content


def _check_canaries(case: Case, folder: Path, every: list[Ran], outcome: Outcome) -> None:
    """Look for canaries in all that was written, and for anything in the temporary folder."""
    temporary = folder / "tmp"
    if any(temporary.iterdir()):
        gc.collect()  # a process of its own would end here, and remove what is left
    left = sorted(each.name for each in temporary.rglob("*"))
    if left:
        outcome.faults.append(f"the temporary folder holds {left}")
    texts = [
        (f"{stream} of {' '.join(ran.command)}", text.encode("utf-8", "surrogatepass"), SAID)
        for ran in every
        for stream, text in (("stdout", ran.out), ("stderr", ran.err))
        if not (stream == "stdout" and ran.command[0] in ("evaluate", "tune"))
    ]
    sources = (*case.data, "est.parquet") if outcome.went_on else case.data
    data = (f"work/{name}" for name in (*sources, *CONFIDENTIAL))
    files = files_below(folder, apart_from=data, published=PUBLIC)
    own = [each for each in files if not _is_given(case, *each[:2])]
    found = search(case.canaries, [*texts, *own])
    outcome.searched = found.size
    allowed = "work/out/tables/", "work/est.ledger.releases/"
    finds_keys = outcome.is_valid and b"select" in case.files.get(SPEC, b"")
    for each in found.found:
        where = each.partition(" in ")[2]
        is_key = finds_keys and where.startswith(allowed) and "/tables/" in where
        if not is_key and where != NAMES_OF_COLUMNS.get(case.what):
            outcome.faults.append(f"the canary {each}")
