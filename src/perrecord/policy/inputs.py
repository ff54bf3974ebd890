"""What a policy is built from, checked: amounts, schemes, groups of records."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from perrecord.errors import AmountError, InputError
from perrecord.exact import Exact, parameter
from perrecord.policy.cases import Record
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import Currency


def amount_of(rho: Exact | None, epsilon: Exact | None) -> tuple[Currency, Fraction]:
    """Return the one amount that was given, and its currency.

    >>> amount_of("0.1", None)
    (<Currency.RHO: 'rho'>, Fraction(1, 10))
    """
    if (rho is None) == (epsilon is None):
        raise AmountError(
            'a policy needs one amount: rho, as in Policy.constant("0.1"), or '
            'epsilon, as in Policy.constant(epsilon="0.1").'
        )
    if isinstance(rho, Split | SplitBy):
        raise AmountError('rho is a split; the amount comes first: Policy.split("0.1", scheme).')
    if rho is not None:
        return Currency.RHO, not_negative(rho, "rho")
    return Currency.EPSILON, not_negative(epsilon, "epsilon")


def not_negative(value: object, what: str) -> Fraction:
    """Return an exact number of at least 0."""
    amount = parameter(value, what)
    if amount < 0:
        raise AmountError(f"{what} is {value}; expected a number that is not negative.")
    return amount


def scheme_of(split: object) -> Scheme:
    """Return a splitting scheme, plain or piecewise."""
    if not isinstance(split, Split | SplitBy):
        raise InputError(
            f"the split is a {type(split).__name__}; expected a Split, such as Split(employees=50)."
        )
    return split


def several(records: Iterable[Record]) -> Iterable[Record]:
    """Return records that were given as several, not one record by mistake."""
    if isinstance(records, str | Mapping) or not isinstance(records, Iterable):
        raise InputError(
            f"the records are a {type(records).__name__}; expected a list of records, such as "
            "[first, second]."
        )
    return records
