"""Public sizes of cells, such as last year's published totals: what noise may grow with (T28)."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from perrecord.errors import InputError, listing
from perrecord.exact import text
from perrecord.tables.keys import Keys
from perrecord.tables.public_files import PublicList, read_columns
from perrecord.tables.reading import SWAPPED, File
from perrecord.tables.rows import in_order
from perrecord.tables.written import parsed

SIZE = "size"
"""What the column of sizes is called where it is not called like the measure."""


class PublicSizes:
    """A public size of each key, in a measure's own units; a key that is not listed has size 0.

    >>> sizes = PublicSizes({"county": ["Kent", "York"], "emp": [1200, 35]}, "emp")
    >>> sizes.columns, sizes.numbers
    (('county',), (Fraction(1200, 1), Fraction(35, 1)))
    """

    __slots__ = ("keys", "numbers")

    keys: Keys
    numbers: tuple[Fraction, ...]
    """In the order of the keys."""

    def __init__(self, source: PublicList, measure: str) -> None:
        table = read_columns(source, "scale", has_numbers=True)
        has_commas = isinstance(source, File) and source.decimal == ","
        names = table.column_names
        shown = measure if measure in names else SIZE
        if shown not in names or len(set(names)) < len(names):
            raise InputError(
                f"the scale has the columns {listing(names)}; expected each once, and the sizes "
                f"under {measure!r} or {SIZE!r}."
            )
        grouped = [name for name in names if name != shown]
        if not grouped:
            raise InputError(
                "the scale has no column but the sizes; expected the columns that the query groups "
                "by, too."
            )
        self.keys = Keys.from_columns(table.select(grouped))
        if len(self.keys) < table.num_rows:
            raise InputError(
                f"the scale has {table.num_rows:,} rows and {len(self.keys):,} different keys "
                f"({listing(grouped)}); give each key one size."
            )
        rows = table.select(grouped).cast(self.keys.schema).append_column(shown, table[shown])
        sizes = in_order(rows, len(grouped))[shown]
        self.numbers = tuple(
            _size(each.translate(SWAPPED) if has_commas and each is not None else each)
            for each in sizes.to_pylist()
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values the sizes are looked up by."""
        return self.keys.columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PublicSizes):
            return NotImplemented
        return self.keys == other.keys and self.numbers == other.numbers

    def __hash__(self) -> int:
        return hash((self.keys, self.numbers))

    def __repr__(self) -> str:
        return f"PublicSizes({len(self.numbers):,} of {listing(self.columns)})"


def _size(value: object) -> Fraction:
    """Return a size as the number that is written; the file is public, so it may be quoted."""
    number = parsed(value) if isinstance(value, str) else value
    if isinstance(number, float | np.floating):
        number = Decimal(str(number))  # the decimal that was written into it
    if isinstance(number, Decimal) and not number.is_finite():
        number = None
    if isinstance(number, bool) or not isinstance(number, int | Decimal | Fraction):
        raise InputError(
            f"a size of the scale is {value!r}; expected a number of 0 or more. Leave out keys "
            "without a size: they count as 0."
        )
    if number < 0:
        raise InputError(f"a size of the scale is {text(Fraction(number))}; expected 0 or more.")
    return Fraction(number)


def two_digits_up(number: Fraction) -> Fraction:
    """Return the least number of two decimal digits that is not below.

    >>> two_digits_up(Fraction(1201)), two_digits_up(Fraction(1, 3))
    (Fraction(1300, 1), Fraction(17, 50))
    """
    if not number:
        return number
    exponent = len(str(number.numerator)) - len(str(number.denominator))
    unit = Fraction(10) ** exponent  # the number lies between a tenth and ten of it
    unit /= 10 if number >= unit else 100
    return -(-number // unit) * unit
