"""The session: ask, be charged, get an answer. One of the two doors to the data."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack, overload

import pyarrow as pa

from perrecord.accounting.ledger import Ledger
from perrecord.accounting.parts import period_name, period_names
from perrecord.errors import BudgetExceededError, InputError, LedgerError, QueryError
from perrecord.exact import Exact
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.rows import RowsAnswer, RowsPlan, plan_rows, run_rows
from perrecord.mechanisms.run import check_plan, run
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.preview import Examples, Preview, expected, losses_of, meanings_in
from perrecord.queries.plan import Plan, plan
from perrecord.queries.query import Query
from perrecord.queries.sql import SQLOptions, from_sql
from perrecord.queries.sql.options import check_known
from perrecord.tables.readable import check_readable
from perrecord.tables.schema import Schema
from perrecord.tables.snapshots import check_name, check_unchanged, snapshot_of
from perrecord.tables.table import Table

Asked = Query | str | Sequence[Query]
Result = TypeVar("Result")


class Session:
    """A table, a ledger, and one way to get from one to the other: every answer is charged first.

    Later questions may depend on earlier answers. The guarantee of the whole session is its budget
    policy P_B, for every possible record, and never the sum of what was spent (T4).

    Every charge says on which snapshot of the data it was made. Files and frames in memory are
    identified by a keyed hash of what they hold. A table in Spark, Ibis, a database or a dataset
    has none, so `snapshot="2026-11"` names its state; give a new name when the data changes.

    Under a ledger with periods a session is about one of them, `period="2026"`, and its guarantee
    is that period's part; `revision=` says why the period's data differs from before (T35).

    >>> import tempfile
    >>> import pyarrow as pa
    >>> from perrecord import Budget, Split, table
    >>> farms = table(pa.table({"cattle": [12, 40, 9000]}), name="farms", measures=["cattle"])
    >>> scheme, path = Split(cattle=50), tempfile.mkdtemp() + "/farms.ledger"
    >>> session = Session(farms, ledger=path, budget=Budget(1, scheme), new=True)
    >>> answers = session.ask(Query("farms").sum("cattle", split=scheme, rho="0.4"))
    >>> session.ask("SELECT COUNT(*) FROM farms", rho="0.7")
    Traceback (most recent call last):
    perrecord.errors.BudgetExceededError: a record with cattle = 0 would lose 1.1 rho in all, and \
its budget is 1. This charge takes 0.7 of it, and 0.6 is left. Nothing was charged. Ask for less \
rho, for fewer answers, or with a scheme that the budget declares.
    """

    def __init__(
        self,
        table: Table,
        *,
        ledger: Ledger | str | Path,
        budget: Policy | None = None,
        new: bool = False,
        snapshot: str | None = None,
        periods: str | Iterable[str | int] | None = None,
        period: str | int | None = None,
        revision: str | None = None,
    ) -> None:
        check_name(table.engine.origin, snapshot)
        self._table = table
        self._name = snapshot
        self._snapshot: str | None = None
        self._period = None if period is None else period_name(period)
        self._revision = revision
        self._ledger = _ledger(
            ledger, budget, table.schema.name, new=new, periods=periods, period=self._period
        )
        self._was_read = False

    @property
    def ledger(self) -> Ledger:
        """The ledger that every answer is charged to."""
        return self._ledger

    @property
    def policy(self) -> Policy:
        """The guarantee of everything that this ledger ever pays for: its budget (T4).

        With periods it is the part of the session's own: of all that is asked about it (T35).
        """
        return self._ledger.part(self._period).budget

    @property
    def spent(self) -> Policy:
        """What was charged so far, to the session's own period if there are periods."""
        return self._ledger.part(self._period).spent.total()

    @property
    def schema(self) -> Schema:
        """The public description of the table: names, types and grids, and no value of it."""
        return self._table.schema

    @overload
    def preview(self, asked: Query | Sequence[Query], *, examples: Examples = ()) -> Preview: ...

    @overload
    def preview(
        self, asked: str, *, examples: Examples = (), **options: Unpack[SQLOptions]
    ) -> Preview: ...

    def preview(
        self, asked: Asked, *, examples: Examples = (), **options: Unpack[SQLOptions]
    ) -> Preview:
        """Return what asking would cost and how noisy it would be; no data is looked at.

        `examples` are records of your choice, by name or one after the other; what else there is
        goes with SQL text, as in `ask`. Files and frames are hashed, once a session, to tell
        whether they are what was charged on.
        """
        planned, data = self._plan(asked, options), self._data()
        refusal = None
        try:
            meanings = self._meanings(planned.policy)
            self._ledger.preview(
                planned.policy,
                snapshot=data,
                meanings=meanings,
                period=self._period,
                revision=self._revision,
            )
        except BudgetExceededError as error:
            refusal = str(error)
        part = self._ledger.part(self._period)
        budget, spent = part.budget, part.spent.total()
        after = part.spent.with_charge(planned.policy, data).total()
        losses = losses_of(planned.policy, examples)
        records = list(examples.values() if isinstance(examples, Mapping) else examples)
        left = tuple(budget.loss(record) - after.loss(record) for record in records)
        remark = self._ledger.remark(data, self._period)
        return Preview(
            planned.policy, expected(planned), losses, left, budget, spent, refusal, remark
        )

    @overload
    def ask(self, asked: Query) -> Answers: ...

    @overload
    def ask(self, asked: str, **options: Unpack[SQLOptions]) -> Answers: ...

    @overload
    def ask(self, asked: Sequence[Query]) -> list[Answers]: ...

    def ask(self, asked: Asked, **options: Unpack[SQLOptions]) -> Answers | list[Answers]:
        """Charge for a query, then answer it: one grouping, one table.

        Text is SQL, with the options of `from_sql`: keys, rho or epsilon, split, clamp or taper,
        candidates, accounting. A `Query` carries its own and takes none. What has several
        groupings (a rollup, GROUPING SETS) is asked with `ask_all`; several queries are one charge
        and give a list.
        """
        planned = self._plan(asked, options)
        if not isinstance(asked, Query | str):
            return self._answers(planned)
        if len(planned.groupings) > 1:
            raise QueryError(
                f"the query has {len(planned.groupings)} groupings, each of which is a table; "
                "ask for all of them, as a list, with ask_all instead of ask. Nothing was "
                "charged."
            )
        return self._answers(planned)[0]

    @overload
    def ask_all(self, asked: Query | Sequence[Query]) -> list[Answers]: ...

    @overload
    def ask_all(self, asked: str, **options: Unpack[SQLOptions]) -> list[Answers]: ...

    def ask_all(self, asked: Asked, **options: Unpack[SQLOptions]) -> list[Answers]:
        """Charge for a query, or for several at once, then answer: a table for each grouping.

        They come query by query, in the order of the grouping sets; the options are those of `ask`.
        """
        return self._answers(self._plan(asked, options))

    @overload
    def run(
        self,
        mechanism: Callable[[pa.Table], Result],
        *,
        columns: str | Sequence[str],
        rho: Exact | None = None,
        where: str | None = None,
        native: Literal[False] = False,
    ) -> RowsAnswer[Result]: ...

    @overload
    def run(
        self,
        mechanism: Callable[[Any], Result],
        *,
        columns: str | Sequence[str],
        rho: Exact | None = None,
        where: str | None = None,
        native: bool,
    ) -> RowsAnswer[Result]: ...

    def run(
        self,
        mechanism: Callable[[Any], Result],
        *,
        columns: str | Sequence[str],
        rho: Exact | None = None,
        where: str | None = None,
        native: bool = False,
    ) -> RowsAnswer[Result]:
        """Charge for any zCDP mechanism, then run it on the records as they are: rho (T8).

        It is a function of an Arrow table, with `native=True` of the engine's own frame, or an
        OpenDP measurement over one column. What it gives is taken for public.
        """
        planned = plan_rows(
            self._table, mechanism, columns=columns, rho=rho, where=where, native=native
        )
        return self._run_rows(planned)

    @overload
    def run_on_split_rows(
        self,
        mechanism: Callable[[pa.Table], Result],
        split: Scheme,
        *,
        columns: str | Sequence[str],
        rho: Exact | None = None,
        where: str | None = None,
        native: Literal[False] = False,
    ) -> RowsAnswer[Result]: ...

    @overload
    def run_on_split_rows(
        self,
        mechanism: Callable[[Any], Result],
        split: Scheme,
        *,
        columns: str | Sequence[str],
        rho: Exact | None = None,
        where: str | None = None,
        native: bool,
    ) -> RowsAnswer[Result]: ...

    def run_on_split_rows(
        self,
        mechanism: Callable[[Any], Result],
        split: Scheme,
        *,
        columns: str | Sequence[str],
        rho: Exact | None = None,
        where: str | None = None,
        native: bool = False,
    ) -> RowsAnswer[Result]:
        """Charge for any zCDP mechanism, then run it on split records: rho pieces^2 (T8).

        The mechanism is as in `run`. The split needs a public cap on the pieces of one record:
        `scheme.capped(1000)`.
        """
        planned = plan_rows(
            self._table,
            mechanism,
            columns=columns,
            rho=rho,
            split=split,
            where=where,
            native=native,
        )
        return self._run_rows(planned)

    def _answers(self, planned: Plan) -> list[Answers]:
        self._check(planned.policy)
        charge = partial(self._charge, planned.policy, _label(planned))
        return run(planned, self._table, charge=charge)

    def _run_rows(self, planned: RowsPlan[Result]) -> RowsAnswer[Result]:
        shown = ", ".join(planned.query.columns)
        self._check(planned.policy)
        charge = partial(self._charge, planned.policy, f"a mechanism on {shown}")
        return run_rows(planned, self._table, charge=charge)

    def _check(self, policy: Policy) -> None:
        """Refuse what the budget does not allow, and a source that cannot be read.

        Whether it can is decided once and for all of it, so that it tells nothing of the question.
        """
        self._ledger.preview(
            policy,
            snapshot=self._data(),
            meanings=self._meanings(policy),
            period=self._period,
            revision=self._revision,
        )
        if not self._was_read:
            check_readable(self._table)
            self._was_read = True

    def _charge(self, policy: Policy, label: str) -> None:
        meanings, data = self._meanings(policy), self._data()
        self._ledger.charge(
            policy,
            label=label,
            snapshot=data,
            meanings=meanings,
            period=self._period,
            revision=self._revision,
        )

    def _data(self) -> str:
        """Return the snapshot that the table shows, having checked that it still does."""
        origin = self._table.engine.origin
        if self._snapshot is None:
            self._snapshot = snapshot_of(origin, self._name, self._ledger.secret)
        check_unchanged(origin)
        return self._snapshot

    def _meanings(self, policy: Policy) -> dict[str, str]:
        return meanings_in(self._table.schema, policy)

    def _plan(self, asked: Asked, options: SQLOptions) -> Plan:
        schema = self._table.schema
        if isinstance(asked, str):
            check_known(options)
            planned = plan(from_sql(asked, schema=schema, **options), schema)
        elif options:
            raise InputError(
                f"the options {', '.join(options)} go with SQL text; a Query carries its own."
            )
        elif isinstance(asked, Query) or (isinstance(asked, list | tuple) and asked):
            planned = plan(asked, schema)
        else:
            raise InputError(
                f"a {type(asked).__name__} was asked; expected a Query, several, or SQL text."
            )
        check_plan(planned)
        return planned

    def __repr__(self) -> str:
        return f"Session({self._table!r}, {self._ledger!r})"


def _ledger(
    ledger: Ledger | str | Path,
    budget: Policy | None,
    name: str,
    *,
    new: bool,
    periods: str | Iterable[str | int] | None,
    period: str | None,
) -> Ledger:
    if periods is not None and (not new or isinstance(ledger, Ledger)):
        raise InputError(
            "periods are fixed when a ledger is made, with new=True. Leave periods out, and say "
            'which one the table is about: period="2026".'
        )
    if isinstance(ledger, Ledger):
        found = ledger
    elif new:
        if budget is None:
            raise InputError("a new ledger needs a budget, such as budget=Budget(1, [scheme]).")
        if period is not None and (periods is None or period not in period_names(periods)):
            raise InputError(
                f"period {period} is not one of the periods of the new ledger; name all of them, "
                'such as periods="2026..2035".'
            )
        return Ledger.create(ledger, budget, name=name, periods=periods)
    elif not Path(ledger).exists():
        raise LedgerError(
            f"there is no ledger {str(ledger)!r}. If it was lost, restore it from a backup: a new "
            "one would forget what was spent. If this is the first use, make it with new=True."
        )
    else:
        found = Ledger.open(ledger)
    own = found.part(period).budget
    if budget is not None and budget != own:
        fresh = " Nothing was charged to it yet: you may delete the file and use new=True again."
        raise LedgerError(
            "the ledger was made with another budget, which cannot be changed. Leave budget= out, "
            f"or give the same.{'' if found.has_charges else fresh} Its own is: {own}"
        )
    return found


def _label(planned: Plan) -> str:
    """Return what a charge is for, from the query alone."""
    parts = []
    for grouping in planned.groupings:
        names = ", ".join(charged.answer.name for charged in grouping.answers)
        columns = ", ".join(grouping.grouping.columns)
        parts.append(f"{names} by {columns}" if columns else names)
    return "; ".join(parts)
