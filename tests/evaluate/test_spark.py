"""Spark and DuckDB give the same losses, errors, rhos and tuned amounts."""

from random import Random

import numpy as np
import pytest

from perrecord import Query, Split
from perrecord.evaluate.accuracy.errors import accuracy
from perrecord.evaluate.losses.realised import losses
from perrecord.evaluate.tuning.fitness import fitness
from perrecord.evaluate.tuning.tune import tune
from perrecord.lab.audit import random_queries, random_tables
from perrecord.queries.plan import plan
from perrecord.tables.table import table
from tests import first
from tests.engines.conftest import spark  # noqa: F401 - a fixture
from tests.evaluate.losses.test_realised import check, select_cells, select_keys, workload
from tests.evaluate.reference import agree, expanded

pytestmark = pytest.mark.spark


def on_both(session, rows):
    """Open the same rows on DuckDB and on Spark."""
    arrow = random_tables.arrow(rows)
    declared = random_tables.DECLARED
    return table(arrow, **declared), table(session.createDataFrame(arrow), **declared)


@pytest.mark.parametrize(("seed", "size"), first(2, [(0, 2), (1, 1), (1, 2)]))
def test_losses_are_the_same(spark, seed, size):  # noqa: F811
    """Random workloads and both selections, and the reference's, too."""
    random = Random(seed)
    rows = random_tables.rows(random, 40)
    asked = workload(random, size)
    if seed == 0:
        asked = [select_keys(random, random_queries.scheme(random, "emp")), select_cells()]
    duckdb, sparkly = on_both(spark, rows)
    with duckdb, sparkly:
        planned = plan(asked, duckdb.schema)
        check(planned, sparkly, rows)
        here, there = losses(planned, duckdb), losses(planned, sparkly)
    assert agree(there.units.advanced, expanded(here.units.advanced))


def test_errors_and_rhos_are_the_same(spark):  # noqa: F811
    """Cell by cell, to the last bit: they are made of the same integers."""
    rows = random_tables.rows(Random(4), 60, extreme=False)
    keys = random_queries.Keys.from_dict({"sector": ["farm", "mine", "é", None]})
    asked = (
        Query()
        .rollup("sector", keys=keys)
        .count(rho="0.1")
        .sum("emp", clamp=(0, 10), rho="0.1")
        .sum("pay", split=Split(pay=2), rho="0.1")
    )
    duckdb, sparkly = on_both(spark, rows)
    with duckdb, sparkly:
        planned = plan(asked, duckdb.schema)
        for here, there in zip(accuracy(planned, duckdb), accuracy(planned, sparkly), strict=True):
            np.testing.assert_array_equal(here.reach, there.reach)
            np.testing.assert_array_equal(here.size, there.size)
        first, second = (fitness(planned, each, within="0.1") for each in (duckdb, sparkly))
        assert [r.rhos() for r in first.requirements] == [r.rhos() for r in second.requirements]
        for share in (None, "0.5"):
            assert agree(second.losses(sparkly, share), expanded(first.losses(duckdb, share)))


def test_tuning_is_the_same(spark):  # noqa: F811
    """Amounts, schemes and losses at percentiles: NULL keys, a filter, negative numbers."""
    rows = random_tables.rows(Random(5), 80, extreme=False)
    keys = random_queries.Keys.from_dict({"sector": ["farm", "mine", "é", None]})
    asked = {
        "sectors": Query()
        .where("emp > -100")
        .group_by("sector", keys=keys)
        .count(rho="0.1")
        .sum("pay", split=Split(pay=2, emp=5), rho="0.1")
        .sum("emp", split=Split(emp=5), rho="0.1")
    }
    duckdb, sparkly = on_both(spark, rows)
    with duckdb, sparkly:
        here, there = (
            tune(asked, each, "20% for 50% of cells", schemes={"fine": Split(pay=1, emp=2)})
            for each in (duckdb, sparkly)
        )
    assert here.policy == there.policy
    assert here.candidate == there.candidate
    for mine, theirs in zip(here.frontier.to_pylist(), there.frontier.to_pylist(), strict=True):
        assert (mine["policy"], mine["of"]) == (theirs["policy"], theirs["of"])
        for name in ("times", "loss", "least"):  # each engine has an atanh of its own
            assert mine[name] == pytest.approx(theirs[name], rel=1e-12)
    assert len(here.choices) > 5
