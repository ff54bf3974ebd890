"""The certified comparisons: bounds hold, open words are settled, and nothing else changes."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from perrecord.errors import InternalError
from perrecord.laws import DiscreteGaussian
from perrecord.laws.enclosure import ball, nearest_float, precision
from perrecord.noise import discrete_gaussian, discrete_gaussian_each, discrete_laplace
from perrecord.noise.bernoulli import FARTHEST, below_exp, exp_minus
from perrecord.noise.bits import BitSource, system_bits
from perrecord.noise.blocks import Blocks, _attempt_one, _Columns
from perrecord.noise.buckets import _TAIL, buckets
from perrecord.noise.potential import Potential
from perrecord.noise.shapes import Exponential
from perrecord.noise.uniform import MARGIN, Certainty, Uniform
from tests import first
from tests.noise.checks import FALSE_ALARM, Replayed, gaussian, p_value, pearson

UNIT = Fraction(1, 2**53)


def test_exp_is_within_its_proven_bound():
    """|exp_minus(t) - exp(-t)| <= 8 * 2^-53 at random points and at every seam of the tables."""
    generator = np.random.default_rng(5)
    seams = np.arange(1, 45 * 64) / 64
    points = np.concatenate(
        [
            generator.uniform(0, 46, 4000),
            generator.exponential(1, 4000),
            2.0 ** -generator.uniform(0, 1000, 500),
            seams,
            np.nextafter(seams, 0),
            [0.0, 45.0, 1e300],
        ]
    )
    worst = Fraction(0)
    with precision(128):
        for point, result in zip(points.tolist(), exp_minus(points).tolist(), strict=True):
            error = abs(ball(Fraction(result)) - ball(-Fraction(point)).exp())
            assert error <= ball(8 * UNIT)
            worst = max(worst, Fraction(float(error.upper())))
    assert worst > UNIT / 4  # the measurement can see an error of this size


def test_a_float_exp_outside_its_bound_would_be_seen():
    """The same comparison rejects an exp that is wrong by 16 units."""
    with precision(128):
        wrong = exp_minus(np.array([1.0]))[0] + 16 * 2.0**-53
        assert not abs(ball(Fraction(float(wrong))) - arb(-1).exp()) <= ball(8 * UNIT)


class Rigged(BitSource):
    """Hands out prepared words, and beyond them only zeros or only ones."""

    def __init__(self, words16, words64, ones):
        self._words16 = list(words16)
        self._words64 = list(words64)
        self._ones = ones

    def fill(self, buffer):
        """Overwrite the buffer with the same bit everywhere."""
        buffer[:] = 255 if self._ones else 0

    def words16(self, count):
        """Return the next prepared words."""
        return self._words16.pop(0).copy() if self._words16 else super().words16(count)

    def words64(self, count):
        """Return the next prepared words."""
        return self._words64.pop(0).copy() if self._words64 else super().words64(count)


@pytest.mark.parametrize("sigma_squared", ["0.05", "0.1", "0.49", "1", "2.25", "30"])
@pytest.mark.parametrize("width", [8, 11, 15])
def test_the_enumerated_table_encloses_every_probability(sigma_squared, width):
    """All words of width + 1 bits: the share that decides for z, and the share that may.

    An outcome has two ends, each inside one word, so the enclosure is at most 2^-width wide.
    """
    law = DiscreteGaussian(sigma_squared)
    shape = Exponential(Potential.gaussian(law.sigma_squared))
    made = buckets(shape, Certainty(width + 1, 2.0**-width))
    words = np.arange(1 << (width + 1), dtype=np.uint64)
    decided = made.table.decide(words)
    for index, label in enumerate(made.table.labels[:-1].tolist()):
        sure = int((decided == index).sum())
        ends = {int(made.table.floors[at]) for at in (index - 1, index) if at >= 0}
        lower = Fraction(sure, 1 << (width + 1))
        upper = Fraction(sure + len(ends), 1 << (width + 1))
        truth = law.pmf(label)
        assert lower <= truth.upper
        assert truth.lower <= upper
        assert upper - lower <= Fraction(1, 1 << width)
    assert (decided < 0).sum() == len(set(made.table.floors.tolist()))


@pytest.mark.parametrize("sigma_squared", ["0.1", "0.49", "30", "1e5"])
def test_all_words_of_16_bits_run_through_the_sampler_enclose_every_label(sigma_squared):
    """Open words are continued with zeros, then with ones: what both give is certain."""
    law = Potential.gaussian(DiscreteGaussian(sigma_squared).sigma_squared)
    table = buckets(Exponential(law), Certainty(16, 2.0**-15)).table
    words = np.arange(1 << 16, dtype=np.uint16)
    low, high = (
        table.draw(Rigged(np.array_split(words, 2), [], ones), len(words)) for ones in (False, True)
    )
    with precision(256):
        ends = [Fraction(0), *(Fraction(float(end.mid())) for end in table.boundaries()), 1]
    index_of = {label: index for index, label in enumerate(table.labels.tolist())}
    low, high = (np.array([index_of[label] for label in drawn.tolist()]) for drawn in (low, high))
    for index in range(len(table.labels)):
        truth = float(ends[index + 1] - ends[index])
        sure, perhaps = (low == index) & (high == index), (low <= index) & (index <= high)
        assert sure.sum() / 2**16 <= truth + 1e-15
        assert perhaps.sum() / 2**16 >= truth - 1e-15
        assert perhaps.sum() - sure.sum() <= 2


@pytest.mark.parametrize("sigma_squared", ["0.1", "0.49", "1250", "1e7", "1e13"])
def test_the_guide_answers_only_where_no_boundary_is_near(sigma_squared):
    """Each of the 2^16 entries, against a search for the first and the last word it covers."""
    table = buckets(Exponential(Potential.gaussian(Fraction(sigma_squared)))).table
    first = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    last = first | np.uint64((1 << 48) - 1)
    answers = table.guide != -(1 << 15)
    at_first, at_last = table.decide(first), table.decide(last)
    assert (at_first[answers] == at_last[answers]).all()
    assert (at_first[answers] >= 0).all()
    assert (table.labels[at_first[answers]] == table.guide[answers]).all()
    assert answers.mean() > 0.97


@pytest.mark.parametrize("width", [5, pytest.param(7, marks=pytest.mark.audit)])
@pytest.mark.parametrize("sigma_squared", first(1, ["1.7", "0.3", "0.5"]))
def test_the_enumerated_blocks_enclose_every_probability(sigma_squared, width):
    """Every block word, side, offset and height of a few bits, run through the sampler itself.

    A round gives z with probability f(z) (1 - 1/e) / (2 w). Words that leave a decision open are
    continued with zeros, then with ones; what both agree on is certain.
    """
    word = width + 1
    law = Blocks.of(
        Potential.gaussian(DiscreteGaussian(sigma_squared).sigma_squared), both_sides=True
    )
    shape = (1 << word, 2 << law.bits, 1 << word)
    block, place, height = (axis.ravel() for axis in np.indices(shape, dtype=np.uint64))
    side = (place >> np.uint64(law.bits)) << np.uint64(63)
    columns = _Columns.of([law])
    outcomes = []
    for ones in (False, True):
        # The block table asks in chunks of 2^15; then come side and offset, then the height.
        first = (block << np.uint64(16 - word)).astype(np.uint16)
        offset = place & np.uint64((1 << law.bits) - 1)
        source = Rigged(
            np.array_split(first, -(-len(first) // (1 << 15))),
            [side | offset, height << np.uint64(64 - word)],
            ones,
        )
        which = np.zeros(len(block), dtype=np.intp)
        values, kept = columns.attempt(which, source, Certainty(word, 2.0 ** (1 - word)))
        outcomes.append(np.where(kept, values, 10**6))
    total = len(block)
    scale = float(1 - mpmath.exp(-1)) / (2 << law.bits)
    for value in range(-3, 4):
        lower = int(((outcomes[0] == value) & (outcomes[1] == value)).sum()) / total
        upper = int(((outcomes[0] == value) | (outcomes[1] == value)).sum()) / total
        truth = math.exp(-float(law.potential.at(abs(value)))) * scale
        assert lower <= truth <= upper
        assert upper - lower <= 2.0**-width


@pytest.mark.parametrize("sigma", ["0.3", "0.7", "10"])
def test_the_slow_path_without_a_table_gives_the_same_law(sigma):
    """Words of 8 bits, a margin of 1/128: many comparisons are made exactly, none differently."""
    law = gaussian(sigma)
    forced = Certainty(8, 2.0**-7)
    values = discrete_gaussian_each([law.sigma_squared] * 40_000, _certainty=forced)
    assert p_value(values, law) > FALSE_ALARM


@pytest.mark.parametrize("sigma", ["0.7", "300"])
def test_the_slow_path_with_a_table_gives_the_same_law(sigma):
    """Words of 16 bits, a margin of 2^-10: boundary words and residues are settled exactly."""
    law = gaussian(sigma)
    values = discrete_gaussian(law.sigma_squared, 40_000, _certainty=Certainty(16, 2.0**-10))
    assert p_value(values, law) > FALSE_ALARM


def test_the_residue_alone_has_the_weight_that_the_flat_parts_leave():
    """f(z) - g(m), drawn by floats and drawn exactly, against the same law."""
    made = buckets(Exponential(Potential.gaussian(Fraction(400**2))))
    width = 1 << made.bits
    reach = 6 * 400 // width * width
    points = np.arange(-reach, reach)
    bucket = np.where(points >= 0, points // width + 1, -(points // width))
    weights = np.exp(-((points / 400.0) ** 2) / 2) - np.exp(-((bucket * width / 400.0) ** 2) / 2)
    together = 30 * width
    chances = weights.reshape(-1, together).sum(axis=1)
    for certainty, count in ((Certainty(), 400_000), (Certainty(53, 2.0**-6), 600)):
        law = buckets(Exponential(Potential.gaussian(Fraction(400**2))), certainty)
        values = np.zeros(count, dtype=np.int64)
        found = law._residue(system_bits(), values, np.arange(count))
        for place, value in found.items():
            values[place] = value
        inside = values[(values >= -reach) & (values < reach)]
        counts = np.bincount((inside + reach) // together, minlength=len(chances))
        assert pearson(counts, chances / chances.sum()) > FALSE_ALARM
        if count < 1000:
            assert len(found) > 100  # the exact way was taken


def test_the_flat_tail_lies_beyond_the_table():
    """What has probability below 2^-64 can be drawn all the same, and lands where it belongs."""
    for sigma in ("2", "35.4", "3500", "3500000"):
        made = buckets(Exponential(Potential.gaussian(Fraction(sigma) ** 2)))
        values = [made._tail(system_bits()) for _ in range(40)]
        nearest = made.last << made.bits
        assert all(value >= nearest or value < -nearest for value in values)
        assert min(values) < 0 < max(values)
        assert max(abs(value) for value in values) < 1.5 * nearest + 4


class TailsOnly:
    """A table that gives nothing but the label of what lies beyond it."""

    def draw(self, source, count):
        """Return so many of that label."""
        return np.full(count, _TAIL, dtype=np.int16)


@pytest.mark.parametrize("sigma", ["2", "3500"])
def test_the_label_of_the_tail_is_drawn_from_the_tail(sigma):
    """It comes once in 2^64 values, and then it is neither forgotten nor cut to the table's end."""
    made = buckets(Exponential(Potential.gaussian(Fraction(sigma) ** 2)))
    values = replace(made, table=TailsOnly()).draw(system_bits(), 40).tolist()
    nearest = (made.last << made.bits) + (not made.bits)
    assert all(value >= nearest or value <= -nearest for value in values)
    assert len(set(values)) > 1


class FarOut(Replayed):
    """Begins with words of ones only, the last of all blocks; goes on at random."""

    def __init__(self):
        super().__init__(11)
        self._ones = 2

    def fill(self, buffer):
        """Overwrite the buffer, the first two times with ones."""
        super().fill(buffer)
        if self._ones:
            self._ones -= 1
            buffer[:] = 255


@pytest.mark.parametrize(("scale", "dtype"), [(1, np.int64), (2**40, np.int64), (2**70, object)])
def test_blocks_beyond_the_table_are_drawn_too(scale, dtype):
    """The last word leaves block 44 or later open, which has probability exp(-44); both occur."""
    law = Blocks.of(Potential.laplace(Fraction(scale)), both_sides=True)
    values, kept = _Columns.of([law]).attempt(np.zeros(400, np.intp), FarOut(), Certainty())
    blocks = [(value if value >= 0 else -1 - value) >> law.bits for value in values[kept].tolist()]
    assert values.dtype == dtype
    assert min(blocks) == 44
    # What is kept lies 1/e of the time one block farther out: 46 and 47 are seen in 400.
    assert {44, 45, 46, 47} <= set(blocks)


def test_words_that_decide_at_the_margin_agree_with_exact_arithmetic():
    """Words placed just outside the margin are decided rightly, those inside are asked exactly."""
    exponents = np.random.default_rng(3).uniform(0, 30, 300)
    asked = []
    for offset in (-1.5, -0.5, 0.5, 1.5):
        heights = exp_minus(exponents) + offset * MARGIN
        usable = heights > 0
        words = (heights[usable] * 2.0**53).astype(np.uint64) << np.uint64(11)
        chosen = exponents[usable]

        def exact(position, chosen=chosen, offset=offset):
            asked.append(offset)
            return lambda: ball(-Fraction(float(chosen[position]))).exp()

        result = below_exp(words, chosen, exact, system_bits())
        assert (result == (offset < 0)).all()
    assert set(asked) == {-0.5, 0.5}


@given(st.fractions(min_value=0, max_value=1), st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_a_uniform_number_keeps_the_bits_it_began_with(bound, known):
    """U < p is settled by the first byte wherever that byte can settle it."""
    uniform = Uniform(system_bits(), known, 8)
    answer = uniform.below(lambda: ball(bound))
    if Fraction(known + 1, 256) <= bound:
        assert answer
    if Fraction(known, 256) >= bound:
        assert not answer
    assert uniform.below(lambda: ball(bound)) == answer
    inside = Uniform(system_bits(), known, 8)
    inside.below(lambda: ball((known + bound) / 256))  # left open by the first byte, mostly
    assert not inside.below(lambda: ball(Fraction(known, 256)))
    assert inside.below(lambda: ball(Fraction(known + 1, 256)))


def test_an_injected_source_replays_and_the_real_one_does_not():
    """The private argument makes tests repeatable; without it no two calls agree."""
    for draw in (discrete_gaussian, discrete_laplace):
        again = [draw(10**6, 50_000, _bits=Replayed(9)) for _ in range(2)]
        assert (again[0] == again[1]).all()
        assert (draw(10**6, 50_000) != draw(10**6, 50_000)).any()


@pytest.mark.parametrize("law", [DiscreteGaussian("2.5"), DiscreteGaussian(10**8)])
def test_table_boundaries_are_exact_floors(law):
    """A second computation, in mpmath with 60 digits, gives the same 64-bit integers."""
    made = buckets(Exponential(Potential.gaussian(law.sigma_squared)))
    with mpmath.workdps(60):
        a = mpmath.mpf(law.sigma_squared.denominator) / (2 * law.sigma_squared.numerator)
        if made.bits:
            total = mpmath.sqrt(mpmath.pi / a)  # the lattice shows only beyond 60 digits
        else:
            total = mpmath.nsum(lambda k: mpmath.exp(-a * k * k), [-mpmath.inf, mpmath.inf])
        width, running = 1 << made.bits, mpmath.mpf(0)
        listed = made.table.labels[: 2 * made.last].tolist()
        for label, floor in zip(listed, made.table.floors.tolist(), strict=False):
            edge = abs(label) if not made.bits else (label + 1 if label >= 0 else -label)
            running += width * mpmath.exp(-a * (edge * width) ** 2) / total
            assert int(mpmath.floor(running * 2**64)) == floor


def _renyi(order, shift, sigma_squared):
    """Return D_order of the law at `shift` from the law at 0, summed over the lattice."""
    with mpmath.workdps(50):
        two = 2 * mpmath.mpf(sigma_squared)
        reach = range(-400, 401)

        def theta(at):
            return mpmath.fsum(mpmath.exp(-((k - at) ** 2) / two) for k in reach)

        here, there = theta(shift), theta(0)
        total = mpmath.fsum(
            mpmath.exp(-order * (k - shift) ** 2 / two - (1 - order) * k**2 / two) for k in reach
        )
        logs = mpmath.log(total) - order * mpmath.log(here) - (1 - order) * mpmath.log(there)
        return logs / (order - 1)


@pytest.mark.parametrize("sigma_squared", ["0.05", "0.5", "3", "40"])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_renyi_divergence_never_exceeds_the_gaussian_bound(sigma_squared, shift):
    """D_alpha <= alpha shift^2 / (2 sigma^2) (T11), met where alpha times the shift is whole."""
    for order in ("1.1", "1.5", "2", "2.7", "5", "16"):
        with mpmath.workdps(50):
            alpha = mpmath.mpf(order)
            bound = alpha * shift**2 / (2 * mpmath.mpf(sigma_squared))
            divergence = _renyi(alpha, shift, sigma_squared)
            assert divergence <= bound + mpmath.mpf(10) ** -30
            if (Fraction(order) * shift).denominator == 1:
                assert abs(divergence - bound) < mpmath.mpf(10) ** -30


def test_renyi_divergence_of_a_fractional_shift_does_exceed_it():
    """The check can fail: noise centred between two integers is not covered by the bound."""
    assert _renyi(mpmath.mpf(2), mpmath.mpf("0.5"), "0.1") > 2 * 0.25 / 0.2


def _random_potential(source):
    kind = source.random()
    if kind < 0.3:
        scale = Fraction(source.randint(1, 10 ** source.randint(1, 25)), source.randint(1, 10**6))
        return Potential.laplace(scale)
    width = Fraction(source.randint(1, 10 ** source.randint(1, 30)), source.randint(1, 10**12))
    whole = Potential.gaussian(width)
    start = source.randint(1, 10 ** source.randint(1, 15))
    return whole if kind < 0.7 else whole.beyond(start)


def test_the_exponent_of_blocks_stays_within_lemma_5():
    """|t^ - t| exp(-min(t, t^)) against exact rationals: at most 536u, a quarter of the margin."""
    source, worst = random.Random(5), 0.0
    for _ in range(600):
        law = Blocks.of(_random_potential(source), both_sides=source.random() < 0.5)
        columns = _Columns.of([law])
        fine, coarse = int(columns.fine[0]), columns.coarse[0]
        for _ in range(20):
            block = source.randint(0, FARTHEST - 1)
            magnitude = (block << fine) + source.getrandbits(fine)
            side = source.randint(0, 1) * law.both_sides
            shipped = columns.exponent(
                np.zeros(1, np.intp), np.array([block]), np.array([magnitude + side])
            )
            near = Fraction(float(shipped[0]))
            value = (magnitude << coarse) | source.getrandbits(coarse)
            exact = law.potential.at(value + 1 if side else value) - block
            least = min(exact, near)
            if least < 700:
                worst = max(worst, float(abs(near - exact)) * math.exp(-float(least)) * 2.0**53)
    assert 1 < worst < 536


@pytest.mark.parametrize("sigma", ["2", "640"])
def test_the_tail_beyond_the_table_has_its_law(sigma):
    """Buckets beyond the last listed one, drawn directly: their number has the weights g(m)."""
    law = buckets(Exponential(Potential.gaussian(Fraction(sigma) ** 2)))
    assert law is not None
    source = Replayed(11)
    values = [law._tail(source) for _ in range(3000)]
    width = 1 << law.bits
    numbers = [-(-abs(value) // width) if value < 0 else value // width + 1 for value in values]
    numbers = [abs(value) for value in values] if not law.bits else numbers
    steps = law.shape.potential.coarse(law.bits)
    weights = np.array(
        [
            math.exp(-float(steps.at(m) - steps.at(law.last + 1)))
            for m in range(law.last + 1, 3 * law.last)
        ]
    )
    counts = np.bincount(np.array(numbers) - law.last - 1, minlength=len(weights))
    assert pearson(counts, weights / weights.sum()) > 1e-4
    assert abs(sum(value > 0 for value in values) - 1500) < 200


def test_blocks_beyond_the_last_label_start_there():
    """Given label 45 the block is 45 with probability 1 - 1/e."""
    law = Blocks.of(Potential.laplace(Fraction(2**40)), both_sides=False)
    source = Replayed(3)
    found = []
    while len(found) < 2000:
        value = _attempt_one(law.bits, law.weight, source, both_sides=False, first_block=FARTHEST)
        if value is not None:
            found.append(value >> law.bits)
    assert min(found) == FARTHEST
    # weight(value) e^block is at least 1/e in every block alike, so what is kept is geometric too
    assert found.count(FARTHEST) / len(found) == pytest.approx(1 - 1 / math.e, abs=0.05)


def test_a_height_near_either_end_of_a_bucket_is_open():
    """Within the margin of g(m) or of g(m-1) nothing is decided by floats."""
    law = buckets(Exponential(Potential.gaussian(Fraction(640) ** 2)))
    assert law is not None
    inside = law.heights[3:-3]
    for shift in (-0.5, 0.5):
        assert law._bucket_at(inside + shift * MARGIN)[1].all()
    middles = (law.heights[200:-1] + law.heights[201:]) / 2
    assert not law._bucket_at(middles)[1].any()


def test_floats_are_certified_whatever_precision_others_set():
    """Another user of FLINT in the process may change its precision; constants stay right."""
    wanted = nearest_float(lambda: ball(Fraction(1, 3)).exp())

    def disturbed():
        with ctx.workprec(20):
            return ball(Fraction(1, 3)).exp()

    assert wanted == pytest.approx(math.exp(1 / 3), rel=1e-15)
    with pytest.raises(InternalError):
        nearest_float(disturbed)
