"""What a release says where its records are changes between two periods (T35)."""

from collections.abc import Iterator

from perrecord.errors import listing
from perrecord.exact import text
from perrecord.release.markdown import paragraph
from perrecord.tables.linking import RECORD_COUNT
from perrecord.tables.schema import Schema


def change_words(schema: Schema) -> Iterator[str]:
    """Yield what a record is where it is a change, and what costs it most, for respondents."""
    if not schema.is_linked:
        return
    yield (
        f"Records of this table are changes. Each {schema.id} that is in both periods is one "
        "record, with its values of this period less those of the period before. One that "
        "entered counts with its whole value, one that left with minus its whole value. One "
        "whose dimensions have changed is two records: minus the old value where it was, plus "
        "the new value where it is."
    )
    yield (
        "So what you lose by this release depends on how much you changed: little if you are "
        "nearly as large as before; as much as a record of your whole size if you entered, left, "
        "moved or doubled. It comes on top of what the release of the levels, which changes are "
        "added to, and earlier releases of changes cost you."
    )
    steps = [
        f"{name} to {text(measure.resolution)}"
        for name, measure in schema.measures
        if measure.stored(name) != RECORD_COUNT
    ]
    if steps:
        yield (
            "Values of both periods are rounded before the difference is taken "
            f"({listing(steps)}). Give the difference of the rounded values: that of the values "
            "themselves may be a step less, and so may what it seems to cost."
        )


def changes_section(schema: Schema) -> Iterator[str]:
    """Yield the section of the methodology about changes, if the table is one of changes."""
    words = list(change_words(schema))
    if words:
        yield from ("## Changes between two periods", "")
        yield from (line for each in words for line in (paragraph(each), ""))
        yield (
            "Values of both periods are rounded to the grid one by one, as a release of either "
            "would; what is not a number counts as 0. Dimensions are those of the row's own "
            "period. Totals of changes, added to the totals of the period before, are therefore "
            "those of this period, apart from noise: `perrecord series` adds them up."
        )
        yield ""
