"""Totals whose noise grows with their own records (T28): drawn, bounded, released, refused."""

import re
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import (
    Blur,
    InputError,
    Keys,
    Ledger,
    Measure,
    Query,
    QueryError,
    SpecError,
    from_sql,
    table,
)
from perrecord.confidential.revealing import revealed
from perrecord.evaluate.accuracy.errors import accuracy
from perrecord.evaluate.losses.realised import losses
from perrecord.laws import DiscreteStudent
from perrecord.laws.blurring import blurred_rho_between, least_blurred_spread_for_rho
from perrecord.mechanisms.run import answer
from perrecord.policy.policy import Policy
from perrecord.preview import expected
from perrecord.queries.aggregates import GIANT, ROOT
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.queries.scan import giants_of
from perrecord.release.publish import release
from perrecord.release.reading import read_published
from perrecord.release.spec import build, load_spec, open_table
from perrecord.released.blurred import Blurred, student_quantile
from perrecord.released.numbers import NoisyIntegers
from tests.noise.checks import Replayed

COUNTIES = Keys.from_dict({"county": ["01001", "01003", "02001"]})
ROWS = {
    "county": ["01001", "01001", "01003", "02001", "01001"],
    "kind": ["a", "a", "a", "a", "b"],
    "emp": [4, 30, 8000, None, 5000],
}
LEAST = least_blurred_spread_for_rho("0.2", at=50, by="0.1")
SPEC = """\
title: Establishments by county
source: est.parquet
table: est
dimensions: {county: county, kind: kind, state: "substr(county, 1, 2)"}
measures: {emp: 1}
keys:
  counties: {values: {county: ["01001", "01003", "02001"]}}
  states: {values: {state: ["01", "02"]}}
budget: {rho: 0.01, tapers: [{measure: emp, at: 50, rho: 0.2, blur: 0.1, times: 2}]}
ledger: est.ledger
queries:
  - name: counties
    group_by: county
    keys: counties
    answers: {emp: {sum: emp, taper: 50, blur: 0.1, rho: 0.2}}
  - name: states
    group_by: state
    keys: states
    answers: {emp: {sum: emp, taper: 50, blur: 0.1, rho: 0.2}}
post_processing: {floor_at_zero: true, round: {emp: -1}}
"""


def source(rows: dict[str, list[object]] | None = None, resolution: str = "1") -> object:
    """Return establishments as an open table."""
    measures = {"emp": Measure(resolution)}
    found = pa.table(rows or ROWS)
    return table(found, dimensions=["county", "kind"], measures=measures, name="est")


def blurred(**options: object) -> Query:
    """Return employment by county, blurred by ten per cent."""
    asked = Query("est").group_by("county", keys=COUNTIES)
    return asked.sum("emp", **{"taper": 50, "blur": "0.1", "rho": "0.2", "name": "emp"} | options)


def squares_of(query: Query, rows: dict[str, list[object]] | None = None) -> list[int]:
    """Return the sums of squares that the noise of a query grows with, by county."""
    with source(rows) as est:
        planned = plan(query, est.schema)
        (step,) = planned.queries[0].answers[0].measurements
        with scanned(planned, est) as (cells,):
            return revealed(cells.reading(("county",), COUNTIES).numbers(step.squares)).tolist()


def test_squares_are_those_of_the_cell_on_the_grid() -> None:
    """Records without a value add none; each cell has its own."""
    assert squares_of(blurred()) == [4**2 + 30**2 + 5000**2, 8000**2, 0]


def test_squares_of_records_that_a_filter_leaves_out_are_left_out() -> None:
    """Noise grows with whom the total is of, and with nobody else."""
    assert squares_of(blurred().where("kind = 'a'")) == [4**2 + 30**2, 8000**2, 0]


@pytest.mark.parametrize("value", [2**63 - 1, 1 - 2**63, ROOT, ROOT - 1, -ROOT - 1, 3 * 10**18])
def test_squares_beyond_128_bits_are_exact(value: int) -> None:
    """The largest values there are, three of them in a cell."""
    rows = {"county": ["01001"] * 3, "kind": ["a"] * 3, "emp": [value] * 3}
    assert squares_of(blurred(), rows) == [3 * value**2, 0, 0]


@pytest.mark.parametrize("value", [2**31, 3 * 10**9, ROOT - 1, -ROOT, 10**10 + 7])
def test_squares_beyond_64_bits_are_exact(value: int) -> None:
    """Sums that fit 64 bits are 64 bits wide, others are Python ints; both have every digit."""
    rows = {"county": ["01001"] * 3, "kind": ["a"] * 3, "emp": [value] * 3}
    assert squares_of(blurred(), rows) == [3 * value**2, 0, 0]


def test_records_are_giants_from_one_size_on_and_are_scanned_by_themselves() -> None:
    """Of either sign, in their cells, if they pass the filter; others are not scanned again."""
    values = [GIANT, -GIANT, GIANT - 1, 1 - GIANT, -GIANT - 7, 2**62, *[2 - 2**63] * 3, None, 5]
    counties = ["01001", "01003", "01001", "01003", *["02001"] * 7]
    kinds = ["a", "a", "a", "a", "a", "b", "b", "b", "b", "a", "a"]
    rows = {"county": counties, "kind": kinds, "emp": values}
    whole = [2 * GIANT**2 - 2 * GIANT + 1, 2 * GIANT**2 - 2 * GIANT + 1]
    least = (GIANT + 7) ** 2 + 25
    assert squares_of(blurred(), rows) == [*whole, least + 2**124 + 3 * (2**63 - 2) ** 2]
    filtered = blurred().where("kind = 'a' OR kind = 'c'")
    assert squares_of(filtered, rows) == [*whole, least]


def test_only_giants_take_a_second_scan() -> None:
    """Whoever has none, or declares that there can be none, is scanned once."""
    for values, largest, are_scanned in ([[GIANT], None, True], [[GIANT - 1], None, False],
                                         [[GIANT], GIANT - 1, False]):  # fmt: skip
        measures = {"emp": Measure(1, largest=largest)}
        rows = pa.table({"county": ["01001"], "emp": pa.array(values, pa.int64())})
        with table(rows, dimensions=["county"], measures=measures, name="est") as est:
            planned = plan(blurred(), est.schema)
            assert (giants_of(planned.scans[0]) is None) == (largest is not None)
            with scanned(planned, est) as (cells,):
                assert (cells.giants is not None) == are_scanned


def test_noise_grows_with_the_records_of_the_cell() -> None:
    """The mean size of the noise is that of A = A0 + nu by^2 Q; it is unbiased."""
    copies = [f"{copy:03} " for copy in range(600)]
    rows = {"county": [copy + each for copy in copies for each in ROWS["county"]]}
    rows |= {name: ROWS[name] * len(copies) for name in ("kind", "emp")}
    keys = Keys.from_dict({"county": sorted(set(rows["county"]))})
    asked = Query("est").group_by("county", keys=keys)
    with source(rows) as est:
        (found,) = answer(est, asked.sum("emp", taper=50, blur="0.1", rho="0.2", name="emp"))
    noise = found.column("emp").numbers.reshape(len(copies), 3) - [5034, 8000, 0]
    spreads = [LEAST + Fraction(7, 100) * each for each in (5000**2 + 916, 8000**2, 0)]
    sizes = [DiscreteStudent(each).float_sizes(np.zeros(1))[0] for each in spreads]
    # Standard errors of both are some 5 % of the size: a false alarm is one in 10^6.
    assert np.abs(noise).mean(axis=0) == pytest.approx(sizes, rel=0.2)
    assert np.all(np.abs(noise.mean(axis=0)) < 0.3 * np.array(sizes))


def test_what_it_costs_is_the_blurred_policy() -> None:
    """A record of the taper's size loses the amount, alone in its cell; others lose less."""
    with source() as est:
        planned = plan(blurred(), est.schema)
    assert planned.policy == Policy.blurred("0.2", measure="emp", at=50, by="0.1")
    assert planned.policy.loss({"emp": 50}) <= Fraction("0.2")
    beside = blurred_rho_between(50, 10**8, 10**8 + 2500, LEAST, "0.1")
    assert beside < planned.policy.loss({"emp": 50})
    assert expected(planned)[0].shown() == "84.33 and more"


def test_no_standard_error_is_published() -> None:
    """The number, an interval and a bound stand there; signed values have the number alone."""
    with source() as est:
        (found,) = answer(est, blurred(), _bits=Replayed(1))
        (signed,) = answer(est, blurred(blur=Blur("0.1", signed=True)), _bits=Replayed(1))
    names = ["county", "emp", "emp_low", "emp_high", "emp_sd_at_most"]
    assert found.with_errors().column_names == names
    assert found.with_errors(None).column_names == names[:2]
    assert signed.with_errors().column_names == names[:2]
    assert signed.table == found.table
    assert not hasattr(found.column("emp"), "laws")


@pytest.mark.parametrize(
    "numbers", [[-(10**6), -1, 0, 1, 170, 10**6, 10**15], [0, 2**70], [5, -(2**70)]]
)
def test_what_stands_beside_follows_from_the_number_alone(numbers: list[int]) -> None:
    """Whatever the truth: equal numbers have equal ends, and ends rise with the number."""
    whole = np.array(numbers, dtype=object if max(map(abs, numbers)) > 2**62 else np.int64)
    column = Blurred(
        "emp", NoisyIntegers(whole), Fraction(1), LEAST, Fraction(1, 10), 7, is_signed=False
    )
    beside = {ending: values.to_pylist() for ending, values in column.beside("0.95")}
    order = np.argsort(numbers, kind="stable")
    for values in beside.values():
        ordered = [values[each] for each in order]
        assert ordered == sorted(ordered)
        assert ordered[0] >= 0
    t, s = student_quantile(Fraction("0.95"), 7), sqrt(LEAST / 7)
    for y, low, high in zip(numbers, beside["_low"], beside["_high"], strict=True):
        # The ends solve y = S +- t sqrt(s^2 + by^2 S^2), half a step further out.
        assert float(low) <= max(float(y), 0) + 1
        if low > 0:
            at = float(low) + t * sqrt(s**2 + (0.1 * float(low)) ** 2)
            assert y - 0.5 >= at * (1 - 1e-8)
            assert y - 0.5 <= (at + 1.3) * (1 + 1e-8)
        if high > 0:
            at = float(high) - t * sqrt(s**2 + (0.1 * float(high)) ** 2)
            assert at >= y + 0.5 - 1e-8 * abs(y)


def test_there_is_no_upper_end_where_noise_may_be_as_large_as_the_total() -> None:
    """From t by = 1 on, at 95 % from about 0.42: the ends are empty, the lower one holds."""
    with source() as est:
        (found,) = answer(est, blurred(blur="0.5"), _bits=Replayed(1))
    beside = found.with_errors()
    assert beside["emp_high"].null_count == beside["emp_sd_at_most"].null_count == 3
    assert beside["emp_low"].null_count == 0


@pytest.mark.parametrize("records", [[20_000], [300, 20_000], [7] * 500, [1], []])
@pytest.mark.parametrize("confidence", ["0.8", "0.95"])
def test_intervals_cover_cells_of_one_of_two_and_of_many(
    records: list[int], confidence: str
) -> None:
    """At least as often as stated: exactly, from the law of the cell, and not by a sample."""
    total, squares = sum(records), sum(each**2 for each in records)
    law = DiscreteStudent(LEAST + Fraction(7, 100) * squares)
    reach = law.half_width("0.9999")
    steps = np.unique(np.linspace(-reach, reach, 4001).astype(np.int64))
    column = Blurred(
        "emp", NoisyIntegers(total + steps), Fraction(1), LEAST, Fraction(1, 10), 7, is_signed=False
    )
    low, high = (values.to_pylist() for _, values in list(column.beside(confidence))[:2])
    # Ends rise with the number: the noise that is covered lies between two steps.
    inside = [total + int(z) for z, a, b in zip(steps, low, high, strict=True) if a <= total <= b]
    first, last = min(inside) - total, max(inside) - total
    outside = law.tail(int(last) + 1).upper + law.tail(1 - int(first)).upper
    assert outside <= 1 - Fraction(confidence)


def test_less_confidence_than_the_proof_holds_for_is_not_used() -> None:
    """Half a step makes up for whole numbers from 80 % on: below that, ends are those of 80 %."""
    column = Blurred(
        *("emp", NoisyIntegers(np.array([1000])), Fraction(1), LEAST, Fraction(1, 10), 7, False)
    )
    narrow, least, wide = (
        [values.to_pylist() for _, values in column.beside(each)] for each in ("0.5", "0.8", "0.9")
    )
    assert narrow == least != wide


def test_the_kind_of_a_column_depends_on_its_numbers_alone() -> None:
    """Noise so wide that it is drawn in Python's integers leaves no trace in numbers that fit."""
    rows = {"county": ["01001"], "kind": ["a"], "emp": [2**53]}
    with source(rows) as est:
        found = [answer(est, blurred())[0].column("emp").numbers.dtype for _ in range(3)]
    assert found == [np.dtype(np.int64)] * 3


def test_expected_errors_come_from_the_true_squares() -> None:
    """Evaluation knows the squares; its errors are within 5 % above those of the law."""
    with source() as est:
        (found,) = accuracy(plan(blurred(), est.schema), est)
    spreads = [LEAST + Fraction(7, 100) * each for each in (5000**2 + 916, 8000**2, 0)]
    exact = np.array([sqrt(each / 5) for each in spreads])
    assert np.all(found.deviation >= exact * (1 - 1e-9))
    assert np.all(found.deviation <= exact * 1.05)


def test_realised_losses_are_those_of_blurred_noise() -> None:
    """Of a record its policy; of a unit what its records move together, with their squares."""
    rows = {"firm": [1, 1, 2], "county": ["01001"] * 3, "emp": [400, 600, 50]}
    asked = Query("est").group_by("county", keys=COUNTIES).sum("emp", taper=50, blur="0.1", rho=1)
    with table(
        pa.table(rows), unit="firm", dimensions=["county"], measures=["emp"], name="est"
    ) as est:
        found = losses(plan(asked, est.schema), est)
    spread = least_blurred_spread_for_rho(1, at=50, by="0.1")
    together = blurred_rho_between(1000, 0, 400**2 + 600**2, spread, "0.1")
    assert found.units.realised.largest == pytest.approx(float(together), rel=1e-9)
    assert found.realised.values == pytest.approx(found.policy.values, rel=1e-6)


def test_sql_takes_the_same_blur() -> None:
    """A blur is an option of SQL, for all totals or by name."""
    text = "SELECT county, SUM(emp) AS emp FROM est GROUP BY county"
    with source() as est:
        for given in ("0.1", Blur("0.1"), {"emp": "0.1"}):
            options = {"schema": est.schema, "keys": COUNTIES, "rho": "0.2", "taper": 50}
            assert from_sql(text, **options, blur=given) == blurred()


def test_noise_too_narrow_for_its_grid_is_refused() -> None:
    """As of a taper: on a grid so coarse no loss is known."""
    asked = Query("est").sum("emp", taper=1, blur="0.1", rho=5)
    with source() as est, pytest.raises(InputError, match="steps of 1, the measure's resolution"):
        plan(asked, est.schema)


def test_cells_are_not_kept_by_a_blurred_total() -> None:
    """Which cells are kept rests on Gaussian noise."""
    with pytest.raises(QueryError, match="a blur widens the noise of a taper"):
        Query().sum("emp", clamp=(0, 50), blur="0.1", rho=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the spec and its source."""
    pq.write_table(pa.table(ROWS), tmp_path / "est.parquet")
    (tmp_path / "release.yaml").write_text(SPEC)
    return tmp_path


def test_a_release_from_end_to_end(folder: Path) -> None:
    """Charged, drawn, published: no standard error, the policy with its blur, the words."""
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as opened:
        workload = build(loaded, opened.schema)
    Ledger.create(folder / "est.ledger", workload.budget)
    release(folder / "release.yaml", folder / "out")
    counties = pq.read_table(folder / "out" / "tables" / "counties.parquet")
    names = ["emp", "emp_low", "emp_high", "emp_sd_at_most", "emp_floored", "emp_rounded"]
    assert counties.column_names == ["county", *names]
    document = read_published((folder / "out" / "policy.json").read_text())
    assert document.total == workload.policy
    assert (
        "blurred by 0.1 of the size of each record"
        in (folder / "out" / "methodology.md").read_text()
    )
    release(folder / "release.yaml", folder / "again")
    assert pq.read_table(folder / "again" / "tables" / "counties.parquet") == counties


def test_words_follow_from_the_published_bound(folder: Path) -> None:
    """Of signed values there is none, so no word, and what is below 0 may well be so."""
    asked = SPEC.replace("round: {emp: -1}", "status: {reliable: 0.1, caution: 0.2}")
    signed = "blur: {by: 0.1, signed: true}"
    asked = asked.replace("blur: 0.1, times", "blur: 0.01, times").replace("blur: 0.1", signed)
    asked = asked.replace(signed, "blur: 0.01", 1)
    asked = asked.replace("tapers: [", "tapers: [{measure: emp, at: 50, rho: 0.2, blur: 0.1}, ")
    (folder / "release.yaml").write_text(asked)
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as opened:
        Ledger.create(folder / "est.ledger", build(loaded, opened.schema).budget)
    release(folder / "release.yaml", folder / "out", _bits=Replayed(3))
    rows = pq.read_table(folder / "out" / "tables" / "counties.parquet").to_pylist()
    shares = [row["emp_sd_at_most"] / abs(row["emp"]) for row in rows]
    words = ["reliable" if share <= 0.1 else "unreliable" for share in shares]
    assert not [share for share in shares if 0.1 < share <= 0.2]
    assert set(words) == {"reliable", "unreliable"}
    assert [row["emp_status"] for row in rows] == words
    states = pq.read_table(folder / "out" / "tables" / "states.parquet")
    assert states.column_names == ["state", "emp"]


def test_a_blurred_answer_is_not_made_consistent_or_derived_from(folder: Path) -> None:
    """Both need public standard errors: the first is named with its reason, the second refused."""
    (folder / "release.yaml").write_text(
        SPEC.replace("floor_at_zero", "consistent: true, floor_at_zero")
    )
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as opened:
        families = build(loaded, opened.schema).families
    assert [each.reason[:30] for each in families.unfitted] == [
        "its noise grows with its own r"
    ] * 2
    (folder / "release.yaml").write_text(f"{SPEC}derived: {{twice: emp * 2}}\n")
    loaded = load_spec(folder / "release.yaml")
    with open_table(loaded) as opened, pytest.raises(SpecError, match="error is confidential"):
        build(loaded, opened.schema)
    with source() as est, pytest.raises(QueryError, match=re.escape("has no standard error")):
        answer(est, blurred())[0].with_derived({"twice": "emp * 2"})
