"""What each column of a published table is: its role, unit, definition and words, in one place.

`datapackage.json` says it, and every export reads it there. Numbers beside an answer, such as its
standard error, are in the unit of the answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from perrecord.exact import text
from perrecord.queries.aggregates import Different, Filled, Total
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import Grouping
from perrecord.queries.measurements import Measurement
from perrecord.queries.methods import Branch, Tree, leaves
from perrecord.release.fields import Field
from perrecord.release.names import LISTS, is_table_name
from perrecord.release.processing import steps_of
from perrecord.release.processing.deriving import BESIDE
from perrecord.release.processing.sentences import ENDING
from perrecord.release.spec import CodeList, Workload
from perrecord.released.formulas import Formula, Linear
from perrecord.tables.expressions import Expression, columns_of
from perrecord.tables.linking import RECORD_COUNT


@dataclass(frozen=True, slots=True)
class Described:
    """A table to describe: its own answers say what its columns hold."""

    name: str
    title: str
    grouping: Grouping
    answers: tuple[Answer, ...]
    schema: pa.Schema
    filter: Expression | None = None
    """Which records it is of; None: of all."""
    source: str | None = None
    """Of a table that follows, the table that it is added up from."""


def list_names(workload: Workload) -> dict[str, CodeList]:
    """Return the code lists by the names of their files: the dimensions', if they can be files'."""
    are_fit = all(is_table_name(each.dimension) for each in workload.labels)
    return {
        each.dimension if are_fit else f"dimension-{place}": each
        for place, each in enumerate(workload.labels, start=1)
    }


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a column is; "" where there is nothing to say."""

    description: str
    role: Literal["key", "answer", "derived", ""] = ""
    """"" where it stands beside an answer or a derived number."""
    definition: str = ""
    unit: str = ""
    """What its numbers are counted in."""
    change_of: str = ""
    """Of a change between two periods, the definition of the level that it can be added to."""
    labels: str = ""
    """The resource that says what the codes of a key are called."""


def facts_of(table: Described, workload: Workload) -> dict[str, ColumnFacts]:
    """Return what every column of a table is, by its name."""
    fields = {each.name: each for each in workload.fields}
    keys = {name: _key(name, fields, workload) for name in table.grouping.columns}
    every = keys | dict(_numbers(table, workload, fields))
    selected = ColumnFacts("noisy number of split rows by which the key was selected")
    found = {each.name: every.get(each.name, selected) for each in table.schema}
    return {
        name: facts if _is_number(table.schema.field(name).type) else replace(facts, unit="")
        for name, facts in found.items()
    }


def _key(name: str, fields: Mapping[str, Field], workload: Workload) -> ColumnFacts:
    own = fields.get(name)
    lists = {each.dimension: file for file, each in list_names(workload).items()}
    return ColumnFacts(
        (own.label if own is not None else "") or f"key: {name}",
        "key",
        own.expression if own is not None else "",
        labels=f"{LISTS}{lists[name]}" if name in lists else "",
    )


def _numbers(
    table: Described, workload: Workload, fields: Mapping[str, Field]
) -> Iterator[tuple[str, ColumnFacts]]:
    """Yield what a table may publish of its answers and derived numbers, and beside them."""
    for answer in table.answers:
        facts = _answer(answer, table, workload, fields.get(answer.steps[0].measure or ""))
        follows = table.source is not None
        yield from _beside(answer.name, facts.unit, {} if follows else answer.beside, workload)
        yield f"{answer.name}{ENDING if follows else ''}", facts
    for number in workload.derived:
        if table.name in number.tables:
            words = f"{number.name} = {number.formula}, from published numbers"
            unit = _derived_unit(number.formula, workload, fields)
            definition = _derived_definition(number.formula, table.name, workload)
            yield number.name, ColumnFacts(words, "derived", definition, unit)
            yield from _beside(number.name, unit, BESIDE, workload)


def _derived_definition(formula: Formula, table: str, workload: Workload) -> str:
    """Return the formula of a derived number, and what each answer that it names is."""
    asked = dict(zip(workload.table_names, workload.plan.groupings, strict=True))
    said = []
    for name in sorted(formula.names):
        other, _, answer = name.rpartition(".")
        (own,) = (each for each in asked[other or table].answers if each.answer.name == answer)
        said.append(f"{name} is {_definition(own.answer, workload)}")
    return f"{formula}, where {' and '.join(said)}"


def _derived_unit(formula: Formula, workload: Workload, fields: Mapping[str, Field]) -> str:
    """Return what a derived number is counted in; nothing where it mixes units.

    A sum is in the unit of its parts, what is divided by counts keeps its unit, and a share of the
    same unit has none.
    """
    known: dict[str, set[str]] = {}
    for query in workload.plan.queries:
        for answer in query.answers:
            measure = fields.get(answer.steps[0].measure or "")
            known.setdefault(answer.name, set()).add(measure.unit if measure is not None else "")

    def units(side: Linear) -> set[str]:
        names = (name.rpartition(".")[2] for name, _ in side.factors)
        return set().union(*(known.get(name, {""}) for name in names)) or {""}

    above, below = units(formula.above), units(formula.below)
    if len(above) > 1 or len(below) > 1 or (above == below and not formula.below.is_constant):
        return ""
    (of,), (by,) = above, below
    return f"{of} / {by}" if of and by else of


def _answer(
    answer: Answer, table: Described, workload: Workload, measure: Field | None
) -> ColumnFacts:
    about = f" about {measure.label}" if measure is not None and measure.label else ""
    words = f"noisy answer{about}; methodology.md says what it estimates"
    if table.source is not None:
        words = f"{answer.name}, added up from {table.source} so that all tables add up; unbiased"
    return ColumnFacts(
        words,
        "answer",
        _definition(answer, workload),
        "" if measure is None else measure.unit,
        _level_of(answer, table, workload) or "",
    )


def _beside(
    of: str, unit: str, endings: Mapping[str, str], workload: Workload
) -> Iterator[tuple[str, ColumnFacts]]:
    """Yield what stands beside a number, of itself and by every step of post-processing."""
    level = f" ({text(workload.outputs.confidence * 100)} %)"
    for step in steps_of(workload):
        for ending, words in step.described(of).items():
            yield f"{of}{ending}", ColumnFacts(words, unit=unit)
    for ending, words in endings.items():
        is_end = ending in ("_low", "_high")
        yield f"{of}{ending}", ColumnFacts(words.format(of) + (level if is_end else ""), unit=unit)


def _is_number(kind: pa.DataType) -> bool:
    return not pa.types.is_boolean(kind) and not pa.types.is_string(kind)


def _definition(answer: Answer, workload: Workload) -> str:
    """Return what an answer estimates; how it is made private does not matter, but for cuts."""
    step, cuts = answer.steps[0], ""
    of = step.measure
    if isinstance(step, Measurement):
        if isinstance(step.aggregate, Filled | Different):
            of = step.aggregate.column
        cuts = _cuts(step.tree)
    own = next((each.expression for each in workload.fields if each.name == of), "")
    found = answer.kind if of is None else f"{answer.kind} of {of}"
    found += f" = {own}" if own else ""
    return f"{found}, {cuts}" if cuts else found


def _cuts(tree: Tree) -> str:
    """Return what values are cut to, part by part where parts differ; "" where none is cut."""
    bounds = {leaf.method.bounds for leaf in leaves(tree)}
    if len(bounds) == 1:
        (own,) = bounds
        return "" if own is None else f"cut to [{text(own[0])}, {text(own[1])}]"
    assert isinstance(tree, Branch)  # noqa: S101 - one method has one pair of bounds
    parts = sorted((repr(list(key))[1:-1], part) for key, part in tree.cases.entries)
    parts += [] if tree.cases.default is None else [("else", tree.cases.default)]
    said = (f"{key}: {_cuts(part) or 'not cut'}" for key, part in parts)
    return f"by {', '.join(tree.cases.dimensions)} ({'; '.join(said)})"


def _level_of(answer: Answer, table: Described, workload: Workload) -> str | None:
    """Return the level that an answer is the change of; None where no level is the sum of such.

    Totals that are not cut are, of records that are told apart by dimensions of their own period:
    by these alone, a record leaves the cell of its old level and enters that of its new one.
    """
    schema, step = workload.schema, answer.steps[0]
    measures = {name: measure.column or name for name, measure in schema.measures}
    read = set() if table.filter is None else columns_of(table.filter)
    kept = {*schema.grouped_rows}
    if not schema.is_linked or not {*table.grouping.columns, *read} <= kept:
        return None
    if not isinstance(step, Measurement) or not isinstance(step.aggregate, Total):
        return None
    if len(answer.steps) > 1:
        return None
    column = measures[step.aggregate.measure]
    bounds = [leaf.method.bounds for leaf in leaves(step.tree) if leaf.method.bounds is not None]
    if column == RECORD_COUNT:
        return "count of records" if all(low <= -1 and high >= 1 for low, high in bounds) else None
    return None if bounds else f"{answer.kind} of {column}"
