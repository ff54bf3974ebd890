"""Answers whose noise vanishes: each must be what its SQL gives in a DuckDB of the audit's own."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import isclose
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from perrecord.lab.audit.frozen import FrozenBits
from perrecord.lab.audit.utility.questions import AnswerMeaning, Question, question
from perrecord.lab.audit.utility.tables import VALUES, declared, in_plain_sql, rows
from perrecord.mechanisms.run import run
from perrecord.queries.plan import plan
from perrecord.tables.table import table

_LITTLE = 0.1
"""Tapered noise is at least 5 steps wide, here 13 millionths: so much is a chance of 1e-12."""

Key = tuple[Any, ...]
Found = tuple[str, str | None]
"""The kind of what was compared, and what is wrong with it, if anything is."""


def exact_checks(random: Random, questions: int, seed: int) -> Iterator[Found]:
    """Yield for every cell of every answer whether it is what its SQL says."""
    source = rows(random)
    connection = in_plain_sql(source)
    with table(source, **declared()) as opened:
        for _ in range(questions):
            asked = question(random)
            planned = plan(asked.query, opened.schema)
            answers = run(planned, opened, _bits=FrozenBits(seed))
            for grouping, found in zip(asked.query.groupings, answers, strict=True):
                meant = cells(connection, asked, grouping.columns)
                keys = listed(found.keys)
                if asked.keep is not None:
                    yield "keys", _keys_fault(keys, connection, asked, grouping.columns)
                for place, meaning in enumerate(asked.meanings):
                    values = found.table.column(len(grouping.columns) + place).to_pylist()
                    for key, value in zip(keys, values, strict=True):
                        yield meaning.kind, fault(meaning, meant.get(key, {}).get(place), value)


def cells(
    connection: duckdb.DuckDBPyConnection, asked: Question, columns: Sequence[str]
) -> dict[Key, dict[int, Any]]:
    """Return what each answer means in each cell that holds records, by plain SQL."""
    shown = [*columns, *(f"{each.sql} AS m{place}" for place, each in enumerate(asked.meanings))]
    sql = f"SELECT {', '.join(shown)} FROM records"  # noqa: S608 - our own text
    if asked.where is not None:
        sql += f" WHERE {asked.where}"
    if columns:
        sql += f" GROUP BY {', '.join(columns)}"
    found = connection.execute(sql).fetchall()
    width = len(columns)
    return {tuple(row[:width]): dict(enumerate(row[width:])) for row in found}


def fault(meaning: AnswerMeaning, meant: Any, value: Any) -> str | None:
    """Return what is wrong with a published number, if its noise is none."""
    if meaning.level is not None:
        return _quantile_fault(meaning, meant, value)
    if meaning.kind.startswith("average"):
        wanted = float(meaning.empty) if meant is None else float(meant)
        little = _LITTLE if "tapered" in meaning.kind else 1e-12
        is_same = isclose(value, wanted, rel_tol=1e-12, abs_tol=little)
        return None if is_same else f"{value} was published, and {wanted} is the average"
    exact = meaning.empty if meant is None else Fraction(meant)
    if abs(Fraction(value) - exact) > spare_of(meaning):
        return f"{value} was published for {meaning.sql}, which is {meant}"
    return None


def spare_of(meaning: AnswerMeaning) -> Fraction:
    """Return how far off noise may put a total, or never does."""
    is_noisy = "tapered" in meaning.kind or "blurred" in meaning.kind
    return Fraction(_LITTLE) if is_noisy else Fraction(0)


def _quantile_fault(meaning: AnswerMeaning, meant: Any, value: Any) -> str | None:
    """Return whether a candidate that is nearer to the quantile was passed over (T14)."""
    held = list(_weighed(meant or ()))
    assert meaning.level is not None  # noqa: S101 - asked before
    scores = [_score(held, each, meaning.level) for each in meaning.candidates]
    own = _score(held, Fraction(value), meaning.level)
    if Fraction(value) not in meaning.candidates or own > min(scores):
        return f"{value} was chosen, off by {own} records, where one is off by {min(scores)}"
    return None


def _weighed(meant: Sequence[Any]) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield values with their weights, 1 if they have none; below 0 a weight is 0."""
    for each in meant:
        value, weight = each if isinstance(each, list) else (each, 1)
        if value is not None and weight is not None:
            yield Fraction(value), max(Fraction(weight), Fraction(0))


def _score(
    held: Sequence[tuple[Fraction, Fraction]], candidate: Fraction, level: Fraction
) -> Fraction:
    """Return how much weight too much lies on one side of a candidate; 0 at every q-quantile."""
    whole = sum(weight for _, weight in held)
    below = sum(weight for each, weight in held if each < candidate) - level * whole
    above = sum(weight for each, weight in held if each > candidate) - (1 - level) * whole
    return max(Fraction(0), below, above)


def _keys_fault(
    keys: Sequence[Key],
    connection: duckdb.DuckDBPyConnection,
    asked: Question,
    columns: Sequence[str],
) -> str | None:
    """Return whether other keys were published than those that reach the threshold."""
    names = ", ".join(columns)
    where = "" if asked.where is None else f" WHERE {asked.where}"
    grouped = f"SELECT {names} FROM records{where} GROUP BY {names}"  # noqa: S608 - our own text
    occupied = {tuple(row) for row in connection.execute(grouped).fetchall()}
    wanted = set(connection.execute(f"{grouped} HAVING {asked.keep}").fetchall())
    if asked.keeps_empty:
        wanted |= set(product(*(VALUES[name] for name in columns))) - occupied
    missing, more = wanted - set(keys), set(keys) - wanted
    if missing or more or len(set(keys)) < len(keys):
        return f"{len(missing)} keys are missing, {len(more)} should not be there"
    return None


def listed(keys: pa.Table) -> list[Key]:
    """Return keys as tuples."""
    columns = [column.to_pylist() for column in keys.columns]
    return list(zip(*columns, strict=True)) if columns else [()]
