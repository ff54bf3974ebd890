"""SQL text -> expression. What is not understood is refused by name, at its place in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from perrecord.errors import InputError, SQLTextError
from perrecord.exact import rational
from perrecord.tables.expressions import nodes
from perrecord.tables.expressions.nodes import Expression, Operator
from perrecord.tables.places import place_of, refuse
from perrecord.tables.refusals import reason_against
from perrecord.tables.syntax import DEEPEST, parse_sql

_COMPARISONS: dict[type[exp.Expr], Operator] = {
    exp.EQ: Operator.EQUAL,
    exp.NEQ: Operator.UNEQUAL,
    exp.LT: Operator.LESS,
    exp.LTE: Operator.AT_MOST,
    exp.GT: Operator.GREATER,
    exp.GTE: Operator.AT_LEAST,
}
_CONDITIONS = (
    *_COMPARISONS,
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is, exp.In, exp.Like, exp.Between),
    *(exp.And, exp.Or, exp.Not),
)
_LISTED = "IN takes a list of values, such as IN ('NC', 'VA')."
_TEXT_TYPES = {"VARCHAR", "TEXT", "STRING"}


def parse_expression(
    text: str, what: str = "the filter", table_names: frozenset[str] = frozenset()
) -> Expression:
    """Return the expression that the text says; `what` names the text in error messages.

    >>> parse_expression("NOT closed")
    Not(operand=Column(name='closed'))
    >>> parse_expression("state = UPPER('nc')")
    Traceback (most recent call last):
    perrecord.errors.SQLTextError: the filter, line 1, column 9: UPPER is not supported, because \
engines differ on letters beyond ASCII; list the spellings instead, as in state IN ('nc', 'NC').
      state = UPPER('nc')
              ^^^^^^^^^^^
    """
    return from_sqlglot(parse_sql(text, what, exp.Condition), text, what, table_names)


def from_sqlglot(
    node: exp.Expr,
    text: str,
    what: str = "the filter",
    table_names: frozenset[str] = frozenset(),
) -> Expression:
    """Return the expression of a node of sqlglot's tree; `text` is the whole that it stands in.

    A column may be qualified by one of `table_names`; the qualifier is dropped.
    """
    return _Reader(text, what, table_names).read(node)


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    what: str
    table_names: frozenset[str]

    def refuse(self, node: exp.Expr, message: str) -> SQLTextError:
        return refuse(node, self.text, self.what, message)

    def read(self, node: exp.Expr, depth: int = 0) -> Expression:
        if depth > 2 * DEEPEST:
            raise self.refuse(node, "this is nested too deeply; write it in fewer levels.")
        try:
            return self._read(node, depth + 1)
        except SQLTextError:
            raise
        except InputError as error:
            raise self.refuse(node, str(error)) from None

    def _read(self, node: exp.Expr, depth: int) -> Expression:  # noqa: PLR0912 (one per node)
        match node:
            case exp.Paren():
                return self.read(node.this, depth)
            case exp.Column():
                return self._column(node)
            case exp.Literal() | exp.Null() | exp.Boolean() | exp.Neg():
                return self._literal(node)
            case exp.And():
                return nodes.And(self._chain(node, exp.And, depth))
            case exp.Or():
                return nodes.Or(self._chain(node, exp.Or, depth))
            case exp.DPipe():
                return nodes.Concat(self._chain(node, exp.DPipe, depth))
            case exp.Not():
                return nodes.Not(self.read(node.this, depth))
            case exp.NullSafeEQ():
                return nodes.Not(nodes.Distinct(*self._sides(node, depth)))
            case exp.NullSafeNEQ():
                return nodes.Distinct(*self._sides(node, depth))
            case exp.Is():
                return self._is(node, depth)
            case exp.In():
                return self._in(node, depth)
            case exp.Like():
                return self._like(node, depth)
            case exp.Between():
                return self._between(node, depth)
            case exp.Case():
                return self._case(node, depth)
            case exp.Mod():
                return nodes.Remainder(self.read(node.this, depth), self._whole(node.expression))
            case exp.IntDiv():
                return nodes.Quotient(self.read(node.this, depth), self._whole(node.expression))
            case _ if type(node) in _COMPARISONS:
                return nodes.Comparison(_COMPARISONS[type(node)], *self._sides(node, depth))
            case _:
                return self._function(node, depth)

    def _function(self, node: exp.Expr, depth: int) -> Expression:
        match node:
            case exp.Coalesce():
                self._allow(node, "this", "expressions")
                parts = (node.this, *node.expressions)
                return nodes.Coalesce(tuple(self.read(part, depth) for part in parts))
            case exp.Concat(args={"safe": True}):
                raise self.refuse(
                    node,
                    "CONCAT is not supported, because engines differ on NULL; write a || b, which "
                    "is NULL when a part is, and COALESCE(a, '') where that is not wanted.",
                )
            case exp.Concat():  # two texts side by side, where sqlglot joins them
                raise self.refuse(
                    node, "two texts are side by side; expected a comma or || between them."
                )
            case exp.Substring():
                self._allow(node, "this", "start", "length")
                start, length = node.args.get("start"), node.args.get("length")
                if start is None or length is None:
                    raise self.refuse(node, "expected SUBSTRING(text, start, length).")
                operand = self.read(node.this, depth)
                return nodes.Substring(operand, self._whole(start), self._whole(length))
            case exp.Year() | exp.Quarter() | exp.Month() | exp.Day():
                self._allow(node, "this")
                return nodes.DatePart(node.key, self.read(node.this, depth))
            case exp.Extract():
                self._allow(node, "this", "expression")
                unit = node.this.name.lower()
                return nodes.DatePart(unit, self.read(node.expression, depth))
            case exp.TimestampTrunc() | exp.DateTrunc():
                self._allow(node, "this", "unit")
                unit = node.args["unit"].name.lower()
                return nodes.DateStart(unit, self.read(node.this, depth))
            case exp.Left():
                self._allow(node, "this", "expression")
                operand = self.read(node.this, depth)
                return nodes.Substring(operand, 1, self._whole(node.expression))
            case exp.Cast() if type(node) is exp.Cast and self._type(node) in _TEXT_TYPES:
                self._allow(node, "this", "to")
                return nodes.AsText(self.read(node.this, depth))
            case _:
                raise self.refuse(node, reason_against(node, self.text))

    def _allow(self, node: exp.Expr, *names: str) -> None:
        """Refuse a node that carries more than we read: nothing is dropped in silence."""
        for name, value in node.args.items():
            if value and name not in names:
                raise self.refuse(node, f"this form ({name.replace('_', ' ')}) is not supported.")

    def _column(self, node: exp.Column) -> Expression:
        if not isinstance(node.this, exp.Identifier):
            raise self.refuse(node, reason_against(node.this, self.text))
        if node.table and (node.table not in self.table_names or node.db):
            table = f"{node.db}.{node.table}".lstrip(".")
            raise self.refuse(node, f"no table {table!r} is known here; write the column alone.")
        self._allow(node, "this", "table")
        return nodes.Column(node.name)

    def _literal(self, node: exp.Expr) -> nodes.Literal:
        match node:
            case exp.Null():
                return nodes.Literal(None)
            case exp.Boolean():
                return nodes.Literal(bool(node.this))
            case exp.Literal(is_string=True):
                return nodes.Literal(node.name)
            case exp.Literal():
                return nodes.Literal(rational(node.name, "the number"))
            case exp.Neg(this=exp.Literal(is_string=False)):
                return nodes.Literal(-rational(node.this.name, "the number"))
            case _:
                raise self.refuse(node, reason_against(node, self.text))

    def _chain(self, node: exp.Expr, kind: type[exp.Expr], depth: int) -> tuple[Expression, ...]:
        """Return the parts of a AND b AND c; a loop, because the tree is as deep as it is long."""
        parts = []
        while type(node) is kind:
            parts.append(node.expression)
            node = node.this
        return tuple(self.read(part, depth) for part in (node, *reversed(parts)))

    def _operand(self, node: exp.Expr, depth: int) -> Expression:
        if isinstance(node, _CONDITIONS):
            raise self.refuse(node, "a condition is compared; put parentheses around it.")
        return self.read(node, depth)

    def _sides(self, node: exp.Expr, depth: int) -> tuple[Expression, Expression]:
        return self._operand(node.this, depth), self._operand(node.expression, depth)

    def _is(self, node: exp.Is, depth: int) -> Expression:
        operand = self._operand(node.this, depth)
        match node.expression:
            case exp.Null():
                return nodes.IsNull(operand)
            case exp.Boolean():
                return nodes.Not(nodes.Distinct(operand, self._literal(node.expression)))
            case _:
                raise self.refuse(node, "expected NULL, TRUE, FALSE or DISTINCT FROM after IS.")

    def _in(self, node: exp.In, depth: int) -> Expression:
        if query := node.args.get("query"):
            raise self.refuse(query, reason_against(query, self.text))
        if node.args.get("field"):
            raise self.refuse(node, _LISTED)
        self._allow(node, "this", "expressions")
        options = []
        for option in node.expressions:
            read = self.read(option, depth)
            if not isinstance(read, nodes.Literal):
                raise self.refuse(option, _LISTED)
            options.append(read)
        return nodes.In(self._operand(node.this, depth), tuple(options))

    def _like(self, node: exp.Like, depth: int) -> Expression:
        self._allow(node, "this", "expression", "negate")
        pattern = node.expression
        if not (isinstance(pattern, exp.Literal) and pattern.is_string):
            raise self.refuse(pattern, "LIKE takes a pattern in quotes, such as LIKE '44%'.")
        like = nodes.Like(self._operand(node.this, depth), pattern.name)
        return nodes.Not(like) if node.args.get("negate") else like

    def _between(self, node: exp.Between, depth: int) -> Expression:
        self._allow(node, "this", "low", "high")
        operand = self._repeated(node.this, depth)
        low, high = (self._operand(node.args[side], depth) for side in ("low", "high"))
        least = nodes.Comparison(Operator.AT_LEAST, operand, low)
        return nodes.And((least, nodes.Comparison(Operator.AT_MOST, operand, high)))

    def _case(self, node: exp.Case, depth: int) -> Expression:
        conditions: Iterator[Expression] = (
            self.read(branch.this, depth) for branch in node.args["ifs"]
        )
        if node.this:
            operand = self._repeated(node.this, depth)
            conditions = (
                nodes.Comparison(Operator.EQUAL, operand, self._operand(branch.this, depth))
                for branch in node.args["ifs"]
            )
        results = (self.read(branch.args["true"], depth) for branch in node.args["ifs"])
        default = node.args.get("default")
        otherwise = nodes.Literal(None) if default is None else self.read(default, depth)
        return nodes.Case(tuple(zip(conditions, results, strict=True)), otherwise)

    def _repeated(self, node: exp.Expr, depth: int) -> Expression:
        """Return an operand that is written out more than once, so it must not grow when nested."""
        if any(isinstance(part, exp.Case | exp.Between) for part in node.walk()):
            raise self.refuse(
                node, "CASE or BETWEEN inside what is compared; derive a dimension first."
            )
        return self._operand(node, depth)

    def _whole(self, node: exp.Expr) -> int:
        match self.read(node):
            case nodes.Literal(int(value)) if not isinstance(value, bool):
                return value
            case _:
                raise self.refuse(node, "expected a whole number written out, such as 2.")

    def _type(self, node: exp.Cast) -> str:
        """Return the type as it is written: sqlglot drops the 5 of VARCHAR(5)."""
        place = place_of(node, self.text)
        written = self.text[place.start : place.end]
        match = re.search(r"(?:\bAS\s+|::\s*)(\w+)\s*\)?$", written, re.IGNORECASE)
        return match[1].upper() if match else ""
