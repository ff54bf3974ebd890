"""Which cases are run, in which order: all kinds side by side, each by its share."""

from functools import cache
from random import Random

from tests.hostile import (
    csv_faults,
    format_faults,
    other_faults,
    parquet_faults,
    size_faults,
    spec_faults,
    sql_faults,
    text_faults,
)
from tests.hostile.cases import Builder, Case

SHARES: dict[Builder, float] = {
    **spec_faults.BUILDERS,
    **text_faults.BUILDERS,
    **sql_faults.BUILDERS,
    **size_faults.BUILDERS,
    **parquet_faults.BUILDERS,
    **csv_faults.BUILDERS,
    **format_faults.BUILDERS,
    **other_faults.BUILDERS,
}
"""Every kind of case with its share."""

SOURCE_KINDS = frozenset(
    [
        *parquet_faults.BUILDERS,
        *csv_faults.BUILDERS,
        *other_faults.BUILDERS,
        *format_faults.BUILDERS,
    ]
)
"""The kinds whose fault is in a file that is read."""


@cache
def planned(count: int) -> tuple[tuple[Builder, int], ...]:
    """Return the builder of each case, with how many of its kind came before."""
    owed = dict.fromkeys(SHARES, 0.0)
    turns = dict.fromkeys(SHARES, 0)
    whole = sum(SHARES.values())
    found = []
    for _ in range(count):
        for builder, share in SHARES.items():
            owed[builder] += share
        chosen = max(owed, key=owed.__getitem__)
        owed[chosen] -= whole
        found.append((chosen, turns[chosen]))
        turns[chosen] += 1
    return tuple(found)


def built(seed: int, number: int, count: int) -> Case:
    """Return one case: the same for the same seed, in whichever process."""
    builder, turn = planned(count)[number]
    return builder(Random(f"{seed} {number}"), turn + seed)
