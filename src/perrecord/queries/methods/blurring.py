"""How noise is blurred: it grows with a public size of the cell, or with its records (T28)."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.errors import QueryError, about, listing
from perrecord.exact import Exact, parameter, text
from perrecord.queries.positions import Coded, Places
from perrecord.tables.public_files import PublicList
from perrecord.tables.sizes import PublicSizes, two_digits_up

_NONE = Fraction(0)


@dataclass(frozen=True, slots=True, init=False)
class Blur:
    """How noise grows: by a share of each record of the cell, or of a public size of the cell.

    `scale` is a table, or the path of a CSV or Parquet file: the columns that the query groups by,
    and sizes under the name of the measure or under "size". Keys that it lacks have size 0. Without
    a scale the noise grows with the records, and its size is confidential: a total then has bounds
    instead of a standard error, or none if its values may be negative, `signed`.

    >>> Blur("0.1"), Blur("0.1", scale={"county": ["Kent"], "emp": [1200]})
    (Blur(1/10), Blur(1/10, scale=...))
    """

    by: Fraction
    scale: PublicList | None
    signed: bool

    def __init__(self, by: Exact, *, scale: PublicList | None = None, signed: bool = False) -> None:
        object.__setattr__(self, "by", _by(by))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "signed", signed)

    def __repr__(self) -> str:
        return f"Blur({self.by})" if self.scale is None else f"Blur({self.by}, scale=...)"


def _by(given: Exact) -> Fraction:
    by = parameter(given, "what a total is blurred by")
    if not 0 < by <= 1:
        raise QueryError(
            f"a total is blurred by {text(by)}; expected a number above 0 and at most 1, such as "
            "0.1 for ten per cent.",
            about=("by",),
        )
    return by


@dataclass(frozen=True, slots=True)
class Widening:
    """Noise that is wider in cells of greater public size: A = A0 + nu by^2 size^2."""

    by: Fraction
    sizes: PublicSizes

    def added(self, nu: int) -> tuple[Fraction, ...]:
        """Return nu by^2 size^2 of each key of the sizes, and 0 for all others at the end.

        They are rounded up to two digits: noise that is a little wider serves as well, and cells
        share a few hundred laws.
        """
        return (*(two_digits_up(nu * (self.by * each) ** 2) for each in self.sizes.numbers), _NONE)

    def positions(self, keys: pa.Table) -> npt.NDArray[np.int64]:
        """Return where the sizes have each cell; -1 where they do not, which is the end."""
        columns = {name: Coded.of(keys[name].combine_chunks()) for name in self.sizes.columns}
        return Places.of(self.sizes.keys.factors).positions(columns, keys.num_rows)

    def check(self, columns: tuple[str, ...]) -> None:
        """Refuse a grouping of other columns than the scale has."""
        if sorted(columns) != sorted(self.sizes.columns):
            raise QueryError(
                f"the scale has sizes by {listing(self.sizes.columns)}, and the query groups by "
                f"{listing(columns) or 'nothing'}; a scale has the columns of the one grouping "
                "that it is for. Ask for others in a query of their own.",
                about=("scale",),
            )


@dataclass(frozen=True, slots=True)
class OwnBlur:
    """Noise that grows with the cell's own records: A = A0 + nu by^2 Q."""

    by: Fraction
    is_signed: bool


def blur_of(given: Exact | Blur | None, measure: str) -> Widening | OwnBlur | None:
    """Return the blur that an answer was given, its sizes read."""
    if given is None:
        return None
    with about("blur"):
        blur = given if isinstance(given, Blur) else Blur(given)
        if blur.scale is None:
            return OwnBlur(blur.by, blur.signed)
        with about("scale"):
            return Widening(blur.by, PublicSizes(blur.scale, measure))
