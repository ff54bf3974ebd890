"""Twins of queries: what is charged for, and the exact integers (T5, T10 to T13)."""

from tests.twins.twin import Twin

TWINS = (
    Twin(
        "a split total is charged like a count",
        "queries/methods/splitting.py",
        "return Policy.split(split=self.split, **currency.amount(self.amount))",
        "return Policy.constant(**currency.amount(self.amount))",
        ("mechanisms/test_worked_examples.py::test_a_total_on_split_records",),
    ),
    Twin(
        "key selection on split rows is charged like a count",
        "queries/policies.py",
        "cells.rho, grouping.columns, split=cells.split, threshold=cells.threshold",
        "cells.rho, grouping.columns, split=None, threshold=cells.threshold",
        ("mechanisms/test_selection.py::test_selection_and_answers_are_charged_apart",),
    ),
    Twin(
        "the count under an average is not charged",
        "queries/answers/answer.py",
        "step.policy(fixed, currency) for step in self.steps)",
        "step.policy(fixed, currency) for step in self.steps[:1])",
        ("mechanisms/test_additive.py::test_a_split_average_is_the_mean_of_what_is_not_null",),
    ),
    Twin(
        "the exact loss is taken from a part's own noise and not from its cell's",
        "queries/measurements.py",
        "own = self.scale(tree.method, currency) if cell is None else cell",
        "own = self.scale(tree.method, currency)",
        (
            "mechanisms/test_additive.py"
            "::test_exact_accounting_of_a_total_over_parts_uses_the_noise_of_the_cell",
        ),
    ),
    Twin(
        "records that pass a filter are said to lose nothing",
        "queries/policies.py",
        "allowed[name] = allowed.get(name, kept) & kept",
        "allowed[name] = frozenset()",
        ("mechanisms/test_selection.py::test_only_records_inside_the_filter_select_keys_and_pay",),
    ),
    Twin(
        "equal groupings are charged once",
        "queries/plan.py",
        "return Policy.total(grouping.policy for grouping in self.groupings)",
        "return Policy.total({grouping.policy: 0 for grouping in self.groupings})",
        ("test_session.py::test_several_groupings_give_several_answers_for_one_charge",),
    ),
    Twin(
        "queries with different filters share a scan",
        "queries/plan.py",
        "filters.setdefault(query.filter, len(filters))",
        "filters.setdefault(query.filter and None, len(filters))",
        ("queries/test_exact.py::test_answers_over_one_filter_share_one_scan",),
    ),
    Twin(
        "a capped scheme adds up whole values",
        "queries/methods/splitting.py",
        "if isinstance(self.split, Split) and self.split.cap is not None:",
        "if False:",
        ("mechanisms/test_guards.py::test_a_capped_scheme_is_no_way_to_add_up",),
    ),
    Twin(
        "a clamped average has noise for a centred total and a total that is not",
        "queries/answers/total.py",
        "Total(measure, tree, is_centred) if is_cut",
        "Total(measure, tree, False) if is_cut",
        ("mechanisms/test_additive.py::test_a_clamped_average_is_centred_on_its_bounds",),
    ),
    Twin(
        "key selection is not charged",
        "queries/plan.py",
        "None if selection is None else filtered(selection),",
        "None,",
        ("mechanisms/test_selection.py::test_selection_and_answers_are_charged_apart",),
    ),
    Twin(
        "cells without a key are counted at the last key",
        "confidential/tally.py",
        "known = slice(None) if positions.min(initial=0) >= 0 else positions >= 0",
        "known = slice(None)",
        ("queries/test_exact.py::test_random_workloads_give_the_integers_of_the_reference",),
    ),
    Twin(
        "a sum that leaves 64 bits wraps around",
        "confidential/tally.py",
        "if self._reach > _FITS and self._numbers.dtype != np.object_:",
        "if revealed(addends.values).dtype == np.object_ != self._numbers.dtype:",
        ("queries/test_positions.py::test_sums_are_exact_however_large",),
    ),
    Twin(
        "wide sums are cut to 64 bits",
        "confidential/tally.py",
        "if (high == low >> 63).all() and low.min() >= -_FITS:",
        "if True:",
        ("queries/test_positions.py::test_sums_are_exact_however_large",),
    ),
    Twin(
        "a key is looked for in one column alone",
        "queries/positions.py",
        "is_there &= _at(known, rank) == mixed",
        "is_there &= True",
        ("queries/test_positions.py::test_positions_are_those_of_the_rows",),
    ),
    Twin(
        "positions forget the keys of a factor in between",
        "queries/positions.py",
        "strides = list(accumulate(sizes, mul, initial=1))[:-1]",
        "strides = [1, *sizes][: len(sizes)]",
        ("queries/test_positions.py::test_positions_are_those_of_the_rows",),
    ),
    Twin(
        "sets that differ in derived columns are counted twice",
        "queries/scan.py",
        "different = {scan.set_number(found): found for found in scan.sets}",
        "different = dict(enumerate(scan.sets))",
        (
            "queries/test_hierarchies.py"
            "::test_sets_that_differ_in_derived_columns_alone_are_counted_once",
        ),
    ),
    Twin(
        "a code is derived from a shorter one",
        "tables/schema.py",
        "if longer is not None and longer.length >= expression.length:",
        "if longer is not None:",
        (
            "queries/test_hierarchies.py"
            "::test_workloads_over_hierarchies_give_the_integers_of_the_reference",
        ),
    ),
    Twin(
        "different values are added up over finer cells",
        "queries/cells.py",
        "source = source_set(self.cells.scan, self.columns, is_exact=is_exact)",
        "source = source_set(self.cells.scan, self.columns)\n"
        "        every = [s for s in self.cells.scan.sets if s >= source]\n"
        "        source = max(every, key=len)",
        ("queries/test_exact.py::test_random_workloads_give_the_integers_of_the_reference",),
    ),
    Twin(
        "clamped totals have the sensitivity U - L",
        "queries/methods/clamping.py",
        "return max(abs(self.low), abs(self.high))",
        "return self.high - self.low",
        ("mechanisms/test_additive.py::test_methods_ask_for_the_noise_of_the_theory",),
    ),
    Twin(
        "noise is twice as precise as what was paid for",
        "policy/terms.py",
        "return GaussianScale(sensitivity**2 / (2 * amount))",
        "return GaussianScale(sensitivity**2 / (4 * amount))",
        ("mechanisms/test_additive.py::test_methods_ask_for_the_noise_of_the_theory",),
    ),
    Twin(
        "a cell over several parts has the noise of the smallest threshold",
        "laws/scales.py",
        "return max(every, key=lambda each: each.size)",
        "return min(every, key=lambda each: each.size)",
        (
            "mechanisms/test_additive.py"
            "::test_a_total_over_parts_has_the_noise_of_the_largest_threshold",
        ),
    ),
    Twin(
        "thresholds off the grid are let through",
        "tables/measures.py",
        "    if (number / resolution).denominator > 1:",
        "    if False:",
        ("tables/test_table.py::test_a_query_that_the_table_cannot_answer_is_refused",),
    ),
    Twin(
        "values are not clamped from below",
        "queries/values.py",
        " WHEN {value} < {low} THEN {low} ELSE {value} END",
        " ELSE {value} END",
        ("queries/test_exact.py::test_the_reference_can_fail",),
    ),
    Twin(
        "NULL is clamped to the lower bound",
        "queries/values.py",
        " WHEN {value} < {low} THEN {low} ELSE {value} END",
        " WHEN {value} < {low} THEN {low} ELSE coalesce({value}, {low}) END",
        ("queries/test_exact.py::test_random_workloads_give_the_integers_of_the_reference",),
    ),
    Twin(
        "the engine rounds pieces down",
        "queries/values.py",
        "CASE WHEN {rest} > 0 THEN 1 ELSE 0 END",
        "CASE WHEN {quotient} > 0 THEN 0 ELSE 1 END",
        ("mechanisms/test_rows.py::test_a_record_becomes_full_pieces_a_rest_and_zeros",),
    ),
    Twin(
        "a record of zeros has no row in the engine",
        "queries/values.py",
        "[parts.dialect.literal(1), *each]",
        "[parts.dialect.literal(0), *each]",
        ("queries/test_exact.py::test_the_pieces_of_every_key_are_counted_in_the_engine",),
    ),
    Twin(
        "split rows are not capped",
        "queries/values.py",
        'else f"least({most}, {_capped(cap, parts.dialect)})"',
        "else most",
        ("mechanisms/test_rows.py::test_rows_are_those_of_the_slow_split",),
    ),
    Twin(
        "a filter is not applied",
        "queries/scan.py",
        'condition = ""\n    if scan.filter is not None:',
        'condition = ""\n    if False:',
        (
            "mechanisms/test_worked_examples.py::test_filters_apply_to_the_record_before_it_is_split",
        ),
    ),
    Twin(
        "NULL is counted in COUNT(a)",
        "queries/scan.py",
        'return {shown: f"count({value})"}',
        'return {shown: "count(*)"}',
        ("mechanisms/test_additive.py::test_a_split_average_is_the_mean_of_what_is_not_null",),
    ),
    Twin(
        "equal values are counted as different",
        "queries/scan.py",
        'return {shown: f"count(DISTINCT {value})"}',
        'return {shown: f"count({value})"}',
        ("queries/test_exact.py::test_random_workloads_give_the_integers_of_the_reference",),
    ),
    Twin(
        "a total that does not fit 64 bits raises",
        "confidential/tally.py",
        "return np.array([int(each) for each in column.to_pylist()], dtype=np.object_)",
        "return np.asarray(column.cast(pa.int64()))",
        ("queries/test_exact.py::test_values_near_the_end_of_64_bits_are_summed_exactly",),
    ),
    Twin(
        "rows come in the order of the source",
        "queries/rows.py",
        'AS rows ORDER BY {order}", parts.tables',
        'AS rows", parts.tables',
        ("mechanisms/test_rows.py::test_rows_come_sorted_whatever_the_order_of_the_source",),
    ),
    Twin(
        "rows are split without a cap",
        "queries/rows.py",
        "return isinstance(split, Split) and split.cap is not None",
        "return isinstance(split, Split)",
        ("mechanisms/test_rows.py::test_what_cannot_be_run_is_refused_before_any_row_is_read",),
    ),
)
