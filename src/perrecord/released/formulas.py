"""Formulas over published numbers, such as `payroll / employment`: one fraction of two sums.

Sums, differences, shares, averages and growth rates all are: a sum of numbers times constants,
over another. Whatever is of this form has an error and an interval (`fractions_of`); a product of
two noisy numbers has not, and is refused.

>>> formula("payroll / employment")
Formula(payroll / employment)
>>> formula("new / old - 1")
Formula((new - old) / old)
>>> sorted(formula("(a + b) / 2").names)
['a', 'b']
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from perrecord.errors import SQLTextError
from perrecord.exact import text as shown
from perrecord.tables.places import refuse
from perrecord.tables.syntax import parse_sql

Name = str

_LARGEST = Fraction(10**100)
_EXPECTED = (
    "names of answers, numbers, brackets and the signs + - * /; a name with characters other than "
    'letters, digits and _, or that is a word of SQL, goes in double quotes, as in "by-state".n'
)


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of numbers by name, each times a constant, and a constant."""

    factors: tuple[tuple[Name, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    @property
    def is_constant(self) -> bool:
        """Whether it names no number."""
        return not self.factors

    def __mul__(self, factor: Fraction) -> "Linear":
        return _linear({name: each * factor for name, each in self.factors}, self.constant * factor)

    def __add__(self, other: "Linear") -> "Linear":
        factors = dict(self.factors)
        for name, each in other.factors:
            factors[name] = factors.get(name, Fraction(0)) + each
        return _linear(factors, self.constant + other.constant)

    def renamed(self, names: Mapping[Name, Name]) -> "Linear":
        """Return the sum with other names for some numbers."""
        zero = Linear(constant=self.constant)
        parts = (Linear(((names.get(name, name), factor),)) for name, factor in self.factors)
        return sum(parts, zero)

    def __str__(self) -> str:
        parts = [(factor, name) for name, factor in self.factors]
        if self.constant or not parts:
            parts.append((self.constant, ""))
        written = ""
        for factor, name in parts:
            sign = "-" if factor < 0 else "+" if written else ""
            space = " " if written else ""
            number = "" if abs(factor) == 1 and name else shown(abs(factor))
            written += f"{space}{sign}{space}{number}{' * ' if number and name else ''}{name}"
        return written


ONE = Linear(constant=Fraction(1))


@dataclass(frozen=True, slots=True, repr=False)
class Formula:
    """A fraction of two sums; what stands below is 1 where nothing is divided by."""

    above: Linear
    below: Linear = ONE

    @property
    def names(self) -> frozenset[Name]:
        """The numbers that it is made of."""
        return frozenset(name for side in (self.above, self.below) for name, _ in side.factors)

    def renamed(self, names: Mapping[Name, Name]) -> "Formula":
        """Return the formula with other names for some numbers; two that become one are added."""
        return Formula(self.above.renamed(names), self.below.renamed(names))

    def __str__(self) -> str:
        if self.below == ONE:
            return str(self.above)
        return " / ".join(
            f"({side})" if len(side.factors) + bool(side.constant) > 1 else str(side)
            for side in (self.above, self.below)
        )

    def __repr__(self) -> str:
        return f"Formula({self})"


def formula(text: str, what: str = "the formula") -> Formula:
    """Return the formula that a text writes, or show where it is none."""
    if "--" in text or "/*" in text:
        raise SQLTextError(
            f"{what} has a comment, -- or /*; write - (- n) with brackets and a space if you mean "
            "numbers."
        )
    tree = parse_sql(text, what, exp.Condition, _EXPECTED)
    found = _Reader(text, what).read(tree)
    if not found.names:
        raise SQLTextError(
            f"{what} names no published number; expected something like payroll / employment."
        )
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    what: str

    def read(self, node: exp.Expr) -> Formula:
        match node:
            case exp.Paren():
                return self.read(node.this)
            case exp.Neg():
                found = self.read(node.this)
                return Formula(found.above * Fraction(-1), found.below)
            case exp.Literal(is_string=False):
                return Formula(Linear(constant=self._number(node)))
            case exp.Column():
                return Formula(_linear({_name(node): Fraction(1)}, Fraction(0)))
            case exp.Add():
                return self._sum(node, self.read(node.left), self.read(node.right))
            case exp.Sub():
                right = self.read(node.right)
                taken = Formula(right.above * Fraction(-1), right.below)
                return self._sum(node, self.read(node.left), taken)
            case exp.Mul():
                return self._product(node, self.read(node.left), self.read(node.right))
            case exp.Div():
                return self._quotient(node, self.read(node.left), self.read(node.right))
        raise self._refused(node, f"expected {_EXPECTED}.")

    def _number(self, node: exp.Expr) -> Fraction:
        """Return a constant that floats can multiply noisy numbers by."""
        number = Fraction(node.this)
        if number and not 1 / _LARGEST <= number <= _LARGEST:
            raise self._refused(node, "expected a number between 1e-100 and 1e100.")
        return number

    def _sum(self, node: exp.Expr, left: Formula, right: Formula) -> Formula:
        if left.below == right.below:
            return Formula(left.above + right.above, left.below)
        for one, other in ((left, right), (right, left)):
            if not one.names:
                return Formula(other.above + other.below * one.above.constant, other.below)
        raise self._refused(
            node, "two fractions with different numbers below are added up; expected one fraction."
        )

    def _product(self, node: exp.Expr, left: Formula, right: Formula) -> Formula:
        for one, other in ((left, right), (right, left)):
            if not one.names:
                return Formula(other.above * one.above.constant, other.below)
        raise self._refused(
            node, "two noisy numbers are multiplied; expected a number on one side of the *."
        )

    def _quotient(self, node: exp.Expr, left: Formula, right: Formula) -> Formula:
        if right.below == left.below:
            above, below = left.above, right.above
        elif not right.names:
            above, below = left.above, left.below * right.above.constant
        elif not left.names:
            above, below = right.below * left.above.constant, right.above
        else:
            raise self._refused(
                node, "a fraction is divided by a noisy number; expected one sum over another."
            )
        if not below.is_constant:
            return Formula(above, below)
        if not below.constant:
            raise self._refused(node, "this divides by 0; expected another number.")
        return Formula(above * (1 / below.constant))

    def _refused(self, node: exp.Expr, message: str) -> SQLTextError:
        return refuse(node, self.text, self.what, message)


def _name(node: exp.Column) -> Name:
    return ".".join(part.name for part in node.parts)


def _linear(factors: dict[Name, Fraction], constant: Fraction) -> Linear:
    kept = tuple(sorted((name, each) for name, each in factors.items() if each))
    return Linear(kept, constant)
