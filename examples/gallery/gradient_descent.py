"""Gradient descent under zCDP: what decides who is paid well, counted by worker.

A logistic regression by full-batch gradient descent on split rows. Every step adds exact Gaussian
noise to the sum of gradients, each cut to length 1; a step is rho / STEPS-zCDP for one row, and
zCDP adds up over steps, so that all of them are rho-zCDP. On split rows an establishment counts by
its pieces, that is by its employees, and loses rho * pieces^2; on unsplit rows each establishment
counts once.

**Why full batches.** Noise on a random sample of rows is "amplified by sampling" under other
accounting, but zCDP has no such theorem that holds for all orders, and the loss of a record of
several pieces would depend on how many of them the sample hits. So every step reads every row.

    python gradient_descent.py [PICTURE.svg]
"""

import math
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
from helpers.drawing import bars

from perrecord import Budget, Session, Split, table
from perrecord.noise import discrete_gaussian

RHO, STEPS, GRID = Fraction(1, 2), 60, 2**12
"""Gradients are whole numbers of 1/4096."""
RATE = 4 / 100_000
"""How far a step goes. It is public: how many rows there are is confidential."""


def workplaces(number: int) -> pa.Table:
    """Return made-up workplaces: large ones pay well, and so does finance."""
    drawn = np.random.default_rng(7)
    employees = np.ceil(20 * drawn.pareto(1.3, number)).astype(np.int64)
    finance = drawn.random(number) < 0.2
    large = employees > 200
    chance = 1 / (1 + np.exp(1.5 - 1.5 * finance - 2.5 * large))
    return pa.table(
        {
            "employees": employees,
            "finance": finance.astype(np.int64),
            "pays_well": (drawn.random(number) < chance).astype(np.int64),
        }
    )


def regression(rows: pa.Table) -> np.ndarray:
    """Return the coefficients (constant, finance): RHO-zCDP for adding or removing one row."""
    outcome = rows["pays_well"].to_numpy()
    given = np.column_stack([np.ones(rows.num_rows), rows["finance"].to_numpy()])
    variance = GRID**2 * STEPS / (2 * RHO)  # a row moves the sum by at most GRID
    found = np.zeros(2)
    for _ in range(STEPS):
        gradients = given * (outcome - 1 / (1 + np.exp(-given @ found)))[:, None]
        lengths = np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1)
        # Cut towards zero, a step short of the length: rounding of floats cannot make it longer.
        steps = np.trunc(gradients / lengths * (GRID - 1)).astype(np.int64)
        noisy = steps.sum(axis=0) + discrete_gaussian(variance, 2)
        found += RATE * noisy / GRID
    return found


def main() -> None:
    """Fit it to split rows and to rows as they are."""
    data = workplaces(50_000)
    scheme = Split(employees=50).capped(2_000)
    columns = ["finance", "pays_well"]
    source = table(data, name="workplaces", dimensions=columns, measures=["employees"])
    ledger = Path(tempfile.mkdtemp()) / "workplaces.ledger"
    budget = Budget(rho=2 * RHO, splits=[scheme])
    session = Session(source, ledger=ledger, budget=budget, new=True)
    split = session.run_on_split_rows(regression, scheme, columns=columns, rho=RHO)
    plain = session.run(regression, columns=columns, rho=RHO)
    pieces = -(-data["employees"].to_numpy() // 50)
    well = data["pays_well"].to_numpy()
    truths = {}
    for name, weights in (("by pieces", pieces), ("by workplace", np.ones(len(pieces)))):
        shares = [
            np.average(well[at], weights=weights[at])
            for at in (data["finance"].to_numpy() == kind for kind in (0, 1))
        ]
        truths[name] = shares
        print(f"the truth {name}: {shares[0]:.0%}, in finance {shares[1]:.0%}")
    for name, found in (("by pieces of 50 workers", split), ("by workplace", plain)):
        chances = 1 / (1 + np.exp(-np.cumsum(found.result)))
        print(f"{name}: {chances[0]:.0%} are paid well, in finance {chances[1]:.0%}")
        for size in (10, 500, 5_000):
            loss = float(found.policy.loss({"employees": size}))
            print(f"   a workplace of {size:>5,} loses {loss:g}; {math.ceil(size / 50)} pieces")
    if sys.argv[1:]:
        fits = [1 / (1 + np.exp(-np.cumsum(each.result))) for each in (split, plain)]
        names = ("by worker", "by workplace")
        shown = {
            f"{kind}, {name}": {"the truth": 100 * true[at], "noisy descent": 100 * fit[at]}
            for name, true, fit in zip(names, truths.values(), fits, strict=True)
            for at, kind in enumerate(("others", "finance"))
        }
        note = (
            "per cent; rho = 0.5: 50 to a workplace of 500, 5,000 to one of 5,000; by workplace 0.5"
        )
        bars(Path(sys.argv[1]), "Who is paid well, by logistic regression", note, shown)


if __name__ == "__main__":
    main()
