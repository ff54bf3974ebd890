"""Tables that contradict each other by more than their noise: lists of keys are not complete.

It is found from published numbers and public noise alone, and is published.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import log
from typing import Any

import numpy as np

from perrecord.laws import DiscreteGaussian
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.parallel import in_threads
from perrecord.queries.hierarchies import Family
from perrecord.queries.hierarchies.placing import Layout
from perrecord.queries.hierarchies.sums import SumRows, neighbours, sum_rows
from perrecord.released.columns import Estimate
from perrecord.released.fitting.contradictions import FALSE_ALARMS, NoiseSizes
from perrecord.released.numbers import floats

WORDS = (
    "A published number is compared with the sum of those of the next finer table; where noise "
    f"alone would set any of them so far apart in at most one of {int(1 / FALSE_ALARMS):,} "
    "releases, a warning is given at the end of this page and in the manifest."
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two tables, and where a number of the one is farthest from the sum of the other's."""

    answer: str
    above: int
    below: int
    """The groupings of the two tables."""
    key: Mapping[str, Any]
    number: float
    total: float
    deviations: float
    """How many standard errors they are apart."""
    keys: int
    """In how many keys they are too far apart."""

    def words(self, names: Sequence[str]) -> str:
        """Return it for people; tables have names in the order of groupings."""
        above, below = names[self.above], names[self.below]
        key = ", ".join(f"{name} = {value}" for name, value in self.key.items())
        where = f"most for {key}" if key else "in total"
        return (
            f"the tables {above} and {below} contradict each other by more than their noise: "
            f"{self.answer} in {self.keys:,} {'key' if self.keys == 1 else 'keys'}, {where}, which "
            f"is {self.number:,.10g} in {above} and {self.total:,.10g} in the sum of {below}, "
            f"{self.deviations:,.3g} standard errors apart. Keys may be missing in the list of "
            f"{below}; consistent numbers have moved by what is missing."
        )


def contradictions(
    alike: Sequence[Family], layout: Layout, answers: Sequence[Answers], families: int
) -> Iterator[Contradiction]:
    """Yield the tables that contradict each other, of families over the same tables.

    Of so many families in all, a release whose lists are complete has no contradiction with a
    probability of at least 1 - FALSE_ALARMS.
    """
    noisy = [_noisy(family, answers, FALSE_ALARMS / families) for family in alike]
    for rows in sum_rows(alike[0], layout):
        compared = partial(_compared, rows=rows, answers=answers)
        for found in in_threads(compared, noisy, lambda _: 1):
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True, eq=False)
class _Noisy:
    """The numbers of a family, how large their noise is, and what is too unlikely."""

    family: Family
    columns: Sequence[Estimate]
    sizes: Sequence[NoiseSizes]
    limit: float


def _noisy(family: Family, answers: Sequence[Answers], chance: Fraction) -> _Noisy:
    columns = [_column(answers, family, place) for place in range(len(family.members))]
    made = sum(len(columns[above].numbers) for above, _ in neighbours(family))
    sizes, left = _sizes(columns, chance)
    return _Noisy(family, columns, sizes, log(2 * max(made, 1) / left))


def _column(answers: Sequence[Answers], family: Family, place: int) -> Estimate:
    member = family.members[place]
    column = answers[member.grouping].column(member.answer)
    assert isinstance(column, Estimate)  # noqa: S101 - only such answers belong to a family
    return column


def _sizes(columns: Sequence[Estimate], chance: Fraction) -> tuple[list[NoiseSizes], Fraction]:
    """Return the sizes of all noise, and the chance that is left for comparisons."""
    heavy = sum(
        len(each.numbers)
        for each in columns
        if not all(isinstance(law, DiscreteGaussian) for law in each.laws)
    )
    of_each = chance / 2 / heavy if heavy else None
    sizes = [NoiseSizes.of(each.laws, each.which, of_each) for each in columns]
    return sizes, chance / 2 if heavy else chance


def _compared(noisy: _Noisy, rows: SumRows, answers: Sequence[Answers]) -> Contradiction | None:
    """Return how the two tables contradict each other; None if they do not.

    Rows that are nearer than any noise of that variance makes unlikely are cleared at once.
    """
    family, sizes = noisy.family, noisy.sizes
    above, below = noisy.columns[rows.above], noisy.columns[rows.below]
    difference = rows.differences(above.numbers, below.numbers).reshape(rows.shape)
    of_sums = sizes[rows.below].summed(rows.listed, rows.sums)
    noise = sizes[rows.above].with_noise(of_sums, rows.shape)
    least = noise.least_distances(noisy.limit)
    may_be_far = ((difference > least) | (difference < -least)) & rows.is_sum
    some = np.flatnonzero(may_be_far)
    own, distance = noise.at(some, rows.shape), np.abs(floats(difference.ravel()[some]))
    exponents = own.exponents(distance)
    is_far = exponents > noisy.limit
    if not is_far.any():
        return None
    first, step = int(np.argmax(exponents)), float(above.step)
    worst, member = int(some[first]), family.members[rows.above]
    total = rows.sums(floats(below.numbers))[worst]
    return Contradiction(
        member.answer,
        member.grouping,
        family.members[rows.below].grouping,
        answers[member.grouping].keys.slice(worst, 1).to_pylist()[0],
        float(above.numbers[worst]) * step,
        float(total) * step,
        float(distance[first] / own.deviations[first]),
        int(is_far.sum()),
    )
