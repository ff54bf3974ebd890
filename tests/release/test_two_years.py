"""The worked example on two years of a public file: here one of the same columns, made up."""

import runpy
from pathlib import Path

from tests.public_files import public_file  # noqa: F401 - a fixture

MAIN = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "two_years.py"))["main"]


def test_the_example_says_how_true_its_levels_and_changes_are(public_file, tmp_path, capsys):  # noqa: F811
    """Three of four intervals hold, where 95 % do: of 41 it fails less than once in 100,000."""
    file = public_file("msha_mines_2013_2016.parquet")
    found = MAIN([str(file), "--out", str(tmp_path / "out")])
    assert min(found["levels_held"], found["changes_held"]) >= 0.75 * found["states"] >= 30
    assert found["change_se"] < found["level_se"] < 40
    assert "beyond their noise" in capsys.readouterr().out
