"""The parts of the audit: what is done in each, how often, and what is reported of it."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from perrecord import LedgerError
from perrecord.accounting import rows, storage
from perrecord.accounting.entries import EntryRow, LedgerEntry, entry_of
from tests.faults import broken, damage, errors, kills, load, power
from tests.faults.kills import Round
from tests.faults.runner import Findings, Runner, Task, is_among
from tests.faults.scene import NOISY, Workshop
from tests.faults.subjects import RELEASE, SUBJECTS, Subject

FLUSHES = ("fsync", "fdatasync")
STEPS = (*FLUSHES, "unlink", "rename", "link")
"""Calls at which a process that dies leaves names that are not flushed."""

_UNPAID = "an output without a charge and a seal"
_UNSEALED = "an output that is not what was sealed"


def killed(runner: Runner) -> Findings:
    """Kill at random moments and at every call."""
    found, controls = Findings(), []
    for subject in SUBJECTS:
        longest = kills.duration(runner.workshop, subject)
        scenes = runner.pick(3, 600 if subject is RELEASE else 1500)
        tasks: list[Task] = [(subject.name, seed, 1.1 * longest) for seed in range(scenes)]
        rounds = runner.map(f"{subject.name}, random kills", kills.at_moments, tasks)
        found.fail(rounds)
        number = sum(each.struck for each in rounds)
        found.figure(f"{subject.name}: killed at a random moment", number)
        calls = kills.calls_of(runner.workshop, subject)
        tasks = [(subject.name, name, number) for name, number, _ in calls]
        rounds = runner.map(f"{subject.name}, kills at calls", kills.at_call, _some(runner, tasks))
        found.fail(rounds)
        found.figure(f"{subject.name}: calls that change the disk", len(calls))
        found.figure(f"{subject.name}: killed at one of them", sum(each.struck for each in rounds))
        if number == 0 or not all(each.struck for each in rounds):
            found.failures.append(f"{subject.name}: a kill did not strike")
    for twin, reason in (
        (broken.PUBLISHES_FIRST, _UNPAID),
        (broken.SEALS_LAST, _UNPAID),
        (broken.COPIES_IN_PLACE, _UNSEALED),
    ):
        # From before the last entry on, backwards: there the wrong order shows most.
        calls = kills.calls_of(runner.workshop, twin)[-40::-4]
        tasks = [(twin.name, name, number) for name, number, _ in calls]
        controls.append(_control(runner, found, twin, "kill", reason, kills.at_call, tasks))
    found.tables.append(_controls("Broken twins, killed", controls))
    return found


def failing(runner: Runner) -> Findings:
    """Let the disk be full or fail at every call, and let no file grow beyond a size."""
    found, controls = Findings(), []
    for subject in SUBJECTS:
        calls = kills.calls_of(runner.workshop, subject)
        for error in errors.LASTING:
            single: list[Task] = [
                (
                    subject.name,
                    f"{error} at {name} {number}",
                    error,
                    errors.once(error, name, number),
                )
                for name, number, _ in calls
            ]
            _errors(runner, found, f"{subject.name}: {error} at a call", single)
            lasting: list[Task] = [
                (
                    subject.name,
                    f"{error} from {name} {number} on",
                    error,
                    *errors.for_good(error, calls, place),
                )
                for place, (name, number, _) in enumerate(calls)
            ]
            _errors(runner, found, f"{subject.name}: {error} from a call on", lasting)
        chance = random.Random(1)
        sizes = [int(10 ** chance.uniform(0, 5)) for _ in range(runner.pick(2, 100))]
        what = f"{subject.name}: files limited to a random size"
        rounds = runner.map(what, errors.at_size, [(subject.name, size) for size in sizes])
        found.fail(rounds)
        given_up = sum(each.gave_up for each in rounds)
        found.figure(f"{subject.name}: given up as a file could not grow", given_up)
        if not given_up:
            found.failures.append(f"{what}: no limit struck")
    twin = broken.PUBLISHES_FIRST
    calls = kills.calls_of(runner.workshop, twin)[-40::-6]
    tasks: list[Task] = [
        (twin.name, f"EIO at {name} {number}", "EIO", errors.once("EIO", name, number))
        for name, number, _ in calls
    ]
    controls.append(_control(runner, found, twin, "EIO", _UNPAID, errors.at_call, tasks))
    found.tables.append(_controls("Broken twins on a failing disk", controls))
    return found


def _errors(runner: Runner, found: Findings, what: str, tasks: list[Task]) -> None:
    """Let errors strike, and see that each did and that some could not be overlooked."""
    rounds = runner.map(what, errors.at_call, _some(runner, tasks))
    found.fail(rounds)
    found.figure(what, sum(bool(each.struck) for each in rounds))
    given_up = sum(each.gave_up for each in rounds)
    found.figure(f"{what}: given up", given_up)
    if not given_up or not all(each.struck for each in rounds):
        found.failures.append(f"{what}: an error did not strike, or nothing was given up")


def unpowered(runner: Runner) -> Findings:
    """Lose the power at every point of a run, and of a retry after a kill or an error."""
    found, controls = Findings(), []
    for subject in SUBJECTS:
        share = 0.005 if runner.quick else 1.0
        number, rounds = _power(runner, subject, "", (*power.CERTAIN, *power.CHANCES), share)
        found.fail(rounds)
        found.figure(f"{subject.name}: states of the disk after a loss of power", number)
        found.figure(f"{subject.name}: different ones of them, checked", len(rounds))
    states = different = 0
    for subject in SUBJECTS:
        for fault in _faults(runner, subject):
            share = 0.002 if runner.quick else 0.04
            number, rounds = _power(runner, subject, fault, power.CERTAIN, share)
            found.fail(rounds)
            states, different = states + number, different + len(rounds)
    found.figure("states after a kill or an error, a retry, and a loss of power", states)
    found.figure("different ones of those, checked", different)
    for twin, fault, reason in (
        (broken.PUBLISHES_FIRST, "", _UNPAID),
        (broken.FLUSHES_NOTHING, "", _UNSEALED),
        (broken.TRUSTS_THE_MEMORY, "", "holds no entry with the hash"),
        (broken.FORGIVES_FAILED_FLUSHES, _staged_flush(runner), "gone or changed"),
    ):
        share = 0.1 if runner.quick else 0.3
        crashes = _crashes(runner, twin, fault, power.CERTAIN, share)[1]
        random.Random(3).shuffle(crashes)
        tasks: list[Task] = [(twin.name, fault, crash) for crash in crashes]
        controls.append(_control(runner, found, twin, "loss of power", reason, power.check, tasks))
    found.tables.append(_controls("Broken twins without power", controls))
    return found


def damaged(runner: Runner) -> Findings:
    """Damage a ledger in every way, with its journal or without."""
    found = Findings()
    life, other = damage.lived(runner.workshop), damage.lived(runner.workshop)
    cases = runner.pick(6, 400)
    tasks: list[Task] = [(RELEASE.name, life, other, name, cases) for name in damage.DAMAGES]
    rows, every = [], list[damage.Verdict]()
    for name, verdicts in zip(damage.DAMAGES, runner.map("damage", _damage, tasks), strict=True):
        counts = Counter(each.taken_for for each in verdicts)
        rows.append([name, *(f"{counts[each]:,}" for each in damage.VERDICTS)])
        found.failures += [f"a ledger, {name}: {each.wrong}" for each in verdicts if each.wrong]
        every += [each for each in verdicts if each.differs]
    found.figure("damaged ledgers", len(every))
    whole = sum(each.taken_for == damage.AS_IT_WAS for each in every)
    found.figure("of them with every entry as it was", whole)
    columns = ["what was done to the ledger", *damage.VERDICTS]
    found.tables.append({"caption": "Damaged ledgers", "columns": columns, "rows": rows})
    controls = []
    for twin, name, module, attribute, patched, reason in _DAMAGED_TWINS:
        with mock.patch.object(module, attribute, patched):
            verdicts = _damage(runner.workshop, RELEASE, life, other, name, runner.pick(20, 200))
        caught = sum(reason in each.wrong for each in verdicts)
        controls.append([twin, name, reason, f"{len(verdicts):,}", f"{caught:,}"])
        if not caught:
            found.failures.append(f"the broken twin that {twin} was not caught")
    found.tables.append(_controls("Broken twins on damaged ledgers", controls))
    return found


def crowded(runner: Runner) -> Findings:
    """Charge one ledger from many processes, and kill some of them."""
    found = Findings()
    processes, each = runner.pick(8, 32), runner.pick(4, 1000)
    affordable = processes * each // 4
    crowd = load.crowd(runner.workshop, processes, each, affordable, load.charging(each))
    found.failures += [f"a crowd: {wrong}" for wrong in crowd.wrong]
    found.figure("processes at one ledger", processes)
    found.figure("charges that they tried", crowd.attempts)
    found.figure("charges that were affordable", affordable)
    found.figure("charges that were accepted", crowd.accepted)
    found.figures.append(["seconds that it took", f"{crowd.seconds:.0f}"])
    parts = {"2026": 2 * each, "2027": processes * each, "2028": 1}  # some, all, one
    series = load.crowd(runner.workshop, processes, 3 * each, parts, load.charging(3 * each))
    found.failures.extend(f"crowd of periods: {wrong}" for wrong in series.wrong)
    found.figure("a crowd at a ledger with periods: charges tried", series.attempts)
    found.figure(
        "a crowd at a ledger with periods: accepted, each within its part", series.accepted
    )
    mixed = load.mixed(runner.workshop, 12, runner.pick(12, 400), 7)
    found.failures += [f"a crowd with kills: {wrong}" for wrong in mixed.wrong]
    found.figure("processes killed while others charged, sealed and published", mixed.kills)
    found.figure("entries that they had acknowledged", mixed.attempts)
    twin = "counts its own charges alone"
    alone = load.crowd(runner.workshop, 1, 40, 20, load.careless(40))
    found.failures += [f"the twin that {twin}, alone: {wrong}" for wrong in alone.wrong]
    among = load.crowd(runner.workshop, 4, 10, 20, load.careless(10))
    caught = is_among(load.OVERSPENT, among.wrong)
    row = [twin, "a crowd", load.OVERSPENT, "1", f"{caught:d}"]
    found.tables.append(_controls("Broken twins in a crowd", [row]))
    if not caught:
        found.failures.append(f"the broken twin that {twin} was not caught")
    return found


PARTS: dict[str, Callable[[Runner], Findings]] = {
    "kills": killed,
    "errors": failing,
    "power": unpowered,
    "damage": damaged,
    "load": crowded,
}


def _some(runner: Runner, tasks: list[Task]) -> list[Task]:
    return tasks[3::180] if runner.quick else tasks


def _faults(runner: Runner, subject: Subject) -> list[str]:
    """Return, for strace, a kill at every step that settles names, and an error at every flush."""
    calls = kills.calls_of(runner.workshop, subject)
    faults = [f"{name}:signal=KILL:when={number}" for name, number, _ in calls if name in STEPS] + [
        f"{name}:error=EIO:when={number}" for name, number, _ in calls if name in FLUSHES
    ]
    return faults[4::140] if runner.quick else faults


def _staged_flush(runner: Runner) -> str:
    """Return, for strace, a failure of the flush of a staged table."""
    calls = kills.calls_of(runner.workshop, broken.FORGIVES_FAILED_FLUSHES)
    number = next(
        number
        for name, number, line in calls
        if name == "fsync" and NOISY in line and ".partial/" not in line
    )
    return f"fsync:error=EIO:when={number}"


def _crashes(
    runner: Runner, subject: Subject, fault: str, losses: Sequence[power.Loss], share: float
) -> tuple[int, list[power.Crash]]:
    recording = power.record(runner.workshop, subject, fault)
    prepared = runner.workshop.root / "prepared"
    return power.distinct(power.crashes(recording, prepared, losses, 5, share))


def _power(
    runner: Runner, subject: Subject, fault: str, losses: Sequence[power.Loss], share: float
) -> tuple[int, list[Round]]:
    number, crashes = _crashes(runner, subject, fault, losses, share)
    tasks: list[Task] = [(subject.name, fault, crash) for crash in crashes]
    what = f"{subject.name}, power lost" + (f" after {fault}" if fault else "")
    return number, runner.map(what, power.check, tasks)


def _damage(
    workshop: Workshop, _: Subject, life: damage.Life, other: damage.Life, name: str, cases: int
) -> list[damage.Verdict]:
    with workshop.folder() as folder:
        return damage.damaged(folder, life, other, name, cases, 1)


def _believing(_: Any, row: EntryRow, __: str | None = None) -> LedgerEntry:
    """Take an entry as it stands, whatever its hash says."""
    return entry_of(json.loads(row.written), row.hash)


def _forgetting(*_: Any) -> None:
    """Let every noted hash pass."""


def _removing(path: Path, _: Any) -> None:
    """Tidy up what a crash left behind, without looking at it."""
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)


def _refusing(path: Path, _: Any) -> None:
    """Refuse whatever is beside a ledger."""
    if path.with_name(f"{path.name}-journal").exists():
        raise LedgerError(f"{path}: there is a journal.")


_CRASH, _GARBAGE = "in the middle of a commit", "garbage for a journal"
_DAMAGED_TWINS: tuple[tuple[str, str, Any, str, Any, str], ...] = (
    (
        "believes every entry",
        "a word changed",
        rows,
        "checked",
        _believing,
        "gone or other ones",
    ),
    (
        "forgets what was noted",
        "an older copy",
        rows,
        "known",
        _forgetting,
        "gone or other ones",
    ),
    ("removes journals", _CRASH, storage, "_look_at_journal", _removing, "no damage, and it is"),
    ("refuses journals", _CRASH, storage, "_look_at_journal", _refusing, "no damage, and it is"),
    ("refuses journals", _GARBAGE, storage, "_look_at_journal", _refusing, "expected as it was"),
)
"""The twin, the damage, what is patched and by what, and the reason for which it must fail."""


def _control(
    runner: Runner,
    found: Findings,
    twin: Subject,
    fault: str,
    reason: str,
    function: Callable[..., Round],
    tasks: Sequence[Task],
) -> list[str]:
    rounds, caught = runner.caught(function, tasks, reason)
    if not caught:
        found.failures.append(f"the broken twin that {twin.name} was not caught by {fault}")
    return [twin.name, fault, reason, f"{rounds:,}", f"{caught:,}"]


def _controls(caption: str, rows: list[list[str]]) -> dict[str, Any]:
    columns = ["the twin", "the fault", "what it must show", "rounds", "caught"]
    return {"caption": caption, "columns": columns, "rows": rows}
