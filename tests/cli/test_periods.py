"""A series on the command line: a ledger with periods, releases of two years, what is left."""

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord import Budget, Ledger, Split
from tests.cli.conftest import changed, run


def test_two_years_from_the_ledger_to_the_page(folder):
    """Created with periods, checked, released, shown; a wrong file and a missing period refused."""
    made = run("ledger", "create", "release.yaml", "--periods", "2026..2028")
    assert made.code == 0, made.err
    assert "It has 3 periods" in made.err
    assert Ledger.open(folder / "est.ledger").periods == ("2026", "2027", "2028")
    missing = run("check", "release.yaml")
    assert missing.code == 1
    assert "period: 2026 in the spec, --period 2026" in missing.err
    checked = run("check", "release.yaml", "--period", "2026")
    assert checked.code == 0, checked.err
    assert "  2026    1         0        0        3" in checked.out
    assert "a plant" in checked.out.partition("Over all periods")[2]
    found = run("check", "release.yaml", "--period", "2026", "--json").json()["ledger"]["periods"]
    assert [each["more_fit"] for each in found["periods"]] == [3, 3, 3]
    plant = found["histories"][1]
    assert (plant["name"], plant["so_far"], plant["all_spent"]) == ("a plant", "0", "27")
    assert plant["all_spent_growing"] == str(9 + 16 + 16)  # 150, 157.5 and 165.375 employees
    first = run("release", "release.yaml", "--out", "first", "--period", "2026")
    assert first.code == 0, first.err

    pq.write_table(
        pa.table({"id": [1, 2], "county": ["37001", "37001"], "emp": [130, 20]}),
        folder / "est.parquet",
    )
    wrong = run("release", "release.yaml", "--out", "second", "--period", "2026")
    assert wrong.code != 0
    assert "If this is the data of another period, name that one." in wrong.err
    second = run("release", "release.yaml", "--out", "second", "--period", "2027")
    assert second.code == 0, second.err
    shown = run("ledger", "show", "est.ledger", "--record", "emp=150", "--growth", "10")
    assert "  2026    1         0.3      1        2" in shown.out
    assert "  2028    1         0        0        3" in shown.out
    assert "emp = 150 3.8 27 5.2 41" in " ".join(shown.out.split())
    assert "published  2027    hmac:" in shown.out
    as_json = run("ledger", "show", "est.ledger", "--json").json()["periods"]
    assert [each["charges"] for each in as_json["periods"]] == [1, 1, 0]

    record = ("--record", "emp=150", "--record", "county=37001")
    lost = run("policy", "second", *record)
    assert "  all periods so far                   3.8" in lost.out
    series = run("policy", "second", *record, "--json").json()["records"][0]["series"]
    assert series == {
        "period": "2027",
        "loss_of_period": "1.9",
        "loss_so_far": "3.8",
        "loss_if_all_is_spent": "27",
    }


def test_a_part_of_its_own_and_what_is_refused(folder):
    """The base year may have the budget of another spec."""
    text = (folder / "release.yaml").read_text("utf-8")
    (folder / "base.yaml").write_text(text.replace("budget: {rho: 1,", "budget: {rho: 3,"), "utf-8")
    both = ("--periods", "2026..2027")
    for part in ("2025=base.yaml", "base.yaml"):
        refused = run("ledger", "create", "release.yaml", *both, "--part", part)
        assert "--part 2026=base.yaml" in refused.err
    assert run("ledger", "create", "release.yaml", "--part", "2026=base.yaml").code != 0
    assert run("ledger", "create", "release.yaml", "--periods", "2027..2026").code != 0
    assert not (folder / "est.ledger").exists()
    made = run("ledger", "create", "release.yaml", *both, "--part", "2026=base.yaml")
    assert made.code == 0, made.err
    ledger = Ledger.open(folder / "est.ledger")
    assert ledger.part("2026").budget == Budget(3, Split(emp=50))
    assert ledger.part("2027").budget == Budget(1, Split(emp=50))
    other = run("check", "release.yaml", "--period", "2026")
    assert "was made with another budget" in other.err


def test_a_spec_names_its_period(folder):
    """A number or text; what is neither is shown at its line."""
    changed(folder, "ledger: est.ledger\n", "ledger: est.ledger\nperiod: 2026\n")
    assert run("ledger", "create", "release.yaml", "--periods", "2026,2027").code == 0
    assert run("check", "release.yaml").code == 0
    assert "Give one of the two" in run("check", "release.yaml", "--period", "2027").err
    changed(folder, "period: 2026\n", "period: 2026.5\n")
    assert "period: expected a period such as 2026" in run("check", "release.yaml").err


def test_periods_that_the_spec_or_a_range_does_not_fit(folder):
    """Refused before there is a ledger; one that paid for nothing may be made again."""
    for given in ("2024-2033", "2024:2033"):
        refused = run("ledger", "create", "release.yaml", "--periods", given)
        assert "Write 2024..2033, or a list, such as 2024,2025,2026." in refused.err
    changed(folder, "ledger: est.ledger\n", "ledger: est.ledger\nperiod: 2026\n")
    for periods in ([], ["--periods", "2024-2025,2025-2026"]):
        refused = run("ledger", "create", "release.yaml", *periods)
        assert "the spec is about period 2026, which is not one" in refused.err
    assert not (folder / "est.ledger").exists()
    changed(folder, "period: 2026\n", "")
    for periods in ([], ["--periods", "2027..2028"]):
        assert run("ledger", "create", "release.yaml", *periods).code == 0
        refused = run("check", "release.yaml", "--period", "2026")
        assert "may also be deleted and made again" in refused.err
        assert "ledger create release.yaml --periods 2026,... with every period" in refused.err
        (folder / "est.ledger").unlink()


def test_a_name_that_meant_something_else_is_said(folder):
    """Losses of both years are not added up on the page; the ledger adds them, and says so."""
    changed(folder, "ledger: est.ledger\n", "ledger: est.ledger\nperiod: 2026\n")
    assert run("ledger", "create", "release.yaml", "--periods", "2026,2027").code == 0
    assert run("release", "release.yaml", "--out", "first").code == 0
    assert "Mind:" not in run("ledger", "show", "est.ledger", "--record", "emp=150").out
    rows = pq.read_table(folder / "est.parquet")
    pq.write_table(rows.append_column("staff", rows.column("emp")), folder / "est.parquet")
    changed(folder, "period: 2026\n", "period: 2027\n")
    changed(folder, "measures: {emp: 1}\n", "measures: {emp: {column: staff}}\n")
    made = run("release", "release.yaml", "--out", "second")
    assert made.code == 0, made.err
    record = ("--record", "emp=150", "--record", "county=37001")
    lost = run("policy", "second", *record)
    assert "Not counted, as it depends on other fields, or on ones that meant something" in lost.out
    series = run("policy", "second", *record, "--json").json()["records"][0]["series"]
    assert (series["loss_so_far"], series["loss_if_all_is_spent"]) == ("1.9", None)
    assert [each["period"] for each in series["not_counted"]] == ["2026"]
    shown = run("ledger", "show", "est.ledger", "--record", "emp=150").out
    assert "Mind: emp meant something else in some periods" in shown
    periods = run("ledger", "show", "est.ledger", "--json").json()["periods"]
    assert periods["changed_names"] == ["emp"]
