"""Many copies of one small table, told apart by a public dimension: asking once runs every copy.

Copies share no record, and each has noise of its own, so the cells of one answer are as many
independent runs of the mechanism.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache, reduce
from math import ceil
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.accounting.entries import Charge
from perrecord.accounting.ledger import Ledger
from perrecord.laws import DiscreteGaussian, DiscreteLaplace, DiscreteStudent, Law
from perrecord.mechanisms.answers import Answers
from perrecord.noise import discrete_gaussian
from perrecord.policy.policy import Policy
from perrecord.released.columns import Chosen, Estimate, Ratio
from perrecord.session import Session
from perrecord.tables.keys import Keys
from perrecord.tables.measures import Measure
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table, table

Row = Mapping[str, Any]
Outputs = npt.NDArray[np.float64]
Attack = Callable[[Sequence[Answers], int], Outputs]
"""What somebody makes of the answers: one number for each world."""

_MOST_AT_ONCE = 500_000
_SOURCE = {"firm": pa.int64(), "sector": pa.string(), "emp": pa.int64()}
BLANK: Row = {"firm": None, "sector": None, "emp": None}
OWN, OTHER = "mine", "farm"
"""The sector of the record whose loss is bounded, and that of others."""


def rounds_of(runs: int) -> tuple[int, int]:
    """Return how many worlds to ask about at once, and how often, for at least so many runs."""
    worlds = min(runs, _MOST_AT_ONCE)
    return worlds, ceil(runs / worlds)


@contextmanager
def session_on(
    rows: Sequence[Row], worlds: int, policy: Callable[[Schema], Policy], times: int
) -> Iterator[Session]:
    """Give a session on so many copies of the rows, with a budget of so many times the policy."""
    with TemporaryDirectory(prefix="perrecord-") as folder, _opened(rows, worlds) as opened:
        budget = reduce(add, [policy(opened.schema)] * times)
        yield Session(opened, ledger=Ledger.create(Path(folder) / "ledger", budget))


def charged_policy(session: Session) -> Policy:
    """Return what the first question was charged."""
    return next(each for each in session.ledger.entries() if isinstance(each, Charge)).policy


def _opened(rows: Sequence[Row], worlds: int) -> Table:
    """Return a table that holds these rows once in every world."""
    numbers = pa.array(np.repeat(np.arange(worlds, dtype=np.int64), len(rows)))
    places = pa.array(np.tile(np.arange(len(rows), dtype=np.int64), worlds))
    columns = {
        name: pa.array([row[name] for row in rows], kind).take(places)
        for name, kind in _SOURCE.items()
    }
    return table(
        pa.table({"world": numbers, **columns}),
        name="worlds",
        unit="firm",
        dimensions=["world", "sector"],
        measures={"emp": Measure(), "fives": Measure(5, column="emp")},
    )


@lru_cache(maxsize=4)
def numbers_of(worlds: int) -> Keys:
    """Return the worlds as public keys."""
    return Keys.from_columns({"world": range(worlds)})


def weighted(changes: Mapping[str, int]) -> Attack:
    """Return the best attack on Gaussian answers: their sum, each weighted by change / variance.

    The changes are what the record adds to each answer of its own cell. Answers are taken by their
    names, the total and the count behind an average as `name` and `name_count`.
    """

    def attack(answers: Sequence[Answers], worlds: int) -> Outputs:
        outputs = np.zeros(worlds)
        for each in answers:
            for found in _estimates(each):
                weights = changes[found.name] / found.standard_errors() ** 2
                outputs += in_worlds(each, _units(found) * weights, OWN, worlds)
        return outputs

    return attack


def likeliest(changes: Mapping[str, int]) -> Attack:
    """Return the best attack on tapered answers: the log ratio of both laws, summed over answers.

    The changes are what the record adds to each answer, in units; others are 0 in its cell.
    """

    def attack(answers: Sequence[Answers], worlds: int) -> Outputs:
        outputs = np.zeros(worlds)
        for each in answers:
            for found in _estimates(each):
                seen = in_worlds(each, _units(found), OWN, worlds)
                change = changes[found.name]
                own = int(np.flatnonzero(pc.equal(each.keys["sector"], OWN))[0])
                law, step = found.laws[found.which[own]], float(found.step)
                outputs += _log_weights(law, (seen - change) / step)
                outputs -= _log_weights(law, seen / step)
        return outputs

    return attack


def _log_weights(law: Law, values: Outputs) -> Outputs:
    """Return the logarithms of what probabilities are proportional to, written out once more."""
    match law:
        case DiscreteStudent():
            return np.asarray(-(law.nu + 1) / 2 * np.log(float(law.spread) + values**2))
        case DiscreteGaussian():
            return np.asarray(-(values**2) / (2 * float(law.sigma_squared)))
        case _:
            assert isinstance(law, DiscreteLaplace)  # noqa: S101 - the last of the laws
            return np.asarray(-np.abs(values) / float(law.scale))


def beside(answers: Sequence[Answers], worlds: int) -> Outputs:
    """Return the record's cell less a cell of others: noise that both share would be gone."""
    (each,) = answers
    (found,) = _estimates(each)
    own, other = (in_worlds(each, _units(found), sector, worlds) for sector in (OWN, OTHER))
    return np.asarray(own - other)


def between(answers: Sequence[Answers], worlds: int) -> Outputs:
    """Return one answer less another: noise that both share would be gone."""
    (each,) = answers
    first, second = (in_worlds(each, _units(found), OWN, worlds) for found in _estimates(each))
    return np.asarray(first - second)


def chosen(answers: Sequence[Answers], worlds: int) -> Outputs:  # noqa: ARG001 - an Attack
    """Return which candidate was chosen: all that a quantile says."""
    (column,) = answers[0].columns
    assert isinstance(column, Chosen)  # noqa: S101 - the cases ask for one quantile
    return column.index.astype(np.float64)


def rows_in_each(rho: Fraction, worlds: int) -> Callable[[pa.Table], Outputs]:
    """Return a rho-zCDP mechanism on rows: the number of rows of each world, with noise."""

    def mechanism(rows: pa.Table) -> Outputs:
        counts = np.bincount(np.asarray(rows["world"]), minlength=worlds)
        return (counts + discrete_gaussian(1 / (2 * rho), worlds)).astype(np.float64)

    return mechanism


def in_worlds(answers: Answers, numbers: Outputs, sector: str, worlds: int) -> Outputs:
    """Return the number of each world, of one sector if there are several; -inf if unpublished."""
    keys = answers.keys
    is_wanted = np.ones(len(numbers), dtype=bool)
    if "sector" in keys.column_names:
        is_wanted = np.asarray(pc.equal(keys["sector"], sector))
    seen = np.full(worlds, -np.inf)
    seen[np.asarray(keys["world"])[is_wanted]] = numbers[is_wanted]
    return seen


def _estimates(answers: Answers) -> Iterator[Estimate]:
    for column in answers.columns:
        if isinstance(column, Ratio):
            yield from (column.total, column.count)
        elif isinstance(column, Estimate):
            yield column


def _units(found: Estimate) -> Outputs:
    return found.numbers.astype(np.float64) * float(found.step)
