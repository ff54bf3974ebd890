"""Two texts of a spec side by side: what each charges, how noisy and how accurate it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from perrecord.exact import amount_up
from perrecord.report.numbers import percent
from perrecord.studio.accuracy import SizeErrors
from perrecord.studio.facts import Facts


@dataclass(frozen=True, slots=True)
class BesideRow:
    """One figure of both, as it is shown; empty where one of them has none."""

    name: str
    then: str
    now: str

    @property
    def is_other(self) -> bool:
        """Whether they differ."""
        return self.then != self.now


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Every figure of both, under a heading each."""

    label: str
    """What the text of before is called."""
    parts: tuple[tuple[str, tuple[BesideRow, ...]], ...]
    problems: tuple[str, ...] = ()


BySize = tuple[SizeErrors, ...]


def side_by_side(
    label: str, then: Facts, now: Facts, errors: tuple[BySize, BySize] = ((), ())
) -> SideBySide:
    """Return losses, charges, noise and errors of both texts, row by row."""
    problems = tuple(each.problems for each in (then, now) if each.problems)
    found = [
        (heading, tuple(_rows(of(then), of(now))))
        for heading, of in (
            ("What example records would lose", _losses),
            ("What every answer costs and how noisy it is", _noises),
        )
    ]
    found.append(("Error of the median cell", tuple(_rows(*map(_errors, errors)))))
    found.append(("Cells within 5 %", tuple(_rows(*map(_within, errors)))))
    found.append(("The charge", tuple(_rows(_charge(then), _charge(now)))))
    return SideBySide(label, tuple(each for each in found if each[1]), problems)


def _rows(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[BesideRow]:
    for name in dict.fromkeys([*then, *now]):
        yield BesideRow(name, then.get(name, ""), now.get(name, ""))


def _losses(facts: Facts) -> dict[str, str]:
    losses: Any = () if facts.checked is None else facts.checked.losses
    return {name: amount_up(loss) for name, loss in losses}


def _noises(facts: Facts) -> dict[str, str]:
    answers = () if facts.checked is None else facts.checked.answers
    amounts = {(each.query, each.name): each.amount for each in facts.choices}
    found = {}
    for table, each in answers:
        amount = amounts.get((each.query, each.name))
        price = "" if amount is None else f"{amount.option} {amount.text}"
        noise = f"noise {each.shown()}" if each.deviations else ""
        found[f"{table}, {each.name}"] = ", ".join(filter(None, (price, noise)))
    return found


def _errors(errors: BySize) -> dict[str, str]:
    return {_cells(each): percent(each.median) for each in errors}


def _within(errors: BySize) -> dict[str, str]:
    return {_cells(each): percent(each.within) for each in errors}


def _cells(each: SizeErrors) -> str:
    return f"{each.table}, {each.answer}, cells of {each.size}"


def _charge(facts: Facts) -> dict[str, str]:
    policy = None if facts.checked is None else facts.checked.policy
    return {} if policy is None else {"in words": " ".join(map(str, policy.lines()))}
