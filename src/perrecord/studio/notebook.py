"""A session as a panel of a notebook: its table, its budget, what was charged and what is left.

All of it follows from public declarations, the ledger and hypothetical records, none from data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack, cast

from perrecord.exact import amount_up, figure_down
from perrecord.panels import nested
from perrecord.panels import panel as shown_panel
from perrecord.policy.policy import Policy
from perrecord.preview import Examples, Preview, losses_of
from perrecord.queries.query import Query
from perrecord.queries.sql import SQLOptions
from perrecord.session import Session
from perrecord.tables.schema import Schema


@dataclass(frozen=True, slots=True)
class SessionPanel:
    """What a session may still be asked; the end of a notebook's cell shows it."""

    schema: Schema
    budget: Policy
    spent: Policy
    losses: tuple[tuple[str, Fraction, Fraction], ...]
    """Of each example record: what it has lost so far, and what its budget still holds."""
    preview: Preview | None = None
    """What asking would cost, where something was asked."""

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The names and types of what the table has."""
        dimensions = [(each.name, each.kind.value) for each in self.schema.dimensions]
        measures = [
            (name, f"rounded to {amount_up(each.resolution)}")
            for name, each in self.schema.measures
        ]
        return (*dimensions, *measures)

    def __str__(self) -> str:
        lines = [
            f"{self.schema.name}: {', '.join(f'{name} ({kind})' for name, kind in self.columns)}"
        ]
        lines.append(f"Charged so far: {self.spent}, of the budget {self.budget}")
        lines += [
            f"  {name}: has lost {amount_up(lost)}, leaving {figure_down(left)} of its budget"
            for name, lost, left in self.losses
        ]
        return "\n".join(lines if self.preview is None else [*lines, str(self.preview)])

    def _repr_html_(self) -> str:
        return shown_panel(
            "session",
            table=self.schema.name,
            columns=self.columns,
            budget=self.budget.lines(),
            spent=self.spent.lines(),
            losses=[(name, amount_up(lost), figure_down(left)) for name, lost, left in self.losses],
            currency=self.budget.currency.value,
            preview=None if self.preview is None else nested(self.preview),
        )


def panel(
    session: Session,
    asked: Query | str | Sequence[Query] | None = None,
    *,
    examples: Examples = (),
    **options: Unpack[SQLOptions],
) -> SessionPanel:
    """Return a session as a panel: its table, its budget, what was charged and what is left.

    Where something is `asked`, what that would cost stands below, as `session.preview` has it.
    Nothing is charged, and nothing is computed from the records.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> from perrecord import Budget, Split, table
    >>> farms = table(pa.table({"cattle": [12, 40, 9000]}), name="farms", measures=["cattle"])
    >>> scheme, path = Split(cattle=50), tempfile.mkdtemp() + "/farms.ledger"
    >>> session = Session(farms, ledger=path, budget=Budget(1, scheme), new=True)
    >>> answers = session.ask(Query("farms").sum("cattle", split=scheme, rho="0.4"))
    >>> print(panel(session, examples={"a ranch": {"cattle": 900}}))
    farms: cattle (rounded to 1)
    Charged so far: Policy(0.4·pieces² of Split(cattle=50)), of the budget Policy(1·pieces² of \
Split(cattle=50))
      a ranch: has lost 129.6, leaving 194.4 of its budget
    """
    budget, spent = session.policy, session.spent
    records = list(examples.values() if isinstance(examples, Mapping) else examples)
    losses = tuple(
        (name, lost, budget.loss(record) - lost)
        for (name, lost), record in zip(losses_of(spent, examples), records, strict=True)
    )
    preview = None
    if asked is not None:  # the session says which options go with it
        preview = session.preview(cast("str", asked), examples=examples, **options)
    return SessionPanel(session.schema, budget, spent, losses, preview)
