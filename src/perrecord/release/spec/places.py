"""Where in a spec an error about a query belongs: from what it is about to a path."""

from collections.abc import Mapping
from typing import Any

from perrecord.errors import InputError
from perrecord.queries.sql import SQLOptions
from perrecord.release.spec.problems import Path, Problems
from perrecord.release.spec.questions import GROUPINGS, QueryEntry, columns_of_set


def place_of(about: tuple[str, ...], entry: QueryEntry) -> Path:
    """Return where a query that is given in parts says what an error is about.

    >>> entry = QueryEntry.model_validate(
    ...     {"name": "all", "rollup": ["state", "county"], "answers": {"emp": {"sum": "employees"}}}
    ... )
    >>> place_of(("answers", "emp", "measure"), entry), place_of(("group_by", "county"), entry)
    (('answers', 'emp', 'sum'), ('rollup', 1))
    """
    match about:
        case ("answers", name, "measure" | "column", *_):
            return "answers", name, (entry.answers or {})[name].form
        case ("group_by", *columns):
            return _grouping(columns, entry)
        case ("keys", *rest):
            return "keys", *_cells(rest, entry)
        case _:
            return about


def place_in_sql(about: tuple[str, ...], entry: QueryEntry) -> Path | None:
    """Return the option that an error is about, if the query gives it; what the SQL says is None.

    >>> entry = QueryEntry.model_validate({"name": "all", "sql": "SELECT ...", "rho": {"n": 0}})
    >>> place_in_sql(("answers", "n", "rho"), entry), place_in_sql(("answers", "n"), entry)
    (('rho', 'n'), None)
    """
    given: Mapping[str, Any] = {each: getattr(entry, each) for each in SQLOptions.__optional_keys__}
    match about:
        case ("answers", name, option, *_) if given.get(option) is not None:
            return option, name
        case (option, *rest) if given.get(option) is not None:
            return option, *(_cells(rest, entry) if option == "keys" else rest)
        case _:
            return None


def note(
    error: InputError, path: Path, entry: QueryEntry, problems: Problems, advice: str = ""
) -> None:
    """Note an error about a query at its place in the spec."""
    if entry.sql is None:
        message = f"{error}{advice}"
        problems.add((*path, *place_of(error.about, entry)), message, error.line)
    elif (place := place_in_sql(error.about, entry)) is not None:
        problems.add((*path, *place), error.sentence)
    else:
        problems.add((*path, "sql"), str(error), error.line)


def _grouping(columns: list[str], entry: QueryEntry) -> Path:
    form = next((each for each in GROUPINGS if getattr(entry, each) is not None), GROUPINGS[0])
    if not columns:
        return (form,)
    if form != "grouping_sets":
        return form, getattr(entry, form).index(columns[0])
    sets = enumerate(entry.grouping_sets or ())
    return next((form, place, each.index(columns[0])) for place, each in sets if columns[0] in each)


def _cells(rest: list[str], entry: QueryEntry) -> Path:
    """Return where among the keys; grouping sets are written with commas, whatever the blanks."""
    if rest == ["answer"]:
        return ("keep",)
    sets = (entry.keys.sets if entry.keys is not None else None) or {}
    return tuple(each for each in sets if [", ".join(columns_of_set(each))] == rest)
