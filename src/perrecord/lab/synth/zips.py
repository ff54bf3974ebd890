"""ZIP codes → counties, by a table of the columns zip and fips."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError
from perrecord.lab.synth.codes import places_of
from perrecord.lab.synth.reading import read_columns

NOWHERE = "99999"
"""The county of ZIP codes that lie in no county that is known: the Census Bureau's own 99999 for
establishments without a fixed place, and those that the table of counties lacks."""

_KNOWN = {"zip": ("zip", "zipcode", "zip_code", "zcta", "zcta5"), "fips": ("fips", "county_fips")}


def counties_of(zips: pa.Array, given: str | Path | pa.Table) -> pa.Array:
    """Return the county of every ZIP code, or 99999.

    >>> counties_of(pa.array(["00501", "99999"]), pa.table({"zip": ["501"], "fips": ["36103"]}))
    <pyarrow.lib.StringArray object at ...>
    [
      "36103",
      "99999"
    ]
    """
    table, found = read_columns(given, {}, _KNOWN)
    text = pa.table({name: table[name].cast(pa.string()) for name in table.column_names})
    text = text.filter(pc.greater(pc.utf8_length(text["fips"]), 0))
    pairs = pa.table(
        {
            "zip": places_of(text["zip"], found["zip"], "zip"),
            "fips": places_of(text["fips"], found["fips"], "county"),
        }
    )
    pairs = pairs.group_by(["zip", "fips"]).aggregate([])
    several = len(pairs) - len(pc.unique(pairs["zip"]))
    if several:
        raise InputError(
            f"the table of counties puts {several} ZIP codes into several; expected one row for "
            "each. Keep the county where most of its addresses are."
        )
    at = pc.index_in(zips, pairs["zip"].combine_chunks())
    counties = pairs["fips"].combine_chunks().take(at)
    return pc.fill_null(counties, NOWHERE)
