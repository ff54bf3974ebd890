"""Files of USDA NASS Quick Stats, row by row: what their columns are called and what codes mean.

Quick Stats writes at most 50,000 rows to a file. The columns of its download page and those of its
API are both known.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from perrecord.errors import SourceError, listing
from perrecord.lab.synth.reading import opened

COLUMNS = {
    "program": ("Program", "source_desc"),
    "year": ("Year", "year"),
    "period": ("Period", "reference_period_desc"),
    "level": ("Geo Level", "agg_level_desc"),
    "state_code": ("State ANSI", "state_ansi"),
    "district": ("Ag District Code", "asd_code"),
    "county": ("County", "county_name"),
    "county_code": ("County ANSI", "county_ansi"),
    "item": ("Data Item", "short_desc"),
    "domain": ("Domain", "domain_desc"),
    "category": ("Domain Category", "domaincat_desc"),
    "value": ("Value", "Value"),
}
"""What we call a column -> what the download page and what the API calls it."""

UNKNOWN = {
    "(D)": "withheld to avoid disclosing a farm",
    "(NA)": "not available",
    "(S)": "too few reports",
    "(X)": "not applicable",
}
"""Codes in place of a value that is not published."""

ZERO = "(Z)"
"""Less than half of the unit: taken for 0."""

_NUMBER = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|[0-9]{1,15}(\.[0-9]+)?", re.ASCII)
_CODE = re.compile(r"\([A-Z]{1,3}\)")
_COMBINED = "998"


@dataclass(frozen=True, slots=True)
class QuickStatsRow:
    """One row of a file, as text, and the line where it ends."""

    line: int
    program: str
    year: str
    period: str
    level: str
    state_code: str
    district: str
    county: str
    county_code: str
    item: str
    domain: str
    category: str
    value: str

    @property
    def is_combined(self) -> bool:
        """Return whether it is the rest of a district or state, such as OTHER COUNTIES."""
        name = self.county.casefold()
        return self.county_code == _COMBINED or (
            name.startswith("other") and name.endswith("counties")
        )

    @property
    def key(self) -> str:
        """Return the county's five digits; the boroughs of Alaska have a name in their place."""
        code = _COMBINED if self.is_combined else self.county_code
        return f"{self.state_code}{code}" if code else f"{self.state_code} {self.county}"


def read_rows(path: str | Path) -> list[QuickStatsRow]:
    """Return the rows of a Quick Stats file, plain or gzip."""
    name = f"the file {str(path)!r}"
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        try:
            return list(_rows(name, text))
        except csv.Error as error:
            raise SourceError(
                f"{name} is not a CSV file; expected a Quick Stats download."
            ) from error
        finally:
            text.detach()


def _rows(name: str, text: io.TextIOWrapper) -> Iterator[QuickStatsRow]:
    reader = csv.reader(text, strict=True)
    heads = [head.strip() for head in next(reader, [])]
    places = _places(name, heads)
    for fields in reader:
        if not any(field.strip() for field in fields):
            continue
        if len(fields) != len(heads):
            raise SourceError(
                f"{name}: line {reader.line_num} has {len(fields)} fields; expected "
                f"{len(heads)}, as in its header. Was it cut off, or changed by a spreadsheet?"
            )
        found = {role: fields[place].strip() for role, place in places.items()}
        for role, digits in (("state_code", 2), ("district", 2), ("county_code", 3)):
            # Spreadsheets take zeros off the front.
            found[role] = found[role].zfill(digits) if found[role] else ""
        yield QuickStatsRow(reader.line_num, **found)


def _places(name: str, heads: list[str]) -> dict[str, int]:
    """Return where each of our columns stands in the file."""
    if not heads:
        raise SourceError(f"{name} is empty; expected a Quick Stats download.")
    best: list[str] = []
    for names in zip(*COLUMNS.values(), strict=True):
        missing = [each for each in names if each not in heads]
        if not missing:
            return dict(zip(COLUMNS, (heads.index(each) for each in names), strict=True))
        best = missing if not best or len(missing) < len(best) else best
    raise SourceError(
        f"{name} has no {listing(best, limit=20)} among its columns {listing(heads, limit=30)}; "
        "expected a CSV file as https://quickstats.nass.usda.gov gives it (Spreadsheet)."
    )


def number(name: str, row: QuickStatsRow) -> Decimal | str:
    """Return the value of a row, or the code that stands for one that is not published."""
    written = row.value
    if written == ZERO:
        return Decimal(0)
    if written in UNKNOWN:
        return written
    if _NUMBER.fullmatch(written):
        return Decimal(written.replace(",", ""))
    shown = written if _CODE.fullmatch(written) else "something else"
    raise SourceError(
        f"{name}: Value in line {row.line} is {shown}; expected a number such as 1,250, or one of "
        f"{listing([ZERO, *UNKNOWN])}."
    )
