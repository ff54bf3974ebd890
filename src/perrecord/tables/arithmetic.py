"""Arithmetic of measures, such as `hours * wage`: a sum of products, exact in every engine.

A derived measure reads other measures, each on its own grid: whole numbers g of steps. So its value
is a polynomial of whole numbers, computed exactly, and rounded once, to its own grid, ties away
from zero. What it can be at most follows from what they can be at most: an expression that could
leave 128 bits is refused before a row is read, and no row can make it raise.

NULL in any measure that it names makes it NULL, also where that is multiplied by 0. Nothing is
divided by a measure, so nothing is divided by 0.

>>> arithmetic("hours * wage + 12 * (bonus - 0.5)")
Arithmetic(hours * wage + 12 * bonus - 6)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

from sqlglot import exp

from perrecord.errors import InputError, SchemaError, SQLTextError
from perrecord.exact import rational
from perrecord.exact import text as shown
from perrecord.tables.dialects import Dialect
from perrecord.tables.places import refuse
from perrecord.tables.syntax import DEEPEST, parse_sql, written_name

Product = tuple[str, ...]
"""The measures that are multiplied, sorted; one that comes twice is squared."""

MOST = 10**37
"""No sum of products may be larger, in whole numbers: wide integers have 38 digits everywhere."""

_MOST_TERMS = 64
_EXPECTED = (
    "names of measures, numbers, brackets and the signs + - *, and / before a number; a name with "
    'characters other than letters, digits and _ goes in double quotes, as in "my column"'
)


@dataclass(frozen=True, slots=True, repr=False)
class Arithmetic:
    """A sum of products of measures, each times a number, and every measure that it names."""

    terms: tuple[tuple[Product, Fraction], ...]
    names: tuple[str, ...]

    def value(self, numbers: Mapping[str, Fraction | None]) -> Fraction | None:
        """Return its exact value, given the measures in their own units; None if one is NULL.

        >>> arithmetic("hours * wage").value({"hours": Fraction(40), "wage": Fraction(25, 2)})
        Fraction(500, 1)
        """
        known = {name: numbers[name] for name in self.names}
        if any(number is None for number in known.values()):
            return None
        return sum(
            (factor * prod(known[name] or 0 for name in names) for names, factor in self.terms),
            Fraction(0),
        )

    def __str__(self) -> str:
        gone = set(self.names) - {name for names, _ in self.terms for name in names}
        terms = [*self.terms, *(((name,), Fraction(0)) for name in sorted(gone))]
        found = ""
        for names, factor in terms:
            sign = "-" if factor < 0 else "+" if found else ""
            space = " " if found else ""
            number = [] if abs(factor) == 1 and names else [_number(abs(factor))]
            product = " * ".join([*number, *map(written_name, names)])
            found += f"{space}{sign}{space}{product}"
        return found

    def __repr__(self) -> str:
        return f"Arithmetic({self})"


@dataclass(frozen=True, slots=True)
class Scaled:
    """Arithmetic on grids: `down` times the value in steps is a sum of whole products of steps."""

    factors: tuple[tuple[Product, int], ...]
    down: int
    most: int
    """The sum is never larger, either way."""

    def sql(self, columns: Mapping[str, str], dialect: Dialect) -> str:
        """Return the sum, a wide integer, given the measures as 64-bit integers."""
        parts = []
        for names, factor in self.factors:
            wide = [f"CAST({columns[name]} AS {dialect.wide})" for name in names]
            parts.append(" * ".join([f"CAST('{factor}' AS {dialect.wide})", *wide]))
        return f"({' + '.join(parts)})" if parts else f"CAST(0 AS {dialect.wide})"


def scaled(
    what: str,
    found: Arithmetic,
    resolution: Fraction,
    grids: Mapping[str, tuple[Fraction, int]],
) -> Scaled:
    """Return arithmetic in whole numbers, given each measure's resolution and most steps.

    >>> grids = {"hours": (Fraction(1, 4), 400), "wage": (Fraction(1, 100), 10**6)}
    >>> scaled("pay", arithmetic("hours * wage"), Fraction(1, 100), grids)
    Scaled(factors=((('hours', 'wage'), 1),), down=4, most=400000000)
    """
    ratios = [
        (names, factor * prod(grids[name][0] for name in names) / resolution)
        for names, factor in found.terms
    ]
    down = lcm(*(ratio.denominator for _, ratio in ratios))
    factors = tuple((names, int(ratio * down)) for names, ratio in ratios)
    most = sum(abs(factor) * prod(grids[name][1] for name in names) for names, factor in factors)
    if max(most, 2 * down) > MOST:
        raise SchemaError(
            f"{what}, {found}, could be too large to be counted exactly: its measures allow more "
            "than 10^37 steps of its finest product. Declare a smaller `largest` for "
            f"{' and '.join(map(repr, found.names))}, or coarser resolutions."
        )
    return Scaled(factors, down, most)


def arithmetic(text: str, what: str = "the measure") -> Arithmetic:
    """Return the arithmetic that a text writes, or show where it is none.

    >>> arithmetic("sales / staff")
    Traceback (most recent call last):
    perrecord.errors.SQLTextError: the measure, line 1, column 1: this divides by a measure, which \
may be 0 or nearly so; expected a number after the /. Publish both totals and divide those.
      sales / staff
      ^^^^^^^^^^^^^
    """
    if "--" in text or "/*" in text:
        raise SQLTextError(
            f"{what} has a comment, -- or /*; write - (- n) with brackets and a space if you mean "
            "numbers."
        )
    terms, names = _Reader(text, what).read(parse_sql(text, what, exp.Condition, _EXPECTED))
    if not names:
        raise SQLTextError(f"{what} names no measure; expected something like hours * wage.")
    ordered = sorted(terms.items(), key=lambda term: (-len(term[0]), term[0]))
    kept = tuple((product, factor) for product, factor in ordered if factor)
    return Arithmetic(kept, tuple(sorted(names)))


_Terms = dict[Product, Fraction]
_Read = tuple[_Terms, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    what: str

    def read(self, node: exp.Expr, depth: int = 0) -> _Read:
        if depth > 2 * DEEPEST:
            raise self._refused(node, "this is nested too deeply; write it in fewer levels.")
        match node:
            case exp.Paren():
                return self.read(node.this, depth + 1)
            case exp.Column(this=exp.Identifier()) if not node.table:
                return {(node.name,): Fraction(1)}, frozenset({node.name})
            case exp.Literal(is_string=False):
                return {(): self._literal(node)}, frozenset()
            case exp.Neg():
                terms, names = self.read(node.this, depth + 1)
                return _times(terms, Fraction(-1)), names
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
                left, right = (self.read(each, depth + 1) for each in (node.left, node.right))
                terms = self._combined(node, left[0], right)
                if len(terms) > _MOST_TERMS:
                    raise self._refused(
                        node, f"written out, this is more than {_MOST_TERMS} products; write fewer."
                    )
                return terms, left[1] | right[1]
        raise self._refused(node, f"expected {_EXPECTED}.")

    def _combined(self, node: exp.Expr, left: _Terms, other: _Read) -> _Terms:
        right, names = other
        match node:
            case exp.Add():
                return _sum(left, right)
            case exp.Sub():
                return _sum(left, _times(right, Fraction(-1)))
            case exp.Mul():
                found: _Terms = {}
                for one, factor in left.items():
                    for two, by in right.items():
                        found = _sum(found, {tuple(sorted((*one, *two))): factor * by})
                return found
        if names:
            raise self._refused(
                node,
                "this divides by a measure, which may be 0 or nearly so; expected a number after "
                "the /. Publish both totals and divide those.",
            )
        by = right[()]
        if not by:
            raise self._refused(node, "this divides by 0; expected another number.")
        return _times(left, 1 / by)

    def _literal(self, node: exp.Expr) -> Fraction:
        try:
            number = rational(node.this, "the number")
        except InputError as error:
            raise self._refused(node, str(error)) from None
        if max(number.numerator, number.denominator) > MOST:
            raise self._refused(node, "expected a number of at most 37 digits.")
        return number

    def _refused(self, node: exp.Expr, message: str) -> SQLTextError:
        return refuse(node, self.text, self.what, message)


def _times(terms: _Terms, factor: Fraction) -> _Terms:
    return {names: each * factor for names, each in terms.items()}


def _sum(left: _Terms, right: _Terms) -> _Terms:
    found = dict(left)
    for names, factor in right.items():
        found[names] = found.get(names, Fraction(0)) + factor
    return found


def _number(value: Fraction) -> str:
    """Return a number as it would be typed: a fraction whose decimals do not end, in brackets."""
    written = shown(value)
    return f"({written.replace('/', ' / ')})" if "/" in written else written
