"""Tuning leaves blurred totals as they are, and says so."""

import pyarrow as pa
import pytest

from perrecord import Blur, InputError, Keys, Query, Split, table
from perrecord.evaluate.tuning.tune import tune

COUNTIES = Keys.from_dict({"county": ["Kent", "York"]})


@pytest.mark.parametrize(
    "blur", ["0.1", Blur("0.1", scale={"county": ["Kent"], "size": [100]})], ids=["own", "public"]
)
def test_blurred_totals_keep_their_amounts(blur):
    """They are named as untouched; a goal about one of them is refused."""
    asked = Query().group_by("county", keys=COUNTIES)
    asked = asked.sum("emp", split=Split(emp=50), rho=1, name="split")
    asked = asked.sum("emp", taper=50, blur=blur, rho=1, name="blurred")
    rows = pa.table({"county": ["Kent", "York", "York"], "emp": [10, 20, 970]})
    with table(rows, dimensions=["county"], measures=["emp"]) as source:
        found = tune({"all": asked}, source, "50% for 50% of cells", schemes={})
        assert found.untouched == ("all.blurred",)
        assert found.queries[0].query.answers[1] == asked.answers[1]
        with pytest.raises(InputError, match="which is blurred"):
            tune({"all": asked}, source, ["blurred: 50% for 50% of cells"])
