"""Size classes of establishments, as published tables write them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from perrecord.errors import InputError, listing

CODES = {
    "210": (0, 4), "212": (1, 4), "220": (5, 9), "230": (10, 19), "241": (20, 49), "242": (50, 99),
    "251": (100, 249), "252": (250, 499), "254": (500, 999), "260": (1000, None),
}  # fmt: skip
"""The Census Bureau's EMPSZES code -> the least and the most employees.

Its "1 to 4" also holds establishments that had nobody in the week of March 12 but paid somebody
that year; 212 is taken at its word and starts at 1, 210 ("less than 5") starts at 0.
"""

_ALL = frozenset({"1", "001", "all", "total"})
_RANGE = re.compile(r"([0-9][0-9,]*)\s*(?:-|–|to)\s*([0-9][0-9,]*)(?:\s+employees)?")
_OPEN = re.compile(
    r"([0-9][0-9,]*)(?:\s*\+(?:\s+employees)?|\s+or more(?:\s+employees)?|\s+employees or more)"
)


@dataclass(frozen=True, slots=True, order=True)
class SizeClass:
    """Establishments of `low` to `high` employees; without `high`, of `low` or more."""

    low: int
    high: int | None = None

    def __str__(self) -> str:
        if self == ANY:
            return "any size"
        return f"{self.low}+" if self.high is None else f"{self.low}-{self.high}"


ANY = SizeClass(0)
"""Any number of employees: the class of establishments whose size is not published."""


def size_class(written: str) -> SizeClass:
    """Return the class that a code or a range means; `ANY` for all sizes together.

    >>> str(size_class("241")), str(size_class("20 to 49")), str(size_class("1,000 or more"))
    ('20-49', '20-49', '1000+')
    """
    plain = written.strip().casefold()
    if plain in _ALL:
        return ANY
    if plain in CODES:
        return SizeClass(*CODES[plain])
    if found := _RANGE.fullmatch(plain):
        low, high = (int(each.replace(",", "")) for each in found.groups())
        if low <= high:
            return SizeClass(low, high)
    elif found := _OPEN.fullmatch(plain):
        return SizeClass(int(found[1].replace(",", "")))
    raise InputError(
        f"the size class {written!r} is not known; expected a code of EMPSZES (1 for all sizes, "
        f"{listing(CODES, limit=20)}), or a range such as '5-9' or '1000+'."
    )


def check_disjoint(classes: Iterable[SizeClass]) -> None:
    """Refuse classes that share a size: their establishments would be counted twice."""
    every = sorted({each for each in classes if each != ANY}, key=lambda each: each.low)
    for one, other in pairwise(every):
        if one.high is None or one.high >= other.low:
            raise InputError(
                f"the size classes {one} and {other} overlap; expected classes such that an "
                "establishment is in only one. Leave the rows of one of them out."
            )
