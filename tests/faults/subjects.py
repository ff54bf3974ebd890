"""What is made to fail, and what must be true of it afterwards, whatever happened.

A subject works in a scene and says what it acknowledges. After the fault its check looks at the
scene, runs the same work again, and returns what is wrong. The rules for a release:

- never an output without a charge and a seal, never a partial one;
- what was acknowledged, or seen by somebody outside, is in the ledger for ever;
- a retry finishes under the same single charge: after the seal with the same bytes, before it with
  fresh noise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from perrecord import Ledger, LedgerError, Policy
from perrecord.accounting.budget import Budget
from perrecord.accounting.entries import Charge, Publication, Seal
from perrecord.release.ledgers import releases_folder
from perrecord.release.publish import release
from tests.faults.scene import FILES, NOISY, Scene, contents
from tests.faults.victims import Ended, Say, Work, run

STAGES = {"adding noise": "charged", "publishing": "sealed"}
"""What has been acknowledged when a release says that it goes on."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Work that is disturbed, and the check of what it leaves behind."""

    name: str
    work: Work
    check: Callable[[Scene, Ended, Mapping[str, bytes]], list[str]]
    ledger: Callable[[Scene], Path]
    entries: int  # in that ledger before the work


# -- a release ------------------------------------------------------------------------------


def make_release(scene: Scene, say: Say) -> None:
    """Make the release of the scene."""

    def progress(message: str) -> None:
        if message in STAGES:
            say(STAGES[message])

    release(scene.spec, scene.out, progress=progress)
    say("published")


def check_release(scene: Scene, ended: Ended, seen: Mapping[str, bytes]) -> list[str]:
    """Return what is wrong after a disturbed release; `seen` is an output that was visible."""
    try:
        before = _state(scene)
        wrong = _wrong_with_release(scene, before, ended, seen)
        staged = [contents(each).get(NOISY) for each in _staged(scene)]
    except LedgerError as error:
        return [f"the ledger is refused: {error}"]
    if wrong:
        return wrong
    again = run(make_release, scene)
    if not again.finished:
        return [f"a retry does not finish: {again.gave_up}"]
    after = _state(scene)
    out = contents(scene.out)
    if before.charges and after.charges != before.charges:
        wrong.append("a retry changed the charges")
    if len(after.charges) != 1 or after.seal is None or not after.publications:
        wrong.append(f"after a retry the ledger holds {after}")
    if sorted(out) != FILES or _digests(out) != after.shown:
        wrong.append("after a retry the output is not what was sealed")
    if before.seal is not None and after.seal != before.seal:
        wrong.append("a retry after the seal gave other bytes")
    if before.seal is None and out[NOISY] in staged:
        wrong.append("a retry before the seal did not draw fresh noise")
    beside = [path.name for path in scene.out.parent.iterdir()]
    if beside != [scene.out.name]:
        wrong.append(f"after a retry there stays beside the output: {beside}")
    return wrong


@dataclass(frozen=True, slots=True)
class _State:
    """What a ledger says of the one release that is charged to it."""

    charges: tuple[str, ...]
    seal: Mapping[str, str] | None
    publications: int

    @property
    def shown(self) -> Mapping[str, str]:
        """The digests of what is published; the noisy numbers themselves are sealed, too."""
        sealed = self.seal or {}
        return {name: each for name, each in sealed.items() if not name.startswith("numbers/")}


def _state(scene: Scene) -> _State:
    ledger = Ledger.open(scene.ledger)
    entries = ledger.entries()
    if ledger.verify() != len(entries):
        raise LedgerError("verify counts other entries than there are")
    seals = [dict(entry.digests) for entry in entries if isinstance(entry, Seal)]
    return _State(
        tuple(entry.hash for entry in entries if isinstance(entry, Charge)),
        seals[0] if seals else None,
        sum(isinstance(entry, Publication) for entry in entries),
    )


def _wrong_with_release(
    scene: Scene, state: _State, ended: Ended, seen: Mapping[str, bytes]
) -> list[str]:
    wrong = []
    if len(state.charges) > 1:
        wrong.append("charged more than once")
    if {"charged", "sealed", "published"} & set(ended.said) and not state.charges:
        wrong.append("an acknowledged charge is lost")
    if {"sealed", "published"} & set(ended.said) and state.seal is None:
        wrong.append("an acknowledged seal is lost")
    if "published" in ended.said and not (state.publications and scene.out.exists()):
        wrong.append("an acknowledged publication is lost")
    for is_there, out, when in (
        (scene.out.exists(), contents(scene.out), "there is"),
        (bool(seen), seen, "somebody saw"),
    ):
        if not is_there:
            continue
        if not state.charges or state.seal is None:
            wrong.append(f"{when} an output without a charge and a seal")
        elif _digests(out) != state.shown or sorted(out) != FILES:
            wrong.append(f"{when} an output that is not what was sealed")
    return wrong


def _staged(scene: Scene) -> list[Path]:
    folder = releases_folder(scene.ledger)
    return [each for each in folder.iterdir() if each.is_dir()] if folder.exists() else []


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: sha256(content).hexdigest() for name, content in files.items()}


# -- a ledger by itself ---------------------------------------------------------------------


PERIODS = {"first": "2026", "second": "2027"}
"""Which period each charge is made for, in a ledger that has some."""


def keep_ledger(scene: Scene, say: Say) -> None:
    """Make a ledger and fill it: what is there already is found again, by its identity."""
    _keep(scene, say, {})


def keep_periods(scene: Scene, say: Say) -> None:
    """The same with a ledger of two periods, each charged for once."""
    _keep(scene, say, PERIODS)


def _keep(scene: Scene, say: Say, periods: Mapping[str, str]) -> None:
    if scene.alone.exists():
        ledger = Ledger.open(scene.alone)
    else:
        ledger = Ledger.create(scene.alone, Budget(1), periods=periods.values() or None)
        say(f"0 {ledger.entries()[0].hash}")
    for part in ("first", "second"):
        charge = ledger.charge(
            Policy.constant("0.25"),
            snapshot=periods.get(part, "s"),
            label=part,
            identity=part,
            period=periods.get(part),
        )
        say(f"{charge.number} {charge.hash}")
        seal = ledger.seal(charge, {"answers": part})
        say(f"{seal.number} {seal.hash}")
    publication = ledger.publish(charge, place="here")
    say(f"{publication.number} {publication.hash}")


KEPT = 6
"""How many entries the ledger has when it is filled."""


def check_ledger(scene: Scene, ended: Ended, _: Mapping[str, bytes]) -> list[str]:
    """Return what is wrong after a disturbed life of a ledger."""
    return _wrong_with_ledger(scene, ended, keep_ledger, {None: "0.5"})


def check_periods(scene: Scene, ended: Ended, _: Mapping[str, bytes]) -> list[str]:
    """Return what is wrong after a disturbed life of a ledger with periods."""
    spent = dict.fromkeys(PERIODS.values(), "0.25")
    return _wrong_with_ledger(scene, ended, keep_periods, spent)


def _wrong_with_ledger(
    scene: Scene, ended: Ended, keep: Work, spent: Mapping[str | None, str] | Mapping[str, str]
) -> list[str]:
    promised = {tuple(said.split()) for said in ended.said}
    if not scene.alone.exists():
        if promised:
            return ["an acknowledged ledger is lost"]
    else:
        try:
            ledger = Ledger.open(scene.alone)
            there = {(str(entry.number), entry.hash) for entry in ledger.entries()}
            ledger.verify([code for _, code in promised])
        except LedgerError as error:
            return [f"the ledger is refused: {error}"]
        if not promised <= there:
            return ["an acknowledged entry is lost"]
    again = run(keep, scene)
    if not again.finished:
        return [f"a retry does not finish: {again.gave_up}"]
    ledger = Ledger.open(scene.alone)
    wrong = []
    found = {period: ledger.part(period).spent.total() for period in spent}
    if ledger.verify() != KEPT or found != {each: Policy.constant(spent[each]) for each in spent}:
        wrong.append("after a retry there is more or less than was asked for")
    if not promised <= {(str(entry.number), entry.hash) for entry in ledger.entries()}:
        wrong.append("a retry changed what was acknowledged")
    if scene.alone.stat().st_nlink != 1:
        wrong.append("the ledger has a second name")
    return wrong


RELEASE = Subject("a release", make_release, check_release, lambda scene: scene.ledger, 1)
LEDGER = Subject("a ledger", keep_ledger, check_ledger, lambda scene: scene.alone, 0)
SERIES = Subject("a ledger with periods", keep_periods, check_periods, lambda scene: scene.alone, 0)
SUBJECTS = (RELEASE, LEDGER, SERIES)
