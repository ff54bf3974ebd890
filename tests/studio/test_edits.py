"""Changes of a text: what was asked for changes, and no other character does."""

import pytest

from perrecord.errors import InputError
from perrecord.release.spec.read import parse_document
from perrecord.studio.edits import Exchange, Put, Remove, changed, places, value_at
from tests.studio.conftest import SPEC

FLOW = "a: {b: 1, c: [2, 3]}  # why\nd: x\n"
BLOCK = "a:\n  b: 1   # one\n  c:\n    - 2\n    - 3\n  # after\nd: 'x: y'\n"
EMPLOYEES = ("queries", 0, "answers", "employees")


@pytest.mark.parametrize(
    ("text", "change", "wanted"),
    [
        (FLOW, Put(("a", "b"), "0.10"), "a: {b: 0.10, c: [2, 3]}  # why\nd: x\n"),
        (FLOW, Put(("a", "c"), "[4]"), "a: {b: 1, c: [4]}  # why\nd: x\n"),
        (FLOW, Put(("a", "c", 1), "9"), "a: {b: 1, c: [2, 9]}  # why\nd: x\n"),
        (FLOW, Put(("a", "e"), "5"), "a: {b: 1, c: [2, 3], e: 5}  # why\nd: x\n"),
        (FLOW, Remove(("a", "b")), "a: {c: [2, 3]}  # why\nd: x\n"),
        (FLOW, Remove(("a", "c")), "a: {b: 1}  # why\nd: x\n"),
        (FLOW, Exchange(("a", "c"), "f", "6"), "a: {b: 1, f: 6}  # why\nd: x\n"),
        (BLOCK, Put(("a", "b"), "7"), BLOCK.replace("b: 1 ", "b: 7 ")),
        (
            BLOCK,
            Put(("a", "c"), "[4]"),
            "a:\n  b: 1   # one\n  c:\n    [4]\n  # after\nd: 'x: y'\n",
        ),
        (BLOCK, Put(("a", "e"), "5"), BLOCK.replace("- 3\n", "- 3\n  e: 5\n")),
        (BLOCK, Put(("g",), "{h: 1}"), BLOCK + "g: {h: 1}\n"),
        (BLOCK, Remove(("a", "b")), BLOCK.replace("  b: 1   # one\n", "")),
        (BLOCK, Exchange(("a", "b"), "f", "6"), BLOCK.replace("b: 1 ", "f: 6 ")),
        ("a:\nb: 1\n", Put(("a",), "2"), "a: 2\nb: 1\n"),
        ("a: {}\n", Put(("a", "b"), "2"), "a: {b: 2}\n"),
        ("a: 1\r\nb: {c: 2}\r\n", Put(("d",), "3"), "a: 1\r\nb: {c: 2}\r\nd: 3\r\n"),
    ],
)
def test_a_change_is_made_in_its_place(text, change, wanted):
    """Comments, blanks, quotes and line ends stay as they are written."""
    assert changed(text, [change]) == wanted


@pytest.mark.parametrize(
    "change",
    [
        Put(("a", "b"), "1, z: 2"),  # which would be two entries
        Put(("a", "b"), "1 # no"),  # which would hide the rest of the line
        Put(("a", "b"), "}"),
        Put(("a", "b"), "x: y"),
        Put(("nothing", "b"), "1"),
        Remove(("a", "z")),
        Exchange(("a", "z"), "b", "1"),
        Exchange(("a", "b"), "c", "1"),  # which is there already
    ],
)
def test_a_change_that_would_say_something_else_is_refused(change):
    """Whatever was typed: the text is read back, and must say what was asked for and no more."""
    with pytest.raises((InputError, KeyError)):
        changed(FLOW, [change])


def test_every_value_of_a_spec_is_found_where_it_stands():
    """Read by itself, the text of each value is the value."""
    whole = parse_document(SPEC, "").value
    for path, place in places(SPEC).items():
        value = whole
        for step in path:
            value = value[step]
        if not isinstance(value, dict | list) or place.is_flow:
            assert parse_document(SPEC[place.start : place.end], "").value == value
    assert value_at(SPEC, (*EMPLOYEES, "rho")) == "0.2"
    assert value_at(SPEC, (*EMPLOYEES, "taper")) is None


def test_one_line_alone_differs_after_a_change():
    """Of a spec with comments on every other line."""
    made = changed(SPEC, [Put((*EMPLOYEES, "rho"), "0.3")])
    pairs = zip(SPEC.splitlines(), made.splitlines(), strict=True)
    assert [(a.strip(), b.strip()) for a, b in pairs if a != b] == [
        ("employees: {sum: emp, split: moderate, rho: 0.2}",
         "employees: {sum: emp, split: moderate, rho: 0.3}")
    ]  # fmt: skip
