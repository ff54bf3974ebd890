"""What a random spec declares: measures on their grids, and the records of its source.

Read by docs/spec.md, surveys.md and changes.md, and by nothing of perrecord's own: derived
measures and weights, and two periods as changes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.changes import RECORD_COUNT, changes
from perrecord.lab.audit.random_derived import meant
from perrecord.lab.audit.shown.document import Json, Row

_MOST_STEPS = 2**63 - 1
_WEIGHTED = "weighted_"

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DeclaredMeasure:
    """A measure: its grid, and the column, the expression or the two measures that it comes of."""

    step: Fraction
    largest: Fraction
    outside: str
    column: str | None = None
    expression: str | None = None
    product: tuple[str, str] | None = None

    @property
    def is_derived(self) -> bool:
        """Whether it follows from other measures."""
        return self.column is None

    def rounded(self, value: Any) -> Fraction | None:
        """Return a number on the grid, ties away from zero, and within what is counted."""
        if value is None:
            return None
        size = math.floor(abs(Fraction(value)) / self.step + Fraction(1, 2)) * self.step
        if size > self.largest:
            if self.outside == "null":
                return None
            size = self.largest
        return size if value > 0 else -size

    def derived(self, record: Row) -> Fraction | None:
        """Return what follows from the other measures of a record."""
        if self.expression is not None:
            return self.rounded(meant(self.expression, record))
        weight, other = (record[each] for each in self.product or ())
        return None if weight is None or other is None else self.rounded(weight * other)


def exact(value: Any) -> Fraction:
    """Return a number as a spec writes it."""
    return Fraction(str(value))


def measures_of(spec: Json) -> dict[str, DeclaredMeasure]:
    """Return every measure of a spec: the weight first, then its products with the others last."""
    declared = {name: _declared(name, each) for name, each in spec["measures"].items()}
    if "weight" not in spec:
        return declared
    column = spec["weight"]["column"]
    weight = _declared(column, {**spec["weight"], "outside": "cut"})
    products = {
        f"{_WEIGHTED}{name}": _product(column, weight, name, each)
        for name, each in declared.items()
    }
    return {column: weight, **declared, **products}


def step_of(spec: Json, measure: str) -> Fraction:
    """Return the resolution of a measure."""
    weight = spec.get("weight", {})
    if measure == weight.get("column"):
        return exact(weight["resolution"])
    if measure not in spec["measures"]:
        return exact(weight["resolution"]) * step_of(spec, measure.removeprefix(_WEIGHTED))
    given = spec["measures"][measure]
    return exact(given.get("resolution", 1) if isinstance(given, dict) else given)


def _declared(name: str, given: Any) -> DeclaredMeasure:
    written = given if isinstance(given, dict) else {"resolution": given}
    step, expression = exact(written.get("resolution", 1)), written.get("expression")
    largest = exact(written["largest"]) if "largest" in written else _MOST_STEPS * step
    column = None if expression else written.get("column", name)
    return DeclaredMeasure(step, largest, written.get("outside", "null"), column, expression)


def _product(
    column: str, weight: DeclaredMeasure, name: str, other: DeclaredMeasure
) -> DeclaredMeasure:
    step = weight.step * other.step
    largest = min(weight.largest * other.largest, _MOST_STEPS * step)
    return DeclaredMeasure(step, largest, other.outside, product=(column, name))


def with_derived(spec: Json, record: Row) -> dict[str, Any]:
    """Return a record with the measures that follow from the ones that it has."""
    found = dict(record)
    for name, each in measures_of(spec).items():
        if each.is_derived:
            found[name] = each.derived(found)
    return found


# -- the records of a source --------------------------------------------------------------------


def records_of(spec: Json, rows: Rows, last: Rows | None = None) -> tuple[Row, ...]:
    """Return the records of a source, which are changes where there is a period before."""
    if last is None:
        return tuple(_record(spec, row) for row in rows)
    names = list(measures_of(spec))
    this, before = ({row["id"]: _record(spec, row) for row in each} for each in (rows, last))
    return tuple(
        record
        for each in sorted(this.keys() | before.keys())
        for record in changes(this.get(each), before.get(each), names)
    )


def _record(spec: Json, row: Mapping[str, Any]) -> dict[str, Any]:
    sector, day = row["sector"], row["opened"]
    record = {name: row[name] for name in ("id", "firm", "sector", "code", "big", "region")}
    record["head"] = None if sector is None else sector[:1]
    record["opened"] = None if day is None else day.isoformat()
    counted = {**row, RECORD_COUNT: 1}
    for name, each in measures_of(spec).items():
        record[name] = (
            each.derived(record) if each.is_derived else each.rounded(counted[each.column or ""])
        )
    return record
