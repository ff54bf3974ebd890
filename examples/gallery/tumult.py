"""Tumult Analytics on split rows: totals that cut nobody off.

Tumult Analytics sums values that are clamped to bounds. On rows as they are, bounds that hold the
noise down cut the largest establishments off. On split rows no piece exceeds the threshold, so the
same query with the threshold as its bound cuts nothing, and its total is unbiased. For one row it
is RHO-zCDP, as Tumult's own accountant says; a record loses RHO * pieces^2.

Tumult needs other versions of Spark, numpy and pandas than perrecord: it runs in an environment of
its own, and rows reach it through a pipe.

    python tumult.py [PICTURE.svg]
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from helpers.drawing import bars
from helpers.elsewhere import answer

from perrecord import Budget, Session, Split, table

RHO, THRESHOLD = "0.1", 50
INDUSTRIES = ["farming", "building", "retail", "transport", "health"]


def establishments(number: int) -> pa.Table:
    """Return made-up establishments; sizes are most skewed in health."""
    drawn = np.random.default_rng(5)
    kind = drawn.integers(0, len(INDUSTRIES), number)
    tail = np.array([2.5, 2.0, 1.6, 1.4, 1.2])[kind]
    employees = np.ceil(np.minimum(12 * drawn.pareto(tail), 90_000)).astype(np.int64)
    return pa.table({"employees": employees, "industry": [INDUSTRIES[each] for each in kind]})


def totals(rows: pa.Table) -> dict[str, int]:
    """Return employees by industry, by Tumult Analytics: RHO-zCDP for one row more or less."""
    asked = {"rho": RHO, "threshold": THRESHOLD, "industries": INDUSTRIES}
    rows = rows.set_column(
        rows.schema.get_field_index("employees"), "employees", rows["employees"].cast(pa.int64())
    )
    given = pa.BufferOutputStream()
    with pa.ipc.new_stream(given, rows.schema) as stream:
        stream.write_table(rows)
    line = json.dumps(asked).encode() + b"\n"
    return json.loads(answer("tumult", line + given.getvalue().to_pybytes()))


def main() -> None:
    """Compare what Tumult gives on split rows with the truth, and with values cut off."""
    data = establishments(20_000)
    scheme = Split(employees=THRESHOLD).capped(2_000)
    source = table(data, name="firms", dimensions=["industry"], measures=["employees"])
    ledger = Path(tempfile.mkdtemp()) / "firms.ledger"
    session = Session(source, ledger=ledger, budget=Budget(rho=RHO, splits=[scheme]), new=True)
    columns = ["industry", "employees"]
    found = session.run_on_split_rows(totals, scheme, columns=columns, rho=RHO)
    employees, kind = data["employees"].to_numpy(), np.array(data["industry"])
    shown = {}
    for name in INDUSTRIES:
        of = employees[kind == name]
        shown[name] = {
            "the truth": of.sum(),
            "Tumult, split rows": found.result[name],
            f"cut off at {THRESHOLD}": np.minimum(of, THRESHOLD).sum(),
        }
        print(f"{name}: " + ", ".join(f"{key} {value:,}" for key, value in shown[name].items()))
    for size in (50, 500, 5_000):
        loss = float(found.policy.loss({"employees": size, "industry": "health"}))
        print(f"an establishment of {size:>5,} loses {loss:g}")
    if sys.argv[1:]:
        note = "rho = 0.1: 0.1 to an establishment of 50, 10 to one of 500, 1,000 to one of 5,000"
        bars(Path(sys.argv[1]), "Employees by industry, by Tumult Analytics", note, shown)


if __name__ == "__main__":
    main()
