"""The figures audit of the page: random releases, every figure recomputed from policy.json."""

from random import Random

import pytest

from perrecord.audit.shown.audit import published
from perrecord.audit.shown.commands import text_of
from perrecord.audit.shown.findings import Findings
from perrecord.audit.shown.page import check_page
from perrecord.cli.audit import command_output
from perrecord.release.document import PublishedPolicy
from tests.browser.typing import result, retouched, type_record

pytestmark = pytest.mark.browser

TEXTS = ("loss", "comparison", "epsilon", "meaning")


def found_on(tab, release, findings):
    """Type every record of a release into its page, and compare what is shown."""
    policy = PublishedPolicy.from_json((release.folder / "policy.json").read_text("utf-8"))
    for record in release.records:
        measures = {field.name for field in policy.fields if field.kind == "measure"}
        typed = {
            name: text_of(value) if name in measures else value for name, value in record.items()
        }
        type_record(tab, policy, typed)
        texts = {
            f"#{name}": tab.evaluate(f"document.getElementById('{name}').innerText")
            for name in TEXTS
        }
        check_page(findings, release.document, record, {**result(tab), **texts})


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Return random releases: wide noise, selected keys, pure epsilon, others."""
    return [
        published(Random(seed), tmp_path_factory.mktemp("page"), 6, command_output)
        for seed in ("1 1", "1 3", "1 5", "1 6")
    ]


def test_every_figure_of_the_page_is_recomputed(show, releases):
    """Data and words, for random records of random releases."""
    findings = Findings()
    for release in releases:
        tab = show((release.folder / "policy.html").read_text("utf-8"))
        found_on(tab, release, findings)
    assert findings.failures == []
    assert {what for what, *_ in TWINS} <= set(findings.made)


TWINS = [
    ("page: loss", "get(term.measure)), term.threshold)", "get(term.measure)), ONE)"),
    ("page: epsilon", "return order * loss + bracket / above;", "return loss + bracket / above;"),
    ("page: odds", "(ratio / (1 - delta))", "(ratio * 0.99)"),
    (
        "page: chance, at most",
        "Math.sqrt(surprise) - Math.sqrt(loss)",
        "Math.sqrt(surprise) - loss",
    ),
    ("page: chance, about", "multiply(fraction(2n), cell.spread)", "cell.spread"),
    (
        "page: standard error of an estimate",
        "divide(ONE, variance)",
        "divide(ONE, cellOf(entered.noise, record).spread)",
    ),
    ("page: relative error of an estimate", "error / own", "error / (own + 1)"),
    ("page in words: loss", "length <= 6 ? text : figure(", "length < 0 ? text : figure(0.98 * "),
    (
        "page in words: chance, at most",
        '? "100" : figure(100 * probability',
        '? "100" : figure(95 * probability',
    ),
    (
        "page in words: chance, about",
        "probability > 0.99 ? 3 : 2, Math.round)",
        "1, Math.ceil) + 10",
    ),
    ("page in words: odds are said", "const USEFUL_ODDS = 10;", "const USEFUL_ODDS = 0;"),
    (
        "page in words: odds",
        "strong(figure(meaning.odds, 2))",
        "strong(figure(meaning.odds - 0.2, 2))",
    ),
    (
        "page in words: estimate",
        "withUnit(figure(error, 2, Math.round)",
        "withUnit(figure(2 * error, 2, Math.round)",
    ),
    (
        "page in words: relative error",
        "`, ${figure(relative, 2, Math.round)} times",
        "`, ${figure(100 * relative, 2, Math.round)} times",
    ),
]


@pytest.mark.parametrize(("what", "old", "new"), TWINS, ids=[what for what, *_ in TWINS])
def test_a_page_that_shows_another_figure_is_caught(what, old, new, show, releases):
    """Broken twins of the script: the audit names that very figure."""
    findings = Findings()
    for release in releases[:2] + releases[3:]:
        page = (release.folder / "policy.html").read_text("utf-8")
        found_on(show(retouched(page, old, new)), release, findings)
        if findings.wrong[what]:
            return
    pytest.fail(f"nothing wrong was found with {what}")
