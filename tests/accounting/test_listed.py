"""What a refusal says to list in a budget can be typed as it is, and covers what was refused."""

import re

import pytest
import yaml

from perrecord import Budget, BudgetExceededError, Policy
from perrecord.accounting.listed import budget_in_a_spec
from perrecord.accounting.refusals import check_budget
from perrecord.errors import shortened
from perrecord.release.spec.models import TaperedEntry, WeighedEntry

LISTED = {
    "tapered": Policy.tapered("0.2", measure="emp", at=50),
    "heavy tails": Policy.tapered("0.2", measure="emp", at=50, nu=3),
    "blurred": Policy.blurred("0.2", measure="emp", at=50, by="0.1"),
    "blurred, heavy tails": Policy.blurred("0.2", measure="emp", at=50, by="0.1", nu=3),
    "a broken size": Policy.tapered("0.2", measure="emp", at="12.5"),
    "tapered in epsilon": Policy.tapered(measure="emp", at=50, epsilon="0.5"),
    "blurred in epsilon": Policy.blurred(measure="emp", at=50, by="0.1", epsilon="0.5"),
}


@pytest.mark.parametrize("name", LISTED)
def test_what_is_said_to_be_listed_covers_the_answers(name):
    """Put into a spec's budget as it is printed, it pays for as many of them."""
    policy = LISTED[name] * 2
    whole = Budget(**{policy.currency.value: 1}, tapers=policy)
    typed = budget_in_a_spec(whole, {})
    assert typed.startswith(f"budget: {{{policy.currency.value}: 1, tapers: [")
    assert policy.is_below(of_a_spec(typed))


@pytest.mark.parametrize("name", [*LISTED, "weighted"])
def test_a_refusal_prints_the_whole_list_for_a_spec_and_for_python(name):
    """What the budget lists already is in it, and so is what was charged before."""
    asked = LISTED.get(name, Policy.weighed("0.2", measure="w", at=20))
    currency = asked.currency
    other = Policy.tapered(measure="pay", at=9, **{currency.value: "0.1"})
    amount, listed = {currency.value: "0.01"}, 3 * other + asked
    with pytest.raises(BudgetExceededError) as caught:
        check_budget(asked, 2 * asked + other, Budget(**amount, tapers=3 * other) + asked)
    said = str(caught.value)
    assert "covers all charges would list" in said
    kinds = ["weights"] if name == "weighted" else ["tapers"]
    for given in (of_a_spec(said), of_python(said)):
        needed = 3 * asked + (Policy.zero(currency) if kinds == ["weights"] else 3 * other)
        assert needed.is_below(given)
        assert given.is_below(needed + listed)


def test_a_first_charge_that_is_not_listed():
    """Nothing else was charged, and nothing else is meant."""
    asked = LISTED["tapered"]
    with pytest.raises(BudgetExceededError, match="one that covers this charge would list") as said:
        check_budget(Policy.zero(), asked, Budget("0.01"))
    assert asked.is_below(Budget("0.01") + of_python(str(said.value)))


def test_a_budget_that_is_short_of_its_amount_alone():
    """Its lists cover the tapered answers, at a lower price too, so nothing is said of them."""
    budget = Budget(1, tapers=2 * LISTED["tapered"])
    cheaper = Policy.tapered("0.19", measure="emp", at=50)
    with pytest.raises(BudgetExceededError, match="Ask for less rho") as caught:
        check_budget(Policy.zero(), cheaper + Policy.constant(3), budget)
    assert "tapers" not in str(caught.value)


def test_what_cannot_be_proved_has_the_list_too():
    """A blurred answer, where the budget lists tapered ones."""
    budget, asked = Budget(3, tapers=LISTED["tapered"]), LISTED["blurred"]
    with pytest.raises(BudgetExceededError, match="could not be proved") as caught:
        check_budget(Policy.zero(), asked, budget)
    assert f"Spent so far: {Policy.zero()}. This charge: {asked}. Budget: {budget}." in str(
        caught.value
    )
    assert asked.is_below(Budget(3) + of_a_spec(str(caught.value)))


def test_what_is_to_be_typed_is_never_cut():
    """However long it is; it stands on lines of its own."""
    asked = Policy.total(Policy.tapered("0.1", measure=f"measure_{n}", at=50) for n in range(60))
    with pytest.raises(BudgetExceededError) as caught:
        check_budget(Policy.zero(), asked, Budget(1))
    shown = shortened(str(caught.value))
    assert asked.is_below(of_a_spec(shown))
    assert asked.is_below(of_python(shown))


def of_a_spec(said: str) -> Policy:
    """Return what the lists of a spec in a message allow."""
    found = re.findall(r"(tapers|weights): (\[.*?\])", said)
    kinds = {"tapers": TaperedEntry, "weights": WeighedEntry}
    return Policy.total(
        kinds[key](**{name: _exact(value) for name, value in entry.items()}).policy()
        for key, written in found
        for entry in yaml.safe_load(written)
    )


def _exact(value: object) -> object:
    return str(value) if isinstance(value, float) else value


def of_python(said: str) -> Policy:
    """Return what the lists of Python in a message allow."""
    found = re.findall(r"(?:tapers|weights)=(\[.*?\])", said)
    return Policy.total(each for written in found for each in eval(written, {"Policy": Policy}))
