"""kill -9: at random moments, and at every single call that changes the disk."""

import random
import time
from dataclasses import dataclass, replace

from tests.faults.scene import Workshop, contents
from tests.faults.subjects import Subject
from tests.faults.victims import CALLS, Victim, count, run, traced

TRACE = f"-etrace={','.join(CALLS)}"


@dataclass(frozen=True, slots=True)
class Round:
    """One fault and what came of it."""

    subject: str
    fault: str
    struck: int
    wrong: tuple[str, ...]
    gave_up: bool = False


def calls_of(workshop: Workshop, subject: Subject) -> list[tuple[str, int, str]]:
    """Return every call on the disk of an undisturbed run."""
    with workshop.scene() as scene:
        log = scene.folder.parent / "log"
        ended = traced(subject.work, scene, log, "-y", TRACE)
        if not ended.finished:
            raise RuntimeError(f"{subject.name} does not even work undisturbed: {ended.gave_up}")
        return count(log)


def duration(workshop: Workshop, subject: Subject) -> float:
    """Return how long an undisturbed run takes, in seconds."""
    with workshop.scene() as scene:
        start = time.monotonic()
        run(subject.work, scene)
        return time.monotonic() - start


def at_call(workshop: Workshop, subject: Subject, name: str, number: int) -> Round:
    """Kill a run as it enters its n-th call of a name, and check what it leaves behind."""
    inject = f"-einject={name}:signal=KILL:when={number}"
    with workshop.scene() as scene:
        ended = traced(subject.work, scene, scene.folder.parent / "log", TRACE, inject)
        wrong = subject.check(scene, ended, {})
    return Round(subject.name, f"killed at {name} {number}", int(ended.was_killed), tuple(wrong))


def at_moments(workshop: Workshop, subject: Subject, seed: int, longest: float) -> Round:
    """Kill a run at a random moment, often its retry too, and check what they leave behind."""
    chance, kills = random.Random(seed), 0
    said: tuple[str, ...] = ()
    seen: dict[str, bytes] = {}
    with workshop.scene() as scene:
        for _ in range(chance.choice((1, 1, 2, 3))):
            victim = Victim(subject.work, scene).go()
            time.sleep(chance.uniform(0, longest))
            victim.kill()
            ended = victim.end()
            kills += ended.was_killed
            said += ended.said
            seen = seen or contents(scene.out)
        wrong = subject.check(scene, replace(ended, said=said), seen)
    return Round(subject.name, f"killed at moments of seed {seed}", kills, tuple(wrong))
