"""What a refusal says to list in a budget is read by a spec, and covers what was refused."""

import re

import pytest
import yaml

from perrecord import Policy
from perrecord.accounting.refusals import budget_words
from perrecord.release.spec.models import TaperedEntry

LISTED = {
    "tapered": Policy.tapered("0.2", measure="emp", at=50),
    "heavy tails": Policy.tapered("0.2", measure="emp", at=50, nu=3),
    "blurred": Policy.blurred("0.2", measure="emp", at=50, by="0.1"),
    "blurred, heavy tails": Policy.blurred("0.2", measure="emp", at=50, by="0.1", nu=3),
    "tapered in epsilon": Policy.tapered(measure="emp", at=50, epsilon="0.5"),
    "blurred in epsilon": Policy.blurred(measure="emp", at=50, by="0.1", epsilon="0.5"),
}


@pytest.mark.parametrize("name", LISTED)
def test_what_is_said_to_be_listed_covers_the_answers(name):
    """Put into a spec's budget as it is printed, it pays for as many of them."""
    policy = LISTED[name] * 2
    written = re.search(r"tapers: (\[.*?\])", budget_words(policy))[1]
    (entry,) = yaml.safe_load(written)
    numbers = {key: str(value) if key in ("rho", "epsilon", "blur") else value
               for key, value in entry.items()}  # fmt: skip
    assert policy.is_below(TaperedEntry(**numbers).policy())
