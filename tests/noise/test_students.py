"""Does the Student sampler draw from the law it names, on every path, and would we notice if not?

Quick form: 3 million draws each, false-alarm rate 1e-7 per test (`checks.FALSE_ALARM`).
Full form (`make audit`): 10^7 draws for 12 spreads, family-wise false-alarm rate 1e-6.
"""

import random
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from perrecord.laws import DiscreteStudent
from perrecord.noise import discrete_student, discrete_student_each, draw
from perrecord.noise.bits import system_bits
from perrecord.noise.buckets import buckets
from perrecord.noise.spreads import Listed, Squares
from perrecord.noise.students import (
    _LAST_BLOCK,
    WIDEST_BITS,
    Lanes,
    Student,
    _block_table,
    _bound,
    _draw_one,
    block_bits,
    draw_students,
)
from perrecord.noise.uniform import CERTAIN, Certainty
from tests.noise.checks import (
    FALSE_ALARM,
    Replayed,
    digits_are_those_of,
    memory_for,
    p_value,
    pearson,
)
from tests.noise.test_exactness import FarOut, Rigged, TailsOnly

DRAWS = 3_000_000
AUDIT_FALSE_ALARM = 1e-6
AUDITED = (
    *((7, spread) for spread in ("25", "30.5", "6251/3", "16383", "16384", "1e6", "6.25e13")),
    *((3, spread) for spread in ("0.4", "25", "1250", "16385", "1.2e7")),
)
LAWS = [(7, "25"), (7, "6500/3"), (7, "16384"), (7, "6.25e13"), (3, "25"), (3, "12250000")]
GROWTH = Fraction(7, 100)


def listed(law, count):
    """Return cells of one law, out of a list of one."""
    return Listed.of([law], np.zeros(count, dtype=np.intp))


def of_squares(law, count):
    """Return cells of the same law, half of whose spread comes from a square where that can be."""
    square = int(law.spread / GROWTH / 2)
    squares = np.full(count, square, dtype=np.int64 if square < 2**62 else np.object_)
    return Squares.of(law.spread - GROWTH * square, GROWTH, squares, law.power)


BOTH = pytest.mark.parametrize("cells_of", [listed, of_squares])


@pytest.mark.parametrize(("nu", "spread"), [*LAWS, (3, "1.5"), (7, "16383")])
def test_many_students_follow_their_law(nu, spread):
    """The path with a table: chi-square, tails, zeros and remainders all fit."""
    law = DiscreteStudent(spread, nu)
    assert p_value(discrete_student(spread, DRAWS, nu=nu), law) > FALSE_ALARM


@pytest.mark.parametrize(("nu", "spread"), [*LAWS, (3, "0.3"), (7, "1e-3"), (7, "64"), (7, "65")])
def test_students_drawn_a_few_at_a_time_follow_their_law(nu, spread):
    """The path without a table gives the same law."""
    values = discrete_student_each([spread] * 250_000, nu=nu)
    assert p_value(values, DiscreteStudent(spread, nu)) > FALSE_ALARM


def far_out(values, law):
    """Return the p-value of how many values lie beyond ten deviations, counted exactly."""
    start = int(10 * float(law.variance()) ** 0.5) + 1
    count = int((np.abs(values) >= start).sum())
    return float(stats.binomtest(count, len(values), 2 * float(law.tail(start))).pvalue)


@pytest.mark.audit
@pytest.mark.parametrize(("nu", "spread"), AUDITED)
def test_ten_million_students_follow_their_law(nu, spread):
    """The full form: 10^7 draws on each of the two paths, for each of 12 spreads."""
    law, share = DiscreteStudent(spread, nu), AUDIT_FALSE_ALARM / (4 * len(AUDITED))
    many = discrete_student(spread, 10**7, nu=nu)
    few = np.concatenate([discrete_student_each([spread] * 10**6, nu=nu) for _ in range(10)])
    for values in (many, few):
        assert p_value(values, law) > share
        assert far_out(values, law) > share


def _spread_off_by_two_percent(law, generator):
    return discrete_student(law.spread * Fraction("1.02"), DRAWS, nu=law.nu, _bits=Replayed(1))


def _power_off_by_one(law, generator):
    scale = float(law.spread / law.nu) ** 0.5  # nu off by two: the next power of the weight
    return (generator.standard_t(law.nu + 2, DRAWS) * scale).round().astype(np.int64)


def _zero_counted_twice(law, generator):
    values = discrete_student(law.spread, 2 * DRAWS, nu=law.nu, _bits=Replayed(2))
    return np.where(values >= 0, values, -1 - values)[:DRAWS] * generator.choice([-1, 1], DRAWS)


def _tail_cut_off(law, generator):
    values = discrete_student(law.spread, DRAWS + 10**5, nu=law.nu, _bits=Replayed(3))
    return values[np.abs(values) <= 6 * float(law.variance()) ** 0.5][:DRAWS]


def _spread_taken_as_the_variance(law, generator):
    return discrete_student(law.spread * (law.nu - 2), DRAWS, nu=law.nu, _bits=Replayed(4))


BROKEN = [
    _spread_off_by_two_percent,
    _power_off_by_one,
    _zero_counted_twice,
    _tail_cut_off,
    _spread_taken_as_the_variance,
]


@pytest.mark.parametrize("sampler", BROKEN)
@pytest.mark.parametrize("spread", ["25", "6250"])
def test_the_same_checks_reject_a_broken_sampler(sampler, spread):
    """Each deliberate fault is caught far below the rate at which a right sampler alarms."""
    law = DiscreteStudent(spread, 7)
    values = sampler(law, np.random.default_rng(7))
    assert p_value(values, law) < AUDIT_FALSE_ALARM / 100


# -- exactness -----------------------------------------------------------------------------------


def whole_weight(power):
    """Return the weight of all blocks together, in units of w, added up as docs/noise.md has it."""
    listed = [Fraction(1)]
    listed += [2 ** (j - 1) * (1 + Fraction(4) ** (j - 2)) ** -power for j in range(1, 13)]
    first = 2**12 * Fraction(4) ** (-11 * power)
    return sum(listed) + first / (1 - Fraction(2) ** (1 - 2 * power))


@pytest.mark.parametrize("power", [2, 4])
def test_an_attempt_gives_every_integer_its_weight_exactly(power):
    """In rationals: Pr[j] Pr[offset] Pr[side] Pr[kept] is f(z) times one number, for every z."""
    source = random.Random(power)
    nu = 2 * power - 1
    for _ in range(40):
        spread = Fraction(source.randint(1, 10 ** source.randint(1, 8)), source.randint(1, 50))
        law = Student.of(DiscreteStudent(spread, nu))
        width = 1 << block_bits(law)
        assert 4 * width**2 >= spread
        assert width == 1 or width**2 < spread
        for magnitude in [*range(6), *(source.randint(0, 10**9) for _ in range(40))]:
            block = (magnitude // width).bit_length()
            size = width if block == 0 else width << (block - 1)
            assert (0 if block == 0 else size) <= magnitude < (width << block)
            for value in (magnitude, -1 - magnitude):
                kept = law.at(abs(value)) / _bound(block, power)
                assert kept <= 1
                chance = size * _bound(block, power) / width / whole_weight(power)
                once = chance / size / 2 * kept
                assert once == (spread / (spread + value**2)) ** power / (
                    2 * width * whole_weight(power)
                )


@pytest.mark.parametrize("power", [2, 4])
def test_the_table_of_blocks_has_the_weights_of_the_theory(power):
    """All 64-bit boundaries, computed in rationals; the last label has what is left."""
    running, table = Fraction(0), _block_table(power, CERTAIN)
    assert len(table.floors) == _LAST_BLOCK + 1
    for block, floor in enumerate(table.floors.tolist()):
        running += Fraction(2) ** max(block - 1, 0) * _bound(block, power) / whole_weight(power)
        assert floor == int(running * 2**64)
    beyond = 2**12 * _bound(13, power) / (1 - Fraction(2) ** (1 - 2 * power))
    assert 1 - running == beyond / whole_weight(power)


@BOTH
@pytest.mark.parametrize(("nu", "spread"), [(7, "1.7"), (7, "25"), (3, "0.5")])
def test_the_enumerated_blocks_enclose_every_probability(nu, spread, cells_of):
    """Every block word, side, offset and height of 8 bits, run through the sampler itself.

    Words that leave a decision open are continued with zeros, then with ones; what both agree on
    is certain.
    """
    width, word = 7, 8
    law = Student.of(DiscreteStudent(spread, nu))
    bits = block_bits(law) + 1
    shape = (1 << word, 2 << bits, 1 << word)
    block, place, height = (axis.ravel() for axis in np.indices(shape, dtype=np.uint64))
    side = (place >> np.uint64(bits)) << np.uint64(63)
    outcomes = []
    for ones in (False, True):
        first = (block << np.uint64(16 - word)).astype(np.uint16)
        offset = place & np.uint64((1 << bits) - 1)
        source = Rigged(
            np.array_split(first, -(-len(first) // (1 << 15))),
            [side | offset, height << np.uint64(64 - word)],
            ones,
        )
        if ones:  # a geometric number of blocks ends at the first bit that is not 0
            source.integer = lambda bits: (1 << bits) - 1
        else:
            zeros = source.integer
            source.integer = lambda bits, zeros=zeros, nu=nu: 1 if bits == nu else zeros(bits)
        lanes = Lanes.of(cells_of(law, len(block)), 0, len(block))
        values, kept, found = lanes.attempt(source, Certainty(word, 2.0 ** (1 - word)))
        values[list(found)] = list(found.values())
        outcomes.append(np.where(kept, values, 10**6))
    total = len(block)
    scale = float(1 / whole_weight((nu + 1) // 2)) / (2 << block_bits(law))
    for value in range(-3, 4):
        lower = int(((outcomes[0] == value) & (outcomes[1] == value)).sum()) / total
        upper = int(((outcomes[0] == value) | (outcomes[1] == value)).sum()) / total
        truth = float(law.at(abs(value))) * scale
        assert lower <= truth <= upper
        assert upper - lower <= 2.0**-width


@pytest.mark.parametrize(("nu", "spread"), [(7, "25"), (3, "400")])
def test_the_slow_path_without_a_table_gives_the_same_law(nu, spread):
    """Words of 8 bits, a margin of 1/128: many comparisons are made exactly, none differently."""
    forced = Certainty(8, 2.0**-7)
    values = discrete_student_each([spread] * 30_000, nu=nu, _certainty=forced)
    assert p_value(values, DiscreteStudent(spread, nu)) > FALSE_ALARM


@pytest.mark.parametrize(("nu", "spread"), [(7, "25"), (3, "400")])
def test_comparisons_that_are_all_left_open_give_the_same_law(nu, spread):
    """A margin of 2: floats decide nothing, rationals decide every time."""
    values = discrete_student_each([spread] * 12_000, nu=nu, _certainty=Certainty(8, 2.0))
    assert p_value(values, DiscreteStudent(spread, nu)) > FALSE_ALARM


@pytest.mark.parametrize(("nu", "spread"), [(7, "25"), (7, "400000"), (3, "25")])
def test_the_slow_path_with_a_table_gives_the_same_law(nu, spread):
    """Words of 16 bits, a margin of 2^-10: boundary words and residues are settled exactly."""
    forced = Certainty(16, 2.0**-10)
    count = 30_000 if nu == 7 else 9000  # nu = 3 has a longer table, searched from end to end here
    values = discrete_student(spread, count, nu=nu, _certainty=forced)
    assert p_value(values, DiscreteStudent(spread, nu)) > FALSE_ALARM


@pytest.mark.parametrize(("nu", "spread"), [(7, "1.7"), (3, "900"), (7, "1e30")])
def test_values_drawn_one_by_one_have_the_same_law(nu, spread):
    """The exact path, which serves blocks wider than 2^48 and whatever a table leaves out."""
    law, source = Student.of(DiscreteStudent(spread, nu)), Replayed(12)
    values = [_draw_one(law, source, CERTAIN) for _ in range(4000)]
    scale = max(1, 10**12 if spread == "1e30" else 1)
    coarse = np.array([value // scale for value in values], dtype=np.int64)
    assert p_value(coarse, DiscreteStudent(law.spread / scale**2, nu)) > 1e-5


@pytest.mark.parametrize(("nu", "spread"), [(7, "25"), (3, "25"), (7, "1e6"), (3, "1e6")])
def test_table_boundaries_are_exact_floors(nu, spread):
    """A second computation, in mpmath with 60 digits, gives the same 64-bit integers."""
    made, power = buckets(Student.of(DiscreteStudent(spread, nu))), (nu + 1) // 2
    with mpmath.workdps(60):
        squared = mpmath.mpf(spread)
        a = mpmath.sqrt(squared)
        turn = 2 * mpmath.pi * a
        factors = {2: [1, 1], 4: [1, 1, mpmath.mpf(2) / 5, mpmath.mpf(1) / 15]}[power]
        aliases = mpmath.fsum(
            mpmath.exp(-turn * n) * sum(f * (turn * n) ** i for i, f in enumerate(factors))
            for n in range(1, 20)
        )
        line = mpmath.sqrt(mpmath.pi) * mpmath.gamma(power - 0.5) / mpmath.gamma(power)
        total = a * line * (1 + 2 * aliases)
        width, running = 1 << made.bits, mpmath.mpf(0)
        listed = made.table.labels[: 2 * made.last].tolist()
        for label, floor in zip(listed, made.table.floors.tolist(), strict=False):
            edge = abs(label) if not made.bits else (label + 1 if label >= 0 else -label)
            running += width * (1 + (edge * width) ** 2 / squared) ** -power / total
            assert int(mpmath.floor(running * 2**64)) == floor


@pytest.mark.parametrize(("nu", "spread"), [(7, "25"), (3, "40"), (7, "1e9"), (3, "1e9")])
def test_the_tail_beyond_the_table_has_its_law(nu, spread):
    """Buckets beyond the last one, drawn directly: nothing is cut, and each has its weight g(m)."""
    law = buckets(Student.of(DiscreteStudent(spread, nu)))
    source = Replayed(11)
    values = [law._tail(source) for _ in range(1500)]
    width, power = 1 << law.bits, (nu + 1) // 2
    numbers = [-(-abs(value) // width) if value < 0 else value // width + 1 for value in values]
    numbers = [abs(value) for value in values] if not law.bits else numbers
    assert min(numbers) > law.last
    steps = DiscreteStudent(law.shape.coarse(law.bits).spread, nu)
    edges = [law.last + 1 + law.last * i // 12 for i in range(25)]
    above = np.array(
        [float(steps.tail(edge).lower / steps.tail(law.last + 1).lower) for edge in edges]
    )
    chances = np.append(above[:-1] - above[1:], above[-1])
    counts = np.bincount(np.searchsorted(edges, numbers, side="right") - 1, minlength=len(chances))
    assert pearson(counts, chances) > 1e-5
    assert abs(sum(value > 0 for value in values) - 750) < 150
    assert max(numbers) > (2 if power == 4 else 6) * law.last


@pytest.mark.parametrize("spread", ["25", "1e9"])
def test_the_label_of_the_tail_is_drawn_from_the_tail(spread):
    """One value in a million (nu = 3) lies beyond the table; it is not cut to the table's end."""
    made = buckets(Student.of(DiscreteStudent(spread, 3)))
    values = replace(made, table=TailsOnly()).draw(system_bits(), 40).tolist()
    nearest = (made.last << made.bits) + (not made.bits)
    assert all(value >= nearest or value <= -nearest for value in values)
    assert len(set(values)) > 1


@pytest.mark.parametrize("spread", ["400", "2e7"])
def test_how_many_lie_beyond_the_table_is_what_the_law_says(spread):
    """With nu = 3, in ten million values: about 17."""
    made = buckets(Student.of(DiscreteStudent(spread, 3)))
    start = (made.last + 1) << made.bits
    values = discrete_student(spread, 10**7, nu=3)
    chance = 2 * float(DiscreteStudent(spread, 3).tail(start))
    count = int((np.abs(values) >= start).sum())
    assert stats.binomtest(count, len(values), chance).pvalue > FALSE_ALARM
    assert count > 0


@pytest.mark.parametrize(("spread", "dtype"), [(64, np.int64), (Fraction(4) ** 49, object)])
def test_blocks_beyond_the_table_are_drawn_too(spread, dtype):
    """The last word stands for block 13 or later, and both occur; Python ints where they must."""
    law = Student.of(DiscreteStudent(spread, 3))
    values, kept, found = Lanes.of(listed(law, 2000), 0, 2000).attempt(FarOut(), CERTAIN)
    assert set(np.flatnonzero(kept).tolist()) == set(found)
    width = 1 << block_bits(law)
    blocks = [((v if v >= 0 else -1 - v) // width).bit_length() for v in found.values()]
    assert min(blocks) == _LAST_BLOCK + 1
    # Each block farther out is an eighth as likely.
    assert blocks.count(_LAST_BLOCK + 1) / len(blocks) == pytest.approx(7 / 8, abs=0.06)
    assert max(blocks) > _LAST_BLOCK + 1
    drawn = draw_students(listed(law, 2000), FarOut(), CERTAIN)
    assert drawn.dtype == dtype
    assert max(abs(int(value)) for value in drawn) >= width << _LAST_BLOCK
    assert values.dtype == np.int64


def test_the_chance_to_be_kept_stays_within_lemma_8():
    """Floats against exact rationals: at most 64u, of a margin of 2048u; on all paths."""
    source, worst = random.Random(5), Fraction(0)
    for _ in range(400):
        nu = source.choice([3, 7])
        spread = Fraction(source.randint(1, 10 ** source.randint(1, 27)), source.randint(1, 10**6))
        law = Student.of(DiscreteStudent(spread, nu))
        every = [Lanes.of(cells_of(law, 1), 0, 1) for cells_of in (listed, of_squares)]
        bits = block_bits(law)
        for _ in range(15):
            block = source.randint(0, _LAST_BLOCK)
            size = 1 << (bits + max(block - 1, 0))
            value = (size if block else 0) + source.randrange(size) + source.randint(0, 1)
            exact = law.at(value) / _bound(block, law.power)
            for lanes in every:
                near = lanes.near(np.array([block]), np.array([value]))
                worst = max(worst, abs(Fraction(float(near[0])) - exact))
            if source.random() < 0.2:
                point = source.randint(0, 10**6)
                floats = law.coarse(0).near(np.array([float(point)]))
                worst = max(worst, abs(Fraction(float(floats[0])) - law.at(point)))
    assert 1 < worst * 2**53 < 64


# -- what callers see ----------------------------------------------------------------------------


def test_each_cell_has_its_own_spread():
    """In a mixed call every spread gets its own law, the wide ones too."""
    spreads = ["25", "1440", "8.1e9"]
    values = discrete_student_each([s for _ in range(70_000) for s in spreads])
    for index, spread in enumerate(spreads):
        assert p_value(values[index :: len(spreads)], DiscreteStudent(spread)) > FALSE_ALARM
    mixed = discrete_student_each(["25", "1e60", "1e4"] * 50)
    assert mixed.dtype == np.object_
    assert max(abs(value) for value in mixed[::3]) < 1000
    assert min(abs(value) for value in mixed[1::3]) > 10**20


@pytest.mark.parametrize("exponent", [20, 300])
def test_values_beyond_int64_are_python_integers(exponent):
    """Every digit of a huge value is random, the last ones too."""
    values = discrete_student(Fraction(10) ** (2 * exponent), 3000)
    assert digits_are_those_of(values, exponent, 7, DiscreteStudent(10**12))


def test_the_widest_int64_law_meets_the_narrowest_wide_one():
    """On either side of the change to Python ints the law is the same, with few and with many."""
    for power in (47, 48, 49, 50):
        spread = Fraction(4) ** power
        wide = block_bits(Student.of(DiscreteStudent(spread))) > WIDEST_BITS
        for count in (3000, 3000 if wide else 20_000):
            values = discrete_student(spread, count)
            assert (values.dtype == np.object_) == wide
            leading = np.array([int(value) >> (power - 20) for value in values], dtype=np.int64)
            assert p_value(leading, DiscreteStudent(Fraction(4) ** 20)) > FALSE_ALARM


def test_a_tiny_spread_gives_zeros():
    """A = 1e-9 puts all but 10^-35 of the mass at 0, at any size of the request."""
    assert not discrete_student("1e-9", 20_000).any()


@pytest.mark.parametrize("spread", ["25", "1e6", "1e40"])
def test_the_same_bits_give_the_same_numbers(spread):
    """The private argument makes tests repeatable; without it no two calls agree."""
    count = 500 if spread == "1e40" else 20_000
    again = [discrete_student(spread, count, _bits=Replayed(9)) for _ in range(2)]
    assert (again[0] == again[1]).all()
    each = [discrete_student_each([spread] * 300, _bits=Replayed(9)) for _ in range(2)]
    assert (each[0] == each[1]).all()
    assert (discrete_student(spread, count) != discrete_student(spread, count)).any()


def test_a_law_is_drawn_by_itself():
    """`draw` gives what the sampler of each law gives from the same bits."""
    law = DiscreteStudent("1e6", 3)
    drawn = draw(law, 20_000, _bits=Replayed(3))
    assert (drawn == discrete_student("1e6", 20_000, nu=3, _bits=Replayed(3))).all()
    assert not (drawn == discrete_student("1e6", 20_000, _bits=Replayed(3))).all()


def test_an_attempt_is_kept_about_half_the_time():
    """From 0.32 to 0.67 for sqrt A above a step, whichever way it falls between powers of two."""
    for nu in (3, 7):
        for spread in ("25", "65", "1e6"):
            law = Student.of(DiscreteStudent(spread, nu))
            lanes = Lanes.of(listed(law, 20_000), 0, 20_000)
            kept = lanes.attempt(Replayed(2), CERTAIN)[1]
            assert 0.3 < kept.mean() < 0.7


def test_memory_stays_near_the_size_of_the_output():
    """At its peak a draw holds its output and a few chunks."""
    discrete_student("1e7", 10_000)
    assert memory_for(lambda: discrete_student("1e7", 4_000_000)) < 1.25
