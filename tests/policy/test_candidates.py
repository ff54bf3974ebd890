"""A few candidates of a quantile stand for all when a change is priced."""

from fractions import Fraction
from itertools import permutations
from random import Random

import pytest

from perrecord import InputError
from perrecord.policy.choices import ChosenCandidate
from perrecord.policy.scopes import Scope


def chosen(candidates, level):
    """Return a quantile among candidates that costs a record 1 at most."""
    return ChosenCandidate(Fraction(1), "x", level, candidates, Scope((), is_certain=True))


def widest(candidates, level, values):
    """Return how far two distances may move apart, over all pairs of candidates."""
    moves = []
    count = sum(sign for sign, _ in values)
    for candidate in candidates:
        below = sum(sign for sign, value in values if value < candidate) - level * count
        above = sum(sign for sign, value in values if value > candidate) - (1 - level) * count
        moves.append((min(0, below, above), max(0, below, above)))
    return max((high - low for (_, high), (low, _) in permutations(moves, 2)), default=0)


def test_a_few_candidates_stand_for_all():
    """Values between, at and beyond candidates, added and taken away."""
    random = Random(1)
    for _ in range(600):
        some = sorted(random.sample(range(40), random.choice([1, 2, 3, 5, 12])))
        candidates, level = tuple(map(Fraction, some)), Fraction(random.randrange(1, 10), 10)
        values = [
            (random.choice([1, -1]), Fraction(random.randrange(-2, 84), 2))
            for _ in range(random.randrange(6))
        ]
        found = chosen(candidates, level)._widest(values)
        assert found == widest(candidates, level, values)


def test_candidates_that_do_not_rise_are_refused():
    """As a document might list them that nobody of ours wrote."""
    with pytest.raises(InputError, match="do not rise"):
        chosen((Fraction(2), Fraction(1)), Fraction(1, 2))
