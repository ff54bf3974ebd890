"""Whether schemes and parts fit what is declared of a table."""

from typing import Any

from perrecord.errors import QueryError, about, listing, suggestion
from perrecord.policy.cases import Cases, DimensionValue
from perrecord.policy.split import Scheme, SplitBy
from perrecord.tables.measures import check_on_grid
from perrecord.tables.roles import Roles


def check_scheme(split: Scheme, roles: Roles) -> None:
    """Refuse a scheme that names other measures or dimensions than the table has."""
    if isinstance(split, SplitBy):
        with about("by"):
            check_cases(split.cases, roles)
        for key, inner in split.cases.entries:
            with about("cases", listing(key)):
                check_scheme(inner, roles)
        if split.cases.default is not None:
            with about("default"):
                check_scheme(split.cases.default, roles)
        return
    for name, threshold in split.thresholds:
        with about("thresholds", name):
            check_on_grid("threshold", threshold, name, roles.resolution(name))


def check_cases(cases: Cases[Any], roles: Roles) -> None:
    """Refuse cases by something else than dimensions of the table, in the kind that these have."""
    for place, name in enumerate(cases.dimensions):
        if name not in roles.dimensions:
            raise QueryError(
                f"the parts are told apart by {name!r}, which is not a dimension of the table. "
                f"It has {listing(sorted(roles.dimensions)) or 'none'}."
                f"{suggestion(name, roles.dimensions)}"
            )
        if any(_is_beyond(key[place]) for key, _ in cases.entries):
            raise QueryError(
                f"a part by {name!r} is a whole number beyond 64 bits, which no column holds."
            )
        kind = roles.kinds.get(name)
        if kind is not None and not cases.kinds[place] <= {kind.types.python}:
            written = listing(each.__name__ for each in cases.kinds[place])
            raise QueryError(
                f"the parts by {name!r} are written as {written}, but the table's column holds "
                f"{kind.value}; write them as values of that kind: 11, '11' and True are "
                "different values."
            )


def _is_beyond(value: DimensionValue) -> bool:
    return isinstance(value, int) and not -(2**63) <= value < 2**63
