"""The paper's worked examples, from a CSV file of its Table 2 to answers and policies."""

from fractions import Fraction

import pytest

from perrecord import Keys, Measure, Query, SelectKeys, Split, table
from perrecord.mechanisms.run import answer

TABLE_2 = """\
ID,Industry,Employees,Payroll
1,Agriculture,150,10000000
2,Agriculture,50,15000000
3,Mining,100,10000000
4,Mining,50,10000000
5,Retail,20,1000000
"""
RECORDS = [
    {"Industry": "Agriculture", "Employees": 150, "Payroll": 10_000_000},
    {"Industry": "Agriculture", "Employees": 50, "Payroll": 15_000_000},
    {"Industry": "Mining", "Employees": 100, "Payroll": 10_000_000},
    {"Industry": "Mining", "Employees": 50, "Payroll": 10_000_000},
    {"Industry": "Retail", "Employees": 20, "Payroll": 1_000_000},
]
SCHEME = Split(Employees=50, Payroll=5_000_000)
BY_INDUSTRY = Split.by("Industry", {"Mining": Split(Employees=50, Payroll=10_000_000)}, SCHEME)
HUGE = 10**9
"""At so large a rho the noise is 0 but for a chance below 10^-1000."""


@pytest.fixture
def establishments(tmp_path):
    """The five establishments, opened from CSV; payroll counts in steps of 10,000."""
    path = tmp_path / "establishments.csv"
    path.write_text(TABLE_2)
    measures = {"Employees": 1, "Payroll": Measure(10_000)}
    with table(str(path), id="ID", dimensions=["Industry"], measures=measures) as opened:
        yield opened


def rows(answers):
    """Return the answers as plain rows."""
    return [tuple(row.values()) for row in answers.table.to_pylist()]


def test_a_total_on_split_records(establishments):
    """Example 1: 370 employees; losses 9, 9, 4, 4 and 1 rho."""
    (found,) = answer(establishments, Query().sum("Employees", split=SCHEME, rho=HUGE))
    assert rows(found) == [(370,)]
    assert [found.policy.loss(record) / HUGE for record in RECORDS] == [9, 9, 4, 4, 1]


def test_the_split_bounds_the_sensitivity(establishments):
    """Example 2: the noise is that of a sensitivity of 50, however large a record may be."""
    (found,) = answer(establishments, Query().sum("Employees", split=SCHEME, rho="0.1"))
    (law,) = found.column("sum_Employees").laws
    assert law.sigma_squared == Fraction(50**2) / (2 * Fraction("0.1"))


def test_a_median_before_and_a_total_after_splitting(establishments):
    """Example 3: rho_1 + 9 rho_2, rho_1 + 4 rho_2 and rho_1 + rho_2."""
    first, second = 10**6, HUGE
    asked = (
        Query()
        .median("Payroll", candidates=range(0, 20_000_000, 1_000_000), rho=first)
        .sum("Employees", split=SCHEME, rho=second)
    )
    (found,) = answer(establishments, asked)
    assert rows(found) == [(10_000_000, 370)]
    losses = [found.policy.loss(record) for record in RECORDS]
    assert losses == [first + m**2 * second for m in (3, 3, 2, 2, 1)]


def test_selected_keys_and_two_totals_with_thresholds_by_industry(establishments):
    """Example 4: 9, 9, 4, 1 and 1 times (rho_1 + rho_2 + rho_3); and the delta it leaves out.

    Mining keeps its own threshold, so its payroll has noise of its own: T5 and T11.
    """
    rho_1, rho_2, rho_3 = 1, HUGE, 2 * HUGE
    chosen = SelectKeys(rho=rho_1, threshold=3, split=BY_INDUSTRY)
    asked = (
        Query()
        .group_by("Industry", keys=chosen)
        .sum("Employees", split=BY_INDUSTRY, rho=rho_2)
        .sum("Payroll", split=BY_INDUSTRY, rho=rho_3)
    )
    (found,) = answer(establishments, asked)
    losses = [found.policy.loss(record) for record in RECORDS]
    assert losses == [m**2 * (rho_1 + rho_2 + rho_3) for m in (3, 3, 2, 1, 1)]
    truth = {
        "Agriculture": (200, 25_000_000),
        "Mining": (150, 20_000_000),
        "Retail": (20, 1_000_000),
    }
    assert all(truth[key] == (employees, payroll) for key, employees, payroll in rows(found))
    assert 0 < found.policy.delta(RECORDS[4]) < found.policy.delta(RECORDS[0]) < 1


def test_declared_keys_all_appear_with_noise_by_industry(establishments):
    """The same totals over declared keys: Technology is there, empty; sigma is per industry."""
    keys = Keys.from_dict({"Industry": ["Agriculture", "Mining", "Retail", "Technology"]})
    asked = Query().group_by("Industry", keys=keys).sum("Payroll", split=BY_INDUSTRY, rho=HUGE)
    (found,) = answer(establishments, asked)
    assert rows(found) == [
        ("Agriculture", 25_000_000),
        ("Mining", 20_000_000),
        ("Retail", 1_000_000),
        ("Technology", 0),
    ]
    column = found.column("sum_Payroll")
    sigmas = [column.laws[which].sigma_squared for which in column.which]
    assert [sigma * 2 * HUGE for sigma in sigmas] == [500**2, 1000**2, 500**2, 500**2]


def test_the_rewrites_of_the_papers_query_table(establishments):
    """COUNT, SUM and AVG: exact as rho grows; COUNT costs rho, the others rho * pieces^2."""
    asked = (
        Query()
        .count(rho=HUGE)
        .sum("Payroll", split=SCHEME, rho=HUGE)
        .average("Payroll", split=SCHEME, rho=(HUGE, HUGE))
        .average("Employees", clamp=(0, 200), rho=HUGE)
    )
    (found,) = answer(establishments, asked)
    assert rows(found) == [(5, 46_000_000, 9_200_000.0, 74.0)]
    assert [found.policy_of("count").loss(record) for record in RECORDS] == [HUGE] * 5
    total = [found.policy_of("sum_Payroll").loss(record) / HUGE for record in RECORDS]
    assert total == [9, 9, 4, 4, 1]
    average = [found.policy_of("avg_Payroll").loss(record) / HUGE for record in RECORDS]
    assert average == [10, 10, 5, 5, 2]
    assert [found.policy_of("avg_Employees").loss(record) for record in RECORDS] == [HUGE] * 5


def test_filters_apply_to_the_record_before_it_is_split(establishments):
    """A filter on a measure sees 150 employees, not pieces of 50."""
    asked = Query().where("Employees > 60").count(rho=HUGE).sum("Employees", split=SCHEME, rho=HUGE)
    (found,) = answer(establishments, asked)
    assert rows(found) == [(2, 250)]
