"""Does the Student sampler draw from the law it names, on every path, and would we notice if not?

Quick form: a million draws each, false-alarm rate 1e-7 per test (`checks.FALSE_ALARM`).
Full form (`make audit`): 10^7 draws for 12 spreads, family-wise false-alarm rate 1e-6.
"""

import random
from bisect import bisect_right
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
from perrecord.noise.envelopes import FIRST, LAST, PIECE_BITS, STEPS, Envelope, class_of, envelopes
from perrecord.noise.spreads import Listed, Squares
from perrecord.noise.students import Lanes, Open, Student, _attempt, _draw_one, draw_students
from perrecord.noise.uniform import CERTAIN, Certainty
from tests import first
from tests.noise.checks import (
    FALSE_ALARM,
    Replayed,
    digits_are_those_of,
    memory_for,
    p_value,
    pearson,
)
from tests.noise.test_exactness import Rigged, TailsOnly

DRAWS = 1_000_000
AUDIT_FALSE_ALARM = 1e-6
AUDITED = (
    *((7, spread) for spread in ("25", "30.5", "6251/3", "16383", "16384", "1e6", "6.25e13")),
    *((3, spread) for spread in ("0.4", "25", "1250", "16385", "1.2e7")),
)
LAWS = [(7, "25"), (3, "12250000"), (7, "6.25e13"), (3, "25"), (7, "6500/3"), (7, "16384")]
GROWTH = Fraction(7, 100)


def listed(law, count):
    """Return cells of one law, out of a list of one."""
    return Listed.of([law], np.zeros(count, dtype=np.intp))


def of_squares(law, count):
    """Return cells of the same law, half of whose spread comes from a square where that can be."""
    square = int(law.spread / GROWTH / 2)
    squares = np.full(count, square, dtype=np.int64 if square < 2**62 else np.object_)
    return Squares(law.spread - GROWTH * square, GROWTH, squares, law.power)


@pytest.mark.parametrize(("nu", "spread"), first(4, [*LAWS, (3, "1.5"), (7, "16383")]))
def test_many_students_follow_their_law(nu, spread):
    """The path with a table: chi-square, tails, zeros and remainders all fit."""
    law = DiscreteStudent(spread, nu)
    assert p_value(discrete_student(spread, DRAWS, nu=nu), law) > FALSE_ALARM


@pytest.mark.parametrize(
    ("nu", "spread"), first(6, [(3, "0.3"), (7, "65"), *LAWS, (7, "1e-3"), (7, "64")])
)
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
@pytest.mark.parametrize("spread", first(1, ["25", "6250"]))
def test_the_same_checks_reject_a_broken_sampler(sampler, spread):
    """Each deliberate fault is caught far below the rate at which a right sampler alarms."""
    law = DiscreteStudent(spread, 7)
    values = sampler(law, np.random.default_rng(7))
    assert p_value(values, law) < AUDIT_FALSE_ALARM / 100


# -- exactness -----------------------------------------------------------------------------------


def random_spread(source):
    """Return A, on any path: below 1, in a class of its power of four, or in that of an eighth."""
    return Fraction(source.randint(1, 10 ** source.randint(1, 27)), source.randint(1, 10**6))


def class_and_unit(law):
    """Return the envelope of a law, the number of its first piece, and b."""
    (table, bits), every = class_of(law.step), envelopes(law.power)
    envelope = Envelope.of(table, law.power)
    return envelope, int(every.pieces[table << PIECE_BITS]), bits


@pytest.mark.parametrize("power", [2, 4])
def test_an_attempt_gives_every_integer_its_weight_exactly(power):
    """In rationals: Pr[piece] Pr[offset] Pr[side] Pr[kept] is f(z) times one number, for all z."""
    source = random.Random(power)
    nu = 2 * power - 1
    for _ in range(60):
        spread = random_spread(source)
        law = Student.of(DiscreteStudent(spread, nu))
        envelope, _, bits = class_and_unit(law)
        assert envelope.least * 4**bits <= spread <= envelope.most * 4**bits
        reach = 4 * envelope.starts[-1] << bits
        sizes = [
            *range(6),
            *(source.randrange(1 + (reach >> source.randint(0, 40))) for _ in range(30)),
        ]
        for magnitude in [*sizes, reach, 5 * reach]:
            piece = max(0, bisect_right(envelope.starts, magnitude >> bits) - 1)
            size = envelope.sizes[piece] << bits
            doubling, once = 0, Fraction(1)
            if piece == envelope.tail:
                doubling = (magnitude // size).bit_length() - 1
                once = (1 - envelope.ratio) * envelope.ratio**doubling
            size <<= doubling
            start = envelope.starts[piece] << bits + doubling
            assert start <= magnitude < start + size
            for value in (magnitude, -1 - magnitude):
                kept = law.at(abs(value)) * envelope.factor(piece, doubling)
                assert kept <= 1
                drawn = once * Fraction(envelope.chances[piece], 4096) / size / 2
                assert drawn * kept == (spread / (spread + value**2)) ** power / (
                    Fraction(2 * 4096 * envelope.unit, 2**60) * 2**bits
                )


@pytest.mark.parametrize("power", [2, 4])
def test_envelopes_are_what_the_theory_asks(power):
    """Every piece has a power of two of numbers and a share of 4096 chances; none is missing."""
    every = envelopes(power)
    for step in range(-20, FIRST + 4 * STEPS):
        table, bits = class_of(step)
        envelope, low = Envelope.of(table, power), Fraction(2) ** (step // STEPS)
        low *= 1 + Fraction(step % STEPS, STEPS)
        assert envelope.most * 4**bits >= low * (1 + Fraction(1, 16))
        assert envelope.least * 4**bits <= low * (1 - Fraction(1, 2**41))
        assert envelope.starts[0] == 0
        assert all(size.bit_count() == 1 for size in envelope.sizes)
        ends = map(sum, zip(envelope.starts[:-1], envelope.sizes, strict=False))
        assert list(ends) == envelope.starts[1:]
        assert min(envelope.chances) >= 1
        assert sum(envelope.chances) == 4096
        entries = every.pieces[table << PIECE_BITS : (table + 1) << PIECE_BITS]
        counts = np.bincount(entries - entries[0])
        assert counts.tolist() == envelope.chances
        assert [every.whose[entries[0] + i] for i in range(len(counts))] == [
            (envelope, i) for i in range(len(counts))
        ]
    assert class_of(LAST).bits == 43
    assert class_of(LAST + 1).bits == 44


@pytest.mark.parametrize("power", [2, 4])
def test_heights_decide_only_what_is_certain(power):
    """At the ends of each piece, for the least and the largest A of its class, in rationals."""
    every = envelopes(power)
    for number, (envelope, piece) in enumerate(every.whose):
        sure, possible = (Fraction(int(of[number]), 2**16) for of in (every.sure, every.last))
        start, size = envelope.starts[piece], envelope.sizes[piece]
        if piece == envelope.tail:
            assert sure == 0
            top = (envelope.most / start**2) ** power
            assert top * envelope.factor(piece) <= possible + Fraction(1, 2**16)
            continue
        least, most = (
            (a / (a + z**2)) ** power * envelope.factor(piece)
            for a, z in ((envelope.least, start + size), (envelope.most, start))
        )
        assert sure <= least
        assert most <= min(1, possible + Fraction(1, 2**16))
        assert least - sure < Fraction(1, 2**15)


def test_nine_attempts_in_ten_need_no_floats():
    """From A = 1024 on: what makes millions of cells fast."""
    every = envelopes(4)
    for table in range(5, 21):
        entries = every.pieces[table << PIECE_BITS : (table + 1) << PIECE_BITS]
        assert every.sure[entries].mean() > 0.86 * 2**16


@pytest.mark.parametrize(
    ("nu", "spread", "cells_of"),
    [
        (7, "25", listed),
        (3, "5000", of_squares),
        (7, "5000", listed),
        (7, "5000", of_squares),
        *first(0, [(3, "0.5", of_squares), (7, "25", of_squares), (3, "0.5", listed)]),
        *first(0, [(7, "1.7", listed), (7, "1.7", of_squares)]),
    ],
)
def test_the_enumerated_attempts_enclose_every_probability(nu, spread, cells_of):
    """Every piece word, side, offset and height of 5 bits, run through the sampler itself.

    Left out are words of pieces that begin beyond 3. Numbers that leave a decision open are
    continued with zeros, then with ones; what both agree on is certain.
    """
    word = 5
    law = Student.of(DiscreteStudent(spread, nu))
    envelope, _, bits = class_and_unit(law)
    shape = (1 << PIECE_BITS, 2, 2 << bits, 1 << word)
    table = class_of(law.step).table << PIECE_BITS
    pieces = envelopes(law.power).pieces[table : table + (1 << PIECE_BITS)]
    near = sum(envelope.chances[: sum(start << bits <= 3 for start in envelope.starts)])
    assert (np.diff(pieces.astype(int)) >= 0).all()  # the nearest pieces have the first words
    axes = np.indices((near, *shape[1:]), dtype=np.uint64)
    chance, side, offset, height = (axis.ravel() for axis in axes)
    first = (chance << np.uint64(16 - PIECE_BITS) | side).astype(np.uint16)
    heights = (height << np.uint64(16 - word)).astype(np.uint16)
    outcomes = []
    for ones in (False, True):
        source = Rigged([first, heights], [offset], ones)
        if ones:  # a geometric number of stretches ends at the first bit that is not 0
            source.integer = lambda bits: (1 << bits) - 1
        else:
            zeros = source.integer
            source.integer = lambda bits, zeros=zeros, nu=nu: 1 if bits == nu else zeros(bits)
        lanes = Lanes.of(cells_of(law, len(first)), np.arange(len(first)))
        values, kept, found = lanes.attempt(source, Certainty(word, 2.0 ** (1 - word)))
        values[list(found)] = list(found.values())
        outcomes.append(np.where(kept, values, 10**6))
    total = np.prod(shape)
    scale = float(Fraction(2**60, envelope.unit)) / (2 * 4096 << bits)
    for value in range(-3, 4):
        lower = int(((outcomes[0] == value) & (outcomes[1] == value)).sum()) / total
        upper = int(((outcomes[0] == value) | (outcomes[1] == value)).sum()) / total
        truth = float(law.at(abs(value))) * scale
        assert lower <= truth <= upper
        piece = bisect_right(envelope.starts, max(value, -1 - value) >> bits) - 1
        assert upper - lower <= 2.0 ** (2 - word) * scale / float(envelope.factor(piece))


@pytest.mark.parametrize(("nu", "spread"), first(1, [(3, "400"), (7, "25")]))
def test_the_slow_path_without_a_table_gives_the_same_law(nu, spread):
    """Words of 8 bits, a margin of 1/128: many comparisons are made exactly, none differently."""
    forced = Certainty(8, 2.0**-7)
    values = discrete_student_each([spread] * 30_000, nu=nu, _certainty=forced)
    assert p_value(values, DiscreteStudent(spread, nu)) > FALSE_ALARM


@pytest.mark.parametrize(("nu", "spread"), first(1, [(3, "400"), (7, "25")]))
def test_comparisons_that_are_all_left_open_give_the_same_law(nu, spread):
    """A margin of 2: floats decide nothing, rationals decide every time."""
    values = discrete_student_each([spread] * 12_000, nu=nu, _certainty=Certainty(8, 2.0))
    assert p_value(values, DiscreteStudent(spread, nu)) > FALSE_ALARM


@pytest.mark.parametrize(("nu", "spread"), first(1, [(7, "400000"), (7, "25"), (3, "25")]))
def test_the_slow_path_with_a_table_gives_the_same_law(nu, spread):
    """Words of 16 bits, a margin of 2^-10: boundary words and residues are settled exactly."""
    forced = Certainty(16, 2.0**-10)
    count = 30_000 if nu == 7 else 9000  # nu = 3 has a longer table, searched from end to end here
    values = discrete_student(spread, count, nu=nu, _certainty=forced)
    assert p_value(values, DiscreteStudent(spread, nu)) > FALSE_ALARM


@pytest.mark.parametrize(("nu", "spread"), first(2, [(3, "900"), (7, "1e30"), (7, "1.7")]))
def test_values_drawn_one_by_one_have_the_same_law(nu, spread):
    """The exact path, which serves blocks wider than 2^48 and whatever a table leaves out."""
    law, source = Student.of(DiscreteStudent(spread, nu)), Replayed(12)
    values = [_draw_one(law, source) for _ in range(4000)]
    scale = max(1, 10**12 if spread == "1e30" else 1)
    coarse = np.array([value // scale for value in values], dtype=np.int64)
    assert p_value(coarse, DiscreteStudent(law.spread / scale**2, nu)) > 1e-5


@pytest.mark.parametrize(("nu", "spread"), first(2, [(7, "25"), (3, "1e6"), (3, "25"), (7, "1e6")]))
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


@pytest.mark.parametrize(("nu", "spread"), first(2, [(3, "1e9"), (7, "25"), (3, "40"), (7, "1e9")]))
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


@pytest.mark.parametrize("spread", first(1, ["2e7", "400"]))
def test_how_many_lie_beyond_the_table_is_what_the_law_says(spread):
    """With nu = 3, in ten million values: about 17."""
    made = buckets(Student.of(DiscreteStudent(spread, 3)))
    start = (made.last + 1) << made.bits
    values = discrete_student(spread, 10**7, nu=3)
    chance = 2 * float(DiscreteStudent(spread, 3).tail(start))
    count = int((np.abs(values) >= start).sum())
    assert stats.binomtest(count, len(values), chance).pvalue > FALSE_ALARM
    assert count > 0


class InTheTail(Replayed):
    """Begins with a piece of ones only, the tail, and a height of zeros only; goes on at random."""

    def __init__(self):
        super().__init__(11)
        self._first = [0xFFFF, 0]

    def words16(self, count):
        """Return the same word everywhere, the first two times."""
        drawn = super().words16(count)
        return np.full_like(drawn, self._first.pop(0)) if self._first else drawn

    def integer(self, bits):
        """Return a number that is 0 where it continues a height: what is drawn is kept."""
        return 0 if bits == 128 - 64 else super().integer(bits)

    def words64(self, count):
        """Return zeros where they continue a height."""
        return super().words64(count) * np.uint64(bool(self._first))


@pytest.mark.parametrize(
    ("spread", "dtype"), [(64, np.int64), (4**49 - 1, object)], ids=["int64", "object"]
)
def test_the_tail_is_drawn_too(spread, dtype):
    """The last chance stands for the first stretch or a later one; Python ints where they must."""
    law = Student.of(DiscreteStudent(spread, 3))
    values, kept, found = Lanes.of(listed(law, 2000), np.arange(2000)).attempt(InTheTail(), CERTAIN)
    assert set(np.flatnonzero(kept).tolist()) == set(found) == set(range(2000))
    envelope, _, bits = class_and_unit(law)
    start = envelope.starts[-1] << bits
    stretches = [((v if v >= 0 else -1 - v) // start).bit_length() for v in found.values()]
    assert min(stretches) == 1
    # Each stretch farther out is an eighth as likely.
    assert stretches.count(1) / len(stretches) == pytest.approx(7 / 8, abs=0.06)
    assert max(stretches) > 2
    drawn = draw_students(listed(law, 2000), InTheTail(), CERTAIN)
    assert drawn.dtype == dtype
    assert max(abs(int(value)) for value in drawn) >= start
    assert values.dtype == np.int64


class Shrunk:
    """Numbers that are uniform below a bound: what is kept of what is hardly ever kept."""

    def __init__(self, top, generator):
        self._top, self._generator = float(top), generator

    def below(self, probability):
        """Return whether such a number is below a probability."""
        return self._generator.random() * self._top < float(probability())


@pytest.mark.parametrize(("nu", "spread"), first(2, [(7, "9e5"), (3, "25"), (3, "1e9")]))
def test_what_is_kept_of_the_tail_has_its_law(nu, spread):
    """Stretches and places in them, against the tails of the law."""
    law = Student.of(DiscreteStudent(spread, nu))
    envelope, first, bits = class_and_unit(law)
    start = envelope.starts[-1] << bits
    top = envelope.factor(envelope.tail) * (law.spread / start**2) ** law.power
    source, uniform = Replayed(4), Shrunk(top, random.Random(4))
    piece = first + envelope.tail
    tried = [_attempt(law, piece, bits, i % 2 == 1, uniform, source) for i in range(4000)]
    values = [abs(value) for value in tried if value is not None]
    assert min(values) >= start
    assert len(values) > 300
    edges = [start * (8 + i) // 8 for i in range(9)] + [start * 3, start * 4, start * 8]
    exact = DiscreteStudent(spread, nu)
    above = np.array([float(exact.tail(edge)) / float(exact.tail(start)) for edge in edges])
    chances = np.append(above[:-1] - above[1:], above[-1])
    counts = np.bincount(np.searchsorted(edges, values, side="right") - 1, minlength=len(chances))
    assert pearson(counts, chances) > 1e-5


@pytest.mark.parametrize("laws", first(1, [160, 400]))
def test_the_chance_to_be_kept_stays_within_lemma_8(laws):
    """Floats against exact rationals: at most 64u, of a margin of 2048u; on all paths."""
    source, worst = random.Random(5), Fraction(0)
    for _ in range(laws):
        law = Student.of(DiscreteStudent(random_spread(source), source.choice([3, 7])))
        every = [Lanes.of(cells_of(law, 1), np.arange(1)) for cells_of in (listed, of_squares)]
        for lanes in every:
            (table, bits) = class_of(int(lanes.steps[0]))
            envelope, first = Envelope.of(table, law.power), table << PIECE_BITS
            for _ in range(8):
                piece = source.randrange(envelope.tail)
                size = envelope.sizes[piece] << bits
                value = (envelope.starts[piece] << bits) + source.randrange(size)
                value = source.choice([value, -1 - value])
                exact = law.at(abs(value)) * envelope.factor(piece)
                number = np.array([int(envelopes(law.power).pieces[first]) + piece])
                words = np.zeros(1, dtype=np.uint64)
                near = Open(lanes, number, np.array([value]), words).near()
                worst = max(worst, abs(Fraction(float(near[0])) - exact))
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


@pytest.mark.parametrize("power", first(2, [48, 49, 47, 50]))
def test_the_widest_int64_law_meets_the_narrowest_wide_one(power):
    """On either side of the change to Python ints the law is the same, with few and with many."""
    spread = Fraction(4) ** power
    wide = Student.of(DiscreteStudent(spread)).is_wide
    assert wide == (power >= 49)
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


def test_attempts_are_nearly_always_kept():
    """Nine in ten from A = 1024 on; below A = 25, which no price allows, a fifth or more."""
    for nu in (3, 7):
        for spread, least in (("1e-9", 0.2), ("25", 0.4), ("65", 0.4), ("1024", 0.9), ("1e6", 0.9)):
            law = Student.of(DiscreteStudent(spread, nu))
            lanes = Lanes.of(listed(law, 20_000), np.arange(20_000))
            kept = lanes.attempt(Replayed(2), CERTAIN)[1]
            assert kept.mean() > least


def test_memory_stays_near_the_size_of_the_output():
    """At its peak a draw holds its output and a few chunks."""
    discrete_student("1e7", 10_000)
    assert memory_for(lambda: discrete_student("1e7", 4_000_000)) < 1.25
