"""Small checks that name what there is: references, exactly one of several, cases that are none."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from perrecord.errors import listing, suggestion
from perrecord.release.spec.problems import Path

Found = tuple[Path, str]

_NULLS = ("null", "Null", "NULL", "~")


def refer(
    path: Path, what: str, name: str, known: Collection[str], otherwise: str = ""
) -> Iterator[Found]:
    """Yield a problem if the name is not known, with those that are; or else, what may stand there.

    >>> list(refer(("id",), "split", "modrate", ["moderate"]))
    [(('id',), "no split 'modrate'. Splits are moderate. Did you mean 'moderate'?")]
    """
    if name not in known:
        every = (
            f"{what.capitalize()}s are {listing(known)}"
            if known
            else f"There is no {what}; declare it"
        )
        yield path, f"no {what} {name!r}. {every}.{suggestion(name, known)}{otherwise}"


def refer_to_taper(path: Path, name: str, known: Collection[str]) -> Iterator[Found]:
    """Yield a problem if there is no taper of this name; a size may stand in its place."""
    yield from refer(path, "taper", name, known, " Or give a size, such as 50.")


def one_of(path: Path, entry: Any, names: Collection[str]) -> Iterator[Found]:
    """Yield a problem unless exactly one of these fields is given."""
    given = [name for name in names if getattr(entry, name) is not None]
    if len(given) != 1:
        found = f"both {' and '.join(given)}" if given else "none"
        found = found if len(given) < 3 else ", ".join(given)
        yield path, f"expected exactly one of {', '.join(names)}, found {found}."


def null_cases(path: Path, cases: Iterable[str], dimension: str) -> Iterator[Found]:
    """Yield a problem for each case that YAML reads as the missing value.

    Keys of a mapping are text: whether `null` was in quotes is no longer known, and either meaning
    would be wrong for somebody.
    """
    for case in cases:
        if case in _NULLS:
            yield (
                (*path, case),
                f"the case {case} may mean the missing value or the text {case!r}; it is not read. "
                f"Leave records without {dimension!r} to the default, or declare a dimension such "
                "as coalesce(column, 'missing') and write its values here.",
            )
