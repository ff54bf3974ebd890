"""Ledgers that were damaged, cut short, replaced or rolled back, with or without a journal."""

import random
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
        charge = ledger.charge(Policy.constant("0.001"), label=label, identity=str(number))
        say("at rest")
        ledger.seal(charge, {"answers": charge.hash})
        say("at rest")


@dataclass(frozen=True, slots=True)
class Life:
    """A ledger at rest after each entry, and in the middle of each with its journal beside it."""

    ages: tuple[bytes, ...]
    hot: tuple[tuple[bytes, bytes], ...]
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
            hot.append((disk.content(NAME), disk.content(f"{NAME}-journal")))
    return Life(tuple(ages), tuple(hot), lines, last)


Damage = Callable[[Life, "Life", random.Random], tuple[bytes, bytes | None]]
"""Returns the ledger and its journal, given this ledger, another one, and chance."""


def _flipped(life: Life, _: Life, chance: random.Random) -> tuple[bytes, None]:
    content = bytearray(life.end)
    for _ in range(chance.choice((1, 1, 2, 8))):
        content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
    return bytes(content), None


def _cut(life: Life, _: Life, chance: random.Random) -> tuple[bytes, None]:
    content = life.end
    place = chance.randrange(len(content))
    return content[: chance.choice((place, place // PAGE * PAGE))], None


def _grown(life: Life, _: Life, chance: random.Random) -> tuple[bytes, None]:
    return life.end + chance.randbytes(chance.choice((1, 100, PAGE))), None


def _pages_mixed(life: Life, other: Life, chance: random.Random) -> tuple[bytes, None]:
    """Put a page in the place of another: of this ledger, an older one, another one, or zeros."""
    pages = _pages(life.end)
    source = _pages(chance.choice((life.end, chance.choice(life.ages), other.end, bytes(PAGE))))
    pages[chance.randrange(len(pages))] = chance.choice(source)
    return b"".join(pages), None


def _pages_swapped(life: Life, _: Life, chance: random.Random) -> tuple[bytes, None]:
    pages = _pages(life.end)
    first, second = chance.sample(range(len(pages)), 2)
    pages[first], pages[second] = pages[second], pages[first]
    return b"".join(pages), None


def _rolled_back(life: Life, _: Life, chance: random.Random) -> tuple[bytes, None]:
    return chance.choice(life.ages[:-1]), None


def _replaced(_: Life, other: Life, chance: random.Random) -> tuple[bytes, None]:
    return chance.choice(other.ages), None


def _journal_gone(life: Life, _: Life, chance: random.Random) -> tuple[bytes, None]:
    return chance.choice(life.hot)[0], None


def _journal_cut(life: Life, _: Life, chance: random.Random) -> tuple[bytes, bytes]:
    ledger, journal = chance.choice(life.hot)
    return ledger, journal[: chance.randrange(len(journal))]


def _journal_flipped(life: Life, _: Life, chance: random.Random) -> tuple[bytes, bytes]:
    ledger, journal = chance.choice(life.hot)
    content = bytearray(journal)
    content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
    return ledger, bytes(content)


def _journal_of_yesterday(life: Life, _: Life, chance: random.Random) -> tuple[bytes, bytes]:
    return life.end, chance.choice(life.hot)[1]


def _journal_of_another(life: Life, other: Life, chance: random.Random) -> tuple[bytes, bytes]:
    return life.end, chance.choice(other.hot)[1]


def _journal_of_nothing(life: Life, _: Life, chance: random.Random) -> tuple[bytes, bytes]:
    return life.end, chance.randbytes(chance.randrange(20_000))


def _in_the_middle(life: Life, _: Life, chance: random.Random) -> tuple[bytes, bytes]:
    return chance.choice(life.hot)


DAMAGES: dict[str, Damage] = {
    "bytes flipped": _flipped,
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
VERDICTS = ("refused", "as it was", OLDER, ANOTHER, "wrong")


def verdict(
    folder: Path, life: Life, other: Life, ledger: bytes, journal: bytes | None
) -> tuple[str, str]:
    """Return what a damaged ledger is taken for, and why that is wrong if it is."""
    path = folder / NAME
    path.write_bytes(ledger)
    beside = folder / f"{NAME}-journal"
    if journal is None:
        beside.unlink(missing_ok=True)
    else:
        beside.write_bytes(journal)
    try:
        opened = Ledger.open(path)
        said = tuple(opened.export().splitlines())
        opened.verify()
        if said == life.lines:
            return "as it was", ""
        opened.verify([life.last])
    except LedgerError as error:
        if "noted down" not in str(error):
            return "refused", ""
        for whole, taken_for in ((life.lines, OLDER), (other.lines, ANOTHER)):
            if said == whole[: len(said)]:
                return taken_for, ""
        return "wrong", "it says something that was never there"
    except Exception as error:  # a crash of any other kind is what we look for
        return "wrong", f"{type(error).__name__}: {error}"
    return "wrong", "entries are gone, and a noted hash does not show it"


def damaged(
    folder: Path, life: Life, other: Life, name: str, cases: int, seed: int
) -> list[tuple[str, str]]:
    """Return the verdicts on many ledgers that were damaged in one way."""
    chance = random.Random(f"{name} {seed}")
    return [verdict(folder, life, other, *DAMAGES[name](life, other, chance)) for _ in range(cases)]


def _pages(content: bytes) -> list[bytes]:
    return [content[start : start + PAGE] for start in range(0, len(content), PAGE)]
