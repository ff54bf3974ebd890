"""How a loss grows with the size of a measure where it is neither a power nor pieces (T26).

To add one: a file with a frozen dataclass below `Growth`, its name in `GROWTHS` of `reading.py`,
and how `Policy` builds it. Losses, sums, comparisons, words and documents then follow from its
methods.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from perrecord.policy.loss import Loss

Floats = npt.NDArray[np.float64]


class Growth(ABC):
    """A public function g of the size |x| of a measure, in the policy's own currency.

    What comparisons rest on, and each growth proves of itself: g(0) = 0; g > 0 beyond; g never
    falls; and what `at_corner` says. Parameters are fields that hold fractions.
    """

    kind: ClassVar[str]
    """Its type in a document."""

    power: ClassVar[int]
    """How losses of its currency grow: 2 under zCDP, 1 under pure epsilon."""

    wholes: ClassVar[tuple[str, ...]] = ()
    """Parameters that are whole numbers, and written as nothing else."""

    optional: ClassVar[tuple[str, ...]] = ()
    """Parameters that may be missing: words speak by them, and no loss depends on them."""

    @abstractmethod
    def loss(self, size: Fraction) -> Loss:
        """Return g(size), as a rational rounded up if it is not one itself."""

    def change(self, before: Fraction, after: Fraction) -> Loss:
        """Return what it costs a total with noise of this loss to replace a value by another."""
        return self.loss(abs(after - before))

    def at_corner(self, size: Fraction) -> Fraction:
        """Return a number c with g(k size) <= c k^power for every whole k >= 1.

        It is g(size) where g(k x) <= k^power g(x) for every x.
        """
        return self.loss(size).amount

    @abstractmethod
    def limit(self) -> Fraction | None:
        """Return a number that g never exceeds; None if it grows without limit."""

    @abstractmethod
    def steepest(self, power: int) -> Fraction | None:
        """Return a number c with g(x) <= c x^power for every x; None if none is known."""

    @abstractmethod
    def pays_for(self, other: "Growth") -> Fraction | None:
        """Return a number c > 0 with c * other(x) <= g(x) for every x; None if none is known."""

    @abstractmethod
    def formula(self, size: str) -> str:
        """Return g of a size that is given as text, on one line."""

    @abstractmethod
    def words(self, measure: str, amount: Fraction) -> str:
        """Return so many times g in plain English, such as "twice the logarithm of ..."."""

    @abstractmethod
    def latex(self, size: str) -> str:
        """Return g of a size as a LaTeX formula."""

    @abstractmethod
    def sql(self, size: str) -> str:
        """Return g of a DOUBLE as SQL, about right: no guarantee rests on it."""

    def floats(self, sizes: Floats) -> Floats | None:  # noqa: ARG002
        """Return g of sizes that were rounded to floats, rounded up by 2^-44 of it at most.

        None where it is found exactly, size by size.
        """
        return None

    def check_grid(self, step: Fraction) -> None:  # noqa: B027 - most losses hold on any grid
        """Refuse a grid on which a number whose noise has this loss would cost more."""

    def usual_sizes(self) -> tuple[Fraction, ...]:
        """Return round sizes from which on the loss matters, for pictures, if any are known."""
        return ()

    def parameters(self) -> dict[str, Fraction]:
        """Return what the growth is written down by."""
        return {name: getattr(self, name) for name in self.names()}

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the parameters that it must have."""
        every = [each.name for each in fields(cls)]  # type: ignore[arg-type]
        return tuple(name for name in every if name not in cls.optional)

    @classmethod
    def of(cls, parameters: Mapping[str, Fraction]) -> "Growth":
        """Return the growth of these parameters, or say what is wrong with them."""
        return cls(**parameters)
