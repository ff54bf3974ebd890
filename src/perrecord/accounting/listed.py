"""What a budget lists one by one, tapered answers and weighted quantiles, as a user types it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from perrecord.errors import continued
from perrecord.exact import figure_up, text
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.policy.terms import Constant, Currency, Form, Largest, SizeLoss, SplitLoss, Term
from perrecord.policy.weighing import WeighedChoice

_USUAL_NU = 7
_STEPS = 10_000
"""For a hint, no more is compared."""


def budget_in_a_spec(budget: Policy, splits: Mapping[Scheme, str]) -> str | None:
    """Return the budget of a spec with these splits on one line; None if it cannot write it.

    >>> from perrecord import Split
    >>> scheme = Split(emp=50)
    >>> print(budget_in_a_spec(Policy.split(1, scheme), {scheme: "moderate"}))
    budget: {rho: 1, splits: [moderate]}
    """
    own = {id(term) for kind in _KINDS for term in kind.terms(budget)}
    shared = [term for term in budget.form.terms if id(term) not in own]
    found = _shared(shared[0]) if len(shared) == 1 and not budget.slots else None
    if found is None or any(scheme not in splits for scheme in found[1]):
        return None
    amount, schemes = found
    names = ", ".join(splits[scheme] for scheme in schemes)
    entries = [f"{budget.currency.value}: {text(amount)}"]
    entries += [f"splits: [{names}]"] if names else []
    for kind in _KINDS:
        if terms := kind.terms(budget):
            entries.append(kind.in_a_spec(terms, budget.currency))
    return f"budget: {{{', '.join(entries)}}}"


def _shared(term: Term) -> tuple[Fraction, list[Scheme]] | None:
    """Return the amount that a budget spreads, and over which schemes; None if it is none."""
    match term:
        case Constant(amount):
            return amount, []
        case SplitLoss(amount, scheme):
            return amount, [scheme]
        case Largest(options):
            found = [_shared(each.terms[0]) for each in options if len(each.terms) == 1]
            known = [each for each in found if each is not None]
            if len(known) == len(options) and len({amount for amount, _ in known}) == 1:
                return known[0][0], [scheme for _, schemes in known for scheme in schemes]
    return None


def listing_advice(spent: Policy, policy: Policy, budget: Policy) -> str:
    """Return what a budget would list that covers what is spent and this charge; "" if it does.

    The lists are whole: what the budget lists already is in them, raised where it is short. They
    stand on indented lines, which are never cut.
    """
    said = ""
    for kind in _KINDS:
        said = continued(said, kind.advice(spent, policy, budget))
    return said


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
        alone = Policy(policy.currency, Form(tuple(self.terms(spent + policy))))
        if alone.is_below(budget, most_steps=_STEPS):  # it is the amount that is short
            return ""
        whole = [
            replace(each, amount=max(listed.get(each, Fraction(0)), needed.get(each, Fraction(0))))
            for each in {**listed, **needed}
        ]
        charges = "this charge" if spent.is_below(Policy.zero(spent.currency)) else "all charges"
        return (
            f"{self.rule}; one that covers {charges} would list, in a spec,\n"
            f"  {self.in_a_spec(whole, budget.currency)}\nand in Python\n"
            f"  {self.in_python(whole, budget.currency)}"
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
