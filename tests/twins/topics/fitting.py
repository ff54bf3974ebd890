"""Twins of consistent tables: least squares over hierarchies (T31, T32)."""

from tests.twins.twin import Twin

_FIT = "released/test_fitting.py"
_RELEASE = "release/test_consistent.py"

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
        "if not np.array_equal(np.isfinite(product), is_measured):",
        "if False:",
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
        (
            "release/test_consistent.py"
            "::test_numbers_that_nobody_published_are_the_sums_of_what_is_below",
        ),
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
)
