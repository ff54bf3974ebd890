"""Hostile keys in a real browser: looked up exactly, and nothing of them runs."""

import json
import re

import jinja2
import pytest

from perrecord.release import page as page_module
from perrecord.release.page import policy_page
from perrecord.release.reading import read_published
from tests.browser.conftest import chromium, show  # noqa: F401 - fixtures
from tests.browser.test_page import requests, without_policy
from tests.browser.typing import element
from tests.cli.conftest import run
from tests.hostile.keys import EVERY
from tests.hostile.keys_release import CASES, NOT_CASES, shared_folder, write_folder

pytestmark = pytest.mark.browser

TYPED = tuple(key for key in EVERY if key and not re.search(r"[\r\n]", key))
"""What a text field can hold."""
SIGNED = tuple(key for key in EVERY if key not in TYPED)
"""What the page shows by signs: the empty text, and text of several lines."""

LOOKED_UP = """keys => keys.map(key => {
  const control = %s;
  control.value = key;
  control.dispatchEvent(new Event("input", {bubbles: true}));
  const shown = document.getElementById("result").dataset;
  return [control.value, shown.state, shown.loss];
})"""
HARM = """[window.canary ?? null, document.scripts.length,
    document.querySelectorAll("iframe, object, embed, img, b, [onerror], [onload], [onfocus]")
    .length, document.querySelectorAll("a:not([href^='#'])").length]"""


@pytest.fixture
def out():
    """A release of every hostile key."""
    return shared_folder() / "out"


def looked_up(tab, texts):
    """Return what the page shows for each text put into the field of the key."""
    call = f"({LOOKED_UP % element('key')})({json.dumps(list(texts))})"
    return tab.evaluate(call)


def harm(tab):
    """Return whatever a page did or holds that it should not."""
    canary, scripts, elements, links = tab.evaluate(HARM)
    asked = [url for url, _ in requests(tab) if not url.startswith("file:")]
    events = [
        name
        for name in ("Page.javascriptDialogOpening", "Runtime.exceptionThrown", "Log.entryAdded")
        if tab.events(name)
    ]
    return [canary, scripts, elements, links, asked, events]


def test_every_key_is_found_in_the_page_with_its_own_loss(out, show, record_property):  # noqa: F811
    """Put into the field, or chosen by the signs that stand for it; the losses are exact."""
    published = read_published((out / "policy.json").read_text("utf-8"))
    tab = show((out / "policy.html").read_text("utf-8"))
    tab.evaluate(f"{element('emp')}.value = '1000000', 0")
    wanted = {key: str(published.loss({"emp": "1000000", "key": key})) for key in EVERY}
    assert len(set(wanted.values())) == len(CASES)  # one is as the default
    assert looked_up(tab, TYPED) == [[key, "valid", wanted[key]] for key in TYPED]
    options = tab.evaluate(
        f"[...document.getElementById({element('key')}.getAttribute('list')).options]"
        ".map(it => it.value)"
    )
    assert len(set(options)) == len(options) == len(EVERY)
    signs = options[len(TYPED) :]
    assert [loss for _, _, loss in looked_up(tab, signs)] == [wanted[key] for key in SIGNED]
    tab.settle()
    assert harm(tab) == [None, 2, 0, 0, [], []]
    record_property("keys looked up in the browser", len(options))
    record_property("pages opened", 1)


def test_keys_typed_by_hand_are_exact(out, show):  # noqa: F811
    """By real input events."""
    published = read_published((out / "policy.json").read_text("utf-8"))
    tab = show((out / "policy.html").read_text("utf-8"))
    tab.evaluate(f"{element('emp')}.focus(), {element('emp')}.select()")
    tab.write("70")
    for key in ("=1+1", "</script><script>window.canary='script'</script>", "e\u0301", "ab", " a"):
        tab.evaluate(f"{element('key')}.focus(), {element('key')}.select()")
        tab.write(key)
        shown = tab.evaluate("({...document.getElementById('result').dataset})")
        assert shown["loss"] == str(published.loss({"emp": "70", "key": key}))
    assert harm(tab) == [None, 2, 0, 0, [], []]


def test_a_page_that_takes_lines_together_is_caught(out, show):  # noqa: F811
    """Broken twin: ends of lines left out, as a text field does, make one key of two."""
    page = (out / "policy.html").read_text("utf-8")
    broken = without_policy(
        page.replace('.replace(/\\r\\n?|\\n/g, "\\u21b5")', '.replace(/[\\r\\n]/g, "")').replace(
            "while (byText.has(text))", "while (false)"
        )
    )
    assert broken != without_policy(page)
    published = read_published((out / "policy.json").read_text("utf-8"))
    tab = show(broken)
    tab.evaluate(f"{element('emp')}.value = '1000000', 0")
    ((_, _, loss),) = looked_up(tab, ["ab"])
    assert loss != str(published.loss({"emp": "1000000", "key": "ab"}))


def test_a_template_that_does_not_escape_is_caught(out, show, monkeypatch):  # noqa: F811
    """Broken twin: the same page made with escaping off, and its content policy taken out."""
    published = read_published((out / "policy.json").read_text("utf-8"))

    def careless(**options):
        return jinja2.Environment(**(options | {"autoescape": False}))

    monkeypatch.setattr(page_module, "Environment", careless)
    monkeypatch.setattr(page_module, "_template", page_module._template.__wrapped__)
    tab = show(without_policy(policy_page(published)))
    tab.settle()
    canary, _, elements, *_ = harm(tab)
    assert canary is not None
    assert elements > 0


PICTURES = "document.querySelectorAll('img[src^=\"data:image/svg+xml\"]').length"
REPORTED = tuple(
    key for key in EVERY if key not in NOT_CASES and re.search(r"[<>{}=`\x1b\u202e\0]", key)
)[:24]


@pytest.mark.audit
def test_reports_of_the_curator_are_inert(tmp_path, show, monkeypatch, record_property):  # noqa: F811
    """The pages of evaluate and tune on the same names: nothing runs, loads or appears."""
    monkeypatch.chdir(tmp_path)
    path = write_folder(tmp_path, REPORTED)
    text = path.read_text("utf-8").replace("rho: 10000", "rho: 0.1").replace("0.1000", "10000")
    path.write_text(text, "utf-8")
    pages = 0
    for command in (
        ["evaluate", "release.yaml", "--out", "found"],
        ["tune", "release.yaml", "--out", "tuned", "--goal", "5% for 95% of cells"],
    ):
        ran = run(*command)
        assert ran.code == 0, ran.err
        for report in sorted((tmp_path / command[3]).rglob("*.html")):
            tab = show(report.read_text("utf-8"))
            tab.settle()
            pictures = tab.evaluate(PICTURES)
            canary, scripts, elements, _, asked, events = harm(tab)
            assert (canary, scripts, elements - pictures, events) == (None, 0, 0, []), report
            assert [url for url in asked if not url.startswith("data:image/svg+xml")] == []
            pages += 1
    assert pages >= 2
    record_property("pages opened", pages)
