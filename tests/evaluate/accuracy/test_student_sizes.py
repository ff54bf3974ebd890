"""Student noise under many laws at once: the same figures that each law has alone."""

from fractions import Fraction

import numpy as np
import pytest

from perrecord.evaluate.accuracy.student_sizes import (
    student_deviations,
    student_means,
    student_reaches,
)
from perrecord.laws import DiscreteStudent
from perrecord.laws.widths import deviation, half_width

SPREADS = ("0.3", "3", "25", "400", "3000", "34621.6397709", "1e8", "123456789012")


@pytest.mark.parametrize("nu", [3, 7])
def test_figures_are_those_of_each_law(nu):
    """Deviations and means to one part in 10^8, reaches to the last step."""
    laws = [DiscreteStudent(spread, nu) for spread in SPREADS]
    means = [law.float_sizes(np.zeros(1))[0] for law in laws]
    assert student_deviations(laws) == pytest.approx([deviation(law) for law in laws], rel=1e-8)
    assert student_means(laws) == pytest.approx(means, rel=1e-8)
    for confidence in map(Fraction, ("0.01", "0.5", "0.95", "0.999999")):
        wanted = [half_width(law, confidence) for law in laws]
        assert student_reaches(laws, confidence).tolist() == wanted
