"""The section on records outside the declared keys, which enter no cell."""

from collections.abc import Sequence

from perrecord.evaluate.coverage import Coverage
from perrecord.report.figure import ShownTable
from perrecord.report.numbers import percent
from perrecord.report.page import Section


def outside(each: Coverage) -> str:
    """Return how much of the data a grouping leaves out because its key is not declared."""
    shares = "".join(f", {percent(share)} of {measure}" for measure, share in each.shares)
    return (
        f"{each.outside:,} of {each.records:,} records "
        f"({percent(each.outside / each.records)}{shares}) have a key that {each.query} by "
        f"{', '.join(each.columns)} does not declare, and enter no cell of it."
    )


def outside_keys(covered: Sequence[Coverage]) -> Section | None:
    """Return the section, if any record is outside the keys of any table."""
    some = [each for each in covered if each.outside]
    if not some:
        return None
    worst = max(some, key=lambda each: each.outside / each.records)
    rows = tuple(
        (
            each.query,
            ", ".join(each.columns),
            f"{each.records:,}",
            f"{each.outside:,}",
            f"{each.outside_keys:,}",
            percent(each.outside / each.records),
            "; ".join(f"{percent(share)} of {measure}" for measure, share in each.shares) or "–",
        )
        for each in some
    )
    heads = ("query", "by", "records", "outside", "different keys", "share", "of totals")
    return Section(
        "Who is outside the declared keys?",
        outside(worst),
        text=("All errors are those of the cells; they do not include what is outside.",),
        tables=(ShownTable("Records outside the declared keys", heads, rows),),
    )
