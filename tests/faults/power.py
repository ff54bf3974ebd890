"""Loss of power: a run is recorded, and cut off at every point on a disk that may forget."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.disk import Disk, Loss, Survivors
from tests.faults.kills import Round
from tests.faults.operations import OPTIONS, Operation, operations
from tests.faults.scene import Scene, Workshop
from tests.faults.subjects import Subject
from tests.faults.victims import Ended, traced

CERTAIN = (Loss(0, 0), Loss(1, 1), Loss(1, 0), Loss(1, 0, instead="zeros"), Loss(0, 1))
"""Nothing or everything is kept; names without contents, or with zeros; contents without names."""

CHANCES = (
    Loss(0.5, 0.5, 0.5),
    Loss(1, 1, 0.5),
    Loss(1, 0.7, 0.7, "garbage"),
    Loss(0.5, 1, 1),
    Loss(0.7, 0.8, 0.9, "garbage"),
)
"""Anything in between: some names, some files, torn or with garbage where data should be."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What one run, or a disturbed one and its retry, did to the disk."""

    subject: Subject
    fault: str
    operations: Sequence[Operation]
    retry: int  # where the retry begins; 0 if there was only one run


@dataclass(frozen=True, slots=True)
class Crash:
    """A moment at which the power went, what was said and seen before, and what survived."""

    moment: int
    said: tuple[str, ...]
    seen: Mapping[str, bytes]
    left: Survivors


def record(workshop: Workshop, subject: Subject, fault: str = "") -> Recording:
    """Record a run; with a fault, given to strace, a disturbed run and its retry."""
    with workshop.scene() as scene:
        log = scene.folder.parent / "log"
        disturbed = (f"-einject={fault}",) if fault else ()
        ended = traced(subject.work, scene, log, *OPTIONS, *disturbed)
        done = operations(log.read_text(), str(scene.folder))
        retry = 0
        if not ended.finished and fault:
            retry = len(done)
            traced(subject.work, scene, log, *OPTIONS)
            done += operations(log.read_text(), str(scene.folder))
    return Recording(subject, fault, done, retry)


def crashes(
    recording: Recording, prepared: Path, losses: Sequence[Loss], seed: int, share: float = 1.0
) -> Iterator[Crash]:
    """Yield the states of the disk after a loss of power at every point, or at a share of them."""
    chance, disk, said = random.Random(seed), Disk(prepared), []
    out = Scene(prepared).out.relative_to(prepared).as_posix()
    seen: dict[str, bytes] = {}
    last = len(recording.operations)
    for moment in range(last + 1):
        if moment >= recording.retry and (moment == last or chance.random() < share):
            for loss in losses:
                yield Crash(moment, tuple(said), seen, disk.survivors(loss, chance))
        if moment == last:
            return
        operation = recording.operations[moment]
        disk.do(operation)
        if operation.kind == "say":
            said += _said(operation)
        seen = disk.contents(out) or seen


def _said(operation: Operation) -> list[str]:
    line = json.loads(operation.data)
    return [line["said"]] if "said" in line else []


def distinct(found: Iterator[Crash]) -> tuple[int, list[Crash]]:
    """Return how many crashes there were, and those that left different disks or promises."""
    different: dict[object, Crash] = {}
    number = 0
    for crash in found:
        number += 1
        different.setdefault((crash.left.digest(), crash.said, bool(crash.seen)), crash)
    return number, [*different.values()]


def check(workshop: Workshop, subject: Subject, fault: str, crash: Crash) -> Round:
    """Write down what survived, and check it as after any other fault."""
    with workshop.folder() as folder:
        scene = Scene(folder / "scene")
        crash.left.write_out(scene.folder)
        scene.temporary.mkdir(exist_ok=True)
        ended = Ended(True, crash.said, None, None)
        wrong = subject.check(scene, ended, crash.seen)
    before = f"after {fault}, " if fault else ""
    return Round(subject.name, f"{before}power lost at {crash.moment}", 1, tuple(wrong))
