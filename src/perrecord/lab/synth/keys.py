"""Public keys of the data sets: which cells a release may have, whatever the data holds.

Every function returns tables by the name that their file should have.
"""

import pyarrow as pa
import pyarrow.compute as pc

from perrecord.lab.synth.districts import district_codes
from perrecord.lab.synth.industries import industry_codes
from perrecord.lab.synth.nass import Loaded
from perrecord.lab.synth.places import county_codes
from perrecord.lab.synth.published import PublishedCounts
from perrecord.lab.synth.simulation import CATEGORIES

Keys = dict[str, pa.Table]

_SHORTEST, _LONGEST = 2, 6


def business_keys() -> Keys:
    """Return the counties, and the industries of two to six digits.

    >>> {name: len(table) for name, table in business_keys().items()}["industries2"]
    24
    """
    return {"counties": pa.table({"county": county_codes()}), **_industries(industry_codes())}


def fitted_keys(table: PublishedCounts) -> Keys:
    """Return the places of a published table, and its industries up to the digits that it has."""
    keys = {}
    if table.counties is not None:
        keys["counties"] = pa.table({"county": sorted(pc.unique(table.counties).to_pylist())})
    if table.kind == "zip":
        keys["zips"] = pa.table({"zip": table.places})
    return {**keys, **_industries(table.industries.to_pylist())}


def simulation_keys() -> Keys:
    """Return the categories of the simulated data."""
    return {"categories": pa.table({"catix": pa.array(range(1, CATEGORIES + 1), pa.int32())})}


def cattle_keys() -> Keys:
    """Return the states, and the districts in them, of the synthetic counties."""
    states, districts = zip(*district_codes(), strict=True)
    return _districts(pa.table({"state": states, "district": districts}))


def nass_keys(loaded: Loaded) -> Keys:
    """Return the states, and the districts in them, that a Quick Stats file names."""
    return _districts(loaded.districts)


def _districts(table: pa.Table) -> Keys:
    states = sorted(pc.unique(table["state"]).to_pylist())
    return {"states": pa.table({"state": pa.array(states, pa.string())}), "districts": table}


def _industries(codes: list[str]) -> Keys:
    longest = min(_LONGEST, max(map(len, codes)))
    return {
        f"industries{length}": pa.table(
            {f"naics{length}": sorted({code[:length] for code in codes})}
        )
        for length in range(_SHORTEST, longest + 1)
    }
