"""What an establishment is: its columns, its measures, and how they go together.

The marginals are fixed by the percentiles that the paper gives for its thresholds (County Business
Patterns): employment 47 % <= 2, 66 % <= 5, 97 % <= 100; annual payroll in $1,000 50 % <= 104,
79 % <= 500, 99 % <= 10,000; first quarter 50 % <= 24, 80 % <= 125, 99 % <= 2,500. Each measure is a
monotone function of a standard normal score; the scores are correlated, so payroll goes with
employment while every marginal stays as given.
"""

import numpy as np
import pyarrow as pa

from perrecord.lab.synth.scores import Scores, Whole, at_score, mix

EMPLOYEES = {
    0.10: 0, 0.33: 1, 0.47: 2, 0.57: 3, 0.66: 5, 0.78: 9, 0.885: 19, 0.945: 49, 0.97: 100,
    0.99: 250, 0.9965: 500, 0.9988: 1000, 0.9999: 3500, 0.99999: 9000, 0.999999: 20_000,
}  # fmt: skip
ANNUAL_PAYROLL = {
    0.005: 0, 0.10: 9, 0.25: 31, 0.50: 104, 0.65: 225, 0.79: 500, 0.90: 1450, 0.97: 4300,
    0.99: 10_000, 0.999: 60_000, 0.9999: 260_000, 0.99999: 900_000, 0.999999: 2_500_000,
}  # fmt: skip
QUARTER_PAYROLL = {
    0.03: 0, 0.10: 2, 0.25: 7, 0.50: 24, 0.65: 53, 0.80: 125, 0.90: 345, 0.97: 1040,
    0.99: 2500, 0.999: 15_000, 0.9999: 65_000, 0.99999: 225_000, 0.999999: 625_000,
}  # fmt: skip
"""Share of establishments -> the value that so many do not exceed."""

CODES = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "firm": pa.int64(),
        "state": CODES,
        "county": CODES,
        "naics": CODES,
        "emp": pa.int32(),
        "payann": pa.int64(),
        "payqtr1": pa.int64(),
    }
)

SHARE_IN_FIRMS = 0.22
ROWS_PER_FIRM = 12


def firms_for(rows: int) -> int:
    """Return how many firms with several establishments there are among so many."""
    return max(1, int(rows * SHARE_IN_FIRMS / ROWS_PER_FIRM))


def rank_of(uniform: Scores) -> Scores:
    """Return which of the firms an establishment belongs to, from 0 for the largest up to 1.

    A firm's share of the establishments in firms falls off as a power of its rank.
    """
    return np.asarray(uniform**2.5)


def annual_score(size: Scores, of_industry: Scores, own: Scores) -> Scores:
    """Return the scores of annual payroll: size above all, then what the industry pays."""
    return mix(size, mix(of_industry, own, 0.5), 0.88)


def first_quarter(annual: Scores, payann: Whole, own: Scores) -> Whole:
    """Return first quarter payrolls, which never exceed those of the year."""
    quarter = at_score(mix(annual, own, 0.995), QUARTER_PAYROLL)
    return np.minimum(quarter, payann)
