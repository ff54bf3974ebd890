"""What notebooks show of previews, evaluations and policies: the panels of the studio, inert."""

import re

import pyarrow as pa
import pytest

from perrecord import Policy, Query, Session, Split, studio, table
from perrecord.evaluate.confidential import HEADER
from perrecord.evaluate.evaluation import evaluate
from perrecord.exact import amount_up
from perrecord.panels import panel

HOSTILE = """<script>alert(1)</script>"&'{{7*7}}"""
SPLIT = Split(emp=50)
ASKED = Query("est").sum("emp", split=SPLIT, rho="0.2", name="total")


@pytest.fixture
def source():
    """Three records, one of them large."""
    with table(pa.table({"emp": [10, 20, 970]}), measures=["emp"], name="est") as found:
        yield found


def is_inert(shown):
    """Return whether nothing of it runs, loads or styles."""
    return not re.search(r"<script|<style|style=|src=|href=|on\w+=", shown)


def test_a_preview_shows_the_panels_of_the_studio(source, tmp_path):
    """Losses as the studio's table has them, the noise, and what the budget says."""
    session = Session(source, ledger=tmp_path / "ledger", budget=Policy.split(9, SPLIT), new=True)
    found = session.preview(ASKED, examples={HOSTILE: {"emp": 3}, "a plant": {"emp": 120}})
    shown = found._repr_html_()
    assert (
        panel("losses", losses=[(n, amount_up(x)) for n, x in found.losses], currency="rho")
        in shown
    )
    assert panel("charge", charge=found.policy.lines()) in shown
    assert '<td class="number">79.06</td>' in shown
    assert "The budget allows it." in shown
    assert "&lt;script&gt;" in shown
    assert is_inert(shown)


def test_a_session_shows_its_budget_and_what_is_left(source, tmp_path):
    """Of its table names and types, of the ledger what was charged; a preview below."""
    session = Session(source, ledger=tmp_path / "ledger", budget=Policy.split(9, SPLIT), new=True)
    examples = {HOSTILE: {"emp": 3}, "a plant": {"emp": 120}}
    fresh = studio.panel(session, examples=examples)
    assert fresh.spent == Policy.zero()
    assert [left for _, _, left in fresh.losses] == [9, 81]
    session.ask(ASKED)
    found = studio.panel(session, ASKED, examples=examples)
    shown = found._repr_html_()
    assert found.spent == session.spent == found.preview.policy
    assert found.losses == tuple(
        (name, loss, session.policy.loss(examples[name]) - loss)
        for name, loss in found.preview.losses
    )
    assert panel("charge", charge=session.policy.lines()) in shown
    assert session.preview(ASKED, examples=examples)._repr_html_() in shown
    assert '<th scope="row">emp</th><td>rounded to 1</td>' in shown
    assert "&lt;script&gt;" in shown
    assert "970" not in shown + str(found)
    assert "has lost 1.8, leaving 79.2 of its budget" in str(found)
    assert is_inert(shown)


def test_a_panel_reads_no_row_and_charges_nothing(source, tmp_path, monkeypatch):
    """It follows from what is declared and from the ledger."""
    session = Session(source, ledger=tmp_path / "ledger", budget=Policy.split(9, SPLIT), new=True)
    before = list(session.ledger.entries())
    for method in ("keep", "stream", "local"):
        monkeypatch.setattr(type(source.engine), method, None, raising=False)
    studio.panel(session, examples=[{"emp": 3}])._repr_html_()
    assert list(session.ledger.entries()) == before


def test_an_evaluation_shows_its_mark_losses_and_errors(source):
    """The numbers of its tables; nobody said that it is public."""
    found = evaluate({HOSTILE: ASKED}, source, repeats=1)
    shown = found._repr_html_()
    (row,) = found.by_size.to_pylist()
    assert HEADER in shown
    assert f"{100 * row['median_relative_error']:.3g} %" in shown
    assert f"{found.compared[0].largest:.4g}" in shown
    assert "&lt;script&gt;" in shown
    assert is_inert(shown)


def test_a_policy_shows_its_charge_line_by_line():
    """Cases stand deeper than what they are cases of."""
    policy = Policy.by("industry", {HOSTILE: Policy.constant(1)}, Policy.zero())
    shown = policy._repr_html_()
    assert shown.count("<li>") == len(policy.lines())
    assert "\u2003" in shown
    assert is_inert(shown)
