"""Cells whose spread grows with a square: are they drawn as their exact laws, each its own?

Statistical tests: false-alarm rate 1e-7 an assertion (`checks.FALSE_ALARM`).
"""

import random
from fractions import Fraction

import numpy as np
import pytest

from perrecord.laws import DiscreteStudent
from perrecord.noise import discrete_student_each, student_of_squares
from perrecord.noise.envelopes import LAST, STEPS, Envelope, class_of
from perrecord.noise.spreads import Listed, Squares
from perrecord.noise.students import Student, draw_students
from perrecord.noise.uniform import Certainty
from tests import first
from tests.noise.checks import FALSE_ALARM, Replayed, p_value

SPREAD, GROWTH = Fraction(100, 3), Fraction(7, 100)


def exact_law(square, power=4, spread=SPREAD, growth=GROWTH):
    """Return the law of a square, from its definition."""
    whole = spread + growth * square
    return Student(whole.numerator, whole.denominator, power)


def random_cells(source, *, is_wide):
    """Return a spread, a growth and squares on either side of where blocks become wider."""
    spread = Fraction(source.randint(1, 10**9), source.randint(1, 10**6))
    growth = Fraction(source.randint(1, 10**6), source.randint(1, 10**8))
    squares = [0, 1, 2**53 + 1, 2**62 - 1]
    for step in range(LAST + 8):
        seam = Fraction(2) ** (step // STEPS) * (1 + Fraction(step % STEPS, STEPS))
        squares += [int((seam - spread) // growth) + more for more in (-1, 0, 1)]
    kept = [each for each in squares if each >= 0 and (is_wide or each < 2**62)]
    return spread, growth, np.array(kept, dtype=np.object_ if is_wide else np.int64)


@pytest.mark.parametrize("is_wide", [False, True])
def test_every_spread_lies_in_its_class(is_wide):
    """On both sides of every seam, in int64 and in Python ints; beyond the last step all are wide.

    The pieces of a class bound the weights of every A up to its end, so none may lie beyond.
    """
    source = random.Random(1)
    for _ in range(8):
        spread, growth, squares = random_cells(source, is_wide=is_wide)
        steps, _ = Squares(spread, growth, squares, 4).columns(np.arange(len(squares)))
        for square, step in zip(squares.tolist(), steps.tolist(), strict=True):
            exact, law = spread + growth * square, exact_law(square, 4, spread, growth)
            if step > LAST:
                assert law.step >= LAST
                continue
            table, bits = class_of(step)
            envelope = Envelope.of(table, 4)
            assert envelope.least * 4**bits <= exact <= envelope.most * 4**bits
            assert step - law.step in (0, 1)


@pytest.mark.parametrize("rounds", first(1, [2, 4]))
def test_spreads_are_as_near_as_lemma_8_asks(rounds):
    """Floats against rationals: A within 6u of itself, for squares of every size."""
    source, worst = random.Random(2), Fraction(0)
    for is_wide in (False, True) * rounds:
        spread, growth, squares = random_cells(source, is_wide=is_wide)
        steps, spreads = Squares(spread, growth, squares, 4).columns(np.arange(len(squares)))
        for square, near in zip(squares[steps <= LAST], spreads[steps <= LAST], strict=True):
            off = abs(Fraction(float(near)) / (spread + growth * int(square)) - 1)
            worst = max(worst, off)
    assert Fraction(1, 2) < worst * 2**53 < 6


def test_the_law_of_a_cell_is_exact():
    """What settles open comparisons has every digit of the square."""
    squares = np.array([0, 5, 2**53 + 1, 2**62 - 1])
    cells = Squares(SPREAD, GROWTH, squares, 4)
    for place, square in enumerate(squares.tolist()):
        assert cells[place].spread == SPREAD + GROWTH * square
        assert cells[place].power == 4


@pytest.mark.parametrize("nu", first(1, [7, 3]))
@pytest.mark.parametrize(
    ("spread", "growth", "most"),
    [
        (SPREAD, GROWTH, 10**16),
        (Fraction(25), Fraction(7), 2**62 - 1),
        (SPREAD, GROWTH, 10**33),
        (Fraction(1, 10**6), Fraction(1, 10**300), 10**9),
        (Fraction(10**40), Fraction(10**40), 3),
    ],
    ids=["narrow", "int64", "wide", "tiny", "huge"],
)
def test_squares_are_drawn_as_a_list_of_laws(nu, spread, growth, most):
    """From the same bits the same values, in as many cells as wait for one another."""
    source, count = random.Random(3), 70_000 if most == 10**16 else 300
    squares = [0, 5, 5, *(source.randint(0, most) for _ in range(count))]
    kind = np.int64 if most < 2**62 else np.object_
    power = (nu + 1) // 2
    laws = [exact_law(each, power, spread, growth) for each in squares]
    one = draw_students(Listed.of(laws, np.arange(len(laws))), Replayed(3))
    array = np.array(squares, dtype=kind)
    two = draw_students(Squares(spread, growth, array, power), Replayed(3))
    assert one.tolist() == two.tolist()
    assert one.dtype == two.dtype
    three = student_of_squares(spread, growth, array, nu=nu, _bits=Replayed(3))
    assert three.tolist() == two.tolist()


def test_cells_that_wait_keep_their_law():
    """Among 200,000 cells that take turns in the lanes, each has its own spread."""
    squares = np.array([1, 10**12] * 100_000)
    values = student_of_squares(SPREAD, GROWTH, squares)
    for start in (0, 1):
        law = DiscreteStudent(SPREAD + GROWTH * int(squares[start]))
        assert p_value(values[start::2], law) > FALSE_ALARM


@pytest.mark.parametrize("nu", first(1, [3, 7]))
def test_cells_with_squares_have_their_own_law(nu):
    """A quarter of a million values of one square: chi-square, tails, zeros and remainders."""
    for square in (3, 10**5, 10**15 + 1):
        values = student_of_squares(SPREAD, GROWTH, np.full(250_000, square), nu=nu)
        assert p_value(values, DiscreteStudent(SPREAD + GROWTH * square, nu)) > FALSE_ALARM


@pytest.mark.parametrize("certainty", [Certainty(8, 2.0**-7), Certainty(8, 2.0)], ids=["8", "open"])
def test_open_comparisons_of_squares_give_the_same_law(certainty):
    """Words of 8 bits, a margin of 1/128 or of 2: exact laws of cells decide."""
    values = student_of_squares(SPREAD, GROWTH, np.full(12_000, 4000), _certainty=certainty)
    assert p_value(values, DiscreteStudent(SPREAD + GROWTH * 4000)) > FALSE_ALARM


@pytest.mark.parametrize("is_wide", [False, True])
def test_many_cells_without_records_are_drawn_beside_the_others(is_wide):
    """They have a table, the others their own laws; Python ints where one cell needs them."""
    squares = np.array([0, 10**12, 0] * 100_000)
    if is_wide:
        squares = np.append(squares, np.array([10**60], dtype=np.object_))
    values = student_of_squares(SPREAD, GROWTH, squares)
    assert values.dtype == (np.object_ if is_wide else np.int64)
    if is_wide:
        assert abs(values[-1]) > 10**20
        values = values[:-1].astype(np.int64)
    with_records = DiscreteStudent(SPREAD + GROWTH * 10**12)
    assert p_value(values[1::3], with_records) > FALSE_ALARM
    for start in (0, 2):
        assert p_value(values[start::3], DiscreteStudent(SPREAD)) > FALSE_ALARM


def test_many_different_spreads_are_drawn_as_one_by_one():
    """A law for each square, from the same bits as the sampler of single spreads takes."""
    squares = [0, 5, 10**12, 5, 10**30]
    spreads = [SPREAD + GROWTH * each for each in squares]
    one = discrete_student_each(spreads, _bits=Replayed(3))
    two = student_of_squares(SPREAD, GROWTH, np.array(squares, object), _bits=Replayed(3))
    assert one.tolist() == two.tolist()


def test_no_cells_give_no_values():
    """Of squares and of lists."""
    assert len(student_of_squares(SPREAD, GROWTH, np.empty(0, np.int64))) == 0
    assert len(discrete_student_each([])) == 0
