"""Average relative errors from drawn noise: a check on the closed forms, by the real samplers."""

import numpy as np

from perrecord.errors import InputError
from perrecord.evaluate.accuracy import CellErrors, cells_of, floats, means
from perrecord.evaluate.noise_size import Floats
from perrecord.evaluate.truths import Noisy
from perrecord.mechanisms.additive import draw
from perrecord.noise.bits import BitSource


def simulated_error(
    errors: CellErrors, repeats: int = 100, *, _bits: BitSource | None = None
) -> Floats:
    """Return each cell's mean of |noisy - true| / |true| over repeated draws; NaN where true is 0.

    It charges nobody and is confidential, as what it averages is.
    """
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError(f"repeats is {repeats!r}; expected a whole number from 1.")
    total = np.zeros(len(errors.true))
    for _ in range(repeats):
        total += _size(errors, _bits)
    return errors.relative(total / repeats)


def _size(errors: CellErrors, bits: BitSource | None) -> Floats:
    """Return |noisy - true| of one draw."""
    truth = errors.truth
    total = _drawn(truth.total, bits) * float(truth.total.step)
    if truth.count is None:
        return np.abs(total + errors.bias)
    true, bias, _ = means(truth)
    filled = floats(truth.count.exact)
    released = (true + bias - float(truth.centre)) * filled + total
    count = np.maximum(filled + _drawn(truth.count, bits), 1.0)  # as a release does (T13)
    return np.asarray(np.abs(float(truth.centre) + released / count - true))


def _drawn(noisy: Noisy, bits: BitSource | None) -> Floats:
    drawn = np.zeros(len(noisy.exact))
    for cells, law in cells_of(noisy):
        drawn[cells] = floats(draw(law, len(cells), bits))
    return drawn
