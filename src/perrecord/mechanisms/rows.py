"""Any zCDP mechanism on split rows, or on unsplit ones (T8).

A mechanism that is rho-zCDP when one row is added or removed, run on split records, costs a record
rho * pieces^2; on unsplit records it costs everybody rho.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import uuid4

from perrecord.errors import PerrecordError, QueryError, SourceError
from perrecord.exact import Exact, parameter
from perrecord.mechanisms.measurements import is_of_opendp, on_column, rho_of
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.queries.policies import on_filtered
from perrecord.queries.rows import RowsQuery, rows_sql
from perrecord.tables.engines.boundary import sealed
from perrecord.tables.keys import names_of
from perrecord.tables.parse import parse_expression
from perrecord.tables.table import Table

Result = TypeVar("Result")

_FAILED = (
    "the mechanism failed. What it said is withheld, because it may quote records; try it on "
    "public or synthetic rows of the same columns."
)


@dataclass(frozen=True, slots=True, eq=False)
class RowsAnswer(Generic[Result]):
    """What the mechanism gave, and its policy."""

    result: Result
    policy: Policy


@dataclass(frozen=True, slots=True, eq=False)
class RowsPlan(Generic[Result]):
    """A mechanism on rows, checked and priced, before any row is read."""

    query: RowsQuery
    mechanism: Callable[[Any], Result]
    policy: Policy
    is_native: bool


def plan_rows(
    table: Table,
    mechanism: Callable[[Any], Result],
    *,
    columns: str | Sequence[str],
    rho: Exact | None = None,
    split: Scheme | None = None,
    where: str | None = None,
    native: bool = False,
) -> RowsPlan[Result]:
    """Return the plan of a mechanism on rows.

    The mechanism is a function of an Arrow table (with `native=True` of the engine's own frame,
    such as a Spark DataFrame) that is rho-zCDP for adding or removing one row, with no delta; or an
    OpenDP Measurement over one column, whose own map is compared with rho and which is given the
    values that are not NULL, clamped to the bounds of its input domain. Measures are whole numbers
    of their resolution, bounds too. Its result is taken for public.
    """
    condition = None if where is None else parse_expression(where)
    query = RowsQuery(tuple(names_of(columns)), split, condition)
    query.check(table.schema)
    amount = None if rho is None else parameter(rho, "rho")
    function = mechanism
    if is_of_opendp(mechanism):
        amount = rho_of(mechanism, amount)
        function = on_column(mechanism, query, table.schema)
        native = False
    if amount is None or amount <= 0 or not callable(function):
        raise QueryError(
            "a mechanism on rows is a function together with the rho that it satisfies; give both, "
            "such as plan_rows(table, mechanism, columns=['emp'], rho='0.1')."
        )
    policy = Policy.constant(amount) if split is None else Policy.split(amount, split)
    policy = on_filtered(policy, condition, table.schema.dimension_names)
    return RowsPlan(query, function, policy, native)


def run_rows(
    planned: RowsPlan[Result], table: Table, *, charge: Callable[[], None] = lambda: None
) -> RowsAnswer[Result]:
    """Return what the mechanism says of the rows. An error of its own is withheld: it may quote.

    `charge` is called when the rows were read, before the mechanism sees them.
    """
    sql, tables = rows_sql(planned.query, table, f"_perrecord_{uuid4().hex[:12]}")
    engine = table.engine
    try:
        for name, rows in tables.items():
            engine.add(name, rows)
        given = engine.frame(sql) if planned.is_native else engine.arrow(sql)
        charge()
        result = sealed(_FAILED, lambda: _withheld(planned.mechanism, given))
    finally:
        for name in tables:
            engine.drop(name)
    return RowsAnswer(result, planned.policy)


def _withheld(mechanism: Callable[[Any], Result], rows: Any) -> Result:
    """Return what the mechanism gives; our own errors, when it runs into one, quote it too."""
    try:
        return mechanism(rows)
    except PerrecordError:
        pass
    raise SourceError(_FAILED)
