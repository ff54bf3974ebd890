"""Twins of consistent tables: least squares over hierarchies (T31, T32)."""

from tests.twins.twin import Twin

_FIT = "released/test_fitting.py"
_RELEASE = "release/test_consistent.py"
_FOLLOW = "release/test_following.py"
_WARN = "release/test_contradictions.py"
_REPLAY = "lab/audit/test_replay_sums.py::test_what_adds_up_follows_from_published_files"

TWINS = (
    Twin(
        "siblings share what is left evenly, whatever their noise",
        "released/fitting/sweeps.py",
        "of_child / known[each.group],",
        "1.0 / np.bincount(each.group)[each.group],",
        (f"{_FIT}::test_one_hierarchy_is_least_squares[0.0]",),
    ),
    Twin(
        "the sum of the children weighs what a node's own number should",
        "released/fitting/sweeps.py",
        "own[each.parents] = _share(total, measured)",
        "own[each.parents] = _share(measured, total)",
        (f"{_FIT}::test_one_hierarchy_is_least_squares[0.0]",),
    ),
    Twin(
        "an unknown child has the number of its siblings' difference without their noise",
        "released/fitting/sweeps.py",
        "fitted = taken * others + taken**2 * np.where(taken > 0, of_parent, 0.0)",
        "fitted = taken**2 * np.where(taken > 0, of_parent, 0.0)",
        (f"{_FIT}::test_a_rest_takes_what_its_siblings_leave",),
    ),
    Twin(
        "the variances of several hierarchies are not multiplied",
        "released/fitting/products.py",
        "return Fitted(fitted, _each_along_its_own([sweep.variances for sweep in sweeps]))",
        "return Fitted(fitted, _each_along_its_own([sweep.variances if n == 0 else "
        "np.ones(sweep.tree.size) for n, sweep in enumerate(sweeps)]))",
        (f"{_FIT}::test_a_product_of_hierarchies_is_least_squares[0.0]",),
    ),
    Twin(
        "a missing table is taken for one without noise of its own",
        "released/fitting/products.py",
        "return not (np.abs(product, out=product) > _CLOSE).any()",
        "return not (np.abs(product[np.isfinite(variances)]) > _CLOSE).any()",
        (f"{_FIT}::test_variances_that_are_no_product_are_not_taken_for_one",),
    ),
    Twin(
        "bounds on variances count levels that were not measured",
        "released/fitting/gradients.py",
        "there[place] = bool(block.size) and bool(block.all())",
        "there[place] = bool(block.size)",
        (f"{_FIT}::test_gradients_reach_least_squares_and_never_understate_a_variance",),
    ),
    Twin(
        "equations are solved to a share of the largest number, whatever the noise",
        "released/fitting/gradients.py",
        "for _ in range(_MOST_ROUNDS if size else 0):",
        "for _ in range(1 if size else 0):",
        (f"{_FIT}::test_beside_giants_the_fit_of_small_cells_is_as_good",),
    ),
    Twin(
        "children are rounded to the nearest, and their sum is not their parent's",
        "released/fitting/printing.py",
        "return np.asarray(lower + (rank < missing[siblings.group]))",
        "return np.asarray(lower + (2 * remainder >= unit))",
        (
            "released/test_rounding_and_signs.py"
            "::test_whole_numbers_add_up_and_are_next_to_theirs_on_one_tree",
        ),
    ),
    Twin(
        "negative children are set to 0 and nobody makes up for it",
        "released/fitting/descent.py",
        "is_still = is_left & (moved >= 0)",
        "is_still = is_left",
        (
            "released/test_rounding_and_signs.py"
            "::test_non_negative_numbers_add_up_and_are_the_nearest",
        ),
    ),
    Twin(
        "what was taken for cells that nobody knows is taken for numbers",
        "released/fitting/descent.py",
        "bool(is_known[leaves_of(trees)].all())",
        "bool(is_known.any())",
        (
            "released/test_rounding_and_signs.py"
            "::test_nothing_moves_where_nothing_that_is_known_is_negative",
        ),
    ),
    Twin(
        "rows from one corner to another are taken for the box between",
        "released/fitting/boxes.py",
        "return box if np.array_equal(every.ravel(), places) else None",
        "return box",
        ("released/test_boxes.py::test_rows_that_are_no_box_keep_their_places",),
    ),
    Twin(
        "the end of what is swept at a time is left out",
        "released/fitting/trees.py",
        "for start in range(0, count, width):",
        "for start in range(0, count - width + 1, width):",
        ("released/test_boxes.py::test_sweeps_in_stretches_are_those_of_the_whole[10000]",),
    ),
    Twin(
        "ends of intervals are rounded inward",
        "release/processing/consistent.py",
        "away = np.ceil(finite",
        "away = np.floor(finite",
        (f"{_RELEASE}::test_all_combinations_of_two_hierarchies",),
    ),
    Twin(
        "the sides of a product of keys are taken in the wrong order",
        "queries/hierarchies/placing.py",
        "zip(sizes, is_needed, strict=True)])",
        "zip(sizes, is_needed, strict=True)], order='F')",
        (f"{_RELEASE}::test_products_of_keys_are_placed_as_if_written_out",),
    ),
    Twin(
        "cells are weighed by standard deviations",
        "release/processing/consistent.py",
        "max(deviation(law), _LEAST_DEVIATION) ** 2",
        "max(deviation(law), _LEAST_DEVIATION)",
        (f"{_RELEASE}::test_a_chain_of_tables_over_keys_that_are_no_product",),
    ),
    Twin(
        "what was not selected is taken for nothing",
        "queries/hierarchies/placing.py",
        "has_rest = number > complete",
        "has_rest = False",
        (f"{_RELEASE}::test_selected_keys_have_a_rest",),
    ),
    Twin(
        "an answer that decided which cells are published is fitted",
        "queries/hierarchies/families.py",
        "if isinstance(cells, SelectCells) and cells.answer == answer.name:",
        "if False:",
        (f"{_RELEASE}::test_the_answer_that_decided_which_cells_are_published_is_not_fed_in",),
    ),
    Twin(
        "totals of cut values are fitted with totals of whole ones",
        "queries/hierarchies/families.py",
        "return grouping.scan, Total(aggregate.measure, None), _cut(aggregate.clamps)",
        "return grouping.scan, Total(aggregate.measure, None)",
        (f"{_RELEASE}::test_check_names_what_is_not_made_consistent_and_why",),
    ),
    Twin(
        "what nobody published is taken for unknown, and what is below it for nothing",
        "released/fitting/gradients.py",
        "    return np.where(missing == 0, total, np.inf)",
        "    return np.where(missing < 0, total, np.inf)",
        (f"{_FIT}::test_what_was_not_measured_is_the_sum_of_leaves_that_were",),
    ),
    Twin(
        "keys above that hold none below are not named",
        "queries/hierarchies/placing.py",
        "            if orphans or empty:",
        "            if orphans:",
        (
            "release/test_consistent.py"
            "::test_check_says_where_keys_of_two_levels_contradict_each_other",
        ),
    ),
    Twin(
        "margins whose combinations nobody published do not add up to the last digit",
        "release/processing/consistent.py",
        "is_known = np.ones_like(is_known)  # so printed",
        "pass  # so printed",
        (f"{_FOLLOW}::test_margins_without_their_joint_table",),
    ),
    Twin(
        "combinations that are not known are taken for nothing where they are added up",
        "queries/hierarchies/summed.py",
        "    _check_known(plan, found, member, declared)",
        "    pass",
        (f"{_FOLLOW}::test_combinations_that_are_not_listed_are_refused_where_they_are_not_known",),
    ),
    Twin(
        "siblings that are added up are taken for independent",
        "released/fitting/groups.py",
        " - summed(a * spread) ** 2 / total[parent]",
        "",
        (f"{_FIT}::test_variances_of_any_sums_are_those_of_least_squares",),
    ),
    Twin(
        "selected keys are added up as if they were all",
        "queries/hierarchies/summed.py",
        "    if not isinstance(keys, Keys):",
        "    if keys is None:",
        (f"{_FOLLOW}::test_what_does_not_follow_is_refused_with_the_reason",),
    ),
    Twin(
        "keys that lie in nothing are added up to nothing",
        "queries/hierarchies/summed.py",
        "        if orphans:",
        "        if False:",
        (f"{_FOLLOW}::test_a_key_that_lies_in_nothing_is_refused",),
    ),
    Twin(
        "a table that follows changes what identifies a release",
        "release/spec/models.py",
        "post_processing: Annotated[PostProcessing, SHOWN]",
        "post_processing: Annotated[PostProcessing, None]",
        (f"{_FOLLOW}::test_the_charge_is_the_same_and_a_table_can_be_added_later",),
    ),
    Twin(
        "Student noise is taken for Gaussian where tables are compared",
        "released/fitting/contradictions.py",
        "        if not far:\n            return np.asarray(distances * (distances / normal) / 2)",
        "        return np.asarray(distances * (distances / (normal + heavy)) / 2)",
        (f"{_WARN}::test_sums_of_noise_are_as_rare_as_is_said[laws3]",),
    ),
    Twin(
        "selected keys contradict what they are part of",
        "queries/hierarchies/sums.py",
        "        if not family.selected[place]",
        "        if True",
        (f"{_WARN}::test_what_no_list_is_complete_for_by_design_is_no_contradiction",),
    ),
    Twin(
        "combinations that are not listed are a contradiction",
        "queries/hierarchies/sums.py",
        "        if not self.family.is_chain:",
        "        if False:",
        (f"{_WARN}::test_what_no_list_is_complete_for_by_design_is_no_contradiction",),
    ),
    Twin(
        "rows are cleared at once that noise does not explain",
        "released/fitting/contradictions.py",
        "widest = np.sqrt(2 * exponent * (self.normal + self.heavy))",
        "widest = np.sqrt(3 * exponent * (self.normal + self.heavy))",
        (f"{_WARN}::test_what_is_cleared_at_once_is_no_contradiction",),
    ),
    Twin(
        "the last place of a run is left out of its sum",
        "released/fitting/runs.py",
        "np.take(running, runs.ends, axis=axis, out=into)",
        "np.take(running, np.maximum(runs.ends - 1, runs.starts), axis=axis, out=into)",
        ("released/test_boxes.py::test_sums_over_runs_are_those_row_by_row",),
    ),
    Twin(
        "keys in another order of their sides are taken for a box",
        "queries/hierarchies/placing.py",
        "or any(f < taken for f in moving)",
        "",
        ("released/test_boxes.py::test_sides_that_are_a_box_are_found_without_their_places",),
    ),
    Twin(
        "of tables of the same cells one counts",
        "released/fitting/blocks.py",
        "    if times.max() > 1:",
        "    if False:",
        ("released/test_boxes.py::test_variances_of_boxes_are_factored_as_if_written_out",),
    ),
    Twin(
        "weights come from noisy numbers",
        "release/processing/consistent.py",
        "    return np.asarray(of_law[0] if len(of_law) == 1 else of_law[column.which])",
        "    return np.asarray(of_law[column.which] * (1 + np.abs(column.numbers.astype(float))))",
        (f"{_REPLAY}[1]",),
    ),
    Twin(
        "other numbers are fitted than those that are published, such as exact ones",
        "release/processing/consistent.py",
        "        values = [each.numbers for each in measured]",
        "        values = [each.numbers - each.numbers % 7 for each in measured]",
        (f"{_REPLAY}[1]",),
    ),
    Twin(
        "children do not sum to their parents",
        "released/fitting/printing.py",
        "            tree.add_up(every, axis)\n            continue",
        "            continue",
        (f"{_REPLAY}[1]",),
    ),
    Twin(
        "the error of a derived number leaves out what it is divided by",
        "released/derived.py",
        "spread = above.errors**2 - 2 * values * shared + values**2 * below.errors**2",
        "spread = above.errors**2 - 2 * values * shared",
        (f"{_REPLAY}[0]",),
    ),
)
