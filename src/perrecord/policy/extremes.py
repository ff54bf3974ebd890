"""The least and the greatest loss of any possible record.

Every basis function grows with every |measure|, so the least loss is that of a record of zeros and
the greatest is approached as all measures grow together; only the dimensions need a search.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction

from perrecord.errors import InputError
from perrecord.policy.normal import (
    Basis,
    LargestOf,
    Normal,
    Nowhere,
    One,
    PiecesOf,
    PowerOf,
    independent,
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
            case PowerOf():
                return Fraction(0)
            case LargestOf(options):
                return max(_best(option, least, min) for option in options)
            case Nowhere():
                raise _UndefinedError

    return _defined(policy, least, min)


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
            case Nowhere():
                raise _UndefinedError

    try:
        return _defined(policy, greatest, max)
    except _UnboundedError:
        return None


class _UnboundedError(Exception):
    """A basis function without an upper bound was met."""


class _UndefinedError(Exception):
    """A case that covers no record was met."""


def _defined(form: Normal, value: Callable[[Basis], Fraction], choose: Choose) -> Fraction:
    try:
        return _best(form, value, choose)
    except _UndefinedError:
        raise InputError(
            "the policy covers no record: its cases exclude one another and there is no default."
        ) from None


def _best(form: Normal, value: Callable[[Basis], Fraction], choose: Choose) -> Fraction:
    """Return the extreme of a form, choosing among the branches of each group of parts."""
    total = sum((weight * value(basis) for basis, weight in form.weights), Fraction(0))
    for group in independent(form.parts):
        together = Normal(parts=frozenset(group))
        first = min(part.dimension for part in group)
        branches = [restrict(together, first, known) for known in named_values(first, [together])]
        losses = [
            found for branch in branches if (found := _try(branch, value, choose)) is not None
        ]
        if not losses:
            raise _UndefinedError
        total += choose(losses)
    return total


def _try(form: Normal, value: Callable[[Basis], Fraction], choose: Choose) -> Fraction | None:
    try:
        return _best(form, value, choose)
    except _UndefinedError:
        return None
