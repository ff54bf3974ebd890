"""What an audit reports: figures, tables and failures, all of them as text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FiguresTable:
    """Some figures side by side."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """The facts of one run of an audit; without failures it found nothing wrong."""

    name: str
    figures: tuple[tuple[str, str], ...]
    tables: tuple[FiguresTable, ...]
    failures: tuple[str, ...]

    def to_json(self) -> str:
        """Return the figures as one JSON object."""
        written = {
            "name": self.name,
            "figures": self.figures,
            "tables": [
                {"caption": each.caption, "columns": each.columns, "rows": each.rows}
                for each in self.tables
            ],
            "failures": self.failures,
        }
        return json.dumps(written, ensure_ascii=False, indent=2)


def number(value: int) -> str:
    """Return a whole number for people.

    >>> number(100000)
    '100,000'
    """
    return f"{value:,}"


def share(part: int, whole: int) -> str:
    """Return a share in per cent.

    >>> share(1, 3), share(0, 0)
    ('33.3 %', 'none')
    """
    return f"{100 * part / whole:.1f} %" if whole else "none"


def lines(figures: Sequence[tuple[str, str]]) -> list[str]:
    """Return figures as aligned lines.

    >>> lines([("pairs", "10"), ("violations", "0")])
    ['pairs       10', 'violations  0']
    """
    width = max((len(name) for name, _ in figures), default=0)
    return [f"{name:<{width}}  {value}" for name, value in figures]
