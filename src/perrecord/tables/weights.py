"""Survey weights: a measure of its own, and a derived measure w * x for each measure x (T36).

A weighted total is the total of the products, so its policy is that of the product: the weight is a
part of the record. A weighted number of records is the total of the weights. Products are exact:
their grid is the product of both grids, and each factor is held to its own largest value first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import SchemaError
from perrecord.exact import Exact, text
from perrecord.tables.arithmetic import Arithmetic
from perrecord.tables.measures import LARGEST, Measure

_PREFIX = "weighted_"
_CALIBRATED = (
    "weights that were calibrated, raked or adjusted for non-response depend on other records: "
    "without one record the weights of others would be different, so what a record loses cannot be "
    "said from that record alone. Freeze the weights from public or earlier data and declare them "
    "without `calibrated`, or publish totals with the weights of the design and calibrate the "
    "published table."
)


@dataclass(frozen=True, slots=True, init=False)
class Weight:
    """The column of a survey's weights, its grid, and the largest weight; beyond it: cut.

    >>> emp = Measure(1, largest=10_000)
    >>> found = weighted({"emp": emp}, Weight("w", "0.001", largest=100))
    >>> list(found), found["weighted_emp"].expression, found["weighted_emp"].resolution
    (['w', 'emp', 'weighted_emp'], Arithmetic(emp * w), Fraction(1, 1000))
    >>> Weight("w", largest=100, calibrated=True)
    Traceback (most recent call last):
    perrecord.errors.SchemaError: weights that were calibrated, raked or adjusted for ...
    """

    column: str
    measure: Measure

    def __init__(
        self, column: str, resolution: Exact = 1, *, largest: Exact, calibrated: bool = False
    ) -> None:
        if calibrated:
            raise SchemaError(_CALIBRATED, about=("calibrated",))
        object.__setattr__(self, "column", column)
        measure = Measure(resolution, largest=largest, outside="cut")
        object.__setattr__(self, "measure", measure)

    def times(self, name: str, other: Measure) -> Measure:
        """Return the weight times a measure, exactly; beyond 64 bits of steps it is cut or NULL."""
        step = self.measure.resolution * other.resolution
        most = min(self.measure.largest * other.largest, LARGEST)
        names = tuple(sorted((self.column, name)))
        try:
            return Measure(
                step,
                expression=Arithmetic(((names, Fraction(1)),), names),
                largest=most * step,
                outside=other.outside,
            )
        except SchemaError:
            raise SchemaError(
                f"the weight {self.column!r} times {name!r} has steps of {text(step)}, which are "
                "too fine to be counted; declare a coarser resolution for one of them."
            ) from None


def weighted_name(name: str) -> str:
    """Return what a measure times the weight is called."""
    return f"{_PREFIX}{name}"


def weighted(measures: Mapping[str, Measure], weight: Weight) -> dict[str, Measure]:
    """Return the weight, the measures, and each of them times the weight."""
    if weight.column in measures:
        raise SchemaError(
            f"{weight.column!r} is declared as the weight and as a measure; leave it out of the "
            "measures: the weight is one."
        )
    products = {weighted_name(name): weight.times(name, each) for name, each in measures.items()}
    if twice := sorted(products.keys() & {*measures, weight.column}):
        raise SchemaError(
            f"{twice[0]!r} is what the table calls a measure times its weight; give the measure of "
            "that name another one."
        )
    return {weight.column: weight.measure, **measures, **products}


def resolutions(
    measures: Mapping[str, Fraction], weight: tuple[str, Fraction] | None
) -> dict[str, Fraction]:
    """Return the resolutions of what `weighted` gives, from those that are declared."""
    if weight is None:
        return dict(measures)
    column, step = weight
    return {
        column: step,
        **measures,
        **{weighted_name(name): each * step for name, each in measures.items()},
    }
