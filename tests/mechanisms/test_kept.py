"""Kept integers: the answers that they make are those that were released, to the last number."""

import random

import pyarrow as pa
import pytest

from perrecord import Keys, Query, SelectCells, SelectKeys, Split, table
from perrecord.errors import ReleaseError
from perrecord.mechanisms.kept import answers_of, kept
from perrecord.mechanisms.run import run
from perrecord.queries.plan import plan
from perrecord.tables.domains import Domain

draw = random.Random(19)
FARMS = pa.table(
    {
        "state": draw.choices(["TX", "NM", None], k=300),
        "cattle": [draw.choice([3, 40, 9000, None]) for _ in range(300)],
        "worth": [draw.choice([1, 10**17]) for _ in range(300)],
    }
)
STATES = Keys.from_dict({"state": ["NM", "TX", None]})
SPLIT = Split(cattle=50)


def of(keys):
    """Return a query with every kind of answer."""
    query = Query().group_by("state", keys=keys) if keys is not None else Query()
    return (
        query.count(name="farms", rho=1)
        .sum("cattle", split=SPLIT, rho=1)
        .sum("worth", name="tapered", taper=1000, rho=1)
        .average("cattle", name="mean", clamp=(0, 100), rho=1)
        .median("cattle", name="middle", candidates=[0, 10, 100], rho=1)
    )


QUERIES = {
    "a total": of(None),
    "declared keys": of(STATES),
    "selected keys": of(SelectKeys(rho=1, threshold=2, split=SPLIT, rows_as="rows")),
    "keys that none reach": of(SelectKeys(rho=1, threshold=10**6)),
    "kept cells": of(SelectCells(Domain(STATES), answer="farms", at_least=3)),
    "huge numbers": Query().sum("worth", name="huge", clamp=(0, 10**22), rho="1e-6"),
}


@pytest.mark.parametrize("name", QUERIES)
def test_answers_made_of_kept_integers_are_those_released(name):
    """Columns, errors, intervals and charges."""
    farms = table(FARMS, dimensions=["state"], measures={"cattle": 1, "worth": 1})
    planned = plan(QUERIES[name], farms.schema)
    for grouping, answers in zip(planned.groupings, run(planned, farms), strict=True):
        again = answers_of(planned, grouping, kept(grouping, answers))
        assert again.with_errors("0.9").equals(answers.with_errors("0.9"))
        assert (again.charges, again.policy) == (answers.charges, answers.policy)
        for mine, theirs in zip(again.columns, answers.columns, strict=True):
            for one, other in zip(mine.parts, theirs.parts, strict=True):
                assert one.drawn.tolist() == other.drawn.tolist()


def test_numbers_never_get_other_noise_than_they_were_drawn_with():
    """A plan that would draw other noise is refused."""
    farms = table(FARMS, dimensions=["state"], measures={"cattle": 1, "worth": 1})
    planned, other = (
        plan(Query().count(name="farms", rho=rho), farms.schema) for rho in ("0.1", "0.2")
    )
    content = kept(planned.groupings[0], run(planned, farms)[0])
    with pytest.raises(ReleaseError, match="drawn by another version of perrecord"):
        answers_of(other, other.groupings[0], content)
