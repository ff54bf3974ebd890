"""The figures audit of the page: random releases, every figure recomputed from policy.json."""

from functools import wraps
from itertools import islice
from random import Random
from types import GeneratorType

import pytest

from perrecord.cli.audit import command_output
from perrecord.lab.audit.shown import page as page_audit
from perrecord.lab.audit.shown import page_curves
from perrecord.lab.audit.shown.altered import altered_page
from perrecord.lab.audit.shown.audit import Kinds, published, text_of
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.page import TEXTS, check_page
from perrecord.lab.audit.shown.page_curves import altered_curves, check_curves
from perrecord.release.reading import read_published
from tests import first
from tests.browser.typing import result, retouched, type_record

pytestmark = pytest.mark.browser


def shown_on(tab, release):
    """Type every record of a release into its page, and return what is shown of each."""
    policy = read_published((release.folder / "policy.json").read_text("utf-8"))
    for record in release.records:
        measures = {field.name for field in policy.fields if field.kind == "measure"}
        typed = {
            name: text_of(value) if name in measures else value for name, value in record.items()
        }
        type_record(tab, policy, typed)
        tab.settle()  # curves are drawn after a pause
        texts = {
            f"#{name}": tab.evaluate(f"document.getElementById('{name}').innerText")
            for name in TEXTS
        }
        yield record, {**result(tab), **texts}


def making(name, *arguments):
    """Run a command that makes the release; what others print of it is compared elsewhere."""
    return command_output(name, *arguments) if name in ("check", "ledger", "release") else ""


@pytest.fixture(scope="module", params=first(1, [3, 6]))
def releases(tmp_path_factory, request):
    """Return random releases: wide noise, selected keys, pure epsilon, others, one tapered."""
    every = [(seed, request.param, None) for seed in ("1 1", "1 3", "1 5", "1 6")]
    every.append(("1 2", 2, Random("tapers")))
    return [
        published(Random(seed), tmp_path_factory.mktemp("page"), records, making, Kinds(tapers))
        for seed, records, tapers in every
    ]


@pytest.fixture(scope="module")
def typed(releases, chromium):
    """Return each release with what its page shows of each of its records."""
    found = []
    for release in releases:
        tab = chromium.open(release.folder / "policy.html")
        found.append((release, list(shown_on(tab, release))))
        tab.close()
    return found


def once(function):
    """Return a function of a document and records that recomputes each figure once.

    Documents are told apart by their identity: the fixture `releases` holds them.
    """
    known = {}

    @wraps(function)
    def found(document, *records):
        key = (id(document), repr(records))
        if key not in known:
            value = function(document, *records)
            known[key] = list(value) if isinstance(value, GeneratorType) else value
        return known[key]

    return found


RECOMPUTED = {
    page_audit: (
        "change_of", "delta_of", "delta_of_change", "estimates", "least_loss", "loss_of", "raised",
        "recognised", "schemes", "told_apart",
    ),
    page_curves: ("change_of", "loss_of", "usual_size"),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def recomputed_once(releases):  # which hold the documents
    """Have what policy.json gives for a record computed once for all alterations of its page."""
    with pytest.MonkeyPatch.context() as patch:
        for module, names in RECOMPUTED.items():
            for name in names:
                patch.setattr(module, name, once(getattr(module, name)))
        yield


def test_every_figure_of_the_page_is_recomputed_and_noticed_when_altered(typed):
    """Data and words, for random records; then every second differs by one in its last digit."""
    findings, noticed, tried, missed = Comparisons(), set(), 0, []
    for release, every in typed:
        for record, shown in every:
            check_page(findings, release.document, record, shown)
            for where, changed in islice(altered_page(shown), tried % 2, None, 2):
                found = Comparisons()
                check_page(found, release.document, record, changed)
                noticed |= set(found.wrong)
                missed += [] if found.wrong else [where]
                tried += 1
    assert findings.failures == []
    assert missed == []
    assert noticed == set(findings.made)
    assert tried > 200


def test_every_point_of_the_curves_is_recomputed_and_noticed_when_altered(typed):
    """Points, where they are drawn, and the table under them, for two records of each release."""
    findings, noticed, missed, tried = Comparisons(), set(), [], 0
    for release, every in typed:
        for record, shown in every[:2]:
            check_curves(findings, release.document, record, shown)
            in_table = altered_page({"#table": shown["table"]})
            cells = [(where, {**shown, "table": each["#table"]}) for where, each in in_table]
            for where, changed in [*cells[::4], *altered_curves(shown)]:
                found = Comparisons()
                check_curves(found, release.document, record, changed)
                noticed |= set(found.wrong)
                missed += [] if found.wrong else [where]
                tried += 1
    assert findings.failures == []
    assert missed == []
    assert {"page: table", "page: point of the curve", "page: point of a change"} <= noticed
    assert findings.made["page: point of the curve"] > 1000
    assert tried > 100


TWINS = [
    ("page: table", "const PERCENTS = [5n, 10n, 20n]", "const PERCENTS = [5n, 10n, 25n]"),
    (
        "page: point of a change",
        "toNumber(changeOf(charges, withValue(value), field.name, other).loss)",
        "toNumber(changeOf(charges, withValue(other), field.name, other).loss)",
    ),
    (
        "page: point of the curve",
        "toNumber(lossOf(policy, withValue(value), POWER)),\n",
        "toNumber(lossOf(policy, record, POWER)),\n",
    ),
    ("page: place of a point", "((Math.log10(y) - yRange[0])", "((Math.sqrt(y) - yRange[0])"),
    (
        "page: loss of a change",
        "loss: cost(subtract(...shifts)), isGaussian",
        "loss: cost(shifts[1]), isGaussian",
    ),
    ("page: loss", "get(term.measure)), term.threshold)", "get(term.measure)), ONE)"),
    (
        "page: standard error of an estimate",
        "information = add(information, told)",
        "information = add(information, divide(ONE, cellOf(entered.noise, record).spread))",
    ),
    (
        "page in words: meaning",
        '? "100" : figure(100 * probability',
        '? "100" : figure(95 * probability',
    ),
    ("page: loss", "studentRho = (b, nu) => {", "studentRho = (b, nu) => { b *= 1 - 2 ** -26;"),
]


@pytest.mark.parametrize(("what", "old", "new"), TWINS, ids=[old for _, old, _ in TWINS])
def test_a_page_that_shows_another_figure_is_caught(what, old, new, show, releases):
    """Broken twins of the script itself, to see that the page's own figures are what is read."""
    findings = Comparisons()
    for release in releases[4:] if "student" in old else releases:
        page = (release.folder / "policy.html").read_text("utf-8")
        for record, shown in shown_on(show(retouched(page, old, new)), release):
            check_page(findings, release.document, record, shown)
            check_curves(findings, release.document, record, shown)
            if findings.wrong[what]:
                return
    pytest.fail(f"nothing wrong was found with {what}")
