"""What every part of the reading shares: the text, the table's description, and refusals."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import TokenType, exp

from perrecord.errors import InputError, QueryError, SQLTextError, listing, suggestion
from perrecord.tables.places import Place, place_of, refuse, refuse_at, tokens_of
from perrecord.tables.schema import Schema

WHAT = "the SQL"
OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


@dataclass(frozen=True, slots=True)
class Reader:
    """The text that is read, the table it asks, and the names that may stand before a column."""

    text: str
    schema: Schema
    table_names: frozenset[str] = frozenset()

    def refuse(self, node: exp.Expr, message: str) -> SQLTextError:
        """Return the error that shows where the node stands."""
        return refuse(node, self.text, WHAT, message)

    def refuse_word(
        self, message: str, *words: TokenType, instead: exp.Expr | None = None
    ) -> SQLTextError:
        """Return the error that shows one of the words where it stands outside every bracket.

        The parser keeps no positions of clauses; their first word is what their author looks for.
        A clause without one, such as a comma between tables, is shown by what stands `instead`.
        """
        return refuse_at(self.place_of_word(*words, instead=instead), self.text, WHAT, message)

    def place_of_word(self, *words: TokenType, instead: exp.Expr | None = None) -> Place:
        """Return where one of the words stands outside every bracket; else where `instead` does."""
        depth = 0
        for token in tokens_of(self.text):
            depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
            if depth == 0 and token.token_type in words:
                return Place(token.start, token.end + 1)
        return Place(0, len(self.text)) if instead is None else place_of(instead, self.text)

    def shown(self, error: InputError, place: Place, whose: str = "") -> InputError:
        """Return an error about what the text asks, shown at a place of the text.

        It keeps its kind: what is wrong with an amount is an `AmountError` here as anywhere.
        """
        refused = refuse_at(place, self.text, WHAT, f"{whose}{error.sentence}")
        found = refused if isinstance(error, QueryError) else type(error)(str(refused))
        found.about, found.sentence, found.line = error.about, error.sentence, refused.line
        return found

    def allow(self, node: exp.Expr, names: frozenset[str], advice: str) -> None:
        """Refuse a node that carries more than we read: nothing is dropped in silence."""
        for name, value in node.args.items():
            if value and name not in names:
                form = name.strip("_").replace("_", " ")
                raise self.refuse(node, f"this form ({form}) is not supported; {advice}")

    @contextmanager
    def placed(self, node: exp.Expr) -> Iterator[None]:
        """Give errors about what a node names the node's place."""
        try:
            yield
        except SQLTextError:
            raise
        except InputError as error:
            refused = self.refuse(node, error.sentence)
            refused.about = error.about
            raise refused from None

    def column(self, node: exp.Column) -> str:
        """Return the column's name; a qualifier must be the table's name or alias."""
        self.allow(node, frozenset({"this", "table"}), "write the column alone, such as county.")
        if node.table and node.table not in self.table_names:
            names = listing(sorted(self.table_names))
            raise self.refuse(
                node,
                f"no table {node.table!r} is asked; expected {names}, or the column alone."
                f"{suggestion(node.table, self.table_names)}",
            )
        return node.name

    def written(self, node: exp.Expr) -> str:
        """Return a function's name as the author wrote it, in upper case."""
        if "start" in node.meta:
            return self.text[node.meta["start"] : node.meta["end"] + 1].upper()
        return node.sql_name() if isinstance(node, exp.Func) else node.key.upper()
