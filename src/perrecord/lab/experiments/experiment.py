"""What an experiment gives: figures, and the paper's claims compared with what was measured."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from perrecord.report.figure import Figure

Verdict = Literal["holds", "holds with a condition", "does not hold"]

Tell = Callable[[str], None]
"""Told what an experiment is doing now."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the paper, what we measure, and whether the one bears the other out."""

    paper: str
    measured: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Experiment:
    """The outcome of one experiment, ready to be drawn and written."""

    name: str
    title: str
    text: tuple[str, ...]
    """What was done, with which data, in a few paragraphs."""
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
