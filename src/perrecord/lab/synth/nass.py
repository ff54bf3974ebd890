"""Real county files of USDA NASS Quick Stats → records like those of `cattle`.

What becomes of a row that is not simply a number of a county is a rule, not a guess, and counted:

- rows of states, districts and the nation are left out: counties already hold what they add up;
- (D), (NA), (S) and (X) are values that are not published: the record is left out, or kept with
  NULL on request; (Z), less than half of the unit, is 0;
- OTHER (COMBINED) COUNTIES, one row for all counties of a district that are not published by
  themselves, is no county: left out, or kept as a record of its own on request;
- what is broken down by a domain would count animals twice: only totals are read, or one category.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

import pyarrow as pa

from perrecord.errors import InputError, SourceError, listing, number_of, suggestion
from perrecord.lab.synth.cattle import SCHEMA
from perrecord.lab.synth.quickstats import QuickStatsRow, number, read_rows

PASTURE_RENT = "RENT, CASH, PASTURELAND - EXPENSE, MEASURED IN $ / ACRE"

Suppressed = Literal["drop", "null"]
Combined = Literal["drop", "keep"]

_COUNTY, _TOTAL = "COUNTY", "TOTAL"
_MOST_SHOWN = 30
_MOST_RENT = 10**7


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """The records of a file, what was read, and what became of the rest.

    districts holds every state and district that the file names, suppressed or not: public keys.
    """

    table: pa.Table
    item: str
    year: int
    left_out: dict[str, int]
    as_null: dict[str, int]
    districts: pa.Table

    def lines(self) -> list[str]:
        """Return what was read, left out and kept as NULL, line by line."""
        rents = len(self.table) - self.table["rent"].null_count
        return [
            f"{number_of(len(self.table), 'record')} of {self.item}, {self.year}; {rents} of them "
            "with a rent",
            *(f"left out, {what}: {count}" for what, count in self.left_out.items()),
            *(f"kept as NULL, {what}: {count}" for what, count in self.as_null.items()),
        ]


def nass(
    path: str | Path,
    *,
    item: str | None = None,
    rent: str | Path | None = None,
    year: int | None = None,
    program: str | None = None,
    period: str | None = None,
    category: str | None = None,
    suppressed: Suppressed = "drop",
    combined: Combined = "drop",
) -> Loaded:
    """Return the county records of a Quick Stats file, with the columns of `cattle`.

    `item` is the Data Item to read as the inventory; it may be left out when the file has one.
    Rents are those of pastureland in the same year, from the same file or from the file `rent`;
    where there is none, rent is NULL. year, program (CENSUS or SURVEY) and period choose when the
    file has several; category is a Domain Category, in place of totals. Counties are named by
    their five ANSI digits; where Quick Stats gives none, as in Alaska, by state and name.
    """
    _check_one_of("suppressed", suppressed, ("drop", "null"))
    _check_one_of("combined", combined, ("drop", "keep"))
    name = f"the file {str(path)!r}"
    every = read_rows(path)
    rows = [row for row in every if row.level == _COUNTY]
    left_out = Counter({"rows that are not of a county": len(every) - len(rows)})
    if not rows:
        raise SourceError(
            f"{name} has {len(every)} rows, none of a county; choose the Geographic Level COUNTY "
            "in Quick Stats."
        )
    chosen = _of_item(name, rows, item)
    left_out["rows of other data items"] = len(rows) - len(chosen)
    kept = _of_category(name, chosen, category)
    left_out["rows of other domains"] = len(chosen) - len(kept)
    for role, wanted in (("year", year), ("program", program), ("period", period)):
        before = len(kept)
        kept = _chosen(name, kept, role, None if wanted is None else str(wanted))
        left_out[f"rows of another {role}"] = before - len(kept)
    if combined == "drop":
        left_out["rows of other (combined) counties"] = sum(row.is_combined for row in kept)
        kept = [row for row in kept if not row.is_combined]
    if not kept:
        raise SourceError(
            f"{name} has no county by itself, only other (combined) counties; keep them with "
            "combined='keep' (--keep-combined), or choose other rows in Quick Stats."
        )
    _check_places(name, kept)
    districts = sorted({(row.state_code, row.district) for row in rows if row.district})
    as_null: Counter[str] = Counter()
    records = []
    rents = _rents(rows, rent, kept[0].year)
    for row in sorted(kept, key=lambda row: (row.state_code, row.district, row.key)):
        value = number(name, row)
        if isinstance(value, str):
            (as_null if suppressed == "null" else left_out)[f"{value} values"] += 1
            if suppressed == "drop":
                continue
        records.append((row, _heads(name, row, value), rents.get(row.key)))
    return Loaded(
        _table(records),
        kept[0].item,
        int(kept[0].year),
        {what: count for what, count in left_out.items() if count},
        dict(as_null),
        pa.table(
            {
                "state": pa.array([state for state, _ in districts], pa.string()),
                "district": pa.array([district for _, district in districts], pa.string()),
            }
        ),
    )


def _of_item(name: str, rows: Sequence[QuickStatsRow], wanted: str | None) -> list[QuickStatsRow]:
    items = sorted({row.item for row in rows})
    if wanted is None:
        others = [each for each in items if each != PASTURE_RENT]
        if len(others) != 1:
            raise InputError(
                f"{name} holds {len(others)} data items beside rents; choose one with item= "
                f"(--item). They are: {_quoted(others)}."
            )
        wanted = others[0]
    plain = {each.casefold(): each for each in items}
    found = plain.get(wanted.strip().casefold())
    if found is None:
        raise InputError(
            f"{name} has no data item {wanted!r}. Its items are: "
            f"{_quoted(items)}.{suggestion(wanted, items)}"
        )
    return [row for row in rows if row.item == found]


def _of_category(
    name: str, rows: Sequence[QuickStatsRow], wanted: str | None
) -> list[QuickStatsRow]:
    field = "domain" if wanted is None else "category"
    value = _TOTAL if wanted is None else wanted
    found = [row for row in rows if getattr(row, field) == value]
    if found:
        return found
    known = sorted({row.category for row in rows if row.domain != _TOTAL})
    what = "no totals of this item" if wanted is None else f"no domain category {wanted!r}"
    raise InputError(
        f"{name} has {what}; choose one with category= (--category). Those of the item are: "
        f"{_quoted(known) or 'none, only totals'}.{suggestion(wanted or '', known)}"
    )


def _chosen(
    name: str, rows: Sequence[QuickStatsRow], role: str, wanted: str | None
) -> list[QuickStatsRow]:
    """Return the rows of one year, program or period."""
    known = sorted({str(getattr(row, role)) for row in rows})
    if wanted is None and len(known) == 1:
        return list(rows)
    example = known[-1] if role == "year" else repr(known[-1])
    if wanted is None:
        raise InputError(
            f"{name} holds several values of {role}: {listing(known, _MOST_SHOWN)}. Choose one, "
            f"such as {role}={example} (--{role})."
        )
    found = [row for row in rows if str(getattr(row, role)) == wanted.upper()]
    if not found:
        raise InputError(
            f"{name} has nothing of {role} {wanted!r}, but of {listing(known, _MOST_SHOWN)}. "
            f"Choose one, such as {role}={example} (--{role})."
        )
    return found


def _check_places(name: str, rows: Sequence[QuickStatsRow]) -> None:
    """Refuse counties without a place, and counties that stand there twice."""
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        if not (row.state_code and row.district and (row.county or row.county_code)):
            raise SourceError(
                f"{name}: line {row.line} lacks its State ANSI, Ag District Code or County; "
                "expected all three of a county."
            )
        if not row.year.isdecimal():
            raise SourceError(f"{name}: Year in line {row.line} is not a year such as 2022.")
        place = (row.key, row.district)
        if place in seen:
            raise SourceError(
                f"{name}: lines {seen[place]} and {row.line} are for the same county, data "
                "item, year, program and period; expected only one of them. Was the file "
                "assembled from overlapping downloads?"
            )
        seen[place] = row.line


def _heads(name: str, row: QuickStatsRow, value: Decimal | str) -> int | None:
    if isinstance(value, str):
        return None
    if value != value.to_integral_value():
        raise SourceError(
            f"{name}: Value in line {row.line} has a fraction; an inventory is a number of "
            "head. Choose a data item that is an inventory."
        )
    return int(value)


def _rents(rows: Sequence[QuickStatsRow], path: str | Path | None, year: str) -> dict[str, Decimal]:
    """Return the rent of pastureland by county and of a year, where it is published."""
    name = "the file" if path is None else f"the file {str(path)!r}"
    found = [
        row
        for row in (rows if path is None else read_rows(path))
        if (row.level, row.item, row.domain) == (_COUNTY, PASTURE_RENT, _TOTAL)
        and not row.is_combined
    ]
    of_year = [row for row in found if row.year == year]
    if path is not None and not of_year:
        years = listing(sorted({row.year for row in found}), _MOST_SHOWN) or "no year"
        raise InputError(
            f"{name} has county rows of {PASTURE_RENT!r} of {years}; expected {year}, the year of "
            "the inventory."
        )
    _check_places(name, of_year)
    rents = {}
    for row in of_year:
        value = number(name, row)
        if isinstance(value, Decimal):
            if value >= _MOST_RENT:
                raise SourceError(f"{name}: Value in line {row.line} is not a rent per acre.")
            rents[row.key] = round(value, 2)
    return rents


def _table(records: Sequence[tuple[QuickStatsRow, int | None, Decimal | None]]) -> pa.Table:
    rows = [row for row, _, _ in records]
    columns = {
        "id": list(range(len(rows))),
        "year": [int(row.year) for row in rows],
        "state": [row.state_code for row in rows],
        "district": [row.district for row in rows],
        "county": [row.key for row in rows],
        "inventory": [heads for _, heads, _ in records],
        "rent": [rent for _, _, rent in records],
    }
    arrays = [
        pa.array(columns[field.name], pa.string()).dictionary_encode().cast(field.type)
        if pa.types.is_dictionary(field.type)
        else pa.array(columns[field.name], field.type)
        for field in SCHEMA
    ]
    return pa.table(arrays, schema=SCHEMA)


def _check_one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f"{name} is {value!r}; expected {' or '.join(map(repr, known))}.")


def _quoted(names: Sequence[str]) -> str:
    return listing([repr(each) for each in names], _MOST_SHOWN)
