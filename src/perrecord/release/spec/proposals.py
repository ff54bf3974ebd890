"""What `init` proposes for the columns of a source: by their names and types, reading no row."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from perrecord.tables.kinds import kind_of_column

_MOST = 8
"""Proposals of one kind: more than a reader would check are worse than none."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_IDS = _words("id ident identifier uuid guid ein ssn key recno rowid serial")
_CATEGORIES = _words(
    """
    area band borough canton category cbsa cd city class code commodity country county crop
    department district division ethnicity fips flag form fuel gender geo group industry isic
    kind legal level month msa municipality nace naics nation occupation owner ownership
    prefecture product province quarter race region sector segment sex sic soc species state
    stratum status territory town tract type year zip zipcode
    """
)
_AMOUNTS = _words(
    """
    acre amount amt asset balance bed benefit bushel capital cattle charge consumption cost
    count credit debt deposit earning emission employee employment emp energy expenditure
    expense export gallon grant head hectare hog hour household import income investment
    inventory kwh liability litre loan mass mwh output pay payann payment payroll payqtr pieces
    population premium price production profit qty quantity rcptot receipt rent revenue salary
    sale sheep shipment staff student subsidy sum tax ton tonne total turnover value visit
    volume wage worker yield
    """
)
_NEITHER = _words("date description lat latitude lon longitude name note percent period rate share")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True, slots=True)
class Proposal:
    """Which column may name a record, which may be grouped by or summed, and which are left."""

    identifier: str | None
    dimensions: tuple[str, ...]
    measures: tuple[tuple[str, str], ...]
    """Each with a resolution."""
    left_out: tuple[tuple[str, str], ...]
    """Each with its type."""


def proposed(columns: Mapping[str, pa.DataType], *, is_text: bool) -> Proposal:
    """Return what the columns may be; `is_text` where the format has no types, as CSV.

    >>> types = {"estab_id": pa.int64(), "NAICS2017": pa.string(), "annual_payroll": pa.int64()}
    >>> found = proposed({**types, "lat": pa.float64()}, is_text=False)
    >>> found.identifier, found.dimensions, found.measures, found.left_out
    ('estab_id', ('NAICS2017',), (('annual_payroll', '1'),), (('lat', 'double'),))
    """
    identifier = next((name for name in columns if _meant(name) is _IDS), None)
    dimensions: list[str] = []
    measures: list[tuple[str, str]] = []
    left_out: list[tuple[str, str]] = []
    for name, kind in columns.items():
        meant, resolution = _meant(name), "1" if is_text else _resolution(kind)
        is_category = meant is _CATEGORIES or pa.types.is_boolean(kind)
        if name == identifier:
            continue
        if is_category and kind_of_column(kind) is not None and len(dimensions) < _MOST:
            dimensions.append(name)
        elif meant is _AMOUNTS and resolution is not None and len(measures) < _MOST:
            measures.append((name, resolution))
        else:
            left_out.append((name, "no type of ours" if pa.types.is_null(kind) else str(kind)))
    return Proposal(identifier, tuple(dimensions), tuple(measures), tuple(left_out))


def _meant(name: str) -> frozenset[str] | None:
    """Return what the last word of a name that says something says: emp_size_class is a class."""
    for word in reversed([each.lower() for each in _WORD.findall(name)]):
        for words in (_NEITHER, _IDS, _CATEGORIES, _AMOUNTS):
            if word in words or word.removesuffix("s") in words:
                return words
    return None


def _resolution(kind: pa.DataType) -> str | None:
    if pa.types.is_integer(kind):
        return "1"
    if pa.types.is_decimal(kind):
        return "1" if kind.scale <= 0 else f"0.{'0' * (min(kind.scale, 12) - 1)}1"
    return "0.01" if pa.types.is_floating(kind) else None
