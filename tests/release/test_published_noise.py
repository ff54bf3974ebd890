"""What is published less the truth, over its standard error, follows the law that is stated.

Through a whole release of mines, made up and real: employees and hours are as skewed as can be, and
the noise must not know. Errors of all cells, empty or not, are compared with their law as a whole
and far out.
"""

import json
import math

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest

from perrecord import DiscreteGaussian, DiscreteStudent
from perrecord.accounting.ledger import Ledger
from perrecord.evaluate.accuracy.noise_size import below
from perrecord.laws.widths import deviation
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table

MINES = "msha_mines_2013_2016.parquet"
SIZES = {"employees": 20, "hours": 40_000}
COLUMNS = {"employees": "AVG_EMP_TOTAL", "hours": "EMP_HRS_TOTAL"}
KEYS = ("YEAR", "US_STATE", '"PRIMARY"')
RHO = "0.2"
FALSE_ALARM = 1e-9
"""The chance that one comparison fails although all is right; there are some dozens of them."""
TAILS = ("0.5", "0.9", "0.99", "0.999")


def law(measure, nu):
    """Return the law of a total's noise, from the amounts alone."""
    return DiscreteStudent.for_rho(RHO, at=SIZES[measure], nu=nu)


@pytest.fixture
def errors(public_file, tmp_path):
    """Published totals less true ones, by measure and nu; published standard errors beside them."""
    source = public_file(MINES)
    years, states, kinds = (
        [value for (value,) in duckdb.sql(f"SELECT DISTINCT {name} FROM '{source}'").fetchall()]
        for name in KEYS
    )
    answers = [
        f"      {measure}{nu}: {{sum: {measure}, taper: nu{nu}, rho: {RHO}}}"
        for measure in SIZES
        for nu in (7, 3)
    ]
    budget = [
        f"{{measure: {measure}, at: {size}, rho: {RHO}, nu: {nu}}}"
        for measure, size in SIZES.items()
        for nu in (7, 3)
    ]
    lines = [
        "title: Mines",
        f"source: {json.dumps(str(source))}",
        "table: mines",
        "ledger: mines.ledger",
        "dimensions: {year: YEAR, state: US_STATE, kind: PRIMARY}",
        "measures:",
        *(f"  {measure}: {{column: {column}}}" for measure, column in COLUMNS.items()),
        "tapers:",
        *(f"  nu{nu}: {{sizes: {json.dumps(SIZES)}, nu: {nu}}}" for nu in (7, 3)),
        "keys:",
        "  cells:",
        f"    values: {{year: {years}, state: {json.dumps(states)}, kind: {json.dumps(kinds)}}}",
        f"budget: {{rho: 0.1, tapers: [{', '.join(budget)}]}}",
        "queries:",
        "  - name: mines",
        "    group_by: [year, state, kind]",
        "    keys: cells",
        "    answers:",
        *answers,
    ]
    spec = tmp_path / "release.yaml"
    spec.write_text("\n".join(lines), encoding="utf-8")
    loaded = load_spec(spec)
    with open_table(loaded) as table:
        Ledger.create(loaded.ledger, build(loaded, table.schema).budget)
    release(spec, tmp_path / "published")
    published = pq.read_table(tmp_path / "published" / "tables" / "mines.parquet")
    return {
        (measure, nu): against_the_truth(published, source, measure, f"{measure}{nu}")
        for measure in SIZES
        for nu in (7, 3)
    }


def against_the_truth(published, source, measure, name):
    """Return published less true of every cell, added up by plain SQL, and the standard error."""
    true = duckdb.sql(
        f"SELECT {', '.join(KEYS)}, sum({COLUMNS[measure]})::BIGINT FROM '{source}' GROUP BY ALL"
    ).fetchall()
    totals = {tuple(key): total or 0 for *key, total in true}
    keys = zip(*(published[name].to_pylist() for name in ("year", "state", "kind")), strict=True)
    truths = np.array([totals.get(key, 0) for key in keys])
    assert (truths != 0).sum() > 300
    (spread,) = set(published[f"{name}_se"].to_pylist())
    return published[name].to_numpy().astype(np.int64) - truths, spread


def differences(found, stated):
    """Yield what of the errors is not as the law has it: as a whole, and beyond its quantiles."""
    ordered = np.sort(found)
    shares = np.arange(1, len(found) + 1) / len(found)
    is_last = np.append(np.diff(ordered) > 0, True)
    furthest = np.abs(below(stated, ordered.astype(float)) - shares)[is_last].max()
    if furthest > math.sqrt(math.log(2 / FALSE_ALARM) / (2 * len(found))):  # DKW
        yield f"a distribution that is {furthest:.3f} from its law"
    for confidence in TAILS:
        width = stated.half_width(confidence)
        outside = 2 * float(stated.tail(width + 1).upper)
        count = int((np.abs(found) > width).sum())
        if binomtest(count, len(found), min(outside, 1.0)).pvalue < FALSE_ALARM:
            yield f"{count} of {len(found)} beyond {confidence}, where {outside:.4f} should be"


def test_published_totals_err_by_the_law_that_is_stated(errors):
    """Both measures and both laws, all cells; the published standard error is the law's own."""
    for (measure, nu), (found, spread) in errors.items():
        assert len(found) > 10_000
        assert spread == pytest.approx(deviation(law(measure, nu)), rel=1e-9)
        assert list(differences(found, law(measure, nu))) == []


def test_noise_of_the_same_deviation_and_another_law_would_be_seen(errors):
    """Gaussian noise in place of Student's, one nu in place of the other, a fifth less noise."""
    for (measure, nu), (found, _) in errors.items():
        stated = law(measure, nu)
        variance = stated.variance().upper
        assert list(differences(found, DiscreteGaussian(variance)))
        other = 10 - nu
        assert list(differences(found, DiscreteStudent((other - 2) * variance, other)))
        assert list(differences(np.round(found * 0.8), stated))
