"""Which columns follow from others: by an expression, a public lookup, or as it is declared."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from perrecord.tables.expressions import Column, Expression, columns_of, evaluate
from perrecord.tables.lookups import Lookup
from perrecord.tables.schema import Schema

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Following:
    """A column whose value is known once some others' are."""

    reads: tuple[str, ...]
    value: Callable[[Row], Any]


def followed(
    schema: Schema, columns: Iterable[str], declared: Sequence[Lookup] = ()
) -> dict[str, Following]:
    """Return the dimensions that keys over these columns fix, themselves among them.

    A state follows from its county by an expression, a region by a lookup; `declared` tables say
    the same of dimensions that are columns of the source themselves.
    """
    found: dict[str, Following] = {}
    _by_expressions(schema, columns, found)
    before = -1
    while before < len(found):  # what follows may have others follow
        before = len(found)
        for lookup in schema.lookups:
            _by_lookup(schema, lookup, found)
        for table in declared:
            _as_declared(table, found)
    return found


def _by_expressions(schema: Schema, columns: Iterable[str], found: dict[str, Following]) -> None:
    for name, expression in schema.fixed_by(columns).items():
        reads = tuple(sorted(columns_of(expression)))
        found[name] = Following(reads, partial(_evaluated, expression))


def _evaluated(expression: Expression, row: Row) -> Any:
    return evaluate(expression, row)


def _by_lookup(schema: Schema, lookup: Lookup, found: dict[str, Following]) -> None:
    """Add the dimensions that read columns of a lookup alone, if its key follows."""
    holders = {
        each.expression.name: each.name
        for each in schema.dimensions
        if isinstance(each.expression, Column) and each.name in found
    }
    if not all(ours in holders for ours, _ in lookup.on):
        return
    keys = [found[holders[ours]] for ours, _ in lookup.on]
    reads = tuple(dict.fromkeys(name for key in keys for name in key.reads))
    rows = _rows(lookup)
    for each in schema.dimensions:
        needed = columns_of(each.expression)
        if each.name not in found and needed and needed <= set(lookup.columns):

            def value(row: Row, expression: Expression = each.expression) -> Any:
                return evaluate(expression, rows(tuple(key.value(row) for key in keys)))

            found[each.name] = Following(reads, value)


def _as_declared(table: Lookup, found: dict[str, Following]) -> None:
    if not all(ours in found for ours, _ in table.on):
        return
    keys = [found[ours] for ours, _ in table.on]
    reads = tuple(dict.fromkeys(name for key in keys for name in key.reads))
    rows = _rows(table)
    for name in table.columns:
        if name not in found:

            def value(row: Row, name: str = name) -> Any:
                return rows(tuple(key.value(row) for key in keys))[name]

            found[name] = Following(reads, value)


def _rows(lookup: Lookup) -> Callable[[tuple[Any, ...]], Row]:
    """Return what a lookup says of a key; NULL in every column where it does not have the key."""
    nothing = dict.fromkeys(lookup.columns)

    @cache
    def rows() -> dict[tuple[Any, ...], Row]:
        keys = zip(*(lookup.table[theirs].to_pylist() for _, theirs in lookup.on), strict=True)
        held = lookup.table.select(list(lookup.columns)).to_pylist()
        return dict(zip(keys, held, strict=True))

    def row(key: tuple[Any, ...]) -> Row:
        return nothing if None in key else rows().get(key, nothing)

    return row
