"""Keys selected by OpenDP: which industries employ most people.

OpenDP's noisy top-k picks K of a public list of candidates by their counts. Its map says what it
costs where one row raises one count by 1, and that is checked here. On split rows counts are of
pieces, so what is found is where people work, not where establishments are many.

**What does not fit.** Selection with no list of candidates, by a threshold on noisy counts
(`dp.m.then_laplace_threshold`, and PipelineDP's), has a delta: the chance that a key is shown that
only one record has. For a record of many pieces that chance is near 1, so one delta for
all records would be wrong, and perrecord refuses a measurement that has one. Its own `SelectKeys`
states delta record by record.

    python top_keys.py [PICTURE.svg]
"""

import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pyarrow as pa
from helpers.drawing import bars

from perrecord import Budget, QueryError, Session, Split, table

dp.enable_features("contrib")

RHO, K, CODES = "0.1", 8, 300
SCALE = 3.17
"""Of the noise: the map of noisy top-k gives just below 0.1 for it."""


def establishments(number: int) -> pa.Table:
    """Return made-up establishments: shops and the like are many, and small."""
    drawn = np.random.default_rng(2)
    often = 1 / np.arange(10, CODES + 10)
    industry = drawn.choice(CODES, number, p=often / often.sum())
    has_giants = industry % 25 == 24
    sizes = np.where(has_giants, 150, 8) * drawn.pareto(np.where(has_giants, 1.3, 2.2))
    employees = np.ceil(sizes).astype(np.int64)
    return pa.table({"employees": employees, "industry": industry})


def selection() -> dp.Measurement:
    """Return OpenDP's choice of the K greatest of CODES counts."""
    counts = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=True)
    return counts >> dp.m.then_noisy_top_k(dp.zero_concentrated_divergence(), K, SCALE)


def largest(rows: pa.Table) -> list[int]:
    """Return K industries: RHO-zCDP for one row, which raises one count by 1 and lowers none."""
    codes = rows["industry"].to_numpy().astype(np.int64)
    return selection()(np.bincount(codes, minlength=CODES).tolist())


def thresholded() -> dp.Measurement:
    """Return OpenDP's counts of whatever keys there are, shown above a threshold."""
    values = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    return values >> dp.t.then_count_by(TV="i64") >> dp.m.then_laplace_threshold(10.0, 150)


def main() -> None:
    """Select by pieces and by establishments; then be refused a threshold."""
    if Fraction(selection().map(1)) > Fraction(RHO):
        raise SystemExit("OpenDP's map says more than is charged")
    data = establishments(30_000)
    scheme = Split(employees=50).capped(2_000)
    source = table(data, name="firms", dimensions=["industry"], measures=["employees"])
    ledger = Path(tempfile.mkdtemp()) / "firms.ledger"
    session = Session(source, ledger=ledger, budget=Budget(rho=1, splits=[scheme]), new=True)
    split = session.run_on_split_rows(largest, scheme, columns="industry", rho=RHO)
    plain = session.run(largest, columns="industry", rho=RHO)
    codes, employees = (data[name].to_numpy() for name in ("industry", "employees"))
    workers = np.bincount(codes, weights=employees, minlength=CODES)
    best = np.sort(workers)[::-1][:K].sum() / workers.sum()
    shown = {"the largest there are": {"share of all employees": 100 * best}}
    for name, found in (("chosen by pieces", split), ("chosen by establishments", plain)):
        share = workers[found.result].sum() / workers.sum()
        shown[name] = {"share of all employees": 100 * share}
        loss = float(found.policy.loss({"employees": 5_000}))
        print(f"{name}: {share:.0%} of all employees; an establishment of 5,000 loses {loss:g}")
    print(f"the {K} largest industries hold {best:.0%}")
    try:
        session.run_on_split_rows(thresholded(), scheme, columns="industry", rho=RHO)
    except QueryError as error:
        print(f"a threshold is refused: {error}")
    if sys.argv[1:]:
        note = "rho = 0.1: by pieces 10 to an establishment of 500, 1,000 to one of 5,000"
        title = f"{K} of {CODES} industries, chosen by OpenDP's top-k: per cent of all employees"
        bars(Path(sys.argv[1]), title, note, shown)


if __name__ == "__main__":
    main()
