"""The expressions of filters and derived dimensions, as a small closed set of frozen values.

Each is a function of one row with SQL's three-valued logic. The set is chosen so that no row,
whatever it holds, makes an engine raise an error, and so that every engine gives the same value.
What is missing is missing for that reason: arithmetic can overflow, letter case and calendars
differ between engines. Dates are text, and their parts are parts of it.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from perrecord.errors import QueryError
from perrecord.exact import parameter

LEAST_INTEGER, GREATEST_INTEGER = -(2**63), 2**63 - 1
"""What a column of whole numbers, or the grid of a measure, can hold in an engine."""

Value = str | int | bool | Fraction | None
"""What a literal, a field of a record or an expression's result can be."""

_MOST_CHARACTERS = 1_000_000
_MOST_WILDCARDS = 8
_MOST_JOINED = 100


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a column; the name is taken as it is written, upper and lower case apart."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant: text, a number exactly as written, a truth value or NULL.

    >>> Literal(Fraction(4, 2)).value, Literal(True) == Literal(1)
    (2, False)
    """

    value: Value

    def __post_init__(self) -> None:
        match self.value:
            case bool() | None:
                return
            case str() as text:
                if any("\ud800" <= character <= "\udfff" for character in text):
                    raise QueryError("the text holds half a character (a lone surrogate).")
            case int() | Fraction():
                object.__setattr__(self, "value", _number(self.value))
            case _:
                raise QueryError(
                    f"a {type(self.value).__name__} cannot be a literal; "
                    "expected text, int, bool, Fraction or None."
                )

    def __eq__(self, other: object) -> bool:
        # Python holds True and 1 equal; SQL does not let them meet.
        return (
            isinstance(other, Literal)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


def _number(value: int | Fraction) -> int | Fraction:
    exact = parameter(value, "a number")
    if exact.denominator == 1:
        return exact.numerator
    rest = exact.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        raise QueryError("a number's decimals never end; expected a decimal such as 12.5.")
    return exact


class Operator(Enum):
    """How two values are compared; NULL on either side gives NULL."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left = right` and its kin."""

    operator: Operator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Distinct:
    """`left IS DISTINCT FROM right`: never NULL, and NULL is the same as NULL."""

    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class IsNull:
    """`operand IS NULL`: never NULL itself."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class In:
    """`operand IN (options)`; a NULL among the options turns FALSE into NULL."""

    operand: "Expression"
    options: tuple[Literal, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise QueryError("IN needs at least one value, such as state IN ('NC', 'VA').")


@dataclass(frozen=True, slots=True)
class Like:
    """`operand LIKE pattern`: `%` is any text, `_` one code point, all else is itself."""

    operand: "Expression"
    pattern: str

    def __post_init__(self) -> None:
        # Engines search with backtracking: many wildcards can take for ever on a long text.
        if self.pattern.count("%") > _MOST_WILDCARDS:
            raise QueryError(f"a pattern may hold at most {_MOST_WILDCARDS} % signs.")
        Literal(self.pattern)


@dataclass(frozen=True, slots=True)
class Not:
    """`NOT operand`; NULL stays NULL."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class And:
    """FALSE if any part is, else NULL if any part is, else TRUE."""

    parts: tuple["Expression", ...]

    def __post_init__(self) -> None:
        _several(self.parts, "AND")


@dataclass(frozen=True, slots=True)
class Or:
    """TRUE if any part is, else NULL if any part is, else FALSE."""

    parts: tuple["Expression", ...]

    def __post_init__(self) -> None:
        _several(self.parts, "OR")


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE WHEN condition THEN result ... ELSE otherwise END`."""

    branches: tuple[tuple["Expression", "Expression"], ...]
    otherwise: "Expression" = Literal(None)

    def __post_init__(self) -> None:
        if not self.branches:
            raise QueryError("CASE needs at least one WHEN ... THEN ...")


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first part that is not NULL."""

    parts: tuple["Expression", ...]

    def __post_init__(self) -> None:
        _several(self.parts, "COALESCE")


@dataclass(frozen=True, slots=True)
class Substring:
    """`length` code points of a text from the `start`-th, counted from 1; fewer if it ends."""

    operand: "Expression"
    start: int
    length: int

    def __post_init__(self) -> None:
        if not 1 <= self.start <= _MOST_CHARACTERS:
            raise QueryError(f"a substring starts at a whole number from 1 to {_MOST_CHARACTERS}.")
        if not 0 <= self.length <= _MOST_CHARACTERS:
            raise QueryError(f"a substring's length is a whole number up to {_MOST_CHARACTERS}.")


@dataclass(frozen=True, slots=True)
class Concat:
    """The texts joined; NULL if any part is NULL."""

    parts: tuple["Expression", ...]

    def __post_init__(self) -> None:
        _several(self.parts, "||")
        if len(self.parts) > _MOST_JOINED:
            raise QueryError(f"|| joins at most {_MOST_JOINED} texts.")


@dataclass(frozen=True, slots=True)
class AsText:
    """`CAST(operand AS VARCHAR)` of a whole number: its decimal digits."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Quotient:
    """`operand // divisor` on whole numbers, cut towards zero."""

    operand: "Expression"
    divisor: int

    def __post_init__(self) -> None:
        _check_divisor(self.divisor)


@dataclass(frozen=True, slots=True)
class Remainder:
    """`operand % divisor`: what `//` leaves, with the sign of the operand."""

    operand: "Expression"
    divisor: int

    def __post_init__(self) -> None:
        _check_divisor(self.divisor)


DATE_UNITS = ("year", "quarter", "month", "day")
"""The units that a date is told and cut by."""


@dataclass(frozen=True, slots=True)
class DatePart:
    """`YEAR(operand)` and its like, a whole number; NULL where the text begins with no date."""

    unit: str
    operand: "Expression"

    def __post_init__(self) -> None:
        _check_unit(self.unit, "a part of a date")


@dataclass(frozen=True, slots=True)
class DateStart:
    """`DATE_TRUNC('month', operand)`: the first day of the unit as text, YYYY-MM-DD, or NULL."""

    unit: str
    operand: "Expression"

    def __post_init__(self) -> None:
        _check_unit(self.unit, "DATE_TRUNC")


Expression = (
    Column
    | Literal
    | Comparison
    | Distinct
    | IsNull
    | In
    | Like
    | Not
    | And
    | Or
    | Case
    | Coalesce
    | Substring
    | Concat
    | AsText
    | Quotient
    | Remainder
    | DatePart
    | DateStart
)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside this one, from left to right."""
    match expression:
        case Column() | Literal():
            return ()
        case Comparison(_, left, right) | Distinct(left, right):
            return (left, right)
        case In(operand, options):
            return (operand, *options)
        case And(parts) | Or(parts) | Coalesce(parts) | Concat(parts):
            return parts
        case Case(branches, otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case IsNull(operand) | Not(operand) | AsText(operand) | Like(operand):
            return (operand,)
        case Substring(operand) | Quotient(operand) | Remainder(operand):
            return (operand,)
        case DatePart(_, operand) | DateStart(_, operand):
            return (operand,)


def columns_of(expression: Expression) -> frozenset[str]:
    """Return the names of the columns that the expression reads.

    >>> sorted(columns_of(Or((Column("closed"), IsNull(Column("state"))))))
    ['closed', 'state']
    """
    found, waiting = set(), [expression]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Column):
            found.add(here.name)
        waiting.extend(parts_of(here))
    return frozenset(found)


def _several(parts: tuple[Expression, ...], name: str) -> None:
    if len(parts) < 2:
        raise QueryError(f"{name} needs at least two parts.")


def _check_divisor(divisor: int) -> None:
    if not 1 <= divisor <= GREATEST_INTEGER:
        raise QueryError("the divisor of // and % is a positive whole number below 2^63.")


def _check_unit(unit: str, what: str) -> None:
    if unit not in DATE_UNITS:
        raise QueryError(f"{what} is of the year, quarter, month or day; write one of these.")
