"""The replay audit recomputes what adds up from the published files alone."""

from random import Random

import pytest

from perrecord.lab.audit.random_specs import spec
from perrecord.lab.audit.random_sums import summed_spec
from perrecord.lab.audit.replay.checks import RELEASE, SUMS
from perrecord.lab.audit.replay.releases import Seeds, release_checks


def drawing(seed):
    """Return a seed of sums under which there are some, and what it draws."""
    while True:
        found = Random(f"sums {seed}")
        if Random(f"sums {seed}").random() < 0.5:
            return found
        seed += 1000


def seeds(seed):
    """Return the seeds of a release with tables that add up, and without blurred totals."""
    unblurred = Random(2)
    assert Random(2).random() > 0.25
    return Seeds(Random(seed), Random(seed), unblurred, drawing(seed), Random(seed))


@pytest.mark.parametrize("seed", [0, 1, 2, 19])
def test_what_adds_up_follows_from_published_files(seed):
    """Least squares over all leaves, sums to the last digit, derived numbers and their errors.

    In the last, a coarser key holds no sector.
    """
    checks = list(release_checks(seeds(seed), 0, seed))
    (found,) = [each for each in checks if each.what == SUMS]
    assert [each.problem() for each in checks] == [None] * len(checks)
    assert found.numbers > 20


def test_releases_without_a_record_differ_where_they_may():
    """Fitted numbers of other rows may; their answers, and all other files, may not."""
    checks = list(release_checks(seeds(2), 1, 2))
    assert RELEASE in {each.what for each in checks}
    assert [each.problem() for each in checks] == [None] * len(checks)


def test_all_else_is_drawn_as_before():
    """Tables that add up come from a seed of their own, and are added to what there was."""
    plain = spec(Random(5))
    found = summed_spec(Random(1), plain)
    assert found["queries"][:2] == plain["queries"]
    assert {name: found["keys"][name] for name in plain["keys"]} == plain["keys"]
    changed = {"queries", "keys", "derived", "post_processing"}
    assert all(found[name] == plain[name] for name in plain if name not in changed)
    kinds = [summed_spec(Random(seed), plain) for seed in range(60)]
    assert sum("consistent" in each["post_processing"] for each in kinds) in range(30, 60)
    assert sum("heads" in each["post_processing"]["follow"] for each in kinds) > 5
    assert sum("share" in each["derived"] for each in kinds) > 5
