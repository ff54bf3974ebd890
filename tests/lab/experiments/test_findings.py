"""The page of findings: claims first, each with its verdict, then the experiments."""

import pyarrow as pa

from perrecord.lab.experiments.experiment import Claim, Experiment
from perrecord.lab.experiments.findings import findings_page
from perrecord.report.charts import nothing
from perrecord.report.figure import Figure

FIGURE = Figure("one", "One", "It is found.", "Read it so.", nothing, pa.table({"x": [1]}))
CLAIMED = Experiment(
    "sim",
    "Simulated",
    ("What was done.",),
    (FIGURE,),
    (
        Claim("It is small.", "It is 1.", "holds"),
        Claim("It is red.", "It is blue.", "does not hold"),
        Claim("It is round.", "It is round at noon.", "holds with a condition"),
        Claim("It is here.", "It is here.", "holds"),
    ),
)
BARE = Experiment("keys", "Keys", ("Nothing claimed.",), (), ())


def test_claims_are_counted_and_stand_before_the_figures():
    """In the order of the verdicts; what the first figures find stands beside them."""
    page = findings_page([CLAIMED, BARE], quick=False)
    assert page.findings[0] == (
        "Of 4 claims of the paper, 2 hold, 1 hold with a condition, 1 do not hold."
    )
    assert page.findings[1:] == ("It is found.",)
    first, *others = page.sections
    (table,) = first.tables
    assert table.title == "Simulated"
    assert table.rows[1] == ("does not hold", "It is red.", "It is blue.")
    assert not table.may_fold
    assert [each.title for each in others] == ["Simulated", "Keys"]


def test_a_quick_page_says_so():
    """Its numbers are not the findings."""
    quick, full = (findings_page([CLAIMED], quick=quick) for quick in (True, False))
    assert "quick form" in quick.lead[-1]
    assert all("quick form" not in each for each in full.lead)


def test_without_claims_there_is_nothing_to_count():
    """As when an experiment is run that makes none."""
    page = findings_page([BARE], quick=False)
    assert page.findings == ()
    assert page.sections[0].tables == ()
