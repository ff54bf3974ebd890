"""GROUP BY -> the grouping sets, expanded from ROLLUP, CUBE and GROUPING SETS."""

from collections.abc import Sequence
from itertools import combinations, product
from math import prod

from sqlglot import TokenType, exp

from perrecord.errors import SQLTextError
from perrecord.queries.sql.asked import AskedAnswer, Shown
from perrecord.queries.sql.reader import Reader
from perrecord.queries.sql.refusals import against_grouping

MOST_SETS = 64
ColumnNames = tuple[str, ...]
Items = Sequence[AskedAnswer | Shown]


def read_groups(select: exp.Select, items: Items, reader: Reader) -> list[ColumnNames] | None:
    """Return the columns of each grouping set, or None where nothing is grouped.

    As in SQL, `GROUP BY state, ROLLUP(county, naics)` groups by every set of the one combined
    with every set of the other: (state, county, naics), (state, county), (state).
    """
    group = select.args.get("group")
    if group is None:
        return None
    every = group.args.get("all")
    if every is False:
        raise _refused("GROUP BY DISTINCT is not supported; name each grouping set once.", reader)
    if every:
        if group.expressions:
            raise _refused("expected GROUP BY ALL alone, or columns without ALL.", reader)
        return [tuple(item.column for item in items if isinstance(item, Shown))]
    for name, value in group.args.items():
        if value and name != "expressions":
            form = name.replace("_", " ").upper()
            message = f"this form of {form} is not supported; write {form}(...) around the columns."
            raise _refused(message, reader)
    if not group.expressions:
        raise _refused("GROUP BY names no column; name some, or leave it out.", reader)
    return _combined([_sets(node, items, reader) for node in group.expressions], reader)


def _refused(message: str, reader: Reader) -> SQLTextError:
    return reader.refuse_word(message, TokenType.GROUP_BY)


def _combined(factors: list[list[ColumnNames]], reader: Reader) -> list[ColumnNames]:
    _check_number(prod(len(sets) for sets in factors), reader)
    return [_union(chosen) for chosen in product(*factors)]


def _sets(node: exp.Expr, items: Items, reader: Reader) -> list[ColumnNames]:
    match node:
        case exp.GroupingSets():
            sets = [each for part in node.expressions for each in _sets(part, items, reader)]
            _check_number(len(sets), reader)
            return sets
        case exp.Rollup():
            units = [_unit(part, items, reader) for part in node.expressions]
            _check_number(len(units) + 1, reader)
            return [_union(units[:length]) for length in range(len(units), -1, -1)]
        case exp.Cube():
            units = [_unit(part, items, reader) for part in node.expressions]
            _check_number(2 ** len(units), reader)
            lengths = range(len(units), -1, -1)
            return [_union(chosen) for n in lengths for chosen in combinations(units, n)]
        case _:
            return [_unit(node, items, reader)]


def _check_number(number: int, reader: Reader) -> None:
    if number > MOST_SETS:
        raise _refused(
            f"there are more than {MOST_SETS} grouping sets, each with its own price; name those "
            "that are needed with GROUPING SETS (...).",
            reader,
        )


def _unit(node: exp.Expr, items: Items, reader: Reader) -> ColumnNames:
    """Return the columns that go together: one, or several in parentheses."""
    match node:
        case exp.Paren():
            return _unit(node.this, items, reader)
        case exp.Tuple():
            return _union([(_column(part, items, reader),) for part in node.expressions])
        case _:
            return (_column(node, items, reader),)


def _union(units: Sequence[ColumnNames]) -> ColumnNames:
    return tuple(dict.fromkeys(name for unit in units for name in unit))


def _column(node: exp.Expr, items: Items, reader: Reader) -> str:
    inner = node.unnest()
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return _at_position(inner, items, reader)
    if not isinstance(inner, exp.Column) or not isinstance(inner.this, exp.Identifier):
        raise reader.refuse(inner, against_grouping(inner, reader))
    name = reader.column(inner)
    answers = {item.name for item in items if isinstance(item, AskedAnswer)}
    if name in answers and name not in reader.schema.fields:
        raise reader.refuse(inner, f"{name!r} is an answer; group by columns of the table.")
    with reader.placed(inner):
        reader.schema.grouping_kind(name)
    return name


def _at_position(node: exp.Literal, items: Items, reader: Reader) -> str:
    position = int(node.name) if node.name.isascii() and node.name.isdigit() else 0
    if not 1 <= position <= len(items):
        message = f"expected the position of a selected column, from 1 to {len(items)}."
        raise reader.refuse(node, message)
    item = items[position - 1]
    if isinstance(item, AskedAnswer):
        message = f"item {position} is the answer {item.name!r}; group by the position of a column."
        raise reader.refuse(node, message)
    with reader.placed(item.node):
        reader.schema.grouping_kind(item.column)
    return item.column
