"""The page of the audits: what was kept of their runs, and nothing wrong in it."""

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOL = runpy.run_path(str(ROOT / "tools" / "assurance.py"))
KEPT = json.loads((ROOT / "docs" / "assurance.json").read_text(encoding="utf-8"))


def test_what_was_run_found_nothing_wrong():
    """With figures of its own, in the order of the page. If this fails: make audit."""
    assert list(KEPT) == [audit.name for audit in TOOL["AUDITS"]]
    assert [found["failures"] for found in KEPT.values()] == [[]] * len(KEPT)
    assert all(found["figures"] for found in KEPT.values())


def test_an_audit_that_was_not_run_is_named():
    """Nobody should take a missing section for a clean one."""
    assert TOOL["page"]({}).count("not run in full yet") == len(TOOL["AUDITS"])


def test_the_page_is_what_was_kept():
    """No figure is typed by hand."""
    assert (ROOT / "docs" / "assurance.md").read_text(encoding="utf-8") == TOOL["page"](KEPT)


@pytest.mark.parametrize(
    "printed", ["", "[1]", '{"figures": []}', "{}", '{"figures": 1, "tables": [], "failures": []}']
)
def test_a_program_that_prints_no_figures_has_failed(printed):
    """Whatever it prints instead."""
    assert TOOL["_of_json"](printed)["failures"] == ["it printed no figures"]


@pytest.mark.parametrize(
    ("printed", "failures"),
    [
        ("= 3 passed in 1s =", []),
        ("FAILED tests/a.py::b - x\n= 1 failed, 2 passed in 1s =", ["tests/a.py::b - x"]),
        ("SKIPPED [1] a.py:3: no strace\n= 2 passed, 1 skipped =", ["[1] a.py:3: no strace"]),
        ("= no tests ran in 1s =", ["no test passed"]),
    ],
)
def test_what_tests_printed_is_read(printed, failures):
    """A test that was skipped has shown nothing, so it is a failure here."""
    assert TOOL["_of_pytest"](printed)["failures"] == failures


def test_text_of_others_stays_text():
    """Figures may hold hostile names."""
    assert TOOL["_plain"]("a\n| <b> `x` [y](z)") == r"a \| \<b\> \`x\` \[y\](z)"
