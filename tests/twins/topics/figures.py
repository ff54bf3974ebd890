"""Faults in the figures that people are shown, and in the noise that a policy states."""

from tests.twins.twin import Twin

TWINS = (
    Twin(
        "the policy states the least noise of a cell that several parts share",
        "release/stated.py",
        "settled = largest(own(each.method) for each in leaves(tree))",
        "settled = min((own(each.method) for each in leaves(tree)), key=lambda each: each.size)",
        ("release/test_attack.py::test_the_cell_the_part_and_the_filter_decide",),
    ),
    Twin(
        "a clamped total tells of values beyond its bounds",
        "release/attack.py",
        "noise.measure == name and cell.cut(value) == value",
        "noise.measure == name",
        ("release/test_attack.py::test_a_clamped_total_tells_only_of_values_within_its_bounds",),
    ),
    Twin(
        "counts tell of measures",
        "release/attack.py",
        'case "values" if noise.measure == name',
        'case "values" | "records" if noise.measure == name',
        (
            "release/test_attack.py::test_each_measure_has_the_error_of_the_totals_about_it",
            "lab/audit/test_figures.py::test_every_figure_is_recomputed_and_none_differs",
        ),
    ),
    Twin(
        "only the first total about a measure is taken for an estimate",
        "release/attack.py",
        "information += told",
        "information = information or told",
        (
            "release/test_attack.py::test_each_measure_has_the_error_of_the_totals_about_it",
            "release/test_attack.py::test_an_attacker_attains_it",
        ),
    ),
    Twin(
        "an estimate is said to err by less than its noise",
        "release/attack.py",
        "            return 1 / cell.variance_with(value)\n",
        "            return Fraction(28, 25) / cell.variance_with(value)\n",
        ("release/test_attack.py::test_one_number_tells_as_closely_as_its_noise_is_wide",),
    ),
    Twin(
        "the Gaussian's chance is said of noise below ten steps",
        "release/attack.py",
        "cell.spread >= (SMALLEST_SIGMA * cell.step) ** 2",
        "cell.spread >= cell.step",
        ("release/test_attack.py::test_about_is_said_only_where_the_law_allows_it",),
    ),
    Twin(
        "a record counts as shifted by what a filter may have kept out",
        "release/stated.py",
        "noise.is_certain and found.is_whole",
        "noise.is_certain",
        (
            "release/test_attack.py::test_about_is_said_only_where_the_law_allows_it",
            "release/test_attack.py::test_the_cell_the_part_and_the_filter_decide",
        ),
    ),
    Twin(
        "a centred total is said to shift by the value itself",
        "release/noise.py",
        "return value - (low + high) / 2",
        "return value",
        ("release/test_attack.py::test_what_a_record_really_loses_never_exceeds_its_policy",),
    ),
    Twin(
        "published rows are said to tell in pieces and not in the measure's units",
        "release/attack.py",
        "1 / (cell.variance * scheme.threshold(name) ** 2)",
        "1 / cell.variance",
        (
            "release/test_attack.py::"
            "test_published_rows_tell_of_the_measure_that_decides_the_pieces",
        ),
    ),
    Twin(
        "figures that are at most are rounded to the nearest",
        "exact.py",
        "return _figure(value, digits, ROUND_CEILING)",
        "return _figure(value, digits, ROUND_FLOOR)",
        (
            "cli/test_policy.py::test_a_record_in_words",
            "lab/audit/test_figures.py::test_every_figure_is_recomputed_and_none_differs",
        ),
    ),
)
