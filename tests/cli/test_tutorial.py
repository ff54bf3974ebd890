"""The tutorial's commands, run as they are written, and what they show."""

import csv
import math
import re
import subprocess
import sys
from io import StringIO

import pytest

from tests.cli.conftest import run_block
from tests.cli.test_quickstart import ROOT

FENCE = re.compile(r"^```(\w+) ?([\w./]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What follows each command in the tutorial, what it printed, and the folder it ran in."""
    folder = tmp_path_factory.mktemp("tutorial")
    blocks = FENCE.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    shown, printed = [], ""
    for kind, name, text in blocks:
        if kind in ("python", "yaml"):
            (folder / {"python": "cities.py", "yaml": "release.yaml"}[kind]).write_text(text)
        elif text == "python cities.py\n":
            subprocess.run([sys.executable, "cities.py"], cwd=folder, check=True)
        elif kind == "sh":
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folder)
                printed = run_block(text)
        elif kind in ("text", "csv"):
            shown.append((kind, text, (folder / name).read_text() if name else printed))
    return shown, folder


def test_everything_runs_and_shows_what_the_tutorial_says(told):
    """Of noisy tables the header and the keys, of all else every character."""
    shown, folder = told
    assert [kind for kind, *_ in shown] == ["text", "text", "csv", "text"]
    for kind, quoted, found in shown:
        if kind == "text":
            assert found.startswith(quoted)
            continue
        first, second = (list(csv.reader(StringIO(each))) for each in (quoted, found))
        assert second[0][: len(first[0])] == first[0]
        assert [row[0] for row in second[: len(first)]] == [row[0] for row in first]
    assert (folder / "evaluation" / "report.html").is_file()
    assert (folder / "published" / "policy.html").is_file()


def test_its_figures_are_those_of_the_data(told):
    """How many cities, how skewed; and that what is published lies near the truth."""
    _, folder = told
    text = " ".join((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8").split())
    with (folder / "cities.csv").open() as file:
        rows = list(csv.DictReader(file))
    people = sorted((int(row["people"]) for row in rows), reverse=True)
    assert f"the {len(rows):,} cities" in text
    assert f"holds {sum(people[: len(rows) // 100]) / sum(people):.0%}".replace("%", " %") in text
    pieces = math.ceil(people[0] / 50_000)
    assert f"would have lost {pieces**2 / 5:,.0f} by each total" in text
    with (folder / "countries.csv").open() as file:
        assert f"All {len(list(csv.DictReader(file)))} countries" in text
    with (folder / "published" / "tables" / "by_country.csv").open() as file:
        published = {row["country"]: row for row in csv.DictReader(file)}
    for code in ("CN", "PT"):
        true = sum(int(row["people"]) for row in rows if row["country"] == code)
        assert abs(int(published[code]["people"]) - true) < 20 * float(published[code]["people_se"])
