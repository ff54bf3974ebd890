"""The distribution of relative errors without draws, against draws and against its definition."""

import math

import numpy as np
import pyarrow as pa
import pytest

import perrecord
from perrecord import Keys, Query, Split
from perrecord.evaluate.accuracy.errors import accuracy, simulated_error
from perrecord.lab.experiments.univariate.spread import error_quantiles, share_within
from perrecord.queries.plan import plan

CELLS = 60
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
REPEATS = 60
SIGMAS = 5  # of a binomial share: one in 1.7 million for each comparison, one in 24,000 in all


@pytest.fixture(scope="module")
def source():
    """Return cells of very different sizes; the last is empty."""
    random = np.random.default_rng(2)
    cell = np.repeat(np.arange(CELLS - 1), 40)
    emp = np.ceil(random.pareto(1.2, len(cell)) * (1 + cell)).astype(np.int64)
    with perrecord.table(
        pa.table({"cell": cell, "emp": emp}), dimensions=["cell"], measures=["emp"]
    ) as table:
        yield table


def errors_of(source, query):
    """Return the errors of the one answer of a query by cell."""
    grouped = query.group_by("cell", keys=Keys.from_dict({"cell": range(CELLS)}))
    (errors,) = accuracy(plan(grouped, source.schema), source)
    return errors


QUERIES = {
    "splitting": Query().sum("emp", split=Split(emp=20), rho=1),
    "coarse noise": Query().sum("emp", split=Split(emp=5000), rho="0.1"),
    "little noise": Query().sum("emp", split=Split(emp=1), rho=2),
    "hardly any noise": Query().sum("emp", split=Split(emp=1), rho=50),
    "top-coding": Query().sum("emp", clamp=(0, 20), rho=1),
    "counting": Query().count(rho="0.5"),
    "averages": Query().average("emp", clamp=(0, 5000), rho=10),
}


def misfits(errors, quantiles):
    """Return the shares that draws do not bear out."""
    drawn = np.concatenate([simulated_error(errors, 1) for _ in range(REPEATS)])
    drawn = drawn[~np.isnan(drawn)]
    found = []
    for share, value in zip(SHARES, quantiles, strict=True):
        spread = SIGMAS * math.sqrt(share * (1 - share) / len(drawn))
        at_most, below = (drawn <= value * (1 + 1e-6)).mean(), (drawn < value * (1 - 1e-6)).mean()
        if at_most < share - spread or below > share + spread:
            found.append(share)
    return found


@pytest.mark.parametrize("name", QUERIES)
def test_draws_bear_the_quantiles_out(source, name):
    """Five quantiles of seven kinds of errors, by the samplers that releases use."""
    errors = errors_of(source, QUERIES[name])
    assert misfits(errors, error_quantiles(errors, SHARES)) == []


def test_errors_that_are_mostly_none_have_quantiles_of_none(source):
    """Noise of sigma^2 = 1/100 is 0 all but always."""
    errors = errors_of(source, QUERIES["hardly any noise"])
    assert error_quantiles(errors, SHARES) == [0.0] * 5


def test_quantiles_of_expected_errors_are_caught(source):
    """A twin: the spread of the cells' expected errors leaves out that of the noise."""
    errors = errors_of(source, QUERIES["splitting"])
    expected = errors.relative(errors.size)
    wrong = np.quantile(expected[~np.isnan(expected)], SHARES)
    assert misfits(errors, wrong) != []


@pytest.mark.parametrize("name", QUERIES)
def test_quantiles_are_where_the_share_reaches_them(source, name):
    """The share within is enough at the quantile, and not a little below it."""
    errors = errors_of(source, QUERIES[name])
    for share, value in zip(SHARES, error_quantiles(errors, SHARES), strict=True):
        assert share_within(errors, value) >= share
        assert value == 0 or share_within(errors, value * (1 - 1e-6)) <= share


def test_one_cell_has_the_library_s_own_reach():
    """QueryRelErr(95 %) of a single cell is its 95 % quantile."""
    with perrecord.table(pa.table({"emp": [400, 600]}), measures=["emp"]) as table:
        asked = Query().sum("emp", split=Split(emp=100), rho="0.5")
        (errors,) = accuracy(plan(asked, table.schema), table)
    assert error_quantiles(errors, [0.95]) == pytest.approx(
        errors.relative(errors.noise_reach).tolist(), rel=1e-8
    )


def test_cells_of_nothing_have_no_quantiles():
    """Zeros are left out; where nothing is left there are none."""
    with perrecord.table(pa.table({"emp": [0, 0]}), measures=["emp"]) as table:
        asked = Query().sum("emp", split=Split(emp=100), rho=1)
        (errors,) = accuracy(plan(asked, table.schema), table)
    assert error_quantiles(errors, SHARES) == [None] * 5
