"""A policy as people and programs see it: in words, as a formula, as a document, as a panel."""

import json
from dataclasses import dataclass
from typing import Any

from perrecord.panels import panel
from perrecord.policy import document, words
from perrecord.policy.function import LossFunction


@dataclass(frozen=True, eq=False, repr=False)
class ShownPolicy(LossFunction):
    """A loss function that can be shown; `Policy` is built from forms and compared."""

    def describe(self) -> str:
        """Return the policy in plain English."""
        return "\n".join(map(str, self.lines()))

    def lines(self) -> tuple[words.Line, ...]:
        """Return what `describe` says, line by line, each with its depth."""
        return words.lines(self.form, self.currency)

    def formula(self) -> str:
        """Return the policy on one line."""
        return words.formula(self.form, self.currency)

    def latex(self) -> str:
        """Return the policy as a LaTeX formula."""
        return words.latex(self.form, self.currency)

    def to_json(self, indent: int | None = 2) -> str:
        """Return the policy as a document in the public format (docs/policy-format.md)."""
        return json.dumps(self.document(), indent=indent, ensure_ascii=False)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes as plain values, to stand inside another document."""
        return document.document(self.form, self.currency)

    def __repr__(self) -> str:
        return f"Policy({self.formula()})"

    def _repr_html_(self) -> str:
        return panel("charge", charge=self.lines())

    def _repr_latex_(self) -> str:
        return f"$${self.latex()}$$"
