"""What `methodology.md` says of the periods of a ledger (T35)."""

from collections.abc import Iterator
from fractions import Fraction

from perrecord.exact import figure_up, text
from perrecord.release.document import PublishedPolicy
from perrecord.release.markdown import inline

_LONGEST = 12


def series_section(published: PublishedPolicy) -> Iterator[str]:
    """Yield the section of the series, line by line; nothing in a ledger without periods."""
    series = published.series
    if series is None:
        return
    yield "## The series"
    yield ""
    own, first, last = inline(series.period), inline(series.periods[0]), inline(series.periods[-1])
    yield (
        f"This release is about {own}, one of {len(series.periods)} periods ({first} to {last}) "
        "whose releases are charged to one ledger. Each period has a budget of its own, fixed "
        "before the first release. Every release draws fresh noise, so what a record loses "
        "adds up over the periods, each at the values that the record has there: a history "
        "r_1, ..., r_T loses P_1(r_1) + ... + P_T(r_T), and at most the sum of the budgets of "
        "its periods. This assumes that records do not change because of what was published."
    )
    yield ""
    if series.revision is not None:
        yield (
            f"The data of {own} was revised: {inline(series.revision)}. Releases of the data "
            "before and after are both charged to the period. A record that was revised loses by "
            "both, and at most the budget of the larger of its values."
        )
        yield ""
    if series.earlier or series.unread:
        yield "Charged before under the same ledger:"
        yield ""
        for each in series.earlier:
            titles = ", ".join(map(inline, each.titles))
            yield f"- {inline(each.period)}: {titles}; {inline(each.policy.formula())}"
        for period, title in series.unread:
            yield (
                f"- {inline(period)}: {inline(title)}, which depends on fields that are not here, "
                "or that meant something else then"
            )
        yield ""
    yield from _examples(published)


def _examples(published: PublishedPolicy) -> Iterator[str]:
    series = published.series
    if series is None or not published.examples:
        return
    yield "What that means for the invented records, with the same values in every period:"
    yield ""
    yield (
        f"| example | {inline(series.period)} so far | all periods so far | "
        "all periods, if everything is spent |"
    )
    yield "|---|---|---|---|"
    for name, record in published.examples:
        lost = series.losses(published.record(record), published.loss(record))
        limit = "not said" if lost.limit is None else _amount(lost.limit)
        yield f"| {inline(name)} | {_amount(lost.period)} | {_amount(lost.so_far)} | {limit} |"
    yield ""


def _amount(loss: Fraction) -> str:
    exact = text(loss)
    return exact if len(exact) <= _LONGEST else figure_up(loss)
