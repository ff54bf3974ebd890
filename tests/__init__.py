"""Tests of perrecord."""

from collections.abc import Sequence
from typing import Any

import pytest

EXAMPLES = 50
"""How many examples Hypothesis tries of a property that does not say so itself.

The audit and twins try all of them; `make test` tries two fifths of these, and of the others.
"""


def first(count: int, cases: Sequence[Any]) -> list[Any]:
    """Return the cases of a parametrised test: the first so many are quick, the audit has all.

    A case that is a tuple has a value for each of several names.
    """
    later = (each if isinstance(each, tuple) else (each,) for each in cases[count:])
    return [*cases[:count], *(pytest.param(*each, marks=pytest.mark.audit) for each in later)]
