"""Dimensions that follow from a measure: a greater value may be in another cell."""

from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest

from perrecord import Keys, Query, SelectKeys, Split, table
from perrecord.evaluate.losses.record_sizes import changes_by_size
from perrecord.policy.changes import change_delta, change_loss
from perrecord.queries.methods.parts import Parts, clamping, splitting
from perrecord.queries.plan import plan
from perrecord.release.document import PublishedPolicy
from perrecord.release.fields import Field
from perrecord.release.outputs import outputs_of
from perrecord.release.page_data import deciding
from tests.browser.policies import charges_of

SCHEME = Split(emp=50)
DIMENSIONS = {
    "sector": "sector",
    "size": "CASE WHEN emp > 104 THEN 'large' WHEN emp > 10 THEN 'middle' ELSE 'small' END",
    "crowd": "sector || CASE WHEN emp >= 50 THEN '+' ELSE '-' END",
}
SIZES = Keys.from_dict({"size": ["small", "middle", "large"]})
SECTORS = Keys.from_dict({"sector": ["a", "b"]})
PARTS = Parts("size", {"large": clamping(0, 500, rho=2), ...: splitting(SCHEME, rho=1)})
QUERIES = {
    "cells": Query().group_by("size", keys=SIZES).count(rho=1).sum("emp", split=SCHEME, rho=1),
    "filter": Query().where("size = 'middle'").group_by("sector", keys=SECTORS).count(rho=1),
    "parts": Query().group_by("sector", keys=SECTORS).sum("emp", parts=PARTS),
    "median": Query()
    .where("crowd IN ('a+', 'b+')")
    .group_by("size", keys=SIZES)
    .median("emp", candidates=[0, 40, 102, 200], rho=1),
    "selection": Query()
    .group_by("crowd", keys=SelectKeys(rho=1, delta="1e-6", split=SCHEME))
    .count(rho=1),
}
ROWS = pa.table({"id": [1], "sector": ["a"], "emp": [3]})


def opened():
    """Return a table with size classes."""
    return table(ROWS, id="id", dimensions=DIMENSIONS, measures={"emp": 1})


def published(planned, examples, *, column="", read="emp"):
    """Return what a reader of policy.json knows; classes may be of the column, or the measure."""
    fields = [
        Field(name, "text", expression="" if text == name else text.replace("emp", read))
        for name, text in DIMENSIONS.items()
    ]
    fields.append(Field("emp", "measure", resolution=Fraction(1), expression=column))
    charges = charges_of(planned)
    return PublishedPolicy(
        "T", "t", tuple(fields), charges, planned.policy, examples=tuple(examples)
    )


@pytest.mark.parametrize("column", ["", "staff"])
@pytest.mark.parametrize("name", QUERIES)
def test_a_greater_value_costs_what_its_own_row_costs(name, column):
    """Of records on both sides of every bound: the row that the table would hold."""
    with opened() as source:
        planned = plan(QUERIES[name], source.schema)
        sizes = [1, 9, 10, 47, 48, 49, 95, 99, 100, 104, 105, *Random(1).sample(range(300), 10)]
        examples = [
            (f"{size}", source.schema.record({"emp": size, "sector": "a"})) for size in sizes
        ]
        outputs = outputs_of(planned)
        changes = published(planned, examples, column=column).changes
        assert len(changes) == 3 * sum(size > 0 for size in sizes)
        for each in changes:
            before, after = (
                source.schema.record({"emp": size, "sector": "a"})
                for size in (each.value, each.other)
            )
            assert each.loss == change_loss(outputs, [before], [after])
            delta = change_delta(outputs, [before], [after])
            assert delta <= each.delta <= delta + Fraction(1, 10**9)


def test_a_class_of_a_column_that_the_record_lacks_counts_as_another():
    """Where a class is of the column itself, policy.json cannot tell what it is."""
    with opened() as source:
        planned = plan(QUERIES["cells"], source.schema)
        record = source.schema.record({"emp": 3, "sector": "a"})
        (found, *_) = published(planned, [("one", record)], column="staff", read="staff").changes
        assert found.loss.amount == 2 + Fraction(3**2 + 4**2, 50**2)  # a count, and 3 for 4, twice
        planned = plan(QUERIES["filter"], source.schema)
        assert not published(planned, [("one", record)], column="staff", read="staff").changes


def test_evaluate_says_what_records_in_other_classes_cost():
    """Its curve of greater values is of the same rows."""
    with opened() as source:
        planned = plan(QUERIES["cells"], source.schema)
        rows = changes_by_size(planned, {"sector": "a", "size": "small"}).to_pylist()
        outputs = outputs_of(planned)
        assert any(row["20_percent_more"] > 2 for row in rows)
        for row in rows:
            before, after = (
                source.schema.record({"emp": size, "sector": "a"})
                for size in (Fraction(row["size"]), -(-Fraction(row["size"]) * 6 // 5))
            )
            cost = change_loss(outputs, [before], [after]).amount
            assert row["20_percent_more"] == pytest.approx(float(cost))


def test_the_page_leaves_out_what_it_cannot_tell():
    """A measure that decides a dimension which something published depends on, and no other."""
    with opened() as source:
        for name, wanted in (("cells", ["size"]), ("parts", ["size"]), ("selection", ["crowd"])):
            planned = plan(QUERIES[name], source.schema)
            found = deciding(published(planned, []))
            assert {key: [each.name for each in some] for key, some in found.items()} == {
                "emp": wanted
            }
        planned = plan(Query().group_by("sector", keys=SECTORS).count(rho=1), source.schema)
        assert not deciding(published(planned, []))
