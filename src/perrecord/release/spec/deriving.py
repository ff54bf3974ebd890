"""The derived numbers of a spec: formulas over published answers, and the tables they stand in."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from perrecord.errors import InputError, listing, suggestion
from perrecord.queries.answers import Answer
from perrecord.queries.answers.errors import ENDINGS
from perrecord.release.names import table_names
from perrecord.release.spec.problems import Problems
from perrecord.released.formulas import Formula, formula

if TYPE_CHECKING:
    from perrecord.release.spec.build import NamedQuery

_DERIVED = "derived"
_NAME = re.compile(r"[^\W\d_][\w -]*")
_PLAIN = re.compile(r"[^\W\d]\w*")
"""A name that SQL reads as one without quotes."""


@dataclass(frozen=True, slots=True)
class DerivedNumber:
    """A number that follows from answers: `emp` of the same table, `nation.emp` of another.

    It stands in every table that has all its plain names, and rows for all keys of the others.
    """

    name: str
    formula: Formula
    tables: frozenset[str]
    """The tables that it stands in."""

    @property
    def plain(self) -> frozenset[str]:
        """The answers of its own table."""
        return frozenset(name for name in self.formula.names if "." not in name)

    @property
    def others(self) -> frozenset[tuple[str, str]]:
        """The answers of other tables, each with its table."""
        parts = (name.partition(".") for name in self.formula.names if "." in name)
        return frozenset((table, answer) for table, _, answer in parts)


@dataclass(frozen=True, slots=True)
class _TableOf:
    """What a formula may read of a table."""

    columns: tuple[str, ...]
    answers: Mapping[str, Answer]

    @property
    def names(self) -> set[str]:
        """The names of all columns that it may have."""
        return {*self.columns, *(f"{each}{end}" for each in self.answers for end in ("", *ENDINGS))}


def derived_of(
    written: Mapping[str, str],
    queries: "Sequence[NamedQuery]",
    following: Collection[str],
    problems: Problems,
) -> tuple[DerivedNumber, ...]:
    """Return the derived numbers, each with the tables that it stands in.

    `following` are the names of tables that follow, which have none.
    """
    tables = dict(_tables(queries))
    found: list[DerivedNumber] = []
    for name, text in written.items():
        with problems.at(_DERIVED, name):
            try:
                number = _checked(name, formula(text, "the formula"), tables, following)
            except InputError:
                _check_quotes(text, tables)
                raise
            for other in found:
                _check_apart(name, other.name)
            found.append(number)
    return tuple(found)


def _check_apart(name: str, other: str) -> None:
    """Refuse two derived numbers whose columns would have the same name, in any case."""
    mine, theirs = ({f"{each}{end}".casefold() for end in ("", *ENDINGS)} for each in (name, other))
    if mine & theirs:
        raise InputError(
            f"one of its columns would have the same name as one of {other!r}; give it another "
            "name."
        )


def _tables(queries: "Sequence[NamedQuery]") -> Iterator[tuple[str, _TableOf]]:
    for named in queries:
        answers = {each.name: each for each in named.query.answers}
        sets = [each.columns for each in named.query.groupings]
        for name, columns in zip(table_names(named.name, sets), sets, strict=True):
            yield name, _TableOf(columns, answers)


def _check_quotes(text: str, tables: Mapping[str, _TableOf]) -> None:
    """Refuse a name that SQL reads as several, for that and not for what comes of it."""
    for name in dict.fromkeys([*tables, *(each for t in tables.values() for each in t.answers)]):
        if not _PLAIN.fullmatch(name) and name in text and f'"{name}"' not in text:
            raise InputError(
                f"the formula reads {name} as several names; a name with characters other "
                f'than letters, digits and _ goes in double quotes: "{name}".'
            ) from None


def _checked(
    name: str, found: Formula, tables: Mapping[str, _TableOf], following: Collection[str]
) -> DerivedNumber:
    if not _NAME.fullmatch(name):
        raise InputError(
            "expected a name of letters, digits, spaces and _ that starts with a letter, such as "
            "pay_per_worker."
        )
    number = DerivedNumber(name, found, frozenset())
    for table, answer in number.others:
        if table in following:
            raise InputError(
                f"the formula reads {table}.{answer}, and {table} follows by adding up; derived "
                f"numbers are of answers that are asked for. Make {table} a query of its own, or "
                f"compute with its column {answer}_consistent where it is published."
            )
        if table not in tables:
            raise InputError(
                f"the formula reads {table}.{answer}, and there is no table {table!r}. Tables are "
                f"{listing(tables)}.{suggestion(table, tables)}"
            )
        _check_answer(answer, tables[table].answers, f"the table {table!r}")
    every = dict.fromkeys(answer for table in tables.values() for answer in table.answers)
    for answer in number.plain:
        _check_named(answer, every, "the release")
    if not number.plain:
        raise InputError(
            "the formula names answers of other tables alone; expected at least one answer of the "
            "table that it is to stand in, without a table's name before it."
        )
    fit = [each for each, table in tables.items() if number.plain <= set(table.answers)]
    wide = [
        each
        for each in fit
        if all(
            set(tables[other].columns) <= set(tables[each].columns) for other, _ in number.others
        )
    ]
    if not wide:
        wanted = f"all of {listing(sorted(number.plain))}"
        wanted += " and the key columns of every other table that the formula reads" if fit else ""
        raise InputError(f"no table has {wanted}; ask for them in one query.")
    for each, answer in product(wide, sorted(number.plain)):  # one name, several kinds of answers
        _check_answer(answer, tables[each].answers, f"the table {each!r}")
    for each in wide:
        own = {f"{name}{end}".casefold() for end in ("", *ENDINGS)}
        taken = [column for column in sorted(tables[each].names) if column.casefold() in own]
        if taken:
            raise InputError(
                f"the table {each!r} has a column {taken[0]!r} already; give the derived number "
                "another name."
            )
    return DerivedNumber(name, found, frozenset(wide))


def _check_named(name: str, answers: Collection[str], where: str) -> None:
    if name not in answers:
        raise InputError(
            f"there is no answer {name!r} in {where}. Answers are {listing(answers)}."
            f"{suggestion(name, answers)}"
        )


def _check_answer(name: str, answers: Mapping[str, Answer], where: str) -> None:
    """Refuse an answer of a table that nothing can be derived from."""
    _check_named(name, answers, where)
    if any(step.blurred is not None for step in answers[name].measurements):
        raise InputError(
            f"in {where}, {name!r} is blurred by its own records, so that its standard error is "
            "confidential; derived numbers are of answers with standard errors. Blur it by a "
            "public scale."
        )
    if answers[name].choices:
        raise InputError(
            f"in {where}, {name!r} has no standard error; derived numbers are of counts and totals."
        )
    if not answers[name].is_additive:
        raise InputError(
            f"in {where}, {name!r} is an average, whose error is approximate; derived numbers are "
            "of counts and totals. Ask for its total and its count in its place, at the same cost, "
            "and write the one over the other in the formula."
        )
