"""Disks that are full or fail: an error at every call, and files that may not grow."""

import resource

from perrecord import Ledger
from tests.faults.kills import TRACE, Round
from tests.faults.scene import Scene, Workshop
from tests.faults.subjects import Subject
from tests.faults.victims import Ended, Say, run, traced

ERRORS = ("ENOSPC", "EIO")


def at_call(workshop: Workshop, subject: Subject, name: str, number: int, error: str) -> Round:
    """Let the n-th call of a name fail, and check what is said and what is left behind."""
    inject = f"-einject={name}:error={error}:when={number}"
    with workshop.scene() as scene:
        ended = traced(subject.work, scene, scene.folder.parent / "log", TRACE, inject)
        return _round(subject, scene, ended, f"{error} at {name} {number}")


def at_size(workshop: Workshop, subject: Subject, size: int) -> Round:
    """Let no file grow beyond a size: the write that would is cut short, the next one fails."""

    def work(scene: Scene, say: Say) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        subject.work(scene, say)

    with workshop.scene() as scene:
        ended = run(work, scene)
        return _round(subject, scene, ended, f"files of at most {size} bytes")


def _round(subject: Subject, scene: Scene, ended: Ended, fault: str) -> Round:
    wrong = [*_dishonest(subject, scene, ended), *subject.check(scene, ended, {})]
    return Round(subject.name, fault, int(not ended.finished), tuple(wrong))


def _dishonest(subject: Subject, scene: Scene, ended: Ended) -> list[str]:
    """Return what is wrong with how a process gave up: it says why, and what it says is true."""
    if ended.kind not in (None, "perrecord", "operating system"):
        return [f"it gave up without a clear message: {ended.gave_up}"]
    if ended.gave_up is None or "Nothing was written" not in ended.gave_up:
        return []
    ledger = subject.ledger(scene)
    there = len(Ledger.open(ledger).entries()) if ledger.exists() else 0
    if there != subject.entries + len(ended.said):
        return [f"it says that nothing was written, and something was: {ended.gave_up}"]
    return []
