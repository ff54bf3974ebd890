"""The commands that the benchmark of evaluating measures: they run, and goals are read off them."""

import pytest
from evaluate_commands import MOST_SECONDS, Commands, commands, commands_table, goals_of
from full_size.measuring import Cost

from perrecord.lab.synth import business
from perrecord.lab.synth.industries import industry_codes
from perrecord.lab.synth.places import county_codes


@pytest.mark.filterwarnings("ignore")
def test_both_commands_run_on_a_small_table(tmp_path):
    """They end well, and take time and memory."""
    business(5000, tmp_path / "est.parquet")
    (tmp_path / "counties.csv").write_text("\n".join(["county", *county_codes()[:100]]) + "\n")
    industries = sorted({code[:3] for code in industry_codes()})[::7]
    (tmp_path / "industries3.csv").write_text("\n".join(["naics3", *industries]) + "\n")
    found = commands(tmp_path, 5000)
    assert list(found.costs) == list(MOST_SECONDS)
    assert all(cost.wall > 0 and cost.peak_mb > 50 for cost in found.costs.values())
    assert len(commands_table(found)) == 2 + len(MOST_SECONDS)
    for name in MOST_SECONDS:
        assert list((tmp_path / name).iterdir())


@pytest.mark.parametrize(
    ("evaluate", "tune", "peak", "met"),
    [
        (100.0, 50.0, 1900.0, [True, True, True]),
        (130.0, 50.0, 1900.0, [False, True, True]),
        (100.0, 61.0, 2100.0, [True, False, False]),
    ],
)
def test_goals_are_seconds_and_memory(evaluate, tune, peak, met):
    """Each on its own."""
    walls = {"evaluate": evaluate, "tune": tune}
    costs = {name: Cost(wall, wall, peak, 0.0, "") for name, wall in walls.items()}
    assert [goal.is_met for goal in goals_of(Commands(8_000_000, costs))] == met
