"""Many records and cells: the figures hold together, and no record comes to Python."""

import pyarrow as pa

from perrecord import Keys, Query, Split
from perrecord.evaluate.accuracy.errors import accuracy
from perrecord.evaluate.accuracy.summaries import summary
from perrecord.evaluate.losses.realised import losses
from perrecord.evaluate.tuning.fitness import fitness
from perrecord.lab.synth import business
from perrecord.queries.plan import plan
from perrecord.tables.table import table

ROWS = 150_000
DIMENSIONS = {"county": "county", "naics": "naics", "naics2": "substr(naics, 1, 2)"}


def test_a_hundred_thousand_cells_are_evaluated_at_once():
    """Everybody is counted, realised losses stay below policy, and bounds keep their order."""
    data = business(ROWS, seed=3)
    text = pa.schema({"county": pa.string(), "naics": pa.string()})
    keys = Keys.from_columns(data.select(["county", "naics"]).cast(text))
    scheme = Split.by("naics2", {"52": Split(emp=20)}, Split(emp=50))
    asked = (
        Query()
        .group_by("county", "naics", keys=keys)
        .count(rho="0.1")
        .sum("emp", split=scheme, rho="0.1")
        .sum("payann", split=Split(payann=5000), rho="0.1", accounting="exact")
    )
    with table(
        data,
        unit="firm",
        dimensions=DIMENSIONS,
        measures=["emp", "payann"],
        memory_limit="600MB",
    ) as source:
        planned = plan(asked, source.schema)
        found = losses(planned, source)
        errors = accuracy(planned, source)
        needed = fitness(planned, source, within="0.1")
        every = needed.losses(source)
    assert len(keys) > 100_000
    assert found.policy.count == found.realised.count == every.count == ROWS
    for share in ("0.1", "0.5", "0.9", "0.99", 1):
        assert found.realised.quantile(share) <= found.policy.quantile(share) * (1 + 1e-9)
        tight, simple = found.units.tight.quantile(share), found.units.simple.quantile(share)
        assert found.units.realised.quantile(share) <= tight * (1 + 1e-9) <= simple * (1 + 2e-9)
    assert sum(row["cells"] for row in summary(errors).to_pylist()) == 3 * len(keys)
    assert found.units.realised.count < ROWS
