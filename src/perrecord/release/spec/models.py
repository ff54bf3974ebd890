"""The release spec as frozen values. Short forms are written out before they are checked."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from perrecord.policy.policy import Policy
from perrecord.release.spec.declared import (
    DimensionEntry,
    DimensionForm,
    LabelsForm,
    LookupEntry,
    MeasureEntry,
    MeasureForm,
    SourceForm,
    TextFileEntry,
    WeightEntry,
)
from perrecord.release.spec.entry import SHOWN, Entry
from perrecord.release.spec.processing import PostProcessing
from perrecord.release.spec.questions import EVERY, QueryEntry
from perrecord.release.spec.scalars import (
    FieldValue,
    Names,
    PeriodName,
    Positive,
    Proportion,
    Text,
    TruthValue,
    Value,
    Whole,
    entries,
    is_mapping_at,
    short,
)
from perrecord.tables.weights import resolutions


def _split(value: Any) -> Any:
    if isinstance(value, str):
        return {"split": value}
    if not isinstance(value, Mapping):
        return value
    is_whole = "by" in value or "cases" in value or is_mapping_at(value, "thresholds")
    is_name = value.keys() == {"split"} and isinstance(value["split"], str)
    return value if is_whole or is_name else {"thresholds": value}


class SplitEntry(Entry):
    """A splitting scheme: thresholds by measure, or schemes by the values of a dimension."""

    thresholds: Mapping[str, Positive] | None = None
    """The most that one piece may hold of each measure."""
    by: Text | None = None
    """The dimension whose value decides which scheme applies."""
    cases: Mapping[str, "SplitForm"] | None = None
    """A scheme, or the name of one, for each value."""
    default: "SplitForm | None" = None
    """The scheme of every other record."""
    split: Text | None = None
    """The name of another scheme that this one stands for."""
    cap: Whole | None = Field(default=None, ge=1)
    """The most pieces that a record makes; what is beyond is cut off."""


SplitForm = Annotated[SplitEntry, short(_split, str | dict[str, Any])]


def _taper(value: Any) -> Any:
    is_whole = not isinstance(value, Mapping) or is_mapping_at(value, "sizes")
    return value if is_whole else {"sizes": value}


class TaperEntry(Entry):
    """A taper: for each measure the size of a record that loses what an answer costs."""

    sizes: Annotated[Mapping[str, Positive], Field(min_length=1)]
    """The size of a record, by measure."""
    nu: Literal[3, 7] = 7
    """How heavy the tails of the noise are: 7, or 3 for losses that grow half as fast."""


TaperForm = Annotated[TaperEntry, short(_taper, dict[str, Any])]


class TaperedEntry(Entry):
    """Tapered or blurred answers that a budget allows: so many about a measure, at this price."""

    measure: Text
    """What they are about."""
    at: Positive
    """The size of a record that loses the amount."""
    rho: Positive | None = None
    """What such a record loses by each of them, under zCDP."""
    epsilon: Positive | None = None
    """Instead of rho, under pure differential privacy."""
    times: Whole = Field(default=1, ge=1)
    """How many of them."""
    nu: Literal[3, 7] = 7
    """As the taper has it."""
    blur: Proportion | None = None
    """For blurred answers: the share of its size that each record adds to the noise."""

    def policy(self) -> Policy:
        """Return what all of them may cost."""
        if self.blur is not None:
            return self.times * Policy.blurred(
                self.rho, measure=self.measure, at=self.at, by=self.blur, nu=self.nu,
                epsilon=self.epsilon,
            )  # fmt: skip
        return self.times * Policy.tapered(
            self.rho, measure=self.measure, at=self.at, nu=self.nu, epsilon=self.epsilon
        )


class WeighedEntry(Entry):
    """Weighted quantiles that a budget allows: so many by a weight, at this price."""

    measure: Text
    """The weight."""
    at: Positive
    """The weight of a record that loses the amount."""
    rho: Positive | None = None
    """What such a record loses by each of them, under zCDP."""
    epsilon: Positive | None = None
    """Instead of rho, under pure differential privacy."""
    times: Whole = Field(default=1, ge=1)
    """How many of them."""

    def policy(self) -> Policy:
        """Return what all of them may cost."""
        return self.times * Policy.weighed(
            self.rho, measure=self.measure, at=self.at, epsilon=self.epsilon
        )


class SelectEntry(Entry):
    """Keys selected from the data with noise: those whose noisy number of pieces is large."""

    rho: Positive
    """What an unsplit record loses by it."""
    delta: Proportion | None = None
    """The probability that an unsplit record reveals its key."""
    threshold: Whole | None = None
    """Instead of delta: the noisy number that a key must reach."""
    split: Text | None = None
    """The name of the scheme that splits records before they are counted."""


def _filter(value: Any) -> Any:
    if not isinstance(value, Mapping) or is_mapping_at(value, "where"):
        return value
    where = {name: each for name, each in value.items() if name != "from"}
    return {**{name: each for name, each in value.items() if name == "from"}, "where": where}


class FilterEntry(Entry):
    """The keys of a set whose columns hold one of the listed values."""

    source: Text = Field(alias="from")
    """The name of the key set."""
    where: Mapping[str, tuple[Value, ...]] = Field(min_length=1)
    """The values to keep, by column."""


class ProjectEntry(Entry):
    """The keys of a set over fewer columns."""

    source: Text = Field(alias="from")
    """The name of the key set."""
    columns: Names = Field(min_length=1)
    """The columns to keep."""


class KeysEntry(TextFileEntry):
    """Which cells are published: a public list of keys, a domain, or a selection. One form."""

    file: Text | None = None
    """A Parquet or CSV file that lists the keys; relative to the spec."""
    columns: Names | None = None
    """For a file: the columns that make the key; left out, all."""
    values: Annotated[Mapping[str, tuple[Value, ...]], Field(min_length=1)] | None = None
    """Every combination of the values listed for each column."""
    product: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """Every combination of the keys of these sets."""
    union: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """The keys of any of these sets."""
    difference: Annotated[tuple[Text, ...], Field(min_length=2)] | None = None
    """The keys of the first set that are in none of the others."""
    filter: Annotated[FilterEntry, short(_filter, dict[str, Any])] | None = None
    """The keys of a set that hold one of the listed values: {from: cells, county: [...]}."""
    project: ProjectEntry | None = None
    """The keys of a set over fewer columns: {from: cells, columns: [...]}."""
    domain: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """Every combination of the keys of these sets, never written out; used with keep."""
    select: SelectEntry | None = None
    """Keys selected from the data with noise: {rho: 0.1, delta: 1e-6, split: moderate}."""


class SelectionEntry(Entry):
    """A key selection that the budget has room for."""

    keys: Names = Field(min_length=1)
    """The grouping columns."""
    rho: Positive
    """What an unsplit record loses by it."""
    delta: Proportion | None = None
    """The probability that an unsplit record reveals its key."""
    threshold: Whole | None = None
    """Instead of delta: the noisy number that a key must reach."""
    split: Text | None = None
    """The name of the scheme that splits records before they are counted."""


class BudgetEntry(Entry):
    """The policy that all releases charged to the ledger stay below, for every record."""

    rho: Positive | None = None
    """What an unsplit record may lose at most, under zCDP."""
    epsilon: Positive | None = None
    """Instead of rho, under pure differential privacy."""
    splits: Names = ()
    """The schemes that the amount may be spent on; a split record may lose pieces^2 times it."""
    selections: tuple[SelectionEntry, ...] = ()
    """The key selections that may be run."""
    tapers: tuple[TaperedEntry, ...] = ()
    """The tapered answers that may be asked beside what the amount pays for."""
    weights: tuple[WeighedEntry, ...] = ()
    """The weighted quantiles that may be asked beside what the amount pays for."""


class Outputs(Entry):
    """What is written beside the policy."""

    csv: TruthValue = False
    """Write every table as CSV too."""
    confidence: Proportion = Fraction(19, 20)
    """The probability with which the intervals hold the exact answers."""
    intervals: TruthValue = True
    """Write the ends of every answer's interval; its standard error is always there."""
    licence: Text | None = None
    """The licence of the published tables by its short name, such as CC-BY-4.0."""


def _example(value: Any) -> Any:
    if not isinstance(value, Mapping) or is_mapping_at(value, "record"):
        return value
    record = {name: each for name, each in value.items() if name != "name"}
    return {**{name: each for name, each in value.items() if name == "name"}, "record": record}


class ExampleEntry(Entry):
    """A hypothetical record whose loss the policy page shows."""

    name: Text
    """What the page calls it."""
    record: Mapping[str, FieldValue]
    """Its measures and dimensions."""


ExampleForm = Annotated[ExampleEntry, short(_example, dict[str, Any])]


def _goals(value: Any) -> Any:
    return {EVERY: value} if isinstance(value, str) else value


class TuningEntry(Entry):
    """What `perrecord tune` and the studio aim at; no release depends on it."""

    goals: Annotated[Mapping[str, Text], short(_goals, str | dict[str, str])] = Field(
        default_factory=dict
    )
    """How accurate answers should be, by name: 5% for 90% of cells; `*` is every answer."""
    caps: Mapping[str, Positive] = Field(default_factory=dict)
    """The most that an example record may lose, by its name."""


class Spec(Entry):
    """A release: what is published of which table, at what price."""

    version: Annotated[Literal[1], SHOWN] = 1
    """The version of this format of a spec: 1."""
    title: Annotated[Text, SHOWN]
    """What the release is called."""
    description: Annotated[Text | None, SHOWN] = None
    """What it is about, for whoever reads the published policy."""
    source: SourceForm
    """Where the confidential records are."""
    table: Text = "records"
    """The table's name, in SQL and in the published policy."""
    id: Text | None = None
    """The column that names a record."""
    unit: Text | None = None
    """The column that names the unit, such as a firm, that several records may belong to."""
    dimensions: Annotated[
        Mapping[str, DimensionForm],
        short(entries(None), list[str] | dict[str, str | DimensionEntry | None]),
    ] = Field(default_factory=dict)
    """What records are filtered and grouped by: columns, or expressions by name."""
    measures: Annotated[
        Mapping[str, MeasureForm],
        short(entries(1), list[str] | dict[str, float | int | str | MeasureEntry]),
    ] = Field(default_factory=dict)
    """What is summed: names with their resolution."""
    weight: WeightEntry | None = None
    """A survey's weight, for weighted totals and counts."""
    lookups: tuple[LookupEntry, ...] = ()
    """Public tables that add columns to records."""
    hierarchies: Annotated[tuple[LookupEntry, ...], SHOWN] = ()
    """Public tables that say which dimensions follow from others, where no expression does."""
    labels: Annotated[Mapping[str, LabelsForm], SHOWN] = Field(default_factory=dict)
    """Public code lists by dimension: what its codes are called."""
    splits: Mapping[str, SplitForm] = Field(default_factory=dict)
    """Splitting schemes by name."""
    tapers: Mapping[str, TaperForm] = Field(default_factory=dict)
    """Tapers by name."""
    keys: Mapping[str, KeysEntry] = Field(default_factory=dict)
    """Key sets, domains and selections by name."""
    budget: BudgetEntry
    """The policy that all releases charged to the ledger stay below."""
    ledger: Annotated[Text | None, SHOWN] = None
    """The path of the ledger; relative to the spec."""
    period: PeriodName | None = None
    """The period that the data is about, for a ledger with periods: 2026."""
    revision: Annotated[Text | None, SHOWN] = None
    """Why the data of a period that was released before has changed."""
    accounting: Literal["split", "exact"] = "split"
    """How split totals are charged: by whole pieces, or by the exact value."""
    queries: Annotated[tuple[QueryEntry, ...], Field(min_length=1)]
    """What is asked."""
    derived: Annotated[Mapping[str, Text], SHOWN] = Field(default_factory=dict)
    """Numbers that follow from answers by a formula, such as payroll / employment, by name."""
    post_processing: Annotated[PostProcessing, SHOWN] = PostProcessing()
    """Columns added to the answers."""
    outputs: Annotated[Outputs, SHOWN] = Outputs()
    """What is written beside the policy."""
    examples: Annotated[tuple[ExampleForm, ...], SHOWN] = ()
    """Hypothetical records whose loss the policy page shows."""
    tuning: Annotated[TuningEntry, SHOWN] = TuningEntry()
    """Goals of accuracy and caps on losses, for tuning."""

    @property
    def resolutions(self) -> dict[str, Fraction]:
        """The resolution of every measure: those that are declared, the weight, and products."""
        own = {name: entry.resolution for name, entry in self.measures.items()}
        weight = self.weight
        return resolutions(own, None if weight is None else (weight.column, weight.resolution))
