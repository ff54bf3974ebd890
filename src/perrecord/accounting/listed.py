"""What a budget lists one by one, tapered answers and weighted quantiles, as a user types it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from perrecord.exact import figure_up, text
from perrecord.policy.policy import Policy
from perrecord.policy.terms import Currency, SizeLoss
from perrecord.policy.weighing import WeighedChoice

_USUAL_NU = 7


def budget_words(budget: Policy) -> str:
    """Return a budget on one line, what it lists also as a spec writes it."""
    shown = ", ".join(
        kind.in_a_spec(terms, budget.currency) for kind in _KINDS if (terms := kind.terms(budget))
    )
    return f"{budget}, in a spec {shown}" if shown else str(budget)


def listing_advice(spent: Policy, policy: Policy, budget: Policy) -> str:
    """Return what a budget would list that covers what is spent and this charge; "" if it does.

    The lists are whole: what the budget lists already is in them, raised where it is short.
    """
    return "".join(kind.advice(spent, policy, budget) for kind in _KINDS)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of answers that no amount covers, so that a budget lists them."""

    key: str
    """The entry of a spec's budget, and the argument of `Budget`."""
    rule: str
    """When a budget covers them."""
    is_one: Callable[[SizeLoss], bool]
    spec: Callable[[SizeLoss, Currency], str]
    python: Callable[[SizeLoss, Currency], str]

    def terms(self, policy: Policy) -> list[SizeLoss]:
        found = (term for term in policy.form.terms if isinstance(term, SizeLoss))
        return [term for term in found if self.is_one(term)]

    def in_a_spec(self, terms: list[SizeLoss], currency: Currency) -> str:
        return f"{self.key}: [{', '.join(self.spec(term, currency) for term in terms)}]"

    def in_python(self, terms: list[SizeLoss], currency: Currency) -> str:
        return f"{self.key}=[{', '.join(self.python(term, currency) for term in terms)}]"

    def advice(self, spent: Policy, policy: Policy, budget: Policy) -> str:
        listed, needed = self._amounts(budget), self._amounts(spent + policy)
        if all(amount <= listed.get(each, 0) for each, amount in needed.items()):
            return ""
        whole = [
            replace(each, amount=max(listed.get(each, Fraction(0)), needed.get(each, Fraction(0))))
            for each in {**listed, **needed}
        ]
        charges = "this charge" if spent.is_below(Policy.zero(spent.currency)) else "all charges"
        return (
            f" {self.rule}; one that covers {charges} would list, in a spec, "
            f"{self.in_a_spec(whole, budget.currency)}, and in Python "
            f"{self.in_python(whole, budget.currency)}."
        )

    def _amounts(self, policy: Policy) -> dict[SizeLoss, Fraction]:
        """Return how many there are of each, which stands for itself with the amount 1."""
        return {replace(term, amount=Fraction(1)): term.amount for term in self.terms(policy)}


def _taper_in_a_spec(term: SizeLoss, currency: Currency) -> str:
    (at,), given = term.growth.usual_sizes(), term.growth.parameters()
    nu = "" if given["nu"] == _USUAL_NU else f", nu: {given['nu']}"
    blur = f", blur: {text(given['by'])}" if "by" in given else ""
    return (
        f"{{measure: {term.measure}, at: {text(at)}, {currency.value}: {_price(term)}, "
        f"times: {math.ceil(term.amount)}{nu}{blur}}}"
    )


def _taper_in_python(term: SizeLoss, currency: Currency) -> str:
    (at,), given = term.growth.usual_sizes(), term.growth.parameters()
    nu = "" if given["nu"] == _USUAL_NU else f", nu={given['nu']}"
    name, blur = ("blurred", f', by="{text(given["by"])}"') if "by" in given else ("tapered", "")
    return (
        f"{math.ceil(term.amount)} * Policy.{name}({currency.value}={_price(term)!r}, "
        f"measure={term.measure!r}, at={_number(at)}{blur}{nu})"
    )


def _price(term: SizeLoss) -> str:
    """Return what a record of the usual size loses, rounded up."""
    (at,) = term.growth.usual_sizes()
    return figure_up(term.growth.loss(at).amount, 4)


def _weight_in_a_spec(term: SizeLoss, currency: Currency) -> str:
    given = term.growth.parameters()
    return (
        f"{{measure: {term.measure}, at: {text(given['at'])}, {currency.value}: "
        f"{text(given['rho'])}, times: {math.ceil(term.amount)}}}"
    )


def _weight_in_python(term: SizeLoss, currency: Currency) -> str:
    given = term.growth.parameters()
    return (
        f"{math.ceil(term.amount)} * Policy.weighed({currency.value}={text(given['rho'])!r}, "
        f"measure={term.measure!r}, at={_number(given['at'])})"
    )


def _number(value: Fraction) -> str:
    """Return a number as Python takes it: whole, or exact text."""
    return str(value.numerator) if value.denominator == 1 else repr(text(value))


_KINDS = (
    _Kind(
        "tapers",
        "A budget covers tapered answers only if it lists that many of them",
        lambda term: "nu" in term.growth.names(),  # the loss of Student noise
        _taper_in_a_spec,
        _taper_in_python,
    ),
    _Kind(
        "weights",
        "A budget covers weighted quantiles only if it lists that many of them, or a split of the "
        "weight",
        lambda term: isinstance(term.growth, WeighedChoice),
        _weight_in_a_spec,
        _weight_in_python,
    ),
)
