"""The audits on the command line: figures on stdout, 1 if something is wrong."""

import json

import pytest

from perrecord.lab.audit.figures import Figures
from perrecord.lab.audit.sample import report
from tests.cli.conftest import run


def test_samples_are_reported_as_lines_and_as_json():
    """The same figures both ways; the table names the mechanism."""
    shown = run("audit", "sample", "--runs", "2000", "--only", "number of firms", "--quiet")
    assert shown.code == 0
    assert "bounds above the policy" in shown.out
    assert "number of firms" in shown.out
    found = run("audit", "sample", "--runs", "2000", "--only", "number of firms", "--json").json()
    assert found["name"] == "sample"
    assert found["failures"] == []
    assert ["runs of each, with the record and without", "2,000"] in found["figures"]


def test_a_failed_audit_ends_with_1(monkeypatch):
    """What failed goes to stderr, and stands in the JSON."""
    failed = Figures("sample", (("cases", "1"),), (), ("loses too much",))
    monkeypatch.setattr(report, "sample_audit", lambda *_: failed)
    for options in ([], ["--json"]):
        shown = run("audit", "sample", *options)
        assert shown.code == 1
        assert "loses too much" in shown.err
    assert json.loads(shown.out)["failures"] == ["loses too much"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--only", "no such"], "there are number of records"), (["--runs", "3"], "1000")],
)
def test_what_cannot_be_run_is_refused(arguments, message):
    """By name, with what there is."""
    shown = run("audit", "sample", *arguments)
    assert shown.code in (1, 2)
    assert message in shown.err
