"""Establishments of County Business Patterns: their records, public keys, and the cells they fill.

The cells that the data holds, and which of them are large, are confidential; they are looked at for
an evaluation and never published.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord import Keys, Query, SelectKeys, Split, Taper, table
from perrecord.errors import InputError, listing
from perrecord.evaluate.accuracy.errors import floats
from perrecord.evaluate.accuracy.noise_size import Floats
from perrecord.evaluate.accuracy.truths import truths
from perrecord.lab.synth import business, published
from perrecord.lab.synth.keys import business_keys, fitted_keys
from perrecord.queries.groupings import WhichCells
from perrecord.queries.plan import plan
from perrecord.tables.table import Table

LEVELS = {
    0: "all industries",
    2: "2 digits",
    3: "3 digits",
    4: "4 digits",
    5: "5 digits",
    6: "6 digits",
}
"""Digits of NAICS -> what the level is called; no digits at all is the county by itself."""

MEASURES = {"EMP": "emp", "PAYANN": "payann", "PAYQTR1": "payqtr1"}
"""The magnitudes of the paper -> the columns that are added up."""

COUNTS = ("ESTAB", "FIRM")
ATTRIBUTES = (*COUNTS, *MEASURES)
"""What is published of every cell, under the paper's names."""

Amounts = Mapping[tuple[int, str], Fraction]
"""Level and attribute -> the rho that it gets."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelCells:
    """The cells of county × NAICS level that the data holds, with their true numbers."""

    level: int
    keys: pa.Table
    totals: Mapping[str, Floats]
    is_large: npt.NDArray[np.bool_]
    """Which of them have so many establishments that they are evaluated."""

    @property
    def large(self) -> pa.Table:
        """The keys of the cells that are evaluated."""
        return self.keys.filter(pa.array(self.is_large))

    def true(self, attribute: str) -> Floats:
        """Return the true numbers of the cells that are evaluated, in the order of `large`."""
        return np.asarray(self.totals[attribute][self.is_large])

    def relative_errors(self, attribute: str, published: pa.Table, column: str) -> Floats:
        """Return |published - true|/|true| of the evaluated cells, in the order of `large`.

        A published table has the key columns and a column of numbers. NaN where it lacks a cell or
        its number, and where the true number is 0.
        """
        names = self.keys.column_names
        numbers = pa.table(
            {
                **{name: published[name].cast(pa.string()) for name in names},
                "_published": published[column].cast(pa.float64()),
            }
        )
        large = self.large
        large = large.append_column("_place", pa.array(np.arange(len(large))))
        met = large.join(numbers, keys=names, join_type="left outer").sort_by("_place")
        found = met["_published"].to_numpy()
        true = self.true(attribute)
        errors = np.full(len(true), np.nan)
        np.divide(np.abs(found - true), np.abs(true), out=errors, where=true != 0)
        return errors


@dataclass(frozen=True, slots=True, eq=False)
class Establishments:
    """The records of the experiment, as rows and as a table of the library."""

    rows: pa.Table
    table: Table
    keys: Mapping[int, Keys]
    """Every county with every industry of each level: public, whatever the data holds."""
    cells: Mapping[int, LevelCells]
    fewest: int

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels that the industries have."""
        return tuple(self.keys)

    @property
    def evaluated(self) -> dict[int, Keys]:
        """The keys of the cells that are evaluated, of the levels that have any."""
        return {
            level: Keys.from_columns(found.large)
            for level, found in self.cells.items()
            if found.is_large.any()
        }

    def rows_at(self, level: int) -> pa.Table:
        """Return the records with the columns that cells of a level are grouped by."""
        name = columns_of(level)[-1]
        if not level:
            return self.rows
        codes = self.rows["naics"].cast(pa.string())
        return self.rows.append_column(name, pc.utf8_slice_codeunits(codes, 0, level))

    @property
    def share_alone(self) -> float:
        """The share of the establishments that are the only one of their firm."""
        counts = self.rows.group_by("firm").aggregate([([], "count_all")])["count_all"]
        return float((counts.to_numpy() == 1).sum() / max(1, self.rows.num_rows))

    def share_up_to(self, attribute: str, most: Fraction) -> float:
        """Return the share of the establishments that have at most so much."""
        numbers = self.rows[MEASURES[attribute]].to_numpy()
        return float((numbers <= float(most)).mean())


def columns_of(level: int) -> tuple[str, ...]:
    """Return what the cells of a level are grouped by."""
    return ("county",) if level == 0 else ("county", f"naics{level}")


def even(total: Fraction, levels: Sequence[int]) -> Amounts:
    """Return a policy minimum shared out equally over levels and attributes; it adds up exactly.

    >>> amounts = even(Fraction(1), [0, 2])
    >>> amounts[2, "EMP"], sum(amounts.values())
    (Fraction(1, 10), Fraction(1, 1))
    """
    places = [(level, attribute) for level in levels for attribute in ATTRIBUTES]
    return {place: total / len(places) for place in places}


def tapered(scheme: Split) -> Taper:
    """Return the taper whose sizes are a scheme's thresholds.

    >>> tapered(Split(emp=20, payann=1000))
    Taper(emp=20, payann=1000)
    """
    return Taper({name: scheme.threshold(name) for name in scheme.measures})


def workload(
    cells: Mapping[int, WhichCells], scheme: Split | Taper, amounts: Amounts
) -> tuple[Query, ...]:
    """Return a query for each level: establishments, firms, and three totals, split or tapered.

    An attribute of a level that has no amount is not asked for, nor a level without any.
    """
    found = []
    split, taper = (None, scheme) if isinstance(scheme, Taper) else (scheme, None)
    for level, keys in cells.items():
        query = Query().group_by(*columns_of(level), keys=keys)
        for attribute in ATTRIBUTES:
            rho = amounts.get((level, attribute))
            if rho is None:
                continue
            if attribute == "ESTAB":
                query = query.count(rho=rho, name=attribute)
            elif attribute == "FIRM":
                query = query.count_distinct("firm", rho=rho, name=attribute)
            else:
                measure = MEASURES[attribute]
                query = query.sum(measure, split=split, taper=taper, rho=rho, name=attribute)
        if query.answers:
            found.append(query)
    return tuple(found)


@contextmanager
def establishments(
    rows: int,
    *,
    seed: int,
    fewest: int,
    states: Sequence[str] | None = None,
    source: Path | None = None,
) -> Iterator[Establishments]:
    """Give synthetic establishments, calibrated to the paper's percentiles or to a published table.

    `fewest` is how many establishments a cell must have to be evaluated. With states, only the
    establishments there are kept.
    """
    keys: dict[str, pa.Table]
    if source is None:
        made, keys = business(rows, seed=seed), business_keys()
    else:
        found = published(source)
        if found.counties is None:
            raise InputError(
                f"the places of {str(source)!r} are ZIP codes; expected counties, as in a table of "
                "County Business Patterns (fips, naics, est)."
            )
        made, keys = business(rows, seed=seed, fitted_to=found), fitted_keys(found)
    data = _of_states(made, states)
    counties = pc.unique(keys["counties"]["county"]).to_pylist()
    if states is not None:
        counties = [county for county in counties if county[:2] in states]
    public = {
        level: Keys.from_dict({"county": counties} | _industries(keys, level))
        for level in LEVELS
        if level == 0 or f"industries{level}" in keys
    }
    dimensions = {
        columns_of(level)[-1]: f"substr(naics, 1, {level})" if level else "county"
        for level in public
    }
    with table(data, unit="firm", dimensions=dimensions, measures=[*MEASURES.values()]) as opened:
        cells = {each.level: each for each in _cells(opened, tuple(public), fewest)}
        if not any(each.is_large.any() for each in cells.values()):
            raise InputError(
                f"no cell has {fewest} or more establishments, so there is nothing to evaluate; "
                "expected larger counties, or more rows."
            )
        yield Establishments(data, opened, public, cells, fewest)


def _of_states(made: Any, states: Sequence[str] | None) -> pa.Table:
    if states is None:
        return made
    kept = made.filter(pc.is_in(made["state"].cast(pa.string()), value_set=pa.array(states)))
    if not kept.num_rows:
        raise InputError(
            f"no establishment is in {listing(states)}; expected a table that has some there. Run "
            "the experiment in full, which keeps every state."
        )
    return kept


def _industries(keys: Mapping[str, pa.Table], level: int) -> dict[str, list[str]]:
    name = f"naics{level}"
    return {name: keys[f"industries{level}"][name].to_pylist()} if level else {}


def _cells(opened: Table, levels: Sequence[int], fewest: int) -> Iterator[LevelCells]:
    """Give the cells that the data holds, from one scan; what they cost makes no difference."""
    occupied = SelectKeys(rho=1, threshold=1)
    scheme = Split(**dict.fromkeys(MEASURES.values(), 1))
    asked = workload(dict.fromkeys(levels, occupied), scheme, even(Fraction(1), levels))
    found: dict[int, dict[str, Floats]] = {level: {} for level in levels}
    keys = {}
    for truth in truths(plan(asked, opened.schema), opened):
        level = levels[truth.query]
        keys[level] = truth.keys
        found[level][truth.answer.name] = floats(truth.total.exact) * float(truth.total.step)
    for level in levels:
        yield LevelCells(level, keys[level], found[level], found[level]["ESTAB"] >= fewest)
