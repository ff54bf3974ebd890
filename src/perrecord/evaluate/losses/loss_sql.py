"""The loss of a record under a policy, and the group bound of a unit, as SQL in DOUBLE.

No guarantee rests on it, so floats may do: each term passes a handful of roundings, and what comes
out agrees with the exact loss to one part in 10^9. Pieces are counted on integers all the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import log

import pyarrow as pa

from perrecord.evaluate.workspace import DOUBLE
from perrecord.exact import float_up
from perrecord.policy.cases import Cases
from perrecord.policy.split import Split
from perrecord.policy.terms import (
    Constant,
    ExactLoss,
    Form,
    Largest,
    Piecewise,
    SizeLoss,
    SplitLoss,
    Term,
)
from perrecord.queries.values import JoinedTables, pieces_value
from perrecord.tables.dialects import Dialect
from perrecord.tables.measures import LARGEST
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table

NumberWriter = Callable[[int | Fraction], str]
"""Writes a number of a policy: as a literal, or as a column of a joined table."""

NOTHING = f"CAST(0 AS {DOUBLE})"


_LEAST, _MOST = log(1e-9), log(40.0)
_STEPS = 16
_PASSES = 8
_MOST_EXPONENT = 600
"""Beyond it a term is far too large to be the least, and must not overflow."""


def double(value: str) -> str:
    """Return a number as DOUBLE."""
    return f"CAST({value} AS {DOUBLE})"


def powered(value: str, power: int) -> str:
    """Return |value|^power of a DOUBLE; 0 where it is NULL."""
    # Engines compute a product several times as fast as `power`, and what occurs twice once.
    size = f"({value}) * ({value})" if power == 2 else f"abs({value})"
    return f"coalesce({size}, {NOTHING})"


@dataclass(slots=True)
class LossWriter:
    """Writes losses of the relation `records`, gathering the public tables that they join.

    A policy with a case for each of five thousand industries joins a table of their numbers:
    cases that differ in nothing but numbers share one expression.
    """

    schema: Schema
    power: int
    parts: JoinedTables
    _seen: dict[Cases[Form], str] = field(default_factory=dict)
    _named: list[dict[str, str]] = field(default_factory=list)

    @property
    def dialect(self) -> Dialect:
        """How the engine spells SQL."""
        return self.parts.dialect

    def form(self, form: Form, number: NumberWriter | None = None) -> str:
        """Return the loss as a DOUBLE that is never NULL."""
        terms = [self._term(term, number or self._literal) for term in form.terms]
        return f"({' + '.join(terms)})" if terms else NOTHING

    def _term(self, term: Term, number: NumberWriter) -> str:
        match term:
            case Constant(amount):
                return number(amount)
            case ExactLoss(amount, name, threshold):
                step = self.schema.measure(name).resolution
                weight = number(amount * (step / threshold) ** self.power)
                return f"{weight} * {powered(double(self._column(name)), self.power)}"
            case SizeLoss(amount, name, growth):
                loss = growth.sql(self.size(name))
                if number == self._literal:  # in a case, few records may need it
                    loss = self.named(loss, 1)
                return f"{number(amount)} * coalesce({loss}, {NOTHING})"
            case SplitLoss(amount, Split() as split):
                pieces = self._pieces(split, number)
                return f"{number(amount)} * {powered(double(pieces), self.power)}"
            case SplitLoss(amount, split):
                resolutions = {name: each.resolution for name, each in self.schema.measures}
                pieces = pieces_value(split, resolutions, self.parts)
                return f"{number(amount)} * {powered(double(pieces), self.power)}"
            case Largest(options):
                every = [self.form(option, number) for option in options]
                return f"greatest({', '.join([NOTHING, *every])})"
            case Piecewise(cases):
                if cases not in self._seen:
                    self._seen[cases] = self._piecewise(cases)
                return self._seen[cases]

    def size(self, measure: str) -> str:
        """Return |value| of a record's measure in its own units, a DOUBLE; NULL stays NULL."""
        resolution = self._literal(self.schema.measure(measure).resolution)
        return self.named(f"({resolution} * abs({double(self._column(measure))}))", 0)

    def named(self, value: str, level: int) -> str:
        """Return the column of `records` for a value of it and of columns named at levels below.

        Engines take long to plan what is written out wherever it occurs.
        """
        while len(self._named) <= level:
            self._named.append({})
        known = self._named[level]
        return f"records.{known.setdefault(value, f'_perrecord_named{level}_{len(known)}')}"

    def records(self, table: Table) -> str:
        """Return the records with the tables joined; engines read no column that is not used."""
        return self.joined(table.select(dict.fromkeys([*table.schema.fields, *_roles(table)])))

    def joined(self, records: str) -> str:
        """Return records, given as a SELECT, with what was named and the tables joined."""
        for known in self._named:
            columns = "".join(f", {value} AS {name}" for value, name in known.items())
            records = f"SELECT records.*{columns} FROM ({records}) AS records"
        return f"({records}) AS records{''.join(self.parts.joins)}"

    def _pieces(self, split: Split, number: NumberWriter) -> str:
        """Return m(r), its thresholds written by `number` (T3)."""
        every = [self.dialect.literal(1)]
        for name, threshold in split.thresholds:
            steps = min(int(threshold / self.schema.measure(name).resolution), LARGEST)
            full, rest = self.dialect.divided(f"abs({self._column(name)})", number(steps))
            every.append(f"coalesce({full} + CASE WHEN {rest} > 0 THEN 1 ELSE 0 END, 0)")
        most = f"greatest({', '.join(every)})"
        return most if split.cap is None else f"least({most}, {number(min(split.cap, LARGEST))})"

    def _piecewise(self, cases: Cases[Form]) -> str:
        alias = f"{self.parts.prefix}_case{len(self._seen)}"
        self._seen[cases] = alias  # takes the number, so that nested cases take others
        # By identity: equal forms that are two objects are merely written twice.
        written: dict[int, tuple[str, _Columns]] = {}
        shapes: dict[str, int] = {}
        rows = []
        for _, form in cases.entries:
            if id(form) not in written:
                columns = _Columns(alias)
                written[id(form)] = self.form(form, columns.number), columns
            text, columns = written[id(form)]
            rows.append((shapes.setdefault(text, len(shapes)), columns))
        self._join(cases, alias, rows)
        default = NOTHING if cases.default is None else self.form(cases.default)
        inside = "".join(
            f" WHEN {alias}.shape = {index} THEN {text}" for text, index in shapes.items()
        )
        return f"(CASE WHEN {alias}.shape IS NULL THEN {default}{inside} END)"

    def _join(self, cases: Cases[Form], alias: str, rows: list[tuple[int, "_Columns"]]) -> None:
        kinds = [self.schema.grouping_kind(name).types.arrow for name in cases.dimensions]
        table = {
            f"k{index}": pa.array([key[index] for key, _ in cases.entries], kind)
            for index, kind in enumerate(kinds)
        }
        table["shape"] = pa.array([shape for shape, _ in rows], pa.int64())
        for place in range(max((len(each.doubles) for _, each in rows), default=0)):
            table[f"d{place}"] = pa.array([_at(each.doubles, place) for _, each in rows])
        for place in range(max((len(each.integers) for _, each in rows), default=0)):
            table[f"i{place}"] = pa.array([_at(each.integers, place) for _, each in rows])
        self.parts.tables[alias] = pa.table(table)
        conditions = " AND ".join(
            self.dialect.is_same(self._column(name), f"{alias}.k{index}")
            for index, name in enumerate(cases.dimensions)
        )
        self.parts.joins.append(f" LEFT JOIN {alias} ON {conditions}")

    def _literal(self, value: int | Fraction) -> str:
        if isinstance(value, int):
            return self.dialect.literal(value)
        return f"CAST('{float_up(value)!r}' AS {DOUBLE})"

    def _column(self, name: str) -> str:
        return f"records.{self.dialect.identifier(name)}"


@dataclass(frozen=True, slots=True)
class _Columns:
    """The numbers of one case, and the columns that they stand in."""

    alias: str
    doubles: list[float] = field(default_factory=list)
    integers: list[int] = field(default_factory=list)

    def number(self, value: int | Fraction) -> str:
        if isinstance(value, int):
            self.integers.append(value)
            return f"{self.alias}.i{len(self.integers) - 1}"
        self.doubles.append(float_up(value))
        return f"{self.alias}.d{len(self.doubles) - 1}"


def _at(numbers: "list[float] | list[int]", place: int) -> float | int | None:
    return numbers[place] if place < len(numbers) else None


def advanced_sql(members: str, unit: str, loss: str) -> str:
    """Return the SELECT of each unit's bound, given the positive losses of its records (T7).

    inf over k > 1 of sum_j k^j/(k-1) P_(j), P descending. The bound is convex in s = ln k, so it
    falls and then rises in u = ln s. Each pass looks at fifteen points between the ends of u and
    moves the ends to the neighbours of the best: after eight passes u is known to two parts in a
    million, the bound, which is flat there, to one in 10^9.
    """
    passes = [
        f"members AS MATERIALIZED (SELECT {unit} AS unit, "
        f"{loss} / max({loss}) OVER (PARTITION BY {unit}) AS ratio, "
        f"row_number() OVER (PARTITION BY {unit} ORDER BY {loss} DESC) AS place FROM {members})",
        f"tops AS MATERIALIZED (SELECT {unit} AS unit, max({loss}) AS top FROM {members} "
        "GROUP BY 1)",
        f"pass0 AS (SELECT unit, CAST({_LEAST!r} AS {DOUBLE}) AS low, "
        f"CAST({(_MOST - _LEAST) / _STEPS!r} AS {DOUBLE}) AS step FROM tops)",
    ]
    for number in range(1, _PASSES + 1):
        passes.append(f"pass{number} AS MATERIALIZED ({_narrowed(f'pass{number - 1}')})")
    return (
        f"WITH {', '.join(passes)} SELECT found.unit, found.bound * tops.top AS bound "
        f"FROM pass{_PASSES} AS found JOIN tops ON found.unit = tops.unit"
    )


def _narrowed(before: str) -> str:
    """Return the ends around the best of the points between the ends before, and its bound."""
    places = range(1, _STEPS)
    points = [f"exp(ends.low + {place} * ends.step) AS s{place}" for place in places]
    # exp(s) - 1 without cancellation
    below = [f"2 * exp(s{place} / 2) * sinh(s{place} / 2) AS b{place}" for place in places]
    sums = [
        f"sum(members.ratio * exp(least(members.place * tried.s{place}, {_MOST_EXPONENT}))) "
        f"/ any_value(tried.b{place})"
        for place in places
    ]
    bounds = (
        "SELECT members.unit AS unit, any_value(tried.low) AS low, any_value(tried.step) AS step, "
        f"[{', '.join(sums)}] AS bounds FROM (SELECT points.*, {', '.join(below)} "
        f"FROM (SELECT ends.*, {', '.join(points)} FROM {before} AS ends) AS points) AS tried "
        "JOIN members ON members.unit = tried.unit GROUP BY members.unit"
    )
    best = "list_position(bounds, list_min(bounds))"
    return (
        f"SELECT unit, low + ({best} - 1) * step AS low, step * 2 / {_STEPS} AS step, "
        f"list_min(bounds) AS bound FROM ({bounds}) AS bounds"
    )


def _roles(table: Table) -> list[str]:
    return [name for name in (table.schema.id, table.schema.unit) if name is not None]
