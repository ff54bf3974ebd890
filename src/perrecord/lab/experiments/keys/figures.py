"""Figures on key selection: how many records a key needs, and what a giant pays to be found."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from perrecord.lab.experiments.keys.chances import Selecting, optima
from perrecord.lab.experiments.keys.optimal import least_records
from perrecord.report.charts import Axis, Panels, curves
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount

Row = dict[str, Any]


def by_records(unsplit: Selecting, most: int, even: float = 0.5) -> Figure:
    """Return the chance of a key against its number of records, beside the best there is."""
    ours = [0.0, *(unsplit.chance_of(rows) for rows in range(1, most + 1))]
    own = f"threshold selection, ρ = {unsplit.rho}"
    lines = {own: ours, **{each.name: each.chances(most) for each in optima(unsplit)}}
    rows = [
        {"selection": name, "records": count, "chance": chances[count]}
        for name, chances in lines.items()
        for count in range(1, most + 1)
    ]
    table = pa.Table.from_pylist(rows)
    best = optima(unsplit)[0]
    needed = {name: least_records(chances, even) for name, chances in lines.items()}
    finding = (
        f"Threshold selection finds a key with at least even chance from {needed[own]} records on, "
        f"the optimum at the same (ε, δ) from {needed[best.name]} on. One record alone is found "
        f"with chance {amount(ours[1])} and {amount(best.delta)}: nothing that keeps (ε, δ) finds "
        "it with more than δ."
    )
    shown = ShownTable(
        "Chance that a key is found",
        ("records", *lines),
        tuple(
            (str(count), *(amount(chances[count]) for chances in lines.values()))
            for count in _few(most)
        ),
    )
    return Figure(
        "keys-by-records",
        "How many records a key needs to be found",
        finding,
        "For keys with so many records, or so many pieces once they are split, the chance of being "
        "published. The optimum publishes keys and nothing else; threshold selection has a noisy "
        "count of every key to give away with it.",
        lambda width: curves(
            table,
            width,
            x=Axis("records", "Records or pieces of the key"),
            y=Axis("chance", "Chance that the key is found"),
            colour="selection",
            panels=Panels(orders={"selection": list(lines)}),
        ),
        table,
        (shown,),
    )


def _few(most: int) -> list[int]:
    return [count for count in (1, 2, 3, 5, 7, 8, 10, 13, 15, 20, 30) if count <= most]


def price_of_being_found(unsplit: Selecting, pieces: int, companions: Sequence[int]) -> Figure:
    """Return the chance of an industry against its giant's delta, by how many small ones it has."""
    slot = Selecting(unsplit.rho, unsplit.delta, 1)  # m employees make m pieces
    names = {count: _company(count) for count in companions}
    rows: list[Row] = [
        {
            "company": names[count],
            "pieces": m,
            "loss": float(slot.loss(m)),
            "delta": slot.revealed(m),
            "chance": slot.chance_of(m + count),
        }
        for count in companions
        for m in range(1, pieces + 1)
    ]
    table = pa.Table.from_pylist(rows)
    even = {
        count: next(
            (row for row in rows if row["company"] == names[count] and row["chance"] >= 0.5), None
        )
        for count in companions
    }
    first, last = even[companions[0]], even[companions[-1]]
    finding = f"With up to {pieces} pieces the giant's industry is not found with even chance."
    if first and last:
        finding = (
            f"For an even chance, a giant {names[companions[0]]} must make {first['pieces']} "
            f"pieces: it loses {amount(first['loss'])} rho and its delta is "
            f"{amount(first['delta'])}. One {names[companions[-1]]} makes {last['pieces']}, loses "
            f"{amount(last['loss'])} rho and has a delta of {amount(last['delta'])}."
        )
    shown = ShownTable(
        "What a giant pays, and the chance that its industry is found",
        ("pieces", "loss (rho)", "delta", *(f"found, {name}" for name in names.values())),
        tuple(
            (
                str(m),
                amount(float(slot.loss(m))),
                amount(slot.revealed(m)),
                *(amount(slot.chance_of(m + count)) for count in companions),
            )
            for m in range(1, pieces + 1)
        ),
    )
    return Figure(
        "price-of-being-found",
        "What a giant pays for its industry to be found",
        finding,
        "Each point is a giant cut into 1, 2, 3, … pieces, from left to right; small "
        "establishments beside it make one piece each. Alone in its industry, the chance of being "
        "found is the giant's delta itself, and no mechanism with that delta does better for one "
        "that is alone.",
        lambda width: curves(
            table,
            width,
            x=Axis("delta", "Delta of the giant"),
            y=Axis("chance", "Chance that the industry is found"),
            colour="company",
            panels=Panels(orders={"company": list(names.values())}),
            with_points=True,
        ),
        table,
        (shown,),
    )


def _company(count: int) -> str:
    return "alone" if count == 0 else f"beside {count} small ones"
