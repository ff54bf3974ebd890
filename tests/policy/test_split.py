"""Splitting: the paper's Table 2, conservation, thresholds, caps, errors."""

from fractions import Fraction

import pytest
from hypothesis import given

from perrecord import (
    InexactNumberError,
    InputError,
    MissingFieldError,
    Policy,
    RecordError,
    Split,
    ThresholdError,
    UnknownCaseError,
)
from tests.policy import strategies as some

TABLE = [
    {"id": 1, "industry": "Agriculture", "employees": 150, "payroll": 10_000_000},
    {"id": 2, "industry": "Agriculture", "employees": 50, "payroll": 15_000_000},
    {"id": 3, "industry": "Mining", "employees": 100, "payroll": 10_000_000},
    {"id": 4, "industry": "Mining", "employees": 50, "payroll": 10_000_000},
    {"id": 5, "industry": "Retail", "employees": 20, "payroll": 1_000_000},
]
SCHEME = Split(employees=50, payroll=5_000_000)


def test_table_2_of_the_paper_row_by_row():
    """Order, zero padding, ids and dimensions as printed."""
    rows = [
        tuple(row[name] for name in ("id", "industry", "employees", "payroll"))
        for record in TABLE
        for row in SCHEME.rows(record)
    ]
    million = 1_000_000
    assert rows == [
        (1, "Agriculture", 50, 5 * million),
        (1, "Agriculture", 50, 5 * million),
        (1, "Agriculture", 50, 0),
        (2, "Agriculture", 50, 5 * million),
        (2, "Agriculture", 0, 5 * million),
        (2, "Agriculture", 0, 5 * million),
        (3, "Mining", 50, 5 * million),
        (3, "Mining", 50, 5 * million),
        (4, "Mining", 50, 5 * million),
        (4, "Mining", 0, 5 * million),
        (5, "Retail", 20, 1 * million),
    ]


def pieces_conserve_and_fit(split, record):
    """Check T3 on one record: sums, sizes, signs, copies."""
    plain = split.at(record)
    rows = split.rows(record)
    assert len(rows) == split.pieces(record) >= 1
    for name, threshold in plain.thresholds:
        value, shares = record[name], [row[name] for row in rows]
        if value is None:
            assert shares == [None] * len(rows)
            continue
        limit = threshold * plain.cap if plain.cap else abs(value)
        assert sum(shares) == max(-limit, min(limit, value))
        assert all(abs(share) <= threshold for share in shares)
        assert all(share * value >= 0 for share in shares)
    assert all(row["id"] == record["id"] and row["region"] == record["region"] for row in rows)


@given(some.splits, some.records)
def test_pieces_conserve_sums_and_respect_thresholds(split, record):
    """Hypothesis: rows add up to the record, none exceeds a threshold, signs are kept."""
    if split.pieces(record) < 1000:
        pieces_conserve_and_fit(split, record)


def test_floor_instead_of_ceil_is_caught(monkeypatch):
    """Broken twin: with floor a piece would have to exceed its threshold."""
    monkeypatch.setattr("perrecord.policy.split.ceil_div", lambda a, b: a // b)
    record = {"id": 1, "region": "north", "x": 12}
    with pytest.raises(AssertionError):
        pieces_conserve_and_fit(Split(x=5), record)


@given(some.splits, some.records, some.values)
def test_pieces_grow_with_size(split, record, other):
    """M is monotone in each |r(a)|, and blind to signs."""
    larger = {**record, "x": max(abs(record["x"] or 0), abs(other or 0))}
    assert split.pieces(larger) >= split.pieces(record)
    negated = {**record, "x": -(record["x"] or 0)}
    assert split.pieces(negated) == split.pieces(record)


def test_an_all_zero_record_is_one_piece():
    """T3: the max(1, ...) matters."""
    assert SCHEME.pieces({"employees": 0, "payroll": 0}) == 1
    assert SCHEME.pieces({"employees": None, "payroll": None}) == 1


def test_thresholds_are_exact():
    """Decimal text is a decimal: 0.7000000000000001 at 0.1 is 8 pieces, not 7."""
    assert Split(x="0.1").pieces({"x": "0.7000000000000001"}) == 8
    assert Split(x=Fraction(1, 3)).pieces({"x": 1}) == 3


def test_a_cap_bounds_pieces_and_clamps_rows():
    """T3: one giant cannot exhaust memory."""
    capped = Split(x=5).capped(3)
    assert capped.pieces({"x": 10**40}) == 3
    assert [row["x"] for row in capped.rows({"x": -(10**40)})] == [-5, -5, -5]
    with pytest.raises(ThresholdError, match="more than 1,000,000 rows; limit them with"):
        Split(x=5).rows({"x": 10**40})


def test_piecewise_over_several_dimensions_and_thousands_of_cases():
    """One case among 5,000 is found, and the default for the rest."""
    keys = [(f"s{i % 50}", i) for i in range(5000)]
    large = Split.by(("state", "naics"), {key: Split(x=key[1] + 1) for key in keys}, Split(x=1))
    assert large.pieces({"state": "s7", "naics": 4957, "x": 4958 * 3}) == 3
    assert large.pieces({"state": "s8", "naics": 4957, "x": 9}) == 9


def test_nested_piecewise_schemes():
    """A case may itself be piecewise."""
    nested = Split.by("state", {"TX": Split.by("kind", {1: Split(x=2)}, Split(x=3))}, Split(x=5))
    assert nested.pieces({"state": "TX", "kind": 1, "x": 10}) == 5
    assert nested.pieces({"state": "TX", "kind": 2, "x": 10}) == 4
    assert nested.pieces({"state": "NM", "x": 10}) == 2
    assert nested.measures == ("x",)


def test_true_and_one_are_different_values():
    """They are equal in Python but not in a database."""
    split = Split.by("flag", {True: Split(x=1), 2: Split(x=5)}, default=Split(x=10))
    assert split.pieces({"flag": True, "x": 10}) == 10
    assert split.pieces({"flag": 1, "x": 10}) == 1


def test_a_value_of_another_type_than_the_cases_is_refused():
    """The code 11 is not the text '11': the default would silently apply."""
    split = Split.by("naics", {"11": Split(x=1)}, default=Split(x=10))
    with pytest.raises(RecordError, match="'naics' is a whole number, its cases are text"):
        split.pieces({"naics": 11, "x": 10})
    assert split.pieces({"naics": None, "x": 10}) == 1


def test_types_are_checked_in_every_summand():
    """A sum does not let one table's types excuse a value that another has no case for."""
    texts = Policy.by("naics", {"11": Policy.constant(1)}, Policy.zero())
    numbers = Policy.by("naics", {11: Policy.constant(1)}, Policy.zero())
    for value in ("11", 11):
        with pytest.raises(RecordError, match=r"'naics' is .*, its cases are"):
            (texts + numbers).loss({"naics": value})


BAD = [
    (lambda: Split(5), ThresholdError, "the thresholds are a int; name the measures"),
    (lambda: Split({1: 5}), ThresholdError, "the measure is 1; expected the name"),
    (lambda: Split({"x": 1}, x=5), ThresholdError, "names x twice"),
    (lambda: Split.by("a", None), InputError, "the cases are a NoneType"),
    (lambda: Split(emp=1).threshold("emq"), ThresholdError, "no threshold for 'emq'"),
    (lambda: Split(x=0), ThresholdError, "threshold of 'x' is 0; expected a number above 0"),
    (lambda: Split(x=-5), ThresholdError, "threshold of 'x' is -5; expected a number above 0"),
    (lambda: Split(x="nan"), InexactNumberError, "threshold of 'x' is text but not a finite"),
    (lambda: Split(x=0.5), InexactNumberError, "threshold of 'x' is a float"),
    (lambda: Split(x=float("nan")), InexactNumberError, "threshold of 'x' is a float"),
    (Split, ThresholdError, "names no measure"),
    (lambda: Split(x=1).capped(0), ThresholdError, "the cap is 0"),
    (lambda: Split.by("d", {}), InputError, "neither a case nor a default"),
    (lambda: Split.by("d", {"a": 5}), InputError, "case of Split.by is a int"),
    (lambda: Split.by("d", {0.5: Split(x=1)}), InputError, "holds a float"),
    (lambda: Split.by(("d", "e"), {"a": Split(x=1)}), InputError, "one value for each of d, e"),
    (lambda: Split.by(("d", "d"), {("a", "b"): Split(x=1)}), InputError, "named twice"),
    (lambda: Split.by((), {(): Split(x=1)}), InputError, "expected a column name"),
    (
        lambda: Split(employees=5).pieces({"employes": 3}),
        MissingFieldError,
        "no measure 'employees'. It has employes. Did you mean 'employes'?",
    ),
    (
        lambda: Split.by("industry", {"Mining": Split(x=1)}).pieces({"x": 1}),
        MissingFieldError,
        "no dimension 'industry'",
    ),
    (
        lambda: Split.by("industry", {"Mining": Split(x=1)}).pieces({"industry": "Z", "x": 1}),
        UnknownCaseError,
        r"matches none of the declared cases \(Mining\) and there is no default",
    ),
    (lambda: Split(x=1).pieces({"x": 1.5}), InexactNumberError, "record's measure 'x' is a float"),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD)
def test_bad_schemes_and_records_get_their_own_error(make, error, message):
    """Each mistake is named, with what to type instead."""
    with pytest.raises(error, match=message):
        make()


def test_messages_about_records_quote_no_value():
    """A record may be confidential: its fields may be named, its values not."""
    secret = {"industry": "SecretValue", "x": 123456.5}
    for split in (Split.by("industry", {"Mining": Split(x=1)}), Split(x=1)):
        with pytest.raises(InputError) as caught:
            split.pieces(secret)
        assert "Secret" not in str(caught.value)
        assert "123456" not in str(caught.value)
