"""Whether schemes and parts fit the public description of a table."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from perrecord.errors import QueryError, listing, suggestion
from perrecord.policy.cases import Cases, DimensionValue
from perrecord.policy.split import Scheme, SplitBy
from perrecord.tables.measures import grid_fault
from perrecord.tables.schema import Schema


def check_scheme(split: Scheme, schema: Schema) -> None:
    """Refuse a scheme that names other measures or dimensions than the table has."""
    _check_thresholds(split, {name: measure.resolution for name, measure in schema.measures})
    if isinstance(split, SplitBy):
        check_cases(split.cases, schema)
        for inner in split.cases.values():
            check_scheme(inner, schema)


def _check_thresholds(split: Scheme, resolutions: Mapping[str, Fraction]) -> None:
    """Refuse a scheme whose measures are unknown or whose thresholds are off the grid."""
    if isinstance(split, SplitBy):
        for inner in split.cases.values():
            _check_thresholds(inner, resolutions)
        return
    for name, threshold in split.thresholds:
        if name not in resolutions:
            raise QueryError(
                f"the scheme splits by {name!r}, which is no measure of the table. Its measures "
                f"are {listing(resolutions) or 'none'}."
            )
        fault = grid_fault("threshold", threshold, name, resolutions[name])
        if fault is not None:
            raise QueryError(fault)


def check_cases(cases: Cases[Any], schema: Schema) -> None:
    """Refuse cases by something else than dimensions of the table, in the kind that these have."""
    kinds = {each.name: each.kind for each in schema.dimensions}
    for name, found in zip(cases.dimensions, cases.kinds, strict=True):
        if name not in kinds:
            raise QueryError(
                f"the parts are told apart by {name!r}, which is no dimension of the table. It has "
                f"{listing(sorted(kinds)) or 'none'}.{suggestion(name, kinds)}"
            )
        place = cases.dimensions.index(name)
        if any(_is_beyond(key[place]) for key, _ in cases.entries):
            raise QueryError(
                f"a part by {name!r} is a whole number beyond 64 bits, which no column holds."
            )
        if not found <= {kinds[name].types.python}:
            raise QueryError(
                f"the parts by {name!r} are written as {listing(each.__name__ for each in found)}, "
                f"the table's column holds {kinds[name].value}; write them in the same kind: 11, "
                "'11' and True are different values."
            )


def _is_beyond(value: DimensionValue) -> bool:
    return isinstance(value, int) and not -(2**63) <= value < 2**63
