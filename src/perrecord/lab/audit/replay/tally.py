"""What a replay audit adds up, and how it tells it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from perrecord.lab.audit.figures import Figures, FiguresTable, number, share
from perrecord.lab.audit.replay.checks import NOBODY, Check
from perrecord.lab.audit.replay.promises import PROMISE
from perrecord.lab.audit.replay.recomputed import RECOMPUTED
from perrecord.lab.audit.replay.releases import RELEASE
from perrecord.lab.audit.replay.rows import ROWS
from perrecord.lab.audit.replay.selection import DOMAIN, LONE
from perrecord.lab.audit.replay.traces import DIFFERENCE, TRACE
from perrecord.lab.audit.replay.workloads import GROUPING, WORKLOAD

MOST_FAILURES = 20
_WHOLE = (WORKLOAD, ROWS)
"""What is one pair each: a record, and all that is asked in one go."""
_SILENT = (WORKLOAD, GROUPING, TRACE, DIFFERENCE, RECOMPUTED, RELEASE, DOMAIN, PROMISE)


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
            self.equal[check.what] += check.lost == check.allowed and check.lost > 0
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
        caption = "Records in reach of an answer, by kind of answer"
        table = FiguresTable(caption, columns, rows)
        return Figures("replay", tuple(figures), (table,), tuple(self.failures))


def _of(part: int, whole: int) -> str:
    return f"{number(part)} ({share(part, whole)})"
