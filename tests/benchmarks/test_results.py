"""The page of all benchmarks: goals first, nothing lost."""

import pytest
from goals import Goal, end_with, goals_table
from results import Page, gathered

GOALS = [Goal("fast", "3 s", is_met=True), Goal("small", "2 GB", is_met=False)]


def page():
    """Return a benchmark's page with a table before its goals, and one after."""
    lines = ["# Speed", "", "| a | b |", "|---|---|", "| goal | 1 |", "", *goals_table(GOALS), ""]
    return Page("speed", "\n".join([*lines, "| c | d |", "|---|---|", "| e | f |", ""]))


def test_goals_are_found_among_tables():
    """By the heading of their table alone."""
    assert page().goals == [["fast", "3 s", "yes"], ["small", "2 GB", "NO"]]


def test_the_page_of_all_has_goals_first_and_every_line():
    """Headings go one level down; what failed is said."""
    text = gathered([page()], ["noise.py ended with code 1"])
    assert "| Speed | small | 2 GB | NO |" in text.partition("## Speed")[0]
    assert "noise.py ended with code 1" in text
    assert all(line in text for line in page().text.splitlines()[1:])


def test_a_missed_goal_is_an_error_that_names_it():
    """And goals that are met are none."""
    end_with(GOALS[:1])
    with pytest.raises(SystemExit, match="missed: small"):
        end_with(GOALS)
