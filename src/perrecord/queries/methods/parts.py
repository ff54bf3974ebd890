"""Methods with their price: what an answer is given, alone or part by part (T5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from perrecord.errors import AmountError, CurrencyError, QueryError, about
from perrecord.exact import Exact, parameter, text
from perrecord.policy.cases import Cases
from perrecord.policy.inputs import scheme_of
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Currency
from perrecord.queries.methods import (
    Accounting,
    Blurring,
    Clamping,
    Method,
    OwnBlur,
    Splitting,
    Taper,
    Tapering,
    Widening,
)


@dataclass(frozen=True, slots=True)
class Priced:
    """The method of one part, and the currency of its amount."""

    method: Splitting | Clamping | Tapering | Blurring
    currency: Currency


@dataclass(frozen=True, slots=True, init=False)
class Parts:
    """A method for each part of a public partition; the key `...` is every other record (T5).

    >>> from perrecord import Split
    >>> parts = Parts(
    ...     "sector",
    ...     {"farm": splitting(Split(rent=50), rho="0.1"), ...: clamping(0, 500, rho="0.2")},
    ... )
    >>> parts.cases.default
    Clamping(amount=Fraction(1, 5), low=Fraction(0, 1), high=Fraction(500, 1))
    """

    cases: Cases[Method]
    currency: Currency

    def __init__(self, dimensions: str | tuple[str, ...], methods: Mapping[Any, Priced]) -> None:
        if not isinstance(methods, Mapping) or not all(
            isinstance(each, Priced) for each in methods.values()
        ):
            raise QueryError(
                "the parts are not a dictionary from values to methods; expected something like "
                '{"farm": splitting(Split(rent=50), rho="0.1"), ...: clamping(0, 500, rho="0.2")}.'
            )
        currencies = {each.currency for each in methods.values()}
        if len(currencies) != 1:
            raise CurrencyError("the parts need amounts in one currency, rho or epsilon.")
        cases = cases_of(dimensions, {key: each.method for key, each in methods.items()})
        object.__setattr__(self, "cases", cases)
        object.__setattr__(self, "currency", currencies.pop())


def method_of(
    *,
    split: Scheme | None = None,
    clamp: tuple[Exact, Exact] | None = None,
    taper: Taper | None = None,
    blur: Widening | OwnBlur | None = None,
    accounting: Accounting | None = None,
    rho: Exact | None = None,
    epsilon: Exact | None = None,
) -> Priced:
    """Return the one method that a total, or a part of it, was given."""
    given = {"split": split, "clamp": clamp, "taper": taper}
    found = [name for name, each in given.items() if each is not None]
    if len(found) != 1:
        raise QueryError(
            "a total needs exactly one of split (a splitting scheme), clamp (two bounds) and "
            f"taper (a size); found {' and '.join(found) or 'none of them'}."
        )
    if blur is not None and taper is None:
        raise QueryError(
            f"a blur widens the noise of a taper, not that of a {found[0]}; give a taper with it, "
            "such as 50, the size of a record that loses the amount.",
            about=("blur",),
        )
    if split is not None:
        chosen = "split" if accounting is None else accounting
        return splitting(scheme_of(split), rho=rho, epsilon=epsilon, accounting=chosen)
    if accounting is not None:
        raise QueryError(
            f"accounting is for splits; with {found[0]} a total has one price. Leave it out.",
            about=("accounting",),
        )
    if taper is not None:
        return _tapering(taper, blur, rho, epsilon)
    return clamping(*_pair(clamp), rho=rho, epsilon=epsilon)


def _pair(clamp: Any) -> tuple[Exact, Exact]:
    is_list = isinstance(clamp, tuple | list)
    if not is_list or len(clamp) != 2:
        found = f"a list of {len(clamp)}" if is_list else f"a {type(clamp).__name__}"
        raise QueryError(
            f"clamp is {found}; expected two numbers, the lowest and the highest value, such as 0 "
            "and 500.",
            about=("clamp",),
        )
    return clamp[0], clamp[1]


def splitting(
    split: Scheme,
    *,
    rho: Exact | None = None,
    epsilon: Exact | None = None,
    accounting: Accounting = "split",
) -> Priced:
    """Return the method of a split total, for one of several parts (T11)."""
    if accounting not in ("split", "exact"):
        raise QueryError(
            f"the accounting is {accounting!r}; expected 'split' or 'exact'.",
            about=("accounting",),
        )
    with about("split"):
        scheme = scheme_of(split)
    currency, amount = priced_amount(rho, epsilon)
    return Priced(Splitting(amount, scheme, accounting), currency)


def clamping(
    low: Exact, high: Exact, *, rho: Exact | None = None, epsilon: Exact | None = None
) -> Priced:
    """Return the method of a clamped total, for one of several parts (T12)."""
    with about("clamp"):
        bottom, top = parameter(low, "the lower bound"), parameter(high, "the upper bound")
        if not bottom < top:
            raise QueryError(
                f"the bounds are {text(bottom)} and {text(top)}; expected the lower one first."
            )
    currency, amount = priced_amount(rho, epsilon)
    return Priced(Clamping(amount, bottom, top), currency)


def tapering(taper: Taper, *, rho: Exact | None = None, epsilon: Exact | None = None) -> Priced:
    """Return the method of a tapered total, for one of several parts (T26)."""
    return _tapering(taper, None, rho, epsilon)


def _tapering(
    taper: Taper, blur: Widening | OwnBlur | None, rho: Exact | None, epsilon: Exact | None
) -> Priced:
    if not isinstance(taper, Taper):
        raise QueryError(
            f"the taper is a {type(taper).__name__}; expected one such as Taper(employees=50).",
            about=("taper",),
        )
    currency, amount = priced_amount(rho, epsilon)
    if isinstance(blur, OwnBlur):
        return Priced(Blurring(amount, taper, blur.by, blur.is_signed), currency)
    return Priced(Tapering(amount, taper, blur), currency)


def cases_of(dimensions: str | tuple[str, ...], given: Mapping[Any, Any]) -> Cases[Any]:
    """Return cases; the key `...` is the default."""
    rest = dict(given)
    default = rest.pop(..., None)
    return Cases.of(dimensions, rest, default)


_LEAST = Fraction(1, 10**120)


def priced_amount(rho: Exact | None, epsilon: Exact | None) -> tuple[Currency, Fraction]:
    """Return the one amount that an answer was given, and its currency."""
    currency, amounts = priced_amounts(rho, epsilon)
    if len(amounts) != 1:
        raise AmountError(
            "two amounts are for an average, its total and its count; give one.",
            about=(currency.value,),
        )
    return currency, amounts[0]


Amounts = Exact | tuple[Exact, ...]
"""What an answer pays: one amount, or one for each of its numbers."""


def priced_amounts(
    rho: Amounts | None, epsilon: Amounts | None
) -> tuple[Currency, tuple[Fraction, ...]]:
    """Return the amounts that an answer was given, each above 0, and their currency."""
    if (rho is None) == (epsilon is None):
        found = "none" if rho is None else "both"
        raise AmountError(
            "an answer needs one amount, rho under zCDP or epsilon under pure DP, such as a rho of "
            f"0.1; found {found}."
        )
    currency = Currency.RHO if epsilon is None else Currency.EPSILON
    given = rho if epsilon is None else epsilon
    with about(currency.value):
        several = given if isinstance(given, tuple | list) else (given,)
        return currency, tuple(positive(each, currency.value) for each in several)


def positive(given: object, what: str) -> Fraction:
    """Return an amount that is above 0, and whose noise a float can describe."""
    amount = parameter(given, what)
    if amount <= 0:
        raise AmountError(f"{what} is {text(amount)}; expected a number above 0, such as 0.1.")
    if not _LEAST <= amount <= 1 / _LEAST:
        raise AmountError(
            f"{what} is below 1e-120 or above 1e120; expected a number between, such as 0.1."
        )
    return amount
