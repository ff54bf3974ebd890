"""The panels of goals, shares, variants and the release, as HTML."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from perrecord.evaluate.column_values import ColumnValues
from perrecord.evaluate.tuning.frontier import TUNED
from perrecord.evaluate.tuning.shares import COUNTED
from perrecord.evaluate.tuning.tune import shown_amounts, shown_choices, shown_goal
from perrecord.exact import amount_up, figure_down, text
from perrecord.release.checking import LedgerCheck
from perrecord.report.numbers import percent
from perrecord.report.text import plain
from perrecord.studio.beside import SideBySide
from perrecord.studio.doors import StudioDoor
from perrecord.studio.drawing import DrawnLine, DrawnMark, curve_picture
from perrecord.studio.facts import Facts
from perrecord.studio.finding import FoundValues, Standing
from perrecord.studio.levels import DividedAmounts
from perrecord.studio.pages import currency_of, template
from perrecord.studio.releasing import Releasing
from perrecord.studio.workbench import StudioState

_LONGEST = 40
"""Longer values are cut off."""


def found_panel(found: FoundValues | None, stands: Standing | None, facts: Facts) -> str:
    """Return what was found for the goals, and the frontier with the spec marked on it."""
    if found is None:
        return template("found.html.jinja").render(found=None)
    lines, marks = list(_frontier_lines(found)), list(_marks(found, stands))
    title = f"Frontier: {found.sense} against errors, as multiples of those aimed at"
    return template("found.html.jinja").render(
        found=found,
        picture=curve_picture(title, "errors, times those aimed at", "loss (rho)", lines, marks),
        lines=lines,
        marks=marks,
        stands=stands,
        judged=shown_choices(found.tuning),
        is_current=found.text == facts.text,
        is_taken=found.taken == facts.text,
        goal=shown_goal,
        amounts=shown_amounts,
    )


def _frontier_lines(found: FoundValues) -> Iterator[DrawnLine]:
    own = [row for row in found.tuning.frontier.to_pylist() if row["of"] == str(found.sense)]
    for name in dict.fromkeys(row["policy"] for row in own):
        points = [(row["times"], row["loss"]) for row in own if row["policy"] == name]
        yield DrawnLine(name, tuple(points))
    least = [(row["times"], row["least"]) for row in own if row["policy"] == TUNED]
    yield DrawnLine("least possible", tuple(least))


def _marks(found: FoundValues, stands: Standing | None) -> Iterator[DrawnMark]:
    if stands is not None:
        yield DrawnMark("the spec as it is now", (stands.times, stands.loss))
    at = [
        row["loss"]
        for row in found.tuning.frontier.to_pylist()
        if (row["of"], row["policy"], row["times"]) == (str(found.sense), TUNED, 1)
    ]
    yield from (DrawnMark("what was found", (1.0, loss)) for loss in at)


def levels_panel(divided: DividedAmounts) -> str:
    """Return how amounts are divided among tables, each share to be changed."""
    return template("levels.html.jinja").render(divided=divided, counted=COUNTED)


def beside_panel(
    shown: StudioState, place: int | None, side: SideBySide | None, door: StudioDoor
) -> str:
    """Return a list of earlier texts to choose from, and the one chosen beside the present."""
    steps = [
        (number, step_name(shown, number))
        for number in range(len(shown.steps))
        if number != shown.place
    ]
    return template("beside.html.jinja").render(steps=steps, place=place, side=side, door=door)


def values_panel(values: Sequence[ColumnValues], door: StudioDoor, *, is_alone: bool) -> str:
    """Return what the columns hold, in words: as one panel, or as a page that stands alone."""
    columns = [(each.name, _held(each)) for each in values]
    return template("values.html.jinja").render(columns=columns, door=door, is_alone=is_alone)


def _held(column: ColumnValues) -> str:
    """Return the values of a column in words."""
    parts = []
    if column.common:
        most = ", ".join(f"{_short(value)} ({number:,})" for value, number in column.common)
        parts.append(f"{column.different:,} different; most often {most}")
    if column.sizes:
        *shares, (_, largest) = column.sizes
        parts += [f"{percent(float(share))} have at most {_size(size)}" for share, size in shares]
        parts.append(f"the largest is {_size(largest)}")
    if column.missing:
        parts.append(f"{column.missing:,} of {column.records:,} have none")
    return "; ".join(parts) or "no value"


def _size(size: Fraction) -> str:
    return f"{size.numerator:,}" if size.denominator == 1 else text(size)


def _short(value: str) -> str:
    shown = plain(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def step_name(shown: StudioState, place: int) -> str:
    """Return what an earlier text is called: the step that led to it."""
    if place == 0:
        return "as it was at the beginning"
    return f"step {place}, after {shown.steps[place]}"


def ledger_panel(ledger: LedgerCheck, releasing: Releasing, facts: Facts) -> str:
    """Return what the ledger says; the release, asked for, asked, or done."""
    asked = releasing.question
    return template("ledger.html.jinja").render(
        ledger=ledger,
        asked=asked if asked is not None and asked.text == facts.text else None,
        done=releasing.done,
        losses=() if facts.checked is None else facts.checked.losses,
        charge=() if facts.checked is None else facts.checked.policy.lines(),
        currency=currency_of(facts),
        has_periods=facts.loaded is not None and facts.loaded.spec.period is not None,
        amount_up=amount_up,
        amount_down=figure_down,
    )
