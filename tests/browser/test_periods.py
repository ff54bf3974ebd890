"""Over all periods: what the page adds up is what the library does (T35)."""

import json
from random import Random

import pytest

from perrecord.release.page import policy_page
from tests.browser import policies
from tests.browser.test_records import LOW, random_record, seen_by
from tests.browser.typing import result, retouched, type_record

pytestmark = pytest.mark.browser

RECORDS = 25


def over_periods(published, record):
    """Return what the library says: of the period so far, of all so far, if all is spent."""
    lost = published.series_losses(record)
    return [str(lost.period), str(lost.so_far), str(lost.limit)]


def test_the_page_adds_up_the_periods_as_the_library_does(show):
    """The same rationals, and a row for each period that something was charged to."""
    published, source = policies.series(), Random(35)
    tab = show(published, height=LOW)
    for _ in range(RECORDS):
        typed = random_record(published, source)
        type_record(tab, published, typed)
        record = seen_by(published, typed)
        assert json.loads(result(tab)["periods"]) == over_periods(published, record)
    rows = tab.evaluate(
        "[...document.querySelectorAll('#series-losses th, #series-end th')]"
        ".map(it => it.textContent)"
    )
    assert rows == [
        "2024: Establishments, 2024",
        "2025: Establishments, A sample",
        "2026: A sample",
        "2026: this release",
        "All of 2026 so far",
        "All periods so far",
        "All periods, if everything is spent",
    ]
    text = tab.evaluate("document.getElementById('series-section').textContent")
    assert "whose data was revised (late returns)" in text
    assert "By region (2025)" in text
    assert tab.events("Runtime.exceptionThrown") == []


def press(tab, text):
    """Press the button that says this."""
    tab.evaluate(
        "[...document.querySelectorAll('#series-keep button')]"
        f".find(it => it.textContent === {json.dumps(text)}).click()"
    )


def test_a_record_that_changed_adds_up_the_values_of_each_period(show):
    """Values are kept for an earlier period; the others have those that are typed."""
    published = policies.series()
    small, large = ({"employees": "20", "payroll": "3e5"}, {"employees": "4000", "payroll": "9e7"})
    tab = show(published)
    type_record(tab, published, small)
    press(tab, "Keep these values for 2024")
    type_record(tab, published, large)
    first, second, third = (each.policy for each in published.series.earlier)
    before, now = seen_by(published, small), seen_by(published, large)
    own = published.loss(now) + third.loss(now)
    expected = [str(own), str(own + first.loss(before) + second.loss(now)), None]
    assert json.loads(result(tab)["periods"]) == expected
    shown = tab.evaluate("document.getElementById('series-losses').textContent")
    assert "2024: Establishments, 2024 (values kept)" in shown
    press(tab, "Forget kept values")
    assert json.loads(result(tab)["periods"]) == over_periods(published, now)


def test_a_page_that_forgets_earlier_periods_is_caught(show):
    """Broken twin: it adds up its own period alone."""
    published = policies.series()
    typed = {"employees": "120", "payroll": "7e6"}
    page = policy_page(published)
    broken = retouched(
        page, "...before.map(({ loss }) => loss)", "...inPeriod.map(({ loss }) => loss)"
    )
    for text, is_right in ((page, True), (broken, False)):
        tab = show(text)
        type_record(tab, published, typed)
        expected = over_periods(published, seen_by(published, typed))
        assert (json.loads(result(tab)["periods"]) == expected) is is_right


def test_a_page_without_periods_says_nothing_of_them(show):
    """Its ledger has none."""
    tab = show(policies.plain())
    assert tab.evaluate("document.getElementById('series-section')") is None
    assert result(tab)["periods"] == "null"
