"""Whole releases in the replay audit with weights, two linked periods and periods of a ledger."""

from random import Random

import pytest

from perrecord.lab.audit import random_series, random_tables
from perrecord.lab.audit.random_specs import spec
from perrecord.lab.audit.replay.checks import RELEASE
from perrecord.lab.audit.replay.releases import Seeds, add_series, release_checks


class Drawn(Random):
    """The given numbers first, then what a seed gives."""

    def __init__(self, seed, *first):
        """Start with these."""
        super().__init__(seed)
        self.first = list(first)

    def random(self):
        """Return the next of them, while there is one."""
        return self.first.pop(0) if getattr(self, "first", None) else super().random()


NEVER = 0.99


@pytest.mark.parametrize("has_period", [True, False], ids=["a period", "no period"])
@pytest.mark.parametrize("kind", ["weight", "last"])
def test_releases_differ_in_the_rows_of_one_record(kind, has_period):
    """Run again in lines of the audit's own, and without a record: nothing else may differ."""
    seed = next(each for each in range(99) if kind_of(each) == (kind, has_period))
    unblurred, unsummed = Drawn(seed, NEVER), Drawn(seed, NEVER)
    seeds = Seeds(Random(seed), Random(seed), unblurred, unsummed, Random(seed))
    checks = list(release_checks(seeds, 1, seed))
    assert [each.problem() for each in checks if each.problem()] == []
    assert sum(each.what == RELEASE for each in checks) == 1


def kind_of(seed):
    """Return what a seed makes of a spec: weights or changes, and whether it has a period."""
    rows = random_tables.rows(Random(1), 9)
    written, _, last = add_series(Random(seed), spec(Random(1)), rows)
    kind = "weight" if "weight" in written else "last" if last is not None else None
    return kind, "period" in written


def test_the_specs_are_what_they_say():
    """A weighted quantile is asked for; pairs enter, leave, stay and change, each once."""
    random = Random(1)
    written = random_series.weighed_spec(random, spec(random))
    assert written["queries"][-1]["answers"]["middle"]["weight"]["at"] == 5
    this, last = random_series.pairs_of(random, random_tables.rows(random, 60))
    ids = [{row["id"] for row in each} for each in (this, last)]
    assert [len(each) for each in ids] == [len(this), len(last)]
    assert all((ids[0] - ids[1], ids[1] - ids[0], ids[0] & ids[1]))
