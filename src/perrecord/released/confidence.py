"""The confidence that an interval is asked for with."""

from fractions import Fraction

from perrecord.errors import ProbabilityError
from perrecord.exact import Exact, rational


def confidence_level(confidence: Exact) -> Fraction:
    """Return a confidence as a rational, or refuse what is none."""
    level = rational(confidence, "the confidence")
    if not 0 < level < 1:
        raise ProbabilityError(
            f"the confidence is {confidence}; expected a number strictly between 0 and 1, such as "
            '"0.95".'
        )
    return level
