"""The quickstart's commands and the example, run as they are written."""

import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from perrecord.release.spec import load_spec, warnings_of
from tests.cli.conftest import run, run_block

ROOT = Path(__file__).parent.parent.parent
BESIDE = Path(sys.executable).parent
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def on_path():
    """Return the environment with `perrecord` on the path."""
    return os.environ | {"PATH": f"{BESIDE}{os.pathsep}{os.environ['PATH']}"}


def test_the_quickstart_runs_from_nothing(tmp_path, monkeypatch):
    """Five commands to a release; then its policy, and the doctor."""
    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks[0].splitlines()) == 5
    monkeypatch.chdir(tmp_path)
    shown = "".join(map(run_block, blocks))
    assert (tmp_path / "published" / "policy.html").exists()
    assert "A record with emp = 150" in shown
    assert "CONFIDENTIAL" in shown


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder that `make demo` makes, of fewer records, and the command that made it."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    command = ["sh", str(ROOT / "examples" / "business" / "run.sh"), str(folder), "3000"]
    shown = subprocess.run(command, env=on_path(), capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    return folder, command


def test_the_business_example_runs(demo, tmp_path, monkeypatch):
    """Synthetic data, keys, ledger, check, release; a second run has nothing left to do."""
    folder, command = demo
    tables = {path.stem for path in (folder / "published" / "tables").iterdir()}
    assert tables == {
        "county_industry",
        "county_employment",
        "industry_medians",
        "one_state_by_industry",
    }
    noting = tmp_path / "noting"
    noting.write_text('#!/bin/sh\necho "$*"\n')
    noting.chmod(0o755)
    again = subprocess.run(
        command,
        env=os.environ | {"PERRECORD": str(noting)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    checks, others = again.stdout.splitlines()[:2], again.stdout.splitlines()[2:]
    assert checks == ["check release.yaml", "check splitting.yaml"]
    assert [each.split()[0] for each in others] == ["release", "policy"]
    monkeypatch.chdir(folder)
    assert run(*others[0].split()).out.startswith("nothing: ")
    assert not (folder / "splitting.ledger").exists()


@pytest.fixture(scope="module")
def checked(demo):
    """What `perrecord check` says of the example, and of the same release by splitting."""
    specs = ("release.yaml", "splitting.yaml")
    return [run("check", demo[0] / each, "--json").json() for each in specs]


def losses(report):
    """Return what each example record loses."""
    return {each["name"]: float(Fraction(each["loss"])) for each in report["examples"]}


def test_the_quickstart_quotes_what_the_example_costs(checked):
    """Record by record, by tapering and by splitting, to the three digits that are shown."""
    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (a .*?) \| [\d,]+ \| ([\d.,]+) \| ([\d.,]+) \|$", text, re.MULTILINE)
    for place, report in enumerate(checked):
        quoted = {row[0]: float(row[1 + place].replace(",", "")) for row in rows}
        assert quoted == pytest.approx(losses(report), rel=0.005)
    assert len(rows) == len(losses(checked[0])) == 4


def test_the_readme_quotes_what_the_hospital_loses(checked):
    """Both numbers, which differ by a factor of several hundred."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tapered, split = (losses(report)["a hospital"] for report in checked)
    words = " ".join(text.split())
    assert f"a hospital of 4,000 employees loses {tapered:.0f};" in words
    assert f"would have cost it {split:,.0f}." in words
    assert split > 700 * tapered


def test_the_readme_shows_numbers_that_its_example_can_give():
    """Each within six of its standard errors of the truth that the text names."""
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    sizes = [100_000 // k for k in range(1, 5_001)]
    truth = {"NM": (2_500, sum(sizes[::2])), "TX": (2_500, sum(sizes[1::2])), "VA": (0, 0)}
    assert f"with {truth['NM'][1]:,} and {truth['TX'][1]:,} cattle" in text
    for state, true in truth.items():
        shown = re.search(rf"{state} (-?\d+) ([\d.]+) (-?\d+) ([\d.]+)", text).groups()
        farms, farms_se, cattle, cattle_se = map(float, shown)
        assert abs(farms - true[0]) < 6 * farms_se
        assert abs(cattle - true[1]) < 6 * cattle_se


def test_both_specs_ask_for_the_same_at_nearly_the_same_noise(checked):
    """So that what they cost can be compared; the quickstart says how much more noise there is."""
    tapered, split = (
        {(each["table"], each["answer"], *each["by"]): each["standard_errors"] for each in answers}
        for answers in (report["answers"] for report in checked)
    )
    assert tapered.keys() == split.keys()
    more = [
        first / second - 1
        for place in tapered
        for first, second in zip(tapered[place], split[place], strict=True)
        if first != second
    ]
    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    least, most = re.search(r"are ([\d.]+) to ([\d.]+) % larger than by splitting", text).groups()
    assert (f"{min(more):.1%}", f"{max(more):.1%}") == (f"{least}%", f"{most}%")


@pytest.mark.parametrize("name", ["release.yaml", "splitting.yaml"])
def test_the_example_gives_no_reason_for_hints(name):
    """What people copy should be beyond reproach."""
    assert warnings_of(load_spec(ROOT / "examples" / "business" / name)) == ()
