"""Under given bits some releases, sessions and commands give what was recorded, byte for byte.

All cases: `python -m tests.digests compare`. After a change of results that is meant:
`python -m tests.digests record`, and say in the commit which results changed and why.
"""

import pytest

from tests.digests.cases import FULL, QUICK, names
from tests.digests.record import (
    RECORDED,
    differences,
    digests_of,
    made_with,
    read,
    write,
)

DIGESTS, MADE_WITH = read(RECORDED)


@pytest.mark.parametrize("case", names(QUICK))
def test_a_case_gives_what_was_recorded(case):
    """Every file of it has the recorded digest."""
    assert made_with() == MADE_WITH, "other packages: record again, on code that did not change"
    assert differences(DIGESTS, {case: digests_of(case)}, [case]) == []


def test_every_case_was_recorded():
    """The file holds all cases, and no other."""
    assert sorted(DIGESTS) == sorted(names(FULL))
    assert all("asked" in files for case, files in DIGESTS.items() if case != "example 0")


def test_a_difference_is_told_by_case_and_file(tmp_path):
    """Another digest, a file that is gone and one that is new."""
    recorded = {"spec 0": {"a": "1", "b": "2", "c": "3"}, "spec 1": {"a": "1"}}
    found = {"spec 0": {"a": "1", "b": "3", "d": "4"}, "spec 1": {"a": "1"}}
    write(tmp_path / "recorded.json", recorded)
    again, _ = read(tmp_path / "recorded.json")
    told = [("spec 0", "b"), ("spec 0", "c"), ("spec 0", "d")]
    assert differences(again, found, recorded) == told
    assert differences(again, {}, ["spec 1"]) == [("spec 1", "a")]
