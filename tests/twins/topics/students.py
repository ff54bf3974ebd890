"""Twins of Student noise: its law, what it costs, and how it is drawn."""

from tests.twins.twin import Twin

SAMPLER, TABLES = "noise/students.py", "noise/test_students.py"
SPREADS, CELLS = "noise/spreads.py", "noise/test_spreads.py"
LAW, PRICE = "laws/student.py", "laws/tapering.py"

TWINS = (
    *(
        Twin(name, SAMPLER, old, new, tuple(f"{TABLES}::{test}" for test in tests))
        for name, old, new, *tests in (
            (
                "Student noise has the other of the two powers",
                "return cls(law.spread.numerator, law.spread.denominator, law.power)",
                "return cls(law.spread.numerator, law.spread.denominator, 6 - law.power)",
                "test_many_students_follow_their_law[7-25]",
                "test_students_drawn_a_few_at_a_time_follow_their_law[7-25]",
            ),
            (
                "the spread of Student noise is rounded to a whole number",
                "return cls(law.spread.numerator, law.spread.denominator, law.power)",
                "return cls(max(1, round(law.spread)), 1, law.power)",
                "test_an_attempt_gives_every_integer_its_weight_exactly[4]",
            ),
            (
                "Student noise is wider by a hundredth",
                "return cls(law.spread.numerator, law.spread.denominator, law.power)",
                "return cls(102 * law.spread.numerator, 100 * law.spread.denominator, law.power)",
                "test_many_students_follow_their_law[7-25]",
                "test_an_attempt_gives_every_integer_its_weight_exactly[2]",
            ),
            (
                "floats take the third power of Student weights for the fourth",
                "return squared if power == 2 else squared * squared",
                "return squared if power == 2 else squared * ratio",
                "test_students_drawn_a_few_at_a_time_follow_their_law[7-25]",
                "test_the_chance_to_be_kept_stays_within_lemma_8",
            ),
            (
                "zero is counted twice by Student noise, as +0 and as -0",
                "candidates ^= -(first & np.uint16(1)).astype(np.int64)",
                "candidates *= 1 - 2 * (first & np.uint16(1)).astype(np.int64)",
                "test_students_drawn_a_few_at_a_time_follow_their_law[7-25]",
            ),
            (
                "the sign of Student noise is a bit that the piece has used already",
                "candidates ^= -(first & np.uint16(1)).astype(np.int64)",
                "candidates ^= -(first >> np.uint16(15)).astype(np.int64)",
                "test_students_drawn_a_few_at_a_time_follow_their_law[7-25]",
            ),
            (
                "Student values are kept without regard to the piece's own bound",
                " * envelopes(power).factors.take(self.pieces)",
                "",
                "test_students_drawn_a_few_at_a_time_follow_their_law[3-25]",
                "test_the_chance_to_be_kept_stays_within_lemma_8",
            ),
            (
                "an open comparison of Student noise is settled by another chance",
                "chance = law.at(abs(int(self.candidates[lane]))) * envelope.factor(piece)",
                "chance = law.at(abs(int(self.candidates[lane])))",
                "test_comparisons_that_are_all_left_open_give_the_same_law[3-400]",
            ),
            (
                "Student noise ends at the last piece of its envelope",
                "for lane in np.flatnonzero(every.is_tail.take(self.pieces)).tolist():",
                "for lane in ():",
                "test_the_tail_is_drawn_too[int64]",
            ),
            (
                "the tail of Student noise is cut to its first stretch",
                "doubling = _geometric(law.power, source) if own == envelope.tail else 0",
                "doubling = 0",
                "test_the_tail_is_drawn_too[int64]",
                "test_what_is_kept_of_the_tail_has_its_law[3-25]",
            ),
            (
                "heights that leave a Student value open refuse it",
                "is_open ^= kept",
                "is_open &= False",
                "test_students_drawn_a_few_at_a_time_follow_their_law[7-25]",
            ),
            (
                "stretches of the tail fall off too fast",
                "while not source.integer(2 * power - 1):",
                "while not source.integer(2 * power + 2):",
                "test_the_tail_is_drawn_too[int64]",
                "test_the_tail_beyond_the_table_has_its_law[3-1e9]",
            ),
            (
                "the tail beyond a table of Student noise is cut to one stretch",
                "low = start << _geometric(self.power, source)",
                "low = start",
                "test_the_tail_beyond_the_table_has_its_law[3-1e9]",
            ),
            (
                "a table of Student noise is built on the total of the other law",
                "return 1 / DiscreteStudent(self.spread, 2 * self.power - 1)._mass(0)",
                "return 1 / DiscreteStudent(self.spread, 11 - 2 * self.power)._mass(0)",
                "test_table_boundaries_are_exact_floors[7-25]",
            ),
            (
                "the first value that does not fit an int64 is lost",
                "found[place] = value",
                "found[place] = 0",
                "test_the_tail_is_drawn_too[object]",
                "test_values_beyond_int64_are_python_integers[20]",
            ),
        )
    ),
    *(
        Twin(name, SPREADS, old, new, tuple(f"{CELLS}::{test}" for test in tests))
        for name, old, new, *tests in (
            (
                "A of a cell is computed in single precision",
                "spreads = squares.astype(np.float64)",
                "spreads = squares.astype(np.float32).astype(np.float64)",
                "test_spreads_are_as_near_as_lemma_8_asks",
            ),
            (
                "a square is rounded to a float before its law is made",
                "self.growth * int(self.squares[place])",
                "self.growth * int(float(self.squares[place]))",
                "test_the_law_of_a_cell_is_exact",
            ),
            (
                "the class of a cell is that of A in floats, which may be less than A",
                "steps = (spreads * (1 + SLACK / 2)).view(np.int64)",
                "steps = (spreads * (1 - SLACK / 2)).view(np.int64)",
                "test_every_spread_lies_in_its_class[False]",
                "test_every_spread_lies_in_its_class[True]",
            ),
            (
                "the class of a cell is the one below",
                "steps -= _AT_ONE",
                "steps -= _AT_ONE + 1",
                "test_every_spread_lies_in_its_class[False]",
            ),
            (
                "those who are drawn in vain get the noise of other cells",
                "squares = self.squares[places]",
                "squares = self.squares[: len(places)]",
                "test_cells_that_wait_keep_their_law",
            ),
            (
                "noise of squares has the spread without records twice",
                "spreads += spread",
                "spreads += 2 * spread",
                "test_spreads_are_as_near_as_lemma_8_asks",
                "test_cells_with_squares_have_their_own_law[3]",
            ),
        )
    ),
    *(
        Twin(name, "noise/envelopes.py", old, new, tuple(f"{TABLES}::{test}" for test in tests))
        for name, old, new, *tests in (
            (
                "a piece is bounded by its weight at the far end",
                "(above + below * start**2) ** m)",
                "(above + below * (start + size) ** 2) ** m)",
                "test_an_attempt_gives_every_integer_its_weight_exactly[4]",
                "test_students_drawn_a_few_at_a_time_follow_their_law[7-25]",
            ),
            (
                "heights keep what the nearest value of a piece would be kept by",
                "end = self.starts[piece] + size",
                "end = self.starts[piece]",
                "test_heights_decide_only_what_is_certain[4]",
            ),
            (
                "heights keep by the largest A of a class",
                "above, below, size = self.least.numerator, self.least.denominator",
                "above, below, size = self.most.numerator, self.most.denominator",
                "test_heights_decide_only_what_is_certain[2]",
            ),
            (
                "heights refuse what rounding leaves open",
                "-(-most // (self.chances[piece] * self.unit))",
                "most // (self.chances[piece] * self.unit)",
                "test_heights_decide_only_what_is_certain[4]",
            ),
            (
                "the tail has as many chances as its weight, rounded down",
                "return [*found, _CHANCES - sum(found)]",
                "return [*found, self.weights[-1] // self.unit]",
                "test_envelopes_are_what_the_theory_asks[4]",
            ),
            (
                "a class may not lie below its A at all",
                "return cls(least * (1 - Fraction(SLACK)), most, power)",
                "return cls(least, most, power)",
                "test_envelopes_are_what_the_theory_asks[4]",
            ),
        )
    ),
    Twin(
        "beside many cells without records all have their noise",
        "noise/samplers.py",
        "places=filled, values=values)",
        "places=filled[:0], values=values)",
        (f"{CELLS}::test_many_cells_without_records_are_drawn_beside_the_others[False]",),
    ),
    Twin(
        "many cells without records have the noise of half their spread",
        "noise/samplers.py",
        "table = _table_of_empty(spread, nu, len(squares) - len(filled), _certainty)",
        "table = _table_of_empty(spread / 2, nu, len(squares) - len(filled), _certainty)",
        (f"{CELLS}::test_many_cells_without_records_are_drawn_beside_the_others[False]",),
    ),
    Twin(
        "every cell has the spread of the first",
        "noise/samplers.py",
        "return draw_students(Listed.of(laws, which), _bits or system_bits(), _certainty)",
        "return draw_students(Listed.of(laws, which * 0), _bits or system_bits(), _certainty)",
        ("noise/test_students.py::test_each_cell_has_its_own_spread",),
    ),
    Twin(
        "Student noise of nu = 3 is drawn as nu = 7",
        "noise/samplers.py",
        "return discrete_student(spread, size, nu=nu, _bits=_bits, _certainty=_certainty)",
        "return discrete_student(spread, size, _bits=_bits, _certainty=_certainty)",
        ("noise/test_students.py::test_a_law_is_drawn_by_itself",),
    ),
    *(
        Twin(name, "laws/student_sums.py", old, new, tuple(f"laws/{test}" for test in tests))
        for name, old, new, *tests in (
            (
                "near tails of the Student law start one too late",
                "shifted = acb(arb(start), -a)",
                "shifted = acb(arb(start + 1), -a)",
                "test_student.py::test_tails_masses_and_the_variance_hold_the_plain_sums[spread3-7]",
            ),
            (
                "far tails of the Student law forget the spread",
                "total, scale, order = total + term, -scale * ball(spread), order + 1",
                "total, scale, order = total + term, scale * 0, order + 1",
                "test_student.py::test_far_tails_lie_between_their_integrals[1000-spread0-7]",
            ),
        )
    ),
    Twin(
        "the variance of the Student law is larger than it is",
        LAW,
        "return 2 * (less - ball(self.spread) * same) / self._total()",
        "return 2 * less / self._total()",
        (
            "laws/test_student.py::test_tails_masses_and_the_variance_hold_the_plain_sums[spread3-7]",
        ),
    ),
    Twin(
        "Student noise of less than five steps has a price",
        LAW,
        "if self.spread < NARROWEST:",
        "if self.spread < 1:",
        ("laws/test_student.py::test_a_loss_in_rho_needs_five_steps",),
    ),
    *(
        Twin(name, PRICE, old, new, tuple(f"laws/{test}" for test in tests))
        for name, old, new, *tests in (
            (
                "tapering with nu off by one or two",
                "_POWERS = {3: 2, 7: 4}",
                "_POWERS = {3: 2, 7: 3}",
                "test_tapering.py::test_prices_are_rounded_up_by_less_than_one_part_in_two_to_the_90",
            ),
            (
                "what the integers add to a tapered loss is dropped",
                "ON_INTEGERS = 1 + Fraction(1, 1 << 26)",
                "ON_INTEGERS = Fraction(1)",
                "test_tapering.py::test_the_first_factor_covers_the_integers_from_five_steps_on",
            ),
            (
                "A is taken as a standard deviation",
                "return _rounded_up(price, size**2 / (4 * exact), power_of(nu))",
                "return _rounded_up(price, size**2 / (4 * exact**2), power_of(nu))",
                "test_tapering.py::test_no_divergence_exceeds_alpha_times_the_price[1-25-7]",
            ),
            (
                "A is taken as a variance",
                "return _rounded_up(price, size**2 / (4 * exact), power_of(nu))",
                "return _rounded_up(price, size**2 / (20 * exact), power_of(nu))",
                "test_tapering.py::test_no_divergence_exceeds_alpha_times_the_price[1-25-7]",
            ),
            (
                "a tapered loss is rounded down",
                "return enclose(lambda: price(x, power), _BITS).upper if x else Fraction(0)",
                "return enclose(lambda: price(x, power), _BITS).lower if x else Fraction(0)",
                "test_tapering.py::test_prices_are_rounded_up_by_less_than_one_part_in_two_to_the_90",
            ),
            (
                "the least spread is rounded down",
                "return high * unit",
                "return low * unit",
                "test_tapering.py::test_the_least_spread_serves_and_one_step_less_does_not",
            ),
            (
                "a tapered epsilon is that of one side",
                "return 2 * power * ball(x).sqrt().asinh()",
                "return power * ball(x).sqrt().asinh()",
                "test_tapering.py::test_no_divergence_exceeds_alpha_times_the_price[30-100-7]",
            ),
            (
                "nu = 7 is priced without its polynomial",
                "    if power == 2:\n        return growth",
                "    if power >= 2:\n        return growth",
                "test_tapering.py::test_no_divergence_exceeds_alpha_times_the_price[1-25-7]",
            ),
        )
    ),
    Twin(
        "Student noise forgets the resolution",
        "laws/scales.py",
        "return DiscreteStudent(self.size / step**2, self.nu)",
        "return DiscreteStudent(self.size / step, self.nu)",
        ("laws/test_scales.py::test_a_scale_gives_its_law_on_a_grid[student7]",),
    ),
    Twin(
        "Student noise is let through on a grid that is too coarse",
        "laws/scales.py",
        "if self.size < NARROWEST * step**2:",
        "if self.size < step**2:",
        ("laws/test_scales.py::test_a_grid_that_is_too_coarse_is_refused",),
    ),
)
