"""The benchmark of giants: its median is a median, and what the docs quote of it is so."""

import re
from pathlib import Path

import numpy as np
import pytest
from full_size.workload import COUNT_RHO, LEVELS, RHOS, THRESHOLDS
from giants import EMPLOYEES, median_error, record

from perrecord import DiscreteGaussian, DiscreteStudent, Policy, Split

ROOT = Path(__file__).parents[2]
LOSS = re.compile(r"^\| [\d,]+ \| [\d.,]+ \| [\d.,]+ \| [\d.,/]+ \|$", re.MULTILINE)


@pytest.mark.parametrize("law", [DiscreteGaussian(10_000), DiscreteStudent(50_000)], ids=repr)
def test_the_median_error_is_that_of_draws(law):
    """Over cells and noise, in a grid of quantiles of both."""
    true = np.round(np.exp(np.random.default_rng(1).normal(8, 2, 5000))) + 1
    chances = [f"{(2 * place + 1) / 400}" for place in range(200)]
    widths = np.array([law.half_width(chance) for chance in chances])
    drawn = widths[:, None] / true
    assert median_error(law, 1.0, true) == pytest.approx(np.median(drawn), rel=0.01)


def test_the_page_and_the_docs_say_what_the_policy_does():
    """Six tables of a count and three totals; split by all three measures, tapered by each."""
    page = LOSS.findall((ROOT / "benchmarks" / "giants.md").read_text("utf-8"))
    quoted = LOSS.findall((ROOT / "docs" / "giants.md").read_text("utf-8"))
    assert page == quoted
    assert len(page) == len(EMPLOYEES)
    split = tapered = Policy.constant(COUNT_RHO)
    for measure, rho in RHOS.items():
        split += Policy.split(rho, Split(THRESHOLDS))
        tapered += Policy.tapered(rho, measure=measure, at=THRESHOLDS[measure])
    for row, size in zip(page, EMPLOYEES, strict=True):
        numbers = [float(each.replace(",", "")) for each in row.strip("| ").split(" | ")[:3]]
        losses = [len(LEVELS) * float(each.loss(record(size))) for each in (split, tapered)]
        assert numbers == pytest.approx([size, *losses], rel=0.005)


def test_the_docs_quote_the_ratios_of_the_page():
    """Of standard errors and medians."""
    page = (ROOT / "benchmarks" / "giants.md").read_text("utf-8")
    docs = (ROOT / "docs" / "giants.md").read_text("utf-8")
    medians, deviations = re.findall(r"([\d.]+ to [\d.]+) times \| yes", page)
    assert f"standard errors are {deviations} times" in docs
    assert f"are smaller: {medians} times" in docs
