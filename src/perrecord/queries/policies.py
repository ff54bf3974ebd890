"""What a filter and a selection of keys make of a policy, from public facts alone.

A record that a filter shuts out loses nothing; where a filter cannot be written as cases of
dimensions the policy covers every record, which is never too little.
"""

from dataclasses import dataclass
from itertools import product
from math import prod

from perrecord.policy.cases import DimensionValue, Key
from perrecord.policy.policy import Policy
from perrecord.queries.groupings import Grouping, SelectKeys
from perrecord.tables.expressions import And, Expression, as_cases

_MOST_CASES = 1000


def selection_policy(grouping: Grouping) -> Policy | None:
    """Return the policy of finding the keys, if the data is asked for them (T9)."""
    if not isinstance(grouping.cells, SelectKeys):
        return None
    cells = grouping.cells
    return Policy.selection(
        cells.rho, grouping.columns, split=cells.split, threshold=cells.threshold
    )


def on_filtered(policy: Policy, condition: Expression | None, dimensions: frozenset[str]) -> Policy:
    """Return the policy of a mechanism that runs on the records that meet the condition (T5)."""
    found = passing(condition, dimensions)
    if not found.names:
        return policy
    return Policy.by(found.names, dict.fromkeys(found.keys, policy), Policy.zero(policy.currency))


@dataclass(frozen=True, slots=True)
class Passing:
    """The records that meet a condition, by the values of some of their dimensions."""

    names: tuple[str, ...]
    """None where the condition could not be written so, or not briefly: all records are meant."""
    keys: tuple[Key, ...]
    is_whole: bool
    """Whether exactly these records pass; otherwise some of them may not."""


def passing(condition: Expression | None, dimensions: frozenset[str]) -> Passing:
    """Return the records that meet a condition, as far as values of dimensions tell.

    Conditions that list none are left out: more records then count as passing, never fewer.
    """
    allowed: dict[str, frozenset[DimensionValue]] = {}
    is_whole = True
    parts = condition.parts if isinstance(condition, And) else (condition,)
    for part in parts if condition is not None else ():
        cases = None if part is None else as_cases(part)
        is_whole &= cases is not None
        for name, values in (cases or {}).items():
            if name in dimensions:
                kept = frozenset(each for each in values if isinstance(each, DimensionValue))
                allowed[name] = allowed.get(name, kept) & kept
            else:
                is_whole = False
    names = tuple(sorted(allowed))
    if prod(len(allowed[name]) for name in names) > _MOST_CASES:
        return Passing((), (), False)
    keys = product(*(sorted(allowed[name], key=repr) for name in names)) if names else ()
    return Passing(names, tuple(keys), is_whole)
