"""What the queries of a spec say against the rest of it, and against themselves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from perrecord.queries.sql import SQLOptions
from perrecord.release.names import LONGEST_NAME, LONGEST_TABLE, is_fit, table_names
from perrecord.release.spec.models import Spec
from perrecord.release.spec.names import Found, one_of, refer, refer_to_taper
from perrecord.release.spec.problems import Path, found
from perrecord.release.spec.questions import (
    EVERY,
    GROUPINGS,
    AnswerEntry,
    CandidatesEntry,
    CellsEntry,
    MethodEntry,
    QueryEntry,
)

_IN_PARTS = ("where", "group_by", "grouping_sets", "rollup", "answers")
_WITH_SQL = sorted(SQLOptions.__optional_keys__ - {"keys"})

ColumnNames = tuple[str, ...]


def check_queries(spec: Spec) -> Iterator[Found]:
    """Yield what is wrong with the queries."""
    seen: dict[str, int] = {}
    for place, query in enumerate(spec.queries):
        path: Path = ("queries", place)
        folded = query.name.casefold()
        if folded in seen:
            yield (
                (*path, "name"),
                f"queries[{seen[folded]}] is named {spec.queries[seen[folded]].name!r} already; "
                "give each query its own name, not only in upper or lower case.",
            )
        seen.setdefault(folded, place)
        yield from _check_currency(query, path, spec)
        yield from (
            _check_parts(query, path, spec) if query.sql is None else _check_sql(query, path, spec)
        )
    # What SQL groups by is known once it is read: check_tables is asked again then.
    yield from check_tables((each.name, () if each.sql else sets_of(each)) for each in spec.queries)


def check_tables(queries: Iterable[tuple[str, Sequence[ColumnNames]]]) -> Iterator[Found]:
    """Yield what keeps a table from a file of its own, of queries by name with their grouping sets.

    Names are told apart without regard to case, as by file systems.
    """
    seen: dict[str, tuple[int, str, ColumnNames]] = {}
    for place, (query, sets) in enumerate(queries):
        path: Path = ("queries", place)
        if len(sets) > 1:
            yield from _check_in_names(path, sets)
        for number, name in enumerate(table_names(query, sets)):
            columns = sets[number] if sets else ()
            if len(name) > LONGEST_TABLE:
                yield (
                    (*path, "grouping_sets", number),
                    f"the table's name, {query}_by_ and the columns, has {len(name)} characters; "
                    f"at most {LONGEST_TABLE} fit into the name of a file. Shorten them.",
                )
            other, others, theirs = seen.setdefault(name.casefold(), (place, query, columns))
            if other == place and columns != theirs:
                yield (
                    (*path, "grouping_sets", number),
                    f"the grouping sets {', '.join(theirs)!r} and {', '.join(columns)!r} both make "
                    f"the table {name!r}; give a dimension another name.",
                )
            elif other != place and others.casefold() != query.casefold():
                yield (
                    (*path, "name"),
                    f"a table of this query would be named {name!r}, as is one of "
                    f"queries[{other}], {others!r}, except for upper and lower case; rename one "
                    "of the queries.",
                )


def _check_in_names(path: Path, sets: Sequence[ColumnNames]) -> Iterator[Found]:
    """Yield the columns that cannot be part of the name of a file, each once."""
    told: set[str] = set()
    for number, columns in enumerate(sets):
        for place, column in enumerate(columns):
            if column not in told and not is_fit(column):
                yield (
                    (*path, "grouping_sets", number, "rollup", place),
                    f"with several grouping sets, {found(column)} is part of the names of their "
                    f"tables; expected at most {LONGEST_NAME} letters, digits, _ and -. Declare a "
                    "dimension of such a name, with the column as its expression.",
                )
            told.add(column)


def _check_currency(query: QueryEntry, path: Path, spec: Spec) -> Iterator[Found]:
    if (spec.budget.rho is None) == (spec.budget.epsilon is None):
        return
    budget = "rho" if spec.budget.rho is not None else "epsilon"
    other = "epsilon" if budget == "rho" else "rho"
    if getattr(query, other) is not None:
        yield (*path, other), _OTHER_CURRENCY.format(other, budget)
    for name, answer in (query.answers or {}).items():
        methods: list[tuple[Path, AnswerEntry | MethodEntry]] = [((), answer)]
        if answer.parts is not None:
            methods += [(("parts", "cases", k), each) for k, each in answer.parts.cases.items()]
            if answer.parts.default is not None:
                methods.append((("parts", "default"), answer.parts.default))
        for place, method in methods:
            if getattr(method, other) is not None and getattr(method, budget) is None:
                here = (*path, "answers", name, *place, other)
                yield here, _OTHER_CURRENCY.format(other, budget)


_OTHER_CURRENCY = "the amount is {0}, the budget is in {1}; they cannot be compared. Give {1}."


# -- SQL --------------------------------------------------------------------------------------


def _check_sql(query: QueryEntry, path: Path, spec: Spec) -> Iterator[Found]:
    for name in _IN_PARTS:
        if getattr(query, name) is not None:
            yield (
                (*path, name),
                f"{name} is given beside sql, which already says it; leave one of them out.",
            )
    for option in _WITH_SQL:
        given = getattr(query, option)
        if isinstance(given, Mapping) and EVERY in given and len(given) > 1:
            yield (
                (*path, option),
                f"{EVERY!r} is for every answer; give it alone, or name the answers.",
            )
    for name, split in (query.split or {}).items():
        yield from refer((*path, "split", name), "split", split, spec.splits)
    for name, taper in (query.taper or {}).items():
        if isinstance(taper, str):
            yield from refer_to_taper((*path, "taper", name), taper, spec.tapers)
    for name, candidates in (query.candidates or {}).items():
        yield from check_candidates(candidates, (*path, "candidates", name))
    if query.keys is not None:
        yield from _check_cells(query.keys, (*path, "keys"), spec)


def check_candidates(entry: CandidatesEntry, path: Path) -> Iterator[Found]:
    """Yield what is wrong with how the candidates of a quantile are written."""
    ends = (entry.first, entry.to, entry.step)
    if entry.values is not None and any(each is not None for each in ends):
        yield path, "expected a list, or from, to and step; found both."
    elif entry.values is None and any(each is None for each in ends):
        yield path, "expected a list of numbers, or all of from, to and step."


# -- in parts ---------------------------------------------------------------------------------


def sets_of(query: QueryEntry) -> list[tuple[str, ...]]:
    """Return the grouping sets of a query that is given in parts."""
    if query.grouping_sets is not None:
        return list(query.grouping_sets)
    if query.rollup is not None:
        return [query.rollup[:length] for length in range(len(query.rollup), -1, -1)]
    return [query.group_by or ()]


def _check_parts(query: QueryEntry, path: Path, spec: Spec) -> Iterator[Found]:
    for name in _WITH_SQL:
        if getattr(query, name) is not None:
            yield (*path, name), f"{name} belongs in each answer; only with sql does it go here."
    given = [name for name in GROUPINGS if getattr(query, name) is not None]
    if len(given) > 1:
        yield path, f"expected one of {', '.join(GROUPINGS)}, found {' and '.join(given)}."
    if query.keys is not None:
        yield from _check_cells(query.keys, (*path, "keys"), spec)


def _check_cells(cells: CellsEntry, path: Path, spec: Spec) -> Iterator[Found]:
    yield from one_of(path, cells, ("keys", "domain", "sets"))
    if cells.keys is not None:
        yield from refer((*path, "keys"), "key set", cells.keys, spec.keys)
        entry = spec.keys.get(cells.keys)
        if entry is not None and entry.domain is not None:
            yield (
                path,
                f"{cells.keys!r} is a domain; say which of its cells are published: "
                f"{{domain: {cells.keys}, keep: count, at_least: 20}}.",
            )
    if cells.domain is not None:
        domains = [each for each, entry in spec.keys.items() if entry.domain is not None]
        yield from refer((*path, "domain"), "domain", cells.domain, domains)
        if cells.keep is None or cells.at_least is None:
            yield (
                path,
                "a domain needs keep, the answer that decides, and at_least, the noisy number that "
                "a cell must reach.",
            )
    for name, inner in (cells.sets or {}).items():
        here = (*path, "sets", name)
        if inner.sets is not None:
            yield here, "expected the name of keys, or {domain: ..., keep: ..., at_least: ...}."
        else:
            yield from _check_cells(inner, here, spec)
