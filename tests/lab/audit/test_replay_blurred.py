"""Blurred totals in the replay audit: recomputed from records and bits, and priced by its lines."""

from random import Random

import pytest

from perrecord import Keys, Query, Taper
from perrecord.lab.audit import random_tables
from perrecord.lab.audit.random_tables import DECLARED, arrow
from perrecord.lab.audit.replay.checks import DIFFERENCE, RECOMPUTED
from perrecord.lab.audit.replay.recount import Members
from perrecord.lab.audit.replay.traces import trace_checks
from perrecord.tables.table import table

SECTORS = Keys.from_dict({"sector": ["farm", "mine", "shop", "", None]})


def checks(currency):
    """Return what the audit asks of blurred totals, by sector, filtered and of nobody's group."""
    amount = {currency: "0.3"}
    asked = [
        Query()
        .where("emp IS NULL OR emp > -1000")
        .group_by("sector", keys=SECTORS)
        .sum("rent", taper=30, blur="0.1", **amount)
        .sum("load", taper=Taper(load=5000, nu=3), blur="0.5", **amount),
        Query().sum("rent", taper=30, blur="0.2", **amount).count(**amount),
    ]
    rows = random_tables.rows(Random(7), 25, unique=False)
    with table(arrow(rows), **DECLARED) as opened:
        members = Members.of(opened.schema, rows)
    return list(trace_checks(rows, members, asked, 3, range(0, 25, 6)))


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_blurred_totals_follow_from_records_prices_and_bits(currency):
    """Every number, on each side; what a record costs beside others is never above its charge."""
    found = checks(currency)
    assert [each.problem() for each in found if each.problem()] == []
    assert sum(each.what == RECOMPUTED for each in found) == 6
    costs = [each for each in found if each.what == DIFFERENCE and each.lost]
    assert len(costs) > 6
    # Beside others a record costs less than alone, by which it is charged.
    assert any(each.lost < each.allowed for each in costs)
