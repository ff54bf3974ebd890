"""Which values of which columns a filter lets through, where it says so one by one."""

from perrecord.tables.expressions.nodes import (
    And,
    Column,
    Comparison,
    Distinct,
    Expression,
    In,
    IsNull,
    Literal,
    Not,
    Operator,
    Or,
    Value,
)


def as_cases(expression: Expression) -> dict[str, frozenset[Value]] | None:
    """Return the values that each column must have for TRUE, or None if they cannot be listed.

    A row passes exactly when every column named has one of its values; None stands for NULL. The
    expression is one that `kind_of` accepts.

    >>> from perrecord.tables.parse import parse_expression
    >>> as_cases(parse_expression("state = 'NC' AND closed IS NULL"))
    {'state': frozenset({'NC'}), 'closed': frozenset({None})}
    """
    match expression:
        case Column(name):
            return {name: frozenset({True})}
        case Not(Column(name)):
            return {name: frozenset({False})}
        case IsNull(Column(name)):
            return {name: frozenset({None})}
        case In(Column(name), options):
            return {name: _listed(options)}
        case Comparison(Operator.EQUAL, Column(name), Literal() as literal):
            return {name: _listed((literal,))}
        case Comparison(Operator.EQUAL, Literal() as literal, Column(name)):
            return {name: _listed((literal,))}
        case Not(Distinct(Column(name), Literal(value)) | Distinct(Literal(value), Column(name))):
            return {name: frozenset({value})}
        case And(parts):
            return _all_of(parts)
        case Or(parts):
            return _any_of(parts)
        case _:
            return None


def _listed(options: tuple[Literal, ...]) -> frozenset[Value]:
    """Return the values that `=` and IN find; they never find NULL."""
    return frozenset(option.value for option in options if option.value is not None)


def _all_of(parts: tuple[Expression, ...]) -> dict[str, frozenset[Value]] | None:
    found: dict[str, frozenset[Value]] = {}
    for part in parts:
        cases = as_cases(part)
        if cases is None:
            return None
        for name, values in cases.items():
            found[name] = found.get(name, values) & values
    return found


def _any_of(parts: tuple[Expression, ...]) -> dict[str, frozenset[Value]] | None:
    """Return the union where every part speaks of the same single column."""
    listed = [as_cases(part) for part in parts]
    names = {name for cases in listed if cases is not None for name in cases}
    if len(names) != 1 or None in listed:
        return None
    (name,) = names
    return {name: frozenset().union(*(cases[name] for cases in listed if cases is not None))}
