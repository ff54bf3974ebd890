"""What a change costs, and how often it is told, by docs/policy-format.md alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

from perrecord.lab.audit.shown import by_hand, students
from perrecord.lab.audit.shown.document import (
    Json,
    Row,
    cell_of,
    chosen,
    measures_read,
    pieces_of,
    shift_of,
    slots_of,
    votes,
    weighed_loss,
)
from perrecord.lab.audit.shown.numerals import AtMost, Expected, amount


@dataclass(frozen=True, slots=True)
class Cost:
    """A loss as far as it is a fraction, and the irrational rest of it: just below, or about."""

    exact: Fraction = Fraction(0)
    rest: Fraction | float = Fraction(0)

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.exact + other.exact, self.rest + other.rest)

    @property
    def value(self) -> float:
        """The loss as a float."""
        return float(self.limit)

    @property
    def limit(self) -> Fraction | float:
        """The loss, as a fraction where that is known to be just below it."""
        is_close = isinstance(self.rest, Fraction)
        return self.exact + self.rest if is_close else float(self.exact) + self.rest

    def shown(self) -> Expected:
        """Return the loss as people read it: exactly where that is short, else rounded up."""
        return AtMost(self.limit, 6) if self.rest else amount(self.exact)


def change_of(document: Json, before: Row, after: Row) -> Cost:
    """Return what it costs that one record is replaced by another."""
    return sum((charge_of(each, before, after) for each in document["charges"]), Cost())


def charge_of(charge: Json, before: Row, after: Row) -> Cost:
    """Return the part of one charge."""
    if before == after:
        return Cost()
    found = Cost()
    for output in charge["outputs"]:
        ways = _ways(output, charge["policy"], before, after)
        costs = (_output(output, charge, *each) for each in ways)
        found += max(costs, key=lambda cost: cost.limit)
    return found


def _output(output: Json, charge: Json, before: Row, after: Row) -> Cost:
    currency = charge["policy"]["currency"]
    match output["type"]:
        case "number":
            return _number(output, charge["noise"][output["noise"]], currency, before, after)
        case "choice":
            return _choice(output, currency, before, after)
        case _:
            return _selection(output, charge["policy"], before, after)


def _ways(output: Json, policy: Json, before: Row, after: Row) -> list[tuple[Row, Row]]:
    """Return both records, and once more with another value of what may follow from a dimension.

    That is a column that neither record says, where another column differs that is no measure.
    """
    moved = [each for each in {*before, *after} if before.get(each) != after.get(each)]
    if all(isinstance(before.get(each), Fraction | None) for each in moved):
        return [(before, after)]
    columns = [*output.get("by", ()), output.get("distinct")]
    columns += [
        key
        for record in (before, after)
        for slot in slots_of(policy, record)
        for key in slot["keys"]
    ]
    unsaid = {each for each in columns if each and each not in before and each not in after}
    return [(before, after), (before, {**after, **dict.fromkeys(unsaid, "another")})]


def _cell(columns: Sequence[str], record: Row) -> list[Any]:
    """Return the values that cells go by."""
    return [(type(record.get(name)), record.get(name)) for name in columns]


def _number(output: Json, noise: Json, currency: str, before: Row, after: Row) -> Cost:
    moves = []
    for record in (before, after):
        cell = cell_of(noise["cells"], record)
        if cell is not None:
            shift = Fraction(1) if output["distinct"] else shift_of(noise, cell, record)
            moves.append((cell, shift))
    if len(moves) < 2 or _cell(output["by"], before) != _cell(output["by"], after):
        return sum((_shifted(cell, shift, currency) for cell, shift in moves), Cost())
    (cell, one), (_, other) = moves
    if "blurred_by" in cell:
        is_sure = noise["certain"] and output["certain"]
        return _blurred(cell, one, other, currency, is_sure=is_sure)
    if output["distinct"] and output["certain"]:
        is_another = before.get(output["distinct"]) != after.get(output["distinct"])
        return _shifted(cell, Fraction(is_another), currency)
    if noise["certain"] and output["certain"]:
        return _shifted(cell, other - one, currency)
    worst = max(abs(here * one - there * other) for here, there in product((0, 1), repeat=2))
    return _shifted(cell, worst, currency)


def _blurred(cell: Json, one: Fraction, other: Fraction, currency: str, *, is_sure: bool) -> Cost:
    """Return what a blurred number costs: both values at once, or one after the other (T7)."""
    spread, by, nu = (
        Fraction(cell["spread"]),
        Fraction(cell["blurred_by"]),
        students.nu_of(cell["law"]),
    )
    price = partial(students.blurred, spread, by, nu, currency)
    if is_sure:
        return Cost(rest=price(other - one, one**2, other**2))
    first, second = (price(each, Fraction(0), each**2) for each in (one, other))
    if currency == "epsilon":
        return Cost(rest=first + second)
    return Cost(rest=(math.sqrt(first) + math.sqrt(second)) ** 2)


def _shifted(cell: Json, shift: Fraction, currency: str) -> Cost:
    if "blurred_by" in cell:
        return _blurred(cell, Fraction(0), shift, currency, is_sure=True)
    spread, nu = Fraction(cell["spread"]), students.nu_of(cell["law"])
    if nu:
        kind = "tapered" if currency == "rho" else "tapered_epsilon"
        return Cost(rest=students.loss(kind, spread, nu, abs(shift)))
    return Cost(shift**2 / (2 * spread) if cell["law"] == "gaussian" else abs(shift) / spread)


def _choice(output: Json, currency: str, before: Row, after: Row) -> Cost:
    level = Fraction(output["level"])
    values = [
        (sign * votes(output.get("weight"), record), record[output["measure"]])
        for sign, record in ((-1, before), (1, after))
        if output["among"] is None or chosen(output["among"], record, "passes")
    ]
    known = [(sign, value) for sign, value in values if value is not None]
    alone = [_reach(output, [each]) for each in known]
    if _cell(output["by"], before) != _cell(output["by"], after):
        reaches = alone
    else:
        reaches = [_reach(output, known) if output["certain"] else sum(alone, Fraction(0))]
    found, amount_ = Cost(), Fraction(output["amount"])
    for reach in reaches:
        at = Fraction(output["weight"]["at"]) if "weight" in output else 1
        share = reach / (2 * max(level, 1 - level) * at)
        if currency != "rho":
            found += Cost(amount_ * share)
        elif share:
            found += Cost(rest=float(weighed_loss(amount_, share)))
    return found


def _reach(output: Json, values: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Return how far the changes of two candidates' distances from the quantile can be apart."""
    level = Fraction(output["level"])
    ends = []
    for candidate in map(Fraction, output["candidates"]):
        below = sum(sign * ((value < candidate) - level) for sign, value in values)
        above = sum(sign * ((value > candidate) - (1 - level)) for sign, value in values)
        ends.append((min(0, below, above), max(0, below, above)))
    apart = [high - low for (_, high), (low, _) in permutations(ends, 2)]
    return Fraction(max(apart, default=0))


def _selection(output: Json, policy: Json, before: Row, after: Row) -> Cost:
    sides = [_selected(policy, record) for record in (before, after)]
    if sides[0] and sides[1] and sides[0][0][2] == sides[1][0][2]:
        (rho, one, _), (_, other, _) = sides[0][0], sides[1][0]
        return Cost(rho * ((one - other) if output["certain"] else max(one, other)) ** 2)
    return Cost(sum((rho * m**2 for side in sides for rho, m, _ in side), Fraction(0)))


def _selected(policy: Json, record: Row) -> list[tuple[Fraction, int, list[Any]]]:
    """Return the rho, the pieces and the key of each selection that a record takes part in."""
    found = []
    for slot in slots_of(policy, record):
        split = slot["split"]
        pieces = 1 if split is None else pieces_of(policy["splits"][split], record)
        found.append((Fraction(slot["rho"]), pieces, _cell(slot["keys"], record)))
    return found


def delta_of_change(document: Json, before: Row, after: Row) -> float:
    """Return the chance that a key is shown which the other side lacks, whichever is larger."""
    kept = [1.0, 1.0]
    for charge in document["charges"]:
        policy = charge["policy"]
        for output in charge["outputs"]:
            if output["type"] != "selection" or before == after:
                continue
            ways = [
                [_selected(policy, record) for record in way]
                for way in _ways(output, policy, before, after)
            ]
            keys = [[[key for _, _, key in side] for side in sides] for sides in ways]
            if all(one == other for one, other in keys) and output["certain"]:
                continue
            for place, side in enumerate(ways[0]):
                for rho, pieces, _ in side:
                    start = next(slots_of(policy, (before, after)[place]))["threshold"] - pieces
                    kept[place] *= 1 - by_hand.tail(1 / (2 * rho), start)
    return max(1 - each for each in kept)


def told_apart(document: Json, before: Row, after: Row) -> tuple[float, float | None]:
    """Return how often a test with 5 % false alarms tells two records apart: at most, about."""
    loss, delta = change_of(document, before, after), delta_of_change(document, before, after)
    if document["total"]["currency"] != "rho":
        factor = math.exp(min(loss.value, 700.0))
        return min(1.0, 0.05 * factor, 1 - 0.95 / factor), None
    most = by_hand.power(loss.value, 0.05, delta)
    is_known = all(
        _is_wide(output, charge, before, after)
        for charge in document["charges"]
        for output in charge["outputs"]
        if charge_of({**charge, "outputs": [output]}, before, after).value
    )
    return most, by_hand.gaussian_power(loss.value) if is_known else None


def _is_wide(output: Json, charge: Json, *records: Row) -> bool:
    if output["type"] != "number":
        return False
    noise = charge["noise"][output["noise"]]
    cells = [cell for each in records if (cell := cell_of(noise["cells"], each)) is not None]
    wide = all(
        c["law"] == "gaussian" and Fraction(c["spread"]) >= 100 * Fraction(c["step"]) ** 2
        for c in cells
    )
    return bool(noise["certain"] and output["certain"] and wide)


def measures_published(document: Json) -> set[str]:
    """Return the measures that are added up, chosen from, or cut into pieces to select keys."""
    found: set[str] = set()
    for charge in document["charges"]:
        found |= {each["measure"] for each in charge["noise"] if each["moved"] == "values"}
        for output in charge["outputs"]:
            if output["type"] == "choice":
                found.add(output["measure"])
                found |= {output["weight"]["measure"]} if "weight" in output else set()
            if output["type"] == "selection":
                found |= measures_read(charge["policy"])
    return found
