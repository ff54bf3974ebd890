"""A workload table by table: each query over one grouping set, under its table's name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from perrecord.queries.query import Query
from perrecord.release.names import table_names


@dataclass(frozen=True, slots=True)
class Asked:
    """One table of a workload: a query over one set of columns."""

    name: str
    origin: str
    query: Query

    def names(self, answer: str) -> list[str]:
        """Return what an answer may be called, from the least precise name to the most."""
        return list(dict.fromkeys([answer, f"{self.origin}.{answer}", f"{self.name}.{answer}"]))


def one_set_each(queries: Mapping[str, Query] | Iterable[tuple[str, Query]]) -> tuple[Asked, ...]:
    """Return the tables of a workload, as a release would name them."""
    named = queries.items() if isinstance(queries, Mapping) else queries
    return tuple(
        Asked(table, name, replace(query, groupings=(grouping,)))
        for name, query in named
        for table, grouping in zip(
            table_names(name, [each.columns for each in query.groupings]),
            query.groupings,
            strict=True,
        )
    )
