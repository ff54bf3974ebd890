"""Random records as a source holds them, and the audit's own reading of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from random import Random
from typing import Any

from perrecord.exact import text
from perrecord.lab.audit.doors.reading import steps
from perrecord.lab.audit.doors.spelling import TEXT, spelled
from perrecord.lab.audit.replay.worlds import WORLD
from perrecord.tables.measures import Measure

SECTORS = ["farm", "FARM", "Farm", "mine", "é", "É", "e\u0301", "𝔘nit", "farm ", " farm", "", None]
QUOTED = ["fa,rm", 'qu"ote', "new\nline", "tab\tbed", "a;b", "'", "''", '"']
CODES = [-7, 0, 3, 2**31, None]
FIRMS = [1, 2, 3, None]
DAYS = [date(1, 1, 1), date(1999, 12, 31), date(2020, 2, 29), date(9999, 12, 31), None]
MEASURES = ("a", "b", "c")
DIMENSIONS = ("sector", "code", "head", "size")
_RESOLUTIONS: list[str | int] = [1, 1, "0.5", "0.1", "0.01", "2.5", 1000]
_LARGEST = [None, 20, 1000, 10**6, 10**15, 10**18]


@dataclass(frozen=True, slots=True)
class Held:
    """Rows of a source with the kind of each column, and the measures that are declared of it."""

    rows: tuple[dict[str, Any], ...]
    kinds: Mapping[str, str]
    measures: Mapping[str, Measure]
    blank_is_null: bool
    """In text files nothing is written for NULL, so that an empty text is read as one."""

    def declared(self) -> dict[str, Any]:
        """Return how the table is declared; the world is a number, in whatever way it is held."""
        large = f"{MEASURES[0]} > {text(5 * self.measures[MEASURES[0]].resolution)}"
        return {
            "id": "id",
            "unit": "firm",
            "dimensions": {
                "sector": "sector",
                "code": "code",
                "head": "substr(sector, 1, 1)",
                "size": f"CASE WHEN {large} THEN 'large' WHEN a IS NOT NULL THEN 'small' END",
            },
            "measures": {**self.measures, WORLD: Measure()},
        }

    def record(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record that a row stands for, by the audit's own reading."""
        found = {name: self._plain(row[name]) for name in ("id", "firm", "sector", "code")}
        for name, measure in self.measures.items():
            whole = steps(
                row[measure.column or name], measure.resolution, measure.largest, measure.outside
            )
            found[name] = None if whole is None else whole * measure.resolution
        sector, first = found["sector"], found[MEASURES[0]]
        limit = 5 * self.measures[MEASURES[0]].resolution
        found["head"] = None if sector is None else sector[:1]
        found["size"] = None if first is None else ("large" if first > limit else "small")
        return found | {WORLD: Fraction(0)}

    def without(self, place: int) -> "Held":
        """Return the rows but for one."""
        kept = tuple(row for index, row in enumerate(self.rows) if index != place)
        return Held(kept, self.kinds, self.measures, self.blank_is_null)

    def trimmed(self) -> "Held":
        """Return the rows with text as statistical packages keep it: a blank text is missing."""
        rows = [
            {
                name: (each.rstrip(" ") or None) if isinstance(each, str) else each
                for name, each in row.items()
            }
            for row in self.rows
        ]
        return Held(tuple(rows), self.kinds, self.measures, self.blank_is_null)

    def worlds(self) -> "Held":
        """Return the rows once for world 0, and all but the i-th once more for each world i."""
        every = [
            {**row, WORLD: self._world(world)}
            for world in range(len(self.rows) + 1)
            for place, row in enumerate(self.rows)
            if place != world - 1
        ]
        return Held(tuple(every), self.kinds, self.measures, self.blank_is_null)

    def _world(self, number: int) -> Any:
        return str(number) if self.kinds[WORLD] == TEXT else number

    def _plain(self, value: Any) -> Any:
        return None if value == "" and self.blank_is_null else value


def random_held(
    random: Random, count: int, numeric: Sequence[str], *, is_text: bool, quoted: bool = True
) -> Held:
    """Return random rows whose measures are of random ones of these kinds."""
    names = TEXT if is_text else "int64"
    kinds = {"id": names, "firm": names, "sector": TEXT, "code": names, WORLD: names}
    measures = {}
    for name in MEASURES:
        column = f"{name}_held" if random.random() < 0.3 else name
        kinds[column] = random.choice(numeric)
        measures[name] = _measure(random, None if column == name else column)
    sectors = [*SECTORS, *(QUOTED if quoted else [])]
    rows = []
    for index in range(count):
        row: dict[str, Any] = {
            "id": index,
            "firm": random.choice(FIRMS),
            "code": random.choice(CODES),
            WORLD: 0,
        }
        if is_text:
            row = {name: None if value is None else str(value) for name, value in row.items()}
        row["sector"] = random.choice(sectors if random.random() < 0.4 else SECTORS[:4])
        for column in kinds.keys() - row.keys():
            row[column] = None
        for measure, name in ((each, known) for known, each in measures.items()):
            column = measure.column or name
            row[column] = spelled(random, kinds[column], index)
        rows.append(row)
    return Held(tuple(rows), kinds, measures, blank_is_null=is_text)


def _measure(random: Random, column: str | None) -> Measure:
    step = Fraction(random.choice(_RESOLUTIONS))
    largest = random.choice(_LARGEST)
    return Measure(
        step,
        column=column,
        largest=None if largest is None else largest * step,
        outside=random.choice(["null", "cut"]),
    )
