"""A measurement of OpenDP on split rows: how payrolls are spread, counted by worker.

OpenDP proves its measurement for one row more or less, its own map says what it costs, and
perrecord compares that with the rho it is charged for. On split rows an establishment counts by
its pieces and loses rho * pieces^2.

    python opendp_measurements.py [PICTURE.svg]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pyarrow as pa
from helpers.drawing import bars

from perrecord import Budget, Session, Split, table

dp.enable_features("contrib")

RHO = "0.1"
CLASSES = ["low", "middle", "high"]


def establishments(number: int) -> pa.Table:
    """Return made-up establishments, the large ones with higher wages."""
    drawn = np.random.default_rng(3)
    employees = np.ceil(20 * drawn.pareto(1.3, number)).astype(np.int64)
    wage = 35 + 6 * np.log(employees + 1) + drawn.normal(0, 12, number)
    kind = np.digitize(wage, [40, 70])
    return pa.table({"employees": employees, "wages": [CLASSES[each] for each in kind]})


def measurement() -> dp.Measurement:
    """Return OpenDP's counts of categories with Gaussian noise: 0.1-zCDP for one row."""
    space = dp.vector_domain(dp.atom_domain(T="String")), dp.symmetric_distance()
    counts = space >> dp.t.then_count_by_categories(CLASSES, MO="L2Distance<i64>")
    scale = dp.binary_search_param(lambda each: counts >> dp.m.then_gaussian(each), 1, float(RHO))
    return counts >> dp.m.then_gaussian(scale)


def main() -> None:
    """Count establishments, and pieces of 50 workers, by the class of their wages."""
    data = establishments(20_000)
    scheme = Split(employees=50).capped(2_000)
    source = table(data, name="establishments", dimensions=["wages"], measures=["employees"])
    ledger = Path(tempfile.mkdtemp()) / "establishments.ledger"
    session = Session(source, ledger=ledger, budget=Budget(rho=1, splits=[scheme]), new=True)
    plain = session.run(measurement(), columns="wages", rho=RHO)
    split = session.run_on_split_rows(measurement(), scheme, columns="wages", rho=RHO)
    for name, found in (("establishments", plain), ("pieces of 50 workers", split)):
        shares = np.array(found.result[: len(CLASSES)]) / sum(found.result)
        shown = ", ".join(
            f"{share:.0%} {each}" for each, share in zip(CLASSES, shares, strict=True)
        )
        loss = float(found.policy.loss({"employees": 5_000}))
        print(f"{name}: {shown}; an establishment of 5,000 loses {loss:g}")
    if sys.argv[1:]:
        by = [np.array(each.result[: len(CLASSES)]) for each in (plain, split)]
        plain_shares, split_shares = (100 * each / each.sum() for each in by)
        shown = {
            f"{name} wages": {"by establishment": plain_shares[at], "by worker": split_shares[at]}
            for at, name in enumerate(CLASSES)
        }
        note = "per cent; rho = 0.1: by worker 10 to an establishment of 500, 1,000 to one of 5,000"
        bars(Path(sys.argv[1]), "Classes of wages, counted by OpenDP", note, shown)


if __name__ == "__main__":
    main()
