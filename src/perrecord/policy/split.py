"""Splitting schemes: public thresholds -> the number of pieces m(r), and the pieces (T3).

m(r) = max(1, max over the scheme's measures a of ceil(|r(a)| / T(a))).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from perrecord.errors import InputError, ThresholdError, listing, suggestion
from perrecord.exact import Exact, ceil_div, parameter, rational, text, whole
from perrecord.policy.cases import Case, Cases, Record, as_record, missing_field

_MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True, init=False)
class Split:
    """A scheme with one threshold per measure: a record is cut until no piece exceeds any.

    Thresholds are exact: an int, a Fraction or decimal text. They are public and fixed before
    the data is read; thresholds computed from the data void the guarantee.

    >>> scheme = Split(employees=50, payroll=5_000_000)
    >>> scheme.pieces({"employees": 150, "payroll": 10_000_000})
    3
    >>> scheme.pieces({"employees": 0, "payroll": 0})   # still one record
    1

    Measures whose names are not Python names go in a dictionary: `Split({"annual pay": 500})`.
    """

    thresholds: tuple[tuple[str, Fraction], ...]
    cap: int | None

    def __init__(self, thresholds: Mapping[str, Exact] | None = None, /, **named: Exact) -> None:
        first = {} if thresholds is None else thresholds
        if not isinstance(first, Mapping):
            raise ThresholdError(
                f"the thresholds are a {type(first).__name__}; name the measures, such as "
                "Split(employees=50)."
            )
        twice = sorted(first.keys() & named.keys())
        if twice:
            raise ThresholdError(f"the scheme names {listing(twice)} twice; name each once.")
        given: dict[str, Exact] = {**first, **named}
        if not given:
            raise ThresholdError(
                "the scheme names no measure; give at least one, such as Split(employees=50)."
            )
        checked = sorted(
            [(measure_name(name), positive_threshold(name, given[name])) for name in given]
        )
        object.__setattr__(self, "thresholds", tuple(checked))
        object.__setattr__(self, "cap", None)

    @staticmethod
    def by(
        dimensions: str | tuple[str, ...],
        cases: Mapping[Case, "Split | SplitBy"],
        default: "Split | SplitBy | None" = None,
    ) -> "SplitBy":
        """Return a piecewise scheme: thresholds looked up by the record's own dimensions.

        >>> scheme = Split.by(
        ...     "industry",
        ...     {"Mining": Split(employees=50, payroll=10_000_000)},
        ...     default=Split(employees=50, payroll=5_000_000),
        ... )
        >>> scheme.pieces({"industry": "Mining", "employees": 50, "payroll": 10_000_000})
        1

        Several dimensions: `Split.by(("state", "industry"), {("TX", "Mining"): ...})`.
        """
        table = Cases.of(dimensions, cases, default)
        for scheme in table.values():
            if not isinstance(scheme, Split | SplitBy):
                raise InputError(
                    f"a case of Split.by is a {type(scheme).__name__}; expected a Split, "
                    'such as {"Mining": Split(employees=50)}.'
                )
        return SplitBy(table)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures the scheme reads, sorted."""
        return tuple(name for name, _ in self.thresholds)

    def threshold(self, measure: str) -> Fraction:
        """Return the threshold of one measure."""
        known = dict(self.thresholds)
        if measure not in known:
            raise ThresholdError(
                f"the scheme has no threshold for {measure!r}. It has {listing(known)}."
                f"{suggestion(str(measure), known)}"
            )
        return known[measure]

    def capped(self, pieces: int) -> "Split":
        """Return the scheme with at most this many pieces; values beyond are clamped (T3).

        Wherever split rows are written out a cap is needed, so that one giant cannot exhaust
        memory. It is public, like a threshold, and bounds the loss.
        """
        if whole(pieces, "the cap") < 1:
            raise ThresholdError(f"the cap is {pieces!r}; expected a whole number of at least 1.")
        capped = Split(dict(self.thresholds))
        object.__setattr__(capped, "cap", whole(pieces, "the cap"))
        return capped

    def pieces(self, record: Record) -> int:
        """Return m(r), the number of pieces the record is split into."""
        record = as_record(record)
        most = 1
        for name, threshold in self.thresholds:
            value = measure(record, name)
            if value:
                size = value if value > 0 else -value
                parts = ceil_div(
                    size.numerator * threshold.denominator, size.denominator * threshold.numerator
                )
                most = max(most, parts)
        return most if self.cap is None or most <= self.cap else self.cap

    def rows(self, record: Record) -> list[dict[str, object]]:
        """Return the pieces as rows: full ones first, then the rest, then zeros; signs kept.

        What the scheme does not name (id, dimensions) is copied into every row; a null measure
        stays null. The rows add up to the record, or to the clamped record under a cap.

        >>> for row in Split(employees=5).rows({"id": 7, "employees": 12}):
        ...     print(row)
        {'id': 7, 'employees': 5}
        {'id': 7, 'employees': 5}
        {'id': 7, 'employees': 2}
        """
        record = as_record(record)
        count = self.pieces(record)
        if count > _MOST_ROWS:
            raise ThresholdError(
                f"the record splits into more than {_MOST_ROWS:,} rows; limit them with "
                ".capped(...), or ask only for .pieces(record)."
            )
        shares = {
            name: _shares(value, threshold, count)
            for name, threshold in self.thresholds
            if (value := measure(record, name)) is not None
        }
        return [
            {**record, **{name: share[index] for name, share in shares.items()}}
            for index in range(count)
        ]

    def at(self, record: Record) -> "Split":  # noqa: ARG002 - the record matters to SplitBy
        """Return the plain scheme that applies to the record: this one."""
        return self

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={text(threshold)}" for name, threshold in self.thresholds)
        return f"Split({inside})" + ("" if self.cap is None else f".capped({self.cap})")


@dataclass(frozen=True, slots=True)
class SplitBy:
    """A piecewise scheme, made with `Split.by`: thresholds by the record's own dimensions."""

    cases: "Cases[Split | SplitBy]"

    def at(self, record: Record) -> Split:
        """Return the plain scheme that applies to the record."""
        record = as_record(record)
        return self.cases.at(record).at(record)

    def pieces(self, record: Record) -> int:
        """Return m(r), the number of pieces the record is split into."""
        return self.at(record).pieces(record)

    def rows(self, record: Record) -> list[dict[str, object]]:
        """Return the pieces as rows, as `Split.rows` does."""
        return self.at(record).rows(record)

    def capped(self, pieces: int) -> "SplitBy":
        """Return the scheme with at most this many pieces in every case."""
        return SplitBy(self.cases.map(lambda scheme: scheme.capped(pieces)))

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that any of the cases reads, sorted."""
        return tuple(sorted({name for scheme in self.cases.values() for name in scheme.measures}))

    def __repr__(self) -> str:
        names = self.cases.dimensions
        shown = repr(names[0]) if len(names) == 1 else repr(names)
        return f"Split.by({shown}, {len(self.cases.entries)} cases, default={self.cases.default})"


Scheme = Split | SplitBy


def measure(record: Record, name: str) -> int | Fraction | None:
    """Return a record's measure exactly; None (NULL) stays None and counts as 0 in sums (T15).

    A Decimal that is NaN or infinite is taken as NULL, here as in every engine.
    """
    try:
        value = record[name]
    except KeyError:
        raise missing_field("measure", name, record) from None
    if type(value) is int or value is None:
        return value
    if isinstance(value, Decimal) and not value.is_finite():
        return None
    return rational(value, f"the record's measure {name!r}")


def measure_name(name: object) -> str:
    """Return the name of a measure, or explain why it is none."""
    if not isinstance(name, str) or not name:
        raise ThresholdError(f"the measure is {name!r}; expected the name of a column.")
    return name


def positive_threshold(name: str, value: object) -> Fraction:
    """Return the threshold exactly, or explain why it is none."""
    threshold = parameter(value, f"the threshold of {measure_name(name)!r}")
    if threshold <= 0:
        raise ThresholdError(
            f"the threshold of {name!r} is {value}; expected a number above 0: "
            "the most that one piece may hold."
        )
    return threshold


def _shares(value: int | Fraction, threshold: Fraction, count: int) -> list[int | Fraction]:
    sign, left = (1, value) if value > 0 else (-1, -value)
    shares: list[int | Fraction] = []
    for _ in range(count):
        share = min(left, threshold)
        left -= share
        whole = int(share) if share.denominator == 1 else share
        shares.append(sign * whole)
    return shares
