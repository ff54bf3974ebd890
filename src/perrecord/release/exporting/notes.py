"""What stands beside an exported table, whatever the format: what it is and how it was made."""

from collections.abc import Iterator, Sequence

from perrecord.errors import listing
from perrecord.release.folders import PublishedTable, ReleaseFolder

_FEW = "_few_records"
"""The ending of flags beside averages whose count is too close to 0 to divide by."""

NOISE = (
    "Noise was added to every number, so that it says little of any single record; columns that "
    "end in _se hold its standard error. methodology.md and policy.html, published with this "
    "release, say how it was made and what a record loses by it."
)


def release_notes(folder: ReleaseFolder) -> Iterator[tuple[str, str]]:
    """Yield what is known of a release as a whole, each with its heading."""
    yield "Title", folder.title
    if folder.description:
        yield "Description", folder.description
    if folder.licence:
        yield "Licence", folder.licence
    yield "Noise", NOISE
    yield "Made with", folder.made_with
    yield "Charge", folder.charge
    for warning in folder.warnings:
        yield "Warning", warning


def table_notes(
    folder: ReleaseFolder, table: PublishedTable, left_out: Sequence[str] = ()
) -> Iterator[str]:
    """Yield what whoever reads one table has to know."""
    yield NOISE
    if table.about.filter:
        yield f"Records: those with {table.about.filter}."
    if table.about.note:
        yield table.about.note
    if left_out:
        yield f"Columns without numbers are left out: {listing(left_out)}."
    few = [each.removesuffix(_FEW) for each in left_out if each.endswith(_FEW)]
    if few:
        yield (
            f"Standard errors of {listing(few)} do not hold where few records are counted; columns "
            f"that end in {_FEW} of the Parquet files say where."
        )
    yield from (f"Warning: {each}" for each in folder.warnings)
