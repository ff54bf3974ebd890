"""Synthetic pieces by private-pgm: rows that anybody may have, as workers are spread.

All two-way tables of three columns are counted over split rows, with exact Gaussian noise; each is
RHO / 3-zCDP for one row, all three are RHO-zCDP. private-pgm (McKenna, Sheldon and Miklau 2019)
fits a graphical model to the noisy tables and draws rows from it. It sees nothing but noisy
tables, so what it does costs nothing, and it may run anywhere. A synthetic row stands for a piece:
up to 50 workers.

    python synthetic.py [PICTURE.svg]
"""

import json
import sys
import tempfile
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from helpers.drawing import bars
from helpers.elsewhere import answer

from perrecord import Budget, Session, Split, table
from perrecord.noise import discrete_gaussian

RHO, STEPS = Fraction(3, 10), 500
SIZES = {"region": 6, "industry": 5, "wages": 4}
VARIANCE = len(SIZES) / (2 * RHO)
"""One row moves one number of each of the three tables by 1."""


def establishments(number: int) -> pa.Table:
    """Return made-up establishments: large ones are in few regions, and pay better."""
    drawn = np.random.default_rng(11)
    employees = np.ceil(20 * drawn.pareto(1.3, number)).astype(np.int64)
    size = np.log10(employees)
    region = np.where(size + drawn.normal(0, 0.4, number) > 2, 0, drawn.integers(0, 6, number))
    industry = np.clip(size + drawn.normal(1, 1, number), 0, 4).astype(np.int64)
    wages = np.clip(size + 0.4 * industry + drawn.normal(-0.5, 0.7, number), 0, 3).astype(np.int64)
    return pa.table(
        {"employees": employees, "region": region, "industry": industry, "wages": wages}
    )


def counted(rows: pa.Table, names: tuple[str, ...]) -> np.ndarray:
    """Return how many rows lie in each cell of a table."""
    sizes = [SIZES[name] for name in names]
    places = [rows[name].to_numpy().astype(np.int64) for name in names]
    return np.bincount(np.ravel_multi_index(places, sizes), minlength=int(np.prod(sizes)))


def noisy_tables(rows: pa.Table) -> list[dict[str, object]]:
    """Return all two-way tables with noise: RHO-zCDP for one row more or less."""
    found = []
    for names in combinations(SIZES, 2):
        counts = counted(rows, names)
        noisy = counts + discrete_gaussian(VARIANCE, len(counts))
        found.append({"of": names, "counts": [int(each) for each in noisy]})
    return found


def main() -> None:
    """Draw synthetic pieces and compare their wages, region by region, with the truth."""
    data = establishments(20_000)
    scheme = Split(employees=50).capped(2_000)
    source = table(data, name="firms", dimensions=list(SIZES), measures=["employees"])
    ledger = Path(tempfile.mkdtemp()) / "firms.ledger"
    session = Session(source, ledger=ledger, budget=Budget(rho=RHO, splits=[scheme]), new=True)
    found = session.run_on_split_rows(noisy_tables, scheme, columns=list(SIZES), rho=RHO)
    asked = {
        "columns": list(SIZES),
        "sizes": list(SIZES.values()),
        "tables": found.result,
        "deviation": float(VARIANCE) ** 0.5,
        "steps": STEPS,
    }
    rows = json.loads(answer("synthetic", json.dumps(asked).encode()))
    pieces = -(-data["employees"].to_numpy() // 50)
    print(f"{len(rows['region']):,} synthetic pieces; in truth there are {pieces.sum():,}")
    drawn = {name: np.array(values) for name, values in rows.items()}
    real = {name: data[name].to_numpy() for name in SIZES}
    shown = {}
    for region in range(SIZES["region"]):
        at, of = real["region"] == region, drawn["region"] == region
        shown[f"region {region + 1}"] = {
            "the truth, by worker": 100 * np.average(real["wages"][at] == 3, weights=pieces[at]),
            "synthetic pieces": 100 * np.mean(drawn["wages"][of] == 3),
            "by establishment": 100 * np.mean(real["wages"][at] == 3),
        }
    for name, each in shown.items():
        print(f"{name}: " + ", ".join(f"{key} {value:.1f}%" for key, value in each.items()))
    cells = [[each[name] for name in SIZES] for each in (real, drawn)]
    sizes = tuple(SIZES.values())
    truth, drew = (
        np.bincount(np.ravel_multi_index(of, sizes), weights=weight, minlength=np.prod(sizes))
        for of, weight in zip(cells, (pieces, None), strict=True)
    )
    apart = np.abs(truth / truth.sum() - drew / drew.sum()).sum() / 2
    print(f"three-way cells, none of which was asked for: {apart:.1%} of the pieces lie elsewhere")
    for size in (50, 500, 5_000):
        loss = float(found.policy.loss({"employees": size}))
        print(f"an establishment of {size:>5,} loses {loss:g}")
    if sys.argv[1:]:
        note = "per cent; rho = 0.3: 30 to an establishment of 500, 3,000 to one of 5,000"
        title = "The highest class of wages, by region: synthetic pieces by private-pgm"
        bars(Path(sys.argv[1]), title, note, shown, "{:.0f}")


if __name__ == "__main__":
    main()
