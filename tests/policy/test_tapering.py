"""Losses of tapered answers as policies: what they are, what they are below, how they are written.

That they bound the divergences of Student noise is shown in tests/laws/test_tapering.py.
"""

import json
import re
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from math import isclose

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import asinh, cosh, mp, mpf, sqrt, tanh

from perrecord import Budget, DocumentError, InputError, Policy, Split, Taper
from perrecord.policy.terms import Currency

SIZES = (1, 7, 50, 150, 500, 4_000, 50_000, 10**6)
EMP = Policy.tapered("0.2", measure="emp", at=50)
NUS = st.sampled_from([3, 7])
AMOUNTS = st.fractions(Fraction(1, 1000), 10, max_denominator=1000)


def written_out(size, spread, nu):
    """Return the loss in rho by the formulas of T26, in another arithmetic."""
    with mp.workdps(40):
        b = mpf(size) / (2 * sqrt(mpf(spread.numerator) / spread.denominator))
        if nu == 3:
            return 4 * b * asinh(b) / sqrt(1 + b**2)
        more = (1 + 2 * b**2) * (mpf(14) / 5 + 3 * b**2 + b**4)
        return 4 * b * asinh(b) * more / (1 + b**2) ** mpf("3.5")


@pytest.mark.parametrize("nu", [3, 7])
def test_a_record_of_the_given_size_loses_the_amount(nu):
    """Never more, and less by no more than the twelve digits of the spread; others as T26 says."""
    policy = Policy.tapered("0.2", measure="emp", at=50, nu=nu)
    (term,) = policy.form.terms
    assert Fraction("0.2") * (1 - Fraction(1, 10**9)) < policy.loss({"emp": 50}) <= Fraction("0.2")
    for size in SIZES:
        found, expected = policy.loss({"emp": -size}), written_out(size, term.growth.spread, nu)
        assert expected < found < expected * (1 + mpf(2) ** -25)
    assert policy.bounded_loss({"emp": 0}).is_exact
    assert policy.loss({"emp": None}) == 0
    assert not policy.bounded_loss({"emp": 1}).is_exact


def test_losses_grow_like_the_logarithm():
    """The figures that tapering is for: 51 where splitting has a million."""
    policy = Policy.tapered(1, measure="emp", at=50)
    found = [round(float(policy.loss({"emp": size})), 1) for size in (500, 5_000, 50_000)]
    assert found == [14.7, 33.0, 51.4]
    per_tenfold = policy.loss({"emp": 10**9}) - policy.loss({"emp": 10**8})
    assert isclose(per_tenfold, 8 * np.log(10), rel_tol=1e-6)


def test_pure_epsilon_is_its_own_law():
    """(nu + 1) asinh(B)."""
    policy = Policy.tapered(measure="emp", at=50, epsilon=1)
    assert isclose(policy.loss({"emp": 50}), 1, rel_tol=1e-9)
    (term,) = policy.form.terms
    b = 4_000 / (2 * np.sqrt(float(term.growth.spread)))
    assert isclose(policy.loss({"emp": 4_000}), 8 * np.arcsinh(b), rel_tol=1e-12)


@given(AMOUNTS, st.integers(1, 10**4), NUS, AMOUNTS, st.integers(1, 10**4))
def test_one_scheme_decides_by_its_corner(rho, at, nu, other, threshold):
    """P <= rho m^2 for every record if and only if it is so at the threshold (T26)."""
    policy = Policy.tapered(rho, measure="x", at=at, nu=nu)
    scheme = Split(x=threshold)
    corner = policy.loss({"x": threshold})
    assert policy.is_below(Policy.split(corner, scheme))
    is_below = policy.is_below(Policy.split(other, scheme))
    assert is_below == (corner <= other)


@given(AMOUNTS, AMOUNTS, st.integers(1, 10**4), st.integers(1, 10**4), NUS)
def test_tapers_pay_for_each_other_where_that_is_proved(rho, other, at, size, nu):
    """A yes is right at every size."""
    left = Policy.tapered(rho, measure="x", at=at, nu=nu)
    right = Policy.tapered(other, measure="x", at=size, nu=nu)
    if left.is_below(right):
        for record in ({"x": 2**power} for power in range(0, 60, 3)):
            assert left.loss(record) <= right.loss(record) * (1 + Fraction(1, 2**80))
    assert left.is_below(left)
    assert not (2 * left).is_below(left)


def test_a_narrower_taper_is_paid_for_by_several_wider():
    """As much as A of the narrower is of A of the wider."""
    wide, narrow = (Policy.tapered(rho, measure="x", at=50) for rho in ("0.1", "0.2"))
    assert wide.is_below(narrow)
    assert not narrow.is_below(wide)
    assert narrow.is_below(3 * wide)
    assert not narrow.is_below(Policy.tapered(10, measure="y", at=50))
    assert not narrow.is_below(Policy.tapered(10, measure="x", at=50, nu=3))


def test_a_budget_lists_tapered_answers():
    """So many of them, and a free amount beside."""
    budget = Budget(1, Split(emp=50), tapers=6 * EMP)
    assert (6 * EMP + Policy.constant(1)).is_below(budget)
    assert (6 * EMP + Policy.split(1, Split(emp=50))).is_below(budget)
    assert (7 * EMP).is_below(budget)  # a rho of 0.2 for its pieces pays for the seventh
    assert not (12 * EMP).is_below(budget)
    with pytest.raises(InputError, match="not made of tapered answers"):
        Budget(1, tapers=Policy.constant(1))


def test_documents_are_of_version_2_and_keep_everything():
    """An older reader refuses them instead of leaving a loss out."""
    by = Policy.by("k", {"a": EMP}, Policy.zero())
    for policy in (EMP, 2 * EMP + Policy.constant(1), by, Policy.largest(EMP, Policy.constant(1))):
        written = json.loads(policy.to_json())
        assert written["version"] == 2
        assert Policy.from_json(json.dumps(written)) == policy
    assert json.loads(Policy.constant(1).to_json())["version"] == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nu": "5"}, "expected 3 or 7"),
        ({"nu": "3.5"}, 'expected digits such as "7"'),
        ({"nu": "7.0"}, 'expected digits such as "7"'),
        ({"nu": "14/2"}, 'expected digits such as "7"'),
        ({"nu": "07"}, 'expected digits such as "7"'),
        ({"spread": "1" + 201 * "0"}, "a standard deviation between"),
        ({"spread": "0"}, "expected a number above 0"),
        ({"at": "0"}, "expected the size of a record, above 0"),
        ({"at": 50}, "expected an exact number"),
        ({"at": None}, "expected an exact number"),
        ({"size": "50"}, "holds size; expected exactly"),
        ({"type": "tapered_epsilon"}, "does not go with the currency 'rho'"),
        ({"type": "slow"}, "the type is 'slow'"),
    ],
)
def test_documents_that_say_something_else_are_refused(changes, message):
    """In words that name the place."""
    document = json.loads(EMP.to_json())
    document["terms"][0] |= changes
    with pytest.raises(DocumentError, match=message):
        Policy.from_json(json.dumps(document))


def test_a_document_of_version_1_holds_no_tapered_terms():
    """A reader of version 1 would not know them."""
    for policy in (EMP, Policy.by("k", {"a": EMP}, Policy.zero())):
        document = json.loads(policy.to_json()) | {"version": 1}
        with pytest.raises(DocumentError, match=r"of version 1 and holds .* expected version 2"):
            Policy.from_json(json.dumps(document))


def test_words_tell_by_example():
    """A small record, one three times as large, and a giant."""
    assert "a record of 50 loses 0.2, one of 150 1.65, one of 4,000 24.6" in EMP.describe()
    assert repr(EMP) == "Policy(1·taper(|emp|; A = 34621.6397709, nu = 7))"


def test_words_name_the_size_that_was_written():
    """250, and not the round 500 nearby; in documents too, where no loss depends on it."""
    policy = Policy.tapered("0.1", measure="emp", at=250)
    words = "a record of 250 loses 0.1, one of 750 0.861, one of 20,000 21.8"
    assert words in policy.describe()
    assert words in Policy.from_json(policy.to_json()).describe()
    document = json.loads(policy.to_json())
    assert document["terms"][0].pop("at") == "250"
    unnamed = Policy.from_json(json.dumps(document))
    assert "a record of 500 loses 0.394" in unnamed.describe()
    assert unnamed == policy
    assert hash(unnamed) == hash(policy)
    assert (unnamed + policy) == 2 * policy


@given(
    st.lists(st.integers(0, 70), min_size=1, max_size=8),
    st.integers(-90, 90),
    NUS,
    st.booleans(),
)
def test_columns_are_never_below_the_loss(powers, at, nu, is_pure):
    """And above it by less than one part in 2^40, however large beside the noise or small."""
    amount = {"epsilon" if is_pure else "rho": "0.3"}
    policy = 3 * Policy.tapered(measure="x", at=f"12.5e{at}", nu=nu, **amount)
    sizes = [0, *(7 * 10**power for power in powers), *(2**62 - power for power in powers)]
    column = pa.array([Decimal(size) for size in sizes], pa.decimal256(76, 0))
    for size, found in zip(sizes, policy.losses(pa.table({"x": column})), strict=True):
        exact = policy.loss({"x": size})
        assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 2**40))


def test_losses_too_small_for_a_float_are_not_nothing():
    """Rounded up to the least that keeps its digits."""
    policy = Policy.tapered("1e-3", measure="x", at="1e90")
    assert policy.losses(pa.table({"x": pa.array([Decimal("1e-75")], pa.decimal256(76, 75))})) > 0


# -- one formula in several languages -----------------------------------------------------------


POLICIES = [
    Policy.tapered(measure="x", at=50, nu=nu, **amount)
    for nu in (3, 7)
    for amount in ({"rho": "0.2"}, {"epsilon": 1})
]


def evaluated(formula, **names):
    """Return a formula that is Python but for its signs."""
    for sign, plain in {"·": "*", "−": "-", "⁻²⁶": "**-26", "²": "**2"}.items():
        formula = formula.replace(sign, plain)
    return eval(formula, {"asinh": asinh, "tanh": tanh, "cosh": cosh, "sqrt": sqrt}, names)


def from_latex(formula, x):
    """Return the value of a loss that is written in LaTeX, its definitions below a bar."""
    for written, plain in {
        r"\operatorname{asinh}": "asinh",
        r"\left|\mathrm{x}\right|": "x",
        r"\tanh": "tanh",
        r"\cosh": "cosh",
        r"\sqrt": "sqrt",
        r"\tfrac{4}{5} ": "4/5*",
        r"\,": "*",
        r"\;": "",
        "4 a ": "4 * a * ",
        "2 sqrt": "2 * sqrt",
        ")(": ")*(",
        "{": "(",
        "}": ")",
        "^": "**",
    }.items():
        formula = formula.replace(written, plain)
    body, _, below = formula.partition(r"\Big|_")
    names = {"x": x}
    for each in below.strip("()").split(",") if below else ():
        name, _, value = each.partition("=")
        value += ")" * (value.count("(") - value.count(")"))
        names[name.strip()] = evaluated(value.strip(), **names)
    return evaluated(body, **names)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_sql_and_latex_and_columns_say_what_the_loss_is(policy):
    """But for the last digits of floats: what the integers add is in all of them."""
    (term,) = policy.form.terms
    for size in (1, 50, 4_000, 10**9, 10**60):
        exact = float(policy.loss({"x": size}))
        sql = term.growth.sql(f"{size}::DOUBLE")
        assert duckdb.sql(f"SELECT {sql}").fetchall() == [(pytest.approx(exact, rel=1e-12),)]
        assert float(from_latex(term.growth.latex("x"), mpf(size))) == pytest.approx(
            exact, rel=1e-12
        )


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_the_page_says_the_formula_that_is_charged(policy):
    """The template's own text, evaluated."""
    (term,) = policy.form.terms
    html = (files("perrecord") / "release" / "assets" / "page.html.jinja").read_text("utf-8")
    root = sqrt(mpf(term.growth.spread.numerator) / term.growth.spread.denominator)
    for size in (1, 50, 4_000):
        a = asinh(mpf(size) / (2 * root))
        if policy.currency is Currency.EPSILON:
            (written,) = re.findall(r"costs (\(ν \+ 1\)·asinh\(.*?\)\))\.", html)
            assert written == "(ν + 1)·asinh(|value| / (2√A))"
            found = (term.growth.nu + 1) * a
        else:
            ((slow, more),) = re.findall(
                r"costs (\S.*?), a = asinh\(\|value\| / \(2√A\)\), and at ν = 7 that times "
                r"(.*?), u = 1 / cosh\(a\)²\.",
                html,
            )
            found = evaluated(slow, a=a)
            broken = evaluated(slow.replace("(1 + 2⁻²⁶)·", ""), a=a)
            assert broken < found * (1 - 1e-9)  # the twin, which the last line would catch
            if term.growth.nu == 7:
                found *= evaluated(more, a=a, u=1 / cosh(a) ** 2)
        assert float(found) == pytest.approx(float(policy.loss({"x": size})), rel=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rho": 1, "at": 0}, "expected a number above 0"),
        ({"rho": 0, "at": 50}, "above 0"),
        ({"rho": 1, "at": 50, "nu": 5}, "expected 3 or 7"),
        ({"rho": 1, "at": 50, "nu": "7"}, "nu is a str; expected the number 3 or 7"),
        ({"rho": 1, "at": 50, "nu": [7]}, "nu is a list; expected the number 3 or 7"),
        ({"rho": "1e9", "at": 50}, "50 would lose 1000000000, .* at most 368"),
        ({"rho": 185, "at": 50, "nu": 3}, "50 would lose 185, .* at most 184"),
        ({"rho": 1, "at": "1e160"}, "a standard deviation between 1e-100 and 1e100"),
        ({"rho": "1e-120", "at": "1e-300"}, "a standard deviation between"),
        ({"rho": "1e-100", "at": "1e-900"}, "a standard deviation between"),
        ({"epsilon": "1e-100", "at": "1e100"}, "a standard deviation between"),
    ],
)
def test_what_is_no_taper_is_refused(given, message):
    """Before anything is built."""
    with pytest.raises(InputError, match=message):
        Policy.tapered(measure="x", **given)


@pytest.mark.parametrize("at", ["1e-99", "1e-30", "1e30", "1e99"])
def test_what_is_accepted_can_be_used(at):
    """Words, formulas, columns and documents of the widest and narrowest noise that there is."""
    policy = Policy.tapered(1, measure="x", at=at)
    assert Policy.from_json(policy.to_json()) == policy
    assert "grows slowly" in policy.describe()
    assert policy.latex()
    assert np.isfinite(policy.losses(pa.table({"x": [0, 1, 2**62]}))).all()


@pytest.mark.parametrize("given", [50, "emp", None, Taper(emp=50), [EMP, 5]], ids=str)
def test_a_budget_takes_nothing_else_for_tapers(given):
    """In words."""
    with pytest.raises(InputError, match="not made of tapered answers"):
        Budget(1, tapers=given)
