"""The names of a source's columns: each once, whatever the case, and none of our own."""

from collections import Counter
from collections.abc import Sequence

from perrecord.errors import SourceError, listing
from perrecord.tables.engines import RESERVED


def check_first_line(names: Sequence[str], line: str) -> None:
    """Refuse names of a first line that are equal but for their case, by their places.

    They are not quoted: where somebody forgot the names, the line is a record.
    """
    twice = _twice(names)
    if "" not in names and twice:
        raise SourceError(
            f"{line} has names that differ at most in case, in columns "
            f"{listing(str(place) for place in twice)}. Rename all but one, as engines ignore "
            "case; if the line is a record, add a header line before it."
        )


def looks_like_record(names: Sequence[str]) -> bool:
    """Tell whether the names of a first line are more likely values: empty, numbers, or twice."""
    return any(map(_is_value, names)) or bool(_twice(names))


def _is_value(name: str) -> bool:
    try:
        float(name.strip().replace(",", "") or 0)
    except ValueError:
        return False
    return True


def _twice(names: Sequence[str]) -> list[int]:
    """Return the places, from 1, of names that another one equals but for its case."""
    counted = Counter(name.casefold() for name in names)
    return [place for place, name in enumerate(names, 1) if counted[name.casefold()] > 1]


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
