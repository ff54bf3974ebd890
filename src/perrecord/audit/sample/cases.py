"""Everything that the black-box audit tries."""

from collections.abc import Iterator

from perrecord.audit.sample.additive_cases import additive_cases
from perrecord.audit.sample.case import Case
from perrecord.audit.sample.other_cases import other_cases


def every_case() -> Iterator[Case]:
    """Yield all cases."""
    yield from additive_cases()
    yield from other_cases()
