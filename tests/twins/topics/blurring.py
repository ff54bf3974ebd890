"""Twins of blurred totals: what they cost, what changes and units cost, what comparisons take."""

from tests.twins.twin import Twin

LAW, LAWS = "laws/blurring.py", "laws/test_blurring.py"
POLICY, TESTS = "policy/blurring.py", "policy/test_blurring.py"
OUTPUTS, SCALE = "policy/outputs.py", "release/test_public_scale.py"

TWINS = (
    Twin(
        "what the integers add to wider noise is left out",
        LAW,
        "NORMALISER = Fraction(1, 1 << 26)",
        "NORMALISER = Fraction(0)",
        (
            f"{LAWS}::test_the_integers_add_to_the_log_ratio_of_wider_noise[3]",
            f"{LAWS}::test_the_integers_add_to_the_log_ratio_of_wider_noise[7]",
        ),
    ),
    Twin(
        "a blurred loss prices the shift and forgets the wider noise",
        LAW,
        "apart = shifted + widened + 2 * sqrt_up(shifted * widened)",
        "apart = shifted",
        (f"{LAWS}::test_sizes_of_nine_orders_of_magnitude[0.1-7]",),
    ),
    Twin(
        "the costs of a shift and of wider noise are added, and not their roots",
        LAW,
        "apart = shifted + widened + 2 * sqrt_up(shifted * widened)",
        "apart = shifted + widened",
        (f"{LAWS}::test_prices_are_those_of_the_formula",),
    ),
    Twin(
        "wider noise is compared with the larger of both spreads",
        LAW,
        "more = (move.larger - move.lesser) / move.lesser",
        "more = (move.larger - move.lesser) / move.larger",
        (
            f"{LAWS}::test_prices_are_those_of_the_formula",
            f"{LAWS}::test_the_integers_add_to_the_log_ratio_of_wider_noise[7]",
        ),
    ),
    Twin(
        "the distance of two laws is that of the larger spread to itself",
        LAW,
        "lesser, larger = ball(move.lesser).sqrt(), ball(move.larger).sqrt()",
        "lesser, larger = ball(move.larger).sqrt(), ball(move.larger).sqrt()",
        (f"{LAWS}::test_sizes_of_nine_orders_of_magnitude[0.1-7]",),
    ),
    Twin(
        "records add their share to A, and not its square",
        LAW,
        "exact + nu * times**2 * each",
        "exact + nu * times * each",
        (f"{LAWS}::test_prices_are_those_of_the_formula", f"{LAWS}::test_the_figures_of_a_tenth"),
    ),
    Twin(
        "a change of a blurred total is priced as a record of the difference",
        OUTPUTS,
        "amount = growth.between(abs(net), before, after)",
        "amount = growth.loss(abs(net)).amount",
        (f"{TESTS}::test_changes_and_units_by_hand",),
    ),
    Twin(
        "a change under a policy of blurred totals is priced as a record of the difference",
        "policy/terms.py",
        "cost += growth.change(before, after).amount * amount",
        "cost += growth.loss(abs(after - before)).amount * amount",
        (f"{TESTS}::test_a_tenth_more_costs_as_much_however_large",),
    ),
    Twin(
        "records of a unit widen noise by their net value",
        OUTPUTS,
        "(shift**2 for side, shift in shifts if side == own), Fraction(0)) for",
        "(shift for side, shift in shifts if side == own), Fraction(0)) ** 2 for",
        (f"{TESTS}::test_changes_and_units_by_hand",),
    ),
    Twin(
        "records that may be left out of a blurred total are taken to be in it",
        OUTPUTS,
        "    if not is_sure:\n        losses = [growth",
        "    if not shifts:\n        losses = [growth",
        (f"{TESTS}::test_records_that_may_be_left_out_are_charged_one_by_one",),
    ),
    Twin(
        "a blurred loss grows no faster than squares",
        POLICY,
        "return _at_corner(self, size)",
        "return self.loss(size).amount",
        (
            f"{TESTS}::test_losses_rise_a_little_faster_than_squares_at_first",
            f"{TESTS}::test_what_comparisons_rest_on[blurred-0.2-7]",
        ),
    ),
    Twin(
        "the steepest rise of a blurred loss is that of a tapered one",
        POLICY,
        "return (shift + power_of(self.nu) ** 2 * self.nu * self.by**2 / 8) / self.spread",
        "return shift / self.spread",
        (f"{TESTS}::test_what_comparisons_rest_on[blurred-0.2-7]",),
    ),
    Twin(
        "a blur pays for one of another share",
        POLICY,
        "(other.by, other.nu) != (self.by, self.nu)",
        "other.nu != self.nu",
        (f"{TESTS}::test_narrower_blurs_pay_for_wider_ones_alone",),
    ),
    Twin(
        "a wide blur pays for a narrow one",
        POLICY,
        "return Fraction(1) if other.spread >= self.spread else None",
        "return Fraction(1)",
        (f"{TESTS}::test_narrower_blurs_pay_for_wider_ones_alone",),
    ),
    Twin(
        "columns forget what wider noise costs",
        POLICY,
        "np.sqrt(tapered_floats(ratios, self.nu)) + np.sqrt(widened)",
        "np.sqrt(tapered_floats(ratios, self.nu))",
        (f"{TESTS}::test_floats_of_the_widening_are_found_near_and_far",),
    ),
    Twin(
        "an estimate forgets the noise that a record adds to its own total",
        "release/noise.py",
        "return self.variance + Fraction(nu, nu - 2) * self.by**2 * value**2",
        "return self.variance",
        (f"{TESTS}::test_the_noise_beside_a_record_grows_with_it",),
    ),
    Twin(
        "the audit of blurred losses forgets the wider noise",
        "lab/audit/blurred.py",
        "legs = _ball(shifted).sqrt() + _ball(widened).sqrt()",
        "legs = _ball(shifted).sqrt()",
        ("lab/audit/test_blurred.py::test_losses_and_changes_by_the_file_alone[Currency.RHO]",),
    ),
    Twin(
        "documents state more noise than a cell of a public size has",
        "release/stated.py",
        "(key, replace(least, spread=scale.size + more))",
        "(key, replace(least, spread=scale.size + 2 * more))",
        (f"{SCALE}::test_documents_state_the_noise_of_each_cell",),
    ),
    Twin(
        "a record that names no cell is given the noise of a large one",
        "release/noise.py",
        "                found = found.default",
        "                found = next(iter(found.values()))",
        (f"{SCALE}::test_a_record_that_names_no_cell_is_taken_to_have_the_least_noise",),
    ),
    Twin(
        "noise that is narrower elsewhere stands for a record that names no cell",
        "release/noise.py",
        "        and each.spread >= least.spread\n",
        "",
        (f"{SCALE}::test_a_record_must_name_its_cell_where_others_have_less_noise",),
    ),
    Twin(
        "the audit does not ask what blurred noise grows with",
        "lab/audit/replay/workloads.py",
        "if (changes[:, record] != expected).any():",
        "if False and (changes[:, record] != expected).any():",
        ("lab/audit/test_replay_blurred.py::test_noise_of_the_wrong_squares_is_noticed",),
    ),
    Twin(
        "the audit by samples compares a change with what a presence costs",
        "lab/audit/sample/case.py",
        "return policy.change(*both, of_totals=True)",
        "return sum((policy.loss(each) for each in both), start=Fraction(0))",
        (
            "lab/audit/sample/test_blurred.py::test_a_giant_that_changes_by_a_tenth_loses_what_is_said"
            "[total, blurred, a record of 10,000 or 10 % more]",
        ),
    ),
)
