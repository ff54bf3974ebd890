"""Why a piece of a SELECT list or GROUP BY is not supported, and what to write instead."""

from sqlglot import exp

from perrecord.queries.sql.reader import Reader
from perrecord.tables.refusals import reason_against

_KNOWN = "expected SUM, AVG, COUNT, MEDIAN or QUANTILE(measure, level)."
_AFTERWARDS = "ask for the aggregates themselves and compute from the result: that costs nothing."
_DIMENSION = "declare it as a dimension, table(..., dimensions={...}), and group by that."
_STAR = "name the answers, such as SUM(emp) or COUNT(*); records themselves are never shown."
_PARAMETER = "because the text must say all that it means; write the value itself."

_EXTREMES = (exp.Min, exp.Max, exp.ArgMin, exp.ArgMax, exp.First, exp.Last, exp.AnyValue)
_SPREADS = (exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop)
_PARAMETERS = (exp.Placeholder, exp.Parameter, exp.PositionalColumn)

_REASONS: tuple[tuple[tuple[type[exp.Expr], ...], str], ...] = (
    (
        (exp.Filter,),
        "FILTER is not supported; put the condition into WHERE, in a query of its own.",
    ),
    (
        (exp.Window, exp.WindowSpec),
        f"a window function is not supported; {_AFTERWARDS}",
    ),
    (
        (exp.IgnoreNulls, exp.RespectNulls),
        "this is not supported; leave it out: SUM, AVG and COUNT(column) pass over NULL anyway.",
    ),
    (
        (exp.WithinGroup,),
        "WITHIN GROUP goes with PERCENTILE_CONT only, as in PERCENTILE_CONT(0.9) WITHIN GROUP "
        "(ORDER BY payann).",
    ),
    (
        (exp.Query, exp.Exists),
        "a subquery is not supported; ask it as a query of its own, with its own price.",
    ),
    ((exp.Star, exp.Columns), f"* is not supported; {_STAR}"),
    ((exp.Aliases,), "several names for one answer; give one, such as AS total."),
    (_PARAMETERS, f"a parameter is not supported, {_PARAMETER}"),
)


def against_item(node: exp.Expr, reader: Reader) -> str:
    """Return why an item of the SELECT list is no answer."""
    for kinds, reason in _REASONS:
        if isinstance(node, kinds):
            return reason
    if isinstance(node, exp.Column):  # qualified, as in est.*
        return f"* is not supported; {_STAR}"
    name = reader.written(node)
    if isinstance(node, _EXTREMES):
        return (
            f"{name} is not supported, because a single record decides it; ask for a quantile, "
            "such as QUANTILE(payann, 0.99)."
        )
    if isinstance(node, _SPREADS):
        return (
            f"{name} is not supported, because squares let the largest records decide it; ask for "
            "quantiles, such as QUANTILE(payann, 0.25) and QUANTILE(payann, 0.75)."
        )
    if isinstance(node, exp.AggFunc):
        return f"{name} is not supported; {_KNOWN}"
    if node.find(exp.AggFunc):
        return f"an expression over aggregates is not supported; {_AFTERWARDS}"
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return f"the function {name} is not known here; {_KNOWN}"
    if node.find(exp.Column):
        return f"an expression is not an answer; to group by it, {_DIMENSION}"
    return "this is not an answer; expected a grouping column, or an aggregate such as SUM(emp)."


def against_inside(operand: exp.Expr, aggregate: exp.Expr, reader: Reader) -> str:
    """Return why an aggregate of anything but a column is refused."""
    name = reader.written(aggregate)
    match operand:
        case exp.Distinct():
            return (
                f"DISTINCT in {name} is not supported, because one record can change it by any "
                "amount; leave it out, or count different values with COUNT(DISTINCT column)."
            )
        case exp.Order() | exp.Limit() | exp.HavingMax():
            return f"an order in {name} is not supported; leave it out."
        case exp.AggFunc():
            return f"an aggregate in {name} is not supported; {_AFTERWARDS}"
        case exp.Placeholder() | exp.Parameter() | exp.PositionalColumn():
            return f"a parameter is not supported, {_PARAMETER}"
        case exp.Query() | exp.Exists():
            return f"a subquery in {name} is not supported; an aggregate takes one column."
        case exp.Star() | exp.Column() | exp.Columns():
            return f"* in {name} is not supported; name one column."
        case _:
            return (
                f"an expression in {name} is not supported, an aggregate takes one column; choose "
                "records with WHERE, tell them apart with a declared dimension, or add the "
                "expression to the source as a measure."
            )


def against_grouping(node: exp.Expr, reader: Reader) -> str:
    """Return why a piece of the GROUP BY is no column."""
    if isinstance(node, _PARAMETERS):
        return f"a parameter is not supported, {_PARAMETER}"
    if isinstance(node, exp.AggFunc):
        return f"{reader.written(node)} is an aggregate; group by columns."
    if isinstance(node, exp.Query | exp.Window | exp.Star):
        return reason_against(node, reader.text)
    return f"an expression in GROUP BY is not supported; {_DIMENSION}"
