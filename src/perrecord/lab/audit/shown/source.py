"""A random spec's questions, read by docs/spec.md and by nothing of perrecord's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from perrecord.lab.audit.random_tables import VALUES
from perrecord.lab.audit.shown import students
from perrecord.lab.audit.shown.declared import exact, step_of
from perrecord.lab.audit.shown.document import Json, Row


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """One answer of one table: its cells, and the records in each."""

    table: str
    query: str
    columns: tuple[str, ...]
    name: str
    answer: Json
    currency: str
    cells: tuple[tuple[Row, tuple[Row, ...]], ...]
    """The key of each cell, and the records of the source that are in it."""

    @property
    def amounts(self) -> tuple[Fraction, ...]:
        """What the answer costs; an average's total and count share it."""
        return tuple(each[-1] for each in self.choices)

    @property
    def choices(self) -> tuple[tuple[Fraction, ...], ...]:
        """Each of its amounts: the different ones, of which every record pays one; default last."""
        parts = self.answer.get("parts")
        every = [self.answer] if parts is None else [*parts["cases"].values(), parts["default"]]
        paid = [self._paid(each[self.currency]) for each in every]
        return tuple(tuple(dict.fromkeys(reversed(each)))[::-1] for each in zip(*paid, strict=True))

    def _paid(self, given: Any) -> tuple[Fraction, ...]:
        if isinstance(given, list):
            return tuple(map(exact, given))
        return (exact(given) / 2,) * 2 if "average" in self.answer else (exact(given),)


_PASSES: Mapping[str | None, Any] = {
    None: lambda _: True,
    "sector = 'farm' OR code > 0": lambda record: (
        record["sector"] == "farm" or (record["code"] is not None and record["code"] > 0)
    ),
    "region IS NOT NULL": lambda record: record["region"] is not None,
    "emp IS NULL OR emp > 0": lambda record: record["emp"] is None or record["emp"] > 0,
    "NOT big": lambda record: record["big"] is False,
}


def passing(query: Json, records: Sequence[Row]) -> list[Row]:
    """Return the records that pass a query's filter."""
    return [record for record in records if _PASSES[query.get("where")](record)]


def groupings_of(query: Json) -> list[tuple[str, ...]]:
    """Return what a query groups by, the finest first."""
    if "rollup" in query:
        columns = tuple(query["rollup"])
        return [columns[:size] for size in range(len(columns), -1, -1)]
    return [tuple(query.get("group_by", ()))]


def table_of(query: Json, columns: Sequence[str]) -> str:
    """Return the name of the table of one grouping."""
    name = str(query["name"])
    if "rollup" not in query:
        return name
    return f"{name}_by_{'_'.join(columns)}" if columns else f"{name}_total"


def keys_of(spec: Json, columns: Sequence[str]) -> list[Row]:
    """Return the declared keys of a grouping, whose sets are files or lists of values."""
    values = []
    for name in columns:
        declared = spec["keys"].get(f"each_{name}") or spec["keys"]["cells"]
        values.append(declared["values"][name] if "values" in declared else VALUES[name])
    return [dict(zip(columns, key, strict=True)) for key in product(*values)]


def is_declared(query: Json) -> bool:
    """Tell whether every declared key is published, whatever the data."""
    keys = query.get("keys", "cells")
    return isinstance(keys, str) and keys != "found"


def _key(record: Row, columns: Sequence[str]) -> tuple[tuple[type, Any], ...]:
    return tuple((type(record[name]), record[name]) for name in columns)


def asked(spec: Json, records: Sequence[Row]) -> Iterator[TableAnswer]:
    """Yield the answers of a spec, table by table; the occupied cells where noise finds keys."""
    for query in spec["queries"]:
        inside = passing(query, records)
        for columns in groupings_of(query):
            found: dict[Any, list[Row]] = {}
            for record in inside:
                found.setdefault(_key(record, columns), []).append(record)
            keys = keys_of(spec, columns) if query.get("keys") != "found" else None
            if keys is None:
                keys = [{name: own[0][name] for name in columns} for own in found.values()]
            every = [(key, tuple(found.get(_key(key, columns), ()))) for key in keys]
            if not is_declared(query):
                every = [(key, own) for key, own in every if own]
            for name, answer in query["answers"].items():
                currency = "epsilon" if "epsilon" in str(answer) else "rho"
                yield TableAnswer(
                    table_of(query, columns),
                    query["name"],
                    columns,
                    name,
                    answer,
                    currency,
                    tuple(every),
                )


def outside(spec: Json, query: Json, columns: Sequence[str], records: Sequence[Row]) -> list[Row]:
    """Return the records that pass the filter and have no declared key."""
    declared = {_key(key, columns) for key in keys_of(spec, columns)}
    return [each for each in passing(query, records) if _key(each, columns) not in declared]


# -- noise and exact numbers ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CellNumber:
    """A noisy number of a cell, in units: its true value, what clamping adds, its noise."""

    true: Fraction
    bias: Fraction
    law: str
    spread: Fraction
    """sigma^2 of Gaussian noise, the scale of Laplace noise, A of Student noise."""
    step: Fraction
    blur: "WidenedBy | None" = None


@dataclass(frozen=True, slots=True)
class WidenedBy:
    """Noise that grows with the records of its cell: A0 of a cell without any, and by what share.

    Errors are told of a cell's own A, to which its records add nu by^2 times the sum of their
    squared values, rounded up to two digits, in steps.
    """

    least: Fraction
    by: Fraction


def measure_of(answer: Json) -> str | None:
    """Return the measure that an answer is about."""
    for kind in ("sum", "average", "median", "quantile"):
        if kind in answer:
            return str(answer[kind])
    return None if answer.get("count") in (None, "records") else str(answer["count"])


def noisy(spec: Json, one: TableAnswer, key: Row, records: Sequence[Row]) -> tuple[CellNumber, ...]:
    """Return the noisy numbers of a cell: of a count or total one, of an average two."""
    answer, measure = one.answer, measure_of(one.answer)
    if "count_distinct" in answer:
        values = {record["firm"] for record in records} - {None}
        return (_count(len(values), one.amounts[0], one.currency),)
    if "count" in answer:
        held = [each for each in records if measure is None or each[measure] is not None]
        return (_count(len(held), one.amounts[0], one.currency),)
    filled = [each for each in records if each[measure or ""] is not None]
    total = _total(spec, one, key, filled)
    if "average" not in answer:
        return (total,)
    return total, _count(len(filled), one.amounts[1], one.currency)


def _count(exactly: int, amount: Fraction, currency: str) -> CellNumber:
    return CellNumber(
        Fraction(exactly), Fraction(0), *_law(Fraction(1), amount, currency), Fraction(1)
    )


def _law(
    size: Fraction, amount: Fraction, currency: str, nu: int | None = None
) -> tuple[str, Fraction]:
    """Return the noise for what a record changes by at most (T10, T12, T16), or of a taper."""
    if nu is not None:
        return f"student{nu}", students.spread_for(amount, currency, size, nu)
    if currency == "rho":
        return "gaussian", size**2 / (2 * amount)
    return "laplace", size / amount


@dataclass(frozen=True, slots=True)
class Way:
    """How one record's value enters a total: cut to bounds or not, with noise of a size."""

    size: Fraction
    amount: Fraction
    bounds: tuple[Fraction, Fraction] | None = None
    nu: int | None = None
    """Of a taper, at which a record of this size loses the amount."""
    by: Fraction | None = None
    """The share of each record by which a taper is blurred."""


def ways(spec: Json, one: TableAnswer) -> tuple[list[tuple[Any, Way]], Way]:
    """Return the ways of a total by sector, and that of all other sectors."""
    answer, measure = one.answer, measure_of(one.answer) or ""
    parts = answer.get("parts")
    if parts is None:
        return _method(spec, answer, measure, one.amounts[0])
    cases = [
        (sector, _method(spec, part, measure, exact(part[one.currency]))[1])
        for sector, part in parts["cases"].items()
    ]
    default = parts["default"]
    return cases, _method(spec, default, measure, exact(default[one.currency]))[1]


def _method(
    spec: Json, part: Json, measure: str, amount: Fraction
) -> tuple[list[tuple[Any, Way]], Way]:
    if "clamp" in part:
        low, high = map(exact, part["clamp"])
        size = (high - low) / 2 if "average" in part else max(abs(low), abs(high))
        return [], Way(size, amount, (low, high))
    if "taper" in part:
        sizes, nu = taper_of(spec, part, measure)
        return [], Way(sizes[measure], amount, nu=nu, by=blurred_by(part))
    scheme = spec["splits"][part["split"]]
    if "by" not in scheme:
        return [], _split(scheme, measure, amount, part)
    cases = [(name, _split(each, measure, amount, part)) for name, each in scheme["cases"].items()]
    return cases, _split(scheme["default"], measure, amount, part)


def taper_of(spec: Json, part: Json, measure: str) -> tuple[dict[str, Fraction], int]:
    """Return the sizes and the nu of a taper, which may be named."""
    given = part["taper"]
    if not isinstance(given, str):
        return {measure: exact(given)}, 7
    named = spec["tapers"][given]
    sizes = named.get("sizes", named)
    return {name: exact(size) for name, size in sizes.items()}, named.get("nu", 7)


def blurred_by(part: Json) -> Fraction | None:
    """Return by what share of each record a total is blurred, if it is."""
    given = part.get("blur")
    if given is None:
        return None
    return exact(given["by"] if isinstance(given, dict) else given)


def _split(scheme: Json, measure: str, amount: Fraction, part: Json) -> Way:
    threshold = exact(scheme[measure])
    bounds = (-threshold, threshold) if part.get("top-coded") else None
    return Way(threshold, amount, bounds)


def way_of(spec: Json, one: TableAnswer, sector: Any) -> Way:
    """Return how a record of a sector enters a total."""
    cases, default = ways(spec, one)
    return next((way for name, way in cases if name == sector), default)


def _total(spec: Json, one: TableAnswer, key: Row, filled: Sequence[Row]) -> CellNumber:
    measure = measure_of(one.answer) or ""
    cases, default = ways(spec, one)
    if default.by is not None and default.nu is not None:
        values, step = [each[measure] for each in filled], step_of(spec, measure)
        return _blurred(one, default, default.by, default.nu, values, step)
    every = [default, *(way for _, way in cases)]
    if "sector" in key:
        every = [way_of(spec, one, key["sector"])]
    laws = [_law(way.size, way.amount, one.currency, way.nu) for way in every]
    law, spread = max(laws, key=lambda each: each[1])
    true = sum((each[measure] for each in filled), Fraction(0))
    entered = sum((_cut(way_of(spec, one, each["sector"]), each[measure]) for each in filled), 0)
    is_centred = "average" in one.answer and not cases and default.bounds is not None
    step = step_of(spec, measure) / (2 if is_centred else 1)
    return CellNumber(true, Fraction(entered) - true, law, spread, step)


def _blurred(
    one: TableAnswer, way: Way, by: Fraction, nu: int, values: Sequence[Fraction], step: Fraction
) -> CellNumber:
    least = students.blurred_spread_for(way.amount, one.currency, way.size, nu, by)
    squares = sum(((value / step) ** 2 for value in values), Fraction(0))
    grown = _two_digits(nu * by**2 * squares) * step**2
    true = sum(values, Fraction(0))
    return CellNumber(true, Fraction(0), f"student{nu}", least + grown, step, WidenedBy(least, by))


def _two_digits(number: Fraction) -> Fraction:
    """Return a number rounded up to two digits."""
    above, below = Decimal(number.numerator), Decimal(number.denominator)
    return Fraction(Context(prec=2, rounding=ROUND_CEILING).divide(above, below))


def _cut(way: Way, value: Fraction) -> Fraction:
    return value if way.bounds is None else sorted([way.bounds[0], value, way.bounds[1]])[1]
