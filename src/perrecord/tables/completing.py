"""Hypothetical records: dimensions that follow from what is given, and what contradicts itself."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from perrecord.errors import InputError, listing
from perrecord.tables.arithmetic import Arithmetic
from perrecord.tables.expressions import Column, Expression, columns_of, evaluate


def completed(definitions: Mapping[str, Expression], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with every dimension that follows from what it gives.

    Refused is a value that is another than what follows; the message names fields, never values.

    >>> from perrecord.tables.parse import parse_expression
    >>> state = {"state": parse_expression("substr(county, 1, 2)")}
    >>> completed(state, {"county": "37001"})
    {'county': '37001', 'state': '37'}
    >>> completed(state, {"county": "37001", "state": "51"})
    Traceback (most recent call last):
    perrecord.errors.InputError: 'state' does not match what follows from county; leave 'state' \
out, or give what goes with it.
    """
    found = dict(row)
    others = {name for name, each in definitions.items() if each != Column(name)}
    for name, expression in definitions.items():
        reads = columns_of(expression)
        # An expression reads columns of the source, which a dimension of the same name may not be.
        if not reads <= row.keys() - others or reads == {name}:
            continue
        value = evaluate(expression, row)
        if name in row and row[name] != value:
            raise InputError(
                f"{name!r} does not match what follows from {listing(sorted(reads))}; leave "
                f"{name!r} out, or give what goes with it."
            )
        found[name] = value
    return found


Rule = tuple[str, Callable[[Any], Fraction | None], Arithmetic | None]
"""A measure's name, what rounds it to its grid, and what it is computed from, if it is derived."""


def with_derived(measures: Iterable[Rule], row: Mapping[str, Any]) -> dict[str, Fraction | None]:
    """Return the measures that a row gives, rounded, and the derived ones that follow from them.

    Refused is a derived one that is another than what follows; the message names no value.
    """
    found: dict[str, Fraction | None] = {}
    for name, rounded, computed in measures:
        if name in row:
            found[name] = rounded(row[name])
        if computed is None or not found.keys() >= {*computed.names}:
            continue
        value = rounded(computed.value(found))
        if found.get(name, value) != value:
            raise InputError(
                f"{name!r} does not match what follows from {listing(computed.names)}; leave "
                f"{name!r} out, or give what goes with it."
            )
        found[name] = value
    return found
