"""Derived measures and weights in the replay audit: computed once more, and paid for."""

from random import Random

import pytest

from perrecord.lab.audit import random_tables
from perrecord.lab.audit.random_derived import derived_table
from perrecord.lab.audit.replay.checks import DERIVED, WORKLOAD
from perrecord.lab.audit.replay.derived import derived_checks
from perrecord.tables.table import table


def checks(seed):
    """Return what the audit asks of one random table."""
    rows = random_tables.rows(Random(f"rows {seed}"), 40, unique=False)
    return list(derived_checks(Random(f"derived {seed}"), rows, seed))


@pytest.mark.parametrize("seed", range(6))
def test_no_record_loses_more_than_its_policy(seed):
    """Each measure is what it should be, and what each record loses stays within P."""
    found = checks(seed)
    assert [each.problem() for each in found if each.problem()] == []
    assert sum(each.what == DERIVED for each in found) == 40
    assert any(each.lost for each in found if each.what == WORKLOAD)


def test_a_wrong_measure_is_noticed():
    """The meaning in the audit's own lines is not the library's."""
    found = derived_table(Random(3))
    rows = random_tables.rows(Random(3), 60)
    with table(random_tables.arrow(rows), **found.declared) as opened:
        records = [opened.schema.record(row) for row in rows]
    assert not any(list(found.faults(record)) for record in records)
    name = next(iter(found.written))
    record = next(each for each in records if each[name] is not None)
    step = found.written[name][1]
    assert list(found.faults({**record, name: record[name] + step}))
    assert list(found.faults({**record, "weighted_emp": 1 + (record["weighted_emp"] or 0)}))
    assert "rent" in list(found.faults({**record, "rent": found.largest_weight + 1}))
