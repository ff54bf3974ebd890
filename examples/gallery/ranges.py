"""A matrix mechanism: how many people work for salaries in any range.

Ranges are answered from a tree of counts over split rows. A row of at most 50 employees lies in
one leaf and in each of its ancestors, so that one row moves depth + 1 numbers by 1: with a
discrete Gaussian of variance (depth + 1) / (2 rho) on each, the whole tree is rho-zCDP. Least
squares over the tree (Hay et al. 2010) then answers every range with less error than noise on the
leaves alone.

    python ranges.py [PICTURE.svg]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from helpers.drawing import bars

from perrecord import Budget, Session, Split, table
from perrecord.noise import discrete_gaussian

LEAVES, RHO = 64, "0.1"
"""Leaves are salaries from 0 to 192 thousand dollars a year, 3 thousand each."""


def establishments(number: int) -> pa.Table:
    """Return made-up establishments: sizes as skewed as real ones, and what they pay per head."""
    drawn = np.random.default_rng(1)
    employees = np.ceil(20 * drawn.pareto(1.3, number)).astype(np.int64)
    salary = np.clip(drawn.normal(60, 25, number) + 5 * np.log(employees), 0, 191).astype(np.int64)
    return pa.table({"employees": employees, "salary": salary})


def tree(leaves: np.ndarray) -> list[np.ndarray]:
    """Return the sums over 1, 2, 4, ... leaves, the root last."""
    levels = [leaves]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(-1, 2).sum(axis=1))
    return levels


def fitted(levels: list[np.ndarray]) -> np.ndarray:
    """Return the leaves of the tree that adds up and lies nearest to noisy levels."""
    best = [levels[0].astype(float)]
    for height, own in enumerate(levels[1:], 1):
        below = best[-1].reshape(-1, 2).sum(axis=1)
        weight = 2.0**height
        best.append((weight * own + (weight - 1) * below) / (2 * weight - 1))
    down = best[-1]
    for below in reversed(best[:-1]):
        gap = down - below.reshape(-1, 2).sum(axis=1)
        down = below + np.repeat(gap / 2, 2)
    return down


def mechanism(rows: pa.Table) -> np.ndarray:
    """Return the noisy tree's leaves: RHO-zCDP for adding or removing one row."""
    counts = np.bincount(rows["salary"].to_numpy() // 3, minlength=LEAVES)
    levels = tree(counts)
    # The variance is a whole number here: 7 levels / (2 * 0.1) = 35.
    noisy = [level + discrete_gaussian(35, len(level)) for level in levels]
    return fitted(noisy)


def main() -> None:
    """Run it on split rows and compare every range with the truth."""
    data = establishments(20_000)
    scheme = Split(employees=50).capped(10_000)
    firms = table(data, name="firms", dimensions=["salary"], measures=["employees"])
    ledger = Path(tempfile.mkdtemp()) / "firms.ledger"
    allowed = Budget(rho=RHO, splits=[scheme])
    session = Session(firms, ledger=ledger, budget=allowed, new=True)
    found = session.run_on_split_rows(mechanism, scheme, columns=["salary"], rho=RHO)
    leaves = data["salary"].to_numpy() // 3
    pieces = -(-data["employees"].to_numpy() // 50)
    true = np.bincount(leaves, weights=pieces, minlength=LEAVES)
    errors = [
        abs(found.result[low:high].sum() - true[low:high].sum())
        for low in range(LEAVES)
        for high in range(low + 1, LEAVES + 1)
    ]
    plain = np.sqrt([high - low for low in range(LEAVES) for high in range(low + 1, LEAVES + 1)])
    print(f"{len(errors):,} ranges; mean error {np.mean(errors):.1f} rows of {true.sum():,.0f}")
    print(
        f"noise on the leaves alone, at the same rho: {np.mean(plain) * np.sqrt(5 * 2 / np.pi):.1f}"
    )
    for size in (10, 50, 500, 5_000):
        loss = float(found.policy.loss({"employees": size}))
        print(f"an establishment of {size:>5,} loses {loss:g}")
    if sys.argv[1:]:
        ends = [(low, high) for low in range(LEAVES) for high in range(low + 1, LEAVES + 1)]
        wide = np.array([high - low for low, high in ends])
        shown = {
            f"{least} to {most} classes": {
                "tree": np.mean(np.array(errors)[(wide >= least) & (wide <= most)]),
                "single classes": np.sqrt(
                    wide[(wide >= least) & (wide <= most)] * 10 / np.pi
                ).mean(),
            }
            for least, most in ((1, 4), (5, 16), (17, 32), (33, 64))
        }
        title = "Counts of workers by range of salaries: mean error in rows, by width of the range"
        note = "rho = 0.1: 0.1 to an establishment of 50, 10 to one of 500, 1,000 to one of 5,000"
        bars(Path(sys.argv[1]), title, note, shown, "{:.1f}")


if __name__ == "__main__":
    main()
