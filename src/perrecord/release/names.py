"""Names of a release's queries and tables, which are names of files too: one rule for all."""

import re
from collections.abc import Sequence

LONGEST_NAME = 100
"""Characters of a query's name, and of a column that is part of a table's."""

LONGEST_TABLE = 200
"""Characters of a table's name, of the 255 bytes that file systems allow to it and its ending."""

LISTS = "labels."
"""How the names of resources begin that are code lists; no table has a dot in its name."""

COPIES = "csv."
"""How the names of resources begin that are CSV copies of others."""

IDENTIFIER = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"
"""The names of queries and the like, as a pattern that JSON Schema knows too."""

_COLUMN = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}")
_OTHERS = re.compile(r"[^\w-]+")


def is_fit(column: str) -> bool:
    """Tell whether a column's name can be part of the name of a file.

    >>> is_fit("naics2"), is_fit("size class")
    (True, False)
    """
    return _COLUMN.fullmatch(column) is not None


def is_table_name(name: str) -> bool:
    """Tell whether a name can be that of a table's file, and of nothing elsewhere.

    >>> is_table_name("farms_by_state"), is_table_name("../farms")
    (True, False)
    """
    return len(name) <= LONGEST_TABLE and re.fullmatch(IDENTIFIER, name) is not None


def table_names(query: str, sets: Sequence[Sequence[str]]) -> list[str]:
    """Return the name of the table, and of its file, of each grouping set of a query.

    Outside a spec columns may have any names; what cannot be in a file's name becomes _.

    >>> table_names("farms", [("state", "size"), ()])
    ['farms_by_state_size', 'farms_total']
    >>> table_names("farms", [("state", "size")])
    ['farms']
    """
    if len(sets) < 2:
        return [query]
    names = (f"{query}_by_{'_'.join(each)}" if each else f"{query}_total" for each in sets)
    return [_OTHERS.sub("_", name) for name in names]
