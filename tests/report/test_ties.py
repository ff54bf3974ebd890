"""Ways that cost the same: which is told of is not decided by the last digit of a float."""

import math

from perrecord.report.errors import _price


def test_of_ways_that_cost_the_same_the_most_accurate_is_named():
    """A sum of the same losses in another order differs in its last digit."""
    rows = [{"variant": "as written", "error": 0.5}, {"variant": "coarse", "error": 0.25}]
    for least in (3.0, math.nextafter(3.0, 0), math.nextafter(3.0, 4)):
        found = _price(rows, {"as written": least, "coarse": 3.0})
        assert found.startswith("'coarse' costs 99 % of the records least")
    assert "From 'as written'" in _price(rows, {"as written": 2.99, "coarse": 3.0})


def test_one_that_is_least_in_both_is_no_way_from_one_to_the_other():
    """Both numbers of both ways are alike but for their last digits, one each way."""
    rows = [{"variant": "a", "error": 0.3}, {"variant": "b", "error": math.nextafter(0.3, 1)}]
    found = _price(rows, {"a": math.nextafter(3.0, 4), "b": 3.0})
    assert found.startswith("'a' costs 99 % of the records least")
