"""Twins of mechanisms: noise on cells, selection, quantiles, rows, what is released."""

from tests.twins.twin import Twin

TWINS = (
    Twin(
        "the same noise is added with the other sign, which no law tells",
        "mechanisms/additive.py",
        "return samplers.draw(law, count, _bits=bits)",
        "return -samplers.draw(law, count, _bits=bits)",
        ("digests/test_digests.py::test_a_case_gives_what_was_recorded[spec 1]",),
    ),
    Twin(
        "the interval of an average is wider by an error of rounding",
        "released/columns.py",
        "side * _SLACK * widened",
        "side * 2 * _SLACK * widened",
        (
            "digests/test_digests.py::test_a_case_gives_what_was_recorded[spec 0]",
            "digests/test_digests.py::test_a_case_gives_what_was_recorded[session 0]",
        ),
    ),
    Twin(
        "empty cells of one law have no noise",
        "mechanisms/additive.py",
        "drawn = draw(laws[0], keys.num_rows, bits)",
        "drawn = np.where(revealed(exact) == 0, 0, draw(laws[0], keys.num_rows, bits))",
        ("mechanisms/test_parallel.py::test_groupings_in_threads_have_noise_of_their_own",),
    ),
    Twin(
        "empty cells have no noise",
        "mechanisms/additive.py",
        "drawn = _drawn_by_cell(laws, which, bits)",
        "drawn = np.where(revealed(exact) == 0, 0, _drawn_by_cell(laws, which, bits))",
        (
            "mechanisms/test_additive.py::test_cells_of_different_parts_are_drawn_from_their_own_laws",
        ),
    ),
    Twin(
        "every cell has the noise of the first part",
        "queries/noise_plan.py",
        "numbers[index] = scales.setdefault(self.scales.at(key), len(scales))",
        "numbers[index] = scales.setdefault(self.scales.at(key), len(scales)) * 0",
        (
            "mechanisms/test_additive.py::test_cells_of_different_parts_are_drawn_from_their_own_laws",
        ),
    ),
    Twin(
        "noise forgets the resolution",
        "laws/scales.py",
        "return DiscreteGaussian(self.size / step**2)",
        "return DiscreteGaussian(self.size / step)",
        ("mechanisms/test_additive.py::test_errors_are_in_units_of_the_measure",),
    ),
    Twin(
        "a key is published one below its threshold",
        "mechanisms/selection.py",
        "kept = np.asarray(rows >= cells.threshold, dtype=bool)",
        "kept = np.asarray(rows >= cells.threshold - 1, dtype=bool)",
        (
            "mechanisms/test_selection.py"
            "::test_a_lone_record_is_published_with_the_chance_of_its_pieces",
        ),
    ),
    Twin(
        "keys that were not selected are published",
        "mechanisms/selection.py",
        "found = Keys.from_columns(keys.filter(pa.array(kept)))",
        "found = Keys.from_columns(keys)",
        ("mechanisms/test_selection.py::test_without_a_split_every_record_is_one_row",),
    ),
    Twin(
        "keys are selected by their exact number",
        "mechanisms/selection.py",
        "noisy(occupied.numbers, draw(law, keys.num_rows, bits))",
        "NoisyIntegers(revealed(occupied.numbers))",
        (
            "mechanisms/test_selection.py"
            "::test_a_lone_record_is_published_with_the_chance_of_its_pieces",
        ),
    ),
    Twin(
        "empty cells of a domain never pass",
        "mechanisms/selection.py",
        "empty = passing(cells.domain.size - len(positions), law, start, _bits=bits)",
        "empty = 0",
        ("mechanisms/test_selection.py::test_empty_cells_pass_a_threshold_of_zero",),
    ),
    Twin(
        "the noise that selected a cell serves its other answers too",
        "mechanisms/run.py",
        "selected.by if selected and is_kept_by else",
        "selected.by if selected else",
        ("mechanisms/test_selection.py::test_other_answers_of_kept_cells_have_noise_of_their_own",),
    ),
    Twin(
        "keys come from the data where keys were declared",
        "mechanisms/run.py",
        "keys = selected.keys if selected else declared if isinstance(declared, Keys) else None",
        "keys = selected.keys if selected else None\n"
        "        if isinstance(declared, Keys):\n"
        "            seen = cells.occupied(self.columns, self.grouping.aggregates[0])\n"
        "            keys = Keys.from_columns(seen.keys._content)",
        (
            "mechanisms/test_worked_examples.py::test_declared_keys_all_appear_with_noise_by_industry",
        ),
    ),
    Twin(
        "selected keys come by size",
        "queries/cells.py",
        """FROM {cells} ORDER BY {', '.join(names)}")""",
        """FROM {cells} ORDER BY {len(names) + 1} DESC")""",
        ("mechanisms/test_selection.py::test_the_numbers_of_rows_stand_beside_their_own_keys",),
    ),
    Twin(
        "a standard error is that of the first cell",
        "released/columns.py",
        "return np.asarray(self._deviations()[self.which])",
        "return np.asarray(self._deviations()[self.which * 0])",
        ("mechanisms/test_additive.py::test_a_dimension_derived_from_the_key_fixes_the_part",),
    ),
    Twin(
        "an average divides by a noisy count that may be zero",
        "released/columns.py",
        "return np.maximum(floats(self.count.numbers), 1.0)",
        "return floats(self.count.numbers)",
        ("mechanisms/test_additive.py::test_the_denominator_is_at_least_one",),
    ),
    Twin(
        "an average of nearly nobody is not flagged",
        "released/columns.py",
        "least = np.maximum(FEW * self.count.standard_errors(), 1.0)",
        "least = np.zeros(len(self.count.numbers))",
        ("mechanisms/test_ratios.py::test_few_records_are_flagged",),
    ),
    Twin(
        "an interval of an average leaves its bounds",
        "released/columns.py",
        "ends = [np.clip(each, least, most) for each in ends]",
        "ends = [each + 0 * (least + most) for each in ends]",
        ("mechanisms/test_ratios.py::test_an_average_whose_count_may_be_zero_has_no_interval",),
    ),
    Twin(
        "an interval of an average forgets the half steps",
        "released/ratios.py",
        "(first * scales + 0.5, second * slopes + 0.5)",
        "(first * scales, second * slopes)",
        ("mechanisms/test_ratios.py::test_intervals_cover_at_least_as_stated",),
    ),
    Twin(
        "the bound of both parts apart forgets the noise of the count",
        "released/ratios.py",
        "_half_widths(count_laws, 1 - (1 - share) * miss),",
        "0 * _half_widths(count_laws, 1 - (1 - share) * miss),",
        ("mechanisms/test_ratios.py::test_intervals_cover_at_least_as_stated",),
    ),
    Twin(
        "an average has an interval although its count may be 0",
        "released/ratios.py",
        "is_open = less <= 0",
        "is_open = less < -np.inf",
        ("mechanisms/test_ratios.py::test_an_average_whose_count_may_be_zero_has_no_interval",),
    ),
    Twin(
        "rounding goes through floats",
        "released/numbers.py",
        "sizes = (np.abs(numbers) * up + down) // (2 * down)",
        "sizes = (np.abs(numbers).astype(float) * (up / (2 * down)) + 0.5) // 1",
        ("release/test_enormous.py::test_rounding_is_exact_with_ties_away_from_zero",),
    ),
    Twin(
        "ties are rounded towards zero",
        "released/numbers.py",
        "sizes = (np.abs(numbers) * up + down) // (2 * down)",
        "sizes = (np.abs(numbers) * up + down - 1) // (2 * down)",
        ("release/test_enormous.py::test_half_to_even_is_caught",),
    ),
    Twin(
        "noise is added in 64 bits",
        "released/numbers.py",
        "if first.dtype == second.dtype == np.int64 and _is_small(first) and _is_small(second):",
        "if first.dtype == second.dtype == np.int64:",
        ("mechanisms/test_additive.py::test_noise_is_added_without_overflow",),
    ),
    Twin(
        "the exponential mechanism forgets its factor 2",
        "mechanisms/quantiles.py",
        "return eps / (2 * max(level, 1 - level) * level.denominator)",
        "return eps / (max(level, 1 - level) * level.denominator)",
        (
            "mechanisms/test_quantiles.py::test_the_divergence_of_a_record_is_within_the_policy",
            "mechanisms/test_quantiles.py::test_log_ratios_vary_within_epsilon",
        ),
    ),
    Twin(
        "a quantile's sensitivity is the smaller of q and 1 - q",
        "mechanisms/quantiles.py",
        "return eps / (2 * max(level, 1 - level) * level.denominator)",
        "return eps / (2 * min(level, 1 - level) * level.denominator)",
        ("mechanisms/test_quantiles.py::test_the_divergence_of_a_record_is_within_the_policy",),
    ),
    Twin(
        "the epsilon of a quantile is rounded up",
        "policy/terms.py",
        "return 8 * amount / sqrt_up(8 * amount)",
        "return sqrt_up(8 * amount)",
        ("mechanisms/test_quantiles.py::test_the_divergence_of_a_record_is_within_the_policy",),
    ),
    Twin(
        "a quantile is best where both sides balance, between two heaps of ties",
        "mechanisms/quantiles.py",
        "scores = np.maximum(np.maximum(whole * below - rank, rank - whole * not_above), 0)",
        "scores = np.abs((whole - asked.level.numerator) * below"
        " - asked.level.numerator * (up_to[:, -1:] - not_above))",
        (
            "mechanisms/test_quantiles.py::test_the_median_of_two_heaps_is_the_larger_heap",
            "mechanisms/test_quantiles.py::test_without_noise_an_answer_is_the_quantile_of_sql",
        ),
    ),
    Twin(
        "a quantile's score is not cut at 0, so that it tells one quantile from another",
        "mechanisms/quantiles.py",
        "rank - whole * not_above), 0)",
        "rank - whole * not_above), -whole) + whole",
        (
            "mechanisms/test_quantiles.py"
            "::test_the_best_candidates_are_the_quantiles_where_there_are_any",
        ),
    ),
    Twin(
        "the sensitivity of a quantile is 1 - q",
        "mechanisms/quantiles.py",
        "return eps / (2 * max(level, 1 - level) * level.denominator)",
        "return eps / (2 * (1 - level) * level.denominator)",
        ("mechanisms/test_quantiles.py::test_log_ratios_vary_within_epsilon",),
    ),
    Twin(
        "a quantile counts ties as smaller",
        "mechanisms/quantiles.py",
        "below, not_above = up_to[:, 0:-1:2],",
        "below, not_above = up_to[:, 1::2],",
        (
            "mechanisms/test_quantiles.py"
            "::test_candidates_are_chosen_with_the_probabilities_of_the_definition",
        ),
    ),
    Twin(
        "what a mechanism says of its failure is passed on",
        "mechanisms/rows.py",
        "    except PerrecordError:\n        pass\n",
        "    except PerrecordError:\n        raise\n",
        ("mechanisms/test_rows.py::test_what_a_failing_mechanism_says_is_withheld",),
    ),
    Twin(
        "a measurement's own map is not compared with the declared rho",
        "mechanisms/measurements.py",
        "if declared is not None and Fraction(own) > declared:",
        "if False:",
        ("mechanisms/test_measurements.py::test_a_declared_rho_is_compared_with_the_map",),
    ),
    Twin(
        "a measurement is given values outside its bounds",
        "mechanisms/measurements.py",
        "return min(max(value, low), high)",
        "return value",
        (
            "mechanisms/test_measurements.py::test_one_record_moves_a_bounded_sum_by_what_the_policy_says",
            "mechanisms/test_measurements.py::test_a_bounded_sum_of_opendp_is_of_clamped_values",
            "mechanisms/test_measurements.py::test_what_a_measurement_is_given_is_in_its_domain",
        ),
    ),
    Twin(
        "a measurement's values are clamped from above only",
        "mechanisms/measurements.py",
        "return min(max(value, low), high)",
        "return min(value, high)",
        ("mechanisms/test_measurements.py::test_what_a_measurement_is_given_is_in_its_domain",),
    ),
    Twin(
        "a measurement's domain is taken without being built again",
        "mechanisms/measurements.py",
        "return Atoms(carrier, bounds) if same == domain else None",
        "return Atoms(carrier, bounds)",
        ("mechanisms/test_measurements.py::test_no_other_domain_is_taken",),
    ),
    Twin(
        "a measurement may count neighbours in any way",
        "mechanisms/measurements.py",
        "if measurement.input_metric not in (symmetric_distance(), insert_delete_distance()):",
        "if False:",
        ("mechanisms/test_measurements.py::test_what_is_only_named_alike_is_refused",),
    ),
    Twin(
        "a measurement sees the order of the rows",
        "mechanisms/measurements.py",
        "return sorted(found)",
        "return found",
        ("mechanisms/test_measurements.py::test_the_order_of_the_source_is_not_seen",),
    ),
    Twin(
        "a mechanism on split rows is charged as on unsplit ones",
        "mechanisms/rows.py",
        "policy = Policy.constant(amount) if split is None else Policy.split(amount, split)",
        "policy = Policy.constant(amount)",
        ("mechanisms/test_rows.py::test_split_rows_cost_rho_pieces_squared_and_unsplit_ones_rho",),
    ),
    Twin(
        "a key that is a spreadsheet's formula stays one",
        "mechanisms/write.py",
        "_inert(column) if pa.types.is_string(column.type) else column",
        "column",
        ("mechanisms/test_additive.py::test_text_that_looks_like_a_formula_is_made_inert",),
    ),
    Twin(
        "frames get Arrow's floats, which are not the nearest",
        "released/numbers.py",
        ".cast(pa.string()).cast(pa.float64())",
        ".cast(pa.float64())",
        ("mechanisms/test_frames.py::test_floats_are_the_nearest_to_their_decimals",),
    ),
    Twin(
        "frames hold decimals that nothing calculates with",
        "mechanisms/answers.py",
        "return table if exact else as_floats(table)",
        "return table",
        ("mechanisms/test_frames.py::test_frames_hold_floats_unless_decimals_are_asked_for",),
    ),
    Twin(
        "a notebook takes a key for markup",
        "mechanisms/answers.py",
        "html.escape(str(each))",
        "str(each)",
        ("mechanisms/test_additive.py::test_a_notebook_shows_keys_and_names_as_text",),
    ),
)
