"""What a workload would cost and how noisy it would be, from public facts alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from perrecord.exact import figure_down, figure_up, text
from perrecord.laws import Law
from perrecord.laws.widths import deviation
from perrecord.panels import panel
from perrecord.policy.cases import Record
from perrecord.policy.policy import Policy
from perrecord.policy.reads import names_read
from perrecord.policy.terms import Currency
from perrecord.queries.measurements import Measurement
from perrecord.queries.plan import Plan
from perrecord.tables.schema import Schema


@dataclass(frozen=True, slots=True)
class Expected:
    """One answer in one grouping: its price and the standard deviations of its noise."""

    query: int
    grouping: tuple[str, ...]
    name: str
    policy: Policy
    deviations: tuple[float, ...]
    is_of_total: bool = False
    """Of an average: the noise is that of its total, which the count then divides."""
    is_blurred: bool = False
    """Whether noise grows with the cell's own records: the deviation is that of an empty cell."""

    def shown(self) -> str:
        """Return the noise for people: one figure, or from the least to the most."""
        if not self.deviations:
            return "-"
        least, most = min(self.deviations), max(self.deviations)
        figures = f"{least:,.4g}" if least == most else f"{least:,.4g} to {most:,.4g}"
        if self.is_blurred:
            return f"{figures} and more"
        return f"{figures}, of its total" if self.is_of_total else figures


@dataclass(frozen=True, slots=True)
class Preview:
    """The price of a workload, the noise of each answer, and what example records would lose."""

    policy: Policy
    answers: tuple[Expected, ...]
    losses: tuple[tuple[str, Fraction], ...]
    left: tuple[Fraction, ...]
    """For each of the example records: what its budget would still hold afterwards."""
    budget: Policy
    spent: Policy
    refusal: str | None = None
    remark: str | None = None
    """Said when earlier charges were made on another snapshot of the data."""

    @property
    def is_affordable(self) -> bool:
        """Whether the budget would pay for it now."""
        return self.refusal is None

    def __str__(self) -> str:
        lines = [f"Charge: {self.policy}"]
        lines += [
            f"  {each}: loses {_number(loss, figure_up)}, leaving "
            f"{_number(left, figure_down)} of its budget"
            for (each, loss), left in zip(self.losses, self.left, strict=True)
        ]
        lines += [
            f"  {each.name} by {', '.join(each.grouping) or 'total'}: noise of standard deviation "
            f"{each.shown()}"
            for each in self.answers
        ]
        return "\n".join([*lines, *self._verdict()])

    def _repr_html_(self) -> str:
        return panel(
            "preview",
            charge=self.policy.lines(),
            losses=[(record, _number(loss, figure_up)) for record, loss in self.losses],
            currency=self.policy.currency.value,
            noises=[
                (each.name, ", ".join(each.grouping) or "total", each.shown())
                for each in self.answers
            ],
            budget=[
                f"{record} would have {_number(left, figure_down)} of its budget left."
                for (record, _), left in zip(self.losses, self.left, strict=True)
            ]
            + self._verdict(),
        )

    def _verdict(self) -> list[str]:
        lines = [f"Spent before: {self.spent}, of the budget {self.budget}"]
        lines.append(self.refusal or "The budget allows it.")
        return [*lines, f"Note: {self.remark}"] if self.remark and not self.refusal else lines


def expected(plan: Plan) -> tuple[Expected, ...]:
    """Return what each answer of a plan costs, and how much noise it gets."""
    found = []
    for grouping in plan.groupings:
        query, columns = plan.queries[grouping.query], grouping.grouping.columns
        for charged in grouping.answers:
            measured = charged.answer.measurements
            laws = laws_of(measured[:1], plan.schema, columns, query.currency or Currency.RHO)
            deviations = tuple(sorted({float(step) * deviation(law) for step, law in laws}))
            found.append(
                Expected(
                    grouping.query,
                    columns,
                    charged.answer.name,
                    charged.policy,
                    deviations,
                    len(measured) > 1,
                    any(each.blurred is not None for each in measured),
                )
            )
    return tuple(found)


Examples = Mapping[str, Record] | Sequence[Record]
"""Hypothetical records, by name or one after the other."""


def losses_of(policy: Policy, examples: Examples) -> tuple[tuple[str, Fraction], ...]:
    """Return what hypothetical records would lose, each under its name."""
    if isinstance(examples, Mapping):
        return tuple((name, policy.loss(record)) for name, record in examples.items())
    return tuple((_shown(record), policy.loss(record)) for record in examples)


def meanings_in(schema: Schema, policy: Policy) -> dict[str, str]:
    """Return what each name that a policy reads stands for, to be charged with it."""
    return {name: schema.meaning(name) for name in names_read(policy)}


def laws_of(
    measured: Sequence[Measurement], schema: Schema, columns: tuple[str, ...], currency: Currency
) -> list[tuple[Fraction, Law]]:
    """Return the laws that the cells of measurements can have, each with its step."""
    plans = [each.noise(schema, columns, currency) for each in measured]
    return [(noise.step, noise.law(scale)) for noise in plans for scale in noise.extremes()]


def _shown(record: Record) -> str:
    return ", ".join(f"{name} = {value}" for name, value in record.items())


def _number(exact: Fraction, rounded: Callable[[Fraction], str]) -> str:
    written = text(exact)
    return written if len(written) <= 12 else rounded(exact)
