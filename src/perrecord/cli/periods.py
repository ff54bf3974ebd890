# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""The periods of a ledger: what is charged to each, what still fits, what records lose over all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from perrecord.cli.output import amount, columns
from perrecord.errors import InputError, listing

if TYPE_CHECKING:
    from perrecord.accounting.ledger import Ledger
    from perrecord.accounting.parts import BudgetPart
    from perrecord.policy.cases import Record
    from perrecord.policy.policy import Policy

GROWTH = "5"
"""By how many percent a record grows from period to period, unless another number is asked for."""

_NEW = "another snapshot"
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class PeriodState:
    """How far the part of one period is spent, for the record that loses least."""

    period: str
    limit: Fraction
    charged: Fraction
    charges: int
    fit: int | None
    """How many more charges like the one asked about fit; None if none was."""


@dataclass(frozen=True, slots=True)
class History:
    """What a record has lost in all periods so far, and may lose in all of them."""

    name: str
    so_far: Fraction
    limit: Fraction
    grown_so_far: Fraction
    grown_limit: Fraction


@dataclass(frozen=True, slots=True)
class Periods:
    """Everything that is said of the periods of a ledger."""

    states: tuple[PeriodState, ...]
    histories: tuple[History, ...]
    growth: Fraction
    currency: str
    changed: tuple[str, ...] = ()
    """Names that stood for one thing in one period, and for another in another."""

    def lines(self, like: str) -> Iterator[str]:
        """Yield it for people; `like` says which releases are counted."""
        rows = [
            [
                each.period,
                amount(each.limit),
                amount(each.charged),
                str(each.charges),
                "-" if each.fit is None else _count(each.fit),
            ]
            for each in self.states
        ]
        heads = ["period", "may lose", "charged", "charges", "more fit"]
        yield from ("Periods, for the record that loses least", *columns(heads, rows))
        yield f"  More fit: how many more releases like {like}."
        if self.histories:
            percent = f"+{amount(100 * self.growth)} %"
            yield ""
            yield f"Over all periods, in {self.currency}: so far, and if everything is spent"
            shown = [
                [
                    each.name,
                    *map(amount, (each.so_far, each.limit, each.grown_so_far, each.grown_limit)),
                ]
                for each in self.histories
            ]
            heads = ["record", "so far", "all spent", f"so far, {percent}", f"all spent, {percent}"]
            yield from columns(heads, shown)
            yield (
                f"  A record of the same values in every period; and one that grows by {percent} "
                "from period to period."
            )
            if self.changed:
                yield (
                    f"  Mind: {listing(self.changed)} meant something else in some periods, and "
                    "here it has one value in all."
                )

    def as_json(self) -> dict[str, Any]:
        """Return it for programs; exact numbers are text, as in policy.json."""
        from perrecord.exact import text

        return {
            "currency": self.currency,
            "growth": text(self.growth),
            "periods": [
                {
                    "period": each.period,
                    "least_limit": text(each.limit),
                    "least_charged": text(each.charged),
                    "charges": each.charges,
                    "more_fit": each.fit,
                }
                for each in self.states
            ],
            "histories": [
                {
                    "name": each.name,
                    "so_far": text(each.so_far),
                    "all_spent": text(each.limit),
                    "so_far_growing": text(each.grown_so_far),
                    "all_spent_growing": text(each.grown_limit),
                }
                for each in self.histories
            ],
            "changed_names": list(self.changed),
        }


def periods_of(
    ledger: "Ledger",
    policy: "Policy | None",
    records: Mapping[str, "Record"],
    growth: str = GROWTH,
) -> Periods | None:
    """Return what is said of a ledger's periods; None if it has none.

    `policy` is that of the release whose like is counted.
    """
    from perrecord.accounting.entries import Charge
    from perrecord.accounting.planning import how_many_fit

    if not ledger.periods:
        return None
    parts = [ledger.part(period) for period in ledger.periods]
    made = [each.period for each in ledger.entries() if isinstance(each, Charge)]
    share = _share(growth)
    fit: dict[object, int] = {}  # periods to which the same was charged are counted once
    states = []
    for part in parts:
        like = (part.budget, frozenset(part.spent.sums.values()))
        if policy is not None and like not in fit:
            fit[like] = how_many_fit(part, policy, _snapshot(part))
        states.append(
            PeriodState(
                part.period or "",
                part.budget.minimum(),
                part.spent.total().minimum(),
                made.count(part.period),
                fit.get(like),
            )
        )
    histories = [_history(name, record, parts, share) for name, record in records.items()]
    currency = ledger.budget.currency.value
    return Periods(tuple(states), tuple(histories), share, currency, _changed(parts))


def _changed(parts: Sequence["BudgetPart"]) -> tuple[str, ...]:
    """Return the names that did not mean the same in all charges of all periods."""
    said: dict[str, set[str | None]] = {}
    for part in parts:
        for name, (meaning, _) in part.meanings.items():
            said.setdefault(name, set()).add(meaning)
    return tuple(sorted(name for name, meanings in said.items() if len(meanings) > 1))


def _snapshot(part: "BudgetPart") -> str:
    """Return the snapshot that the next charge of a period is most likely made on."""
    return next((each for each in reversed([*part.spent.sums]) if isinstance(each, str)), _NEW)


def _history(
    name: str, record: "Record", parts: Sequence["BudgetPart"], growth: Fraction
) -> History:
    from perrecord.accounting.planning import grown, history_losses

    same = {part.period: record for part in parts}
    growing = {part.period: grown(record, growth, at, parts) for at, part in enumerate(parts)}
    return History(name, *history_losses(parts, same), *history_losses(parts, growing))


def usual_records(ledger: "Ledger") -> dict[str, "Record"]:
    """Return a record as large as the budget's thresholds, and one ten times as large, by name."""
    from perrecord.accounting.planning import usual_record

    record = usual_record(ledger.part(period) for period in ledger.periods)
    if record is None:
        return {}
    tenfold = {name: 10 * value for name, value in record.items()}
    return {named(each): each for each in (record, tenfold)}


def typed_for(ledger: "Ledger", written: Mapping[str, str]) -> dict[str, "Record"]:
    """Return the record of `--record name=value ...`, as the parts of the budget read it."""
    from perrecord.accounting.planning import read_by
    from perrecord.exact import rational

    kinds = read_by(ledger.part(period) for period in ledger.periods)
    record: dict[str, Any] = {}
    for name, value in written.items():
        types = kinds.get(name, frozenset[type]())
        if types is None:
            record[name] = rational(value, f"the field {name!r}")
        elif bool in types and value in _TRUTHS:
            record[name] = _TRUTHS[value]
        elif int in types:
            try:
                record[name] = int(value)
            except ValueError:
                raise InputError(f"the field {name!r} holds whole numbers, such as 7.") from None
        else:
            record[name] = value
    return {named(record): record}


def named(record: "Record") -> str:
    """Return a record in a few words.

    >>> named({"employees": Fraction(50)})
    'employees = 50'
    """
    return ", ".join(
        f"{name} = {amount(value) if isinstance(value, Fraction) else value}"
        for name, value in record.items()
    )


def _share(growth: str) -> Fraction:
    from perrecord.exact import rational

    share = rational(growth, "the growth in percent") / 100
    if share <= -1:
        raise InputError("the growth is -100 % or less; expected a greater percentage, such as 5.")
    return share


def _count(fit: int) -> str:
    from perrecord.accounting.planning import MOST

    return f"{MOST} or more" if fit >= MOST else str(fit)


def latest(ledger: "Ledger") -> "Policy | None":
    """Return the policy of the ledger's latest charge; None if there is none."""
    from perrecord.accounting.entries import Charge

    charges = [each for each in ledger.entries() if isinstance(each, Charge)]
    return charges[-1].policy if charges else None
