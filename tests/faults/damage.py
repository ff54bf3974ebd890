"""Ledgers that were damaged, cut short, replaced or rolled back, with or without a journal."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from perrecord import Ledger, LedgerError, Policy
from perrecord.accounting.budget import Budget
from tests.faults.disk import Disk
from tests.faults.operations import OPTIONS, operations
from tests.faults.scene import Scene, Workshop
from tests.faults.victims import Say, traced

CHARGES = 25
NAME = "alone.ledger"
PAGE = 4096


def fill(scene: Scene, say: Say) -> None:
    """Fill a ledger of many pages, and say each time that it is at rest."""
    ledger = Ledger.create(scene.alone, Budget(1))
    say("at rest")
    for number in range(CHARGES):
        label = f"part {number}, " + "in so many words " * 20
        charge = ledger.charge(
            Policy.constant("0.001"), snapshot="s", label=label, identity=str(number)
        )
        say("at rest")
        ledger.seal(charge, {"answers": charge.hash})
        say("at rest")


@dataclass(frozen=True, slots=True)
class Hot:
    """A ledger in the middle of a commit, its journal, and the entries acknowledged before it."""

    ledger: bytes
    journal: bytes
    acknowledged: int


@dataclass(frozen=True, slots=True)
class Life:
    """A ledger at rest after each entry, and in the middle of each with its journal beside it."""

    ages: tuple[bytes, ...]
    hot: tuple[Hot, ...]
    lines: tuple[str, ...]
    last: str

    @property
    def end(self) -> bytes:
        """The whole ledger."""
        return self.ages[-1]


def lived(workshop: Workshop) -> Life:
    """Record the life of a ledger."""
    with workshop.scene() as scene:
        log = scene.folder.parent / "log"
        traced(fill, scene, log, *OPTIONS)
        done = operations(log.read_text(), str(scene.folder))
        ledger = Ledger.open(scene.alone)
        lines, last = tuple(ledger.export().splitlines()), ledger.entries()[-1].hash
    disk, ages, hot = Disk(workshop.root / "prepared"), [], []
    for each in done:
        disk.do(each)
        if each.kind == "say":
            ages.append(disk.content(NAME))
        elif each.kind == "write" and each.path == NAME:
            journal = disk.content(f"{NAME}-journal")
            hot.append(Hot(disk.content(NAME), journal, acknowledged=len(ages)))
    return Life(tuple(ages), tuple(hot), lines, last)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A ledger and its journal; and, after a mere crash, how many entries had been acknowledged."""

    ledger: bytes
    journal: bytes | None = None
    acknowledged: int | None = None


Damage = Callable[[Life, Life, random.Random], Damaged]
"""Returns what is left, given this ledger, another one, and chance."""


def _flipped(life: Life, _: Life, chance: random.Random) -> Damaged:
    content = bytearray(life.end)
    for _ in range(chance.choice((1, 1, 2, 8))):
        content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
    return Damaged(bytes(content))


def _forged(life: Life, _: Life, chance: random.Random) -> Damaged:
    """Put another word into the label of an entry, and leave everything else in order."""
    places = [found.start() for found in re.finditer(b"words", life.end)]
    place = chance.choice(places)
    return Damaged(life.end[:place] + b"marks" + life.end[place + 5 :])


def _cut(life: Life, _: Life, chance: random.Random) -> Damaged:
    content = life.end
    place = chance.randrange(len(content))
    return Damaged(content[: chance.choice((place, place // PAGE * PAGE))])


def _grown(life: Life, _: Life, chance: random.Random) -> Damaged:
    return Damaged(life.end + chance.randbytes(chance.choice((1, 100, PAGE))))


def _pages_mixed(life: Life, other: Life, chance: random.Random) -> Damaged:
    """Put a page in the place of another: of this ledger, an older one, another one, or zeros."""
    pages = _pages(life.end)
    source = _pages(chance.choice((life.end, chance.choice(life.ages), other.end, bytes(PAGE))))
    pages[chance.randrange(len(pages))] = chance.choice(source)
    return Damaged(b"".join(pages))


def _pages_swapped(life: Life, _: Life, chance: random.Random) -> Damaged:
    pages = _pages(life.end)
    first, second = chance.sample(range(len(pages)), 2)
    pages[first], pages[second] = pages[second], pages[first]
    return Damaged(b"".join(pages))


def _rolled_back(life: Life, _: Life, chance: random.Random) -> Damaged:
    return Damaged(chance.choice(life.ages[:-1]))


def _replaced(_: Life, other: Life, chance: random.Random) -> Damaged:
    return Damaged(chance.choice(other.ages))


def _journal_gone(life: Life, _: Life, chance: random.Random) -> Damaged:
    return Damaged(chance.choice(life.hot).ledger)


def _journal_cut(life: Life, _: Life, chance: random.Random) -> Damaged:
    hot = chance.choice(life.hot)
    return Damaged(hot.ledger, hot.journal[: chance.randrange(len(hot.journal))])


def _journal_flipped(life: Life, _: Life, chance: random.Random) -> Damaged:
    hot = chance.choice(life.hot)
    content = bytearray(hot.journal)
    content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
    return Damaged(hot.ledger, bytes(content))


def _journal_of_yesterday(life: Life, _: Life, chance: random.Random) -> Damaged:
    return Damaged(life.end, chance.choice(life.hot).journal)


def _journal_of_another(life: Life, other: Life, chance: random.Random) -> Damaged:
    return Damaged(life.end, chance.choice(other.hot).journal)


def _journal_of_nothing(life: Life, _: Life, chance: random.Random) -> Damaged:
    return Damaged(life.end, chance.randbytes(chance.randrange(20_000)))


def _in_the_middle(life: Life, _: Life, chance: random.Random) -> Damaged:
    hot = chance.choice(life.hot)
    return Damaged(hot.ledger, hot.journal, hot.acknowledged)


DAMAGES: dict[str, Damage] = {
    "bytes flipped": _flipped,
    "a word changed": _forged,
    "cut short": _cut,
    "grown": _grown,
    "a page replaced": _pages_mixed,
    "pages swapped": _pages_swapped,
    "an older copy": _rolled_back,
    "another ledger": _replaced,
    "in the middle of a commit": _in_the_middle,
    "its journal removed": _journal_gone,
    "its journal cut short": _journal_cut,
    "bytes of its journal flipped": _journal_flipped,
    "an older journal beside it": _journal_of_yesterday,
    "another's journal beside it": _journal_of_another,
    "garbage for a journal": _journal_of_nothing,
}
OLDER = "older: refused with a noted hash"
ANOTHER = "another: refused with a noted hash"
AS_IT_WAS = "as it was"
VERDICTS = ("refused", AS_IT_WAS, OLDER, ANOTHER, "wrong")
EXPECTED = {
    "a word changed": "refused",
    "cut short": "refused",
    "grown": AS_IT_WAS,
    "garbage for a journal": AS_IT_WAS,
    "an older copy": OLDER,
    "another ledger": ANOTHER,
}
"""What can be known beforehand; the rest depends on which bytes were hit."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a damaged ledger is taken for, why that is wrong if it is, and whether it differed."""

    taken_for: str
    wrong: str
    differs: bool


def verdict(folder: Path, life: Life, other: Life, name: str, damaged: Damaged) -> Verdict:
    """Return what a ledger is taken for that was damaged in the way of this name."""
    path = folder / NAME
    path.write_bytes(damaged.ledger)
    beside = folder / f"{NAME}-journal"
    if damaged.journal is None:
        beside.unlink(missing_ok=True)
    else:
        beside.write_bytes(damaged.journal)
    differs = (damaged.ledger, damaged.journal) != (life.end, None)
    try:
        taken_for, entries, wrong = _taken_for(path, life, other)
    except Exception as error:  # a crash of any other kind is what we look for
        return Verdict("wrong", f"{type(error).__name__}: {error}", differs)
    expected = EXPECTED.get(name, taken_for)
    if not wrong and taken_for != expected:
        wrong = f"it is {taken_for}, expected {expected}"
    if not wrong and damaged.acknowledged is not None:
        if taken_for == "refused":
            wrong = "a crash in the middle of a commit is no damage, and it is refused"
        elif entries not in (damaged.acknowledged, damaged.acknowledged + 1):
            wrong = f"{damaged.acknowledged} entries were acknowledged, {entries} are there"
    return Verdict("wrong" if wrong else taken_for, wrong, differs)


def _taken_for(path: Path, life: Life, other: Life) -> tuple[str, int, str]:
    """Return what a ledger is taken for, how many entries it shows, and what is wrong with them."""
    said: tuple[str, ...] = ()
    try:
        opened = Ledger.open(path)
        said = tuple(opened.export().splitlines())
        opened.verify()
        if said == life.lines:
            return AS_IT_WAS, len(said), ""
        opened.verify([life.last])
    except LedgerError as error:
        if "noted down" not in str(error):
            return "refused", 0, ""
        for whole, taken_for in ((life.lines, OLDER), (other.lines, ANOTHER)):
            if said == whole[: len(said)]:
                return taken_for, len(said), ""
        return "wrong", len(said), "it says something that was never there"
    return "wrong", len(said), "entries are gone or other ones, and a noted hash does not show it"


def damaged(
    folder: Path, life: Life, other: Life, name: str, cases: int, seed: int
) -> list[Verdict]:
    """Return the verdicts on many ledgers that were damaged in one way."""
    chance = random.Random(f"{name} {seed}")
    return [
        verdict(folder, life, other, name, DAMAGES[name](life, other, chance)) for _ in range(cases)
    ]


def _pages(content: bytes) -> list[bytes]:
    return [content[start : start + PAGE] for start in range(0, len(content), PAGE)]
