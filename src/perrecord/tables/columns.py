"""The names of a source's columns: each once, whatever the case, and none of our own."""

from collections import Counter
from collections.abc import Sequence

from perrecord.errors import SourceError, listing
from perrecord.tables.engines import RESERVED


def checked_names(names: Sequence[str], source: str) -> None:
    """Refuse names that an engine could not tell apart; DuckDB and Spark ignore case."""
    if not names:
        raise SourceError(f"{source} has no columns; expected at least one.")
    if "" in names:
        raise SourceError(
            f"{source} has a column without a name, number {list(names).index('') + 1}; name it."
        )
    if any("\0" in name for name in names):
        raise SourceError(
            f"{source} has a column whose name holds the character NUL; rename it, because engines "
            "cannot."
        )
    counted = Counter(name.casefold() for name in names)
    twice = [name for name in names if counted[name.casefold()] > 1]
    if twice:
        raise SourceError(
            f"{source} has columns that differ at most in case: {listing(twice)}. Rename all but "
            "one; engines ignore case."
        )
    ours = [name for name in names if name.casefold().startswith(RESERVED)]
    if ours:
        raise SourceError(
            f"{source} has the column {listing(ours)}; names that begin with {RESERVED!r} are "
            "kept for perrecord's own. Rename it."
        )
