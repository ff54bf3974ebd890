"""Univariate splitting on SIM: SUM(HT1) by CatIX, errors against the share of split records.

The paper leaves open how many records SIM has. Errors hang on how many fall into a cell, so several
numbers are tried, and the paper's claim is compared with each.
"""

from dataclasses import dataclass

import pyarrow as pa

import perrecord
from perrecord import Keys, Query, Split
from perrecord.lab.experiments.experiment import Experiment, Tell
from perrecord.lab.experiments.univariate.claims import better_at_little_loss, moving_distributions
from perrecord.lab.experiments.univariate.settings import (
    MEDIAN,
    Row,
    Setting,
    drawn_beside,
    errors_of,
    five_numbers,
    lost_to,
    medians,
)
from perrecord.lab.experiments.univariate.sim_claims import (
    Claimed,
    Needed,
    SameNoise,
    ten_percent,
    two_knobs,
)
from perrecord.lab.experiments.univariate.sim_figures import SimResults, figures, named
from perrecord.lab.experiments.univariate.spread import share_within
from perrecord.lab.synth import simulation
from perrecord.lab.synth.keys import simulation_keys
from perrecord.lab.synth.simulation import CATEGORIES
from perrecord.tables.table import Table

CLAIMED = Claimed(rho="1", error=0.1, share=0.01)
"""The paper's: at rho = 1 a median ARE of 10 %, with under 1 % of the records above rho."""


@dataclass(frozen=True, slots=True)
class SimParameters:
    """What is asked of which data; sizes are records for each of the 1,000 cells, on average."""

    thresholds: tuple[int, ...] = (1000, 500, 200, 100, 50, 20, 10, 5, 2)
    shown_losses: tuple[int, ...] = (1000, 100, 20, 10, 5, 2)
    rhos: tuple[str, ...] = ("0.1", "1", "10")
    box_sizes: tuple[int, ...] = (100, 1000)
    sizes: tuple[int, ...] = (10, 20, 50, 100, 200, 500, 1000)
    claimed: Claimed = CLAIMED
    same_noise: tuple[tuple[int, str], tuple[int, str]] = ((50, "1"), (5, "0.01"))
    """Two settings, threshold and rho, with one and the same noise (T11)."""
    seed: int = 1


FULL = SimParameters()
QUICK = SimParameters(
    thresholds=(1000, 200, 50, 10, 2),
    shown_losses=(1000, 50, 10, 2),
    box_sizes=(100, 200),
    sizes=(10, 50, 100, 200),
)


def run(*, quick: bool, step: Tell) -> Experiment:
    """Return errors against shares of split records, errors by cell size, losses, and claims."""
    own = QUICK if quick else FULL
    found = _measured(own, step)
    largest = max(own.sizes)
    return Experiment(
        "sim",
        "Univariate splitting on simulated data (SIM)",
        (
            f"SUM(HT1) by CatIX: {CATEGORIES:,} cells, HT1 from Pareto(1, 1.2) in steps of 0.01, "
            "split at a threshold T and summed with noise of variance T²/(2ρ). A record of m "
            "pieces loses ρm², so the records above ρ are those larger than T.",
            "The paper leaves open how many records there are. We draw "
            f"{CATEGORIES * largest:,}, on average {largest:,} in a cell, every category as likely "
            "as any other, and look at the first of them for smaller cells. Shares of records are "
            "those among all.",
            "AREs are not drawn: what is shown is their whole distribution over the cells and the "
            "noise, from the exact law of each cell. One draw, as in the paper, is a sample of it.",
        ),
        figures(found),
        (
            ten_percent(found.by_size, found.needed, own.claimed),
            better_at_little_loss(named(found.boxes), own.claimed.rho),
            moving_distributions(found.lost),
            two_knobs(found.same_noise),
        ),
    )


def setting(threshold: int, rho: str) -> Setting:
    """Return SUM(HT1) by CatIX at a threshold and a rho."""
    keys = Keys(simulation_keys()["categories"])
    query = Query().group_by("catix", keys=keys)
    query = query.sum("ht1", split=Split(ht1=threshold), rho=rho)
    return Setting(threshold, rho, {"CatIX": query})


def opened(data: pa.Table, size: int) -> Table:
    """Return the first records, so many for each cell on average."""
    first = data.slice(0, CATEGORIES * size)
    return perrecord.table(first, dimensions=["catix"], measures={"ht1": "0.01"})


def _measured(own: SimParameters, step: Tell) -> SimResults:
    step("SIM: drawing records")
    data = simulation(CATEGORIES * max(own.sizes), seed=own.seed)
    assert isinstance(data, pa.Table)  # noqa: S101 - no path was given
    settings = [setting(threshold, rho) for rho in own.rhos for threshold in own.thresholds]
    with opened(data, max(own.sizes)) as table:
        step("SIM: losses")
        lost = tuple(lost_to(each, table) for each in settings)
        same_noise = _same_noise(own, table)
        stated = [each for each in settings if each.rho == own.claimed.rho]
        drawn = tuple(drawn_beside(stated, table))
    above = {each.setting.threshold: each.share_above for each in lost}
    boxes: list[Row] = []
    for size in own.box_sizes:
        step(f"SIM: errors of cells of {size:,} records")
        with opened(data, size) as table:
            rows = five_numbers(settings, table, "ht1")
        boxes += [{"records_per_cell": size} | _placed(row, above) for row in rows]
    by_size: list[Row] = []
    for size in own.sizes:
        step(f"SIM: median errors of cells of {size:,} records")
        with opened(data, size) as table:
            rows = medians(settings, table)
        by_size += [{"records_per_cell": size} | _placed(row, above) for row in rows]
    step("SIM: how many records a cell needs")
    needed = tuple(
        Needed(threshold, above[threshold], _needed(own, data, threshold))
        for threshold in own.thresholds
    )
    return SimResults(
        own.claimed, tuple(boxes), tuple(by_size), lost, needed, same_noise, drawn, own.shown_losses
    )


def _placed(row: Row, above: dict[int, float]) -> Row:
    """Return a row with the share of records above rho; there is one table and one answer."""
    kept = {name: value for name, value in row.items() if name not in ("table", "answer")}
    return kept | {"share": above[row["threshold"]]}


def _needed(own: SimParameters, data: pa.Table, threshold: int) -> int | None:
    """Return the fewest records a cell with which the claimed error is met; None if too many."""
    asked = [setting(threshold, own.claimed.rho)]

    def is_met(size: int) -> bool:
        with opened(data, size) as table:
            ((_, _, errors),) = errors_of(asked, table)
        return share_within(errors, own.claimed.error) >= MEDIAN

    low, high = 0, max(own.sizes)
    if not is_met(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_met(middle) else (middle, high)
    return high


def _same_noise(own: SimParameters, table: Table) -> SameNoise:
    pair = [setting(threshold, rho) for threshold, rho in own.same_noise]
    errors = [row["middle"] for row in medians(pair, table)]
    lost = [lost_to(each, table, points=[1.0]) for each in pair]
    return SameNoise((lost[0], lost[1]), (errors[0], errors[1]))
