"""Undo and redo: every text that the spec has had since the studio was opened, as values."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Revision:
    """One text of the spec, and what led to it in words."""

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Revisions:
    """The texts in order, and which of them is in the file."""

    steps: tuple[Revision, ...]
    place: int = 0

    @property
    def text(self) -> str:
        """What the file holds, as far as is known."""
        return self.steps[self.place].text

    @property
    def undoes(self) -> str | None:
        """What undoing takes back, in words; None at the beginning."""
        return self.steps[self.place].label if self.place else None

    @property
    def redoes(self) -> str | None:
        """What redoing brings back, in words; None at the end."""
        return self.steps[self.place + 1].label if self.place + 1 < len(self.steps) else None

    def with_step(self, text: str, label: str) -> "Revisions":
        """Return the history with one more text; what was undone before is forgotten.

        >>> Revisions((Revision("a", ""),)).with_step("b", "b for a").undoes
        'b for a'
        """
        kept = self.steps[: self.place + 1]
        return Revisions((*kept, Revision(text, label)), len(kept))

    def undone(self) -> "Revisions":
        """Return the history one step back; the first text stays."""
        return replace(self, place=max(self.place - 1, 0))

    def redone(self) -> "Revisions":
        """Return the history one step on; the last text stays."""
        return replace(self, place=min(self.place + 1, len(self.steps) - 1))
