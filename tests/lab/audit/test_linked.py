"""Tables of changes, replayed exactly: without each record, and without each history."""

from random import Random

import pytest

from perrecord.lab.audit.replay.linked import history_checks, linked_checks


@pytest.mark.parametrize("seed", range(3))
def test_no_record_of_a_table_of_changes_loses_more_than_its_policy_says(seed):
    """Every exact integer moves by what the record adds, by its meaning in Python, and no other."""
    random, tapers = Random(f"linked {seed}"), Random(f"linked tapers {seed}")
    checks = list(linked_checks(random, tapers, 30, seed))
    assert len(checks) > 30
    assert [each.problem() for each in checks if each.problem()] == []


@pytest.mark.parametrize("seed", range(2))
def test_no_history_loses_more_than_base_and_changes_say_together(seed):
    """Of an establishment that grows, enters, leaves and moves, in every period."""
    checks = list(history_checks(Random(f"histories {seed}"), 20))
    assert len(checks) >= 20
    assert any(each.lost for each in checks)
    assert [each.problem() for each in checks if each.problem()] == []
