"""Hypothetical records: dimensions that follow from what is given, and what contradicts itself."""

from collections.abc import Mapping
from typing import Any

from perrecord.errors import InputError, listing
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
    perrecord.errors.InputError: 'state' is another than what follows from county; leave 'state' \
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
                f"{name!r} is another than what follows from {listing(sorted(reads))}; leave "
                f"{name!r} out, or give what goes with it."
            )
        found[name] = value
    return found
