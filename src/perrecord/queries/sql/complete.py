"""The proof that the parser has lost nothing of the text: it is more lenient than it should be.

QUANTILE(emp, 0.9, 7) comes out of sqlglot without its 7, QUANTILE(emp, 0.9 without any complaint.
"""

from sqlglot import Token, TokenType, exp

from perrecord.errors import SQLTextError
from perrecord.queries.sql.reader import CLOSING, OPENING, WHAT, Reader
from perrecord.tables.places import Place, refuse_at, tokens_of

_CARRIED = {TokenType.NUMBER, TokenType.STRING, TokenType.IDENTIFIER, TokenType.VAR}
"""The words that stand for themselves: numbers, texts and names that are no keywords."""


def check_complete(select: exp.Select, reader: Reader) -> None:
    """Refuse a text whose brackets do not close, or with a word that is not in its tree."""
    tokens = tokens_of(reader.text)
    starts = {part.meta["start"] for part in select.walk() if "start" in part.meta}
    opened: list[Token] = []
    for index, token in enumerate(tokens):
        if token.token_type in OPENING:
            opened.append(token)
        elif token.token_type in CLOSING:
            opened.pop()  # the parser itself complains of one too many
        elif token.token_type in _CARRIED and token.start not in starts:
            _check_known(tokens, index, reader)
    if opened:
        raise _refused(opened[-1], "this is opened but never closed.", reader)


def _check_known(tokens: tuple[Token, ...], index: int, reader: Reader) -> None:
    """Refuse a word without a place in the tree, unless it is one that never has any."""
    token, before = tokens[index], tokens[index - 1]
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if token.token_type is TokenType.NUMBER and before.token_type is TokenType.DOT:
        raise _refused(token, f"write a 0 before the point: 0.{token.text}", reader)
    # Functions that the dialect reads on its own are nodes of the tree, but without a place.
    is_call = following is not None and following.token_type in OPENING
    if not is_call and token.text.upper() != "WITHIN":
        raise _refused(token, "this has no meaning here; leave it out.", reader)


def _refused(token: Token, message: str, reader: Reader) -> SQLTextError:
    return refuse_at(Place(token.start, token.end + 1), reader.text, WHAT, message)
