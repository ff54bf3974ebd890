"""What a replay audit adds up, and how it tells it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from perrecord.audit.figures import Figures, FiguresTable, number, share
from perrecord.audit.replay.checks import Check
from perrecord.audit.replay.releases import RELEASE
from perrecord.audit.replay.rows import ROWS
from perrecord.audit.replay.selection import DOMAIN, LONE
from perrecord.audit.replay.traces import TRACE
from perrecord.audit.replay.workloads import GROUPING, WORKLOAD

MOST_FAILURES = 20
_WHOLE = (WORKLOAD, ROWS)
"""What is one pair each: a record, and all that is asked in one go."""
_SILENT = (WORKLOAD, GROUPING, TRACE, RELEASE, DOMAIN)


@dataclass(slots=True)
class Tally:
    """Counts of what was compared, by kind, and what was wrong."""

    wanted: int
    most_violations: int
    tables: int = 0
    workloads: int = 0
    made: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    tight: Counter[str] = field(default_factory=Counter)
    violations: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """How many neighbouring pairs were compared."""
        return sum(self.made[what] for what in _WHOLE)

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
            self.equal[check.what] += check.lost == check.allowed and check.lost > 0
            self.tight[check.what] += check.is_tight
            problem = check.problem()
            if problem is not None:
                self.fail(f"{where}, record {check.record}: {problem}")
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
            ("neighbouring pairs compared exactly", self.pairs),
            ("violations", self.violations),
            ("random tables", self.tables),
            ("random workloads", self.workloads),
            ("answers and selections compared", sum(self.made[kind] for kind in kinds)),
        ]
        figures = [(name, number(count)) for name, count in told]
        figures += [
            ("pairs in which the record lost something", _of(lost, self.pairs)),
            ("of these, pairs in which it lost exactly P(r)", _of(equal, lost)),
            (
                "pairs in which exact accounting demanded exactly P(r)",
                number(sum(self.tight[what] for what in _WHOLE)),
            ),
            ("keys of one record held against delta(r)", number(self.made[LONE])),
            ("cells of a domain with coupled noise", number(self.made[DOMAIN])),
            ("pairs run twice with the same bits, control flow compared", number(self.made[TRACE])),
            ("pairs released twice from a spec, files compared", number(self.made[RELEASE])),
            ("seed", str(seed)),
        ]
        rows = tuple(
            (kind, number(self.made[kind]), number(self.lost[kind]), number(self.equal[kind]))
            for kind in kinds
        )
        columns = ("kind", "compared", "lost something", "lost exactly what the policy says")
        caption = "Records in reach of an answer, by kind of answer"
        table = FiguresTable(caption, columns, rows)
        return Figures("replay", tuple(figures), (table,), tuple(self.failures))


def _of(part: int, whole: int) -> str:
    return f"{number(part)} ({share(part, whole)})"
