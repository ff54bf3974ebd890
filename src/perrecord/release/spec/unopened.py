"""What can be said of the queries of a spec before its table is open.

They are built as far as that goes: `Query`, its answers and their methods say what is wrong with
them. What only a spec can get wrong is said here: an answer of two forms, an option that its form
does not take, a name that is declared nowhere.
"""

from collections.abc import Callable, Iterator
from functools import partial

from perrecord.errors import InputError, about
from perrecord.queries.check import check_answer, check_asked
from perrecord.queries.groupings import Grouping
from perrecord.queries.query import Query, check_sets
from perrecord.release.spec.answers import Answering, takes
from perrecord.release.spec.models import Spec
from perrecord.release.spec.names import Found, null_cases, one_of, refer, refer_to_taper
from perrecord.release.spec.places import note
from perrecord.release.spec.problems import Path, Problems
from perrecord.release.spec.query_checks import check_candidates, sets_of
from perrecord.release.spec.questions import (
    FORMS,
    AnswerEntry,
    MethodEntry,
    QueryEntry,
    columns_of_set,
)
from perrecord.release.spec.schemes import roles_of, splits_of, tapers_of
from perrecord.release.spec.weight_advice import OTHER_WEIGHTS, check_weighted
from perrecord.tables.roles import Roles

_COUNTS = " To count records write count: records."
_OPTIONS = [name for name in AnswerEntry.model_fields if name not in FORMS]


def check_unopened(spec: Spec, problems: Problems) -> None:
    """Note what is wrong with the splits and the queries in parts.

    Splits are built once they are written without mistakes: they may be made of each other.
    """
    are_sound = all(each.path[:1] != ("splits",) for each in problems.found)
    splits = splits_of(spec, None, problems) if are_sound else {}
    tapers = tapers_of(spec, None, problems)
    roles = roles_of(spec)
    for place, entry in enumerate(spec.queries):
        if entry.sql is None:
            path: Path = ("queries", place)
            for check in _checks(entry, roles):
                try:
                    check()
                except InputError as error:
                    note(error, path, entry, problems)
            answering = Answering(splits, tapers, spec.accounting, None, None)
            _check_answers(entry, path, spec, answering, problems)


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
    entry: QueryEntry, path: Path, spec: Spec, answering: Answering, problems: Problems
) -> None:
    """Note what is wrong with the answers; those of a split that could not be built are left."""
    roles = roles_of(spec)
    for name, answer in (entry.answers or {}).items():
        found = list(_check_written(answer, (*path, "answers", name), spec))
        for here, message in found:
            problems.add(here, message)
        named = [_named_in(answer, (), each) for each in ("split", "taper")]
        splits, tapers = ({name for _, name in each} for each in named)
        if found or not (splits <= answering.splits.keys() and tapers <= answering.tapers.keys()):
            continue
        try:
            query = answering.answered(Query(spec.table), name, answer)
            check_answer(query.answers[0], query.currency, roles)
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
            message += OTHER_WEIGHTS if option == "weight" else ""
            yield (*path, option), message
    for place, name in _named_in(answer, path, "split"):
        yield from refer((*place, "split"), "split", name, spec.splits)
    for place, name in _named_in(answer, path, "taper"):
        yield from refer_to_taper((*place, "taper"), name, spec.tapers)
    if answer.parts is not None:
        yield from null_cases((*path, "parts", "cases"), answer.parts.cases, answer.parts.by)
    yield from check_weighted(answer, path, spec)
    if answer.candidates is not None:
        yield from check_candidates(answer.candidates, (*path, "candidates"))


def _named_in(answer: AnswerEntry, path: Path, what: str) -> Iterator[tuple[Path, str]]:
    """Yield the names of the splits or tapers of an answer, with the places of the methods."""
    methods: list[tuple[Path, AnswerEntry | MethodEntry | None]] = [(path, answer)]
    if answer.parts is not None:
        inside = (*path, "parts")
        methods += [((*inside, "cases", key), each) for key, each in answer.parts.cases.items()]
        methods.append(((*inside, "default"), answer.parts.default))
    for place, method in methods:
        name = getattr(method, what, None)
        if isinstance(name, str):
            yield place, name
