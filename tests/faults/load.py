"""Many processes at one ledger: exactly what can be afforded is accepted, and nothing is lost."""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perrecord import BudgetExceededError, Ledger, Policy
from perrecord.accounting import ledger as ledger_module
from perrecord.accounting.budget import Budget, Spent
from perrecord.accounting.entries import Charge, Publication, Seal
from tests.faults.scene import Scene, Workshop
from tests.faults.victims import Ended, Say, Victim, Work

PATIENCE = 600.0
REFUSED = "refused"
OVERSPENT = "more was accepted than the budget allows"


@dataclass(frozen=True, slots=True)
class Load:
    """How a crowd fared."""

    attempts: int
    accepted: int
    kills: int
    seconds: float
    wrong: tuple[str, ...]


def crowd(
    workshop: Workshop,
    processes: int,
    each: int,
    affordable: int | Mapping[str, int],
    work: Work,
) -> Load:
    """Let many processes charge one ledger at once, each so many times, in turn for each period."""
    with workshop.scene() as scene:
        if isinstance(affordable, int):
            parts, budget = [affordable], Budget(affordable)
        else:
            parts = [*affordable.values()]
            budget = {period: Budget(count) for period, count in affordable.items()}
        Ledger.create(scene.alone, budget)
        start = time.monotonic()
        victims = [Victim(work, scene) for _ in range(processes)]
        for victim in victims:
            victim.go()
        ended = [victim.end(PATIENCE) for victim in victims]
        seconds = time.monotonic() - start
        tried = [line for one in ended for line in one.said]
        accepted = [line for line in tried if line != REFUSED]
        wrong = [f"a process gave up: {one.gave_up}" for one in ended if not one.finished]
        wrong += _wrong(scene.alone, accepted)
        there = len(Ledger.open(scene.alone).entries()) - 1
        if len(tried) != processes * each:
            wrong.append(f"{processes * each} charges were to be tried, {len(tried)} were")
        expected = sum(min(part, processes * each // len(parts)) for part in parts)
        if (len(accepted), there) != (expected, expected):
            wrong.append(f"{expected} were affordable, {len(accepted)} accepted, {there} are there")
    return Load(len(tried), len(accepted), 0, seconds, tuple(wrong))


def charging(each: int) -> Work:
    """Return work that charges so many times, and says what came of each.

    On three snapshots, or in turn for each period of the ledger.
    """

    def work(scene: Scene, say: Say) -> None:
        ledger = Ledger.open(scene.alone)
        periods = ledger.periods
        for number in range(each):
            period = periods[number % len(periods)] if periods else None
            try:
                charge = ledger.charge(
                    Policy.constant(1),
                    snapshot=period or str(number % 3),
                    label=f"charge {number} of a crowd",
                    period=period,
                )
            except BudgetExceededError:
                say(REFUSED)
            else:
                say(f"{charge.number} {charge.hash}")

    return work


def careless(each: int) -> Work:
    """Return the same work of a broken twin, which counts its own charges and no others.

    Alone at a ledger it does everything right.
    """

    def work(scene: Scene, say: Say) -> None:
        own, charge = Spent(Policy.zero(), {}), Ledger.charge

        def counted(ledger: Ledger, policy: Policy, *, snapshot: str, **given: Any) -> Charge:
            nonlocal own
            made = charge(ledger, policy, snapshot=snapshot, **given)
            own = own.with_charge(policy, snapshot)
            return made

        def with_own(comparison: Callable[..., Any]) -> Callable[..., Any]:
            return lambda _, *of_the_charge: comparison(own, *of_the_charge)

        Ledger.charge = counted
        for name in ("is_quickly_within", "check_charge"):
            setattr(ledger_module, name, with_own(getattr(ledger_module, name)))
        charging(each)(scene, say)

    return work


def releasing(scene: Scene, say: Say) -> None:
    """Charge, seal and publish, one release after the other, until the budget is spent."""
    ledger, chance = Ledger.open(scene.alone), random.SystemRandom()
    while True:
        identity = str(chance.randrange(300))  # often one that another process has begun
        try:
            charge = ledger.charge(
                Policy.constant(1), snapshot="s", label=identity, identity=identity
            )
        except BudgetExceededError:
            continue
        say(f"{charge.number} {charge.hash}")
        seal = ledger.seal(charge, {"answers": identity})
        say(f"{seal.number} {seal.hash}")
        publication = ledger.publish(charge, place=identity)
        say(f"{publication.number} {publication.hash}")


def mixed(workshop: Workshop, processes: int, kills: int, seed: int) -> Load:
    """Kill one after the other of a crowd that charges, seals and publishes; start it anew."""
    affordable, chance, ended = 200, random.Random(seed), list[Ended]()
    with workshop.scene() as scene:
        Ledger.create(scene.alone, Budget(affordable))
        start = time.monotonic()
        victims = [Victim(releasing, scene).go() for _ in range(processes)]
        for _ in range(kills):
            time.sleep(chance.uniform(0, 0.03))
            chosen = chance.randrange(processes)
            victims[chosen].kill()
            ended.append(victims[chosen].end())
            victims[chosen] = Victim(releasing, scene).go()
        for victim in victims:
            victim.kill()
            ended.append(victim.end())
        seconds = time.monotonic() - start
        said = [line for one in ended for line in one.said]
        wrong = [f"a process gave up: {one.gave_up}" for one in ended if not one.was_killed]
        wrong += _wrong(scene.alone, said)
        entries = Ledger.open(scene.alone).entries()
        charges = [entry for entry in entries if isinstance(entry, Charge)]
        seals = [entry.charge for entry in entries if isinstance(entry, Seal)]
        published = {entry.charge for entry in entries if isinstance(entry, Publication)}
        if len({entry.identity for entry in charges}) != len(charges):
            wrong.append("an identity was charged twice")
        if len(set(seals)) != len(seals) or not published <= set(seals):
            wrong.append("a charge was sealed twice, or published without a seal")
        if len(charges) > affordable:
            wrong.append(f"{len(charges)} charges were accepted, {affordable} were affordable")
    return Load(len(said), len(charges), len(ended), seconds, tuple(wrong))


def _wrong(path: Path, said: Iterable[str]) -> list[str]:
    """Return what is wrong with a ledger of which these entries were acknowledged."""
    ledger = Ledger.open(path)
    there = {f"{entry.number} {entry.hash}" for entry in ledger.entries()}
    wrong = []
    if ledger.verify() != len(there):
        wrong.append("verify counts other entries than there are")
    if lost := set(said) - there:
        wrong.append(f"{len(lost)} acknowledged entries are lost")
    parts = [ledger.part(period) for period in ledger.periods or (None,)]
    if not all(part.spent.total().is_below(part.budget) for part in parts):
        wrong.append(OVERSPENT)
    return wrong
