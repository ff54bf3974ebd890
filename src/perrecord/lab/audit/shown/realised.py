"""What records and units really lose, by hand: what they change in each noisy number (T7, T17)."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.lab.audit.shown import by_hand, students
from perrecord.lab.audit.shown.cell_errors import centre_of
from perrecord.lab.audit.shown.declared import exact
from perrecord.lab.audit.shown.document import Json, Row, votes, weighed_loss
from perrecord.lab.audit.shown.source import (
    CellNumber,
    TableAnswer,
    asked,
    groupings_of,
    is_declared,
    measure_of,
    noisy,
    passing,
    way_of,
    ways,
)


@dataclass(frozen=True, slots=True)
class ExpectedUnitLosses:
    """What units lose: really, and by the three bounds of T7."""

    realised: list[float]
    tight: list[float]
    advanced: list[float]
    simple: list[float]
    least: list[float]


def realised(spec: Json, members: Sequence[Row], answers: Sequence[TableAnswer]) -> float:
    """Return what records lose together, by their changes: change^2 / (2 sigma^2), and so on."""
    lost = math.fsum(_in_answer(spec, one, members) for one in answers)
    return lost + math.fsum(_in_selection(spec, members))


def _in_answer(spec: Json, one: TableAnswer, members: Sequence[Row]) -> float:
    lost = 0.0
    for key, records in one.cells:
        inside = [each for each in members if any(each is record for record in records)]
        if not inside:
            continue
        power = 2 if one.currency == "rho" else 1
        if {"median", "quantile"} & one.answer.keys():  # at its policy value
            lost += _choice(one, inside, power)
            continue
        numbers = noisy(spec, one, key, records)
        for change, number in zip(_changes(spec, one, inside), numbers, strict=True):
            lost += _cost(number, abs(change), _squares(one, inside), one.currency)
    return lost


def _choice(one: TableAnswer, inside: Sequence[Row], power: int) -> float:
    """Return what votes cost, or weights together (T14, T37)."""
    amount, weight = Fraction(one.amounts[0]), one.answer.get("weight")
    if weight is None:
        return float(amount * len(inside) ** power)
    whole = sum((votes(weight, each) for each in inside), Fraction(0)) / exact(weight["at"])
    return float(weighed_loss(amount, whole) if power == 2 else amount * whole)


def _squares(one: TableAnswer, inside: Sequence[Row]) -> Fraction:
    """Return the sum of the squared values of an answer's measure; nothing where it has none."""
    held = [each[one.answer["sum"]] or Fraction(0) for each in inside if "sum" in one.answer]
    return sum((each**2 for each in held), Fraction(0))


def _cost(number: CellNumber, change: Fraction, squares: Fraction, currency: str) -> float:
    nu, power = students.nu_of(number.law), 2 if currency == "rho" else 1
    if number.blur is not None:  # as if no other record widened the noise
        least, by = number.blur.least, number.blur.by
        return float(students.blurred(least, by, nu, currency, change, Fraction(0), squares))
    if nu:
        kind = "tapered" if power == 2 else "tapered_epsilon"
        return float(students.loss(kind, number.spread, nu, change))
    return float(change**2 / (2 * number.spread) if power == 2 else change / number.spread)


def _changes(spec: Json, one: TableAnswer, inside: Sequence[Row]) -> Iterator[Fraction]:
    answer, measure = one.answer, measure_of(one.answer)
    if "count_distinct" in answer:
        yield Fraction(len({each["firm"] for each in inside} - {None}))
        return
    held = [each for each in inside if measure is None or each[measure] is not None]
    if "count" in answer:
        yield Fraction(len(held))
        return
    centre = centre_of(spec, one) if "average" in answer else Fraction(0)
    yield sum((_cut(spec, one, each, measure or "") - centre for each in held), Fraction(0))
    if "average" in answer:
        yield Fraction(len(held))


def least(spec: Json, members: Sequence[Row], answers: Sequence[TableAnswer]) -> float:
    """Return the least that records together could lose by unbiased answers as accurate (T30).

    Of counts and totals over declared keys, none of them clamped, the largest counts.
    """
    found = [0.0]
    declared = {query["name"]: is_declared(query) for query in spec["queries"]}
    for one in answers:
        is_other = {"median", "quantile", "count_distinct", "blur"} & one.answer.keys()
        if is_other or not (declared[one.query] or not one.columns):
            continue
        cases, default = ([], None) if "count" in one.answer else ways(spec, one)
        is_cut = any(way is not None and way.bounds for way in [default, *(w for _, w in cases)])
        for key, records in one.cells:
            inside = [each for each in members if any(each is record for record in records)]
            if inside:
                numbers = zip(_changes(spec, one, inside), noisy(spec, one, key, records),
                              strict=True)  # fmt: skip
                found += [_least(*each) for each in list(numbers)[is_cut:]]
    return max(found)


def _least(change: Fraction, number: CellNumber) -> float:
    variance = by_hand.variance(number.law, number.spread, number.step)
    # next to no noise counts as 10^-200 squared steps
    return by_hand.least_loss(float(abs(change)), max(variance, 1e-200 * float(number.step) ** 2))


def _cut(spec: Json, one: TableAnswer, record: Row, measure: str) -> Fraction:
    bounds, value = way_of(spec, one, record["sector"]).bounds, Fraction(record[measure])
    return value if bounds is None else sorted([bounds[0], value, bounds[1]])[1]


def _in_selection(spec: Json, members: Sequence[Row]) -> Iterator[float]:
    """Yield what finding the keys costs, group by group: rho times pieces squared (T9)."""
    for query in spec["queries"]:
        if query.get("keys") != "found":
            continue
        select = spec["keys"]["found"]["select"]
        (columns,) = groupings_of(query)
        groups: dict[tuple[str, ...], int] = {}
        for record in passing(query, members):
            key = tuple(repr(record[name]) for name in columns)
            pieces = _pieces(spec["splits"][select["split"]], record)
            groups[key] = groups.get(key, 0) + pieces
        yield from (float(exact(select["rho"]) * pieces**2) for pieces in groups.values())


def _pieces(scheme: Json, record: Row) -> int:
    if "by" in scheme:
        scheme = scheme["cases"].get(record["sector"], scheme["default"])
    sizes = [
        math.ceil(abs(Fraction(record[name] or 0)) / exact(limit)) for name, limit in scheme.items()
    ]
    return max(1, *sizes)


def pieces_of_records(scheme: Json, records: Sequence[Row]) -> list[int]:
    """Return how many pieces each record makes."""
    return [_pieces(scheme, record) for record in records]


def units_of(records: Sequence[Row]) -> list[list[Row]]:
    """Return the records of each unit; without a unit a record is one of its own."""
    firms = dict.fromkeys(each["firm"] for each in records if each["firm"] is not None)
    named = [[each for each in records if each["firm"] == firm] for firm in firms]
    return named + [[each] for each in records if each["firm"] is None]


def unit_losses(
    spec: Json, records: Sequence[Row], losses: Sequence[Fraction], *, is_rho: bool
) -> ExpectedUnitLosses:
    """Return what the units of a source lose, given the losses of its records."""
    own = dict(zip(map(id, records), losses, strict=True))
    groups = units_of(records)
    answers = list(asked(spec, records))
    real = [realised(spec, group, answers) for group in groups]
    lost = [[float(own[id(each)]) for each in group if own[id(each)] > 0] for group in groups]
    if not is_rho:
        added = [math.fsum(each) for each in lost]
        return ExpectedUnitLosses(real, added, added, added, [])
    return ExpectedUnitLosses(
        real,
        [math.fsum(map(math.sqrt, each)) ** 2 for each in lost],
        list(map(_advanced, lost)),
        [max(len(each), 1) * math.fsum(each) for each in lost],
        [least(spec, group, answers) for group in groups],
    )


def _advanced(losses: Iterable[float]) -> float:
    """Return the least over k > 1 of the sum of k^j/(k - 1) P_(j), P descending."""
    ordered = sorted(losses, reverse=True)
    if len(ordered) < 2:
        return math.fsum(ordered)

    def bound(place: float) -> float:
        above = math.exp(place)  # k - 1
        return math.fsum(
            each * (1 + above) ** number / above for number, each in enumerate(ordered, 1)
        )

    low, high = -20.0, 15.0
    for _ in range(200):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if bound(one) < bound(two) else (one, high)
    return bound((low + high) / 2)
