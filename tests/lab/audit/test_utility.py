"""The utility audit: answers are their SQL, and their noise is of its law."""

import numpy as np
import pytest

from perrecord import InputError
from perrecord.lab.audit.utility.audit import noise_failures, utility_audit
from perrecord.lab.audit.utility.laws import (
    counts_chance,
    gaussian,
    laplace,
    law_chance,
    rate_chance,
)
from perrecord.lab.audit.utility.worlds import ChanceTest
from tests.cli.conftest import run as run_command
from tests.lab.audit.test_replay import count


def test_answers_are_their_sql_and_their_noise_is_of_its_law():
    """Six tables, two releases, and ten thousand cells with real noise."""
    found = utility_audit(6, 10_000, seed=5)
    assert found.failures == ()
    assert count(found, "published numbers compared") > 500
    assert count(found, "of them in CSV and Parquet") > 50
    assert count(found, "tests of noise") > 90
    kinds = {kind for kind, _ in found.tables[0].rows}
    assert {"count", "median", "average", "keys", "files", "parts", "clamp", "tapered"} <= kinds


def test_what_cannot_be_asked_is_refused():
    """At least one table, and some cells."""
    with pytest.raises(InputError, match="at least one table"):
        utility_audit(0, 1000, seed=1)
    assert run_command("audit", "utility", "--cells", "3").code != 0


# -- the tests of laws can fail ----------------------------------------------------------------


def test_draws_of_the_law_pass_and_of_others_do_not():
    """Numpy's own draws, with the false alarm rate of a seed that is fixed."""
    random = np.random.default_rng(5)
    law = gaussian(5)
    sizes = np.arange(-law.reach, law.reach + 1)
    noise = random.choice(sizes, 300_000, p=law.chances)
    assert law_chance(noise, law) > 1e-3
    assert law_chance(noise, gaussian(5 * 1.02)) < 1e-7
    assert law_chance(noise, laplace(1.58)) < 1e-12
    assert law_chance(noise + (random.random(300_000) < 0.03), law) < 1e-7


def test_rates_and_counts_are_tested_on_both_sides():
    """A rate may be too high or too low; a promise may only be kept or broken."""
    assert rate_chance(9500, 10_000, 0.95) > 0.5
    assert max(rate_chance(9300, 10_000, 0.95), rate_chance(9700, 10_000, 0.95)) < 1e-9
    assert rate_chance(9700, 10_000, 0.95, at_least=True) > 0.5
    assert rate_chance(9300, 10_000, 0.95, at_least=True) < 1e-9
    assert rate_chance(99, 100, 1.0) == 0
    assert counts_chance([100, 300, 600], [0.1, 0.3, 0.6]) > 0.99
    assert counts_chance([160, 240, 600], [0.1, 0.3, 0.6]) < 1e-9


def test_one_false_alarm_rate_is_shared():
    """A p-value of one in ten thousand is nothing among a hundred tests; a fault is one."""
    assert noise_failures([ChanceTest("x", 1e-4)] * 100) == []
    assert len(noise_failures([ChanceTest("x", 1e-10)] * 100)) == 100
    assert noise_failures([ChanceTest("x", 1.0, "wrong")]) == ["x: wrong"]
