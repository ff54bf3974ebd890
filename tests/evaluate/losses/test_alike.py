"""Records that lose alike are kept as one row, and lose what each of them does."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from perrecord import Policy, Query, Split
from perrecord.evaluate.losses.alike import alike_records
from perrecord.evaluate.losses.least import least_losses
from perrecord.evaluate.losses.policies import policy_losses
from perrecord.queries.plan import plan
from perrecord.tables.keys import Keys
from perrecord.tables.table import table

MEASURES = ("emp", "pay")
EMP = Policy.split("0.1", Split(emp=5))
BOTH = Policy.split("0.2", Split(emp=3, pay=7))
BY_STATE = Policy.by(["state"], {("A",): BOTH, (None,): EMP}, Policy.constant(1))


@pytest.fixture(scope="module")
def rows():
    """A thousand records with few different numbers, some of them missing."""
    random = np.random.default_rng(3)
    states = random.choice(np.array(["A", "B", None], dtype=object), 1000)
    numbers = {name: random.integers(0, 20, 1000) for name in MEASURES}
    return pa.table({"state": pa.array(states.tolist(), pa.string()), **numbers})


@pytest.fixture
def source(rows):
    """The records as a table."""
    with table(rows, dimensions=["state"], measures=list(MEASURES)) as found:
        yield found


@pytest.mark.parametrize("policy", [EMP, BOTH, BY_STATE, Policy.constant(2), Policy.zero()])
def test_losses_are_those_of_every_record(policy, rows, source):
    """Whatever a policy reads, as many records lose each amount as by its definition."""
    found = policy_losses(policy, source)
    numbers = np.diff(found.at_most, prepend=0).tolist()
    exact = Counter(float(policy.loss(row)) for row in rows.to_pylist())
    assert dict(zip(found.values, numbers, strict=True)) == pytest.approx(dict(exact))


def test_policies_that_read_the_same_ask_for_the_records_once(source, monkeypatch):
    """A second policy of the same measures runs no statement on the engine; another one does."""
    asked = []
    keep = type(source.engine).keep
    monkeypatch.setattr(
        type(source.engine), "keep", lambda self, *given: (asked.append(1), keep(self, *given))[1]
    )
    with alike_records(source) as records:
        for policy, statements in ((EMP, 1), (EMP * 2, 1), (BOTH, 2), (BOTH * 3, 2)):
            policy_losses(policy, records)
            assert len(asked) == statements


def test_records_outside_the_keys_lose_nothing_at_least(rows, source):
    """Whether a record's cell is published tells it apart from others with the same numbers."""
    keys = Keys.from_dict({"state": ["A"]})
    asked = Query().group_by("state", keys=keys).sum("emp", split=Split(emp=5), rho="0.1")
    found = least_losses(plan(asked, source.schema), source)
    inside = sum(row["state"] == "A" and row["emp"] > 0 for row in rows.to_pylist())
    assert found.count == 1000
    assert round(found.share_above(0) * 1000) == inside


def test_no_records_lose_nothing(rows):
    """A table without records has no losses, whatever a policy reads."""
    with table(rows.slice(0, 0), dimensions=["state"], measures=list(MEASURES)) as empty:
        found = [policy_losses(each, empty).count for each in (BY_STATE, Policy.constant(2))]
    assert found == [0, 0]
