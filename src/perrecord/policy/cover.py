"""Proof by covering: every term on the left is paid for by terms on the right.

    1                 <= pieces^p                    pieces >= 1
    (|x| / T)^p       <= pieces^p                    of a scheme without cap that holds T for x
    pieces^p          <= k^p * other pieces^p        k = the largest ratio of thresholds, rounded up
    pieces^p          <= cap^p                       of a scheme with a cap
    g(|x|)            <= g(T) * pieces^p             of a scheme without cap that holds T for x
    g(|x|)            <= c * |x|^p, or limit         where the growth g knows such numbers
    sum of l_i Q_i    <= max of Q_i                  weights l_i >= 0 that add up to 1

Which amount pays for which is a linear program over rationals, solved exactly. Most of it solves
itself. A plain term on the right, and a maximum whose options are single terms, is one purse: each
term on the left has a price in it, by the option that pays best, and prices add up to at most 1.
What only one purse can pay for is paid from it at once. With one purse, a usual budget, nothing
is left for the program.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from perrecord.exact import ceil_div
from perrecord.policy.growth import Growth
from perrecord.policy.normal import Basis, LargestOf, One, PiecesOf, PowerOf, SizeOf
from perrecord.policy.simplex import Row, maximum
from perrecord.policy.split import Split
from perrecord.policy.steps import Steps

Weights = dict[Basis, Fraction]


def covers(left: Weights, right: Weights, power: int, steps: Steps) -> bool:
    """Tell whether the terms on the right can pay for all the terms on the left."""
    demands = sorted(left, key=repr)
    purses, bundles = _purses(right), _bundles(right)
    prices = [_prices(demand, left[demand], purses, power, steps) for demand in demands]
    room = [Fraction(1)] * len(purses)
    open_demands = []
    for demand, own in zip(demands, prices, strict=True):
        if bundles or len(own) > 1:
            open_demands.append((left[demand], demand, own))
        elif not own:
            return False
        else:
            ((purse, price),) = own.items()
            room[purse] -= price
    if any(rest < 0 for rest in room):
        return False
    return not open_demands or _program(open_demands, room, bundles, power, steps)


@dataclass(frozen=True, slots=True)
class _Purse:
    """What the whole of a term on the right can be: one of several amounts of a single term."""

    options: Weights

    def price(self, demand: Basis, amount: Fraction, power: int, steps: Steps) -> Fraction | None:
        """Return the share of the purse that pays for the demand; None if none of it does."""
        best = max(self.options.values())
        if self.options.get(demand) == best and not isinstance(demand, PowerOf | SizeOf):
            return amount / best  # no option pays at a rate above 1 except for powers and growths
        worth = Fraction(0)
        for supply, held in self.options.items():
            steps.take()
            rate = _rate(supply, demand, power)
            if rate is not None:
                worth = max(worth, held * rate)
        return amount / worth if worth else None


def _purses(right: Weights) -> list[_Purse]:
    found = []
    for basis, weight in sorted(right.items(), key=lambda item: _key(item[0])):
        if not isinstance(basis, LargestOf):
            found.append(_Purse({basis: weight}))
        elif not _is_bundle(basis):
            options: Weights = {}
            for option in basis.options:
                ((supply, held),) = option.weights
                options[supply] = max(weight * held, options.get(supply, Fraction(0)))
            found.append(_Purse(options))
    return found


def _is_bundle(largest: LargestOf) -> bool:
    """Tell whether some option of a maximum is itself a sum."""
    return any(len(option.weights) > 1 for option in largest.options)


@dataclass(frozen=True, slots=True)
class _Bundle:
    """A maximum with options that are sums: a share of one is that share of each of its terms."""

    options: list[Weights]

    @property
    def supplies(self) -> list[Basis]:
        """Every term of any option."""
        return sorted({basis for option in self.options for basis in option}, key=repr)


def _bundles(right: Weights) -> list[_Bundle]:
    return [
        _Bundle(
            [
                {each: weight * held for each, held in option.weights}
                for option in sorted(basis.options, key=lambda option: _order(option.weights))
            ]
        )
        for basis, weight in sorted(right.items(), key=lambda item: _key(item[0]))
        if isinstance(basis, LargestOf) and _is_bundle(basis)
    ]


def _key(basis: Basis) -> str:
    """Sort terms alike in every process, so that all take the same number of steps."""
    if isinstance(basis, LargestOf):
        return "; ".join(sorted(str(_order(option.weights)) for option in basis.options))
    return repr(basis)


def _order(weights: Iterable[tuple[Basis, Fraction]]) -> list[str]:
    return sorted(f"{_key(basis)} {weight}" for basis, weight in weights)


def _prices(
    demand: Basis, amount: Fraction, purses: list[_Purse], power: int, steps: Steps
) -> dict[int, Fraction]:
    found = ((i, purse.price(demand, amount, power, steps)) for i, purse in enumerate(purses))
    return {i: price for i, price in found if price is not None}


_Demand = tuple[Fraction, Basis, dict[int, Fraction]]
"""How much of which term is asked for, and its price in each purse that can pay for it."""


def _program(
    demands: list[_Demand], room: list[Fraction], bundles: list[_Bundle], power: int, steps: Steps
) -> bool:
    """Tell whether everything that is asked for can be paid, each thing by several if need be.

    A column is the share of a demand that one purse pays, what a term of a bundle pays, or the
    share that an option of a bundle has. Each purse, demand, bundle and term of a bundle has a row.
    """
    columns = count()
    purse_rows: list[Row] = [{} for _ in room]
    demand_rows: list[Row] = [{} for _ in demands]
    other_rows: list[Row] = []
    limits: list[Fraction] = []
    for row, (_, _, prices) in zip(demand_rows, demands, strict=True):
        for purse, price in prices.items():
            column = next(columns)
            row[column], purse_rows[purse][column] = Fraction(1), price
    for bundle in bundles:
        shares = {next(columns): option for option in bundle.options}
        other_rows.append(dict.fromkeys(shares, Fraction(1)))
        limits.append(Fraction(1))
        for supply in bundle.supplies:
            held = {
                column: -option[supply] for column, option in shares.items() if supply in option
            }
            for row, (amount, demand, _) in zip(demand_rows, demands, strict=True):
                steps.take()
                rate = _rate(supply, demand, power)
                if rate is not None:
                    column = next(columns)
                    row[column], held[column] = rate / amount, Fraction(1)
            other_rows.append(held)
            limits.append(Fraction(0))
    worth = {column: share for row in demand_rows for column, share in row.items()}
    rows = [*purse_rows, *demand_rows, *other_rows]
    every = [*room, *[Fraction(1)] * len(demands), *limits]
    return maximum(worth, rows, every, steps) == len(demands)


def _rate(supply: Basis, demand: Basis, power: int) -> Fraction | None:
    """Return how much of the demand one unit of the supply covers; None for nothing."""
    match supply, demand:
        case PowerOf(paid), PowerOf(asked) if paid == asked:
            return Fraction(1)
        case One() | PiecesOf(), One():
            return Fraction(1)
        case One(), PiecesOf(Split(cap=int() as cap)):
            return Fraction(1, cap**power)
        case PiecesOf(Split(cap=None) as split), PowerOf(measure) if measure in split.measures:
            return 1 / split.threshold(measure) ** power
        case _, SizeOf(measure, growth):
            return _rate_for_growth(supply, measure, growth, power)
        case PiecesOf(split), PiecesOf(other):
            factor = _factor(other, split)
            return None if factor is None else Fraction(1, factor**power)
        case _:
            return None


def _rate_for_growth(supply: Basis, measure: str, growth: Growth, power: int) -> Fraction | None:
    """Return how much of g(|x|) one unit of the supply covers; g is rounded up wherever it is met.

    With k pieces |x| <= k T, so that g(|x|) <= g(k T) <= c k^p, c being what it has at T.
    """
    most: Fraction | None = None
    match supply:
        case SizeOf(paid, own) if paid == measure:
            return own.pays_for(growth)
        case PiecesOf(Split(cap=None) as split) if measure in split.measures:
            most = growth.at_corner(split.threshold(measure))
        case PowerOf(paid) if paid == measure:
            most = growth.steepest(power)
        case One():
            most = growth.limit()
    return 1 / most if most else None


def _factor(small: Split, large: Split) -> int | None:
    """Return an integer k with m_small <= k * m_large for every record, where there is one.

    ceil(|x|/t) <= ceil(k |x|/T) <= k ceil(|x|/T) for an integer k >= T/t. A cap on the large side
    must not bite before the small side's does.
    """
    if not set(small.measures) <= set(large.measures):
        return small.cap
    ratios = [large.threshold(name) / threshold for name, threshold in small.thresholds]
    factor = max(1, *(ceil_div(ratio.numerator, ratio.denominator) for ratio in ratios))
    if large.cap is None:
        return factor if small.cap is None else min(factor, small.cap)
    return (
        None if small.cap is None else min(small.cap, max(factor, ceil_div(small.cap, large.cap)))
    )
