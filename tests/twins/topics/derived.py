"""Twins of numbers that follow from published ones: formulas, errors, comparisons."""

from tests.twins.twin import Twin

DERIVED, COMPARING = "released/derived.py", "release/comparing.py"
FOLDERS = "release/folders.py"
TESTS, COMPARED = "released/test_derived.py", "cli/test_compare.py"

TWINS = (
    Twin(
        "what stands above and below a fraction has noise of its own",
        DERIVED,
        "            covariances += float(factor * below[name]) * given[name].errors ** 2",
        "            covariances += 0.0",
        (f"{TESTS}::test_numbers_on_both_sides_of_a_fraction_share_their_noise",),
    ),
    Twin(
        "a fraction has ends where its denominator may be 0",
        DERIVED,
        "is_bounded = a > 0",
        "is_bounded = a > -np.inf",
        (f"{TESTS}::test_intervals_of_a_ratio_hold_the_truth",),
    ),
    Twin(
        "an interval of two sides has the quantile of one",
        DERIVED,
        "inv_cdf((1 + confidence) / 2)",
        "inv_cdf(confidence)",
        (f"{TESTS}::test_sums_have_the_plain_error_and_interval",),
    ),
    Twin(
        "a sum of fractions is taken for the fraction of the sums",
        "released/formulas.py",
        "            if not one.names:\n"
        "                return Formula(other.above + other.below * one.above.constant, "
        "other.below)",
        "            return Formula(other.above + one.above, other.below)",
        ("released/test_formulas.py::test_a_formula_means_what_python_reads",),
    ),
    Twin(
        "a table that was changed after its publication is compared",
        FOLDERS,
        "if sha256(content).hexdigest() != digests.get(name):",
        "if name not in digests:",
        (f"{COMPARED}::test_a_file_that_changes_after_its_folder_was_looked_at_is_refused",),
    ),
    Twin(
        "an average of few records has an error",
        FOLDERS,
        "return pc.if_else(rows.column(few), None, errors) if few in rows.column_names else errors",
        "return errors",
        (f"{COMPARED}::test_an_average_of_few_records_has_no_error_of_its_change",),
    ),
    Twin(
        "numbers of different units are compared",
        COMPARING,
        "if one.unit != other.unit:",
        "if answer not in after.answers:",
        (f"{COMPARED}::test_what_cannot_be_compared_is_left_out_with_its_reason",),
    ),
    Twin(
        "numbers of different definitions are compared",
        COMPARING,
        "if one.definition != other.definition:",
        "if answer not in after.answers:",
        (f"{COMPARED}::test_answers_of_another_meaning_are_left_out",),
    ),
    Twin(
        "totals of which other parts are cut are compared",
        "release/described.py",
        "said = (f\"{key}: {_cuts(part) or 'not cut'}\" for key, part in parts)",
        "said = sorted(_cuts(part) or 'not cut' for _, part in parts)",
        (f"{COMPARED}::test_totals_of_which_other_parts_are_cut_are_left_out",),
    ),
    Twin(
        "a formula over numbers of another meaning is compared",
        "release/described.py",
        'said.append(f"{name} is {_definition(own.answer, workload)}")',
        "said.append(name)",
        (f"{COMPARED}::test_totals_of_which_other_parts_are_cut_are_left_out",),
    ),
    Twin(
        "a key that another table lacks gets that table's first row",
        "release/processing/deriving.py",
        "places.get(tuple(row.values()), -1)",
        "places.get(tuple(row.values()), 0)",
        ("release/test_deriving.py::test_a_key_that_the_other_table_lacks_has_no_number",),
    ),
    Twin(
        "the error of a derived number forgets its denominator",
        DERIVED,
        "+ values**2 * below.errors**2",
        "+ 0 * below.errors**2",
        ("release/test_deriving.py::test_each_is_what_the_published_columns_give",),
    ),
    Twin(
        "a comment in a formula is passed over",
        "released/formulas.py",
        'if "--" in text or "/*" in text:',
        "if not text:",
        ("release/test_deriving.py::test_what_cannot_be_derived_is_refused_at_its_line",),
    ),
    Twin(
        "two derived numbers share a column",
        "release/spec/deriving.py",
        "    if mine & theirs:",
        "    if mine == theirs:",
        ("release/test_deriving.py::test_columns_of_derived_numbers_have_names_of_their_own",),
    ),
    Twin(
        "an average is divided where another table has a count of its name",
        "release/spec/deriving.py",
        "product(wide, sorted(number.plain))",
        "product(wide[-1:], sorted(number.plain))",
        (
            "release/test_deriving.py::test_each_table_must_have_an_answer_that_it_can_be_derived_from",
        ),
    ),
    Twin(
        "a folder from elsewhere says where tables are written",
        FOLDERS,
        'if not is_table_name(resource["name"]):',
        'if not resource["name"]:',
        (f"{COMPARED}::test_folders_from_elsewhere_write_nothing_outside_and_end_in_words",),
    ),
    Twin(
        "a key column of a comparison is replaced by a number",
        COMPARING,
        "    if twice:",
        "    if len(twice) > 1:",
        (f"{COMPARED}::test_a_key_column_is_never_replaced_by_a_number",),
    ),
    Twin(
        "what has no standard error is called reliable",
        "release/processing/status.py",
        "is_reliable = numbers.errors <= float(self.reliable) * sizes",
        "is_reliable = ~(numbers.errors > float(self.reliable) * sizes)",
        ("release/test_status.py::test_each_word_follows_from_the_number_and_its_error",),
    ),
)
