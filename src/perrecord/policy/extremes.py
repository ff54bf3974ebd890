"""The least and the greatest loss of any possible record.

Every basis function grows with every |measure|, so the least loss is that of a record of zeros and
the greatest is approached as all measures grow together; only the dimensions need a search.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction

from perrecord.errors import InputError, InternalError
from perrecord.policy.normal import (
    UNDEFINED,
    Basis,
    LargestOf,
    Normal,
    Nowhere,
    One,
    PiecesOf,
    PowerOf,
    SizeOf,
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
            case PowerOf() | SizeOf():
                return Fraction(0)
            case LargestOf(options):
                return max(_defined(option, least, min) for option in options)
            case Nowhere():
                raise InternalError("A record without a case was given a loss.")

    return _defined(policy, least, min)


def supremum(policy: Normal, power: int) -> Fraction | None:
    """Return the least upper bound of the loss; None if it grows without limit."""

    def greatest(basis: Basis) -> Fraction:
        return _limit(basis, power, lambda option: _defined(option, greatest, max))

    try:
        return _defined(policy, greatest, max)
    except _UnboundedError:
        return None


def bound(policy: Normal, power: int) -> Fraction | None:
    """Return an upper bound of the loss of all records, those without a case included.

    None if there is none: the loss grows without limit, or nothing bounds it where no case is. It
    is the supremum unless decisions on different dimensions depend on one another; each is then
    taken at its greatest, so that the work grows with the form and not with its combinations.
    """

    def most(form: Normal) -> Fraction:
        limits = (weight * _limit(basis, power, most) for basis, weight in form.weights)
        total = sum(limits, Fraction(0))
        for part in form.parts:
            total += max(map(most, (*part.table.values(), part.default)))
        return total

    try:
        return most(policy)
    except _UnboundedError:
        return None


def _limit(basis: Basis, power: int, of: Callable[[Normal], Fraction]) -> Fraction:
    """Return what a basis function comes up to, `of` giving that of an option; or raise."""
    match basis:
        case One():
            return Fraction(1)
        case PiecesOf(split) if split.cap is not None:
            return Fraction(split.cap**power)
        case LargestOf(options):
            return max(map(of, options))
        case SizeOf(_, growth):
            limit = growth.limit()
            if limit is None:
                raise _UnboundedError
            return limit
        case PiecesOf() | PowerOf() | Nowhere():
            raise _UnboundedError


class _UnboundedError(Exception):
    """A basis function without an upper bound was met, or records without a case."""


def _defined(form: Normal, value: Callable[[Basis], Fraction], choose: Choose) -> Fraction:
    found = _best(form, value, choose)
    if found is None:
        raise InputError(
            "the policy covers no record: its cases exclude one another and there is no default."
        )
    return found


def _best(form: Normal, value: Callable[[Basis], Fraction], choose: Choose) -> Fraction | None:
    """Return the extreme of a form; None if it covers no record.

    Groups of parts are decided apart. Inside a group, forms that come up again are looked up: of
    decisions that overlap two by two there are then a few for each dimension, and not 2^n.
    """
    known: dict[Normal, Fraction | None] = {}

    def best(form: Normal) -> Fraction | None:
        if form == UNDEFINED:
            return None
        if form not in known:
            known[form] = decided(form)
        return known[form]

    def decided(form: Normal) -> Fraction | None:
        total = sum((weight * value(basis) for basis, weight in form.weights), Fraction(0))
        for group in independent(form.parts):
            together = Normal(parts=frozenset(group))
            first = min(part.dimension for part in group)
            values = named_values(first, [together])
            losses = [best(restrict(together, first, known_value)) for known_value in values]
            defined = [loss for loss in losses if loss is not None]
            if not defined:
                return None
            total += choose(defined)
        return total

    return best(form)
