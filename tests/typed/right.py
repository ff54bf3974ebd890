"""A program that uses every public name as it is meant; mypy --strict finds nothing in it.

`assert_type` says what a checker knows of a value. The program also runs: what the types say is so.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Unpack, assert_type

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from perrecord import (
    AmountError,
    Answers,
    ApproximationError,
    Blur,
    Budget,
    BudgetExceededError,
    Currency,
    CurrencyError,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStudent,
    DocumentError,
    Domain,
    Enclosure,
    File,
    InexactNumberError,
    InputError,
    InternalError,
    Keys,
    Ledger,
    LedgerError,
    Linked,
    Lookup,
    Meaning,
    Measure,
    MissingFieldError,
    OneSided,
    Parts,
    PerrecordError,
    Policy,
    Preview,
    ProbabilityError,
    Query,
    QueryError,
    RecordError,
    ReleaseError,
    RowsAnswer,
    SchemaError,
    SelectCells,
    SelectKeys,
    Session,
    SourceError,
    SpecError,
    Split,
    SQLOptions,
    SQLTextError,
    Table,
    Taper,
    ThresholdError,
    UnknownCaseError,
    Weight,
    Weighting,
    clamping,
    export,
    from_sql,
    group_loss,
    meaning,
    meaning_of_answer,
    one_sided,
    realised_loss,
    splitting,
    substitution_loss,
    table,
    tapering,
)

ERRORS: tuple[type[PerrecordError], ...] = (
    AmountError,
    ApproximationError,
    BudgetExceededError,
    CurrencyError,
    DocumentError,
    InexactNumberError,
    InputError,
    InternalError,
    LedgerError,
    MissingFieldError,
    ProbabilityError,
    QueryError,
    RecordError,
    ReleaseError,
    SQLTextError,
    SchemaError,
    SourceError,
    SpecError,
    ThresholdError,
    UnknownCaseError,
)

FIFTY = Split(cattle=50)
STATES = Keys.from_dict({"state": ["NM", "TX", "VA"]})


def policies() -> None:
    """Policies, losses and what they mean, from records, columns and amounts."""
    rents = Split({"rent": "0.5"}, cattle=Fraction(50))
    by_state: dict[str, Split] = {"TX": FIFTY}
    piecewise = Split.by("state", by_state, default=rents)
    assert_type(piecewise.pieces({"state": "TX", "cattle": 120}), int)
    assert_type(FIFTY.capped(1000), Split)
    assert_type(FIFTY.rows({"cattle": 120}), list[dict[str, object]])
    pairs = {("TX", 1): Policy.split("0.1", FIFTY)}
    policy = Policy.by(("state", "year"), pairs, Policy.zero(Currency.RHO))
    policy = policy + 2 * Policy.constant(Decimal("0.1"))
    losses: Mapping[str, Fraction] = {"a": Fraction(1, 2)}
    assert_type(Policy.personalised("id", losses, default="0.1"), Policy)
    record = {"state": "TX", "year": 1, "cattle": 120}
    assert_type(policy.loss(record), Fraction)
    assert_type(policy.supremum(), Fraction | None)
    assert_type(policy.group_loss([record, record], "simple"), Fraction)
    assert_type(policy.meaning(record), Meaning[float])
    known = Policy.constant("0.1")
    assert_type(known.losses({"cattle": [1, 2]}), npt.NDArray[np.float64])
    assert_type(known.losses(pl.DataFrame({"cattle": [1, 2]})), npt.NDArray[np.float64])
    assert_type(meaning("0.1").epsilon, float)
    several: npt.NDArray[np.float64] = np.array([0.1, 0.2])
    assert_type(meaning(several).epsilon, npt.NDArray[np.float64])
    assert_type(meaning([0.1, 0.2]).power[0.05], npt.NDArray[np.float64])
    assert_type(meaning_of_answer(1, 5), Meaning[float])
    assert_type(group_loss([1, "0.5"]), Fraction)
    assert_type(substitution_loss(1, 4), Fraction)
    assert_type(realised_loss([(150, 1250)]), Fraction)
    assert_type(one_sided(1, rho_max=4), OneSided)
    assert_type(DiscreteGaussian(5).variance(), Enclosure)
    assert_type(DiscreteLaplace(3).quantile("0.95"), int)
    assert_type(DiscreteStudent.for_rho("0.2", at=50).half_width("0.95"), int)


def tables(folder: Path) -> Table:
    """Tables of every kind, their keys and their lookups."""
    regions = Lookup({"fips": ["NM", "TX"], "south": [True, True]}, on={"state": "fips"})
    frame = pl.DataFrame({"state": ["NM", "TX"], "cattle": [12, 9000], "rent": [0.5, 7.0]})
    roles: dict[str, str] = {"state": "state", "first": "substr(state, 1, 1)"}
    table(frame.lazy(), measures={"cattle": Measure(1, outside="cut")}).close()
    frame.write_csv(folder / "farms.csv")
    table(folder / "farms.csv", dimensions=["state"]).close()
    table(File(folder / "farms.csv", separator=","), dimensions=["state"]).close()
    weight = Weight("rent", "0.5", largest=10)
    table(frame, measures=["cattle"], weight=weight).close()
    table(Linked(frame, last=frame), id="state", measures=["cattle"]).close()
    counties = Keys.from_columns({"county": ["Travis", "Taos"], "code": [1, 2]})
    parents: dict[str, str] = {"Travis": "TX", "Taos": "NM"}
    assert_type(counties.with_parent("state", "county", parents), Keys)
    assert_type(counties.filter("code", [1]).rows(), list[tuple[str | int | None, ...]])
    assert_type(Keys(frame.select("state")) * counties, Keys)
    assert_type(Domain(STATES, counties), Domain)
    return table(
        frame,
        name="farms",
        dimensions=roles,
        measures={"cattle": 1, "rent": Decimal("0.01")},
        lookups=[regions],
    )


def queries(farms: Table) -> list[Query]:
    """Queries step by step and from SQL, their cells and their methods."""
    domain = Domain.from_dict({"state": ["NM", "TX"]})
    parts = Parts("state", {"TX": splitting(FIFTY, rho=1), ...: clamping(0, 500, rho="0.2")})
    query = (
        Query("farms")
        .where("cattle > 0")
        .group_by("state", keys=SelectCells(domain, answer="count", at_least=1))
        .count(by="state", rho={"TX": "0.1", ...: 1})
        .count_distinct("state", rho=1)
        .sum("cattle", parts=parts)
        .average("rent", clamp=(0, 10), rho=("0.1", "0.2"))
        .sum("rent", taper="0.5", rho="0.1", name="rents")
        .sum("rent", taper="0.5", blur=Blur("0.1", signed=True), rho="0.1", name="blurred")
        .median("cattle", candidates=range(0, 100, 10), rho="0.1")
        .median(
            "rent",
            candidates=range(10),
            rho="0.1",
            weight=Weighting("cattle", at=100),
            name="weighed",
        )
    )
    slow = Parts("state", {...: tapering(Taper(cattle=50), rho="0.1")})
    assert_type(Query("farms").sum("cattle", parts=slow), Query)
    selected = Query("farms").group_by(["state"], keys=SelectKeys(rho=1, delta="1e-6")).count(rho=1)
    text = from_sql("SELECT SUM(cattle) FROM farms", schema=farms.schema, rho=1, split=FIFTY)
    assert_type(text, Query)
    assert_type(text.sql(farms.schema), str)
    return [query, selected, text]


def asked_twice(
    session: Session, sql: str, **options: Unpack[SQLOptions]
) -> tuple[Answers, Answers]:
    """Hand the options of SQL text on."""
    return session.ask(sql, **options), session.ask(sql, **options)


def number_of_rows(rows: pa.Table) -> int:
    """Count the rows, which is no mechanism but has the type of one."""
    return int(rows.num_rows)


def sessions(farms: Table, path: Path) -> Answers:
    """A session: previews, answers, mechanisms on rows, the ledger."""
    session = Session(farms, ledger=path, budget=Budget(rho=100, splits=FIFTY), new=True)
    assert_type(session.ledger, Ledger)
    count = Query("farms").count(rho=1)
    rollup = Query("farms").rollup("state", keys=STATES).count(rho=1)
    by_state = "SELECT COUNT(*) AS n, SUM(cattle) AS cattle FROM farms GROUP BY state"
    answers = session.ask(
        by_state, keys=STATES, rho={"n": "0.1", "cattle": 1}, split={"cattle": FIFTY}
    )
    assert_type(answers, Answers)
    assert_type(session.ask(count), Answers)
    assert_type(session.ask([count, rollup]), list[Answers])
    assert_type(session.ask_all(rollup), list[Answers])
    assert_type(session.ask_all("SELECT COUNT(*) FROM farms", epsilon=None, rho=1), list[Answers])
    assert_type(session.preview(count, examples={"a farm": {"cattle": 3}}), Preview)
    assert_type(session.preview([count], examples=[{"cattle": 3}]).is_affordable, bool)
    assert_type(session.preview("SELECT COUNT(*) FROM farms", rho=1).refusal, str | None)
    median = "SELECT MEDIAN(cattle) FROM farms"
    asked_twice(session, median, rho="0.1", candidates=[0, 100])
    found = session.run(number_of_rows, columns="cattle", rho=1)
    assert_type(found, RowsAnswer[int])
    capped = FIFTY.capped(1000)
    split = session.run_on_split_rows(number_of_rows, capped, columns=["cattle"], rho="0.1")
    assert_type(split.result, int)
    assert_type(session.policy, Policy)
    return answers


def frames(answers: Answers) -> None:
    """Answers go wherever tables go."""
    assert_type(answers.to_polars(), pl.DataFrame)
    assert_type(answers.to_polars(None, exact=True), pl.DataFrame)
    assert_type(answers.policy_of("n"), Policy)
    assert_type(len(answers), int)
    again = table(answers, measures=["cattle"])
    assert_type(again, Table)
    again.close()


def exported(folder: Path) -> None:
    """A folder that is no release is refused."""
    try:
        assert_type(export(folder, to="px", out=folder / "px"), tuple[Path, ...])
    except PerrecordError:
        return
    raise AssertionError


def main(folder: Path) -> None:
    """Run all of it."""
    policies()
    exported(folder)
    with tables(folder) as farms:
        queries(farms)
        frames(sessions(farms, folder / "farms.ledger"))
