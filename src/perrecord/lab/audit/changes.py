"""The audits' own lines of two linked periods: the records of one id, as docs/changes.md has it."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

CHANGE_KIND, RECORD_COUNT = "change_kind", "record_count"
KINDS = ("entry", "exit", "continuing", "moved in", "moved out")

Row = Mapping[str, Any]


def changes(this: Row | None, last: Row | None, measures: Sequence[str]) -> Iterator[Row]:
    """Yield the records of one id: one where all but its measures stays, else what it was and is.

    A value that is missing on one side counts as 0 there.

    >>> was, now = {"county": "A", "emp": Fraction(10)}, {"county": "A", "emp": None}
    >>> [(each["change_kind"], int(each["emp"])) for each in changes(now, was, ["emp"])]
    [('continuing', -10)]
    """
    if this is not None and last is not None and _place(this, measures) == _place(last, measures):
        yield {**this, **_less(this, last, measures), CHANGE_KIND: "continuing"}
        return
    nobody = dict.fromkeys(measures)
    if this is not None:
        kind = "entry" if last is None else "moved in"
        yield {**this, **_less(this, nobody, measures), CHANGE_KIND: kind}
    if last is not None:
        kind = "exit" if this is None else "moved out"
        yield {**last, **_less(nobody, last, measures), CHANGE_KIND: kind}


def _place(record: Row, measures: Sequence[str]) -> list[tuple[str, type, Any]]:
    return [(name, type(each), each) for name, each in record.items() if name not in measures]


def _less(this: Row, last: Row, measures: Sequence[str]) -> dict[str, Fraction | None]:
    return {
        name: None
        if this[name] is None and last[name] is None
        else Fraction(this[name] or 0) - Fraction(last[name] or 0)
        for name in measures
    }
