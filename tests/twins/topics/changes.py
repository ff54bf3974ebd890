"""Twins of rounded losses, of what a change costs and of what a unit loses (T26, T27, T34, T38)."""

from tests.twins.twin import Twin

TWINS = (
    *(
        Twin(name, "policy/loss.py", old, new, (f"policy/test_loss.py::{test}",))
        for name, old, new, test in (
            (
                "a loss is compared with a limit that was rounded up",
                "return self.amount <= (other.least if isinstance(other, Loss) else other)",
                "return self.amount <= (other.amount if isinstance(other, Loss) else other)",
                "test_a_rounded_limit_is_no_proof",
            ),
            (
                "a loss that was rounded up counts as above its like",
                "return self.least > (other.amount if isinstance(other, Loss) else other)",
                "return self.amount > (other.least if isinstance(other, Loss) else other)",
                "test_a_rounded_limit_is_no_proof",
            ),
            (
                "a sum with a rounded loss calls itself exact",
                "self.amount + other.amount, self.is_exact and other.is_exact",
                "self.amount + other.amount, self.is_exact or other.is_exact",
                "test_sums_and_multiples_are_exact_only_if_all_is",
            ),
        )
    ),
    Twin(
        "floats hide records that exceed by less than half",
        "policy/tightest.py",
        "(sides[0] * _SLACK < sides[1])",
        "(sides[0] / 2 < sides[1])",
        ("policy/test_excess.py::test_floats_hide_no_record",),
    ),
    Twin(
        "the loss of a range is rounded down",
        "laws/bounded_range.py",
        "return Enclosure(found.lower, min(found.upper, square, eta))",
        "return Enclosure(found.lower, found.lower)",
        ("laws/test_bounded_range.py::test_it_encloses_the_truth_to_one_part_in_two_to_the_96",),
    ),
    Twin(
        "the loss of a range is that of half of it, twice",
        "laws/bounded_range.py",
        "found = enclose(lambda: _f(eta), bits=_BITS)",
        "found = enclose(lambda: 2 * _f(eta / 2), bits=_BITS)",
        (
            "laws/test_bounded_range.py::test_it_is_attained_as_alpha_falls_to_one",
            "laws/test_bounded_range.py::test_no_law_within_the_range_costs_more",
            "policy/test_changes.py::test_the_worked_number_of_the_theory",
        ),
    ),
    *(
        Twin(name, file, old, new, (f"policy/test_growth.py::{test}",))
        for name, file, old, new, test in (
            (
                "growths are left out of the walk over corners",
                "policy/corners.py",
                "if any(isinstance(basis, SizeOf) for basis in (*left, *right)):",
                "if any(isinstance(basis, SizeOf) for basis in ()):",
                "test_corners_take_constants_together_with_a_growth",
            ),
            (
                "pieces pay for a growth by half their threshold",
                "policy/cover.py",
                "most = growth.at_corner(split.threshold(measure))",
                "most = growth.at_corner(split.threshold(measure) / 2)",
                "test_a_corner_decides_against_pieces",
            ),
            (
                "a growth without limit is below a constant",
                "policy/cover.py",
                "most = growth.limit()",
                "most = growth.loss(Fraction(1)).amount",
                "test_a_bounded_growth_is_below_its_limit_and_others_below_no_constant",
            ),
            (
                "a record exceeds by rounding alone",
                "policy/excess.py",
                "else loss.is_above(limit)",
                "else loss.amount > limit.amount",
                "test_an_excess_is_one_beyond_all_rounding",
            ),
            (
                "a growing loss that is irrational is called exact",
                "policy/loss.py",
                "self.is_exact or not factor",
                "True",
                "test_losses_say_whether_they_are_exact",
            ),
        )
    ),
    *(
        Twin(
            name,
            "policy/outputs.py",
            old,
            new,
            tuple(f"policy/test_changes.py::{t}" for t in tests),
        )
        for name, old, new, *tests in (
            (
                "a unit loses what its largest record does",
                "return abs(sum(shifts, Fraction(0)))",
                "return max(map(abs, shifts))",
                "test_noisy_numbers_cost_what_their_laws_say",
            ),
            (
                "a record that a filter may shut out is taken to be there",
                "return max(up, up - sum(shifts, Fraction(0)))",
                "return abs(sum(shifts, Fraction(0)))",
                "test_noisy_numbers_cost_what_their_laws_say",
            ),
            (
                "a filter that only the scope knows of is forgotten",
                "return self.noise.is_certain and self.scope.is_certain",
                "return self.noise.is_certain",
                "test_a_filter_is_unknown_if_either_statement_says_so",
            ),
            (
                "distinct values that appear make up for others that go",
                "return Fraction(max(len(added - taken), len(taken - added)))",
                "return Fraction(abs(len(added) - len(taken)))",
                "test_noisy_numbers_cost_what_their_laws_say",
            ),
            (
                "a filter that is not known takes no distinct value away",
                "if not self.scope.is_certain:\n            return Fraction(max",
                "if False:\n            return Fraction(max",
                "test_a_filter_that_dimensions_do_not_show_may_take_distinct_firms_away",
            ),
            (
                "pieces of different keys make up for each other",
                "return Loss(self.slot.rho * sum(change**2 for change in changes))",
                "return Loss(self.slot.rho * sum(changes) ** 2)",
                "test_selections_cost_what_their_laws_say",
            ),
            (
                "a key that is new on one side shows nobody",
                "any_of(self.slot.delta(added) for added, _ in sides if added),",
                "any_of(self.slot.delta(added) for added, _ in sides if added > 99),",
                "test_selections_cost_what_their_laws_say",
            ),
            (
                "records replaced in a mechanism on rows cost what each does",
                "amount = self.policy.group_loss([record for _, record in records])",
                "amount = sum((loss.amount for loss in losses), Fraction(0))",
                "test_mechanisms_on_rows_cost_what_t20_says_in_each_cell",
            ),
        )
    ),
    *(
        Twin(
            name,
            "policy/choices.py",
            old,
            new,
            tuple(f"policy/test_changes.py::{t}" for t in tests),
        )
        for name, old, new, *tests in (
            (
                "scores of a quantile are taken to move one way",
                "up - down\n",
                "max(up, -down)\n",
                "test_quantiles_cost_no_more_than_is_said_whatever_the_others_are",
                "test_the_worked_number_of_the_theory",
            ),
            (
                "a value replaced costs a quantile no more than one that leaves",
                "distance = self._widest(present)",
                "distance = max((self._widest([each]) for each in present), default=Fraction(0))",
                "test_quantiles_cost_no_more_than_is_said_whatever_the_others_are",
                "test_the_worked_number_of_the_theory",
            ),
            (
                "a record that may be left out of a quantile is taken to be there",
                "if self.scope.is_certain:\n            distance",
                "if True:\n            distance",
                "test_records_that_may_be_left_out_of_a_quantile_cost_each_its_own_range",
            ),
        )
    ),
    *(
        Twin(
            name, "policy/scopes.py", old, new, tuple(f"policy/test_changes.py::{t}" for t in tests)
        )
        for name, old, new, *tests in (
            (
                "measures that cells go by share one cell",
                "        return int(value)\n    return dimension(record, name)",
                "        return 0\n    return dimension(record, name)",
                "test_cells_may_go_by_a_measure_of_whole_numbers",
            ),
            (
                "a record that moves to another cell counts as one that stays",
                "cell = tuple((type(value), value) for value in values)",
                "cell = tuple(() for value in values)",
                "test_noisy_numbers_cost_what_their_laws_say",
                "test_selections_cost_what_their_laws_say",
            ),
        )
    ),
    *(
        Twin(name, "policy/outputs.py", old, new, (f"policy/test_changes.py::{test}",))
        for name, old, new, test in (
            (
                "a record that lacks a measure moves no total",
                "if self.noise.measure is not None and self.noise.measure not in record:",
                "if False:",
                "test_a_record_without_a_measure_that_is_added_up_is_refused",
            ),
        )
    ),
    *(
        Twin(name, "release/outputs.py", old, new, (f"release/{test}",))
        for name, old, new, test in (
            (
                "the cells of a workload are taken for one",
                "return Scope(grouping.grouping.columns, found.is_whole, among)",
                "return Scope((), found.is_whole, among)",
                "test_outputs.py::test_no_change_costs_more_than_the_outputs_say",
            ),
            (
                "every filter of a workload is taken for one that dimensions show",
                "return Scope(grouping.grouping.columns, found.is_whole, among)",
                "return Scope(grouping.grouping.columns, True, among)",
                "test_changes.py::test_a_filter_that_dimensions_do_not_show_may_take_a_record_away",
            ),
            (
                "the selections of a workload cost a change nothing",
                "if not isinstance(cells, SelectKeys):",
                "if True:",
                "test_outputs.py::test_no_change_costs_more_than_the_outputs_say",
            ),
            (
                "of an average only the total is priced for a change",
                "for step in answer.steps\n",
                "for step in answer.steps[:1]\n",
                "test_outputs.py::test_no_change_costs_more_than_the_outputs_say",
            ),
            (
                "the quantiles of a workload cost a change nothing",
                "            yield ChosenCandidate(*facts, scope, currency, step.weight)",
                "            yield from [ChosenCandidate(*facts, scope, currency)][:0]",
                "test_outputs.py::test_no_change_costs_more_than_the_outputs_say",
            ),
            (
                "different values are counted by no column",
                "distinct = aggregate.column if isinstance(aggregate, Different) else None",
                "distinct = None if isinstance(aggregate, Different) else None",
                "test_outputs.py::test_the_outputs_are_as_many_as_the_steps",
            ),
        )
    ),
    *(
        Twin(name, file, old, new, (f"release/test_published_changes.py::{test}",))
        for name, file, old, new, test in (
            (
                "a change is priced as presence",
                "release/charges.py",
                "[change_loss([output], [before], [after]) for before, after in pairs]",
                "[change_loss([output], [before], []) for before, after in pairs]",
                "test_each_kind_of_answer_by_hand",
            ),
            (
                "a change adds both records",
                "policy/changes.py",
                "return [*added, *((-1, as_record(record)) for record in several(before))]",
                "return [*added, *((1, as_record(record)) for record in several(before))]",
                "test_each_kind_of_answer_by_hand",
            ),
            (
                "so many percent of the greater value",
                "release/changes.py",
                "Fraction(100 + percent, 100)",
                "Fraction(100, 100 - percent)",
                "test_a_greater_value_is_at_least_so_many_percent_of_the_value_greater",
            ),
            (
                "a greater value is rounded down to the grid",
                "release/changes.py",
                "ceil_div(steps.numerator, steps.denominator)",
                "steps.numerator // steps.denominator",
                "test_a_greater_value_is_at_least_so_many_percent_of_the_value_greater",
            ),
            (
                "a filter on the measure that changes is not read back",
                "release/reading.py",
                'return Scope(tuple(columns), given["certain"])',
                "return Scope(tuple(columns), True)",
                "test_a_filter_on_the_measure_that_changes_counts_the_whole_record",
            ),
            (
                "which records a choice is about is not read back",
                "release/reading.py",
                "Cases.checked(names, cases, False)",
                "None",
                "test_filters_of_choices_are_read_as_they_were_written",
            ),
            (
                "what is kept for further answers costs a change nothing",
                "release/document.py",
                "if self.keeps_something(*pairs[0]):\n            return Loss(",
                "if False:\n            return Loss(",
                "test_what_is_kept_for_further_answers_is_priced_by_the_promise_alone",
            ),
            (
                "an answer that states nothing costs a change nothing",
                "release/charges.py",
                "Loss(self.policy.change(*pair), is_exact=False)",
                "Loss(0 * self.policy.change(*pair), is_exact=False)",
                "test_what_is_kept_for_further_answers_is_priced_by_the_promise_alone",
            ),
            (
                "a policy alone takes whatever keeps it for totals",
                "policy/function.py",
                "if of_totals and self._differ_in_measures(before, after):",
                "if self._differ_in_measures(before, after):",
                "test_a_policy_alone_prices_a_change_as_any_mechanism_may_need",
            ),
            (
                "a record that moves to another cell pays for the difference alone",
                "policy/function.py",
                "if of_totals and self._differ_in_measures(before, after):",
                "if of_totals:",
                "test_a_record_that_may_be_in_another_cell_pays_for_both",
            ),
            (
                "a change that a budget promises costs the larger side",
                "policy/function.py",
                "sum(sides) if self.currency.adds_up else group_loss(sides)",
                "max(sides)",
                "test_a_policy_alone_prices_a_change_as_any_mechanism_may_need",
            ),
            (
                "the difference of totals is taken for their sum",
                "policy/terms.py",
                "or 0) - Fraction(measure(other",
                "or 0) + Fraction(measure(other",
                "test_totals_of_a_policy_cost_their_differences_and_the_rest_what_any_mechanism_may",
            ),
            (
                "records of different cases share their totals",
                "policy/terms.py",
                "if cases.locate(one)[0] == cases.locate(other)[0]:",
                "if True:",
                "test_totals_of_a_policy_cost_their_differences_and_the_rest_what_any_mechanism_may",
            ),
            (
                "a chance to show a key that a change leaves is forgotten",
                "release/charges.py",
                "for added, taken in each.lone_pieces(signed(before, after))",
                "for added, taken in each.lone_pieces(signed([], after))",
                "test_the_file_says_of_every_change_what_its_plan_says",
            ),
            (
                "values are called told apart by noise that may not hold them",
                "release/attack.py",
                "is_certain = noise.is_certain and scope.is_certain",
                "is_certain = True",
                "test_a_filter_on_the_measure_that_changes_counts_the_whole_record",
            ),
        )
    ),
    Twin(
        "of two sides that may show a key the smaller chance counts",
        "policy/changes.py",
        "return max(any_of(added for added, _ in sides), any_of(taken for _, taken in sides))",
        "return min(any_of(added for added, _ in sides), any_of(taken for _, taken in sides))",
        ("policy/test_changes.py::test_selections_of_the_theory",),
    ),
    Twin(
        "what follows from a dimension that changes stays as it was",
        "release/document.py",
        "if is_loose or self.origins.is_shared(name, changed)",
        "if self.origins.is_shared(name, changed)",
        (
            "release/test_origins.py::"
            "test_what_is_not_said_may_be_another_where_a_dimension_differs",
        ),
    ),
    Twin(
        "cells that go by a measure stay when it changes",
        "release/document.py",
        "if is_loose or self.origins.is_shared(name, changed)",
        "if is_loose",
        (
            "cli/test_policy.py"
            "::test_a_measure_that_changes_leaves_cells_as_they_are_unless_they_go_by_it",
        ),
    ),
    Twin(
        "records of a firm lose what each loses alone, added up",
        "release/document.py",
        "return total(unit_loss(charge.outputs or (), records) for charge in self.charges)",
        "return total(unit_loss(c.outputs or (), [r]) for c in self.charges for r in records)",
        ("cli/test_policy.py::test_records_of_a_firm_lose_more_together",),
    ),
    Twin(
        "records of one firm are taken for records of several",
        "release/document.py",
        'name: "" if name == self.unit_column else f"{place}"',
        'name: f"{place}"',
        ("release/test_published.py::test_a_unit_is_counted_once_and_its_records_each",),
    ),
    Twin(
        "records without ids are taken for one",
        "release/document.py",
        'name: "" if name == self.unit_column else f"{place}"',
        'name: ""',
        ("release/test_published.py::test_a_unit_is_counted_once_and_its_records_each",),
    ),
    Twin(
        "one candidate stands for all beside a value",
        "policy/choices.py",
        "places.update(range(near - 2, near + 3))",
        "places.add(near)",
        ("policy/test_candidates.py::test_a_few_candidates_stand_for_all",),
    ),
    Twin(
        "a dimension is taken for the column of its name that another is made of",
        "tables/completing.py",
        "if not reads <= row.keys() - others or reads == {name}:",
        "if not reads <= row.keys() or name in reads:",
        (
            "tables/test_completing.py::"
            "test_an_expression_reads_columns_and_no_dimension_of_the_same_name",
        ),
    ),
)
