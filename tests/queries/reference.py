"""The slow, obvious meaning of a plan's exact integers: Python loops over records."""

from fractions import Fraction

from perrecord.confidential.revealing import revealed
from perrecord.queries.aggregates import Different, Filled, Pieces, Rows, Total
from perrecord.queries.cells import Cells, scanned
from perrecord.queries.measurements import Choice
from perrecord.queries.methods import Clamping, at
from perrecord.queries.plan import Plan, PlannedGrouping
from perrecord.tables.expressions import evaluate
from perrecord.tables.keys import Keys


def records_of(schema, rows):
    """Return each row as the record a policy sees, with its id and unit beside."""
    roles = [name for name in (schema.id, schema.unit) if name is not None]
    return [{**{name: row[name] for name in roles}, **schema.record(row)} for row in rows]


def reference(plan: Plan, rows) -> list:
    """Return for each grouping its aggregates and buckets, cell by cell, in the order of keys."""
    records = records_of(plan.schema, rows)
    return [_grouping(plan, grouping, records) for grouping in plan.groupings]


def _grouping(plan: Plan, grouping: PlannedGrouping, records):
    condition = plan.queries[grouping.query].filter
    inside = [r for r in records if condition is None or evaluate(condition, r) is True]
    columns = grouping.grouping.columns
    cells = grouping.grouping.cells
    keys = cells.rows() if isinstance(cells, Keys) else [()]
    members = [
        [r for r in inside if tuple(_key(r[name]) for name in columns) == tuple(map(_key, key))]
        for key in keys
    ]
    values = {
        aggregate: [_aggregate(aggregate, each, plan.schema) for each in members]
        for aggregate in grouping.aggregates
    }
    buckets = {
        (choice.bucket, choice.aggregate): sorted(
            (cell, place, count)
            for cell, each in enumerate(members)
            for place, count in _buckets(choice, each, plan.schema).items()
        )
        for choice in _choices(grouping)
    }
    return values, buckets


def _choices(grouping):
    return [choice for each in grouping.answers for choice in each.answer.choices]


def _key(value):
    return (type(value) is bool, int(value) if isinstance(value, Fraction) else value)


def _aggregate(aggregate, records, schema):
    match aggregate:
        case Rows():
            return len(records)
        case Filled(column):
            return sum(r[column] is not None for r in records)
        case Different(column):
            return len({r[column] for r in records if r[column] is not None})
        case Total(measure, clamps, is_centred):
            step = schema.measure(measure).resolution
            return sum(
                _added(r, r[measure] / step, step, clamps, is_centred)
                for r in records
                if r[measure] is not None
            )
        case Pieces(split):
            return sum(split.pieces(r) for r in records)


def _added(record, value, step, clamps, is_centred):
    method = None if clamps is None else at(clamps, record)
    if isinstance(method, Clamping):
        low, high = method.low / step, method.high / step
        value = min(max(value, low), high)
        return 2 * value - (low + high) if is_centred else value
    return value


def _buckets(choice: Choice, records, schema):
    found = {}
    for record in records:
        value = record[choice.measure]
        if value is not None:
            below = sum(c < value for c in choice.candidates)
            place = 2 * below + (value in choice.candidates)
            found[place] = found.get(place, 0) + _counted(choice, record, schema)
    return found


def _counted(choice: Choice, record, schema):
    if choice.weight is None:
        return 1
    weight, step = record[choice.weight.measure], schema.measure(choice.weight.measure).resolution
    return 0 if weight is None or weight < 0 else int(weight / step)


def exact(plan: Plan, table) -> list:
    """Return the same from the engine."""
    with scanned(plan, table) as cells:
        return [_read(grouping, cells[grouping.scan]) for grouping in plan.groupings]


def _read(grouping: PlannedGrouping, cells: Cells):
    columns, keys = grouping.grouping.columns, grouping.grouping.cells
    keys = keys if isinstance(keys, Keys) else None
    numbers = cells.numbers(columns, grouping.aggregates, keys)
    values = {
        aggregate: [int(each) for each in revealed(found)] for aggregate, found in numbers.items()
    }
    buckets = {}
    for choice in _choices(grouping):
        counts = cells.buckets(columns, choice.bucket, keys, choice.aggregate)
        columns_of_counts = (counts.cells, counts.buckets, counts.numbers)
        rows = zip(*(revealed(each).tolist() for each in columns_of_counts), strict=True)
        buckets[choice.bucket, choice.aggregate] = sorted(rows)
    return values, buckets
