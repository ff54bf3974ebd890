"""The kind of value that an expression gives, or an error that names what does not fit."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from perrecord.errors import QueryError, SchemaError, listing, suggestion
from perrecord.tables.expressions.nodes import (
    GREATEST_INTEGER,
    LEAST_INTEGER,
    And,
    AsText,
    Case,
    Coalesce,
    Column,
    Comparison,
    Concat,
    DatePart,
    DateStart,
    Distinct,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operator,
    Or,
    Quotient,
    Remainder,
    Substring,
)
from perrecord.tables.expressions.words import describe
from perrecord.tables.fields import Kind, TypedColumn

Fields = Mapping[str, TypedColumn]


def kind_of(expression: Expression, fields: Fields) -> Kind:
    """Return the kind of the expression's values; raise if a column is unknown or does not fit.

    >>> from perrecord.tables.parse import parse_expression
    >>> emp = TypedColumn("emp", Kind.MEASURE, Fraction(1))
    >>> kind_of(parse_expression("emp > 12.5"), {"emp": emp})
    <Kind.TRUTH: 'truth values'>
    """
    kind = kind_or_null(expression, fields)
    if kind is None:
        raise QueryError(
            f"{describe(expression)} is always NULL, so it has no kind; "
            "expected a column or a value in at least one place."
        )
    return kind


def kind_or_null(expression: Expression, fields: Fields) -> Kind | None:  # noqa: PLR0912
    """Return the kind as `kind_of` does, or None for an expression that is always NULL."""
    match expression:
        case Column(name):
            return field_of(name, fields).kind
        case Literal():
            return _literal_kind(expression)
        case Comparison(operator, left, right):
            kind = compared_kind(left, right, fields)
            if kind is Kind.TRUTH and operator not in (Operator.EQUAL, Operator.UNEQUAL):
                raise QueryError(
                    f"{describe(expression)} asks which truth value is greater; "
                    "expected = or <>, or the condition itself."
                )
            return Kind.TRUTH
        case Distinct(left, right):
            compared_kind(left, right, fields)
            return Kind.TRUTH
        case In(operand, options):
            for option in options:
                compared_kind(operand, option, fields)
            return Kind.TRUTH
        case IsNull(operand):
            kind_or_null(operand, fields)
            return Kind.TRUTH
        case And(parts) | Or(parts):
            return _expect(Kind.TRUTH, parts, "a condition", fields)
        case Not(operand):
            return _expect(Kind.TRUTH, (operand,), "a condition", fields)
        case Like(operand):
            _expect(Kind.TEXT, (operand,), "text before LIKE", fields)
            return Kind.TRUTH
        case Concat(parts):
            advice = "text on both sides of ||; write CAST(... AS VARCHAR) around whole numbers"
            return _expect(Kind.TEXT, parts, advice, fields)
        case Substring(operand):
            advice = "text in SUBSTRING; write CAST(... AS VARCHAR) around whole numbers"
            return _expect(Kind.TEXT, (operand,), advice, fields)
        case DatePart(_, operand):
            _expect(Kind.TEXT, (operand,), "a date, a moment, or text that begins with one", fields)
            return Kind.INTEGER
        case DateStart(_, operand):
            advice = "a date, a moment, or text that begins with one"
            return _expect(Kind.TEXT, (operand,), advice, fields)
        case AsText(operand):
            _expect(Kind.INTEGER, (operand,), "whole numbers in CAST(... AS VARCHAR)", fields)
            return Kind.TEXT
        case Quotient(operand) | Remainder(operand):
            return _expect(Kind.INTEGER, (operand,), "whole numbers before // and %", fields)
        case Case(branches, otherwise):
            conditions = tuple(condition for condition, _ in branches)
            _expect(Kind.TRUTH, conditions, "a condition after WHEN", fields)
            return _common((*(result for _, result in branches), otherwise), "CASE", fields)
        case Coalesce(parts):
            return _common(parts, "COALESCE", fields)


def field_of(name: str, fields: Fields) -> TypedColumn:
    """Return a column's field, or raise with the names that there are."""
    if name in fields:
        return fields[name]
    same = [known for known in fields if known.casefold() == name.casefold()]
    hint = f" Did you mean {same[0]!r}?" if same else suggestion(name, fields)
    raise SchemaError(f"no column {name!r}. Columns are {listing(fields)}.{hint}")


def is_number(expression: Expression) -> bool:
    """Return whether this is a literal number, which a comparison takes whatever its size."""
    match expression:
        case Literal(bool()):
            return False
        case Literal(int() | Fraction()):
            return True
        case _:
            return False


def compared_kind(left: Expression, right: Expression, fields: Fields) -> Kind | None:
    """Return the kind that both sides of a comparison share; None if both are always NULL."""
    kinds = tuple(
        Kind.INTEGER if is_number(side) else kind_or_null(side, fields) for side in (left, right)
    )
    if Kind.MEASURE in kinds:
        _check_measures(left, right, fields)
        return Kind.MEASURE
    return _shared(kinds, (left, right), "cannot be compared; write both sides of one kind")


def _check_measures(left: Expression, right: Expression, fields: Fields) -> None:
    """Raise unless a measure meets a number, NULL or a measure on the same grid."""
    resolutions = set()
    for side in (left, right):
        match side:
            case Column(name) if field_of(name, fields).kind is Kind.MEASURE:
                resolutions.add(field_of(name, fields).resolution)
            case Literal(None):
                pass
            case _ if not is_number(side):
                raise QueryError(
                    f"{describe(left)} and {describe(right)} cannot be compared: one is a "
                    "measure. Compare a measure with a number, such as emp > 12.5, or with "
                    "another measure of the same resolution."
                )
    if len(resolutions) > 1:
        raise QueryError(
            f"{describe(left)} and {describe(right)} are measures of different resolutions, so "
            "they cannot be compared exactly in the engine; declare one resolution for both."
        )


def _literal_kind(literal: Literal) -> Kind | None:
    match literal.value:
        case None:
            return None
        case bool():
            return Kind.TRUTH
        case str():
            return Kind.TEXT
        case int(value) if LEAST_INTEGER <= value <= GREATEST_INTEGER:
            return Kind.INTEGER
        case _:
            raise QueryError(
                f"{describe(literal)} is not a whole number of 64 bits; such a number can only "
                "be compared with a column, as in emp > 12.5."
            )


def _expect(kind: Kind, parts: Iterable[Expression], what: str, fields: Fields) -> Kind:
    for part in parts:
        found = kind_or_null(part, fields)
        if found not in (kind, None):
            raise QueryError(f"{_told(part, found)}; expected {what}.")
    return kind


def _common(parts: tuple[Expression, ...], name: str, fields: Fields) -> Kind | None:
    kinds = tuple(kind_or_null(part, fields) for part in parts)
    if Kind.MEASURE in kinds:
        measure = describe(parts[kinds.index(Kind.MEASURE)])
        raise QueryError(
            f"{measure} is a measure, and {name} cannot give one; a measure can only be "
            f"compared, as in {measure} > 12.5, tested with IS NULL, or be in IN and BETWEEN."
        )
    return _shared(kinds, parts, f"cannot both be results of {name}")


def _shared(
    kinds: tuple[Kind | None, ...], parts: tuple[Expression, ...], problem: str
) -> Kind | None:
    known = [(kind, part) for kind, part in zip(kinds, parts, strict=True) if kind is not None]
    for kind, part in known[1:]:
        if kind is not known[0][0]:
            first = _told(known[0][1], known[0][0])
            raise QueryError(f"{first} and {_told(part, kind)}: they {problem}.{_quote(parts)}")
    return known[0][0] if known else None


def _told(part: Expression, kind: Kind | None) -> str:
    return f"{describe(part)} is {'NULL' if kind is None else kind.value}"


def _quote(parts: tuple[Expression, ...]) -> str:
    """Return the likely remedy: a code that looks like a number was written without quotes."""
    for part in parts:
        if isinstance(part, Literal) and is_number(part):
            return f" If it is a code, write it in quotes: '{describe(part)}'."
    return ""
