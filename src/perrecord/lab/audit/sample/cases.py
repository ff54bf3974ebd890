"""Everything that the black-box audit tries."""

from collections.abc import Iterator

from perrecord.lab.audit.sample.additive_cases import additive_cases
from perrecord.lab.audit.sample.blurred_cases import blurred_cases
from perrecord.lab.audit.sample.case import SampledCase
from perrecord.lab.audit.sample.other_cases import other_cases
from perrecord.lab.audit.sample.tapered_cases import tapered_cases


def every_case() -> Iterator[SampledCase]:
    """Yield all cases."""
    yield from additive_cases()
    yield from other_cases()
    yield from tapered_cases()
    yield from blurred_cases()
