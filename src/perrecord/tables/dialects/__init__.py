"""How each engine writes the few things that we ask of it, with the same meaning on all.

`dialect.py` says what an engine has to spell; each engine has a file of its own that spells it.
"""

from perrecord.errors import InputError, listing
from perrecord.tables.dialects.dialect import Dialect
from perrecord.tables.dialects.duckdb import DUCKDB
from perrecord.tables.dialects.postgres import POSTGRES
from perrecord.tables.dialects.spark import SPARK

DIALECTS: tuple[Dialect, ...] = (DUCKDB, POSTGRES, SPARK)
"""Every engine's dialect: whoever adds an engine adds its dialect here."""

__all__ = ["DIALECTS", "DUCKDB", "POSTGRES", "SPARK", "Dialect", "dialect_of"]


def dialect_of(name: str) -> Dialect:
    """Return the dialect of an engine by its name.

    >>> dialect_of("spark").identifier("county")
    '`county`'
    """
    known = {dialect.name: dialect for dialect in DIALECTS}
    if name not in known:
        raise InputError(f"there is no dialect {name!r}; expected {listing(known)}.")
    return known[name]
