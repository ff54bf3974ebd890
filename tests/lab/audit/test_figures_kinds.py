"""The figures audit of every kind of source and answer: nothing differs."""

from random import Random

from perrecord.cli.audit import command_output
from perrecord.lab.audit.shown.audit import published
from perrecord.lab.audit.shown.checks import check
from perrecord.lab.audit.shown.findings import Comparisons


def failures(release):
    """Return what comparing all figures of a release finds."""
    findings = Comparisons()
    check(findings, release)
    assert sum(findings.made.values()) > 100
    return findings.failures


def test_blurred_totals_are_evaluated_and_tuned(tmp_path):
    """An example whose key is NULL, with blurred totals beside others in every table."""
    found = published(
        Random("9 9"),
        tmp_path,
        1,
        command_output,
        is_evaluated=True,
        tapers=Random("tapers 9 9"),
        blurs=Random("blurs 9 9"),
        weights=Random("weights 9 9"),
    )
    assert {"report.html", "tuning.html"} <= found.shown.keys()
    assert failures(found) == []
