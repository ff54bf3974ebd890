"""A record typed into the real page by real input events, and what the page then shows."""

import base64
import hashlib
import json
import re

OTHER = "another value"


def element(name, suffix=""):
    """Return the expression of a field's control."""
    found = f"document.querySelector('[data-field=' + JSON.stringify({json.dumps(name)}) + ']')"
    return f"document.getElementById({found}.id + '{suffix}')" if suffix else found


def fill(tab, name, text):
    """Type text over what a text control holds."""
    tab.evaluate(f"{element(name)}.focus(), {element(name)}.select()")
    if text:
        tab.write(text)
    else:
        tab.press("Backspace")


def choose(tab, name, position):
    """Choose an option of a list by its position, with the keyboard."""
    tab.evaluate(f"{element(name)}.focus()")
    tab.press("Home")
    tab.press("ArrowDown", position)


def type_record(tab, published, typed):
    """Type a record, given as text for measures and values for dimensions.

    A field that the page does not ask for is left out: it says that it does not change the loss.
    """
    asked = tab.evaluate(
        "[...document.querySelectorAll('[data-field]')].map(it => it.dataset.field)"
    )
    for field in published.fields:
        if field.name not in asked or field.computed is not None:
            continue
        value = typed[field.name]
        if field.kind == "measure":
            fill(tab, field.name, value)
            continue
        options = list(field.values or ((True, False) if field.kind == "truth" else ()))
        if not 0 < len(options) <= 12:
            fill(tab, field.name, "" if value is None else str(value))
            continue
        ends = [None] if field.kind == "truth" else [OTHER, None]
        listed = options + [end for end in ends if end not in options]
        is_listed = value in options or value is None
        choose(tab, field.name, listed.index(value if is_listed else OTHER))
        if not is_listed:
            other = element(field.name, "-other")
            tab.evaluate(f"{other}.focus(), {other}.select()")
            tab.write(str(value))


def result(tab):
    """Return what the page shows now, as its data attributes have it."""
    return tab.evaluate(
        """({...document.getElementById("result").dataset,
            curve: {...document.getElementById("curve").dataset},
            paths: [...document.querySelectorAll("#curve path.line")]
              .map(it => it.getAttribute("d")),
            table: [...document.querySelectorAll("#curve-table tr")]
              .map(row => [...row.cells].map(it => it.textContent).join("\\n")).join("\\n"),
            printed: document.getElementById("loss").textContent,
            pieces: [...document.querySelectorAll("#pieces li")].map(it => it.dataset.pieces),
            charges: [...document.querySelectorAll("#breakdown tr[data-charge]")]
              .map(it => [it.dataset.charge, it.dataset.loss, it.dataset.delta])})"""
    )


def retouched(page, old, new):
    """Return the page with its script changed and the hash in its policy made to fit."""
    assert page.count(old) == 1
    changed = page.replace(old, new)
    script = re.search(r"<script>(.*)</script>", changed, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return re.sub(r"script-src 'sha256-[^']+'", f"script-src 'sha256-{digest}'", changed)
