"""A program with a mistake on every marked line; mypy --strict finds each of them and no other.

Nothing in it is run. The comment gives the kind of mistake in mypy's words.
"""

import perrecord
from perrecord import (
    Answers,
    Budget,
    Keys,
    Lookup,
    Parts,
    Policy,
    Query,
    Session,
    Split,
    clamping,
    from_sql,
    meaning,
    table,
)

ROLLUP = Query().rollup("state", keys=Keys.from_dict({"state": ["TX"]}))


def ask(session: Session) -> None:
    """Questions whose options are wrong, and answers that are taken for something else."""
    session.ask("SELECT COUNT(*) FROM farms", rho=0.1)  # error: call-overload
    session.ask("SELECT COUNT(*) FROM farms", roh="0.1")  # error: call-overload
    session.ask("SELECT COUNT(*) FROM farms", rho=1, keys={"state": ["TX"]})  # error: dict-item
    session.ask("SELECT SUM(emp) FROM farms", rho=1, accounting="exakt")  # error: call-overload
    session.ask(Query().count(rho=1), rho=1)  # error: call-overload
    session.ask(17)  # error: call-overload
    session.ask(ROLLUP)[0]  # error: index
    found: Answers = session.ask_all(ROLLUP)  # error: assignment
    found.to_panda()  # error: attr-defined
    print(session.ask([Query().count(rho=1)]).table)  # error: attr-defined
    session.preview(Query().count(rho=1), rho=1)  # error: call-overload
    session.preview("SELECT 1", examples=[3])  # error: list-item
    session.run(len, columns="emp", native="yes")  # error: call-overload
    session.run(lambda rows: 1, columns="emp", rho=1).result.upper()  # error: attr-defined
    session.run_on_split_rows(len, 50, columns="emp", rho=1)  # error: call-overload


def declare() -> None:
    """Tables, keys, policies and methods of the wrong kinds."""
    print(perrecord.Sesion)  # error: attr-defined
    table(17)  # error: arg-type
    table("farms.parquet", measures={"emp": 0.5})  # error: dict-item
    Keys.from_dict({"state": [1.5]})  # error: list-item
    Keys.read("keys.csv").with_parent("state", "county", {1.5: "TX"})  # error: type-var
    Lookup(17, on="state")  # error: arg-type
    Split(emp=0.5)  # error: arg-type
    Split.by("state", {1.5: Split(emp=50)})  # error: type-var
    Policy.by("state", {"TX": 1})  # error: dict-item
    Policy.constant("0.1").loss("farm")  # error: arg-type
    Policy.constant("0.1").losses([1, 2])  # error: arg-type
    Budget(rho=1, splits=[50])  # error: list-item
    Parts("state", {"TX": Split(emp=50)})  # error: dict-item
    clamping(0, 0.5, rho=1)  # error: arg-type
    Query().count(rho={"TX": 1})  # error: call-overload
    Query().count(by="state", rho=1)  # error: call-overload
    from_sql("SELECT 1", schema="farms", rho=1)  # error: arg-type
    meaning("0.1").epsilon[0]  # error: index
