"""Disks that are full or fail: an error at every call, once or for good; files that cannot grow."""

import errno
import os
import resource
from collections.abc import Sequence

from perrecord import Ledger
from tests.faults.kills import TRACE, Round
from tests.faults.scene import Scene, Workshop
from tests.faults.subjects import Subject
from tests.faults.victims import CALLS, Ended, Say, run, traced

LASTING = {
    "ENOSPC": ("write", "pwrite64", "mkdir", "link", "fsync", "fdatasync"),
    "EIO": tuple(name for name in CALLS if name != "openat"),  # what was read is still in memory
}
"""For each error, the calls that fail from then on when it lasts."""


def once(error: str, name: str, number: int) -> str:
    """Return, for strace, that the n-th call of a name fails."""
    return f"-einject={name}:error={error}:when={number}"


def for_good(error: str, calls: Sequence[tuple[str, int, str]], place: int) -> tuple[str, ...]:
    """Return, for strace, that a call fails, and every later one that needs the disk."""
    struck, number, _ = calls[place]
    first = dict.fromkeys(LASTING[error], 1)
    first |= {name: number + 1 for name, number, _ in calls[:place] if name in first}
    first[struck] = number
    return tuple(f"{once(error, name, number)}+" for name, number in first.items())


def at_call(workshop: Workshop, subject: Subject, what: str, error: str, *injected: str) -> Round:
    """Let calls fail, and check what is said and what is left behind."""
    with workshop.scene() as scene:
        log = scene.folder.parent / "log"
        ended = traced(subject.work, scene, log, TRACE, *injected)
        strikes = log.read_text().count("(INJECTED)")
        return _round(subject, scene, ended, what, error, strikes)


def at_size(workshop: Workshop, subject: Subject, size: int) -> Round:
    """Let no file grow beyond a size: the write that would is cut short, the next one fails."""

    def work(scene: Scene, say: Say) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        subject.work(scene, say)

    with workshop.scene() as scene:
        ended = run(work, scene)
        strikes = int(not ended.finished)  # nothing else stops it
        return _round(subject, scene, ended, f"files of at most {size} bytes", "EFBIG", strikes)


def _round(
    subject: Subject, scene: Scene, ended: Ended, fault: str, error: str, strikes: int
) -> Round:
    wrong = [*_dishonest(subject, scene, ended, error), *subject.check(scene, ended, {})]
    return Round(subject.name, fault, strikes, tuple(wrong), gave_up=not ended.finished)


def _dishonest(subject: Subject, scene: Scene, ended: Ended, error: str) -> list[str]:
    """Return what is wrong with how a process gave up: it says why, and what it says is true."""
    if ended.was_killed:
        return ["it died of a signal"]
    if ended.kind not in (None, "perrecord", "operating system"):
        return [f"it gave up without a clear message: {ended.gave_up}"]
    reason = os.strerror(getattr(errno, error))
    if ended.kind == "operating system" and reason not in (ended.gave_up or ""):
        return [f"it gave up for another reason than {reason}: {ended.gave_up}"]
    if ended.gave_up is None or "Nothing was written" not in ended.gave_up:
        return []
    ledger = subject.ledger(scene)
    there = len(Ledger.open(ledger).entries()) if ledger.exists() else 0
    if there != subject.entries + len(ended.said):
        return [f"it says that nothing was written, and something was: {ended.gave_up}"]
    return []
