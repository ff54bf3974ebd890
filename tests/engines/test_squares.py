"""Sums of squares behind blurred noise (T28): the same integers on every engine."""

import pyarrow as pa
import pytest

from perrecord import Keys, Query, table
from perrecord.confidential.revealing import revealed
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan

pytestmark = pytest.mark.spark

ROWS = {
    "county": ["01001", "01001", "01003", "02001", "01001", "01001"],
    "kind": ["a", "a", "a", "a", "a", "b"],
    "emp": [4, 2**62 + 1, 1 - 2**63, None, 5000, 7],
}
COUNTIES = Keys.from_dict({"county": ["01001", "01003", "02001"]})


def squares(source: object) -> list[int]:
    """Return the sums of squares of employment by county, of one kind of establishments."""
    asked = Query("est").where("kind = 'a'").group_by("county", keys=COUNTIES)
    asked = asked.sum("emp", taper=50, blur="0.1", rho="0.2")
    with table(source, dimensions=["county", "kind"], measures=["emp"], name="est") as est:
        planned = plan(asked, est.schema)
        (step,) = planned.queries[0].answers[0].measurements
        with scanned(planned, est) as (cells,):
            return revealed(cells.reading(("county",), COUNTIES).numbers(step.squares)).tolist()


def test_engines_add_up_the_same_squares(spark):
    """Whatever the values: the largest there are, negative ones and none."""
    rows = pa.table(ROWS)
    frame = spark.createDataFrame(rows.to_pylist(), "county string, kind string, emp long")
    wanted = [16 + (2**62 + 1) ** 2 + 5000**2, (2**63 - 1) ** 2, 0]
    assert squares(frame) == squares(rows) == wanted
