"""The SELECT list: which grouping columns it shows and which answers it asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from sqlglot import exp

from perrecord.queries.answers.quantile import level_of
from perrecord.queries.sql.reader import Reader
from perrecord.queries.sql.refusals import against_inside, against_item

_COUNTS = "write COUNT(*), COUNT(column) or COUNT(DISTINCT column)."
_LEVEL = "expected a level from 0 to 1 written out, as in QUANTILE(payann, 0.9)."
_ORDERED = "expected one measure, rising, as in WITHIN GROUP (ORDER BY payann)."
_ONE_COLUMN = "write the aggregate of one column, such as SUM(emp)."

_THIS = frozenset({"this"})
_HALF = Fraction(1, 2)


class AnswerForm(Enum):
    """The forms of answer that SQL can ask for, by the word their default names begin with."""

    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    AVERAGE = "avg"
    QUANTILE = "quantile"


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """One answer: its form, its column if it has one, its name, and where it stands."""

    form: AnswerForm
    column: str | None
    level: Fraction | None
    name: str
    node: exp.Expr
    """The aggregate, which whatever is wrong with its options is shown at."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A grouping column in the SELECT list, and where it stands."""

    column: str
    node: exp.Expr


_Found = tuple[AnswerForm, str | None, Fraction | None]


def read_item(node: exp.Expr, reader: Reader) -> AskedAnswer | Shown:
    """Return what one item of the SELECT list asks for."""
    alias, inner = None, node
    if isinstance(node, exp.Alias):
        alias, inner = node.alias, node.this
        if not alias:
            raise reader.refuse(node, "the name after AS is empty; write one, such as AS total.")
    inner = inner.unnest()
    if isinstance(inner, exp.Column) and isinstance(inner.this, exp.Identifier):
        name = reader.column(inner)
        if alias not in (None, name):
            message = (
                f"a grouping column keeps its name; write {name}, and rename it in the result."
            )
            raise reader.refuse(node, message)
        return Shown(name, inner)
    form, column, level = _aggregate(inner, reader)
    return AskedAnswer(form, column, level, alias or _default_name(form, column, level), inner)


def _default_name(form: AnswerForm, column: str | None, level: Fraction | None) -> str:
    """Return the name that `Query` gives to an answer without one."""
    start = "median" if level == _HALF else form.value
    return start if column is None else f"{start}_{column}"


def _aggregate(node: exp.Expr, reader: Reader) -> _Found:
    measure = reader.schema.roles.resolution
    match node:
        case exp.Count():
            return _count(node, reader)
        case exp.Sum() | exp.Avg() | exp.Median():
            reader.allow(node, _THIS, _ONE_COLUMN)
            column = _column(node.this, node, reader, measure)
            if isinstance(node, exp.Median):
                return AnswerForm.QUANTILE, column, _HALF
            return AnswerForm.SUM if isinstance(node, exp.Sum) else AnswerForm.AVERAGE, column, None
        case exp.PercentileCont() | exp.PercentileDisc():  # also written QUANTILE_CONT, _DISC
            level = _level(node.expression, node, reader)
            return AnswerForm.QUANTILE, _column(node.this, node, reader, measure), level
        case exp.Quantile() | exp.ApproxQuantile():
            reader.allow(node, _THIS | {"quantile"}, _LEVEL)
            level = _level(node.args.get("quantile"), node, reader)
            return AnswerForm.QUANTILE, _column(node.this, node, reader, measure), level
        case exp.WithinGroup(this=exp.PercentileCont() | exp.PercentileDisc()):
            return _within_group(node, reader)
        case _:
            raise reader.refuse(node, against_item(node, reader))


def _count(node: exp.Count, reader: Reader) -> _Found:
    reader.allow(node, _THIS | {"big_int"}, _COUNTS)
    schema, operand = reader.schema, node.this
    match operand:
        case exp.Star() if not any(operand.args.values()):
            return AnswerForm.COUNT, None, None
        case exp.Distinct(expressions=[exp.Column() | exp.Paren() as only]):
            reader.allow(operand, frozenset({"expressions"}), _COUNTS)
            column = _column(only, node, reader, schema.roles.countable)
            if column == schema.id:
                # The paper's rewrite: an id tells records apart, so this is their number.
                return AnswerForm.COUNT, None, None
            return AnswerForm.COUNT_DISTINCT, column, None
        case None | exp.Star() | exp.Distinct() | exp.Literal():
            raise reader.refuse(node, f"this form of COUNT is not supported; {_COUNTS}")
        case _:
            return AnswerForm.COUNT, _column(operand, node, reader, schema.roles.fillable), None


def _within_group(node: exp.WithinGroup, reader: Reader) -> _Found:
    reader.allow(node.this, _THIS, _ORDERED)
    match node.expression:
        case exp.Order(expressions=[exp.Ordered() as ordered]):
            reader.allow(node.expression, frozenset({"expressions"}), _ORDERED)
            reader.allow(ordered, _THIS, _ORDERED)
            level = _level(node.this.this, node, reader)
            return (
                AnswerForm.QUANTILE,
                _column(ordered.this, node, reader, reader.schema.roles.resolution),
                level,
            )
        case _:
            raise reader.refuse(node, f"this form is not supported; {_ORDERED}")


def _level(level: exp.Expr | None, node: exp.Expr, reader: Reader) -> Fraction:
    if level is None:
        raise reader.refuse(node, f"the level of the quantile is missing; {_LEVEL}")
    if not isinstance(level, exp.Literal) or level.is_string:
        raise reader.refuse(level, f"the level of the quantile is not a number; {_LEVEL}")
    with reader.placed(level):
        return level_of(level.name)


def _column(
    operand: exp.Expr | None, node: exp.Expr, reader: Reader, check: Callable[[str], object]
) -> str:
    """Return the one column that an aggregate is of; `check` raises unless its role fits."""
    if operand is None:  # the parser lets an argument be missing
        raise reader.refuse(node, f"the column is missing; {_ONE_COLUMN}")
    inner = operand.unnest()
    if not isinstance(inner, exp.Column) or not isinstance(inner.this, exp.Identifier):
        raise reader.refuse(inner, against_inside(inner, node, reader))
    name = reader.column(inner)
    with reader.placed(inner):
        check(name)
    return name
