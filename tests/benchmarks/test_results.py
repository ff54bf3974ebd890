"""The page of all benchmarks: goals first, nothing lost."""

import pytest
import results
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
    text = gathered([page()], ["noise.py missed a goal"], "Code 12345.")
    assert "| Speed | small | 2 GB | NO |" in text.partition("## Speed")[0]
    assert "noise.py missed a goal" in text
    assert "Code 12345. " in text.partition("| benchmark")[0]
    assert all(line in text for line in page().text.splitlines()[1:])


def test_all_are_run_whatever_one_of_them_does(tmp_path, monkeypatch, capfd):
    """One misses a goal, one fails and leaves an old page, one is well."""
    end = "import pathlib, sys; pathlib.Path(__file__).with_suffix('.md').write_text({!r})"
    (tmp_path / "misses.py").write_text(end.format(page().text) + "; sys.exit('missed')")
    (tmp_path / "fails.py").write_text("raise SystemExit('failed')")
    (tmp_path / "fails.md").write_text("# Old\n")
    (tmp_path / "well.py").write_text(end.format("# Well\n"))
    monkeypatch.setattr(results, "HERE", tmp_path)
    monkeypatch.setattr(results, "RESULTS", tmp_path / "RESULTS.md")
    monkeypatch.setattr(results, "BENCHMARKS", ("misses", "fails", "well"))
    monkeypatch.setattr("sys.argv", ["results.py"])
    with pytest.raises(SystemExit) as ended:
        results.main()
    said = str(ended.value)
    assert "misses.py missed a goal" in said
    assert "fails.py failed" in said
    assert "missed: Speed: small" in said
    text = (tmp_path / "RESULTS.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Speed",
        "## Old",
        "## Well",
    ]


def test_a_missed_goal_is_an_error_that_names_it():
    """And goals that are met are none."""
    end_with(GOALS[:1])
    with pytest.raises(SystemExit, match="missed: small"):
        end_with(GOALS)
