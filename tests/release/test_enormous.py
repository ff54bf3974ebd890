"""Post-processing and writing at every size of number: a charge was made, so nothing may fail."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord import AmountError, Keys, Ledger, Query, Split, table
from perrecord.laws import DiscreteGaussian
from perrecord.mechanisms.run import answer
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from perrecord.released.columns import Chosen, Estimate
from perrecord.released.numbers import rounded_to, to_arrow

SPEC = """\
title: Sizes
source: rows.parquet
dimensions: {{g: }}
measures: {{x: {resolution}}}
splits: {{own: {{x: {threshold}}}}}
keys:
  all: {{values: {{g: [a, b, empty, null]}}}}
{found}
budget: {{{amount}: 1000, splits: [own]{selections}}}
ledger: sizes.ledger
queries:
  - name: sizes
    group_by: [g]
    keys: {keys}
    answers:
      n: {{count: records, {amount}: {least}}}
      filled: {{count: x, {amount}: {least}}}
      kinds: {{count_distinct: g, {amount}: {least}}}
      total: {{sum: x, split: own, {amount}: {least}}}
      cut: {{sum: x, clamp: [-{threshold}, {threshold}], {amount}: {least}}}
      mean: {{average: x, split: own, {amount}: {least}}}
      mean_cut: {{average: x, clamp: [0, 100], {amount}: {least}}}
      middle: {{median: x, candidates: [-100, 0, 100, 1e30], {amount}: {least}}}
post_processing:
  floor_at_zero: true
  round: {{n: {places}, filled: 0, kinds: {places}, total: {places}, cut: {places}, mean: {places},
    mean_cut: {places}, middle: {places}}}
outputs: {{csv: true}}
"""
FOUND = "  found: {select: {rho: 1, threshold: 1000000000000, split: own}}"
SLOT = ", selections: [{keys: [g], rho: 1, threshold: 1000000000000, split: own}]"
ANSWERS = ("n", "filled", "kinds", "total", "cut", "mean", "mean_cut", "middle")
ROWS = pa.table({"g": ["a", "a", "b", None], "x": [1, 2**40, None, -3]})


def published(folder, amount="rho", least="1e-10", **given):
    """Return the rows of a release whose amounts are so small, from both of its files."""
    pq.write_table(given.pop("rows", ROWS), folder / "rows.parquet")
    given = {"resolution": 1, "threshold": 100, "places": -2, "keys": "all"} | given
    text = SPEC.format(amount=amount, least=least, found="", selections="", **given)
    if given["keys"] == "found":
        text = SPEC.format(amount=amount, least=least, found=FOUND, selections=SLOT, **given)
    spec = folder / "release.yaml"
    spec.write_text(text)
    loaded = load_spec(spec)
    with open_table(loaded) as table:
        Ledger.create(loaded.ledger, build(loaded, table.schema).budget)
    release(spec, folder / "out")
    found = pq.read_table(folder / "out/tables/sizes.parquet")
    assert pa_csv.read_csv(folder / "out/tables/sizes.csv").num_rows == found.num_rows
    return found


# Noise of about 10^5, 2^53, 2^63, 2^127, 10^50, 10^100 steps.
LEAST = ["1e-10", "1e-30", "1e-38", "1e-76", "1e-100"]


@pytest.mark.parametrize("least", LEAST)
@pytest.mark.parametrize("resolution", ["1", "0.01", "0.000000000001", "100"])
def test_noise_of_any_size_is_published_and_rounded_exactly(tmp_path, least, resolution):
    """Whole numbers beyond 2^53, 2^63 and 2^127, negative ones, NULL keys, empty cells."""
    rows = published(tmp_path, least=least, resolution=resolution)
    assert rows.num_rows == 4
    for name in ("n", "filled", "kinds", "total", "cut", "middle"):
        unit = 1 if name == "filled" else 100
        for value, near in zip(rows[name], rows[f"{name}_rounded"], strict=True):
            if isinstance(value.as_py(), float) or isinstance(near.as_py(), float):
                assert float(near.as_py()) == pytest.approx(float(value.as_py()), rel=1e-9, abs=50)
                continue
            exact, round_ = Fraction(value.as_py()), Fraction(near.as_py())
            assert (round_ / unit).denominator == 1
            assert abs(round_ - exact) <= Fraction(unit, 2)
    for name in ANSWERS[:-1]:
        pairs = zip(rows[name].to_pylist(), rows[f"{name}_floored"].to_pylist(), strict=True)
        assert all(low == max(value, 0) for value, low in pairs)


@pytest.mark.parametrize("places", [-12, -1, 0, 12])
def test_laplace_noise_of_any_size_is_published(tmp_path, places):
    """Scales up to 10^130 steps."""
    rows = published(tmp_path, amount="epsilon", least="1e-100", threshold="1e30", places=places)
    assert rows.num_rows == 4
    assert np.isfinite(rows["total_se"].to_numpy()).all()


def test_a_table_without_rows_is_published(tmp_path):
    """No key passes the threshold of its selection: every column is there, and empty."""
    rows = published(tmp_path, keys="found")
    assert rows.num_rows == 0
    assert {f"{name}_rounded" for name in ANSWERS} <= set(rows.column_names)


def test_a_source_without_rows_is_published(tmp_path):
    """Noise alone."""
    assert published(tmp_path, rows=ROWS.slice(0, 0)).num_rows == 4


def test_what_rounding_does_is_said(tmp_path):
    """In the methodology and in the description of every column."""
    published(tmp_path)
    package = json.loads((tmp_path / "out/datapackage.json").read_text())
    fields = {
        each["name"]: each["description"] for each in package["resources"][0]["schema"]["fields"]
    }
    assert "rounded to the nearest 100" in fields["total_rounded"]
    assert "before it was rounded" in fields["total_rounded"]
    assert "the nearest whole number" in fields["filled_rounded"]
    text = (tmp_path / "out/methodology.md").read_text()
    assert "total to the nearest 100" in text


# -- the arithmetic ----------------------------------------------------------------------------

WHOLE = st.one_of(
    st.integers(-(2**200), 2**200),
    st.sampled_from(
        [s * (2**b + d) for s in (1, -1) for b in (53, 63, 64, 127) for d in (-1, 0, 1)]
    ),
)


@given(
    st.lists(WHOLE, max_size=6), st.integers(-12, 12), st.sampled_from(["1", "1/4", "7/3", "50"])
)
def test_rounding_is_exact_with_ties_away_from_zero(numbers, places, step):
    """Compared with rationals."""
    fits = all(abs(each) < 2**62 for each in numbers)
    given_ = np.array(numbers, dtype=np.int64 if fits else np.object_)
    size = Fraction(step) * Fraction(10) ** places
    for number, found in zip(numbers, rounded_to(given_, size), strict=True):
        exact = number * size
        assert abs(found - exact) <= Fraction(1, 2)
        assert abs(found - exact) < Fraction(1, 2) or abs(found) > abs(exact)


def test_half_to_even_is_caught():
    """The broken twin: floats, which forget the last digits, and numpy's ties."""
    assert rounded_to(np.array([25, -25]), Fraction(1, 10)).tolist() == [3, -3]
    assert np.round(np.array([2.5, -2.5])).tolist() == [2, -2]
    assert rounded_to(np.array([2**60 + 1]), Fraction(1)).tolist() != [int(float(2**60 + 1))]


def column(numbers, step=1):
    """Return a column of noisy numbers."""
    kind = np.int64 if all(abs(each) < 2**62 for each in numbers) else np.object_
    which = np.zeros(len(numbers), np.intp)
    values = np.array(numbers, dtype=kind)
    return Estimate("x", values, Fraction(step), (DiscreteGaussian(1),), which)


def test_columns_keep_their_exact_types():
    """Whole numbers stay whole; decimals where they are wider than 64 bits."""
    assert column([149, -151]).rounded(-2).to_pylist() == [100, -200]
    assert column([149], "1/100").rounded(1).to_pylist() == [Decimal("1.5")]
    wide = column([10**30 + 55]).rounded(-1)
    assert pa.types.is_decimal(wide.type)
    assert wide.to_pylist() == [10**30 + 60]
    assert column([-(10**30), 7]).floored().to_pylist() == [0, 7]
    assert column([]).rounded(-2).to_pylist() == []
    chosen = Chosen("q", (Fraction(149), Fraction(10**20)), np.array([0, 1]))
    with localcontext() as exact:
        exact.prec = 60
        assert chosen.rounded(-2).to_pylist() == [100, 10**20]
    assert to_arrow(np.array([3]), Fraction(100)).to_pylist() == [300]


AMOUNTS = [{"rho": "1e-119"}, {"epsilon": "1e-119"}, {"rho": "1e120"}, {"epsilon": "1e120"}]


@pytest.mark.parametrize("amount", AMOUNTS)
def test_a_session_answers_with_noise_of_any_size(tmp_path, amount):
    """From the least to the greatest amount that there is, every column is finite or NULL."""
    query = Query().group_by("g", keys=Keys.from_dict({"g": ["a", "b", "empty"]}))
    query = query.count(**amount).sum("x", split=Split(x=10**30), **amount)
    query = query.average("x", clamp=(0, 10), **amount)
    query = query.average("x", split=Split(x=10**30), name="m", **amount)
    query = query.median("x", candidates=[0, 1], **amount)
    with table(ROWS, dimensions=["g"], measures=["x"]) as opened:
        (found,) = answer(opened, query)
    found.write_parquet(tmp_path / "found.parquet")
    found.write_csv(tmp_path / "found.csv")
    rows = pq.read_table(tmp_path / "found.parquet")
    for column in rows.drop_columns(["g"]).columns:
        known = np.array([float(each) for each in column.drop_null().to_pylist()])
        assert np.isfinite(known).all()
    for each in found.columns:
        assert len(each.rounded(-2)) == 3


@pytest.mark.parametrize("amount", [{"rho": "1e-121"}, {"epsilon": "1e-450"}, {"rho": "1e121"}])
def test_amounts_beyond_are_refused_before_any_charge(amount):
    """Noise that no float can describe would fail only afterwards."""
    with pytest.raises(AmountError, match="below 1e-120 or above 1e120"):
        Query().count(**amount)
