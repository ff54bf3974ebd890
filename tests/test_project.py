"""The project as a whole: public names, system packages, the demo."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import perrecord

ROOT = Path(__file__).parent.parent

PUBLIC_NAMES = [
    "AmountError",
    "Answers",
    "ApproximationError",
    "Blur",
    "Budget",
    "BudgetExceededError",
    "Currency",
    "CurrencyError",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteStudent",
    "DocumentError",
    "Domain",
    "Enclosure",
    "File",
    "InexactNumberError",
    "InputError",
    "InternalError",
    "Keys",
    "Ledger",
    "LedgerError",
    "Linked",
    "Lookup",
    "Meaning",
    "Measure",
    "MissingFieldError",
    "OneSided",
    "Parts",
    "PerrecordError",
    "Policy",
    "Preview",
    "ProbabilityError",
    "Query",
    "QueryError",
    "RecordError",
    "ReleaseError",
    "RowsAnswer",
    "SQLOptions",
    "SQLTextError",
    "SchemaError",
    "SelectCells",
    "SelectKeys",
    "Session",
    "SourceError",
    "SpecError",
    "Split",
    "Table",
    "Taper",
    "ThresholdError",
    "UnknownCaseError",
    "Weight",
    "Weighting",
    "clamping",
    "export",
    "from_sql",
    "group_loss",
    "meaning",
    "meaning_of_answer",
    "one_sided",
    "realised_loss",
    "splitting",
    "substitution_loss",
    "table",
    "tapering",
]


def test_the_public_names_are_these():
    """Adding or removing a public name is a decision, so it shows up here."""
    assert perrecord.__all__ == PUBLIC_NAMES
    assert sorted(perrecord.__all__) == perrecord.__all__
    assert all(hasattr(perrecord, name) for name in PUBLIC_NAMES)


def test_public_names_are_listed_and_all_imported_before_any_of_them_is_used():
    """In a fresh interpreter, where what loads slowly is not there yet."""
    listed = "import perrecord; print(*dir(perrecord))"
    everything = "from perrecord import *; print(*dir())"
    for code in (listed, everything):
        shown = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
        assert {*PUBLIC_NAMES} <= {*shown}


def test_a_mistyped_name_is_answered_with_the_one_that_was_meant():
    """The types of it are wrong as well: see tests/typed."""
    with pytest.raises(AttributeError, match=r"no attribute 'Sesion'\. Did you mean 'Session'\?"):
        _ = perrecord.Sesion
    assert not hasattr(perrecord, "__nothing__")


def test_importing_the_package_loads_nothing_heavy():
    """Start-up stays quick: no test oracle or plotting library comes in with the import."""
    code = "import sys, perrecord; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "scipy",
        "pandas",
        "pyarrow",
        "mpmath",
        "opendp",
        "duckdb",
        "sqlglot",
        "pyspark",
        "ibis",
    }
    assert not heavy & {*loaded}


def test_the_demo_prints_the_papers_worked_example():
    """`make demo` runs this script."""
    script = ROOT / "examples" / "worked_example.py"
    shown = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    ).stdout
    assert "9 rho" in shown.replace("·", " ")
    assert "Agriculture" in shown


def test_no_file_names_a_registry_or_a_machine():
    """Lock files and docs hold package names and hashes, nothing about where they came from."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    assert {ROOT / "requirements.lock", Path(__file__)} <= {*files}
    hosts = ["py" + "pi.org", "python" + "hosted", "npm" + "js.org", "deb" + "ian.org"]
    for path in files:
        content = path.read_text(encoding="utf-8", errors="ignore")
        assert not any(host in content for host in hosts), path.name


def test_every_extra_that_is_advised_exists():
    """Whoever types what a message or a page says gets what it promises."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    pages = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    advised = {
        name
        for page in pages
        for listed in re.findall(r"perrecord\[([a-z, -]+)\]", page.read_text(encoding="utf-8"))
        for name in listed.split(",")
    }
    assert {"ibis", "postgres", "spark"} <= advised <= {*extras}
    assert any("sqlite" in each and "duckdb" in each for each in extras["ibis"])


def test_no_program_looks_for_folders_beside_the_project():
    """What lies there differs from machine to machine; a test takes it from the environment."""
    above = re.compile(r"""__file__\)(?:\.resolve\(\))?\.(?:parents\[(\d+)\]|((?:parent\b\.?)+))""")
    for folder in ("src", "tests", "tools", "benchmarks", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            depth = len(path.relative_to(ROOT).parts)
            for index, steps in above.findall(path.read_text("utf-8")):
                up = int(index) + 1 if index else steps.count("parent")
                assert up <= depth, f"{path.relative_to(ROOT)} leaves the project"


@pytest.mark.parametrize(("required", "outcome"), [("", "1 skipped"), ("1", "1 error")])
def test_a_missing_system_package_skips_here_and_fails_in_ci(required, outcome):
    """Without Chromium on the path its test is skipped, saying what to install; CI fails."""
    test = f"{__file__}::test_chromium_renders_a_page"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", test]
    environment = {"PATH": "", "PERRECORD_REQUIRE_SYSTEM_PACKAGES": required}
    shown = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    ).stdout
    assert outcome in shown
    assert "sudo apt-get install chromium" in shown


@pytest.mark.spark
def test_java_is_there_for_spark():
    """Spark needs Java 17 or newer; `make test` installs it where it can."""
    subprocess.run(["java", "-version"], capture_output=True, check=True)


@pytest.mark.browser
def test_chromium_renders_a_page(tmp_path):
    """The browser that will test the policy page starts and runs scripts."""
    page = tmp_path / "page.html"
    page.write_text("<p id=p></p><script>p.textContent = 6 * 7</script>", encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    shown = subprocess.run(
        ["chromium", *flags, *quiet, profile, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert '<p id="p">42</p>' in shown
