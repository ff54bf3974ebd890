"""One SELECT over one table, with the clauses we read and no others."""

import re
from typing import NamedTuple

from sqlglot import TokenType, exp

from perrecord.errors import SQLTextError, suggestion
from perrecord.queries.sql.reader import WHAT, Reader
from perrecord.tables.places import Place, refuse_at
from perrecord.tables.schema import Schema
from perrecord.tables.syntax import parse_sql

_ONE_TABLE = (
    "a query asks one table. Join a public table with table(..., lookups=[Lookup(...)]), derive "
    "columns with table(..., dimensions={...})."
)
_AFTERWARDS = "the result is a table, and what is done to it costs nothing: sort and cut it there."
_ROWS = "it picks rows; a filter on the records goes into WHERE."
_SAMPLE = "a sample's guarantee is not worked out here; draw it before, or ask all records."
_EXPECTED = "expected SELECT ... FROM ... WHERE ... GROUP BY ..."


class _Clause(NamedTuple):
    """How a clause is known to its author, the words it opens with, what to do instead."""

    name: str
    advice: str
    words: tuple[TokenType, ...]


_JOIN = _Clause("JOIN", _ONE_TABLE, (TokenType.JOIN,))
_LATERAL = _Clause("LATERAL", _ONE_TABLE, (TokenType.LATERAL,))
_PIVOT = _Clause(
    "PIVOT",
    "group by the column and turn the result, which costs nothing.",
    (TokenType.PIVOT, TokenType.UNPIVOT),
)
_SAMPLED = _Clause("a sample", _SAMPLE, (TokenType.TABLE_SAMPLE, TokenType.USING))

_CLAUSES: dict[str, _Clause] = {
    "kind": _Clause("SELECT AS", "name the columns one by one.", (TokenType.SELECT,)),
    "distinct": _Clause(
        "DISTINCT",
        "leave it out: every key appears once; COUNT(DISTINCT firm) counts different values.",
        (TokenType.DISTINCT,),
    ),
    "into": _Clause("INTO", "the result is returned; save it from there.", (TokenType.INTO,)),
    "joins": _JOIN,
    "laterals": _LATERAL,
    "match": _Clause("MATCH_RECOGNIZE", _ROWS, (TokenType.MATCH_RECOGNIZE,)),
    "connect": _Clause("CONNECT BY", _ONE_TABLE, (TokenType.START_WITH, TokenType.CONNECT_BY)),
    "pivots": _PIVOT,
    "having": _Clause(
        "HAVING",
        "dropping noisy answers below a threshold costs nothing: filter the result. Where most "
        "cells are empty, keys=SelectCells(domain, answer=..., at_least=...) does it beforehand.",
        (TokenType.HAVING,),
    ),
    "qualify": _Clause("QUALIFY", _AFTERWARDS, (TokenType.QUALIFY,)),
    "windows": _Clause("WINDOW", _AFTERWARDS, (TokenType.WINDOW,)),
    "order": _Clause("ORDER BY", _AFTERWARDS, (TokenType.ORDER_BY, TokenType.ORDER_SIBLINGS_BY)),
    "sort": _Clause("SORT BY", _AFTERWARDS, (TokenType.SORT_BY,)),
    "cluster": _Clause("CLUSTER BY", _AFTERWARDS, (TokenType.CLUSTER_BY,)),
    "distribute": _Clause("DISTRIBUTE BY", _AFTERWARDS, (TokenType.DISTRIBUTE_BY,)),
    "limit": _Clause("LIMIT", _AFTERWARDS, (TokenType.LIMIT, TokenType.FETCH)),
    "offset": _Clause("OFFSET", _AFTERWARDS, (TokenType.OFFSET,)),
    "locks": _Clause("FOR UPDATE", "a query only reads; leave it out.", (TokenType.FOR,)),
    "sample": _SAMPLED,
}
_TABLE_CLAUSES: dict[str, _Clause] = {
    "joins": _JOIN,
    "laterals": _LATERAL,
    "pivots": _PIVOT,
    "sample": _SAMPLED,
}
_READ = frozenset({"expressions", "from_", "where", "group"})
_SETS = (TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT)
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*+|/\*.*?\*/)*+(\w+|\()", re.DOTALL)


def select_of(text: str, schema: Schema) -> tuple[exp.Select, Reader]:
    """Return the SELECT that the text says, and what its parts are read with.

    >>> records = Schema("records", None, None, (), ())
    >>> select_of("SELECT COUNT(*) FROM records LIMIT 5", records)
    Traceback (most recent call last):
    perrecord.errors.SQLTextError: the SQL, line 1, column 30: LIMIT is not supported; the \
result is a table, and what is done to it costs nothing: sort and cut it there.
      SELECT COUNT(*) FROM records LIMIT 5
                                   ^^^^^
    """
    if not isinstance(text, str):
        raise SQLTextError(f"{WHAT} is a {type(text).__name__}; expected text: {_EXPECTED}")
    _check_first_word(text)
    reader = Reader(text, schema)
    select = _only(parse_sql(text, WHAT, exp.Select), reader)
    for name, value in select.args.items():
        if value and name not in _READ:
            raise _refused(name, value, _CLAUSES, reader)
    return select, Reader(text, schema, frozenset({_table_name(select, reader)}))


def _check_first_word(text: str) -> None:
    """Refuse another statement by its name; the parser knows more kinds than can be listed."""
    found = _FIRST_WORD.match(text)
    if found is None:
        return  # the parser says what is wrong
    word, place = found[1].upper(), Place(found.start(1), found.end(1))
    if word == "(":
        message = f"the query is in parentheses; leave them out: {_EXPECTED}"
        raise refuse_at(place, text, WHAT, message)
    if word == "WITH":
        raise refuse_at(place, text, WHAT, f"WITH is not supported; {_ONE_TABLE}")
    if word not in ("SELECT", "FROM"):
        message = f"{word} is not supported, because a query only reads; {_EXPECTED}"
        raise refuse_at(place, text, WHAT, message)


def _only(tree: exp.Expr, reader: Reader) -> exp.Select:
    if isinstance(tree, exp.Block):  # what several semicolons give, be there anything behind or not
        first, *others = (each for each in tree.expressions if each is not None)
        if others:
            message = "a second statement begins here; ask one query at a time."
            raise reader.refuse(others[0], message)
        tree = first
    if isinstance(tree, exp.SetOperation):
        name = tree.key.upper()
        message = f"{name} is not supported; ask the queries one by one, each has its own price."
        raise reader.refuse_word(message, *_SETS)
    if not isinstance(tree, exp.Select):
        raise reader.refuse(tree, f"{tree.key.upper()} is not supported; {_EXPECTED}")
    return tree


def _refused(name: str, value: object, clauses: dict[str, _Clause], reader: Reader) -> SQLTextError:
    parts = value if isinstance(value, list) else [value]
    instead = next((part for part in parts if isinstance(part, exp.Expr)), None)
    form = name.strip("_").replace("_", " ").upper()
    clause = clauses.get(name, _Clause(form, _EXPECTED, ()))
    message = f"{clause.name} is not supported; {clause.advice}"
    return reader.refuse_word(message, *clause.words, instead=instead)


def _table_name(select: exp.Select, reader: Reader) -> str:
    """Return the name that columns are qualified by: the table's alias, or its own name."""
    source = select.args.get("from_")
    known = reader.schema.name
    if source is None:
        raise reader.refuse_word(f"FROM is missing; write FROM {known}.", TokenType.SELECT)
    table = source.this
    if isinstance(table, exp.Query):
        raise reader.refuse(table, f"a subquery is not supported; {_ONE_TABLE}")
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise reader.refuse(table, f"this is not a table's name; write FROM {known}.")
    for name, value in table.args.items():
        if value and name in _TABLE_CLAUSES:
            raise _refused(name, value, _TABLE_CLAUSES, reader)
    reader.allow(table, frozenset({"this", "alias"}), f"write FROM {known}.")
    if table.name != known:
        raise reader.refuse(
            table.this,
            f"no table {table.name!r} is known here; this one is {known!r}."
            f"{suggestion(table.name, [known])}",
        )
    alias = table.args.get("alias")
    if alias is None:
        return known
    reader.allow(alias, frozenset({"this"}), f"write FROM {known} AS other_name.")
    return str(alias.name)
