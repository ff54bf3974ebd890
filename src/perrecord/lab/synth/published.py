"""A published table of establishments by place, industry and size class, read and checked.

Formats that are known by the names of their columns, whatever their case:

- ZIP Code Business Patterns: zip, naics, empszes, est;
- County Business Patterns without size classes: fips, naics, est, and, where they are there, the
  totals of the cell: emp, and payann_k or payann in $1,000.

Any other table is read by naming its columns. Files are Parquet, or CSV, which may be compressed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError
from perrecord.lab.synth.codes import industries_of, places_of, whole_numbers
from perrecord.lab.synth.reading import read_columns
from perrecord.lab.synth.sizes import ANY, SizeClass, check_disjoint, size_class
from perrecord.lab.synth.zips import NOWHERE, counties_of

Kind = Literal["county", "zip"]
Index = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

KNOWN = {
    "place": ("fips", "county", "zip", "zipcode", "zip_code"),
    "industry": ("naics", "naics2017", "naics2012", "industry"),
    "size": ("empszes", "size", "size_class"),
    "count": ("est", "estab", "establishments", "count"),
}
"""What a table must say -> the names that its column goes by; the size class may be missing."""

_TOTALS = {"emp": ("emp",), "payann": ("payann_k", "payann", "ap")}


@dataclass(frozen=True, slots=True, eq=False)
class PublishedCounts:
    """How many establishments there are of each place, industry and size class.

    Entry k says that place[k] has count[k] establishments of industry[k] and classes[size[k]].
    Without size classes, totals hold the employment and the payroll of every entry.
    """

    kind: Kind
    places: pa.Array
    counties: pa.Array | None
    industries: pa.Array
    classes: tuple[SizeClass, ...]
    place: Index
    industry: Index
    size: Index
    count: Counts
    totals: dict[str, Counts]

    @property
    def establishments(self) -> int:
        """Return how many there are in all."""
        return int(self.count.sum())

    @property
    def without_county(self) -> int:
        """Return how many stand at ZIP codes that lie in no known county."""
        if self.kind == "county" or self.counties is None:
            return 0
        nowhere = pc.equal(self.counties, NOWHERE).to_numpy(zero_copy_only=False)
        return int(self.count[nowhere[self.place]].sum())


def published(
    source: str | Path | pa.Table,
    *,
    place: str | None = None,
    industry: str | None = None,
    size: str | None = None,
    count: str | None = None,
    digits: int | None = None,
    counties: str | Path | pa.Table | None = None,
) -> PublishedCounts:
    """Return a published table, from a file or an Arrow table.

    place, industry, size and count name columns; those not given are found by their names. digits
    chooses one level of the industries when the table has several. counties is a table of the
    columns zip and fips, which puts ZIP codes into counties; those that it lacks are put into
    county 99999.

    >>> cells = pa.table({"fips": ["01001"], "naics": ["722511"], "empszes": ["212"], "est": [7]})
    >>> published(cells).establishments
    7
    """
    named = {"place": place, "industry": industry, "size": size, "count": count}
    name = f"the file {str(source)!r}" if isinstance(source, str | Path) else "the table"
    table, found = read_columns(source, named, KNOWN, optional=("size",), extra=_TOTALS)
    kind = _kind(found["place"], mapped=counties is not None)
    levels = industries_of(table["industry"], found["industry"], digits)
    table = table.append_column("level", levels).filter(pc.is_valid(levels))
    if not len(table):
        raise InputError(f"{name} has no rows; expected establishments by place and industry.")

    places, at = _encoded(places_of(table["place"], found["place"], kind))
    industries, of = _encoded(table["level"])
    numbers = whole_numbers(table["count"], found["count"])
    classes, size_of = _sizes(table)
    _check_once(name, (at, of, size_of), (len(places), len(industries), len(classes)))
    totals = (
        {each: whole_numbers(table[each], found[each]) for each in _TOTALS if each in found}
        if classes == (ANY,)
        else {}
    )
    entries = _of_known_size(at, of, size_of, numbers, classes)
    in_counties = places if kind == "county" else None
    if counties is not None:
        in_counties = counties_of(places, counties)
    return PublishedCounts(kind, places, in_counties, industries, classes, *entries, totals)


def _kind(column: str, *, mapped: bool) -> Kind:
    """Return what the places are, by the name of their column."""
    plain = column.casefold()
    if mapped and plain in ("fips", "county"):
        raise InputError(
            f"the places are counties, in the column {column!r}; expected ZIP codes when counties= "
            "(--counties) is given. Leave it out."
        )
    return "zip" if mapped or "zip" in plain else "county"


def _sizes(table: pa.Table) -> tuple[tuple[SizeClass, ...], Index]:
    """Return the size classes, smallest first, and which of them each row is of."""
    if "size" not in table.column_names:
        return (ANY,), np.zeros(len(table), dtype=np.int32)
    texts, written = _encoded(table["size"].cast(pa.string()))
    meant = [size_class(each or "") for each in texts.to_pylist()]
    check_disjoint(meant)
    classes = tuple(sorted(set(meant), key=lambda each: (each != ANY, each.low)))
    return classes, np.array([classes.index(each) for each in meant], dtype=np.int32)[written]


def _encoded(column: pa.ChunkedArray) -> tuple[pa.Array, Index]:
    """Return the values of a column, sorted, and which of them each row has."""
    values = pc.unique(column)
    values = values.take(pc.sort_indices(values))
    return values, pc.index_in(column, values).to_numpy().astype(np.int32)


def _check_once(name: str, columns: Sequence[Index], lengths: Sequence[int]) -> None:
    """Refuse a table that lists a place, industry and size class twice."""
    key = np.ravel_multi_index([column.astype(np.int64) for column in columns], tuple(lengths))
    repeated = len(key) - len(np.unique(key))
    if repeated:
        raise InputError(
            f"{name} lists {repeated} of its {len(key)} cells again; expected one row for each "
            "place, industry and size class. Keep one year, and one legal form of organization."
        )


def _of_known_size(
    place: Index, industry: Index, size: Index, count: Counts, classes: tuple[SizeClass, ...]
) -> tuple[Index, Index, Index, Counts]:
    """Return the entries with what all sizes have beyond the classes; that is of any size."""
    whole = np.array([each == ANY for each in classes])[size]
    if whole.all() or not whole.any():
        return place, industry, size, count
    cell = place.astype(np.int64) * (int(industry.max()) + 1) + industry
    cells, inverse = np.unique(cell, return_inverse=True)
    in_all = np.zeros(len(cells), dtype=np.int64)
    in_classes = np.zeros(len(cells), dtype=np.int64)
    np.add.at(in_all, inverse[whole], count[whole])
    np.add.at(in_classes, inverse[~whole], count[~whole])
    listed = np.zeros(len(cells), dtype=bool)
    listed[inverse[whole]] = True
    wrong = int((listed & (in_all < in_classes)).sum())
    if wrong:
        raise InputError(
            f"in {wrong} of {len(cells)} cells the size classes hold more establishments than all "
            "sizes together; expected at most as many. Is the column of counts the right one?"
        )
    rest = np.where(whole, (in_all - in_classes)[inverse], count)
    kept = rest > 0
    return place[kept], industry[kept], size[kept], rest[kept]
