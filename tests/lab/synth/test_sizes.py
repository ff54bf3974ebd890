"""Size classes: the codes of EMPSZES, ranges, and what is neither."""

import pytest

from perrecord.errors import InputError
from perrecord.lab.synth.sizes import ANY, CODES, SizeClass, check_disjoint, size_class


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("212", SizeClass(1, 4)),
        (" 210 ", SizeClass(0, 4)),
        ("254", SizeClass(500, 999)),
        ("260", SizeClass(1000)),
        ("1", ANY),
        ("001", ANY),
        ("All", ANY),
        ("5-9", SizeClass(5, 9)),
        ("20 to 49 employees", SizeClass(20, 49)),
        ("1,000+", SizeClass(1000)),
        ("1,000 employees or more", SizeClass(1000)),
        ("5000 or more", SizeClass(5000)),
    ],
)
def test_what_a_class_means(written, meant):
    """Codes, ranges, open ends."""
    assert size_class(written) == meant


@pytest.mark.parametrize("written", ["", "211", "9-5", "5-", "many", "-1"])
def test_what_is_no_class_is_refused(written):
    """The codes are named."""
    with pytest.raises(InputError, match=r"1 for all sizes, 210, 212, .*'1000\+'"):
        size_class(written)


def test_classes_must_not_overlap():
    """210 holds what 212 holds; the classes of one edition do not meet."""
    check_disjoint(SizeClass(*bounds) for code, bounds in CODES.items() if code != "210")
    check_disjoint([ANY, SizeClass(1, 4), SizeClass(1, 4)])
    with pytest.raises(InputError, match="the size classes 0-4 and 1-4 overlap"):
        check_disjoint(SizeClass(*bounds) for bounds in CODES.values())
    with pytest.raises(InputError, match=r"the size classes 1000\+ and 5000\+ overlap"):
        check_disjoint([SizeClass(5000), SizeClass(1000)])
