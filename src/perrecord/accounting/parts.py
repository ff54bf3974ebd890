"""The parts of a ledger's budget, one for each period, and what was charged to each (T35).

A record is another one in each period: r_t in period t. Its history loses S_1(r_1) + ... + S_T(r_T)
and may lose B_1(r_1) + ... + B_T(r_T). Each period's charges S_t are compared with that period's
own part B_t, so the second bounds the first for every history, however records change.

A ledger without periods has one part, which is all of its budget.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from perrecord.accounting.budget import Spent, remark, snapshot_name
from perrecord.accounting.entries import (
    Charge,
    Creation,
    LedgerEntry,
    check_meanings,
    meanings_of,
)
from perrecord.errors import CurrencyError, InputError, LedgerError, listing, suggestion
from perrecord.policy.policy import Policy
from perrecord.policy.reads import names_read

_RANGE = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})")
_LIKE_A_RANGE = re.compile(r"([0-9]{4})\s*([-:/–]|to)\s*([0-9]{4})")
_MOST = 1000
_LONGEST = 40


def period_name(given: object) -> str:
    """Return the name of a period, a whole number as text.

    >>> period_name(2026), period_name("2026Q1")
    ('2026', '2026Q1')
    """
    name = str(given) if type(given) is int else given
    is_name = isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST
    if not isinstance(name, str) or not is_name or name != name.strip() or "," in name:
        raise InputError(
            f"the period is {given!r}; expected a short name without commas, such as 2026 or "
            "2026Q1."
        )
    return name


def period_names(given: str | Iterable[str | int]) -> tuple[str, ...]:
    """Return the names of periods: a list of them, or text with ranges of whole numbers.

    >>> period_names("2026..2028"), period_names("2026Q1,2026Q2"), period_names([2026, 2027])
    (('2026', '2027', '2028'), ('2026Q1', '2026Q2'), ('2026', '2027'))
    """
    if isinstance(given, str):
        names = [name for each in given.split(",") for name in _spelled_out(each.strip())]
    else:
        names = [period_name(each) for each in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"the period {listing(twice, limit=3)} is named twice; name each once.")
    if not 0 < len(names) <= _MOST:
        raise InputError(
            f"there are {len(names)} periods; expected 1 to {_MOST}, such as 2026..2035."
        )
    return tuple(names)


def _spelled_out(each: str) -> Iterable[str]:
    found = _RANGE.fullmatch(each)
    if found is None:
        if ".." in each:
            raise InputError(
                f"{each!r} is not a range of periods; write one of whole numbers, such as "
                "2026..2035, or a list, such as 2026Q1,2026Q2."
            )
        _check_no_range(each)
        return [period_name(each)]
    first, last = int(found[1]), int(found[2])
    if not first <= last < first + _MOST:
        raise InputError(
            f"{each!r} is not a range of periods; expected the first and the last, at most "
            f"{_MOST} of them, such as 2026..2035."
        )
    return [str(number) for number in range(first, last + 1)]


def _check_no_range(each: str) -> None:
    """Refuse what looks like a range and is none; 2026-2027 may be one period, of two years."""
    found = _LIKE_A_RANGE.fullmatch(each)
    if found is None:
        return
    first, sign, last = int(found[1]), found[2], int(found[3])
    if last > first + (sign != ":"):
        raise InputError(
            f"{each!r} would be the name of one period. Did you mean all from {first} to {last}? "
            f"Write {first}..{last}, or a list, such as {first},{first + 1},{first + 2}."
        )


def parts_of(
    budget: Policy | Mapping[str, Policy], periods: str | Iterable[str | int] | None
) -> Policy | dict[str, Policy]:
    """Return the budget that a ledger is made with: a policy, or one for each period."""
    if not isinstance(budget, Mapping):
        return budget if periods is None else dict.fromkeys(period_names(periods), budget)
    if periods is not None:
        raise InputError(
            "the budget is given by period, which names the periods; leave periods out."
        )
    parts = dict(zip(period_names(budget), budget.values(), strict=True))
    if len({each.currency for each in parts.values() if isinstance(each, Policy)}) > 1:
        raise CurrencyError(
            "some parts of the budget are in rho and some in epsilon; give all of them in one "
            "of the two."
        )
    return parts


@dataclass(frozen=True, slots=True)
class BudgetPart:
    """What one period may cost, what was charged to it, and what names meant in it."""

    period: str | None
    budget: Policy
    spent: Spent
    meanings: Mapping[str, tuple[str | None, int]]

    def after(self, entries: Iterable[LedgerEntry]) -> "BudgetPart":
        """Return the part when these entries, all its own, have followed."""
        made = list(entries)
        meanings = {**meanings_of(made), **self.meanings}
        return replace(self, spent=self.spent.after(made), meanings=meanings)

    def check(
        self,
        path: Path,
        policy: Policy,
        snapshot: str,
        revision: str | None,
        meanings: Mapping[str, str],
    ) -> None:
        """Refuse names that mean something else in this part, and data that is not the period's."""
        check_meanings(path, self.meanings, names_read(policy), meanings)
        if self.period is not None:
            self._check_data(path, snapshot, revision)
        elif revision is not None:
            raise LedgerError(
                f"{path}: only a period can be revised, and this ledger has no periods. Leave "
                "revision out. Nothing was charged."
            )

    def _check_data(self, path: Path, snapshot: str, revision: str | None) -> None:
        """Refuse other data under a period that was charged, unless it is named a revision."""
        before = self.spent.sums
        if not before and revision is not None:
            raise LedgerError(
                f"{path}: nothing was charged for period {self.period} yet, so there is nothing to "
                "revise. Leave revision out, or name the period that is revised. Nothing was "
                "charged."
            )
        if before and snapshot not in before and revision is None:
            shown = listing(map(snapshot_name, before), limit=3)
            raise LedgerError(
                f"{path}: period {self.period} was charged on other data ({shown}; this is "
                f"{snapshot_name(snapshot)}). If this is the data of another period, name that "
                "one. If it is the corrected data of the same period, say so: revision: late "
                'returns in the spec, --revision "late returns", or revision="late returns" in '
                "Python. Nothing was charged."
            )


@dataclass(frozen=True, slots=True)
class BudgetParts:
    """Every part of a ledger's budget, by its period; None is that of a ledger without periods."""

    by_period: Mapping[str | None, BudgetPart]

    @classmethod
    def of(cls, creation: Creation) -> "BudgetParts":
        """Return the parts of a new ledger, nothing charged to them yet."""
        budgets: dict[str | None, Policy] = dict(creation.periods.items())
        budgets = budgets or {None: creation.budget}
        zero = Policy.zero(creation.budget.currency)
        return cls(
            {
                period: BudgetPart(period, budget, Spent(zero, {}, period), {})
                for period, budget in budgets.items()
            }
        )

    @property
    def periods(self) -> tuple[str, ...]:
        """The names of the periods; none in a ledger without."""
        return tuple(period for period in self.by_period if period is not None)

    def part(self, path: Path, period: str | None) -> BudgetPart:
        """Return the part of a period; what the ledger does not have is refused."""
        found = self.by_period.get(period)
        if found is not None:
            return found
        known = self.periods
        if not known:
            raise LedgerError(
                f"{path}: the ledger has no periods, but period {period} is named. Leave it out, "
                "or make a ledger with periods: perrecord ledger create SPEC --periods "
                '2026..2035, in Python Ledger.create(path, budget, periods="2026..2035"). '
                "Nothing was charged."
            )
        shown = listing(known, limit=12)
        if period is None:
            raise LedgerError(
                f"{path}: the ledger has periods, but none is named. Say which one the data is "
                f"about: period: {known[0]} in the spec, --period {known[0]}, or "
                f"period={known[0]!r} in Python. Periods are {shown}. Nothing was charged."
            )
        raise LedgerError(
            f"{path}: there is no period {period}. Periods are {shown}; they were fixed when the "
            f"ledger was made.{suggestion(period, known)} Nothing was charged."
        )

    def after(self, path: Path, entries: Iterable[LedgerEntry]) -> "BudgetParts":
        """Return the parts when these entries have followed."""
        fresh: dict[str | None, list[LedgerEntry]] = {}
        for entry in entries:
            if isinstance(entry, Charge):
                if entry.period not in self.by_period:
                    raise LedgerError(
                        f"{path}: entry {entry.number} is charged to a period that the ledger does "
                        "not have. It was not written by perrecord: restore the newest backup."
                    )
                fresh.setdefault(entry.period, []).append(entry)
        later = {period: self.by_period[period].after(made) for period, made in fresh.items()}
        return BudgetParts({**self.by_period, **later})

    def spent(self) -> Policy:
        """Return what all charges cost a record that stays the same in every period."""
        return Policy.total([each.spent.total() for each in self.by_period.values()])

    def remark(self, path: Path, snapshot: str, period: str | None) -> str | None:
        """Return what to know before charging on a snapshot; None if nothing is."""
        said = [remark(self.part(path, period).spent, snapshot)]
        elsewhere = [
            name
            for name, other in self.by_period.items()
            if name is not None and name != period and snapshot in other.spent.sums
        ]
        if elsewhere:
            said.append(
                f"the same data was charged for period {listing(elsewhere, limit=3)}; check "
                f"whether it is the data of period {period}"
            )
        return "; ".join(each for each in said if each) or None
