"""What a workload publishes, output by output: what changes and units are priced by (T27, T34).

Every random number, choice and selection of a plan is one output. What is known of it is public:
its noise as `policy.json` states it, the columns of its cells, and which records pass its filter.
"""

from collections.abc import Iterable, Iterator

from perrecord.policy.cases import Cases
from perrecord.policy.choices import ChosenCandidate
from perrecord.policy.outputs import NoisyNumber, Output, Selection
from perrecord.policy.scopes import Scope
from perrecord.policy.slots import Slot
from perrecord.policy.terms import Currency
from perrecord.queries.aggregates import Different
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.measurements import Measurement, Step
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.queries.policies import passing
from perrecord.release.stated import stated_number


def outputs_of(planned: Plan) -> tuple[Output, ...]:
    """Return the outputs of a plan, as `change_loss` and `unit_loss` take them.

    Records are given to those with every field that the workload reads, and with the id or unit
    whose different values it counts. Keys that are not published cost nothing, but are counted as
    if they were: what is said of a change is never too little.

    >>> import pyarrow as pa, perrecord
    >>> from perrecord.policy.changes import change_loss, unit_loss
    >>> from perrecord.queries.plan import plan
    >>> rows = pa.table({"county": ["Kent"], "emp": [50]})
    >>> counties = perrecord.Keys.from_dict({"county": ["Kent", "York"]})
    >>> asked = perrecord.Query().group_by("county", keys=counties)
    >>> asked = asked.count(rho="0.1").sum("emp", split=perrecord.Split(emp=50), rho=1)
    >>> with perrecord.table(rows, dimensions=["county"], measures=["emp"]) as source:
    ...     outputs = outputs_of(plan(asked, source.schema))
    >>> before, after = {"county": "Kent", "emp": 50}, {"county": "Kent", "emp": 55}
    >>> print(change_loss(outputs, [before], [after]), unit_loss(outputs, [before]))
    0.01 1.1
    """
    return tuple(output for grouping in planned.groupings for output in _each(planned, grouping))


def _each(planned: Plan, grouping: PlannedGrouping) -> Iterator[Output]:
    yield from outputs_of_keys(planned, grouping)
    for charged in grouping.answers:
        yield from outputs_of_answer(planned, grouping, charged.answer)


def outputs_of_keys(planned: Plan, grouping: PlannedGrouping) -> tuple[Output, ...]:
    """Return the selection of keys, if they are selected.

    Its counts of pieces, if they are published, cost nothing more (T9).
    """
    scope, cells = _scope(planned, grouping), grouping.grouping.cells
    if not isinstance(cells, SelectKeys):
        return ()
    slot = Slot.of(cells.rho, scope.columns, cells.split, cells.threshold, None)
    return (Selection(slot, scope.is_certain, scope.among),)


def outputs_of_answer(
    planned: Plan, grouping: PlannedGrouping, answer: Answer
) -> tuple[Output, ...]:
    """Return what one answer publishes: a number, the two of an average, or a choice."""
    scope = _scope(planned, grouping)
    currency = planned.queries[grouping.query].currency or Currency.RHO
    return tuple(
        output
        for step in answer.steps
        for output in _step(planned, grouping, step, scope, currency)
    )


def _scope(planned: Plan, grouping: PlannedGrouping) -> Scope:
    query = planned.queries[grouping.query]
    found = passing(query.filter, planned.schema.dimension_names)
    among = None
    if found.names:
        among = Cases.checked(found.names, [(key, True) for key in found.keys], False)
    return Scope(grouping.grouping.columns, found.is_whole, among)


def _step(
    planned: Plan, grouping: PlannedGrouping, step: Step, scope: Scope, currency: Currency
) -> Iterator[Output]:
    match step:
        case Measurement(aggregate):
            distinct = aggregate.column if isinstance(aggregate, Different) else None
            entered = Scope(scope.columns, scope.is_certain)  # the noise says who passes the filter
            for noise in stated_number(planned, grouping, step):
                yield NoisyNumber(noise, entered, currency, distinct)
        case _:
            facts = (step.amount, step.measure, step.level, step.candidates)
            yield ChosenCandidate(*facts, scope, currency, step.weight)


def distinct_columns(outputs: Iterable[Output]) -> frozenset[str]:
    """Return the columns whose different values are counted."""
    numbers = (each for each in outputs if isinstance(each, NoisyNumber))
    return frozenset(each.distinct for each in numbers if each.distinct is not None)


def measures_published(outputs: Iterable[Output]) -> frozenset[str]:
    """Return the measures that something is published of: added up, chosen from, cut into pieces.

    Counts of records that have a value tell nothing of it.
    """
    found: set[str] = set()
    for each in outputs:
        match each:
            case NoisyNumber(noise) if noise.moved == "values" and noise.measure is not None:
                found.add(noise.measure)
            case ChosenCandidate():
                found |= set(each.measures)
            case Selection(Slot(split=split)) if split is not None:
                found |= set(split.measures)
    return frozenset(found)
