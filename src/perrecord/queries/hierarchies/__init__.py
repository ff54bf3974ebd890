"""Which numbers of a workload are sums of others: columns that follow, levels, families."""

from perrecord.queries.hierarchies.families import (
    Families,
    Family,
    Hierarchy,
    Member,
    SummedTable,
    Unfitted,
    families_of,
)

__all__ = ["Families", "Family", "Hierarchy", "Member", "SummedTable", "Unfitted", "families_of"]
