"""Finding keys: COUNT(*) by industry on a table like the paper's Table 1, split and unsplit (T9).

Chances are exact, from the law of the noise; the same table in many regions, asked through a
session, shows that real draws follow them.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

from perrecord.lab.experiments.experiment import Experiment, Tell
from perrecord.lab.experiments.keys.chances import Drawn, Industry, Selecting, drawn_shares, optima
from perrecord.lab.experiments.keys.claims import claims
from perrecord.lab.experiments.keys.figures import by_records, price_of_being_found
from perrecord.lab.experiments.keys.industries import by_threshold
from perrecord.report.numbers import amount

INDUSTRIES = (
    Industry("Retail", (5, 5, 10, 1000)),
    Industry("Technology", (10_000,)),
    Industry("Services", (5,)),
    Industry("Hospitality", (5,)),
    Industry("Transport", (5,) * 12),
    Industry("Construction", (5,) * 30),
)
"""The paper's Table 1, and two industries of many small establishments."""


@dataclass(frozen=True, slots=True)
class KeysParameters:
    """What is asked, and how often it is drawn."""

    rho: str = "0.1"
    delta: str = "1e-6"
    count_rho: str = "0.1"
    splits: tuple[int, ...] = (1000, 500, 100, 50)
    claimed_split: int = 500
    shown: tuple[str, ...] = ("Technology", "Retail", "Transport", "Services")
    """Industries that get a panel."""
    from_threshold: int = 10
    to_threshold: int = 10_000
    steps: int = 60
    most_records: int = 100
    most_pieces: int = 20
    companions: tuple[int, ...] = (0, 3, 6, 9)
    worked_rhos: tuple[str, ...] = ("0.1", "1", "10")
    copies: int = 20_000

    @property
    def thresholds(self) -> list[int]:
        """Thresholds evenly spread over a logarithmic axis, and those where pieces change.

        An establishment of g makes k pieces from g/k on, and one more just below.
        """
        step = math.log(self.to_threshold / self.from_threshold) / self.steps
        every = {round(self.from_threshold * math.exp(step * k)) for k in range(self.steps + 1)}
        for industry in INDUSTRIES:
            for pieces in range(1, self.most_pieces + 1):
                edge = -(-industry.giant // pieces)
                every |= {edge, edge - 1}
        return sorted(each for each in every if self.from_threshold <= each <= self.to_threshold)


FULL = KeysParameters()
QUICK = KeysParameters(steps=20, copies=1000)


def run(*, quick: bool, step: Tell) -> Experiment:
    """Return the key-selection example: figures, and what the paper says of it."""
    parameters = QUICK if quick else FULL
    unsplit = Selecting(parameters.rho, parameters.delta)
    splits = [Selecting(parameters.rho, parameters.delta, each) for each in parameters.splits]
    drawn = []
    for way in (unsplit, *splits):
        step(f"Finding keys, {way.name}, in {parameters.copies:,} regions")
        shares = drawn_shares(INDUSTRIES, way, parameters.copies, parameters.count_rho)
        drawn.append(Drawn(way, parameters.copies, shares))
    step("Finding keys: exact chances")
    named = {each.name: each for each in INDUSTRIES}
    claimed = Selecting(parameters.rho, parameters.delta, parameters.claimed_split)
    return Experiment(
        "key-selection",
        "Finding keys: who is found, and what it costs",
        _text(parameters, unsplit, drawn),
        (
            by_threshold(INDUSTRIES, parameters.shown, unsplit, parameters.thresholds, drawn),
            price_of_being_found(unsplit, parameters.most_pieces, parameters.companions),
            by_records(unsplit, parameters.most_records),
        ),
        claims(named["Services"], named["Technology"], unsplit, claimed, parameters.worked_rhos),
    )


def farthest(drawn: list[Drawn]) -> tuple[float, int]:
    """Return the largest distance of a drawn share from its chance, in standard errors.

    Beside it, of how many shares: those are left out whose chance is so close to 0 or 1 that
    fewer than ten regions are expected to differ from the others.
    """
    distances = []
    for each in drawn:
        for industry in INDUSTRIES:
            chance = each.selecting.chance(industry)
            variance = chance * (1 - chance) * each.copies
            if variance >= 10:
                away = abs(each.shares[industry.name] - chance) * each.copies
                distances.append(away / math.sqrt(variance))
    return max(distances, default=0.0), len(distances)


def _exceeded(count: int) -> float:
    """Return what the largest of so many distances exceeds in one run of twenty, at most."""
    return NormalDist().inv_cdf(1 - 0.05 / (2 * max(1, count)))


def _text(parameters: KeysParameters, unsplit: Selecting, drawn: list[Drawn]) -> tuple[str, ...]:
    best, _ = optima(unsplit)
    distance, count = farthest(drawn)
    return (
        "SELECT COUNT(*) … GROUP BY industry, where nobody has declared which industries there "
        "are: the keys themselves are found with noise. Establishments are cut into pieces, the "
        "pieces of each industry are counted, and it is published if its noisy count reaches "
        f"{unsplit.keys.threshold}, which an establishment of one piece alone does with chance "
        f"{amount(unsplit.chance_of(1))} (ρ = {unsplit.rho}, δ = {unsplit.delta}). The table is "
        "the paper's Table 1 with two more industries, of many small establishments.",
        f"Chances are exact. As a check the table was repeated in {parameters.copies:,} regions "
        "and asked for counts by region and industry through a session, with real noise: the "
        f"largest distance of a drawn share from its chance is {amount(distance, 2)} standard "
        f"errors, over the {count} shares that are not as good as certain. One run in twenty "
        f"exceeds {amount(_exceeded(count), 2)}.",
        "Beside it stands the optimal selection of Desfontaines, Voss, Gipson and Mandayam (2020) "
        "on unsplit records. Its (ε, δ) is what the same unsplit record is promised here: ε = "
        f"{amount(best.epsilon)} from ρ = {unsplit.rho} by T18's generic bound at δ = "
        f"{unsplit.delta}, and δ = {amount(best.delta)}, that one and delta(1) of the key "
        f"together. By the law of the noise itself ε is {amount(unsplit.own_epsilon())}. The "
        "optimum spends all of (ε, δ) on this one question: all that (ε, δ) says of its ρ is that "
        f"ε²/2 = {amount(best.epsilon**2 / 2)} will do, so the two compare for one selection, not "
        "in a workload.",
    )
