"""Releases of a series: each is charged to its period, and says what was charged before (T35)."""

import json
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import (
    CurrencyError,
    InputError,
    Ledger,
    LedgerError,
    Policy,
    Query,
    Session,
    SpecError,
    Split,
    table,
)
from perrecord.accounting.entries import Charge
from perrecord.lab.audit.shown.document import loss_of
from perrecord.release.page import policy_page
from perrecord.release.publish import release
from perrecord.release.reading import read_published
from perrecord.release.series import EarlierCharges, PublishedSeries, series_of
from perrecord.release.spec import build, load_spec, open_table
from tests.release.test_published import VALIDATOR

SPEC = """\
title: Farms by state, 2026
source: 2026.parquet
table: farms
id: id
dimensions:
  state: {label: State, values: [NM, TX]}
measures:
  cattle: {resolution: 1, label: Head of cattle}
splits:
  moderate: {cattle: 50}
keys:
  states: {values: {state: [NM, TX]}}
budget: {rho: 1, splits: [moderate]}
ledger: farms.ledger
period: 2026
queries:
  - name: states
    group_by: [state]
    keys: states
    answers:
      farms: {count: records, rho: 0.1}
      cattle: {sum: cattle, split: moderate, rho: 0.3}
examples:
  - {name: a small farm, cattle: 12, state: TX}
  - {name: a feedlot, cattle: 120, state: TX}
"""
NEXT = SPEC.replace("2026", "2027")
FEEDLOT = {"cattle": 120, "state": "TX"}
LOSS = Fraction(1, 10) + 9 * Fraction(3, 10)


def write(folder, name, cattle):
    """Write the records of a year."""
    rows = {"id": range(len(cattle)), "state": ["TX", "NM"] * (len(cattle) // 2), "cattle": cattle}
    pq.write_table(pa.table(rows), folder / f"{name}.parquet")


@pytest.fixture
def folder(tmp_path):
    """Return a folder with two years of data, a spec for each, and the ledger of three."""
    write(tmp_path, "2026", [7, 30, 9000, 12])
    write(tmp_path, "2027", [8, 31, 9900, 12, 40, 1])
    for year, spec in (("2026", SPEC), ("2027", NEXT)):
        (tmp_path / f"{year}.yaml").write_text(spec)
    loaded = load_spec(tmp_path / "2026.yaml")
    with open_table(loaded) as opened:
        budget = build(loaded, opened.schema).budget
    Ledger.create(loaded.ledger, budget, periods="2026..2028")
    return tmp_path


def charges(folder):
    """Return what was charged so far, as period and label."""
    entries = Ledger.open(folder / "farms.ledger").entries()
    return [(each.period, each.label) for each in entries if isinstance(each, Charge)]


def published(out):
    """Return the policy of a release, read from its file, which fits the schema."""
    written = (out / "policy.json").read_text("utf-8")
    VALIDATOR.validate(json.loads(written))
    found = read_published(written)
    assert found.to_json() == written
    return found


def test_two_years_are_charged_to_their_parts_and_add_up(folder):
    """The second says what the first cost: a record of the same values has lost both."""
    release(folder / "2026.yaml", folder / "first")
    release(folder / "2027.yaml", folder / "second")
    assert charges(folder) == [
        ("2026", "Farms by state, 2026"),
        ("2027", "Farms by state, 2027"),
    ]
    first, second = published(folder / "first"), published(folder / "second")
    assert first.series.earlier == ()
    assert [(each.period, each.titles) for each in second.series.earlier] == [
        ("2026", ("Farms by state, 2026",))
    ]
    assert first.series_losses(FEEDLOT).so_far == first.loss(FEEDLOT) == LOSS
    lost = second.series_losses(FEEDLOT)
    assert (lost.period, lost.so_far, lost.limit) == (LOSS, 2 * LOSS, 27)
    assert second.budget.loss(FEEDLOT) == 9  # that of its own period
    method = (folder / "second" / "methodology.md").read_text("utf-8")
    assert "This release is about 2027, one of 3 periods (2026 to 2028)" in method
    assert "| a feedlot | 2.8 | 5.6 | 27 |" in method
    assert "charged to 2027 of the same ledger stay below" in method
    page = (folder / "second" / "policy.html").read_text("utf-8")
    assert "Over all periods" in page


def test_policy_json_alone_says_what_a_history_loses(folder):
    """By its documentation, without the library: at the values of each year, and at the same."""
    release(folder / "2026.yaml", folder / "first")
    release(folder / "2027.yaml", folder / "second")
    document = json.loads((folder / "second" / "policy.json").read_text("utf-8"))
    (earlier,) = document["series"]["earlier"]
    small, large = ({"cattle": Fraction(size), "state": "TX"} for size in (40, 120))
    assert loss_of(earlier["policy"], small) + loss_of(document["total"], large) == (
        Fraction(4, 10) + LOSS
    )
    lost = read_published(json.dumps(document)).series_losses(large)
    assert lost.so_far == loss_of(earlier["policy"], large) + loss_of(document["total"], large)
    assert lost.limit == loss_of(document["series"]["limit"], large)


def test_a_retry_is_charged_once_however_the_period_is_given(folder):
    """In the spec or beside it: it is the same release."""
    release(folder / "2026.yaml", folder / "first")
    assert release(folder / "2026.yaml", folder / "first").did == "nothing"
    (folder / "beside.yaml").write_text(SPEC.replace("period: 2026\n", ""))
    again = release(folder / "beside.yaml", folder / "first", period="2026")
    assert again.did == "nothing"
    assert len(charges(folder)) == 1
    with pytest.raises(SpecError, match=r"period: the spec says '2026', and '2027' was given"):
        release(folder / "2026.yaml", folder / "other", period="2027")


def test_the_same_data_in_another_period_is_another_release(folder):
    """It is charged to that period: nothing is published there for an earlier charge."""
    said = []
    (folder / "any.yaml").write_text(SPEC.replace("period: 2026\n", ""))
    release(folder / "any.yaml", folder / "first", period="2026")
    outcome = release(folder / "any.yaml", folder / "second", period="2027", remark=said.append)
    assert outcome.did == "made"
    assert [period for period, _ in charges(folder)] == ["2026", "2027"]
    assert said == [
        "the same data was charged for period 2026; check whether it is the data of period 2027"
    ]


def test_another_file_under_the_same_period_is_refused_unless_it_is_a_revision(folder):
    """Before a row is answered; what is charged for it comes out of the same part."""
    release(folder / "2026.yaml", folder / "first")
    wrong = folder / "wrong.yaml"
    wrong.write_text(SPEC.replace("2026.parquet", "2027.parquet"))
    with pytest.raises(LedgerError, match="period 2026 was charged on other data"):
        release(wrong, folder / "second")
    assert not (folder / "second").exists()
    assert len(charges(folder)) == 1
    release(wrong, folder / "second", revision="late returns")
    assert [period for period, _ in charges(folder)] == ["2026", "2026"]
    found = published(folder / "second")
    assert found.series.revision == "late returns"
    assert found.series_losses(FEEDLOT).period == 2 * LOSS
    assert "was revised: late returns" in (folder / "second/methodology.md").read_text("utf-8")
    again = release(wrong, folder / "third", revision="late returns, counted")
    assert again.did == "corrected"  # another reason shows the same numbers anew
    assert published(folder / "third").series.revision == "late returns, counted"
    assert len(charges(folder)) == 2


def test_the_ledger_knows_whether_data_was_revised(folder):
    """A release that is shown anew is a revision where it was charged as one, and nowhere else."""
    release(folder / "2026.yaml", folder / "first")
    wrong = folder / "wrong.yaml"
    wrong.write_text(SPEC.replace("2026.parquet", "2027.parquet"))
    release(wrong, folder / "second", revision="late returns")
    release(folder / "2026.yaml", folder / "anew", revision="nothing of the kind")
    assert published(folder / "anew").series.revision is None
    release(wrong, folder / "again")
    assert published(folder / "again").series.revision == "late returns"
    assert len(charges(folder)) == 2


def test_a_period_is_named_if_and_only_if_the_ledger_has_some(folder):
    """Refused before anything is read, with what to type."""
    (folder / "none.yaml").write_text(SPEC.replace("period: 2026\n", ""))
    with pytest.raises(LedgerError, match="period: 2026 in the spec, --period 2026"):
        release(folder / "none.yaml", folder / "out")
    plain = SPEC.replace("farms.ledger", "plain.ledger")
    (folder / "plain.yaml").write_text(plain)
    Ledger.create(folder / "plain.ledger", Ledger.open(folder / "farms.ledger").part("2026").budget)
    with pytest.raises(LedgerError, match="has no periods"):
        release(folder / "plain.yaml", folder / "out")
    assert not (folder / "out").exists()


def test_a_corrected_release_knows_what_was_charged_before_it_and_no_more(folder):
    """What came later was charged knowing it, and has a page of its own."""
    release(folder / "2026.yaml", folder / "first")
    release(folder / "2027.yaml", folder / "second")
    (folder / "2026.yaml").write_text(SPEC.replace("title: Farms", "title: All farms"))
    assert release(folder / "2026.yaml", folder / "anew").did == "corrected"
    assert published(folder / "anew").series.earlier == ()
    assert len(charges(folder)) == 2


def test_charges_that_read_other_fields_are_named_and_not_counted(folder):
    """Their loss cannot be computed from the fields of this release."""
    ledger = Ledger.open(folder / "farms.ledger")
    other = Policy.by("region", {"north": Policy.constant("0.1")}, Policy.zero())
    ledger.charge(other, label="by region", snapshot="s", period="2028")
    release(folder / "2026.yaml", folder / "first")
    found = published(folder / "first")
    assert found.series.unread == (("2028", "by region"),)
    assert found.series_losses(FEEDLOT).so_far == LOSS
    assert "by region" in (folder / "first" / "policy.html").read_text("utf-8")
    with open_table(load_spec(folder / "2026.yaml")) as opened:
        assert series_of(ledger, None, None, found.fields, opened.schema) is None


OTHER = NEXT.replace("cattle: {resolution: 1,", "cattle: {column: calves, resolution: 1,")
CHANGES = NEXT.replace("source: 2027.parquet", "source: {path: 2027.parquet, last: 2026.parquet}")


@pytest.mark.parametrize("spec", [OTHER, CHANGES])
def test_what_was_charged_while_a_name_meant_something_else_is_not_counted(folder, spec):
    """A herd of 9,000 that has not changed did not lose as little in 2026 as a herd of 0 would."""
    release(folder / "2026.yaml", folder / "first")
    rows = pq.read_table(folder / "2027.parquet")
    rows = rows.append_column("calves", rows.column("cattle"))
    pq.write_table(rows, folder / "2027.parquet")
    (folder / "2027.yaml").write_text(spec)
    release(folder / "2027.yaml", folder / "second")
    found = published(folder / "second")
    assert found.series.earlier == ()
    assert found.series.unread == (("2026", "Farms by state, 2026"),)
    assert found.series.limit is None
    method = (folder / "second" / "methodology.md").read_text("utf-8")
    assert (
        "Farms by state, 2026, which depends on fields that are not here, or that meant" in method
    )


def test_a_session_is_about_one_period(folder):
    """Its guarantee is the part of its period; without one it is refused."""
    path = folder / "farms.ledger"
    farms = table(folder / "2026.parquet", name="farms", measures=["cattle"])
    scheme = Split(cattle=50)
    with pytest.raises(LedgerError, match="period='2026' in Python"):
        Session(farms, ledger=path)
    session = Session(farms, ledger=path, period=2026)
    assert session.policy == Policy.split(1, scheme)
    question = Query("farms").sum("cattle", split=scheme, rho="0.6")
    assert session.preview(question).is_affordable
    session.ask(question)
    assert not session.preview(question).is_affordable
    later = table(folder / "2027.parquet", name="farms", measures=["cattle"])
    with pytest.raises(LedgerError, match="charged on other data"):
        Session(later, ledger=path, period="2026").ask(question)
    Session(later, ledger=path, period="2027").ask(question)
    assert [period for period, _ in charges(folder)] == ["2026", "2027"]
    with pytest.raises(InputError, match="periods are fixed when a ledger is made"):
        Session(farms, ledger=path, periods="2026..2030", period="2026")
    made = {"budget": Policy.split(1, scheme), "new": True}
    with pytest.raises(InputError, match="not one of the periods"):
        Session(farms, ledger=folder / "x.ledger", period="2025", periods="2026..2027", **made)
    assert not (folder / "x.ledger").exists()
    fresh = Session(farms, ledger=folder / "x.ledger", period="2026", periods="2026..2027", **made)
    assert fresh.ledger.periods == ("2026", "2027")


def test_a_series_that_contradicts_itself_is_refused():
    """Its periods are among those of the ledger, its losses in one currency."""
    with pytest.raises(InputError, match="not one of its periods"):
        PublishedSeries("2025", ("2026",))
    rho, epsilon = Policy.constant(1), Policy.constant(epsilon=1)
    with pytest.raises(CurrencyError):
        PublishedSeries("2026", ("2026",), (EarlierCharges("2026", ("a",), rho),), (), epsilon)


def test_hostile_names_of_periods_and_titles_are_inert(folder):
    """Titles of earlier charges are somebody's text: they reach the page as data."""
    ledger = Ledger.open(folder / "farms.ledger")
    title = "</script><img src=x onerror=alert(1)>"
    ledger.charge(Policy.constant("0.1"), label=title, snapshot="s", period="2028")
    release(folder / "2026.yaml", folder / "first")
    page = policy_page(published(folder / "first"))
    assert "<img src=x" not in page
    method = (folder / "first" / "methodology.md").read_text("utf-8")
    assert "\\<img src=x" in method
    assert "<img" not in method.replace("\\<img", "")
