"""What was found about one record, by kind, and how an audit adds it up and tells it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from perrecord.exact import text
from perrecord.lab.audit.figures import Figures, FiguresTable, number, share
from perrecord.lab.audit.tapered import student_loss
from perrecord.laws import DiscreteGaussian, DiscreteLaplace, DiscreteStudent, Law
from perrecord.policy.terms import Currency

WORKLOAD, GROUPING = "a workload", "a grouping"
KEYS, LONE, DOMAIN = "key selection", "key selection, a key of one record", "cells of a domain"
PROMISE = "delta of an unsplit record"
ROWS = "any mechanism on split rows"
TRACE, DIFFERENCE = "control flow", "a released number"
RECOMPUTED, RELEASE = "a run computed anew", "whole releases"
SUMS = "tables that add up"
DERIVED = "derived and weighted measures"
HISTORY = "a history, by base and changes"

MOST_FAILURES = 20
_WHOLE = (WORKLOAD, ROWS)
"""What is one pair each: a record, and all that is asked in one go."""
_SILENT = (
    WORKLOAD,
    GROUPING,
    TRACE,
    DIFFERENCE,
    RECOMPUTED,
    RELEASE,
    SUMS,
    DERIVED,
    DOMAIN,
    PROMISE,
    HISTORY,
)

NOBODY = -1
"""In place of a record's number, where none was left out."""

TAPERED = Fraction(1, 1 << 25)
"""By so small a share of it a tapered loss may be charged more than it is: 2^-26 for the integers,
and what rounding adds."""

Places = list[int | None]
"""For each record the cell that it is in; None if it is in none."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question asked of one neighbouring pair."""

    what: str
    record: int
    """The number of the record that was left out."""
    lost: Fraction = Fraction(0)
    allowed: Fraction = Fraction(0)
    is_tight: bool = False
    """Whether all that is allowed must be lost: accounting is exact, and the record takes part."""
    fault: str | None = None
    numbers: int = 0
    """How many released numbers were looked at."""
    spare: Fraction = Fraction(0)
    """By what share of the loss more may be allowed, and all of it be lost."""

    @property
    def is_all_lost(self) -> bool:
        """Whether no less is lost than what is allowed."""
        return self.lost * (1 + self.spare) >= self.allowed

    def problem(self) -> str | None:
        """Return what is wrong, if anything is."""
        if self.fault is not None:
            return f"{self.what}: {self.fault}"
        if self.lost > self.allowed:
            return f"{self.what}: lost {text(self.lost)}, the policy says {text(self.allowed)}"
        if self.is_tight and not self.is_all_lost:
            return f"{self.what}: lost {text(self.lost)}, exactly {text(self.allowed)} was said"
        return None


def cost(law: Law, change: int, currency: Currency = Currency.RHO) -> Fraction:
    """Return the loss that a change causes under a law; of Student's, which is irrational, below.

    Student noise has a loss in either currency, the others in their own.
    """
    match law:
        case DiscreteGaussian():
            return change**2 / (2 * law.sigma_squared)
        case DiscreteStudent():
            return student_loss(law.spread, law.nu, Fraction(change), currency.value)
        case _:
            assert isinstance(law, DiscreteLaplace)  # noqa: S101 - the last of the laws
            return abs(change) / law.scale


@dataclass(slots=True)
class Tally:
    """Counts of what was compared, by kind, and what was wrong."""

    wanted: int
    most_violations: int
    pairs: int = 0
    """How many different pairs of tables were compared."""
    tables: int = 0
    numbers: int = 0
    made: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    tight: Counter[str] = field(default_factory=Counter)
    violations: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Whether there are pairs enough, or too many violations."""
        return self.pairs >= self.wanted or self.has_failed

    @property
    def has_failed(self) -> bool:
        """Whether there are too many violations to go on."""
        return self.violations >= self.most_violations

    def add(self, checks: Iterable[Check], where: str) -> None:
        """Count some checks, as far as they are wanted: violations may be too many already."""
        for check in checks:
            self.made[check.what] += 1
            self.lost[check.what] += check.lost > 0
            self.equal[check.what] += check.is_all_lost and check.lost > 0
            self.tight[check.what] += check.is_tight
            self.numbers += check.numbers
            problem = check.problem()
            if problem is not None:
                pair = "" if check.record == NOBODY else f", without record {check.record}"
                self.fail(f"{where}{pair}: {problem}")
            if self.has_failed:
                return

    def fail(self, message: str) -> None:
        """Count something that is wrong; the first ones are told."""
        self.violations += 1
        if len(self.failures) < MOST_FAILURES:
            self.failures.append(message)

    def figures(self, seed: int) -> Figures:
        """Return what was counted, as text."""
        kinds = sorted(set(self.made) - set(_SILENT))
        lost, equal = (sum(found[what] for what in _WHOLE) for found in (self.lost, self.equal))
        told = [
            ("neighbouring pairs: a table, and it without one record", self.pairs),
            ("violations", self.violations),
            ("random tables, one workload each", self.tables),
            ("answers and selections compared", sum(self.made[kind] for kind in kinds)),
            ("pairs in which the record lost something", lost),
        ]
        figures = [(name, number(count)) for name, count in told]
        figures += [
            ("of these, pairs in which it lost exactly P(r)", _of(equal, lost)),
            (
                "pairs in which exact accounting demanded exactly P(r)",
                number(sum(self.tight[what] for what in _WHOLE)),
            ),
        ]
        others = [
            ("keys of one record compared with delta(r)", LONE),
            ("thresholds compared with the delta that they were made for", PROMISE),
            ("cells of a domain with coupled noise", DOMAIN),
            ("real runs, recomputed from records, prices and bits", RECOMPUTED),
            ("pairs run both ways with the same bits, control flow compared", TRACE),
            ("differences of released numbers compared with their charge", DIFFERENCE),
            ("pairs released both ways from a spec, files compared", RELEASE),
            ("releases whose tables add up, recomputed from published files alone", SUMS),
            ("records whose derived and weighted measures were computed once more", DERIVED),
            ("histories over several periods compared, by base and changes", HISTORY),
        ]
        figures += [(name, number(self.made[what])) for name, what in others]
        figures += [
            ("released numbers recomputed", number(self.numbers)),
            ("seed", str(seed)),
        ]
        rows = tuple(
            (kind, number(self.made[kind]), number(self.lost[kind]), number(self.equal[kind]))
            for kind in kinds
        )
        columns = ("kind", "compared", "lost something", "lost exactly what the policy says")
        caption = "Records in reach of an answer, by kind of answer; tapered losses to 1 in 2^25"
        table = FiguresTable(caption, columns, rows)
        return Figures("replay", tuple(figures), (table,), tuple(self.failures))


def _of(part: int, whole: int) -> str:
    return f"{number(part)} ({share(part, whole)})"
