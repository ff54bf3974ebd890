"""OpenDP measurements (T8): what they cost, which domains they may have, what they are given."""

from contextlib import ExitStack, suppress
from decimal import Decimal
from fractions import Fraction
from random import Random

import opendp.prelude as dp
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opendp import domains
from opendp.mod import OpenDPException

from perrecord import Budget, Policy, QueryError, Session, Split
from perrecord.lab.audit import random_tables
from perrecord.mechanisms.measurements import Atoms, _atoms
from perrecord.mechanisms.rows import plan_rows, run_rows
from perrecord.tables.table import table

SPLIT = Split(emp=50).capped(1000)


@pytest.fixture(autouse=True)
def _features():
    """Allow OpenDP's reviewed mechanisms, and measurements made in Python."""
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("contrib", "honest-but-curious")


@pytest.fixture
def opened():
    """Open a small table."""
    source = pa.table(
        {
            "sector": ["farm", "mine", "mine", None],
            "big": [True, False, None, False],
            "emp": pa.array([120, 7, None, 49]),
        }
    )
    with table(source, dimensions=["sector", "big"], measures=["emp"]) as found:
        yield found


@pytest.fixture
def vectors():
    """OpenDP's space of lists of 64-bit integers."""
    return dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()


def clamped_sum(space, scale, noise=dp.m.then_gaussian):
    """Return OpenDP's noisy sum of values from 0 to 50."""
    return space >> dp.t.then_clamp((0, 50)) >> dp.t.then_sum() >> noise(scale)


def showing(domain, function=list, metric=None, measure=None, rho=0.5):
    """Return a measurement over a domain that gives all it sees: for tests alone."""
    return dp.m.make_user_measurement(
        domain,
        dp.symmetric_distance() if metric is None else metric,
        dp.zero_concentrated_divergence() if measure is None else measure,
        function,
        lambda distance: rho * distance**2,
    )


# -- the price ---------------------------------------------------------------------------------


def test_a_measurement_costs_what_its_own_map_says(opened, vectors):
    """Split rows of at most 50: rho 0.125 a row, so 0.125 m^2 a record."""
    planned = plan_rows(opened, clamped_sum(vectors, 100.0), columns=["emp"], split=SPLIT)
    assert planned.policy == Policy.split("0.125", SPLIT)
    assert isinstance(run_rows(planned, opened).result, int)
    planned = plan_rows(opened, clamped_sum(vectors, 100.0), columns=["emp"], rho="0.2")
    assert planned.policy == Policy.constant("0.2")


def test_a_measurement_sees_the_split_rows_without_nulls(opened, vectors):
    """With hardly any noise its sum is that of the records; clamping whole ones would lose some."""
    precise = clamped_sum(vectors, 1e-3)
    planned = plan_rows(opened, precise, columns=["emp"], split=SPLIT)
    assert run_rows(planned, opened).result == 120 + 7 + 49
    whole = run_rows(plan_rows(opened, precise, columns=["emp"]), opened)
    assert whole.result == 50 + 7 + 49


def test_a_declared_rho_is_compared_with_the_map(opened, vectors):
    """Just the map's is enough; a little less is refused."""
    measurement = clamped_sum(vectors, 100.0)
    assert measurement.map(1) == 0.125
    accepted = plan_rows(opened, measurement, columns=["emp"], rho="0.125")
    assert accepted.policy == Policy.constant("0.125")
    with pytest.raises(QueryError, match=r"own map says 0\.125 .* more than the declared rho"):
        plan_rows(opened, measurement, columns=["emp"], rho="0.1249999999999999999999")


# -- values outside the domain -----------------------------------------------------------------

BOUNDED = [  # least, greatest, type
    (0, 10, "i64"),
    (-20, 10, "i32"),
    (3, 40, "u32"),
    (0, 2**40, "u64"),
    (1, 9, "usize"),
    (-2.5, 1e6, "f64"),
]
SIZES = [0, 1, 9, 10, 11, -3, 120, 9_000, 2**63 - 1, -(2**63 - 1), None]


def emp_table(sizes):
    """Return a table of one measure."""
    return table(pa.table({"emp": pa.array(sizes, pa.int64())}), measures=["emp"])


def total(opened, domain, rho, split=None):
    """Return the exact sum that a measurement over the domain is given, and its policy."""
    measurement = showing(domain, lambda values: [float(sum(map(Fraction, values)))], rho=rho)
    found = run_rows(plan_rows(opened, measurement, columns=["emp"], split=split), opened)
    return Fraction(found.result[0]), found.policy


@pytest.fixture(scope="module")
def with_and_without():
    """A table of eight records, and for each of them the table without it."""
    with ExitStack() as stack:
        whole, *others = [
            stack.enter_context(emp_table(sizes))
            for sizes in (SIZES[:8], *(SIZES[:index] + SIZES[index + 1 : 8] for index in range(8)))
        ]
        yield whole, others


@pytest.mark.parametrize(("least", "greatest", "carrier"), BOUNDED)
def test_one_record_moves_a_bounded_sum_by_what_the_policy_says(
    least, greatest, carrier, with_and_without
):
    """OpenDP's own sum over bounds: change^2 / (2 sigma^2) <= P for records far outside.

    Without clamping the record of 9,000 would lose 405,000 where P says 0.5 (the first case).
    """
    domain = dp.vector_domain(dp.atom_domain(bounds=(least, greatest), nan=None, T=carrier))
    if carrier == "f64":
        domain = dp.vector_domain(dp.atom_domain(bounds=(least, greatest), nan=False, T=carrier))
    if carrier in ("i64", "i32", "u32"):  # those that OpenDP sums
        space = domain, dp.symmetric_distance()
        assert (space >> dp.t.then_sum()).map(1) == max(abs(least), abs(greatest))
    reach = max(abs(Fraction(least)), abs(Fraction(greatest)))
    rho = Fraction(1, 2)  # sigma = reach
    everybody, others = with_and_without
    for split in (None, Split(emp=50).capped(3)):
        whole, policy = total(everybody, domain, float(rho), split)
        for size, without in zip(SIZES[:8], others, strict=True):
            rest, _ = total(without, domain, float(rho), split)
            allowed = policy.loss({"emp": size})
            assert (whole - rest) ** 2 / (2 * reach**2) <= allowed
    assert Fraction(9_000) ** 2 / (2 * reach**2) > rho or reach > 9_000  # without clamping


def test_a_bounded_sum_of_opendp_is_of_clamped_values():
    """The measurement that gave P = 0.5 and a loss of 405,000: now the sum of 10, 10, 3."""
    domain = dp.vector_domain(dp.atom_domain(bounds=(0, 10), T="i64"))
    space = domain, dp.symmetric_distance()
    precise = space >> dp.t.then_sum() >> dp.m.then_gaussian(1e-6)
    with emp_table([9_000, 11, 3, -7, None]) as opened:
        assert run_rows(plan_rows(opened, precise, columns=["emp"]), opened).result == 23
    usual = space >> dp.t.then_sum() >> dp.m.then_gaussian(10.0)
    assert usual.map(1) == 0.5
    assert abs(usual([9_000]) - 9_000) < 200  # OpenDP itself does not look


ATOMS = [  # a column of the random tables, and a domain of atoms that fits it
    *(("emp", {"T": carrier}) for carrier in ("i64", "f64")),
    *(("emp", {"T": carrier, "bounds": (low, high)}) for low, high, carrier in BOUNDED),
    ("emp", {"T": "f64", "nan": False}),
    ("emp", {"T": "i64", "bounds": (-(2**63), 2**63 - 1)}),
    ("pay", {"T": "f64", "nan": False, "bounds": (-7.0, 7.0)}),
    ("pay", {"T": "i64", "bounds": (1, 1)}),
    ("rent", {"T": "i64"}),
    ("code", {"T": "i64"}),
    ("code", {"T": "i32", "bounds": (-5, 5)}),
    ("id", {"T": "i64"}),
    ("sector", {"T": "String"}),
    ("head", {"T": "String"}),
    ("opened", {"T": "String"}),
    ("big", {"T": "bool"}),
]


@settings(max_examples=3)
@given(st.integers(0, 2**32))
def test_what_a_measurement_is_given_is_in_its_domain(seed):
    """Every type, random tables with the ends of 64 bits and none at all: OpenDP's own `member`."""
    random = Random(seed)
    source = random_tables.rows(random, random.choice([0, 1, 25]))
    with table(random_tables.arrow(source), **random_tables.DECLARED) as opened:
        for column, given_atoms in ATOMS:
            domain = dp.vector_domain(dp.atom_domain(**given_atoms))
            for split in (None, Split(emp=5, pay=30).capped(7)):
                planned = plan_rows(opened, showing(domain), columns=[column], split=split)
                seen = run_rows(planned, opened).result
                assert domain.member(seen)
                plain = plan_rows(opened, as_column, columns=[column], rho=1, split=split)
                assert seen == expected(run_rows(plain, opened).result, given_atoms)


def as_column(rows):
    """Be the mechanism that gives its column."""
    return rows.column(0).to_pylist()


def expected(values, atoms):
    """Return the column as the domain holds it: slow, from the definition."""
    kept = [value for value in values if value is not None]
    if atoms["T"] in ("String", "bool"):
        return sorted(kept)
    number = float if atoms["T"] == "f64" else int
    low, high = atoms.get("bounds") or (-(2.0**70), 2.0**70)
    return sorted(
        low if number(each) < low else high if number(each) > high else number(each)
        for each in kept
    )


def test_values_that_were_not_clamped_are_seen():
    """The broken twin of the comparison: OpenDP's `member` says no to what lies outside."""
    domain = dp.vector_domain(dp.atom_domain(bounds=(0, 10), T="i64"))
    assert domain.member([0, 10])
    assert not domain.member([0, 11])


def test_the_order_of_the_source_is_not_seen():
    """Insertions are counted in place, so vectors come sorted: also where clamping made ties."""
    domain = dp.vector_domain(dp.atom_domain(bounds=(0, 10), T="i64"))
    measurement = showing(domain, metric=dp.insert_delete_distance())
    for sizes in ([3, 900, 12, -4, 7], [900, 12, 7, 3, -4]):
        with emp_table(sizes) as opened:
            found = run_rows(plan_rows(opened, measurement, columns=["emp"]), opened)
            assert found.result == [0, 3, 7, 10, 10]
    assert Atoms("i64", None).values(pa.chunked_array([[3, None, 1, 2]])) == [1, 2, 3]


def test_wide_whole_numbers_of_an_engine_are_whole_numbers_of_opendp():
    """Piecewise splits of DuckDB come as decimals of 38 digits."""
    split = Split.by("k", {"a": Split(x=5)}, Split(x=50)).capped(100)
    source = pa.table({"k": ["a", "b"], "x": pa.array([Decimal(12), Decimal(70)])})
    with table(source, dimensions=["k"], measures=["x"]) as opened:
        domain = dp.vector_domain(dp.atom_domain(T="i64"))
        planned = plan_rows(opened, showing(domain), columns=["x"], split=split)
        assert run_rows(planned, opened).result == [2, 5, 5, 20, 50]


# -- what is refused ---------------------------------------------------------------------------


def _series(name="emp"):
    return dp.series_domain(name, dp.atom_domain(T="i64"))


EVERY_DOMAIN = {
    "array_domain": lambda: domains.array_domain(dp.atom_domain(T="i64"), 3),
    "atom_domain": lambda: dp.atom_domain(T="i64"),
    "bitvector_domain": lambda: dp.bitvector_domain(3),
    "categorical_domain": domains.categorical_domain,
    "datetime_domain": domains.datetime_domain,
    "enum_domain": lambda: domains.enum_domain(pl.Series(["a", "b"])),
    "lazyframe_domain": lambda: dp.lazyframe_domain([_series()]),
    "map_domain": lambda: dp.map_domain(dp.atom_domain(T="String"), dp.atom_domain(T="i32")),
    "option_domain": lambda: dp.option_domain(dp.atom_domain(T="i64")),
    "series_domain": _series,
    "user_domain": lambda: dp.user_domain("AtomDomain(T=i64)", lambda _: True),
    "vector_domain": lambda: dp.vector_domain(dp.atom_domain(T="i64"), size=4),
    "wild_expr_domain": lambda: domains.wild_expr_domain([_series()]),
}
"""Every constructor of a domain, for a domain that must be refused."""

NOT_MADE = (OpenDPException, dp.UnknownTypeException, TypeError, ValueError)
"""What OpenDP says of combinations that it does not make itself."""


def test_every_constructor_of_a_domain_is_known():
    """A new one in a later OpenDP fails here: say whether a column can be brought into it."""
    public = {
        name for name in domains.__all__ if name.endswith("_domain") and not name.startswith("_")
    }
    assert public == EVERY_DOMAIN.keys()


@pytest.mark.parametrize("name", EVERY_DOMAIN)
def test_no_other_domain_is_taken(opened, name):
    """Refused by name, with what to build instead: bare, and in vectors where OpenDP has those."""
    opened.engine.frame = None  # nothing can be read
    refused = [EVERY_DOMAIN[name]()]
    if name != "atom_domain":
        with suppress(*NOT_MADE):
            refused.append(dp.vector_domain(refused[0]))
    for domain in refused:
        assert _atoms(domain) is None
        with suppress(*NOT_MADE):
            measurement = showing(domain)
            with pytest.raises(QueryError, match="Build the measurement with") as e:
                plan_rows(opened, measurement, columns=["emp"])
            assert str(domain) in str(e.value)


TYPES = sorted({*domains.ATOM_MAP, "String", "i128", "u128"})
"""Every type of value that OpenDP converts."""


@pytest.mark.parametrize("carrier", TYPES)
@pytest.mark.parametrize("column", ["sector", "big", "emp"])
def test_types_without_bounds_are_taken_where_they_hold_every_value(opened, column, carrier):
    """Two for numbers, one for text, one for truth values; all others are refused by name."""
    fitting = {"sector": ["String"], "big": ["bool"], "emp": ["i64", "f64"]}[column]
    try:
        measurement = showing(dp.vector_domain(dp.atom_domain(T=carrier)))
    except NOT_MADE:
        assert carrier not in fitting  # OpenDP has no vectors of it
        return
    if carrier in fitting:
        seen = run_rows(plan_rows(opened, measurement, columns=[column]), opened).result
        assert len(seen) == 3
    else:
        opened.engine.frame = None
        with pytest.raises(QueryError, match=rf"T={carrier}.*atom_domain\(T='{fitting[0]}'\)"):
            plan_rows(opened, measurement, columns=[column])


def test_measurements_of_other_kinds_are_refused_by_name(opened, vectors):
    """Pure DP, delta, other neighbours, a known size, more than one column."""
    pure = clamped_sum(vectors, 100.0, dp.m.then_laplace)
    with pytest.raises(QueryError, match="in the sense of MaxDivergence"):
        plan_rows(opened, pure, columns=["emp"], rho=1)
    approximate = dp.c.make_approximate(clamped_sum(vectors, 100.0))
    with pytest.raises(QueryError, match=r"Approximate\(ZeroConcentratedDivergence\)"):
        plan_rows(opened, approximate, columns=["emp"], rho=1)
    numbers = dp.m.make_gaussian(vectors[0], dp.l2_distance(T="i64"), 2.0)
    with pytest.raises(QueryError, match="neighbours are by L2Distance"):
        plan_rows(opened, numbers, columns=["emp"], rho=1)
    sized = dp.vector_domain(dp.atom_domain(T="i64"), size=4), dp.symmetric_distance()
    assert clamped_sum(sized, 100.0).map(1) == 0  # what it would seem to cost
    with pytest.raises(QueryError, match="vector_domain, without size"):
        plan_rows(opened, clamped_sum(sized, 100.0), columns=["emp"], rho=1)
    with pytest.raises(QueryError, match="one column"):
        plan_rows(opened, clamped_sum(vectors, 100.0), columns=["emp", "sector"], rho=1)


def test_what_is_only_named_alike_is_refused(opened, vectors):
    """Metrics, measures and domains of the user's own that print as OpenDP's do."""
    domain = vectors[0]
    metric = dp.user_distance("SymmetricDistance()")
    with pytest.raises(QueryError, match="neighbours are by SymmetricDistance"):
        plan_rows(opened, showing(domain, metric=metric), columns=["emp"])
    measure = dp.user_divergence("ZeroConcentratedDivergence")
    with pytest.raises(QueryError, match="in the sense of ZeroConcentratedDivergence"):
        plan_rows(opened, showing(domain, measure=measure), columns=["emp"])
    named = dp.user_domain(str(domain), lambda _: True)
    with pytest.raises(QueryError, match="cannot bring 'emp' into that domain"):
        plan_rows(opened, showing(named), columns=["emp"])


def test_other_things_of_opendp_are_refused_by_name(opened, vectors):
    """A transformation without noise, a map that fails or says infinity, a zero."""
    with pytest.raises(QueryError, match=r"a Transformation of OpenDP.*expected a Measurement"):
        plan_rows(opened, vectors >> dp.t.then_clamp((0, 50)), columns=["emp"], rho=1)
    with pytest.raises(QueryError, match="own map says inf"):
        plan_rows(opened, showing(vectors[0], rho=float("inf")), columns=["emp"])
    with pytest.raises(QueryError, match="give both"):
        plan_rows(opened, showing(vectors[0], rho=0.0), columns=["emp"])

    def failing(_distance):
        raise ValueError("no bound is known")

    unknown = dp.m.make_user_measurement(*vectors, dp.zero_concentrated_divergence(), list, failing)
    with pytest.raises(QueryError, match="own map fails for one record"):
        plan_rows(opened, unknown, columns=["emp"])


def test_a_session_charges_and_clamps(tmp_path):
    """Through the door that people use, split and not; an engine's own frame is not asked for."""
    domain = dp.vector_domain(dp.atom_domain(bounds=(0, 10), T="i64"))
    with emp_table([9_000, 3, None]) as opened:
        session = Session(opened, ledger=tmp_path / "l.db", budget=Budget(9, SPLIT), new=True)
        found = session.run(showing(domain), columns=["emp"], native=True)
        assert (found.result, found.policy) == ([3, 10], Policy.constant("0.5"))
        found = session.run_on_split_rows(showing(domain), SPLIT, columns=["emp"])
        assert found.result == [3] + [10] * 180
        assert session.ledger.spent() == Policy.constant("0.5") + Policy.split("0.5", SPLIT)
