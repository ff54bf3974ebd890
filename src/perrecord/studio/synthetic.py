"""Records drawn from what a spec says, to choose on before there is data that may be looked at.

Keys give the places of records, examples the sizes; no file of the source is opened. Such records
are good enough to compare methods and sizes on. They are not like the data.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import log10
from typing import Any

import numpy as np
import pyarrow as pa

from perrecord.errors import InputError, PerrecordError
from perrecord.release.spec import LoadedSpec
from perrecord.release.spec.models import Spec
from perrecord.release.spec.pieces import keys_of
from perrecord.release.spec.schemes import splits_of
from perrecord.tables.expressions import Column, Expression, Substring, columns_of
from perrecord.tables.keys import Keys
from perrecord.tables.parse import parse_expression

DRAWN_FROM = ("id", "unit", "dimensions", "measures", "weight", "keys", "examples")
"""The entries of a spec that decide what is drawn."""

_SEED = 1
_USUAL_SIZE = 20
_DECADES = 0.8
"""The standard deviation of the logarithm to base 10 of a size: a few giants, many small ones."""
_CONCENTRATION = 1.2
"""Places are of very different sizes: the n-th holds about n^-1.2 as much as the first."""
_MOST_FOR_UNIT = 3


def drawn_table(loaded: LoadedSpec, rows: int) -> pa.Table:
    """Return as many records as asked for, with the columns that the spec reads; always the same.

    A column whose values the spec does not let anybody guess is refused with what to do instead.
    """
    random = np.random.default_rng(_SEED)
    spec = loaded.spec
    columns: dict[str, Any] = {}
    for name, entry in spec.measures.items():
        if entry.expression is None:
            sizes = _sizes(random, rows, spec, name, entry.resolution)
            columns[entry.column or name] = sizes
    if spec.weight is not None:
        columns[spec.weight.column] = np.ones(rows)
    if spec.unit is not None:
        columns[spec.unit] = random.integers(0, max(rows // _MOST_FOR_UNIT, 1), rows)
    if spec.id is not None:
        columns[spec.id] = np.arange(rows)
    for values in _places(loaded):
        place = _skewed(random, rows, values.num_rows)
        for name in values.column_names:
            columns.setdefault(name, values[name].take(pa.array(place)))
    lacking = sorted(_read(spec) - columns.keys())
    if lacking:
        raise InputError(
            f"no values of {', '.join(map(repr, lacking))} can be drawn from the spec: neither "
            "keys nor examples nor values list any. Add an example that has it, or make a file "
            "yourself and give it with --data."
        )
    return pa.table(columns)


def _places(loaded: LoadedSpec) -> Iterator[pa.Table]:
    """Yield values of source columns that go together, the most telling first."""
    spec, problems = loaded.spec, loaded.problems()
    raw = dict(_written_out(spec))
    try:
        found = keys_of(loaded, splits_of(spec, None, problems), problems)
        problems.check()
    except PerrecordError:
        found = {}  # the spec's own checks say what is wrong with them
    sets = [each.table for each in found.values() if isinstance(each, Keys)]
    for table in sorted(sets, key=lambda each: (-each.num_columns, -each.num_rows)):
        known = [name for name in table.column_names if name in raw]
        # A column that several dimensions are cut from is taken from the one that says most.
        own = {raw[name][0]: table[name] for name in sorted(known, key=lambda each: -raw[each][1])}
        if own and table.num_rows:
            yield pa.table(own)
    for name, entry in spec.dimensions.items():
        if name in raw and entry.values:
            yield pa.table({raw[name][0]: list(entry.values)})
    for name in sorted({name for each in spec.examples for name in each.record}):
        values = [each.record[name] for each in spec.examples if name in each.record]
        if name not in spec.measures:
            yield pa.table({raw.get(name, (name, 0))[0]: list(map(_plain, values))})


def _written_out(spec: Spec) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield dimensions that are a column or its first letters: that column, and how many."""
    for name, entry in spec.dimensions.items():
        match _expression(name, entry.expression):
            case Column(column):
                yield name, (column, 1_000_000)
            case Substring(Column(column), 1, length):
                yield name, (column, -1_000_000 + length)


def _read(spec: Spec) -> set[str]:
    """Return the columns of the source that dimensions read."""
    added = {name for each in spec.lookups for name in each.columns or ()}
    keys = {name for each in spec.lookups for name in each.on}
    every = (_expression(name, each.expression) for name, each in spec.dimensions.items())
    read = {column for each in every for column in columns_of(each)}
    return (read | keys) - added - {m for m, each in spec.measures.items() if each.expression}


def _expression(name: str, written: str | None) -> Expression:
    return Column(name) if written is None else parse_expression(written, f"the dimension {name}")


def _sizes(
    random: np.random.Generator, rows: int, spec: Spec, measure: str, resolution: Fraction
) -> np.ndarray[Any, Any]:
    """Return sizes with a heavy tail, on the grid, about the smallest example's."""
    given = [each.record.get(measure) for each in spec.examples]
    known = [float(each) for each in map(_plain, given) if isinstance(each, int | float) and each]
    middle = min((abs(each) for each in known), default=_USUAL_SIZE * float(resolution))
    sizes = 10 ** random.normal(log10(middle), _DECADES, rows)
    return np.ceil(sizes / float(resolution)) * float(resolution)


def _skewed(random: np.random.Generator, rows: int, places: int) -> np.ndarray[Any, Any]:
    chances = np.arange(1, places + 1) ** -_CONCENTRATION
    return random.permutation(places)[random.choice(places, rows, p=chances / chances.sum())]


def _plain(value: object) -> object:
    """Return a value of an example as a column holds it."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value
