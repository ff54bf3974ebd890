"""Groupings in several threads: in order, each with noise of its own, and broken off cleanly."""

import threading
import time

import numpy as np
import pyarrow as pa
import pytest

from perrecord import Keys, Query
from perrecord.mechanisms.parallel import in_threads
from perrecord.mechanisms.run import run_each
from perrecord.queries.plan import plan
from perrecord.tables.table import table


def test_results_come_in_the_order_of_the_parts():
    """Largest first is how they are begun, not how they are given."""
    begun = []

    def make(part):
        begun.append(part)
        return -part

    parts = [3, 1, 9, 7]
    assert in_threads(make, parts, lambda part: part) == [-3, -1, -9, -7]
    assert sorted(begun) == sorted(parts)


def test_a_failure_is_raised_and_what_waits_is_given_up(monkeypatch):
    """The parts at work end first, so that nobody reads from a source that is closed."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    ended = []

    def make(part):
        if part == 100:
            raise ValueError("no")
        time.sleep(0.2)
        ended.append(part)

    with pytest.raises(ValueError, match="no"):
        in_threads(make, [*range(90, 110)], lambda part: part == 100)
    count = len(ended)
    assert count < 10
    time.sleep(0.5)
    assert len(ended) == count


def test_ctrl_c_ends_the_wait():
    """A step of the wait is where a signal arrives."""
    stop = threading.Event()

    def interrupted():
        stop.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(lambda _: stop.wait(10), [1, 2], lambda _: 1, on_step=interrupted)


def test_what_is_at_work_is_interrupted_until_it_is_done():
    """Nothing is raised before, also when Ctrl-C is pressed again."""
    stop, pressed, ended = threading.Event(), [], []

    def make(part):
        if part:
            raise ValueError("no")
        stop.wait(10)
        time.sleep(0.3)
        ended.append(part)

    def interrupt():
        stop.set()
        pressed.append(True)
        if len(pressed) < 3:
            raise KeyboardInterrupt

    with pytest.raises(ValueError, match="no"):
        in_threads(make, [0, 1], lambda part: 1 - part, interrupt=interrupt)
    assert ended == [0]


def test_groupings_in_threads_have_noise_of_their_own():
    """No two of twelve groupings share their noise, and none is without."""
    keys = Keys.from_dict({"k": range(500)})
    asked = [Query().group_by("k", keys=keys).count(rho="0.001") for _ in range(12)]
    threads = set()

    def make(grouping, answers):
        threads.add(threading.get_ident())
        time.sleep(0.01)
        return answers.columns[0].numbers

    with table(pa.table({"k": [0]}), dimensions=["k"]) as opened:
        found = run_each(plan(asked, opened.schema), opened, make)
    assert len(threads) > 1
    for place, one in enumerate(found):
        assert np.count_nonzero(one) > 450
        for other in found[:place]:
            assert np.count_nonzero(one == other) < 60  # 500 * 0.013 are expected
