"""Whether one policy is below another for EVERY possible record: the ledger's question (T4).

The answer yes is always right. It is reached in steps, each of which keeps the question the same:
decide every dimension; let every option of a maximum on the left stand for itself; cancel what
both sides share. What is left is answered by one of two proofs:

- `cover`: the right side covers the left term by term (sound, any number of schemes);
- `corners`: a walk over the records where the inequality is tightest (exact, one scheme on the
  right). With both, the answer is also complete wherever `corners` applies: docs/theory.md says
  exactly where, and shows a true inequality between sums over several schemes that gets a no.
"""

from collections.abc import Iterator
from fractions import Fraction

from perrecord.policy.corners import walk
from perrecord.policy.cover import Weights, covers
from perrecord.policy.normal import (
    UNDEFINED,
    LargestOf,
    Normal,
    independent,
    leading_dimension,
    named_values,
    restrict,
)


def is_below(left: Normal, right: Normal, power: int) -> bool:
    """Tell whether left(r) <= right(r) for every record r."""
    if left == right:
        return True
    if UNDEFINED in (left, right):
        return False
    dimension = leading_dimension([left, right])
    if dimension is not None:
        return _is_below_apart(left, right, power) or all(
            is_below(restrict(left, dimension, value), restrict(right, dimension, value), power)
            for value in named_values(dimension, [left, right])
        )
    return _plain_is_below(dict(left.weights), dict(right.weights), power)


def _is_below_apart(left: Normal, right: Normal, power: int) -> bool:
    """Try independent dimensions one by one: cheap where it holds, and it need not."""
    groups = [frozenset(group) for group in independent(left.parts | right.parts)]
    if len(groups) == 1:
        return False
    return is_below(Normal(left.weights), Normal(right.weights), power) and all(
        is_below(Normal(parts=left.parts & group), Normal(parts=right.parts & group), power)
        for group in groups
    )


def _plain_is_below(left: Weights, right: Weights, power: int) -> bool:
    cancel(left, right)
    largest = next((basis for basis in left if isinstance(basis, LargestOf)), None)
    if largest is not None:
        return all(
            _plain_is_below(alternative, dict(right), power)
            for alternative in alternatives(left, largest)
        )
    return not left or covers(left, right, power) or walk(left, right, power) is True


def cancel(left: Weights, right: Weights) -> None:
    """Take from both sides what both hold."""
    for basis in left.keys() & right.keys():
        shared = min(left[basis], right[basis])
        for side in (left, right):
            side[basis] -= shared
            if not side[basis]:
                del side[basis]


def alternatives(weights: Weights, largest: LargestOf) -> Iterator[Weights]:
    """Yield the sum with each option in the place of the maximum."""
    factor = weights[largest]
    for option in largest.options:
        chosen = {basis: weight for basis, weight in weights.items() if basis != largest}
        for basis, weight in option.weights:
            chosen[basis] = chosen.get(basis, Fraction(0)) + factor * weight
        yield chosen
