"""Dimensions of hypothetical records: what follows is filled in, and what is not known is left."""

from perrecord.tables.completing import completed
from perrecord.tables.parse import parse_expression


def definitions(**written):
    """Return dimensions by their expressions."""
    return {name: parse_expression(each) for name, each in written.items()}


def test_an_expression_reads_columns_and_no_dimension_of_the_same_name():
    """A county that is grouped by is no county of the source: nothing follows from it."""
    grouped = definitions(
        county="CASE WHEN county < '5' THEN 'west' ELSE 'east' END",
        state="substr(county, 1, 2)",
    )
    given = {"county": "west", "state": "37"}
    assert completed(grouped, given) == given
    assert completed(grouped, {"county": "west"}) == {"county": "west"}
    plain = definitions(county="county", state="substr(county, 1, 2)")
    assert completed(plain, {"county": "37001"}) == {"county": "37001", "state": "37"}
