"""The R package: an evaluator of its own gives the losses that Python gives, in one R process."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from perrecord import Measure, Policy
from perrecord.release.document import Field, PublishedCharge, PublishedPolicy
from tests.policy import strategies as some

pytestmark = pytest.mark.r

PACKAGE = Path(__file__).resolve().parents[2] / "clients" / "r"
PROGRAM = """
library(perrecord)
folder <- commandArgs(TRUE)[1]
cases <- jsonlite::fromJSON(file.path(folder, "cases.json"), simplifyVector = FALSE)
found <- lapply(cases, function(case) {
  policy <- perrecord_policy(file.path(folder, case$policy))
  record <- lapply(case$record, function(value) if (is.null(value)) NA else value)
  tryCatch(
    list(loss = perrecord_loss(policy, record), delta = perrecord_delta(policy, record)),
    error = function(error) list(refused = conditionMessage(error))
  )
})
table <- perrecord_table(folder, "cells")
program <- commandArgs(TRUE)[2]
shown <- perrecord("policy", file.path(folder, "published.json"), program = program)
missing <- file.path(folder, "none.yaml")
failed <- tryCatch(perrecord("check", missing, program = program), error = conditionMessage)
jsonlite::write_json(
  list(cases = found, codes = table$county, count = table$count, shown = names(shown),
       failed = failed),
  file.path(folder, "found.json"), digits = NA, auto_unbox = TRUE, null = "null"
)
"""


def drawn(count):
    """Return random policies of every kind of term, each with a record."""
    found = []

    @settings(max_examples=count, phases=[Phase.generate], database=None)
    @given(some.policies, some.slots, some.records)
    def gather(policy, slot, record):
        found.append((policy + slot if record["id"] % 2 else policy, record))

    gather()
    for nu, at, by in ((3, "0.5", "0.1"), (7, "3", "1/3"), (3, "1000", "1"), (7, "40", "0.01")):
        for unit in ("rho", "epsilon"):
            policy = (
                Policy.tapered(**{unit: "0.2"}, measure="x", at=at, nu=nu)
                + Policy.blurred(**{unit: "0.3"}, measure="y", at=at, by=by, nu=nu)
                + Policy.exact(**{unit: "1/7"}, measure="x", threshold="0.3")
            )
            for size in ("0", "1e-9", "0.1", "7", "123456.789", "1e30"):
                found.append((policy, {"x": Fraction(size), "y": Fraction(size) / 3}))
    return found


def published():
    """Return a release's policy with grids, ties, ends and a measure that is computed."""
    total = (
        Policy.exact("0.5", measure="pay", threshold="12.5")
        + Policy.exact("0.1", measure="cut", threshold="2")
        + Policy.constant("0.25")
    )
    fields = (
        Field("hours", "measure", resolution=Fraction(1, 4), largest=400),
        Field("wage", "measure", resolution=Fraction(1, 100)),
        Field("cut", "measure", resolution=Fraction(1000), largest=7, outside="cut"),
        Field(
            "pay",
            "measure",
            resolution=Fraction(1, 100),
            computed=Measure(expression="hours * wage - 3 * wage / 7").expression,
        ),
    )
    return PublishedPolicy("Pay", "jobs", fields, (PublishedCharge("a", "A", total),), total)


def plain(record):
    """Return a record as R is given it: measures exact, as text."""
    return {
        name: str(value) if name in ("x", "y") and value is not None else value
        for name, value in record.items()
        if name != "id"
    }


def run(*command, library=""):
    """Run a program of R; its own words are shown if it fails."""
    known = {"R_LIBS": str(library), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Install the package, evaluate all cases in one process, and give them with what it found."""
    folder = tmp_path_factory.mktemp("r")
    cases, wanted = [], []
    for number, (policy, record) in enumerate(drawn(150)):
        (folder / f"{number}.json").write_text(policy.to_json())
        cases.append({"policy": f"{number}.json", "record": plain(record)})
        wanted.append((policy.loss(record), policy.delta(record)))
    document = published()
    (folder / "published.json").write_text(document.to_json())
    written = ["0", "-0.125", "37.625", "100.1", "100.124999999999999999", None, "12.004999"]
    for hours in written:
        for wage in ("12.345", "-0.005", "9e15", None):
            record = {"hours": hours, "wage": wage, "cut": wage}
            cases.append({"policy": "published.json", "record": record})
            wanted.append((document.loss(record), document.delta(record)))
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "cells.csv").write_text("county,count\n01001,12\n,-3\n")
    kinds = [{"name": "county", "type": "string"}, {"name": "count", "type": "integer"}]
    resource = {"name": "cells", "path": "cells.csv", "schema": {"fields": kinds}}
    (folder / "datapackage.json").write_text(json.dumps({"resources": [resource]}))
    (folder / "program.R").write_text(PROGRAM)
    command = Path(sys.executable).parent / "perrecord"
    run("R", "CMD", "INSTALL", "--no-test-load", "-l", folder, PACKAGE)
    run("Rscript", folder / "program.R", folder, command, library=folder)
    run("Rscript", PACKAGE / "tests" / "losses.R", library=folder)
    return wanted, json.loads((folder / "found.json").read_text())


def test_losses_and_deltas_are_those_of_python(found):
    """Counts, splits, exact totals, tapers, blurs, cases, grids: to eleven digits, all of them."""
    wanted, shown = found
    assert len(wanted) == len(shown["cases"]) > 200
    for (loss, delta), case in zip(wanted, shown["cases"], strict=True):
        assert "refused" not in case, case
        assert case["loss"] == pytest.approx(float(loss), rel=1e-11, abs=1e-300)
        assert case["delta"] == pytest.approx(float(delta), rel=1e-9, abs=1e-12)


def test_commands_and_tables_are_given_as_r_has_them(found):
    """Codes keep their zeros, a command's JSON is a list, and its refusal is R's error."""
    _, shown = found
    assert shown["codes"] == ["01001", None]
    assert shown["count"] == [12, -3]
    assert {"title", "policy"} <= {*shown["shown"]}
    assert "none.yaml" in shown["failed"]
