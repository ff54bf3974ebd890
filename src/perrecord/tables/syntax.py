"""SQL text -> sqlglot's tree, or an error of ours that shows where the text stops making sense."""

import re
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, TokenError

from perrecord.errors import SQLTextError
from perrecord.tables.places import READ_DIALECT, Place, refuse_at, tokens_of, word

DEEPEST = 25
"""How many brackets may be open at once; the parser recurses into each."""

_MOST_CHARACTERS = 100_000
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = {*DuckDB.Tokenizer.KEYWORDS, *DuckDB.parser_class.NO_PAREN_FUNCTION_PARSERS}
_UNCLOSED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|/\*.*?\*/|--[^\n]*|[^'"/-]+|(?P<open>['"]|/\*)|.""",
    re.DOTALL,
)


def parse_sql(text: str, what: str, into: type[exp.Expr], expected: str | None = None) -> exp.Expr:
    """Return sqlglot's tree of the text, or raise with the place where it stops making sense.

    `expected` is what errors say such a text is; left out, a condition or a query in SQL.
    """
    if len(text) > _MOST_CHARACTERS:
        raise SQLTextError(f"{what} is longer than {_MOST_CHARACTERS} characters; shorten it.")
    try:
        tokens = tokens_of(text)
    except TokenError:
        message = "this is opened but never closed; close it."
        raise refuse_at(_unclosed(text), text, what, message) from None
    if not tokens:
        such = "state = 'NC'" if into is exp.Condition else "SELECT COUNT(*) FROM records"
        raise SQLTextError(f"{what} is empty; expected {expected or f'SQL such as {such}'}.")
    _check_tokens(tokens, text, what)
    try:
        return sqlglot.parse_one(text, dialect=READ_DIALECT, into=into)
    except ParseError as error:
        problem = error.errors[0] if error.errors else {}
        place = _stop(tokens, problem)
        raise refuse_at(place, text, what, _explained(problem, into, expected)) from None
    except RecursionError:
        raise SQLTextError(f"{what} is nested too deeply; write it in fewer levels.") from None
    except Exception:  # sqlglot fails in other ways on some nonsense, such as VAR_MAP(a)
        whole = Place(tokens[0].start, tokens[-1].end + 1)
        usual = "use columns, values, comparisons and CASE"
        message = f"this is not understood; {f'expected {expected}' if expected else usual}."
        raise refuse_at(whole, text, what, message) from None


def written_name(name: str) -> str:
    """Return a column's name, in quotes unless it can only be read as a name."""
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def _unclosed(text: str) -> Place:
    for match in _UNCLOSED.finditer(text):
        if match["open"]:
            return Place(match.start(), len(text))
    return Place(0, len(text))


def _check_tokens(tokens: tuple[sqlglot.Token, ...], text: str, what: str) -> None:
    """Refuse deep nesting before the parser recurses into it, and Spark's quotes for names."""
    depth = 0
    for token in tokens:
        place = Place(token.start, token.end + 1)
        if word(token) == "`":
            message = 'a name with odd characters goes in double quotes, as in "my column".'
            raise refuse_at(place, text, what, message)
        depth += (word(token) in ("(", "CASE")) - (word(token) in (")", "END"))
        if depth > DEEPEST:
            message = f"more than {DEEPEST} levels of nesting; write it in fewer levels."
            raise refuse_at(place, text, what, message)


def _stop(tokens: tuple[sqlglot.Token, ...], problem: dict[str, Any]) -> Place:
    """Return the token that the parser stopped at; it gives the line and column of its end."""
    for token in tokens:
        if (token.line, token.col) == (problem.get("line"), problem.get("col")):
            return Place(token.start, token.end + 1)
    return Place(tokens[0].start, tokens[-1].end + 1)


def _explained(problem: dict[str, Any], into: type[exp.Expr], expected: str | None) -> str:
    description = str(problem.get("description", ""))
    if expecting := re.fullmatch(r"Expect(?:ing|ed) (.*)", description):
        return f"expected {expecting[1]} after this."
    is_missing = description.startswith("Required keyword")
    if expected is not None:
        found = "something is missing here" if is_missing else "this does not belong here"
        return f"{found}; expected {expected}."
    if is_missing:
        return "something is missing here; expected a column, a value or a condition."
    if into is exp.Condition:
        return "this does not belong here; expected one condition or value, such as state = 'NC'."
    return "this does not belong here; expected SELECT ... FROM ... WHERE ... GROUP BY a, b."
