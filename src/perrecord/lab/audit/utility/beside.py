"""Published tables, column by column: answers and what stands beside them, against plain SQL.

Noise vanishes or is of millionths. So fitted, rounded and floored numbers, ends of intervals, words
of status and derived numbers have one true value each, which the rows of the source give.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from math import floor, prod
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from perrecord.lab.audit.utility.exactly import Found, Key, cells, fault, listed, spare_of
from perrecord.lab.audit.utility.files import in_csv
from perrecord.lab.audit.utility.questions import AnswerMeaning, Question
from perrecord.lab.audit.utility.tables import REGIONS
from perrecord.queries.query import Query

CONFIDENCE = "0.999999999999"
"""Intervals miss the truth with a chance of 1e-12, whatever noise there is."""

_KINDS = {
    "_se": "standard errors",
    "_sd_at_most": "standard errors",
    "_low": "ends of intervals",
    "_high": "ends of intervals",
    "_rounded": "rounded",
    "_floored": "floored",
    "_status": "status",
    "_consistent": "consistent",
    "_consistent_se": "standard errors",
    "_consistent_low": "ends of intervals",
    "_consistent_high": "ends of intervals",
    "_consistent_nonnegative": "consistent, not negative",
    "_consistent_whole": "consistent, whole",
}
_ADDING = ("_consistent", "_consistent_nonnegative", "_consistent_whole")
_NEARLY = Fraction(1, 10**12)
"""What floats may lose, relatively."""
_ROOT = Fraction(1, 10**6)
"""What they may lose of a width that is the root of a difference."""
_NOTHING = 1e-9
_ONE = AnswerMeaning("derived", "1", Fraction(1))


@dataclass(frozen=True, slots=True)
class DerivedMeaning:
    """A formula, and the aggregates that it divides: the lower one of another table, if named."""

    formula: str
    above: AnswerMeaning
    below: AnswerMeaning = _ONE
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """A published table: its key columns and answers."""

    columns: tuple[str, ...]
    answers: Mapping[str, AnswerMeaning]
    follows: bool = False
    """Whether its numbers are sums of another table's, and it has no others."""

    def lies_in(self, other: "Level") -> bool:
        """Tell whether each of its cells lies in one of another table's."""
        parents = ("head", "region") if "sector" in self.columns else ()
        return {*other.columns} <= {*self.columns, *parents}


@dataclass(frozen=True, slots=True)
class MeantRelease:
    """What the files of a release should hold."""

    connection: duckdb.DuckDBPyConnection
    where: str | None
    keys: Mapping[str, Sequence[Any]]
    levels: Mapping[str, Level]
    derived: Mapping[str, DerivedMeaning]
    processed: Mapping[str, Any]
    """As in the spec: what post-processing adds."""

    def cells(
        self, columns: Sequence[str], meanings: Sequence[AnswerMeaning]
    ) -> dict[Key, dict[int, Any]]:
        """Return what each answer means in each cell that holds records."""
        return cells(self.connection, Question(Query(), self.where, tuple(meanings)), columns)

    def endings(self, name: str, level: Level) -> Iterator[str]:
        """Yield the endings of columns that must stand beside a number."""
        meaning = level.answers.get(name)
        if not level.follows and name in self.processed["round"]:
            yield "_rounded"
        if meaning is None or meaning.level is not None or meaning.kind.startswith("average"):
            return
        if not level.follows and "floor_at_zero" in self.processed and "signed" not in meaning.kind:
            yield "_floored"
        asked = [each for each in self.levels.values() if not each.follows]
        fitted = [each for each in asked if name in each.answers]
        if adds_up(meaning) and (level.follows or (len(fitted) > 1 and self.is_fitted)):
            yield from ("_consistent", "_consistent_se", "_consistent_low", "_consistent_high")
            if self.is_fitted:
                more = self.processed["consistent"]
                yield from (f"_consistent_{each}" for each, is_more in more.items() if is_more)

    def derived_of(self, level: Level) -> Iterator[tuple[str, DerivedMeaning]]:
        """Yield what is derived in a table: all for which it has the keys of the other table."""
        for name, number in self.derived.items():
            other = level if number.table is None else self.levels[number.table]
            if not level.follows and {*other.columns} <= {*level.columns}:
                yield name, number

    @property
    def is_fitted(self) -> bool:
        """Whether tables are made consistent."""
        return "consistent" in self.processed

    @property
    def hidden_cells(self) -> int:
        """How many cells all tables are sums of, if none shows them: each is printed rounded."""
        every = {name for level in self.levels.values() for name in level.columns}
        finest = every - {"head", "region"} if "sector" in every else every
        if any(finest <= {*level.columns} for level in self.levels.values()):
            return 0
        return prod(len(self.keys[name]) for name in finest)


@dataclass(frozen=True, slots=True)
class _Truth:
    """What a number should be, and how far off noise may put it; None where there is no number."""

    value: Fraction | None
    spare: Fraction = Fraction(0)
    wrong: str | None = None
    """What is wrong with the published number itself."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A table as published, and the truth about each of its numbers."""

    level: Level
    rows: Mapping[Key, Mapping[str, Any]]
    truths: Mapping[str, Mapping[Key, _Truth]]


def adds_up(meaning: AnswerMeaning) -> bool:
    """Tell whether an answer can be made consistent: a count or total of known noise."""
    kind = meaning.kind
    is_other = kind in ("distinct", "blurred", "blurred, signed") or kind.startswith("average")
    return meaning.level is None and not is_other


def compared(folder: Path, meant: MeantRelease) -> Iterator[Found]:
    """Yield for every number of a release whether it is what plain SQL makes of the source."""
    tables = []
    for name, level in meant.levels.items():
        path = folder / "tables" / f"{name}.parquet"
        found = pq.read_table(path)
        yield from in_csv(path.with_suffix(".csv"), found, level.columns)
        keys = listed(found.select(level.columns))
        rows = dict(zip(keys, found.to_pylist(), strict=True))
        wanted = prod(len(meant.keys[each]) for each in level.columns)
        is_whole = len(keys) == len(rows) == wanted
        yield "keys", None if is_whole else f"{len(rows)} keys of {name}, not {wanted}"
        tables.append(_Read(level, rows, _truths(level, rows, meant)))
    for read in tables:
        yield from _numbers(read, meant)
        yield from _beside(read, tables, meant)
    for fine, coarse in permutations(tables, 2):
        yield from _sums(fine, coarse)


def _truths(
    level: Level, rows: Mapping[Key, Mapping[str, Any]], meant: MeantRelease
) -> dict[str, dict[Key, _Truth]]:
    """Return the truth about each number; a quantile or average is compared by itself."""
    found = meant.cells(level.columns, list(level.answers.values()))
    truths: dict[str, dict[Key, _Truth]] = {name: {} for name in level.answers}
    for key, row in rows.items():
        for place, (name, meaning) in enumerate(level.answers.items()):
            exact = found.get(key, {}).get(place)
            wrong = None if level.follows else fault(meaning, exact, row[name])
            if meaning.level is not None or meaning.kind.startswith("average"):
                truths[name][key] = _Truth(Fraction(row[name]), wrong=wrong)
                continue
            value = meaning.empty if exact is None else Fraction(exact)
            truths[name][key] = _Truth(value, spare_of(meaning), wrong)
    for name, number in meant.derived_of(level):
        truths[name] = _derived(name, level, rows, number, meant)
    return truths


def _derived(
    name: str,
    level: Level,
    rows: Mapping[Key, Mapping[str, Any]],
    number: DerivedMeaning,
    meant: MeantRelease,
) -> dict[Key, _Truth]:
    """Return the fraction of two aggregates in each cell; nothing where it divides by 0."""
    other = level if number.table is None else meant.levels[number.table]
    places = [level.columns.index(each) for each in other.columns]
    above = meant.cells(level.columns, [number.above])
    below = meant.cells(other.columns, [number.below])
    truths = {}
    for key in rows:
        first = above.get(key, {0: number.above.empty})[0]
        second = below.get(tuple(key[each] for each in places), {0: number.below.empty})[0]
        value = Fraction(first) / Fraction(second) if second else None
        spare = _NEARLY * abs(value or Fraction(0))
        wrong = _away(rows[key][name], value, spare)
        truths[key] = _Truth(value, spare, wrong)
    return truths


def _numbers(read: _Read, meant: MeantRelease) -> Iterator[Found]:
    """Yield what is wrong with answers and derived numbers, and which columns are missing."""
    columns = {*next(iter(read.rows.values()))}
    for name, truths in read.truths.items():
        lacking = [each for each in meant.endings(name, read.level) if name + each not in columns]
        yield "columns", f"{name} has no {lacking}" if lacking else None
        if not read.level.follows:
            kind = read.level.answers[name].kind if name in read.level.answers else "derived"
            for truth in truths.values():
                yield kind, None if truth.wrong is None else f"{name}: {truth.wrong}"


def _beside(read: _Read, tables: Sequence[_Read], meant: MeantRelease) -> Iterator[Found]:
    """Yield for every column beside a number whether it is what that number makes of it."""
    hidden, levels = meant.hidden_cells, meant.levels.values()
    is_top = all(each.lies_in(read.level) for each in levels)
    for name, truths in read.truths.items():
        meaning = read.level.answers.get(name)
        is_average = meaning is not None and meaning.kind.startswith("average")
        every = (each.truths.get(name, {}).values() for each in tables)
        is_moved = any(
            truth.value is not None and truth.value < 0 for some in every for truth in some
        )
        for ending in ("_rounded", "_floored") if is_average else _KINDS:
            kind = "follows" if read.level.follows and ending == "_consistent" else _KINDS[ending]
            for key, row in read.rows.items():
                if name + ending in row:
                    number = _Number(
                        name, truths[key], row, is_moved, is_top, hidden, meant.processed
                    )
                    wrong = number.fault(ending)
                    yield kind, None if wrong is None else f"{name}{ending}: {wrong}"


@dataclass(frozen=True, slots=True)
class _Number:
    """A number, the row that it stands in, and what is done to it."""

    name: str
    truth: _Truth
    row: Mapping[str, Any]
    is_moved: bool
    """Whether it, or a number that it is fitted with, is negative."""
    is_top: bool
    """Whether it is a sum of others, and no other is a sum of it."""
    hidden_cells: int
    processed: Mapping[str, Any]

    def fault(self, ending: str) -> str | None:
        """Return what is wrong with the column of this ending."""
        value, exact, spare = self.row[self.name + ending], self.truth.value, self.truth.spare
        if ending == "_status":
            return self._word_fault(value)
        if exact is None or value is None:
            return None if exact is value else f"{value} was published, and {exact} is true"
        match ending:
            case "_se" | "_sd_at_most" | "_consistent_se":
                is_small = 0 <= value <= 2 * spare + _NOTHING
                return None if is_small else f"an error of {value} was published"
            case "_low" | "_high" | "_consistent_low" | "_consistent_high":
                return self._end_fault(ending, value, exact)
            case "_rounded":
                return _rounding_fault(value, exact, self.processed["round"][self.name], spare)
            case "_floored":
                return _away(value, max(exact, Fraction(0)), spare)
            case "_consistent":
                return _away(value, exact, self._printed(value))
        return self._moved_fault(ending, value, exact)

    def _word_fault(self, word: str) -> str | None:
        """Return whether another word follows from the true number and its standard error."""
        error, exact = self.row.get(f"{self.name}_se"), self.truth.value
        if error is None:
            error = self.row.get(f"{self.name}_sd_at_most")
        most = self.processed["status"]
        if exact is None or error is None:
            wanted = "unreliable"
        elif error <= Fraction(most["reliable"]) * abs(exact):
            wanted = "reliable"
        else:
            is_usable = error <= Fraction(most["caution"]) * abs(exact)
            wanted = "use with caution" if is_usable else "unreliable"
        return None if word == wanted else f"{word!r} of {exact} with an error of {error}"

    def _printed(self, value: Any) -> Fraction:
        """Return how far off noise, and the printing of cells that nobody sees, may put a sum."""
        return self.truth.spare + 10 * _unit(value) * self.hidden_cells / 2

    def _end_fault(self, ending: str, value: Any, exact: Fraction) -> str | None:
        """Return whether an interval leaves the truth out, or ends far from it."""
        is_fitted = "consistent" in ending
        slack = self._printed(value) if is_fitted else _NEARLY * abs(exact)
        wide = slack + 10 * _unit(value) if is_fitted else _ROOT * abs(exact)
        side = 1 if ending.endswith("_high") else -1
        if side * (Fraction(value) - exact) < -slack:
            return f"the interval ends at {value}, before {exact}"
        return _away(value, exact, 2 * self.truth.spare + wide)

    def _moved_fault(self, ending: str, value: Any, exact: Fraction) -> str | None:
        """Return whether a number that is moved from the top down is where it can be told."""
        is_floored = self.processed["consistent"]["nonnegative"]
        if is_floored and value < 0:
            return f"{value} is negative"
        if is_floored and self.is_moved and not self.is_top:
            return None
        if ending == "_consistent_whole" and self.hidden_cells:
            return None
        wanted = max(exact, Fraction(0)) if is_floored else exact
        return _away(value, wanted, self._printed(value))


def _away(value: Any, exact: Fraction | None, spare: Fraction | int) -> str | None:
    if exact is None or value is None:
        is_same = exact is value
    else:
        is_same = abs(Fraction(value) - exact) <= spare
    return None if is_same else f"{value} was published, and {exact} is true"


def _unit(value: Any) -> Fraction:
    """Return the last digit that a number is printed with."""
    exponent = value.as_tuple().exponent if isinstance(value, Decimal) else 0
    return Fraction(10) ** int(exponent)


def _rounding_fault(value: Any, exact: Fraction, places: int, spare: Fraction) -> str | None:
    """Return whether a number is not the exact one rounded, ties away from zero.

    Noise, or a float that cannot hold the exact number, may put it on either side of a tie.
    """
    is_held = isinstance(value, float) and Fraction(float(exact)) == exact
    off = Fraction(0) if is_held else spare
    unit = Fraction(10) ** -places
    wanted = [_rounded(each, unit) for each in (exact - off, exact, exact + off)]
    if any(abs(Fraction(value) - each) <= _NEARLY * abs(each) for each in wanted):
        return None
    return f"{value} was published for {exact}, to {places} decimals"


def _rounded(exact: Fraction, unit: Fraction) -> Fraction:
    size = floor(abs(exact) / unit + Fraction(1, 2)) * unit
    return size if exact > 0 else -size


def _sums(fine: _Read, coarse: _Read) -> Iterator[Found]:
    """Yield for each number of a table whether those below it sum to it, to the last digit."""
    if not fine.level.lies_in(coarse.level):
        return
    for name, ending in product(coarse.level.answers, _ADDING):
        column, sums = name + ending, defaultdict[Key, Fraction](Fraction)
        if any(column not in next(iter(each.rows.values())) for each in (fine, coarse)):
            continue
        for row in fine.rows.values():
            above = tuple(_value(row, each) for each in coarse.level.columns)
            sums[above] += Fraction(row[column])
        for key, row in coarse.rows.items():
            wrong = _away(row[column], sums[key], 0)
            yield "sums", None if wrong is None else f"{column} below {key}: {wrong}"


def _value(row: Mapping[str, Any], column: str) -> Any:
    """Return what a row lies in, by hand: a sector has its first letter and its region."""
    if column in row:
        return row[column]
    sector = row["sector"]
    return REGIONS.get(sector) if column == "region" else sector and sector[:1]
