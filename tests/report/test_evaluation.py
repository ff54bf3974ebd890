"""What a report of an evaluation says in words: one kind of error, and the right direction."""

import re

import numpy as np
import pyarrow as pa
import pytest

from perrecord import Domain, Keys, Query, SelectCells, Split
from perrecord.evaluate.accuracy.errors import accuracy
from perrecord.evaluate.evaluation import EVERY_CELL, SHARE_OF_CELLS, evaluate
from perrecord.lab.synth import business
from perrecord.lab.synth.industries import SECTORS
from perrecord.queries.plan import plan
from perrecord.report.evaluation import evaluation_page
from perrecord.report.numbers import amount, percent
from perrecord.tables.table import table

SCHEME = Split(emp=50)
BY_SECTOR = Query().group_by("naics2", keys=Keys.from_dict({"naics2": SECTORS}))


@pytest.fixture(scope="module")
def source():
    """Return synthetic establishments."""
    with table(
        business(4_000, seed=3), dimensions={"naics2": "substr(naics, 1, 2)"}, measures=["emp"]
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def found(source):
    """Return an evaluation of counts and totals."""
    asked = {"sectors": BY_SECTOR.count(rho="0.05").sum("emp", split=SCHEME, rho="0.1")}
    return evaluate(asked, source, schemes={"fifty": SCHEME}, budgets=[2], repeats=1)


def test_every_error_is_an_expected_one(found, source):
    """What sentences say, recomputed from the cells: never what is kept with 95 %."""
    page = evaluation_page(found, "Sectors")
    said = " ".join(page.findings)
    assert page.lead[1].startswith("Errors are expected ones throughout")
    for mixed in ("errs by", "QueryRelErr", "err by", "median relative"):
        assert mixed not in said
    sentences = [each for each in page.findings if "%" in each and "error of the median" in each]
    assert len(sentences) == 3
    assert all("expected error of the median cell" in each for each in sentences)
    errors = accuracy(plan(BY_SECTOR.sum("emp", split=SCHEME, rho="0.1"), source.schema), source)[0]
    expected = errors.relative(errors.size)
    middle = np.nanquantile(expected, 0.5, method="inverted_cdf")
    assert f"{percent(middle)} in sectors.sum_emp" in page.findings[0]
    records = errors.truth.records
    (size,) = [each for each in page.findings if "depend on the size" in each]
    (answer,) = re.findall(r"in sectors\.(\w+),", size)
    if answer == "sum_emp":
        large = np.nanquantile(expected[records >= 1000], 0.5, method="inverted_cdf")
        assert percent(large) in size


def test_findings_begin_with_what_can_be_asked_for(found):
    """A rho for every cell is a comparison, the last of each goal, and in no sentence."""
    page = evaluation_page(found, "Sectors")
    (goal,) = [each for each in page.findings if "come within 5" in each]
    first, *_ = found.fitness
    assert "of its own" not in " ".join(page.findings)
    assert goal.endswith(
        f"half of the records would lose up to {amount(first.losses.quantile('0.5'))} rho, the "
        f"largest {amount(first.losses.largest)}."
    )
    readings = [each.reading for each in found.fitness]
    assert readings[2::3] == [EVERY_CELL] * 3
    assert EVERY_CELL not in readings[0::3] + readings[1::3]


@pytest.mark.parametrize(
    ("blur", "said"),
    [(None, "every count, total and average to"), ("0.1", "average that is not blurred to")],
)
def test_goals_are_said_to_be_for_what_has_them(source, blur, said):
    """Blurred totals keep their amounts, and so are left out of the sentence."""
    asked = BY_SECTOR.count(rho="0.05").sum("emp", taper=50, blur=blur, rho="0.1")
    page = evaluation_page(evaluate({"sectors": asked}, source, repeats=1), "Sectors")
    (goal,) = [each for each in page.findings if "come within 5" in each]
    assert said in goal


def test_an_answer_that_decides_which_cells_are_published_is_not_promised_the_goal(source):
    """It keeps its amount, and so is left out of the sentence."""
    cells = SelectCells(Domain(Keys.from_dict({"naics2": SECTORS})), answer="n", at_least=5)
    asked = Query().group_by("naics2", keys=cells)
    asked = asked.count(rho="0.05", name="n").sum("emp", taper=50, rho="0.1")
    page = evaluation_page(evaluate({"sectors": asked}, source, repeats=1), "Sectors")
    (goal,) = [each for each in page.findings if "come within 5" in each]
    assert "average that does not decide which cells are published to come within" in goal


def test_what_is_out_of_reach_is_an_answer_of_too_many_cells():
    """Two cells in twenty are too small for tapered noise: the whole answer is left out."""
    names = [f"c{place:02d}" for place in range(20)]
    rows = {"c": names * 2, "emp": [50_000] * 18 + [1, 0] + [50_000] * 18 + [0, 1]}
    with table(pa.table(rows), dimensions=["c"], measures=["emp"]) as opened:
        asked = Query().group_by("c", keys=Keys.from_dict({"c": names}))
        asked = asked.sum("emp", taper=50, rho="0.2")
        found = evaluate({"all": asked}, opened, repeats=1)
        page = evaluation_page(found, "Out of reach")
    (sentence,) = [each for each in page.findings if "out of reach" in each]
    said = "Within 5 %, 95 % of the cells are out of reach whatever the rho for sum_emp by c"
    assert sentence.replace("\N{NO-BREAK SPACE}", " ").startswith(said)
    assert "what the other answers would cost" in sentence
    by_share = next(each for each in found.fitness if each.reading == SHARE_OF_CELLS)
    assert by_share.losses.largest == 0
    by_cell = next(each for each in found.fitness if each.reading == EVERY_CELL)
    assert by_cell.losses.largest > 0


@pytest.mark.parametrize(
    ("values", "clamp", "said"),
    [
        ([10, 10, 10, 10, 10], (0, 5), "takes 50 % off the median cell"),
        ([10, 10, 10, 10, 10], (50, 99), "adds 400 % to the median cell"),
        ([-10, -10, -10, -10, -10], (-99, -50), "adds 400 % to the median cell"),
        ([-10, -10, -10, -10, -10], (-2, 99), "takes 80 % off the median cell"),
        ([10, 10, 10, 99, 99], (20, 50), "shifts the median cell, up or down, by 100 %"),
        ([10] * 18 + [40] * 2, (0, 20), "takes at least 50 % off one cell in twenty of"),
        ([10] * 39 + [40], (0, 20), "shifts fewer than one cell in twenty of"),
    ],
)
def test_the_direction_of_a_bias_is_told(values, clamp, said):
    """Clamping cuts off what is above, and lifts up what is below."""
    names = [f"s{place:02d}" for place in range(len(values))]
    asked = Query().group_by("sector", keys=Keys.from_dict({"sector": names}))
    with table(
        pa.table({"sector": names, "emp": values}), dimensions=["sector"], measures=["emp"]
    ) as source:
        clamped = asked.sum("emp", clamp=clamp, rho=10**6)
        page = evaluation_page(evaluate({"all": clamped}, source, repeats=1), "Bias")
    (sentence,) = [each for each in page.findings if "clamping" in each and "Splitting has" in each]
    assert said in sentence.replace("\N{NO-BREAK SPACE}", " ")
