"""Random derived measures and weights from a seed, each with its meaning in lines of its own.

They come from a seed of their own, beside what is random otherwise, which stays as it was (T36).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from perrecord.lab.audit.random_queries import FILTERS, keys_of
from perrecord.lab.audit.random_tables import DECLARED, VALUES
from perrecord.policy.split import Split
from perrecord.policy.weighing import Weighting
from perrecord.queries.query import Query
from perrecord.tables.measures import Measure, Outside
from perrecord.tables.weights import Weight

_STEPS = ("1", "0.5", "0.01", "0.3", "1000")
_MEANINGS: dict[str, Callable[..., Fraction]] = {
    "emp * pay": lambda emp, pay: emp * pay,
    "pay - 3 * emp": lambda emp, pay: pay - 3 * emp,
    "emp * emp / 4 + 0.25": lambda emp: emp * emp / 4 + Fraction(1, 4),
    "-(emp + 1) * (pay - 0.5)": lambda emp, pay: -(emp + 1) * (pay - Fraction(1, 2)),
    "emp - emp + 0 * rate": lambda emp, rate: Fraction(0),  # noqa: ARG005 - named, so it matters
    "rate * emp * 1e-3": lambda emp, rate: rate * emp / 1000,
}
_READS = {
    "emp * pay": ("emp", "pay"),
    "pay - 3 * emp": ("emp", "pay"),
    "emp * emp / 4 + 0.25": ("emp",),
    "-(emp + 1) * (pay - 0.5)": ("emp", "pay"),
    "emp - emp + 0 * rate": ("emp", "rate"),
    "rate * emp * 1e-3": ("emp", "rate"),
}
_WEIGHT = "rent"


@dataclass(frozen=True, slots=True)
class DerivedTable:
    """A table with derived measures and a weight; what each of them is, said once more."""

    written: Mapping[str, tuple[str, Fraction, Fraction, Outside]]
    """Of each derived measure its expression, its step, its largest value and what is beyond."""
    weight: Weight
    largest_weight: Fraction

    @property
    def declared(self) -> dict[str, Any]:
        """How the table is declared: `table(arrow(rows), **declared)`."""
        measures: dict[str, Measure] = {
            "emp": Measure(largest=10**9, outside="cut"),
            "pay": Measure("0.5", largest=10**9, outside="cut"),
            "rate": Measure("0.01", largest=10**6),
        }
        for name, (expression, step, largest, outside) in self.written.items():
            measures[name] = Measure(step, expression=expression, largest=largest, outside=outside)
        return {**DECLARED, "measures": measures, "weight": self.weight}

    def faults(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield the measures of a record that are not what they should be."""
        weight = record[_WEIGHT]
        if weight is not None and abs(weight) > self.largest_weight:
            yield _WEIGHT
        for name, (expression, step, largest, outside) in self.written.items():
            exactly = meant(expression, record)
            wanted = None if exactly is None else _rounded(exactly, step, largest, outside)
            if record[name] != wanted:
                yield name
        for name in ("emp", "pay", "rate", *self.written):
            value = record[name]
            product = None if weight is None or value is None else weight * value
            if record[f"weighted_{name}"] != product:
                yield f"weighted_{name}"


def meant(expression: str, record: Mapping[str, Any]) -> Fraction | None:
    """Return what one of the random expressions means for a record, exactly."""
    values = [record[each] for each in _READS[expression]]
    return None if None in values else _MEANINGS[expression](*values)


def _rounded(
    value: Fraction, step: Fraction, largest: Fraction, outside: Outside
) -> Fraction | None:
    """Return a number on its grid: half a step up, in size, and what is not whole cut off."""
    size = (abs(value) / step + Fraction(1, 2)).__floor__() * step
    if size > largest:
        if outside == "null":
            return None
        size = largest
    return size if value >= 0 else -size


def derived_table(random: Random) -> DerivedTable:
    """Return a table with one to three derived measures, and a weight."""
    written: dict[str, tuple[str, Fraction, Fraction, Outside]] = {}
    for index in range(random.randrange(1, 4)):
        step = Fraction(random.choice(_STEPS))
        largest = step * random.choice([1, 60, 10**6])
        outside: Outside = random.choice(["null", "cut"])
        written[f"d{index}"] = (random.choice(list(_MEANINGS)), step, largest, outside)
    largest_weight = Fraction(random.choice([1, 5, 1000]))
    weight = Weight(_WEIGHT, "0.1", largest=largest_weight)
    return DerivedTable(written, weight, largest_weight)


def query(random: Random, found: DerivedTable, currency: str) -> Query:
    """Return a query of totals, averages and quantiles of derived and weighted measures."""
    asked = Query()
    condition = random.choice([each for each in FILTERS if "load" not in (each or "")])
    if condition is not None and "rent" not in condition and random.random() < 0.4:
        asked = asked.where(condition)
    columns = random.sample([name for name in VALUES if name != "emp"], random.choice([0, 1, 2]))
    if columns:
        asked = asked.group_by(*columns, keys=keys_of(random, columns))
    amount: dict[str, Any] = {currency: random.choice(["0.1", "1/3", 2])}
    measures = found.declared["measures"]
    weighted = {name: measures[name].resolution / 10 for name in measures}
    steps = {
        _WEIGHT: Fraction(1, 10),
        **{name: measures[name].resolution for name in found.written},
        **{f"weighted_{name}": step for name, step in weighted.items()},
    }
    for index, measure in enumerate(random.sample(list(steps), 3)):
        step, name = steps[measure], f"a{index}"
        match random.choice(["split", "exact", "clamp", "taper", "quantile", "average"]):
            case "split":
                asked = asked.sum(measure, split=Split({measure: 5 * step}), name=name, **amount)
            case "exact":
                split = Split({measure: 50 * step})
                asked = asked.sum(measure, split=split, accounting="exact", name=name, **amount)
            case "clamp":
                asked = asked.sum(measure, clamp=(-3 * step, 40 * step), name=name, **amount)
            case "taper":
                asked = asked.sum(measure, taper=50 * step, name=name, **amount)
            case "quantile":
                candidates = [0, step, 5 * step / 2, 50 * step]
                other = random.choice(list(steps))
                weight = Weighting(other, at=random.choice([1, 30, 10**4]) * steps[other])
                asked = asked.quantile(
                    measure, "0.3", candidates=candidates, weight=weight, name=name, **amount
                )
            case _:
                split = Split({measure: 5 * step})
                asked = asked.average(measure, split=split, name=name, **amount)
    return asked
