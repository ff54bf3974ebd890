"""Policies in words: plain English that says everything, LaTeX that compiles."""

from perrecord import Policy, Split

SCHEME = Split(employees=50, payroll=5_000_000)
POLICY = (
    Policy.constant("0.1")
    + Policy.split("0.2", SCHEME)
    + Policy.exact("1/3", measure="net_pay", threshold=500)
    + Policy.by("industry", {"Mining & co": Policy.constant(1)}, default=Policy.zero())
    + Policy.selection("0.1", ["industry"], split=SCHEME.capped(20), delta="1e-6")
)


def test_plain_english_names_every_part():
    """A respondent finds amounts, thresholds, cases and the chance of being revealed."""
    shown = POLICY.describe()
    assert shown.splitlines()[0] == "Privacy loss of a record, in zCDP rho:"
    for phrase in (
        "0.1, the same for every record",
        "0.2 times the record's number of pieces squared",
        "one piece for every 50 employees or 5,000,000 payroll, or part thereof, whichever gives",
        "1/3 times (the size of net_pay divided by 500) squared",
        "for Mining & co:",
        "for all others:",
        "and never more than 20",
        "when its noisy count of pieces reaches 13",
        "10 pieces: 0.1298",
        "50 pieces: over 0.9999",
    ):
        assert phrase in shown
    assert Policy.zero().describe().endswith("nothing")
    unsplit = Policy.slot("0.1", ["county"], delta="1e-6").describe()
    assert "noisy count of records reaches 13" in unsplit
    assert unsplit.endswith("the group exists with probability 1.082e-07")
    assert "pure epsilon" in Policy.constant(epsilon=1).describe()


def test_latex_is_balanced_and_escapes_names():
    """Braces match, environments close, special characters are escaped."""
    written = POLICY.latex()
    assert written.count("{") == written.count("}")
    assert written.count(r"\begin{") == written.count(r"\end{")
    assert r"\text{net\_pay}" in written
    assert r"\text{Mining \& co}" in written
    assert r"\delta_{1}(r)" in written
    assert r"m_{2}(r) &= \min\left\{20," in written


def test_one_line_forms():
    """What a prompt shows."""
    assert repr(Policy.constant("0.1") + Policy.split(1, Split(x=5))) == (
        "Policy(0.1 + 1·pieces² of Split(x=5))"
    )
    assert repr(Policy.zero()) == "Policy(0)"
    assert repr(Policy.largest(Policy.constant(1), Policy.split(1, Split(x=5).capped(2)))) == (
        "Policy(max(1, 1·pieces² of Split(x=5).capped(2)))"
    )
    assert POLICY._repr_latex_().startswith("$$")


def test_notebooks_show_plain_english_and_keep_names_inert():
    """A hostile case name stays text."""
    hostile = Policy.by("industry", {"<script>": Policy.constant(1)}, Policy.zero())
    assert "&lt;script&gt;" in hostile._repr_html_()
    assert "<script>" not in hostile._repr_html_()
