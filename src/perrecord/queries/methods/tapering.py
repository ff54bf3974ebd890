"""Tapering: Student noise, under which a loss grows like the logarithm of a record's size (T26).

Blurring: the same, and the noise grows with the cell's own records (T28).
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import QueryError, ThresholdError, about, listing
from perrecord.exact import Exact, parameter, text
from perrecord.laws.scales import Scale, student_scale
from perrecord.laws.tapering import power_of
from perrecord.policy.blurring import BlurredEpsilon, BlurredRho, blurred, blurred_growth
from perrecord.policy.growth import Growth
from perrecord.policy.policy import Policy
from perrecord.policy.split import measure_name
from perrecord.policy.tapering import TaperedEpsilon, TaperedRho, student_loss, tapered
from perrecord.policy.terms import Currency, Form, SizeLoss
from perrecord.queries.methods.blurring import Widening
from perrecord.queries.methods.method import Method
from perrecord.tables.roles import Roles

TaperedGrowth = TaperedRho | TaperedEpsilon | BlurredRho | BlurredEpsilon


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Taper:
    """For each measure the size of a record that loses what an answer costs; larger ones lose more.

    While a record is small compared with the noise, one three times as large loses up to nine times
    as much; eventually losses grow like the logarithm, and ten times the size adds 18.4. `nu` is 7,
    or 3 for losses that eventually grow half as fast and noise with more outliers.

    >>> Taper(employees=50, payroll=5_000_000)
    Taper(employees=50, payroll=5000000)
    """

    sizes: tuple[tuple[str, Fraction], ...]
    nu: int

    def __init__(
        self, sizes: Mapping[str, Exact] | None = None, *, nu: int = 7, **more: Exact
    ) -> None:
        if sizes is not None and not isinstance(sizes, Mapping):
            raise ThresholdError(
                f"a taper is a {type(sizes).__name__}; expected a size for each measure, such as "
                'Taper(employees=50) or Taper({"employees": 50}).'
            )
        given = {**(sizes or {}), **more}
        if not given:
            raise ThresholdError(
                "a taper names no measure; give at least one, such as Taper(employees=50)."
            )
        power_of(nu)
        checked = sorted((measure_name(name), _size(name, given[name])) for name in given)
        object.__setattr__(self, "sizes", tuple(checked))
        object.__setattr__(self, "nu", nu)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that it has a size for."""
        return tuple(name for name, _ in self.sizes)

    def size(self, measure: str) -> Fraction:
        """Return the size of a record that loses what an answer costs."""
        for name, size in self.sizes:
            if name == measure:
                return size
        raise QueryError(
            f"the taper has no size for {measure!r}; it has one for {listing(self.measures)}."
        )

    def __repr__(self) -> str:
        shown = [f"{name}={text(size)}" for name, size in self.sizes]
        return f"Taper({', '.join([*shown, *([] if self.nu == 7 else [f'nu={self.nu}'])])})"


def taper_of(given: Exact | Taper | None, measure: str) -> Taper | None:
    """Return the taper that an answer was given; a size is that of the answer's own measure."""
    if given is None or isinstance(given, Taper):
        return given
    with about("taper"):
        return Taper({measure: given})


def _size(name: str, value: Exact) -> Fraction:
    size = parameter(value, f"the size of {measure_name(name)!r}")
    if size <= 0:
        raise ThresholdError(
            f"the size of {name!r} is {value}; expected a number above 0: how large a record is "
            "that loses what the answer costs."
        )
    return size


@dataclass(frozen=True, slots=True)
class StudentMethod(Method):
    """What every method says of itself whose noise is Student's."""

    taper: Taper

    def sensitivity(self, measure: str | None, *, is_centred: bool = False) -> Fraction:  # noqa: ARG002
        """Return how large a record is that loses the amount, in the measure's own units."""
        return self.taper.size(measure or "")

    @abstractmethod
    def growth(self, amount: Fraction, size: Fraction, currency: Currency) -> TaperedGrowth:
        """Return the loss under which a record of this size loses the amount."""

    @abstractmethod
    def growth_of(self, spread: Fraction, at: Fraction, currency: Currency) -> Growth:
        """Return the loss in cells of this noise, of a taper that was written with a size."""

    def scale(self, measure: str | None, currency: Currency, *, is_centred: bool = False) -> Scale:
        """Return the noise that the method asks for; of a blurred total the least."""
        size = self.sensitivity(measure, is_centred=is_centred)
        growth = self.growth(self.amount, size, currency)
        return student_scale(growth.spread, self.taper.nu)

    def policy(
        self,
        measure: str | None,
        currency: Currency,
        cell: Scale,
        *,
        is_centred: bool = False,  # noqa: ARG002
    ) -> Policy:
        """Return what a record loses in a cell of this noise, by its size."""
        growth = self.growth_of(cell.size, self.taper.size(measure or ""), currency)
        return Policy(currency, Form((SizeLoss(Fraction(1), measure or "", growth),)))

    def bound(self, measure: str | None) -> Fraction | None:  # noqa: ARG002
        """Return None: a record is as large as it is."""
        return None

    def check(self, answer: str, roles: Roles) -> None:  # noqa: ARG002
        """Refuse sizes of what are no measures of the table."""
        for name in self.taper.measures:
            roles.resolution(name)

    def grid_numbers(self, measure: str) -> tuple[tuple[str, Fraction], ...]:
        """Return the numbers that must be multiples of the resolution, each with its word."""
        return (("size", self.taper.size(measure)),)

    @property
    def option(self) -> str:
        """The option of an answer by which it is given."""
        return "taper"

    @property
    def is_gaussian(self) -> bool:
        """Whether its noise under zCDP is Gaussian: it is Student's."""
        return False


@dataclass(frozen=True, slots=True)
class Tapering(StudentMethod):
    """Noise is Student's, so that a record of the taper's size loses the amount (T26).

    Where the cell's noise is wider because of a public size, the record loses less (T28).
    """

    widening: Widening | None = None

    def growth(self, amount: Fraction, size: Fraction, currency: Currency) -> TaperedGrowth:
        """Return the loss under which a record of this size loses the amount."""
        return tapered(currency.power, amount, size, self.taper.nu)

    def growth_of(self, spread: Fraction, at: Fraction, currency: Currency) -> Growth:
        """Return the loss in cells of this noise, of a taper that was written with a size."""
        return student_loss(currency.power, spread, self.taper.nu, at)

    @property
    def kind(self) -> str:
        """What the method is called where answers are told apart."""
        return "tapered"

    def words(self, measure: str) -> str:
        """Return how the method treats records, for people."""
        tapered = f"noise tapered at {text(self.taper.size(measure))}, nu = {self.taper.nu}"
        if self.widening is None:
            return tapered
        return f"{tapered}, blurred by {text(self.widening.by)} of a public size of each cell"


@dataclass(frozen=True, slots=True)
class Blurring(StudentMethod):
    """Student noise that grows with the records of the cell itself: A = A0 + nu by^2 Q (T28).

    Q is the sum of their squared values, and is confidential, as the noise's size is then.
    """

    by: Fraction
    is_signed: bool = False
    """Whether values may be below 0; then the noisy number has no interval."""

    def check(self, answer: str, roles: Roles) -> None:
        """Refuse bounds that hold for no value below 0 where records are changes."""
        StudentMethod.check(self, answer, roles)
        if roles.is_linked and not self.is_signed:
            raise QueryError(
                "the records are changes between two periods, which may be negative, and the "
                "bounds of a blurred total hold where no value is; write signed: true, in Python "
                'Blur("0.1", signed=True), which leaves them out.'
            )

    def growth(self, amount: Fraction, size: Fraction, currency: Currency) -> TaperedGrowth:
        """Return the loss under which a record of this size loses the amount."""
        return blurred(currency.power, amount, size, self.by, self.taper.nu)

    def growth_of(self, spread: Fraction, at: Fraction, currency: Currency) -> Growth:
        """Return the loss where this is the noise of a cell without records."""
        return blurred_growth(currency.power, spread, self.by, self.taper.nu, at)

    @property
    def kind(self) -> str:
        """What the method is called where answers are told apart."""
        return "blurred"

    def words(self, measure: str) -> str:
        """Return how the method treats records, for people."""
        return (
            f"noise tapered at {text(self.taper.size(measure))}, nu = {self.taper.nu}, and blurred "
            f"by {text(self.by)} of the size of each record"
        )
