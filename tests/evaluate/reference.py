"""The slow, obvious meaning of losses: Python loops over records, in Fractions (T7, T17)."""

from collections import defaultdict
from fractions import Fraction

from perrecord.policy.terms import Currency
from perrecord.queries.answers import Average, Count, CountDistinct, Quantile
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.queries.methods import Clamping, Leaf, at, leaves, tree_of
from perrecord.tables.expressions import evaluate
from perrecord.tables.keys import Keys
from tests.queries.reference import records_of

BOUNDS = ("simple", "advanced", "tight")


def policy_of_records(plan, rows):
    """Return the policy loss of every record."""
    policy = plan.policy
    return [policy.loss(record) for record in records_of(plan.schema, rows)]


def realised_of_records(plan, rows):
    """Return the realised loss of every record."""
    return [realised(plan, [record]) for record in records_of(plan.schema, rows)]


def units_of(plan, rows):
    """Return the records of each unit; one without a unit stands alone."""
    units, alone = defaultdict(list), []
    for record in records_of(plan.schema, rows):
        unit = record[plan.schema.unit]
        if unit is None:
            alone.append([record])
        else:
            units[unit].append(record)
    return [*units.values(), *alone]


def bound_of_units(plan, rows, bound):
    """Return a group bound of every unit."""
    policy = plan.policy
    return [policy.group_loss(unit, bound) for unit in units_of(plan, rows)]


def realised(plan, unit):
    """Return the realised loss of some records taken together."""
    return sum((_grouping(plan, each, unit) for each in plan.groupings), Fraction(0))


def _grouping(plan, grouping, unit):
    query = plan.queries[grouping.query]
    cells = defaultdict(list)
    for record in unit:
        key = _cell(grouping, record)
        if key is not None and (query.filter is None or evaluate(query.filter, record) is True):
            cells[key].append(record)
    currency = query.currency
    return sum(
        _in_cell(plan, grouping, charged.answer, members, currency)
        for members in cells.values()
        for charged in grouping.answers
    ) + sum(_selection(grouping, members) for members in cells.values())


def _cell(grouping, record):
    """Return the key of the cell that a record enters, None if it is not published."""
    key = tuple(_tagged(record[name]) for name in grouping.grouping.columns)
    cells = grouping.grouping.cells
    if isinstance(cells, Keys):
        return key if key in {tuple(map(_tagged, row)) for row in cells.rows()} else None
    if isinstance(cells, SelectCells):
        for factor in cells.domain.factors:
            own = tuple(_tagged(record[name]) for name in factor.columns)
            if own not in {tuple(map(_tagged, row)) for row in factor.rows()}:
                return None
    return key


def _tagged(value):
    return type(value) is bool, int(value) if isinstance(value, Fraction) else value


def _selection(grouping, members):
    cells = grouping.grouping.cells
    if not isinstance(cells, SelectKeys):
        return 0
    return (
        cells.rho * sum(1 if cells.split is None else cells.split.pieces(r) for r in members) ** 2
    )


def _in_cell(plan, grouping, answer, members, currency):
    power = currency.power
    if isinstance(answer, Quantile):
        return answer.amount * len(members) ** power
    fixed = frozenset(plan.schema.fixed_by(grouping.grouping.columns))
    if isinstance(answer, CountDistinct):
        change = len({r[answer.column] for r in members if r[answer.column] is not None})
        return _cost(change, answer.method, None, members[0], fixed, currency)
    if isinstance(answer, Count):
        change = sum(answer.column is None or r[answer.column] is not None for r in members)
        return _cost(change, answer.method, None, members[0], fixed, currency)
    filled = [r for r in members if r[answer.measure] is not None]
    is_centred = isinstance(answer, Average) and isinstance(answer.method, Clamping)
    change = sum((_value(answer, r, is_centred) for r in filled), Fraction(0))
    cost = _cost(change, answer.method, answer.measure, members[0], fixed, currency, is_centred)
    if isinstance(answer, Average):
        cost += _cost(len(filled), answer.count, None, members[0], fixed, currency)
    return cost


def _value(answer, record, is_centred):
    method, value = at(tree_of(answer.method), record), record[answer.measure]
    if not isinstance(method, Clamping):
        return value
    clamped = min(max(value, method.low), method.high)
    return clamped - (method.low + method.high) / 2 if is_centred else clamped


def _cost(change, methods, measure, member, fixed, currency, is_centred=False):
    """Return what a change costs in the cell of a member: the largest noise that can reach it."""

    def reaching(tree):
        if isinstance(tree, Leaf):
            return [tree]
        if fixed.issuperset(tree.cases.dimensions):
            return reaching(tree.cases.at(member))
        return list(leaves(tree))

    noise = max(
        leaf.method.scale(measure, currency, is_centred=is_centred).size
        for leaf in reaching(tree_of(methods))
    )
    if currency is Currency.RHO:
        return Fraction(change) ** 2 / (2 * noise)
    return abs(Fraction(change)) / noise


def expanded(distribution):
    """Return every loss of a distribution that kept all values, sorted."""
    before, every = 0, []
    for value, number in zip(distribution.values, distribution.at_most, strict=True):
        every += [value] * (number - before)
        before = number
    return every


def agree(distribution, exact, tolerance=1e-9):
    """Tell whether a distribution is that of exact losses."""
    found, wanted = expanded(distribution), sorted(map(float, exact))
    return len(found) == len(wanted) and all(
        abs(a - b) <= tolerance * abs(b) for a, b in zip(found, wanted, strict=True)
    )
