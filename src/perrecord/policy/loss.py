"""A loss as a rational number that is never below it, and whether it is the loss itself (T26).

Losses are rational where they are powers or numbers of pieces, and irrational where logarithms or
exponentials come in. What is charged is then a rational rounded up by less than one part in 2^90.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import InputError
from perrecord.exact import figure_up, text

GOOD_BITS = 90
"""An amount that is not exact is above the loss by less than one part in two to the power of this.

Sums, multiples and maxima of losses keep it."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss of at most `amount`; with `is_exact`, of just that.

    >>> Loss(Fraction(1, 10)) + Loss(Fraction(3, 8), is_exact=False)
    Loss(amount=Fraction(19, 40), is_exact=False)
    >>> print(Loss(Fraction(1, 10))), print(Loss(Fraction(1, 3), is_exact=False))
    0.1
    at most 0.333334
    (None, None)
    """

    amount: Fraction
    is_exact: bool = True

    def __post_init__(self) -> None:
        if self.amount < 0:
            raise InputError(f"a loss is {self.amount}; expected a number that is not negative.")

    @property
    def least(self) -> Fraction:
        """A number that the loss is not below."""
        return self.amount if self.is_exact else self.amount * (1 - Fraction(1, 1 << GOOD_BITS))

    def is_at_most(self, other: "Loss | Fraction") -> bool:
        """Tell whether the loss is at most another; a yes is certain, a no is not.

        >>> third = Loss(Fraction(1, 3), is_exact=False)
        >>> third.is_at_most(Fraction(1, 3)), Loss(Fraction(1, 3)).is_at_most(third)
        (True, False)
        """
        return self.amount <= (other.least if isinstance(other, Loss) else other)

    def is_above(self, other: "Loss | Fraction") -> bool:
        """Tell whether the loss is above another; a yes is certain, a no is not."""
        return self.least > (other.amount if isinstance(other, Loss) else other)

    def __add__(self, other: "Loss") -> "Loss":
        if not isinstance(other, Loss):
            return NotImplemented
        return Loss(self.amount + other.amount, self.is_exact and other.is_exact)

    def times(self, factor: Fraction) -> "Loss":
        """Return so many times the loss; nothing, exactly, for none."""
        return Loss(self.amount * factor, self.is_exact or not factor)

    def __str__(self) -> str:
        return text(self.amount) if self.is_exact else f"at most {figure_up(self.amount)}"


NOTHING = Loss(Fraction(0))
"""The loss of who does not take part."""


def total(losses: Iterable[Loss]) -> Loss:
    """Return the sum of losses, exact if all of them are (T4)."""
    return sum(losses, NOTHING)


def largest(losses: Iterable[Loss]) -> Loss:
    """Return the largest of losses; an exact one where it is as large as what the others may be.

    >>> largest([Loss(Fraction(1, 3), is_exact=False), Loss(Fraction(1, 3))]).is_exact
    True
    """
    return max(losses, key=lambda loss: (loss.amount, loss.is_exact), default=NOTHING)
