"""Goals: how they are written and read, and which holds for which answer."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord.errors import InputError, ProbabilityError
from perrecord.release.goals import Goal, Target, check_names, target, target_of

PERCENT = st.integers(1, 9999).map(lambda number: Fraction(number, 10_000))


@given(PERCENT, PERCENT, PERCENT, st.sampled_from([None, "emp", "county_industry.emp"]))
def test_what_is_written_is_read_back(within, share, confidence, about):
    """Every target says what it is, and is read as itself."""
    wanted = Target(Goal(within, confidence), share, about)
    assert target(str(wanted)) == wanted


@pytest.mark.parametrize(
    "written",
    [
        "5% for 95% of cells",
        "5 % for 95 % of the cells",
        "  5% FOR 95% of cells with 95% confidence",
        "5.0% for 95% of cells with 95% probability",
    ],
)
def test_a_goal_may_be_written_as_people_do(written):
    """Spaces, articles and upper case make no difference."""
    assert target(written) == Target(Goal(Fraction(1, 20), Fraction(95, 100)), Fraction(95, 100))


@pytest.mark.parametrize(
    ("written", "error", "match"),
    [
        ("5 for 95% of cells", InputError, "expected something like '5% for 95% of cells'"),
        ("5% of cells", InputError, "expected something like"),
        ("0% for 95% of cells", InputError, "the error is"),
        ("5% for 0% of cells", InputError, "above 0 and up to 100"),
        ("5% for 101% of cells", InputError, "above 0 and up to 100"),
        ("5% for 95% of cells with 100% confidence", ProbabilityError, "strictly between"),
        ("5.5.5% for 95% of cells", InputError, "the percentage"),
        (5, InputError, "expected something like"),
    ],
)
def test_what_is_no_goal_is_refused(written, error, match):
    """With what to write."""
    with pytest.raises(error, match=match):
        target(written)


def test_the_most_precise_name_holds():
    """A table's own goal before a query's, a query's before an answer's, any before none."""
    names = ["emp", "sizes.emp", "sizes_by_county.emp"]
    targets = [target(f"{about}{number}% for 90% of cells") for number, about in enumerate(
        ["", "sizes_by_county.emp: ", "emp: ", "sizes.emp: ", "pay: "], start=1
    )]  # fmt: skip
    assert target_of(targets, names).goal.within == Fraction(2, 100)
    assert target_of([t for t in targets if "county" not in str(t)], names).about == "sizes.emp"
    assert target_of(targets[4:], names) is None
    assert target_of(targets, ["pay"]).about == "pay"


def test_of_two_goals_of_one_name_the_last_holds():
    """As on a command line."""
    first, second = target("5% for 95% of cells"), target("10% for 95% of cells")
    assert target_of([first, second], ["emp"]) is second


def test_a_goal_about_nothing_is_refused():
    """With the names that there are, and a close one."""
    with pytest.raises(InputError, match="Did you mean 'employment'"):
        check_names([target("employmnt: 5% for 95% of cells")], ["employment", "count"])
