"""What is declared of a table's columns: which are dimensions, which measures, of which resolution.

An open table has it in its `Schema`, and a spec before its table is open: a query is checked
against either by the same rules.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from perrecord.errors import QueryError, listing, suggestion
from perrecord.tables.fields import Kind


@dataclass(frozen=True, slots=True)
class Roles:
    """The names of a table and its columns, and the role that each of them plays."""

    name: str
    id: str | None
    unit: str | None
    dimensions: tuple[str, ...]
    resolutions: Mapping[str, Fraction]
    """Of each measure."""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    """What each dimension holds, as far as it is known: of an open table all are."""
    is_linked: bool = False
    """Whether records are changes between two periods, so that any measure may be negative."""

    def resolution(self, measure: str) -> Fraction:
        """Return the resolution of a measure, or say which measures there are."""
        if measure not in self.resolutions:
            raise unknown_column(measure, self.resolutions, "measure", self.name)
        return self.resolutions[measure]

    def check_grouping(self, name: str) -> None:
        """Refuse a column that cannot be grouped by."""
        if name in self.dimensions:
            return
        if name not in self.resolutions:
            known = [*self.dimensions, *self.resolutions]
            raise unknown_column(name, known, "column", self.name)
        if self.resolutions[name] != 1:
            raise QueryError(
                f"the measure {name!r} has a resolution other than 1 and cannot be grouped by; "
                "declare a dimension for it, such as CASE WHEN "
                f"{name} > 100 THEN 'large' ELSE 'small' END."
            )

    def countable(self, name: str) -> str:
        """Return a column whose different values may be counted, or say which there are."""
        known = [*self.dimensions, *(each for each in (self.id, self.unit) if each)]
        if name not in known:
            raise unknown_column(name, sorted(known), "id, unit or dimension", self.name)
        return name

    def fillable(self, name: str) -> str:
        """Return a column whose values may be counted where there are any: measures too."""
        return name if name in self.resolutions else self.countable(name)


def unknown_column(name: str, known: Iterable[str], role: str, table: str) -> QueryError:
    """Return the error for a column that a query names and the table lacks."""
    every = list(known)
    return QueryError(
        f"the table {table!r} has no {role} {name!r}. It has {listing(every) or 'none'}."
        f"{suggestion(str(name), every)}"
    )
