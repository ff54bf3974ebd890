"""The queries of a spec as frozen values: in parts, or as SQL with what SQL cannot say."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from perrecord.release.spec.declared import Sign, TextFileEntry
from perrecord.release.spec.entry import SHOWN, Entry
from perrecord.release.spec.scalars import (
    Amount,
    Bounds,
    Exact,
    Identifier,
    Names,
    Positive,
    SizeOrName,
    Text,
    TruthValue,
    Whole,
    short,
)

EVERY = "*"
"""The name under which an SQL query's option holds for every answer that takes it."""

FORMS = ("count", "count_distinct", "sum", "average", "median", "quantile")
"""What an answer may ask for: methods of `Query`."""

GROUPINGS = ("group_by", "grouping_sets", "rollup")

_PROGRESSION = {"from", "to", "step"}


def _candidates(value: Any) -> Any:
    return {"values": value} if isinstance(value, list) else value


class CandidatesEntry(Entry):
    """The public numbers that a quantile is chosen from: a list, or from, to and step."""

    values: Annotated[tuple[Exact, ...], Field(min_length=1)] | None = None
    """The numbers themselves."""
    first: Exact | None = Field(default=None, alias="from")
    """The least."""
    to: Exact | None = None
    """The greatest."""
    step: Positive | None = None
    """The distance from one to the next."""


CandidatesForm = Annotated[
    CandidatesEntry, short(_candidates, list[float | int | str] | CandidatesEntry)
]


def _blur(value: Any) -> Any:
    return value if isinstance(value, Mapping) else {"by": value}


class BlurEntry(TextFileEntry):
    """By which part of its records, or of a public size of its cell, the noise of a total grows."""

    by: Positive
    """The part, such as 0.1 for ten per cent."""
    scale: Text | None = None
    """A CSV or Parquet file: the columns of the grouping, and sizes as the measure or as size."""
    decimal: Sign | None = None
    """What stands before the decimals of sizes in a text file, if it is not a point."""
    signed: TruthValue = False
    """Without a scale: whether values may be negative; then the number has no interval."""


BlurForm = Annotated[BlurEntry, short(_blur, float | int | str | BlurEntry)]


class WeightingEntry(Entry):
    """By which measure the records of a quantile are weighed."""

    measure: Text
    """The weight: the table's own, or any other measure."""
    at: Positive
    """The weight of a record that loses the amount."""


class MethodEntry(Entry):
    """How the records of one part are made private: by splitting, clamping or tapering."""

    split: Text | None = None
    """The name of a splitting scheme."""
    clamp: Bounds | None = None
    """The bounds that values are cut to."""
    taper: SizeOrName | None = None
    """The size of a record that loses the amount, or the name of a taper."""
    rho: Exact | None = None
    """What it costs, under zCDP."""
    epsilon: Exact | None = None
    """What it costs, under pure differential privacy."""
    accounting: Literal["split", "exact"] | None = None
    """How a split total is charged."""


class PartsEntry(Entry):
    """A method for each part of a public partition of the records."""

    by: Text
    """The dimension whose value decides which part a record is in."""
    cases: Annotated[Mapping[str, MethodEntry], Field(min_length=1)]
    """The method for each value."""
    default: MethodEntry | None = None
    """The method for every other record."""


class AnswerEntry(Entry):
    """One answer of a query: a count, a total, a mean or a quantile, with its price."""

    count: Text | None = None
    """`records`, or a column: how many records, or how many where it is not NULL."""
    count_distinct: Text | None = None
    """A column: how many different values."""
    sum: Text | None = None
    """A measure: its total."""
    average: Text | None = None
    """A measure: its mean."""
    median: Text | None = None
    """A measure: its median."""
    quantile: Text | None = None
    """A measure: its quantile at the level."""
    level: Exact | None = Field(default=None)
    """For a quantile: from 0 to 1."""
    split: Text | None = None
    """For a total or mean: the name of a splitting scheme."""
    clamp: Bounds | None = None
    """For a total or mean: the bounds that values are cut to."""
    taper: SizeOrName | None = None
    """For a total or mean: the size of a record that loses the amount, or the name of a taper."""
    blur: BlurForm | None = None
    """For a tapered total: by which part of its records, or of a public size, the noise grows."""
    candidates: CandidatesForm | None = None
    """For a median or quantile: the public numbers to choose from."""
    weight: WeightingEntry | None = None
    """For a median or quantile: by which measure records are weighed."""
    parts: PartsEntry | None = None
    """For a total: a method for each part of a public partition."""
    rho: Amount | None = None
    """What it costs, under zCDP; of a mean, two numbers are for its total and its count."""
    epsilon: Amount | None = None
    """What it costs, under pure differential privacy."""
    accounting: Literal["split", "exact"] | None = None
    """How a split total is charged."""

    @property
    def form(self) -> str:
        """The first thing that it asks for."""
        return next((form for form in FORMS if getattr(self, form) is not None), FORMS[0])


def _for_every(value: Any) -> Any:
    return value if isinstance(value, Mapping) else {EVERY: value}


def _candidates_for_every(value: Any) -> Any:
    is_one = isinstance(value, Mapping) and value.keys() <= _PROGRESSION
    return {EVERY: value} if is_one else _for_every(value)


def whole_cells(value: Any) -> Any:
    """Return the cells of a query written out: named keys, a domain, or one for each set."""
    if isinstance(value, str):
        return {"keys": value}
    if not isinstance(value, Mapping):
        return value
    is_domain = "domain" in value and bool(value.keys() & {"keep", "at_least"})
    is_whole = isinstance(value.get("sets"), Mapping) or value.keys() == {"keys"}
    return value if is_domain or is_whole else {"sets": value}


def _blur_for_every(value: Any) -> Any:
    is_one = isinstance(value, Mapping) and value.keys() <= BlurEntry.model_fields.keys()
    return {EVERY: value} if is_one else _for_every(value)


def _weight_for_every(value: Any) -> Any:
    is_one = isinstance(value, Mapping) and value.keys() <= WeightingEntry.model_fields.keys()
    return {EVERY: value} if is_one else _for_every(value)


class CellsEntry(Entry):
    """Which cells a query publishes: named keys, the large cells of a domain, or one per set."""

    keys: Text | None = None
    """The name of a key set or of a selection."""
    domain: Text | None = None
    """The name of a domain, of which the large cells are kept."""
    keep: Text | None = None
    """For a domain: the answer that decides which cells are large."""
    at_least: Whole | None = None
    """For a domain: the noisy number that a cell must reach to be kept."""
    sets: "Mapping[str, CellsForm] | None" = None
    """For each grouping set, written as its columns with commas."""


CellsForm = Annotated[CellsEntry, short(whole_cells, str | dict[str, Any])]


class QueryEntry(Entry):
    """One query: filter, grouping and answers; or SQL with prices and methods by answer."""

    name: Identifier
    """The name of its table in the release: letters, digits, _ and -."""
    title: Annotated[Text | None, SHOWN] = None
    """What the published tables call it."""
    where: Text | None = None
    """The condition that a record meets."""
    group_by: Names | None = None
    """The columns to group by."""
    grouping_sets: tuple[Names, ...] | None = None
    """Several sets of columns; each is answered, and pays, by itself."""
    rollup: Names | None = None
    """All these columns, all but the last, ..., and the total."""
    keys: CellsForm | None = None
    """Which cells are published."""
    answers: Annotated[Mapping[str, AnswerEntry], Field(min_length=1)] | None = None
    """What is answered, by name."""
    sql: Text | None = None
    """Instead of where, group_by and answers: SELECT ... FROM ... WHERE ... GROUP BY ..."""
    rho: Annotated[Mapping[str, Amount], short(_for_every, Any)] | None = None
    """For SQL: what each answer costs, for all or by name."""
    epsilon: Annotated[Mapping[str, Amount], short(_for_every, Any)] | None = None
    """For SQL: the same under pure differential privacy."""
    split: Annotated[Mapping[str, Text], short(_for_every, str | dict[str, str])] | None = None
    """For SQL: the splitting scheme of each total and mean, for all or by name."""
    clamp: Annotated[Mapping[str, Bounds], short(_for_every, Any)] | None = None
    """For SQL: the bounds of each total and mean, for all or by name."""
    taper: Annotated[Mapping[str, SizeOrName], short(_for_every, Any)] | None = None
    """For SQL: the size or the taper of each total and mean, for all or by name."""
    blur: Annotated[Mapping[str, BlurForm], short(_blur_for_every, Any)] | None = None
    """For SQL: what widens the noise of each tapered total, for all or by name."""
    candidates: (
        Annotated[Mapping[str, CandidatesForm], short(_candidates_for_every, Any)] | None
    ) = None
    """For SQL: the candidates of each quantile, for all or by name."""
    weight: Annotated[Mapping[str, WeightingEntry], short(_weight_for_every, Any)] | None = None
    """For SQL: by which measure the records of each quantile are weighed, for all or by name."""
    accounting: Literal["split", "exact"] | None = None
    """For SQL: how split totals are charged."""


def columns_of_set(written: str) -> tuple[str, ...]:
    """Return the columns of a grouping set that is written with commas.

    >>> columns_of_set("county, naics2")
    ('county', 'naics2')
    """
    return tuple(name.strip() for name in written.split(",") if name.strip())
