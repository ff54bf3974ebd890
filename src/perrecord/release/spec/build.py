"""A loaded spec -> the workload: queries, budget and fields as values. No row is read."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

from perrecord.errors import InputError, InternalError, QueryError
from perrecord.exact import rational, text
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.queries.hierarchies import Families, Family, SummedTable, families_of
from perrecord.queries.methods import Accounting
from perrecord.queries.plan import Plan, plan
from perrecord.queries.query import Query
from perrecord.release.fields import Field, fields_of
from perrecord.release.spec.checks import unknown_field
from perrecord.release.spec.deriving import DerivedNumber, derived_of
from perrecord.release.spec.following import following_of, grouping_names
from perrecord.release.spec.goals import check_goals
from perrecord.release.spec.labels import CodeList, check_covered, code_lists_of
from perrecord.release.spec.load import LoadedSpec
from perrecord.release.spec.models import Outputs, Spec
from perrecord.release.spec.names import refer
from perrecord.release.spec.pieces import blur_of, budget_of, keys_of
from perrecord.release.spec.problems import Problems, found
from perrecord.release.spec.processing import PostProcessing, StatusEntry
from perrecord.release.spec.queries import Asking
from perrecord.release.spec.query_checks import check_tables
from perrecord.release.spec.questions import GROUPINGS
from perrecord.release.spec.schemes import splits_of, tapers_of
from perrecord.release.spec.tables import hierarchies_of, lookups_of
from perrecord.tables.completing import completed, with_derived
from perrecord.tables.fields import Kind
from perrecord.tables.kinds import kind_of_column
from perrecord.tables.lookups import Lookup
from perrecord.tables.measures import Measure
from perrecord.tables.schema import Schema
from perrecord.tables.weights import weighted_name


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """One query of a release, with the name and title of its table."""

    name: str
    title: str
    query: Query


@dataclass(frozen=True, slots=True)
class Workload:
    """All that a release asks, at what price, against which budget; fixed before a row is read."""

    title: str
    description: str
    schema: Schema = field(repr=False)
    queries: tuple[NamedQuery, ...]
    plan: Plan = field(repr=False)
    """How it is computed: checked once, planned once, carried to the files."""
    budget: Policy
    examples: tuple[tuple[str, Mapping[str, Any]], ...]
    """Hypothetical records by name, as the policy sees them: derived and rounded."""
    fields: tuple[Field, ...]
    """The fields of a record, with labels, units and public values, for the published policy."""
    accounting: Accounting
    post_processing: PostProcessing
    outputs: Outputs
    hierarchies: tuple[Lookup, ...]
    """Public tables that say which dimensions follow from others."""
    families: Families
    """Which answers estimate the same numbers in several tables."""
    derived: tuple[DerivedNumber, ...]
    """What follows from answers by a formula."""
    following: tuple[SummedTable, ...]
    """Tables that follow from those asked for, by adding up."""
    fits: tuple[Family, ...]
    """What is fitted: families if tables are to be consistent, with the tables that follow."""
    labels: tuple[CodeList, ...]
    """What the codes of dimensions are called."""

    @property
    def table_names(self) -> tuple[str, ...]:
        """The name of every table that is asked for, in the order of the plan."""
        return tuple(grouping_names(self.plan, self.queries))

    @property
    def policy(self) -> Policy:
        """What the whole workload costs (T4)."""
        return self.plan.policy


def check_without_data(loaded: LoadedSpec) -> None:
    """Check what can be checked before the source is opened; files of keys and lookups are read."""
    problems = loaded.problems()
    lookups_of(loaded, problems)
    hierarchies_of(loaded, problems)
    code_lists_of(loaded, None, problems)
    _asked(loaded, None, problems)


def build(loaded: LoadedSpec, schema: Schema) -> Workload:
    """Return the workload of a spec, checked against the public description of its table."""
    problems, spec = loaded.problems(), loaded.spec
    queries, budget = _asked(loaded, schema, problems)
    labels = code_lists_of(loaded, schema, problems)
    fields = _fields(spec, schema, labels, problems)
    hierarchies = hierarchies_of(loaded, problems)
    examples = []
    planned = _plan(queries, schema, problems)
    policy = planned.policy
    for place, example in enumerate(spec.examples):
        with problems.at("examples", place):
            record = _record(example.record, schema)
            policy.loss(record)
            policy.delta(record)
            examples.append((example.name, record))
    check_covered(labels, planned, problems)
    problems.check()
    families = families_of(planned, hierarchies)
    following, fits = following_of(
        spec.post_processing, planned, queries, families, hierarchies, problems
    )
    problems.check()
    return Workload(
        spec.title,
        spec.description or "",
        schema,
        queries,
        planned,
        budget,
        tuple(examples),
        fields,
        spec.accounting,
        spec.post_processing,
        spec.outputs,
        hierarchies,
        families,
        derived_of(spec.derived, queries, spec.post_processing.follow, problems),
        following,
        fits,
        labels,
    )


def _asked(
    loaded: LoadedSpec, schema: Schema | None, problems: Problems
) -> tuple[tuple[NamedQuery, ...], Policy]:
    """Return the queries and the budget; every stage is built of what the one before gave."""
    spec = loaded.spec
    splits: Mapping[str, Scheme] = splits_of(spec, schema, problems)
    problems.check()
    keys = keys_of(loaded, splits, problems)
    problems.check()
    budget = Policy.zero()
    with problems.at("budget"):
        budget = budget_of(spec.budget, splits)
    tapers = tapers_of(spec, schema, problems)
    asking = Asking(
        spec.table, splits, tapers, keys, spec.accounting, schema, partial(blur_of, loaded)
    )
    built = [
        (entry, asking.query(entry, ("queries", place), problems))
        for place, entry in enumerate(spec.queries)
    ]
    problems.check()
    named = tuple(
        NamedQuery(entry.name, entry.title or entry.name, query)
        for entry, query in built
        if query is not None
    )
    _check_tables(spec, named, problems)
    _check_rounded(spec, named, problems)
    _check_status(spec.post_processing.status, problems)
    check_goals(spec, {each.name: each.query for each in named}, problems)
    derived_of(spec.derived, named, spec.post_processing.follow, problems)
    return named, budget


def _check_rounded(spec: Spec, queries: Sequence[NamedQuery], problems: Problems) -> None:
    """Add what is to be rounded and is neither an answer nor derived."""
    answers = [answer.name for each in queries for answer in each.query.answers]
    known = dict.fromkeys([*answers, *spec.derived])
    for name in spec.post_processing.round:
        for path, message in refer(("post_processing", "round", name), "answer", name, known):
            problems.add(path, message)


def _check_status(status: StatusEntry | None, problems: Problems) -> None:
    """Add cut-offs of which the second is not beyond the first."""
    if status is not None and status.caution <= status.reliable:
        problems.add(
            ("post_processing", "status", "caution"),
            f"expected a number above {text(status.reliable)}, up to which numbers are reliable; "
            f"found {text(status.caution)}.",
        )


def _check_tables(spec: Spec, queries: Sequence[NamedQuery], problems: Problems) -> None:
    """Add what keeps a table from a file of its own, now that SQL was read too."""
    sets = [(each.name, [one.columns for one in each.query.groupings]) for each in queries]
    for path, message in check_tables(sets):
        query = path[:2]
        is_sql = spec.queries[int(path[1])].sql is not None and path[2] != "name"
        problems.add((*query, "sql") if is_sql else path, message)
    problems.check()


def _plan(queries: Sequence[NamedQuery], schema: Schema, problems: Problems) -> Plan:
    """Return how the queries are computed; if they do not go together, the first too many is shown.

    Each of them was checked by itself before.
    """
    every = [each.query for each in queries]

    def is_refused(place: int) -> bool:
        try:
            plan(every[: place + 1], schema)
        except QueryError:
            return True
        return False

    try:
        return plan(every, schema)
    except QueryError as error:
        first = bisect_left(range(len(every)), True, key=is_refused)
        problems.add(("queries", first, *GROUPINGS, "sql"), str(error))  # it has one, or none
    problems.check()
    raise InternalError("A plan was refused for no reason.")


def _fields(
    spec: Spec, schema: Schema, labels: Sequence[CodeList], problems: Problems
) -> tuple[Field, ...]:
    fields: list[Field] = []
    lists = {each.dimension: each.names for each in labels}
    for each in fields_of(schema):
        if each.kind == "measure":
            label, unit = _labelled_measure(each.name, spec, schema)
            fields.append(replace(each, label=label, unit=unit))
            continue
        entry = spec.dimensions[each.name]
        label, values = entry.label or "", entry.values or ()
        names = _names(values, lists.get(each.name))
        with problems.at("dimensions", each.name, "values"):
            fields.append(replace(each, label=label, values=values, names=names))
    return tuple(fields)


def _names(values: Sequence[Any], codes: Mapping[Any, str] | None) -> tuple[str, ...]:
    """Return what the public values of a dimension are called; "" of those without a name."""
    return () if codes is None else tuple(codes.get(each, "") for each in values)


def _labelled_measure(name: str, spec: Spec, schema: Schema) -> tuple[str, str]:
    """Return how a measure is called, and what it is counted in; a weighted one after its own."""
    weighted = {weighted_name(own): entry for own, entry in spec.measures.items()}
    entry = spec.measures.get(name) or weighted.get(name)
    label = (entry.label if entry else None) or ""
    if label and name not in spec.measures:
        label = f"{label}, weighted"
    column = schema.rules[name].stored(name)
    change = f"Change in {column}" if schema.is_linked and column is not None else ""
    return label or change, (entry.unit if entry else None) or ""


def _record(given: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return an example as the record that a policy sees.

    Measures are rounded, dimensions that follow from what is given are derived, and what is not
    given is left out: the policy says whether it reads it.
    """
    kinds = {name: kind_of_column(kind) for name, kind in schema.columns}
    kinds.update({name: each.kind for name, each in schema.fields.items()})
    for name, value in given.items():
        if name not in kinds:
            raise InputError(unknown_field(name, kinds))
        _check_kind(name, value, kinds[name])
    rules = [
        (name, partial(_counted, name, measure), measure.expression)
        for name, measure in schema.rules.items()
    ]
    record = with_derived(rules, given)
    every = completed(schema.definitions, {**given, **record})
    known = {*record, *schema.dimension_names}
    return {name: each for name, each in every.items() if name in known}


def _check_kind(name: str, value: object, kind: Kind | None) -> None:
    if kind is Kind.MEASURE or value is None:
        return
    if kind is None or type(value) is not kind.types.python:
        holds = "numbers and is not a measure" if kind is None else kind.value
        raise InputError(
            f"{name!r} holds {holds}, found {found(value)}; write text in quotes, whole numbers "
            "without."
        )


def _counted(name: str, measure: Measure, value: object) -> Fraction | None:
    return measure.number(None if value is None else rational(value, f"the measure {name!r}"))
