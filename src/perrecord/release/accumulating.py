"""Levels by accumulation: a base release and releases of changes, added up period by period (T35).

From the published folders alone, at no charge. The level of a period is the base plus all changes
up to it; its noise is the sum of theirs, which is independent, since each was drawn under a charge
of its own. The growth rate of a period is its change over the level before, two numbers that share
no noise. Where a folder lacks a key, that cell has no level from there on: what is not published is
not 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError, listing, number_of
from perrecord.release.folders import (
    NumberField,
    PublishedTable,
    ReleaseFolder,
    check_confidence,
    errors_of,
    floats_of,
)
from perrecord.released.derived import Derived, Uncertain, columns_of, evaluated
from perrecord.released.formulas import ONE, Formula, Linear
from perrecord.released.numbers import as_floats
from perrecord.tables.linking import LARGEST_LINKED

PERIOD = "period"
"""The column that says which period a row is of."""

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class LevelTable:
    """A table of levels: a row for each key and period, in order."""

    name: str
    keys: tuple[str, ...]
    answers: tuple[str, ...]
    rows: pa.Table

    def summary(self, answer: str, period: str) -> dict[str, float]:
        """Return of how many cells a level is known, and the median of the standard errors."""
        rows = self.rows.filter(pc.equal(self.rows[PERIOD], period))
        levels, changes = (floats_of(rows, f"{each}_se") for each in (answer, f"{answer}_change"))
        return {
            "cells": int(np.isfinite(levels).sum()),
            "level_se": _median(levels),
            "change_se": _median(changes),
            "rose": int((floats_of(rows, f"{answer}_change_low") > 0).sum()),
            "fell": int((floats_of(rows, f"{answer}_change_high") < 0).sum()),
        }


@dataclass(frozen=True, slots=True)
class AccumulatedSeries:
    """Levels of all periods, and what could not be added up, with the reason."""

    periods: tuple[str, ...]
    titles: tuple[str, ...]
    """Of the base, and of each release of changes."""
    tables: tuple[LevelTable, ...]
    left_out: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    """What was added up although it may differ in meaning, and keys that some folder lacks."""


def accumulate(
    base: str | Path,
    changes: Sequence[str | Path],
    *,
    periods: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> AccumulatedSeries:
    """Return the levels that a base and changes add up to, with their errors and growth rates.

    `periods` names the base's period and that of each release of changes, in order; without it
    they are named like their folders.
    """
    check_confidence(confidence)
    folders = [ReleaseFolder.read(Path(each)) for each in (base, *changes)]
    names = _names(folders, periods)
    tables, left_out, warnings = [], list[tuple[str, str]](), list(_gaps_between(folders, names))
    for name in dict.fromkeys(name for folder in folders for name in folder.tables):
        lacking = [
            period for period, each in zip(names, folders, strict=True) if name not in each.tables
        ]
        if lacking:
            left_out.append((name, f"{listing(lacking)} has no such table"))
            continue
        series = [folder.table(name) for folder in folders]
        if (fault := _other_keys(series, names)) is not None:
            left_out.append((name, fault))
            continue
        answers = {each: _fault(each, series, names) for each in _answers(series)}
        left_out += [(f"{name}.{each}", why) for each, why in answers.items() if why is not None]
        kept = tuple(each for each, why in answers.items() if why is None)
        if kept:
            warnings += _other_records(series, names)
            warnings += _other_rules(folders, series, kept, names)
            tables.append(_added_up(series, kept, names, confidence))
            warnings += _gaps(series, names)
    titles = tuple(folder.title for folder in folders)
    return AccumulatedSeries(tuple(names), titles, tuple(tables), tuple(left_out), tuple(warnings))


def _names(folders: Sequence[ReleaseFolder], periods: Sequence[str] | None) -> list[str]:
    """Return the name of each period; refuse one release that is given twice."""
    if len(folders) == 1:
        raise InputError(
            "there is a base and no release of changes; give the folders of changes after it, in "
            "the order of their periods."
        )
    charges = [folder.charge for folder in folders]
    for place, folder in enumerate(folders):
        if folder.charge in charges[:place]:
            raise InputError(
                f"{str(folder.path)!r} holds numbers of the same charge as a folder before it; "
                "each release is added up once. Give each period's folder once, in order."
            )
    names = [folder.path.resolve().name for folder in folders] if periods is None else [*periods]
    if len(names) != len(folders) or len(set(names)) < len(names) or "" in names:
        raise InputError(
            f"the periods are {listing(names) or 'none'}; expected {len(folders)} different names, "
            "one for the base and one for each release of changes, such as 2026,2027,2028."
        )
    return names


def _gaps_between(folders: Sequence[ReleaseFolder], names: Sequence[str]) -> Iterator[str]:
    """Yield which periods of their ledger lie between two folders; refuse another order than its.

    Of a ledger without periods, or of several, folders do not know how they follow each other.
    """
    said = [folder.period for folder in folders]
    ledgers = {each[1] for each in said if each is not None}
    if None in said or len(ledgers) > 1:
        return
    (every,), own = ledgers, [each[0] for each in said if each is not None]
    places = [every.index(each) for each in own]
    for place, (folder, name) in enumerate(zip(folders, names, strict=True)):
        if (name in every and name != own[place]) or (place and places[place - 1] >= places[place]):
            raise InputError(
                f"{str(folder.path)!r} is about period {own[place]}, and stands here for {name}, "
                f"after {listing(own[:place]) or 'none'}. Give each period's folder once, in the "
                f"order of their ledger: {listing(every, limit=12)}."
            )
        between = every[places[place - 1] + 1 : places[place]] if place else ()
        if between:
            yield (
                f"{folder.path.name}: it is about {own[place]}, after {own[place - 1]}; if its "
                f"changes are since {between[-1]}, levels lack those of {listing(between, limit=3)}"
            )


def _answers(series: Sequence[PublishedTable]) -> list[str]:
    return [*dict.fromkeys(name for table in series for name in table.about.answers)]


def _other_keys(series: Sequence[PublishedTable], names: Sequence[str]) -> str | None:
    """Return why tables cannot be added up key by key; None if they can be."""
    first = series[0]
    for period, table in zip(names, series, strict=True):
        kinds = [
            [str(each.rows.schema.field(key).type) for key in each.keys] for each in (first, table)
        ]
        if (first.keys, kinds[0]) != (table.keys, kinds[1]):
            shown = [
                ", ".join(f"{key} ({kind})" for key, kind in zip(each.keys, own, strict=True))
                for each, own in zip((first, table), kinds, strict=True)
            ]
            said = [each or "none" for each in shown]
            return f"its keys are {said[0]} in {names[0]}, {said[1]} in {period}"
    return None


def _fault(answer: str, series: Sequence[PublishedTable], names: Sequence[str]) -> str | None:
    """Return why an answer cannot be added up; None if it can be."""
    for period, table in zip(names, series, strict=True):
        if answer not in table.about.answers:
            return f"{period} has no such answer"
        if f"{answer}_se" not in table.rows.column_names:
            return f"it has no standard error in {period}"
    base, *changes = (table.about.answers[answer] for table in series)
    if base.change_of is not None:
        return f"it is a change in {names[0]}; the first folder is that of levels, the base"
    for period, change in zip(names[1:], changes, strict=True):
        if change.change_of is None:
            return f"in {period} it is not a change that adds up to a level"
        if not _is_level_of(base, change.change_of):
            return (
                f"it is {base.definition or 'not defined'} in {names[0]}, and the change of "
                f"{change.change_of} in {period}"
            )
        if base.unit != change.unit:
            said = [each or "not given" for each in (base.unit, change.unit)]
            return f"its unit is {said[0]} in {names[0]}, {said[1]} in {period}"
    return None


def _is_level_of(base: NumberField, level: str) -> bool:
    """Tell whether a base is a level by its definition: a measure may be a column by another name.

    The definition of `{"emp": Measure(column="employees")}` is "total of emp = employees".
    """
    kind, _, column = level.partition(" of ")
    definition = base.definition or ""
    is_renamed = definition.startswith(f"{kind} of ") and definition.endswith(f" = {column}")
    return definition == level or bool(column and is_renamed)


def _other_records(series: Sequence[PublishedTable], names: Sequence[str]) -> Iterator[str]:
    """Yield in what tables of the same keys differ as a whole."""
    first = series[0]
    for period, table in zip(names[1:], series[1:], strict=True):
        filters = [each.about.filter or "all records" for each in (first, table)]
        if filters[0] != filters[1]:
            yield f"{table.name}: it is of {filters[0]} in {names[0]}, {filters[1]} in {period}"
        for key in table.keys:
            said = [each.about.keys[key] or f"the column {key}" for each in (first, table)]
            if said[0] != said[1]:
                both = f"{said[0]} in {names[0]}, {said[1]} in {period}"
                yield f"{table.name}: the key {key} is {both}"


def _other_rules(
    folders: Sequence[ReleaseFolder],
    series: Sequence[PublishedTable],
    answers: Sequence[str],
    names: Sequence[str],
) -> Iterator[str]:
    """Yield of which totals a value counts otherwise in a change than in the base (T15)."""
    found = [folder.rules for folder in folders]
    for answer in answers:
        defined = [table.about.answers[answer].definition or "" for table in series]
        measures = [each.partition(" = ")[0].removeprefix("total of ") for each in defined]
        rules = [known.get(each) for known, each in zip(found, measures, strict=True)]
        base = rules[0]
        if base is None:  # a count
            continue
        one = replace(base, largest=2 * min(base.largest, LARGEST_LINKED))
        for period, rule in zip(names[1:], rules[1:], strict=True):
            if rule is not None and rule != one:
                yield (
                    f"{series[0].name}.{answer}: its resolution, its largest value or what lies "
                    f"outside is another in {period} than in {names[0]}, so that changes may not "
                    "add up to levels"
                )


def _gaps(series: Sequence[PublishedTable], names: Sequence[str]) -> Iterator[str]:
    """Yield which folders lack keys that others have: levels are missing from there on."""
    every = _joined(series, ()).num_rows
    for period, table in zip(names, series, strict=True):
        if table.rows.num_rows < every:
            yield (
                f"{table.name}: {period} lacks {every - table.rows.num_rows:,} of "
                f"{number_of(every, 'key')}, "
                "whose levels are empty from there on"
            )


# -- adding up --------------------------------------------------------------------------------


def _added_up(
    series: Sequence[PublishedTable],
    answers: Sequence[str],
    names: Sequence[str],
    confidence: float,
) -> LevelTable:
    joined, keys = _joined(series, answers), series[0].keys
    parts = []
    for period in range(len(series)):
        columns = [(key, joined.column(f"k{place}")) for place, key in enumerate(keys)]
        columns.append((PERIOD, pa.array([names[period]] * joined.num_rows, pa.string())))
        for place, answer in enumerate(answers):
            given = {
                f"p{each}": Uncertain(
                    floats_of(joined, f"v{each}_{place}"), floats_of(joined, f"s{each}_{place}")
                )
                for each in range(len(series))
            }
            for ending, wanted in _formulas(period).items():
                found = _none(joined.num_rows)
                if wanted is not None:
                    found = evaluated(wanted, given, confidence)
                columns += columns_of(f"{answer}{ending}", found).items()
        named = [name for name, _ in columns]
        if twice := sorted({name for name in named if named.count(name) > 1}):
            raise InputError(
                f"the table {series[0].name!r} would have two columns {twice[0]!r}; rename that "
                "key column, or the answer, in all releases."
            )
        parts.append(pa.table([column for _, column in columns], names=named))
    rows = pa.concat_tables(parts)
    by_key = np.arange(rows.num_rows).reshape(len(series), -1).T.ravel()
    return LevelTable(series[0].name, keys, tuple(answers), rows.take(pa.array(by_key)))


def _none(size: int) -> Derived:
    """Return numbers that there are none of."""
    empty = np.full(size, np.nan)
    return Derived(empty, empty, empty, empty)


def _formulas(period: int) -> Mapping[str, Formula | None]:
    """Return level, change and growth of a period; the base has a level alone."""
    names = [f"p{each}" for each in range(period + 1)]
    level = Linear(tuple((name, _ONE) for name in sorted(names)))
    if period == 0:
        return {"": Formula(level), "_change": None, "_growth": None}
    change = Linear(((names[-1], _ONE),))
    before = Linear(tuple((name, _ONE) for name in sorted(names[:-1])))
    return {
        "": Formula(level, ONE),
        "_change": Formula(change, ONE),
        "_growth": Formula(change, before),
    }


def _joined(series: Sequence[PublishedTable], answers: Sequence[str]) -> pa.Table:
    """Return the keys of any release, in order, with every release's numbers and errors.

    Inside, columns go by their place: names of keys and answers are anything.
    """
    keys = [f"k{place}" for place in range(len(series[0].keys))]
    shown = ", ".join(keys)
    with duckdb.connect() as connection:
        for place, table in enumerate(series):
            connection.register(f"t{place}", _by_place(table, answers))
        tables = [f"t{place}" for place in range(len(series))]
        every = " UNION ".join(f"SELECT {shown or '1 AS one'} FROM {each}" for each in tables)  # noqa: S608 - places
        numbers = [
            f"t{place}.{kind}{answer} AS {kind}{place}_{answer}"
            for place in range(len(series))
            for answer in range(len(answers))
            for kind in ("v", "s")
        ]
        joins = "".join(
            f" LEFT JOIN {each} ON "
            + (" AND ".join(f"e.{key} IS NOT DISTINCT FROM {each}.{key}" for key in keys) or "true")
            for each in tables
        )
        chosen = ", ".join([*(f"e.{key}" for key in keys), *numbers]) or "1 AS one"
        order = f" ORDER BY {', '.join(f'e.{key} NULLS FIRST' for key in keys)}" if keys else ""
        sql = f"SELECT {chosen} FROM ({every}) AS e{joins}{order}"  # noqa: S608 - places
        return connection.sql(sql).to_arrow_table()


def _by_place(table: PublishedTable, answers: Sequence[str]) -> pa.Table:
    rows = as_floats(table.rows)
    columns: dict[str, pa.ChunkedArray | pa.Array] = {
        f"k{place}": rows.column(name) for place, name in enumerate(table.keys)
    }
    for place, name in enumerate(answers):
        columns[f"v{place}"] = rows.column(name).cast(pa.float64())
        columns[f"s{place}"] = errors_of(rows, name)
    return pa.table(columns) if columns else pa.table({"one": pa.array([1] * rows.num_rows)})


def _median(errors: npt.NDArray[np.float64]) -> float:
    known = errors[np.isfinite(errors)]
    return float(np.median(known)) if known.size else float("nan")
