"""Proof or counter-example by corners: where an inequality between policies is tightest.

Let the right side hold the pieces m of one scheme with thresholds T, besides a constant. Among
the records with m = k the left side, which grows with every |x|, is largest at the corner
|x_a| = k T_a, where the right side is the same. So the inequality holds for every record if and
only if it holds at the corners k = 1, 2, ... From some k on the growth decides; the corners before
are looked at.

Where the left holds growths g(|x|), each is replaced by c (|x| / T_a)^p, c being what it has at the
corner (g(T_a) for most), which is as large or larger at every corner: only a yes is certain then.
Growths on the right are left out.

If instead the right side holds only powers |x_a|^p, and the left the pieces of one scheme, the
tightest records have one |x_a| just above (k - 1) T_a and all else zero.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from perrecord.exact import ceil_div, sqrt_up
from perrecord.policy.cover import Weights
from perrecord.policy.normal import LargestOf, One, PiecesOf, PowerOf, SizeOf
from perrecord.policy.split import Split
from perrecord.policy.steps import Steps

_MOST_CORNERS = 20_000


@dataclass(frozen=True, slots=True)
class _Side:
    constant: Fraction
    pieces: dict[Split, Fraction]
    powers: dict[str, Fraction]

    @classmethod
    def of(cls, weights: Weights) -> "_Side":
        return cls(
            weights.get(One(), Fraction(0)),
            {basis.split: w for basis, w in weights.items() if isinstance(basis, PiecesOf)},
            {basis.measure: w for basis, w in weights.items() if isinstance(basis, PowerOf)},
        )


def walk(left: Weights, right: Weights, power: int, steps: Steps) -> bool | None:
    """Tell whether left <= right everywhere; None where this method cannot tell.

    The two sides share no basis function, and the left holds no maximum. Each corner is a step for
    every scheme.
    """
    if any(isinstance(basis, LargestOf) for basis in right):
        return None
    if any(isinstance(basis, SizeOf) for basis in (*left, *right)):
        return _walk_with_growths(left, right, power, steps)
    low, high = _Side.of(left), _Side.of(right)
    if len(high.pieces) > 1:
        return None
    if high.powers and not high.pieces:
        return _walk_up_steps(low, high, power)
    answer = _walk_corners(low, high, power, steps)
    # Powers on the right are left out of the walk. They are zero at a worst record when the left
    # has no pieces of its own; otherwise only a yes is certain.
    return answer if answer or not (high.powers and low.pieces) else None


def _walk_with_growths(left: Weights, right: Weights, power: int, steps: Steps) -> bool | None:
    plain: Weights = {
        basis: weight for basis, weight in right.items() if not isinstance(basis, SizeOf)
    }
    schemes = [basis.split for basis in plain if isinstance(basis, PiecesOf)]
    if len(schemes) != 1:
        return None
    steeper: Weights = {}
    for basis, weight in left.items():
        if isinstance(basis, SizeOf):
            if basis.measure not in schemes[0].measures:
                return None
            threshold = schemes[0].threshold(basis.measure)
            most = basis.growth.at_corner(threshold) / threshold**power
            basis, weight = PowerOf(basis.measure), weight * most  # noqa: PLW2901
        steeper[basis] = steeper.get(basis, Fraction(0)) + weight
    return True if walk(steeper, plain, power, steps) else None


@dataclass(frozen=True, slots=True)
class _Climb:
    """How one scheme's pieces on the left rise along the corners: ceil(k * speed), up to a cap."""

    weight: Fraction
    speed: Fraction
    cap: int | None

    def at(self, corner: int) -> int:
        steps = max(1, ceil_div(corner * self.speed.numerator, self.speed.denominator))
        return steps if self.cap is None else min(steps, self.cap)


@dataclass(frozen=True, slots=True)
class _Race:
    """slack + growth k^p against the sum of weight * climb^p, along the corners k."""

    slack: Fraction
    growth: Fraction
    climbs: list[_Climb]
    power: int
    steps: Steps

    def holds_up_to(self, horizon: int) -> bool | None:
        """Look at every corner up to the horizon; None if there are too many."""
        if horizon > _MOST_CORNERS:
            return None
        self.steps.take(1 + horizon * (1 + len(self.climbs)))
        return all(
            self.slack + self.growth * k**self.power
            >= sum(climb.weight * climb.at(k) ** self.power for climb in self.climbs)
            for k in range(1, horizon + 1)
        )

    def most(self) -> Fraction:
        """Return the most that all capped climbs together reach."""
        caps = [(climb.weight, climb.cap) for climb in self.climbs if climb.cap is not None]
        return sum((weight * cap**self.power for weight, cap in caps), Fraction(0))

    def horizon(self) -> int | None:
        """Return a corner from which on it holds if it holds up to there; None if it fails.

        Uses k * speed <= steps <= k * speed + 1.
        """
        free = [climb for climb in self.climbs if climb.cap is None]
        debt = self.most() - self.slack
        lead = self.growth - sum(climb.weight * climb.speed**self.power for climb in free)
        if lead < 0:
            return None
        if lead == 0:
            return self._level_horizon([climb.speed.denominator for climb in free], debt)
        debt += sum(climb.weight for climb in free)
        if self.power == 1:
            return max(0, math.ceil(debt / lead))
        slope = sum((climb.weight * climb.speed for climb in free), Fraction(0))
        return math.ceil((slope + sqrt_up(slope**2 + lead * max(debt, Fraction(0)))) / lead)

    def _level_horizon(self, denominators: list[int], debt: Fraction) -> int | None:
        """Decide when both sides grow alike: only rounding and caps are left."""
        if all(denominator == 1 for denominator in denominators):
            return 0 if debt <= 0 else None
        if self.power == 2:
            return None  # ceil(k s)^2 - (k s)^2 grows without bound
        settled = [math.ceil(climb.cap / climb.speed) for climb in self.climbs if climb.cap]
        return max(settled, default=0) + math.lcm(*denominators)


def _walk_corners(low: _Side, high: _Side, power: int, steps: Steps) -> bool | None:
    slack = high.constant - low.constant
    scheme, growth = next(iter(high.pieces.items()), (None, Fraction(0)))
    thresholds = dict(scheme.thresholds) if scheme else {}
    climbs = []
    for split, weight in low.pieces.items():
        if set(split.measures) <= thresholds.keys():
            speed = max(thresholds[name] / own for name, own in split.thresholds)
            climbs.append(_Climb(weight, speed, split.cap))
        elif split.cap is None:
            return False  # a measure that the right side does not see at all
        else:
            slack -= weight * split.cap**power
    if any(name not in thresholds for name in low.powers):
        return False
    growth -= sum(weight * thresholds[name] ** power for name, weight in low.powers.items())
    race = _Race(slack, growth, climbs, power, steps)
    horizon = race.horizon()
    if scheme is None or scheme.cap is None:
        return False if horizon is None else race.holds_up_to(horizon)
    # Beyond the cap the right side stands still, so the left must be bounded, and below there.
    if low.powers or any(climb.cap is None for climb in climbs):
        return False
    if slack + growth * scheme.cap**power < race.most():
        return False
    return race.holds_up_to(scheme.cap - 1 if horizon is None else min(horizon, scheme.cap - 1))


def _walk_up_steps(low: _Side, high: _Side, power: int) -> bool | None:
    """Decide pieces of one scheme on the left against powers on the right."""
    slack = high.constant - low.constant
    if low.powers:
        return False  # of measures that the right side does not see
    if len(low.pieces) != 1:
        return slack >= 0 if not low.pieces else None
    scheme, weight = next(iter(low.pieces.items()))
    if slack < weight:
        return False  # the zero record
    for name, threshold in scheme.thresholds:
        gain = high.powers.get(name, Fraction(0)) * threshold**power
        if scheme.cap is None and (gain < weight or (gain == weight and power == 2)):
            return False
        # slack + gain (k-1)^p - weight k^p is a parabola in k: look at its ends and its foot.
        looked = {2, scheme.cap or 2}
        if gain > weight:
            foot = gain / (gain - weight)
            looked |= {math.floor(foot), math.ceil(foot)}
        for k in looked:
            inside = k >= 2 and (scheme.cap is None or k <= scheme.cap)
            if inside and slack + gain * (k - 1) ** power < weight * k**power:
                return False
    return True
