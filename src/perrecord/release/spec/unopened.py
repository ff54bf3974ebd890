"""What can be said of the queries of a spec before its table is open.

They are built as far as that goes: `Query`, its answers and their methods say what is wrong with
them. What only a spec can get wrong is said here: an answer of two forms, an option that its form
does not take, a name that is declared nowhere.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from perrecord.errors import InputError, about
from perrecord.policy.split import Scheme
from perrecord.queries.check import check_answer, check_asked
from perrecord.queries.groupings import Grouping
from perrecord.queries.query import Query, check_sets
from perrecord.release.spec.answers import Answering, takes
from perrecord.release.spec.models import Spec
from perrecord.release.spec.names import Found, null_cases, one_of, refer
from perrecord.release.spec.places import note
from perrecord.release.spec.problems import Path, Problems
from perrecord.release.spec.query_checks import check_candidates, sets_of
from perrecord.release.spec.questions import FORMS, AnswerEntry, QueryEntry, columns_of_set
from perrecord.release.spec.schemes import roles_of, splits_of
from perrecord.tables.roles import Roles

_COUNTS = " To count records write count: records."
_OPTIONS = [name for name in AnswerEntry.model_fields if name not in FORMS]


def check_unopened(spec: Spec, problems: Problems) -> None:
    """Note what is wrong with the splits and the queries in parts.

    Splits are built once they are written without mistakes: they may be made of each other.
    """
    are_sound = all(each.path[:1] != ("splits",) for each in problems.found)
    splits = splits_of(spec, None, problems) if are_sound else {}
    roles = roles_of(spec)
    for place, entry in enumerate(spec.queries):
        if entry.sql is None:
            path: Path = ("queries", place)
            for check in _checks(entry, roles):
                try:
                    check()
                except InputError as error:
                    note(error, path, entry, problems)
            _check_answers(entry, path, spec, splits, problems)


def _checks(entry: QueryEntry, roles: Roles) -> Iterator[Callable[[], None]]:
    if not entry.answers:
        yield partial(check_asked, Query())
    yield partial(_check_keys, entry)
    for column in dict.fromkeys(name for columns in sets_of(entry) for name in columns):
        yield partial(_check_column, column, roles)


def _check_keys(entry: QueryEntry) -> None:
    """Refuse keys without a grouping, and a grouping without keys; no keys are read for that."""
    sets, cells = sets_of(entry), entry.keys
    named = None if cells is None else dict.fromkeys(map(columns_of_set, cells.sets or ()))
    is_one = cells is not None and cells.sets is None
    check_sets(sets, cells if is_one else named)
    for columns in sets:
        if not is_one and columns not in (named or {}):
            Grouping.of(columns, None)


def _check_column(column: str, roles: Roles) -> None:
    with about("group_by", column):
        roles.check_grouping(column)


def _check_answers(
    entry: QueryEntry, path: Path, spec: Spec, splits: Mapping[str, Scheme], problems: Problems
) -> None:
    """Note what is wrong with the answers; those of a split that could not be built are left."""
    roles, answering = roles_of(spec), Answering(splits, spec.accounting, None)
    for name, answer in (entry.answers or {}).items():
        found = list(_check_written(answer, (*path, "answers", name), spec))
        for here, message in found:
            problems.add(here, message)
        if found or not {split for _, split in _splits_in(answer, ())} <= splits.keys():
            continue
        try:
            query = answering.answered(Query(spec.table), name, answer)
            check_answer(query.answers[0], roles)
        except InputError as error:
            is_counted = answer.count is not None and error.about[-1:] == ("column",)
            note(error, path, entry, problems, _COUNTS if is_counted else "")


def _check_written(answer: AnswerEntry, path: Path, spec: Spec) -> Iterator[Found]:
    """Yield what only a spec can get wrong."""
    forms = [form for form in FORMS if getattr(answer, form) is not None]
    if len(forms) != 1:
        yield from one_of(path, answer, FORMS)
        return
    for option in _OPTIONS:
        takers = [form for form in FORMS if option in takes(form)]
        if getattr(answer, option) is not None and forms[0] not in takers:
            message = f"{option} goes with {' and '.join(takers)}, not with {forms[0]}."
            yield (*path, option), message
    for place, split in _splits_in(answer, path):
        yield from refer((*place, "split"), "split", split, spec.splits)
    if answer.parts is not None:
        yield from null_cases((*path, "parts", "cases"), answer.parts.cases, answer.parts.by)
    if answer.candidates is not None:
        yield from check_candidates(answer.candidates, (*path, "candidates"))


def _splits_in(answer: AnswerEntry, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the names of the splits of an answer, with the places of the methods."""
    if answer.split is not None:
        yield path, answer.split
    if answer.parts is not None:
        for case, method in answer.parts.cases.items():
            if method.split is not None:
                yield (*path, "parts", "cases", case), method.split
        if answer.parts.default is not None and answer.parts.default.split is not None:
            yield (*path, "parts", "default"), answer.parts.default.split
