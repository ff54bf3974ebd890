"""Univariate splitting on CIS: the paper's four queries, composed, on county records of cattle.

    State        SUM(CattleInventory)   split       State × AD   SUM(CattleInventory)   split
    State        AVG(PastureRent)       zCDP        State × AD   AVG(PastureRent)       zCDP

Rents are bounded, so plain zCDP serves them: cut to public bounds and centred (T13).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pyarrow as pa

import perrecord
from perrecord import Keys, Query, Split
from perrecord.evaluate.losses.realised import Losses, losses
from perrecord.exact import text
from perrecord.lab.experiments.experiment import Experiment, Tell
from perrecord.lab.experiments.univariate import cis_figures
from perrecord.lab.experiments.univariate.cis_figures import AVERAGE, DISTRICT, STATE, CisResults
from perrecord.lab.experiments.univariate.settings import (
    Setting,
    drawn_beside,
    five_numbers,
    lost_to,
)
from perrecord.lab.synth import cattle, nass
from perrecord.lab.synth.keys import cattle_keys, nass_keys
from perrecord.queries.plan import plan
from perrecord.tables.table import Table


@dataclass(frozen=True, slots=True)
class CisParameters:
    """What is asked; rho is what each of the queries costs a record that is not split."""

    thresholds: tuple[int, ...] = (500_000, 300_000, 200_000, 100_000, 50_000, 20_000)
    rhos: tuple[str, ...] = ("0.1", "1", "10")
    stated_rho: str = "1"
    """The one that findings speak of."""
    lowest_rent: int = 0
    highest_rent: int = 120
    """Dollars per acre: public bounds; county averages have been 0.40 to 110."""
    rows: int | None = None
    """Of the synthetic data: one for each of 3,142 counties."""
    seed: int = 3


FULL = CisParameters()
QUICK = CisParameters(thresholds=(500_000, 200_000, 50_000))


@dataclass(frozen=True, slots=True)
class Data:
    """The records, the public keys, and what there is to say about them."""

    title: str
    item: str
    """What the inventories are of."""
    records: pa.Table
    keys: Mapping[str, pa.Table]
    words: tuple[str, ...]

    @property
    def total(self) -> str:
        """The name of the answer that is split."""
        return f"SUM({self.item})"

    @property
    def has_rents(self) -> bool:
        """Whether there is a rent at all to ask averages of."""
        return bool(self.records["rent"].null_count < len(self.records))


def run(*, quick: bool, step: Tell, source: Path | None = None) -> Experiment:
    """Return errors of totals and of averages, losses of the whole workload, and the claims.

    `source` is a county file of USDA NASS Quick Stats, in place of synthetic records; inventories
    without rents are enough, and averages are then left out.
    """
    own = QUICK if quick else FULL
    step("CIS: reading records" if source else "CIS: drawing records")
    data = synthetic(own) if source is None else _real(source)
    found = _measured(own, data, step)
    return Experiment(
        "cis",
        data.title,
        (
            *data.words,
            _workload_words(own, data),
            "A record is a county, as in the paper: farms are not published. The policy of the "
            f"whole workload is the sum of the {cis_figures.in_words(has_rents=data.has_rents)}, "
            f"and its minimum {_least_words(found)}.",
        ),
        cis_figures.figures(found),
        cis_figures.claims(found),
    )


def _workload_words(own: CisParameters, data: Data) -> str:
    """Return what is asked, in words; without rents there are no averages."""
    asked = f"{data.total}, split at a threshold T"
    tables = "by state and by state and agricultural district (AD)"
    if not data.has_rents:
        return (
            f"The workload is what the paper asks of inventories: {asked}, {tables}. There are no "
            "rents, so its averages are not asked. Each of the two queries costs an unsplit record "
            "ρ; what a record loses in all is their sum."
        )
    return (
        f"The workload is the paper's: {asked}, and {AVERAGE} under plain zCDP, cut to "
        f"{own.lowest_rent} to {own.highest_rent} dollars and centred, each {tables}. Each of the "
        "four queries costs an unsplit record ρ, half of an average's for its total and half for "
        "its count; what a record loses in all is their sum."
    )


def _least_words(found: CisResults) -> str:
    """Return the minimum of the policy as a multiple of rho."""
    first = found.lost[0]
    return f"{text(first.minimum / Fraction(first.setting.rho))}ρ"


def synthetic(own: CisParameters) -> Data:
    """Return seeded records in the shape of the survey."""
    records = cattle(own.rows, seed=own.seed)
    assert isinstance(records, pa.Table)  # noqa: S101 - no path was given
    words = (
        f"{len(records):,} synthetic county records in the shape of the survey: heavy-tailed "
        "cattle inventories and bounded rents of pastureland. A real county file of USDA NASS "
        "Quick Stats can be given in their place.",
    )
    title = "Univariate splitting on the Cattle Inventory Survey (CIS)"
    return Data(title, "CattleInventory", records, cattle_keys(), words)


def _real(source: Path) -> Data:
    loaded = nass(source)
    words = (f"Records of the file {source.name}. {'; '.join(loaded.lines())}.",)
    title = f"Univariate splitting on county records of {loaded.item}, {loaded.year}"
    return Data(title, loaded.item, loaded.table, nass_keys(loaded), words)


def setting(own: CisParameters, data: Data, threshold: int, rho: str) -> Setting:
    """Return the four queries of the paper at a threshold, each at a rho; two without rents."""

    def asked(*columns: str, cells: str) -> Query:
        query = Query().group_by(*columns, keys=Keys(data.keys[cells]))
        query = query.sum("inventory", split=Split(inventory=threshold), rho=rho, name=data.total)
        if not data.has_rents:
            return query
        bounds = (own.lowest_rent, own.highest_rent)
        return query.average("rent", clamp=bounds, rho=rho, name=AVERAGE)

    return Setting(
        threshold,
        rho,
        {
            STATE: asked("state", cells="states"),
            DISTRICT: asked("state", "district", cells="districts"),
        },
    )


def opened(records: pa.Table) -> Table:
    """Return the records as a table: heads in whole numbers, rents in cents."""
    return perrecord.table(
        records, dimensions=["state", "district"], measures={"inventory": 1, "rent": "0.01"}
    )


def _measured(own: CisParameters, data: Data, step: Tell) -> CisResults:
    settings = [
        setting(own, data, threshold, rho) for rho in own.rhos for threshold in own.thresholds
    ]
    of_stated = [each for each in settings if each.rho == own.stated_rho]
    with opened(data.records) as table:
        step("CIS: losses")
        lost = tuple(lost_to(each, table) for each in settings)
        realised = tuple(_both(each, table) for each in of_stated)
        step("CIS: errors")
        rows = five_numbers(settings, table, "inventory")
        coarse = [each for each in settings if each.threshold == own.thresholds[0]]
        drawn = tuple(drawn_beside(coarse, table))
    above = {each.setting.threshold: each.share_above for each in lost}
    boxes = [row | {"share": above[row["threshold"]]} for row in rows]
    boxes.sort(key=lambda row: (STATE, DISTRICT).index(row["table"]))
    return CisResults(
        own.stated_rho, data.total, data.has_rents, tuple(boxes), lost, realised, drawn
    )


def _both(each: Setting, table: Table) -> tuple[Setting, Losses]:
    return each, losses(plan(list(each.queries.values()), table.schema), table)
