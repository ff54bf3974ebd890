"""Twins of tapered answers: their losses, their noise, their documents."""

from tests.twins.twin import Twin

POLICY, TESTS = "policy/tapering.py", "policy/test_tapering.py"
METHOD = "queries/methods/tapering.py"

TWINS = (
    Twin(
        "the spread of a tapered loss is taken for a standard deviation",
        POLICY,
        "return tapered_rho(size, self.spread, self.nu)",
        "return tapered_rho(size, self.spread**2, self.nu)",
        (f"{TESTS}::test_a_record_of_the_given_size_loses_the_amount",),
    ),
    Twin(
        "words of a taper speak by another size than was written",
        POLICY,
        "return (self.at or round_size(self.spread),)",
        "return (round_size(self.spread),)",
        (f"{TESTS}::test_words_name_the_size_that_was_written",),
    ),
    Twin(
        "an answer forgets the size that it is tapered at",
        METHOD,
        'self.growth_of(cell.size, self.taper.size(measure or ""), currency)',
        "self.growth_of(cell.size, cell.size, currency)",
        ("queries/test_tapering.py::test_words_name_the_size_of_the_answers_own_measure",),
    ),
    Twin(
        "a wide taper pays for a narrow one",
        POLICY,
        "return min(Fraction(1), other.spread / self.spread)",
        "return Fraction(1)",
        (f"{TESTS}::test_a_narrower_taper_is_paid_for_by_several_wider",),
    ),
    Twin(
        "losses of columns are rounded as floats are",
        POLICY,
        "(2 * math.sqrt(self.spread))) * FLOAT_SLACK",
        "(2 * math.sqrt(self.spread))) / FLOAT_SLACK",
        (f"{TESTS}::test_columns_are_never_below_the_loss",),
    ),
    Twin(
        "columns leave out what the integers add to a tapered loss",
        POLICY,
        "4 * float(ON_INTEGERS) * logs",
        "4 * logs",
        (f"{TESTS}::test_columns_are_never_below_the_loss",),
    ),
    Twin(
        "losses of columns overflow where a record is large beside the noise",
        POLICY,
        "(2 - near) * (1 + near + 0.8 * near**2)",
        "(1 + 2 * ratios**2) * (2.8 + 3 * ratios**2 + ratios**4) * near**3",
        (f"{TESTS}::test_columns_are_never_below_the_loss",),
    ),
    Twin(
        "SQL leaves out what the integers add to a tapered loss",
        POLICY,
        'f"{4 * float(ON_INTEGERS)!r} * asinh({b})',
        'f"4 * asinh({b})',
        (f"{TESTS}::test_sql_and_latex_and_columns_say_what_the_loss_is",),
    ),
    Twin(
        "LaTeX leaves out what the integers add to a tapered loss",
        POLICY,
        'rf"(1 + 2^{{-26}})\\, 4 a',
        'rf"4 a',
        (f"{TESTS}::test_sql_and_latex_and_columns_say_what_the_loss_is",),
    ),
    Twin(
        "noise of any width is taken from a document",
        "laws/scales.py",
        "    scale.check_grid(step)\n    return scale\n",
        "    return scale\n",
        ("laws/test_scales.py::test_noise_too_narrow_for_its_loss_comes_through_no_door",),
    ),
    Twin(
        "a published policy may have noise too narrow for its measure",
        "release/document.py",
        "term.growth.check_grid(steps[term.measure] or Fraction(0))",
        "term.growth.check_grid(Fraction(0))",
        ("laws/test_scales.py::test_a_published_policy_has_no_noise_too_narrow_for_its_measure",),
    ),
    Twin(
        "a document of version 1 may hold tapered terms",
        "policy/reading.py",
        'if top["version"] < VERSIONS[-1] and has_growth(form):',
        'if top["version"] < VERSIONS[0] and has_growth(form):',
        (f"{TESTS}::test_a_document_of_version_1_holds_no_tapered_terms",),
    ),
    Twin(
        "a taper named like a size is declared",
        "release/spec/schemes.py",
        "            if not is_name(name):\n",
        "            if not name:\n",
        ("release/test_spec_mistakes.py::test_a_mistake_is_shown_at_its_place",),
    ),
    Twin(
        "a document with tapered terms says that it has none",
        "policy/document.py",
        "VERSIONS[has_growth(form)]",
        "VERSIONS[0]",
        (f"{TESTS}::test_documents_are_of_version_2_and_keep_everything",),
    ),
    Twin(
        "the noise of a taper has another nu than its price",
        METHOD,
        "return student_scale(growth.spread, self.taper.nu)",
        "return student_scale(growth.spread, 10 - self.taper.nu)",
        ("queries/test_tapering.py::test_the_noise_that_is_drawn_is_what_the_policy_prices",),
    ),
    Twin(
        "a tapered answer is priced by what was asked, not by its cell's noise",
        METHOD,
        'growth = self.growth_of(cell.size, self.taper.size(measure or ""), currency)',
        "growth = self.growth(self.amount, self.sensitivity(measure), currency)",
        ("queries/test_tapering.py::test_parts_that_share_a_cell_share_the_widest_taper",),
    ),
    Twin(
        "tapered noise of any width is let through",
        "queries/measurements.py",
        "            self.scale(method, currency).check_grid(step)\n",
        "            self.scale(method, currency)\n",
        ("queries/test_tapering.py::test_what_cannot_be_tapered_is_refused",),
    ),
    Twin(
        "cells are kept by noise of any law",
        "queries/check.py",
        "if not kept.tree.method.is_gaussian:",
        "if kept.tree.method is None:",
        ("mechanisms/test_methods_and_cells.py::test_a_total_is_answered_or_refused_in_words",),
    ),
    Twin(
        "a realised tapered loss takes sqrt A for 2 sqrt A",
        "evaluate/losses/changes.py",
        "return step / (2 * sqrt_up(scale.size))",
        "return step / sqrt_up(scale.size)",
        (
            "evaluate/losses/test_realised.py"
            "::test_tapered_answers_cost_a_unit_its_net_change_in_each_cell",
        ),
    ),
)
