# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What the records of one unit lose together, such as the branches of a firm (T34)."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from perrecord.errors import listing
from perrecord.exact import text

if TYPE_CHECKING:
    from perrecord.cli.records import Row, Subject


@dataclass(frozen=True, slots=True)
class JointLosses:
    """What several records lose together; no loss where they do not say enough of themselves."""

    loss: Fraction | None
    is_by_cell: bool
    """Whether it was found cell by cell; otherwise from what each loses alone, which is more."""
    delta: Fraction
    epsilon: float
    power: float | None
    lacking: tuple[str, ...]
    """Fields that decide which records share a cell, and some record lacks."""

    def words(self) -> Iterator[str]:
        """Yield what the line of all records says, or why there is none."""
        if self.lacking:
            named = listing(self.lacking)
            yield f"What they lose together depends on {named} too: give it for each."
        elif self.is_by_cell:
            yield "together is what they lose if all belong to one unit, such as a firm: in every"
            yield "published number its records are added up, and the losses of all numbers add up."
        else:
            yield "together is what they lose at most if all belong to one unit, such as a firm;"
            yield "the policy does not say which numbers they share."


def together(subject: "Subject", records: list["Row"]) -> JointLosses:
    """Return what records of one unit lose together, cell by cell."""
    from perrecord.policy.meaning import meaning
    from perrecord.policy.terms import Currency

    published = subject.published
    lacking = tuple(
        name for name in published.asked_of_units if any(name not in record for record in records)
    )
    if lacking:
        return JointLosses(
            None, is_by_cell=False, delta=Fraction(0), epsilon=0.0, power=None, lacking=lacking
        )
    loss, delta = published.unit(records), published.unit_delta(records)
    meant = (
        meaning(loss.amount, key_delta=delta) if published.total.currency is Currency.RHO else None
    )
    return JointLosses(
        loss.amount,
        published.is_by_cell(records),
        delta,
        float(loss.amount) if meant is None else float(meant.epsilon),
        None if meant is None else float(meant.power[0.05]),
        (),
    )


def as_json(found: JointLosses) -> dict[str, Any]:
    """Return what they lose together; exact numbers are text, as in policy.json."""
    if found.loss is None:
        return {"loss": None, "needs": list(found.lacking)}
    return {
        "loss": text(found.loss),
        "delta": text(found.delta),
        "by_cell": found.is_by_cell,
        "epsilon": found.epsilon,
        "power": found.power,
    }
