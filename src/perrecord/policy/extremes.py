"""The least and the greatest loss of any possible record.

Every basis function grows with every |measure|, so the least loss is that of a record of zeros and
the greatest is approached as all measures grow together; only the dimensions need a search.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction

from perrecord.policy.normal import (
    UNDEFINED,
    Basis,
    LargestOf,
    Normal,
    One,
    PiecesOf,
    PowerOf,
    independent,
    leading_dimension,
    named_values,
    restrict,
)

Choose = Callable[[Iterable[Fraction]], Fraction]


def minimum(policy: Normal) -> Fraction:
    """Return PolicyMin: constants, plus one piece of every scheme, in the cheapest case."""

    def least(basis: Basis) -> Fraction:
        match basis:
            case One() | PiecesOf():
                return Fraction(1)
            case LargestOf(options):
                return max(_best(option, least, min) for option in options)
            case _:
                return Fraction(0)

    return _best(policy, least, min)


def supremum(policy: Normal, power: int) -> Fraction | None:
    """Return the least upper bound of the loss; None if it grows without limit."""

    def greatest(basis: Basis) -> Fraction:
        match basis:
            case One():
                return Fraction(1)
            case PiecesOf(split) if split.cap is not None:
                return Fraction(split.cap**power)
            case LargestOf(options):
                return max(_best(option, greatest, max) for option in options)
            case PiecesOf() | PowerOf():
                raise _UnboundedError
            case _:
                return Fraction(0)

    try:
        return _best(policy, greatest, max)
    except _UnboundedError:
        return None


class _UnboundedError(Exception):
    """A basis function without an upper bound was met."""


def _best(form: Normal, value: Callable[[Basis], Fraction], choose: Choose) -> Fraction:
    """Return the extreme of a form, choosing among the branches of each group of parts."""
    total = sum((weight * value(basis) for basis, weight in form.weights), Fraction(0))
    for group in independent(form.parts):
        together = Normal(parts=frozenset(group))
        dimension = leading_dimension([together])
        if dimension is None:
            continue
        branches = [
            restrict(together, dimension, known) for known in named_values(dimension, [together])
        ]
        total += choose(_best(b, value, choose) for b in branches if b != UNDEFINED)
    return total
