"""Where in an SQL text a piece of its syntax tree stands, for messages that point at it."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import Token, exp

from perrecord.errors import SQLTextError

READ_DIALECT = "duckdb"
"""The SQL that texts are read as: the only one of the engines' own that knows `//`."""

_WIDTH = 100
_SYMBOLS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Neg: frozenset("-"),
    exp.Abs: frozenset("@"),
    exp.BitwiseNot: frozenset("~"),
    exp.Placeholder: frozenset("?:$"),
    exp.Parameter: frozenset("@$"),
    exp.PositionalColumn: frozenset("#"),
    exp.Star: frozenset("*"),
}
_OPENING = {"(", "CASE", "[", "{"}
_CLOSING = {")", "END", "]", "}"}


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a text: from `start` up to, but without, `end`."""

    start: int
    end: int


def refuse(node: exp.Expr, text: str, what: str, message: str) -> SQLTextError:
    """Return the error that shows where in the text the node stands; `what` names the text."""
    return refuse_at(place_of(node, text), text, what, message)


def refuse_at(place: Place, text: str, what: str, message: str) -> SQLTextError:
    """Return the error with the place's line and column, the line itself, and a row of carets.

    >>> print(refuse_at(Place(8, 10), "state = NC", "the filter", "NC is no column."))
    the filter, line 1, column 9: NC is no column.
      state = NC
              ^^
    """
    before = text[: place.start]
    line, opening = before.count("\n") + 1, before.rfind("\n") + 1
    closing = text.find("\n", place.start)
    whole = text[opening : closing if closing >= 0 else len(text)]
    column = place.start - opening
    cut = max(0, column - _WIDTH // 2)
    shown = "".join(sign if sign.isprintable() else " " for sign in whole[cut : cut + _WIDTH])
    carets = max(1, min(place.end - place.start, len(shown) - (column - cut)))
    error = SQLTextError(
        f"{what}, line {line}, column {column + 1}: {message}\n"
        f"  {shown.rstrip()}\n"
        f"  {' ' * (column - cut)}{'^' * carets}"
    )
    error.sentence, error.line = message, line
    return error


def place_of(node: exp.Expr, text: str) -> Place:
    """Return where the node stands; the whole text where nothing tells.

    The parser notes positions of names, literals and most functions only. The rest is worked out
    from those inside the node and from the tokens around them.

    >>> tree = sqlglot.parse_one("a = 1 AND NOT upper(b) > 'x'", dialect=READ_DIALECT)
    >>> place_of(tree.find(exp.Upper), "a = 1 AND NOT upper(b) > 'x'")
    Place(start=14, end=22)
    """
    tokens = tokens_of(text)
    marks = [(part.meta["start"], part.meta["end"]) for part in node.walk() if _has_place(part)]
    openings = _openings(node)
    if marks:
        first = _index(tokens, min(start for start, _ in marks))
        last = _index(tokens, max(end for _, end in marks))
        first = _back_to_opening(tokens, first, openings, node)
    else:
        named = (index for index, token in enumerate(tokens) if word(token) in openings)
        first = last = next(named, -1)
        if first < 0:
            return Place(0, len(text))
    last = _forward_to_close(tokens, first, last)
    return Place(tokens[first].start, tokens[last].end + 1)


@lru_cache(maxsize=4)
def tokens_of(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, kept for the next question about the same text."""
    return tuple(sqlglot.tokenize(text, dialect=READ_DIALECT))


def word(token: Token) -> str:
    """Return a keyword, name or sign in upper case; nothing for what stands in quotes."""
    return token.text.upper() if token.end - token.start + 1 == len(token.text) else ""


def _has_place(node: exp.Expr) -> bool:
    return "start" in node.meta


def _index(tokens: tuple[Token, ...], offset: int) -> int:
    return bisect_right(tokens, offset, key=lambda token: token.start) - 1


def _openings(node: exp.Expr) -> frozenset[str]:
    """Return what the node may open with in the text."""
    names = {node.key.upper()}
    if isinstance(node, exp.Func):
        names.update(node.sql_names())
    match node:
        case exp.Cast():
            names.add(node.to.this.value)
        case exp.Subquery() | exp.Exists():
            names.add("SELECT")
        case exp.PercentileCont() | exp.PercentileDisc():
            names |= {"QUANTILE_CONT", "QUANTILE_DISC"}
        case exp.GroupConcat():
            names |= {"STRING_AGG", "LISTAGG"}
    return frozenset(names) | _SYMBOLS.get(type(node), frozenset())


def _back_to_opening(
    tokens: tuple[Token, ...], first: int, openings: frozenset[str], node: exp.Expr
) -> int:
    """Return the token that opens the node, if it stands before the first positioned one."""
    if _has_place(node):
        return first
    depth = 0
    for index in range(first - 1, -1, -1):
        here = word(tokens[index])
        depth += (here in _CLOSING) - (here in _OPENING)
        # A sign stands right before; a function's or CASE's bracket is still open here.
        near = index == first - 1 or depth < 0 or isinstance(node, exp.Query | exp.Exists)
        if here in openings and near:
            return index
    return first


def _forward_to_close(tokens: tuple[Token, ...], first: int, last: int) -> int:
    """Return the token that closes every bracket opened since the first, and a call's own."""
    following = word(tokens[last + 1]) if last + 1 < len(tokens) else ""
    if following == "::":
        last += 2
    elif following == "(" and word(tokens[last]).isidentifier():
        last += 1
    depth = 0
    for index in range(first, len(tokens)):
        here = word(tokens[index])
        depth += (here in _OPENING) - (here in _CLOSING)
        if index >= last and depth <= 0:
            return index
    return last
