"""Two releases beside each other: differences and growth rates with their errors (T33).

From the published folders alone, at no charge. Tables are matched by name and key columns, answers
by name, definition and unit; derived numbers and consistent columns are compared too. The noise of
two releases is independent, since each was drawn under a charge of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from perrecord.errors import InputError, listing
from perrecord.release.folders import (
    PublishedTable,
    ReleaseFolder,
    check_confidence,
    errors_of,
    floats_of,
)
from perrecord.released.derived import Uncertain, columns_of, evaluated, formula
from perrecord.released.numbers import as_floats

_CHANGE, _GROWTH = formula("new - old"), formula("new / old - 1")
_SIDES = ("old", "new")


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A table that both releases have, a row for each key of either."""

    name: str
    keys: tuple[str, ...]
    answers: tuple[str, ...]
    rows: pa.Table

    def summary(self, answer: str) -> dict[str, int]:
        """Return of how many cells an answer is compared, and what its intervals tell."""
        change, growth = f"{answer}_change", f"{answer}_growth"
        low, high = (floats_of(self.rows, f"{change}_{end}") for end in ("low", "high"))
        return {
            "cells": int(np.isfinite(floats_of(self.rows, change)).sum()),
            "rose": int((low > 0).sum()),
            "fell": int((high < 0).sum()),
            "growth_known": int(np.isfinite(floats_of(self.rows, f"{growth}_low")).sum()),
        }


@dataclass(frozen=True, slots=True)
class ComparedReleases:
    """What two releases have in common, and what of them could not be compared, with the reason."""

    old_title: str
    new_title: str
    tables: tuple[ComparedTable, ...]
    left_out: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    """What was compared although it may differ in meaning."""


def compare(old: str | Path, new: str | Path, confidence: float = 0.95) -> ComparedReleases:
    """Return the differences and growth rates from one published release to another."""
    check_confidence(confidence)
    first, second = ReleaseFolder.read(Path(old)), ReleaseFolder.read(Path(new))
    if first.charge == second.charge:
        raise InputError(
            "both folders hold numbers of the same charge, so that they do not differ; give the "
            "folders of two releases."
        )
    tables, left_out, warnings = [], list[tuple[str, str]](), list[str]()
    for name in dict.fromkeys([*first.tables, *second.tables]):
        if name not in first.tables or name not in second.tables:
            left_out.append(
                (name, f"only the {'old' if name in first.tables else 'new'} one has it")
            )
            continue
        before, after = first.table(name), second.table(name)
        kinds = [
            [str(each.rows.schema.field(key).type) for key in each.keys] for each in (before, after)
        ]
        if before.keys == after.keys and kinds[0] != kinds[1]:
            left_out.append((name, _both("its keys are", listing(kinds[0]), listing(kinds[1]))))
            continue
        if before.keys != after.keys:
            left_out.append(
                (name, _both("its keys are", listing(before.keys), listing(after.keys)))
            )
            continue
        warnings += _other_records(before, after)
        answers = {
            each: _difference(each, before, after)
            for each in dict.fromkeys([*after.answers, *before.answers])
        }
        left_out += [(f"{name}.{each}", why) for each, why in answers.items() if why is not None]
        kept = tuple(each for each, why in answers.items() if why is None)
        if kept:
            tables.append(_compared(before, after, kept, confidence))
    return ComparedReleases(
        first.title, second.title, tuple(tables), tuple(left_out), tuple(warnings)
    )


def _other_records(before: PublishedTable, after: PublishedTable) -> Iterator[str]:
    """Yield in what two tables of the same keys differ as a whole."""
    filters = [each.about.filter or "all records" for each in (before, after)]
    if filters[0] != filters[1]:
        yield f"{after.name}: {_both('it is of', *filters)}"
    for key in after.keys:
        said = [each.about.keys[key] or f"the column {key}" for each in (before, after)]
        if said[0] != said[1]:
            yield f"{after.name}: {_both(f'the key {key} is', *said)}"


def _difference(answer: str, before: PublishedTable, after: PublishedTable) -> str | None:
    """Return why an answer cannot be compared; None if it can be."""
    if answer not in before.answers or answer not in after.answers:
        return f"only the {'old' if answer in before.answers else 'new'} one has it"
    if any(f"{answer}_se" not in each.rows.column_names for each in (before, after)):
        return "it has no standard error"
    one, other = before.answers[answer], after.answers[answer]
    if one.definition != other.definition:
        return _both("it is", one.definition or "not defined", other.definition or "not defined")
    if one.unit != other.unit:
        return _both("its unit is", one.unit or "not given", other.unit or "not given")
    return None


def _both(what: str, old: str, new: str) -> str:
    return f"{what} {old} in the old one, {new} in the new one"


def _compared(
    before: PublishedTable, after: PublishedTable, answers: Sequence[str], confidence: float
) -> ComparedTable:
    joined = _joined(before, after, answers)
    columns = [(name, joined.column(f"k{place}")) for place, name in enumerate(after.keys)]
    for place, answer in enumerate(answers):
        sides = {
            side: Uncertain(
                floats_of(joined, f"{side}_v{place}"), floats_of(joined, f"{side}_s{place}")
            )
            for side in _SIDES
        }
        for side in _SIDES:
            columns.append((f"{answer}_{side}", joined.column(f"{side}_v{place}")))
        for ending, wanted in (("change", _CHANGE), ("growth", _GROWTH)):
            found = evaluated(wanted, sides, confidence)
            columns += columns_of(f"{answer}_{ending}", found).items()
    names = [name for name, _ in columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"the table {after.name!r} would have two columns {twice[0]!r}, one of them a key; "
            "rename that key column, or the answer, in both releases."
        )
    rows = pa.table([column for _, column in columns], names=names)
    return ComparedTable(after.name, after.keys, tuple(answers), rows)


def _joined(before: PublishedTable, after: PublishedTable, answers: Sequence[str]) -> pa.Table:
    """Return the keys of either release, in order, with both releases' numbers and errors.

    Inside, columns go by their place: names of keys and answers are anything.
    """
    keys = [f"k{place}" for place in range(len(after.keys))]
    numbers = [f"{kind}{place}" for place in range(len(answers)) for kind in ("v", "s")]
    found = [f"coalesce(n.{key}, o.{key}) AS {key}" for key in keys]
    found += [f"{side[0]}.{each} AS {side}_{each}" for each in numbers for side in _SIDES]
    on = " AND ".join(f"o.{key} IS NOT DISTINCT FROM n.{key}" for key in keys) or "true"
    order = f" ORDER BY {', '.join(f'{key} NULLS FIRST' for key in keys)}" if keys else ""
    with duckdb.connect() as connection:
        connection.register("before", _by_place(before, answers))
        connection.register("after", _by_place(after, answers))
        sql = f"SELECT {', '.join(found)} FROM before o FULL JOIN after n ON {on}{order}"  # noqa: S608 - places
        return connection.sql(sql).to_arrow_table()


def _by_place(table: PublishedTable, answers: Sequence[str]) -> pa.Table:
    rows = as_floats(table.rows)
    columns = {f"k{place}": rows.column(name) for place, name in enumerate(table.keys)}
    for place, name in enumerate(answers):
        columns[f"v{place}"] = rows.column(name).cast(pa.float64())
        columns[f"s{place}"] = errors_of(rows, name)
    return pa.table(columns)
