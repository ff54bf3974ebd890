"""The page as a document: sealed, inert to hostile names, usable by keyboard, phone and printer."""

import base64
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from perrecord import Policy, Split
from perrecord.queries.plan import plan
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from perrecord.release.page import policy_page
from tests.browser import policies
from tests.browser.policies import HOSTILE
from tests.browser.typing import element, fill, result, type_record
from tests.release import test_size_classes as size_classes

pytestmark = pytest.mark.browser

# -- sealed ------------------------------------------------------------------------------------

LEAK = '<img src="http://127.0.0.1:9/leak.png">'


def without_policy(page):
    """Return the page without its content security policy."""
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)


def requests(tab):
    """Return the addresses that the page asked for, and whether it was let."""
    blocked = {each["requestId"] for each in tab.events("Network.loadingFailed")}
    return [
        (each["request"]["url"], each["requestId"] in blocked)
        for each in tab.events("Network.requestWillBeSent")
    ]


@pytest.mark.parametrize("name", policies.EVERY)
def test_nothing_is_asked_of_the_network(name, show):
    """Opening the page, typing and drawing load the file itself and nothing else; no complaint."""
    published = policies.EVERY[name]()
    tab = show(published)
    type_record(tab, published, {field.name: None for field in published.fields} | NUMBERS)
    tab.settle()
    assert [url.partition(":")[0] for url, _ in requests(tab)] == ["file"]
    assert tab.events("Log.entryAdded") == []
    assert tab.events("Runtime.exceptionThrown") == []


NUMBERS = {"employees": "120", "payroll": "7e6", "cattle": "33"}


def test_a_page_that_loads_something_is_caught_and_the_policy_stops_it(show):
    """Broken twin: an image from elsewhere is seen on the network, unless the policy is there."""
    page = policy_page(policies.plain()).replace("<main>", f"<main>{LEAK}")
    free, sealed = show(without_policy(page)), show(page)
    for tab in (free, sealed):
        tab.settle(300)
    assert "http://127.0.0.1:9/leak.png" in [url for url, _ in requests(free)]
    refused = [each.get("blockedReason") for each in sealed.events("Network.loadingFailed")]
    assert refused == ["csp"]
    assert any(
        "Content Security" in each["entry"]["text"] for each in sealed.events("Log.entryAdded")
    )


@pytest.mark.parametrize(
    "attack",
    [
        "fetch('http://127.0.0.1:9/').then(() => 'done', () => 'refused')",
        "(() => { try { return new Function('return 7')(); } catch { return 'refused'; } })()",
        """(() => { const it = document.createElement("div"); document.body.append(it);
            it.setAttribute("style", "width: 77px"); return it.style.width || "refused"; })()""",
        """(() => { const it = document.createElement("script"); it.textContent = "window.ran = 1";
            document.body.append(it); return window.ran ? "done" : "refused"; })()""",
    ],
    ids=["request", "eval", "style", "script"],
)
def test_the_content_security_policy_is_strict(attack, show):
    """No request, no eval, no inline style, no foreign script; without the policy they work."""
    page = policy_page(policies.plain())

    def tried(text):
        given = show(text).send(
            "Runtime.evaluate", expression=attack, awaitPromise=True,
            allowUnsafeEvalBlockedByCSP=False, returnByValue=True,
        )  # fmt: skip
        return given["result"].get("value")

    assert tried(page) == "refused"
    if "fetch" not in attack:  # nobody listens there
        assert tried(without_policy(page)) != "refused"


# -- hostile names -----------------------------------------------------------------------------

HARM = """[window.harmed ?? null, document.images.length, document.scripts.length,
    document.querySelectorAll("iframe, object, embed, b, [onerror], [onfocus]").length]"""


def test_hostile_names_and_values_stay_text(show):
    """No script runs, no element appears, and the record is still counted exactly."""
    published = policies.hostile()
    tab = show(published)
    first, second = published.fields[2:]
    for value in (HOSTILE[0], HOSTILE[6], HOSTILE[9], "<i>another"):
        typed = {HOSTILE[0]: "12", "__proto__": "99", first.name: value, second.name: HOSTILE[1]}
        type_record(tab, published, typed)
        assert result(tab)["loss"] == str(published.loss(typed))
        assert result(tab)["delta"] == str(published.delta(typed))
    tab.settle()
    assert tab.evaluate(HARM) == [None, 0, 2, 0]
    assert tab.events("Page.javascriptDialogOpening") == []
    assert tab.events("Runtime.exceptionThrown") == []


def test_a_page_that_embeds_names_as_markup_is_caught(show):
    """Broken twin: the same data with its angle brackets left as they are."""
    page = policy_page(policies.hostile()).replace("\\u003c", "<").replace("\\u003e", ">")
    harmed, images, *_ = show(without_policy(page)).evaluate(HARM)
    assert harmed is not None
    assert images > 0


# -- using it ----------------------------------------------------------------------------------


def test_everything_is_reached_by_keyboard_alone(show):
    """Tab, typing, arrows and the space bar fill the form, open the table and start again."""
    published = policies.selecting()
    tab = show(published)
    start = result(tab)["loss"]
    tab.press("Tab", 2)  # past the link to the calculator
    assert tab.evaluate("document.activeElement.dataset.field") == "region"
    tab.press("ArrowDown")
    tab.press("Tab")
    assert tab.evaluate("document.activeElement.labels[0].textContent") == "Employees"
    tab.write("1050")  # what is tabbed into is selected
    expected = published.loss({"region": "East", "employees": "1050"})
    assert result(tab)["loss"] == str(expected)
    tab.settle(600)
    spoken = tab.evaluate("document.querySelector('[aria-live=polite]').textContent")
    assert spoken.startswith("Hardly protected. Privacy loss 154.35.")
    tab.press("Tab")
    tab.press(" ")
    assert tab.evaluate("document.activeElement.textContent") == "Back to the example"
    assert result(tab)["loss"] == start
    reached = []
    for _ in range(6):
        tab.press("Tab")
        reached.append(tab.evaluate("document.activeElement.textContent"))
        tab.press("Enter") if "numbers" in reached[-1] else None
    assert {"Print", "The same as numbers", "Formulas", "The policy in words"} <= set(reached)
    assert tab.evaluate("document.querySelector('#curve-section details').open") is True


def test_every_control_has_a_name_and_its_notes(show):
    """Labels and descriptions are tied to their controls, as screen readers need."""
    tree = show(policies.piecewise()).send("Accessibility.getFullAXTree")["nodes"]
    roles = ("textbox", "combobox", "button")
    names = [
        node["name"]["value"]
        for node in tree
        if node.get("role", {}).get("value") in roles and not node["ignored"]
    ]
    assert len(names) >= 7
    assert all(names)


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("employees", "many", "not a number"),
        ("employees", "1,5", "not clear which number"),
        ("employees", "$5", "not a number"),
        ("employees", "1e999", "too long"),
        ("class", "1.5", "whole number"),
    ],
)
def test_what_cannot_be_read_is_explained_beside_the_field(name, typed, said, show):
    """The field is marked, the result steps back, and correcting it brings the result again."""
    published = policies.piecewise()
    tab = show(published)
    type_record(tab, published, {**EXAMPLE, name: typed})
    assert said in tab.evaluate(f"{element(name, '-problem')}.textContent")
    assert tab.evaluate(f"{element(name)}.getAttribute('aria-invalid')") == "true"
    assert result(tab)["state"] == "invalid"
    assert "loss" not in result(tab)
    type_record(tab, published, EXAMPLE)
    assert result(tab)["state"] == "valid"
    assert tab.evaluate(f"{element(name)}.getAttribute('aria-invalid')") == "false"


EXAMPLE = {"industry": "111", "class": 1, "public": True, "employees": "3", "payroll": "4"}


def test_a_record_that_no_rule_covers_is_explained(show):
    """Without a default the page says so at the field, as the library refuses the record."""
    policy = Policy.by("kind", {"a": Policy.constant(1), "b": Policy.constant(2)})
    fields = (Field("kind", "text", values=("a", "b")),)
    published = PublishedPolicy("t", "t", fields, (PublishedCharge("c", "c", policy),), policy)
    tab = show(published)
    type_record(tab, published, {"kind": "z"})
    assert "No rule covers" in tab.evaluate(f"{element('kind', '-problem')}.textContent")
    assert result(tab)["state"] == "invalid"


def test_a_scheme_that_does_not_know_the_record_is_left_out(show):
    """A scheme of one part of the records may lack a case for others, whose loss is defined."""
    scheme = Split.by("kind", {"a": Split(employees=5)})
    policy = Policy.by("public", {True: Policy.split(1, scheme)}, Policy.constant(2))
    kinds, public = Field("kind", "text", values=("a", "b")), Field("public", "truth")
    published = policies.published("t", (kinds, public, policies.employees()), {"all": policy})
    tab = show(published)
    for kind, is_public, pieces in (("a", True, ["3"]), ("a", False, ["3"]), ("b", False, [])):
        typed = {"kind": kind, "public": is_public, "employees": "11"}
        type_record(tab, published, typed)
        assert result(tab)["loss"] == str(published.loss(typed))
        assert result(tab)["pieces"] == pieces


def test_what_a_table_cannot_count_is_explained(show):
    """Values beyond the largest are treated as the table treats them, and the page says so."""
    published = policies.published(
        "t",
        (policies.employees(largest=100), policies.payroll(largest=10, outside="cut")),
        {"all": Policy.exact(1, measure="employees", threshold=1)
         + Policy.exact(1, measure="payroll", threshold=1000)},
    )  # fmt: skip
    tab = show(published)
    for typed, said in (("101", "treated as missing"), ("99.6", "counted as 100")):
        fill(tab, "employees", typed)
        fill(tab, "payroll", "-10500")
        assert said in tab.evaluate(f"{element('employees', '-note')}.textContent")
        assert "cut to it" in tab.evaluate(f"{element('payroll', '-note')}.textContent")
        assert result(tab)["loss"] == str(published.loss({"employees": typed, "payroll": "-10500"}))


# -- what it says ------------------------------------------------------------------------------


def words(tab, where):
    """Return the text of a part of the page, folded or not."""
    return tab.evaluate(f"document.querySelector('{where}').textContent.replace(/\\s+/g, ' ')")


@pytest.mark.parametrize("name", policies.EVERY)
def test_the_formulas_promise_pure_privacy_only_where_no_keys_are_selected(name, show):
    """With selections the divergence is bounded given events of probability 1 - delta (T2, T9)."""
    published = policies.EVERY[name]()
    said = words(show(published), ".formulas")
    is_selecting = name in ("selecting", "published rows", "changing")
    assert ("given these, what is published differs" in said) is is_selecting
    assert ("at least 1 − δ(r)" in said) is is_selecting
    assert ("Pr[Z ≥ τ − m]" in said) is is_selecting
    is_pure = name.endswith("pure epsilon")
    assert ("With the record and without it, what" in said) is not (is_selecting or is_pure)
    assert "Figures with “about” are approximate" in said


def test_each_measure_is_estimated_from_the_noise_about_it(show):
    """In the units typed, whatever the loss: sigma 250 people for a shop and for a hospital."""
    published = policies.noisy(is_wide=True)
    tab = show(published)
    typed = {"sector": "mine", "head": "x", "emp": "4", "pay": "", "rent": ""}
    type_record(tab, published, typed)
    said = words(tab, "#meaning")
    assert "Hardly. Someone who knows every other record would typically be off by about " in said
    assert "±250 people, 63 times the value itself." in said
    assert "Annual payroll" not in said  # nothing entered
    type_record(tab, published, {**typed, "emp": "4,000", "pay": "$2,000,000"})
    said = words(tab, "#meaning")
    assert "about ±250 people (±6.3 %)." in said
    assert "about ±$1,768 (±0.088 %)." in said
    assert "They would recognise this one practically every time." in said
    assert "odds" not in said


def test_what_no_total_tells_is_said(show):
    """A value beyond the bounds, one that nothing adds up, and noise that is not stated."""
    published = policies.noisy()
    tab = show(published)
    typed = {"sector": "farm", "head": "y", "emp": "3", "pay": "120", "rent": "700"}
    type_record(tab, published, typed)
    assert "tells how far beyond it this one lies." in words(tab, "#meaning")
    assert "off by at least about ±54 people" in words(tab, "#meaning")
    said = words(show(policies.plain()), "#meaning")
    assert "does not state the noise of every answer" in said


def test_about_and_at_most_stand_side_by_side(show):
    """The Gaussian figure where the law allows it, with the promise; else the promise alone."""
    published = policies.noisy(is_wide=True)
    tab = show(published)
    typed = {"sector": "farm", "head": "x", "emp": "3", "pay": "120", "rent": "1"}
    type_record(tab, published, typed)
    said = words(tab, "#meaning")
    assert "They would recognise this one about 6.9 times in 100." in said
    assert "The policy promises that it is at most 11 times in 100" in said
    assert "odds of the right answer" in said
    assert "Chance of being recognised, about 6.9 in 100" in words(tab, ".gauge-label")
    published = policies.noisy()
    tab = show(published)
    type_record(tab, published, typed)
    assert "at most 53 times in 100. Blind" in words(tab, "#meaning")


def test_nothing_says_that_no_record_can_be_read_back(show):
    """Of a large record that would be untrue."""
    tab = show(policies.plain())
    said = words(tab, "body")
    assert "read back" not in said
    assert "none stands out" not in said
    assert "the larger a record is, the more can be found out about it" in said


@pytest.mark.parametrize(
    ("unit", "typed", "counted"),
    [
        ("$", "$2,000,000", 2000000),
        ("$", "2,000,000 $", 2000000),
        ("$", "-$5", -5),
        ("$", "$ -5", -5),
        ("kg", "2 000 000 kg", 2000000),
        ("kg", "2\u202f000\u202f000,5 kg", None),
        ("kg", "2'000'000", 2000000),
        ("", "1_500", 1500),
        ("kg", "1,234 567", None),
        ("kg", "12 34", None),
        ("kg", "1.234.567", None),
        ("kg", "1,23", None),
        ("kg", "5 Kg", None),
        ("kg", "kg", None),
        ("1000 $", "5 1000 $", None),
        ("1000 $", "51000", 51000),
        (".", "5.", 5),
        ("e", "2 e", 2),
        ("people", "1,500 people", 1500),
    ],
)
def test_numbers_may_be_typed_as_people_write_them(unit, typed, counted, show):
    """The field's own unit and thousands apart are read; what could be two numbers is refused."""
    field = Field("x", "measure", "Size", unit, resolution=Fraction(1))
    policy = Policy.exact(1, measure="x", threshold=1)
    tab = show(policies.published("t", (field,), {"all": policy}))
    fill(tab, "x", typed)
    shown = result(tab)
    if counted is None:
        assert shown["state"] == "invalid"
        assert re.search(
            "not clear|not a number", tab.evaluate(f"{element('x', '-problem')}.textContent")
        )
    else:
        assert shown["loss"] == str(counted**2)


def test_one_value_is_one_value(show):
    """No "1 values"."""
    cases = {f"v{place}": Policy.constant(place) for place in range(1, 15)}
    for values, said in ((("only",), "the one value,"), (tuple(cases), "14 values,")):
        policy = Policy.by(
            "k", {each: cases.get(each, Policy.constant(1)) for each in values}, Policy.zero()
        )
        published = policies.published("t", (Field("k", "text"),), {"all": policy})
        tab = show(published)
        assert said in tab.evaluate(f"{element('k', '-note')}.textContent")


def test_near_certainty_is_said_plainly(show):
    """No "at most over 99.99 %"."""
    published = policies.selecting()
    tab = show(published)
    type_record(tab, published, {"region": "North", "employees": "5000", "industry": None})
    said = words(tab, "#meaning")
    assert "thereby revealed, almost certainly." in said
    assert "they may recognise this one practically every time." in said
    assert "over 99" not in words(tab, "#result")


def test_other_releases_of_a_ledger_are_mentioned_where_there_is_a_limit(show):
    """The page shows one release; the limit holds for all of them together."""
    for published in (policies.plain(), policies.selecting()):
        said = words(show(published), "#breakdown-section")
        assert ("adds up to at most the limit" in said) is (published.budget is not None)


def test_what_decides_a_size_class_is_not_compared_with_a_greater_value(show):
    """The page cannot tell which class the greater value is in, and says so."""
    with size_classes.opened() as source:
        planned = plan(size_classes.QUERIES["cells"], source.schema)
        tab = show(size_classes.published(planned, []))
    tab.settle()
    said = words(tab, "#meaning")
    assert "emp: could someone tell it from a greater value?" in said
    assert "That cannot be said here: size may change with it." in said
    assert result(tab)["changes"] == "[]"
    assert words(tab, "#curve-table td:last-child") == "–"


SIZES = Field("size", "text", expression="CASE WHEN emp > 100 THEN 'large' ELSE 'small' END")
DERIVED = policies.published(
    "Derived",
    (SIZES, Field("kind", "text", "Kind", values=("a", "b"))),
    {
        "large": Policy.by("size", {"large": Policy.constant(5)}, Policy.constant(1)),
        "kinds": Policy.by(
            "kind", {"a": Policy.constant(1), "c": Policy.constant(2)}, Policy.zero()
        ),
    },
    examples=(
        ("a corner shop", {"size": "small", "kind": "b"}),
        ("a hospital", {"size": "large", "kind": "c"}),
        ("<b>unknown</b>", {"size": None, "kind": None}),
    ),
)


def test_a_derived_dimension_shows_its_definition_and_unknown_values_are_noted(show):
    """Somebody who types Large for large reads that no case names it."""
    tab = show(DERIVED)
    assert SIZES.expression in words(tab, f"#{tab.evaluate(element('size') + '.id')}-definition")
    for size, kind, notes in (
        ("large", "a", ["", ""]),
        ("Large", "z", ["No case of the policy names", "No case of the policy names"]),
        ("large", "c", ["", "Not on the public list of values, but the policy"]),
        ("large", "b", ["", ""]),
    ):
        typed = {"size": size, "kind": kind}
        type_record(tab, DERIVED, typed)
        assert result(tab)["loss"] == str(DERIVED.loss(typed))
        for name, note in zip(typed, notes, strict=True):
            said = tab.evaluate(f"{element(name, '-note')}.textContent")
            assert said.startswith(note)
            assert note or "case" not in said


def test_codes_are_shown_with_their_names(show):
    """A few to choose from, and many on a list; a name is text, and no part of what is chosen."""
    many = tuple(str(code) for code in range(100, 140))
    fields = (
        Field("kind", "text", values=("a", "b"), names=("<b>Farms</b>", "")),
        Field("code", "text", values=many, names=tuple(f"Trade {each}" for each in many)),
    )
    loss = Policy.by("kind", {"a": Policy.constant(2)}, Policy.constant(1))
    codes = Policy.by("code", {"117": Policy.constant(3)}, Policy.zero())
    page = policies.published("Named", fields, {"all": loss, "codes": codes})
    tab = show(page)
    shown = tab.evaluate("[...document.querySelectorAll('option')].map((e) => [e.text, e.label])")
    assert any("a: <b>Farms</b>" in each for each in shown)
    assert any(each[0] == "b" or each[1] == "b" for each in shown)
    assert any("Trade 117" in each[1] for each in shown)
    assert tab.evaluate("document.querySelectorAll('option b').length") == 0
    type_record(tab, page, {"kind": "a", "code": "117"})
    assert result(tab)["loss"] == "5"


def test_examples_are_buttons_and_the_first_is_filled_in(show):
    """Whatever the control, an example brings the loss that the library gives it."""
    tab = show(DERIVED)
    losses = [str(DERIVED.loss(record)) for _, record in DERIVED.examples]
    assert result(tab)["loss"] == losses[0]
    buttons = "[...document.querySelectorAll('#examples button')]"
    named = [name for name, _ in DERIVED.examples]
    assert tab.evaluate(f"{buttons}.map(it => it.textContent)") == named
    for place in (1, 2, 0):
        tab.evaluate(f"{buttons}[{place}].click()")
        assert result(tab)["loss"] == losses[place]


def test_an_example_of_measures_is_filled_in_exactly(show):
    """Thousands, decimals and missing values."""
    large = {"employees": Fraction("1234567.5"), "payroll": None}
    examples = (("a", large), ("b", {"employees": Fraction("0.1")}))
    plain = policies.plain()
    for name, record in examples:
        published = replace(plain, examples=((name, {"payroll": Fraction(5000000), **record}),))
        tab = show(published)
        assert result(tab)["loss"] == str(published.loss(published.examples[0][1]))
        assert tab.evaluate("document.getElementById('examples').offsetHeight") == 0


# -- phone, paper, no script -------------------------------------------------------------------


@pytest.mark.parametrize("published", [*policies.EVERY.values(), policies.hostile])
def test_a_phone_shows_it_without_scrolling_sideways(published, show):
    """At 360 pixels nothing is wider than the screen; a page with a wide block is noticed."""
    width = "document.documentElement.scrollWidth"
    tab = show(published(), width=360, height=740)
    tab.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    tab.settle()
    assert tab.evaluate(width) <= 360
    tab.evaluate("document.body.append(Object.assign(document.createElement('pre'), "
                 "{textContent: 'wide '.repeat(99)}))")  # fmt: skip
    assert tab.evaluate(width) > 360


def test_paper_shows_the_record_and_the_result_but_no_controls(show):
    """The print view lists what was typed; on screen the form is there instead."""
    published = policies.plain()
    parts = "['form', 'printed', 'loss', 'curve']"
    shown = f"{parts}.map(id => document.getElementById(id).offsetHeight > 0)"
    tab = show(published)
    type_record(tab, published, {"employees": "150", "payroll": "12,000,000"})
    tab.settle()
    assert tab.evaluate(shown) == [True, False, True, True]
    tab.send("Emulation.setEmulatedMedia", media="print")
    assert tab.evaluate(shown) == [False, True, True, True]
    listed = tab.evaluate("document.getElementById('printed').innerText.split(/\\s*\\n\\s*/)")
    assert listed == ["Employees", "150 people", "Annual payroll", "12,000,000 dollars"]
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = base64.b64decode(tab.send("Page.printToPDF")["data"])
    assert paper.startswith(b"%PDF")


def test_without_script_the_policy_is_there_in_words(show):
    """The calculator stays away, a notice says why, and the words are open to read."""
    tab = show(policies.plain(), script=False)
    tree = tab.send("DOMSnapshot.captureSnapshot", computedStyles=[])
    boxes = tree["documents"][0]["layout"]["text"]
    text = " ".join(tree["strings"][place] for place in boxes if place >= 0)
    assert "needs JavaScript" in text
    assert "times the record's number of pieces squared" in text
    assert "Replace it as you like" not in text
