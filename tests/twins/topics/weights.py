"""Broken twins of derived measures and weights (T36)."""

from tests.twins.twin import Twin

_ARITHMETIC = "tables/test_arithmetic.py"
_CUT = f"{_ARITHMETIC}::test_a_weight_is_cut_and_multiplies_exactly"
_COMPUTED = f"{_ARITHMETIC}::test_the_engine_computes_as_python_does"
_REPLAY = "lab/audit/test_replay_derived.py::test_no_record_loses_more_than_its_policy"

_WEIGHING = "policy/test_weighing.py"
_COSTS = f"{_WEIGHING}::test_what_costs_are"
_CHANGES = f"{_WEIGHING}::test_no_change_costs_more_than_is_said_whatever_the_others_are"
_ANSWERS = "mechanisms/test_weighted_quantiles.py"
_ORIGINS = "release/test_origins.py"
_INTEGERS = f"{_ANSWERS}::test_the_exact_integers_are_those_of_python_loops"

_DOCTOR = "evaluate/test_doctor.py::test_derived_measures_beyond_their_largest_are_counted"

TWINS = (
    Twin(
        "the doctor takes a derived number that is cut for one within its range",
        "evaluate/doctor.py",
        "reads, records = measure.expression.names, _without_cuts(table, name, measure)",
        "reads = measure.expression.names",
        (_DOCTOR,),
    ),
    Twin(
        "a weighted quantile costs every record the same",
        "queries/measurements.py",
        "if self.weight is None:\n            return Policy.constant",
        "if True:\n            return Policy.constant",
        ("release/test_weights.py::test_a_weighted_quantile_costs_what_its_weight_does", _REPLAY),
    ),
    Twin(
        "a heavy record loses the square of its weight's root",
        "policy/weighing.py",
        "return 8 * self.rho / sqrt_up(8 * self.rho) / self.at",
        "return 4 * self.rho / sqrt_up(8 * self.rho) / self.at",
        (f"{_WEIGHING}::test_no_record_moves_log_ratios_by_more_than_its_weight", _COSTS),
    ),
    Twin(
        "a weighted quantile pays for any other",
        "policy/weighing.py",
        "return min(Fraction(1), (self.rate / other.rate) ** 2)",
        "return Fraction(1)",
        (
            f"{_WEIGHING}::test_one_pays_for_another",
            f"{_WEIGHING}::test_budgets_compare_them",
        ),
    ),
    Twin(
        "the weights of a unit do not add up in a quantile",
        "policy/choices.py",
        "return max(Fraction(measure(record, self.weight.measure) or 0), Fraction(0))",
        "return Fraction(1)",
        (_COSTS, _CHANGES),
    ),
    Twin(
        "a change costs a weighted quantile as if a weight of 1 paid",
        "policy/choices.py",
        "/ (self.weight.at if self.weight else 1)",
        "/ (self.weight.at**2 if self.weight else 1)",
        (_COSTS, _CHANGES),
    ),
    Twin(
        "candidates are drawn as if a step of the weight were a whole one",
        "mechanisms/quantiles.py",
        "eps *= weight_step / asked.weight.at",
        "eps *= 1 / asked.weight.at",
        (f"{_WEIGHING}::test_the_range_of_a_weight_is_that_of_the_mechanism",),
    ),
    Twin(
        "weights below 0 take away what others weigh",
        "queries/values.py",
        'return f"CASE WHEN {weight} > 0 THEN {weight} END"',
        'return f"CASE WHEN {weight} <> 0 THEN {weight} END"',
        (_INTEGERS,),
    ),
    Twin(
        "records are counted where their weights are to be",
        "queries/measurements.py",
        "return Rows() if self.weight is None else WeightTotal(self.weight.measure)",
        "return Rows()",
        (_INTEGERS, f"{_ANSWERS}::test_at_a_large_price_the_answer_is_the_weighted_quantile"),
    ),
    Twin(
        "large scores wrap around",
        "mechanisms/quantiles.py",
        "is_small = reach(numbers) * whole <= _FITS",
        "is_small = reach(numbers) <= 2**63",
        (f"{_ANSWERS}::test_scores_of_any_size_are_exact_and_candidates_are_drawn_from_them",),
    ),
    Twin(
        "units are told as if each had one record",
        "cli/evaluate.py",
        '"simple": _quantiles(units.simple),',
        '"simple": _quantiles(units.tight),',
        ("cli/test_evaluated_units.py::test_units_are_in_the_json",),
    ),
    Twin(
        "another source takes the place of one of two periods",
        "cli/confidential.py",
        "return None if is_own and is_before else Linked(source, last)",
        "return None",
        ("cli/test_evaluated_units.py::test_two_periods_are_replaced_by_two",),
    ),
    Twin(
        "a product is rounded towards zero in the engine",
        "tables/measures.py",
        '_rounded(measure, "units", found.down, _WIDE, dialect, most=found.most)',
        "f\"CAST({dialect.divided('units', found.down, is_wide=True)[0]} AS BIGINT)\"",
        (f"{_ARITHMETIC}::test_the_value_is_exact_and_rounded_once", _COMPUTED),
    ),
    Twin(
        "a product is counted in steps of its factors",
        "tables/arithmetic.py",
        "factor * prod(grids[name][0] for name in names) / resolution)",
        "factor * prod(grids[name][0] for name in names))",
        (_COMPUTED, _REPLAY),
    ),
    Twin(
        "what cancels out is never NULL in the engine",
        "tables/measures.py",
        'THEN {value} END" if lost else value',
        'THEN {value} END" if not measure else value',
        (f"{_ARITHMETIC}::test_what_cancels_out_still_makes_null",),
    ),
    Twin(
        "what cancels out is never NULL in Python",
        "tables/arithmetic.py",
        "known = {name: numbers[name] for name in self.names}",
        "known = {name: numbers[name] for names, _ in self.terms for name in names}",
        (f"{_ARITHMETIC}::test_what_cancels_out_still_makes_null",),
    ),
    Twin(
        "a sum of products may leave 128 bits",
        "tables/arithmetic.py",
        "if max(most, 2 * down) > MOST:",
        "if 2 * down > MOST:",
        (f"{_ARITHMETIC}::test_overflow_is_refused_before_a_row_is_read",),
    ),
    Twin(
        "a weight beyond the largest is not cut",
        "tables/weights.py",
        'measure = Measure(resolution, largest=largest, outside="cut")',
        "measure = Measure(resolution)",
        (_CUT, _REPLAY),
    ),
    Twin(
        "calibrated weights are taken",
        "tables/weights.py",
        "        if calibrated:\n",
        "        if calibrated and not column:\n",
        (f"{_ARITHMETIC}::test_calibrated_weights_are_refused",),
    ),
    Twin(
        "a weighted measure leaves the weight out of the record that a policy sees",
        "tables/schema.py",
        "measure.number(measure.expression.value(numbers))",
        "measure.number(numbers[measure.expression.names[0]])",
        (_CUT, _REPLAY),
    ),
    Twin(
        "a published policy leaves the weight out of a product",
        "tables/completing.py",
        "value = rounded(computed.value(found))",
        "value = rounded(found[computed.names[0]])",
        ("release/test_weights.py::test_the_example_loses_what_its_products_cost",),
    ),
    Twin(
        "a greater measure leaves what is computed from it as it was",
        "release/changes.py",
        "changed = published.replaced(record, field.name, other)",
        "changed = {**record, field.name: other}",
        ("release/test_weights.py::test_a_greater_measure_makes_greater_what_is_computed_from_it",),
    ),
    Twin(
        "a greater measure leaves its record in the size class of the smaller one",
        "release/origins.py",
        "for name, value in after.items() if name not in lost} | anew,",
        "for name, value in after.items() if name not in lost},",
        ("release/test_size_classes.py::test_a_greater_value_costs_what_its_own_row_costs",),
    ),
    Twin(
        "a class that cannot be told stays as it is",
        "release/origins.py",
        "(decided - (before.keys() & found.keys()))",
        "(decided - before.keys())",
        (
            "release/test_size_classes.py::"
            "test_a_class_of_a_column_that_the_record_lacks_counts_as_another",
        ),
    ),
    Twin(
        "records of all sizes are in one size class",
        "evaluate/losses/record_sizes.py",
        "return dict(found)",
        "return record",
        ("release/test_size_classes.py::test_evaluate_says_what_records_in_other_classes_cost",),
    ),
    Twin(
        "a class that a public list gives is taken to follow from nothing",
        "release/origins.py",
        "found[field.name] = _with(read, field.looked_up)",
        "found[field.name] = read",
        (f"{_ORIGINS}::test_no_stated_cost_of_a_greater_value_is_too_low",),
    ),
    Twin(
        "what reads a computed measure is taken to read a column of its name",
        "release/origins.py",
        "read = _all(measures.get(each, frozenset((each,))) for each in read)",
        "pass",
        (f"{_ORIGINS}::test_no_stated_cost_of_a_greater_value_is_too_low",),
    ),
    Twin(
        "another measure of the same column stays as it is",
        "release/origins.py",
        "lost = moved | (",
        "lost = set() | (",
        (f"{_ORIGINS}::test_no_stated_cost_of_a_greater_value_is_too_low",),
    ),
    Twin(
        "evaluate prices records of which it does not know the class",
        "evaluate/losses/record_sizes.py",
        "return dict(found)",
        "return {**base, **found}",
        (f"{_ORIGINS}::test_evaluate_never_shows_less_than_it_costs",),
    ),
    Twin(
        "units may follow from a measure through a public list",
        "tables/table.py",
        "found = sorted(stored & {*schema.keys_of(column)})",
        "found = []",
        (f"{_ORIGINS}::test_units_do_not_follow_from_a_measure",),
    ),
    Twin(
        "a measure that a public list gives is taken to follow from nothing",
        "release/origins.py",
        "found[field.name] = _with(_stored(field), field.looked_up)",
        "found[field.name] = _stored(field)",
        (f"{_ORIGINS}::test_no_stated_cost_of_a_greater_value_is_too_low",),
    ),
    Twin(
        "a class that is not known counts as another, though the same costs more",
        "release/charges.py",
        "most = largest(every)",
        "most = every[-1]",
        (f"{_ORIGINS}::test_no_stated_cost_of_a_greater_value_is_too_low",),
    ),
    Twin(
        "a class that a filter reads is made up where it is not known",
        "release/document.py",
        "for name in charge.columns()} - given - self._told",
        "for name in charge.columns()} - given",
        (f"{_ORIGINS}::test_no_stated_cost_of_a_greater_value_is_too_low",),
    ),
    Twin(
        "a change that may become two is priced as one",
        "release/document.py",
        "if not self.origins.is_told(name)",
        "if False",
        (f"{_ORIGINS}::test_a_change_that_may_become_two_is_not_priced",),
    ),
)
