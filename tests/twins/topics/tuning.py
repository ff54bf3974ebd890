"""Twins of evaluating and tuning: losses over tables, tapers that reach goals, the least losses."""

from tests.twins.twin import Twin

LEAST, TAPERS = "evaluate/losses/test_least.py", "evaluate/tuning/test_tapers.py"

SHARES, FITTED = "evaluate/tuning/test_shares.py", "evaluate/accuracy/test_fitted.py"

QUANTILES = "evaluate/losses/test_distributions.py::test_quantiles_are_those_of_the_definition"

TWINS = (
    Twin(
        "records in ranges that nobody asked for are not counted below a quantile",
        "evaluate/losses/distributions.py",
        "below = at_most[ranges] - counts[ranges]",
        "below = 0 * counts[ranges]",
        (QUANTILES,),
    ),
    Twin(
        "records that are alike count as one at a quantile",
        "evaluate/losses/distributions.py",
        "np.add.at(counts, ranges, numbers)",
        "np.add.at(counts, ranges, 1)",
        (QUANTILES,),
    ),
    Twin(
        "a quantile is that of a hundredth of the records fewer",
        "evaluate/losses/distributions.py",
        "ranks = [max(1, ceil(share * count)) for share in shares]",
        "ranks = [max(1, ceil(share * count * 99 / 100)) for share in shares]",
        (QUANTILES,),
    ),
    Twin(
        "amounts shared among levels add up to more than before",
        "evaluate/tuning/shares.py",
        "found[largest] += total - sum(found)",
        "found[largest] += total / 1000",
        (f"{SHARES}::test_amounts_add_up_to_what_they_were_to_the_last_digit",),
    ),
    Twin(
        "tables that are made private in different ways share one amount",
        "evaluate/tuning/shares.py",
        "if len({method.with_amount(Fraction(1)) for method in methods}) > 1:",
        "if not methods:",
        (f"{SHARES}::test_what_stays_is_named_with_its_reason",),
    ),
    Twin(
        "shares among levels are those that make variances largest",
        "evaluate/tuning/levels.py",
        "better = shares * np.sqrt(np.maximum(gains, 0))",
        "better = shares / np.sqrt(np.maximum(gains, 1e-9))",
        (f"{SHARES}::test_no_other_shares_are_better_by_dense_least_squares",),
    ),
    Twin(
        "errors after fitting are variances",
        "evaluate/accuracy/fitted.py",
        "np.sqrt(np.where(np.isfinite(variances), variances, np.nan))",
        "np.where(np.isfinite(variances), variances, np.nan)",
        (f"{FITTED}::test_medians_are_those_of_cells_by_hand",),
    ),
    Twin(
        "the least possible loss takes the variance for a standard deviation",
        "laws/least.py",
        "return _rounded_down(size**2 / (4 * exact))",
        "return _rounded_down(size**2 / (4 * exact**2))",
        ("laws/test_least.py::test_the_closed_form_is_two_t_atanh_t_rounded_down",),
    ),
    Twin(
        "the least possible loss is twice what the proof gives",
        "laws/least.py",
        "return 2 * (ball(x) / ball(1 + x)).sqrt()",
        "return 4 * (ball(x) / ball(1 + x)).sqrt()",
        (
            "laws/test_least.py::test_two_points_attain_it",
            "laws/test_least.py::test_gaussian_noise_attains_it_to_first_order",
        ),
    ),
    Twin(
        "the least possible loss is rounded up",
        "laws/least.py",
        "enclose(lambda: _least(x), _BITS).lower",
        "enclose(lambda: _least(x), _BITS).upper",
        ("laws/test_least.py::test_the_closed_form_is_two_t_atanh_t_rounded_down",),
    ),
    Twin(
        "the least possible losses of several answers add up",
        "evaluate/losses/changes.py",
        "return f\"greatest({', '.join([NOTHING, NOTHING, *ratios])})\"",
        "return f\"({' + '.join([NOTHING, NOTHING, *ratios])})\"",
        (f"{LEAST}::test_of_several_answers_the_largest_counts",),
    ),
    Twin(
        "blurred totals are said to have a least loss",
        "evaluate/losses/least.py",
        "for each in grouping.answers if not each.answer.is_blurred)",
        "for each in grouping.answers)",
        (f"{LEAST}::test_nothing_is_said_of_blurred_totals",),
    ),
    Twin(
        "blurred totals of a table are said to have a least loss",
        "evaluate/losses/changes.py",
        "if noise.widening is not None or noise.blurred is not None:",
        "if False:",
        (f"{LEAST}::test_nothing_is_said_of_blurred_totals",),
    ),
    Twin(
        "a record without a dimension is in no published cell",
        "evaluate/losses/least.py",
        "pc.is_in(rows[name], value_set=own)",
        "pc.equal(rows[name], own[0])",
        (f"{LEAST}::test_a_missing_key_that_is_published_is_a_key",),
    ),
    Twin(
        "clamped totals are said to have a least loss",
        "evaluate/losses/changes.py",
        "if is_cut or is_selected or is_no_total:",
        "if is_selected or is_no_total:",
        (f"{LEAST}::test_nothing_is_said_of_what_is_biased_or_selected",),
    ),
    Twin(
        "the least loss takes the spread of Student noise for its variance",
        "evaluate/losses/changes.py",
        "max(scale.law(step).variance().upper, _LEAST_VARIANCE) * step**2",
        "scale.size",
        (f"{LEAST}::test_of_several_answers_the_largest_counts",),
    ),
    Twin(
        "losses over tables leave out what the integers add to tapered ones",
        "policy/tapering.py",
        'found = f"{4 * float(ON_INTEGERS)!r} * asinh({b})',
        'found = f"4 * 1.0 * asinh({b})',
        (
            "evaluate/losses/test_realised.py::"
            "test_tapered_answers_cost_a_unit_its_net_change_in_each_cell",
        ),
    ),
    Twin(
        "tapers are tuned as if their noise scaled as one over the amount",
        "evaluate/tuning/needs.py",
        "found[cells] = rhos / float(method.amount)",
        "found[cells] = float(law.spread) / most if nu_of(law) else rhos / float(method.amount)",
        (f"{TAPERS}::test_the_goal_is_reached_and_just_missed_with_one_per_cent_less",),
    ),
    Twin(
        "a taper's goal is asked of Gaussian noise",
        "evaluate/accuracy/spreads.py",
        "power, outside = power_of(nu), float(1 - confidence) / 2",
        "power, outside = 2 * power_of(nu), float(1 - confidence) / 2",
        ("evaluate/accuracy/test_tapered.py::test_the_largest_spread_is_allowed_and_no_larger",),
    ),
    Twin(
        "noise between whole numbers is taken for that of a line",
        "evaluate/accuracy/spreads.py",
        "points = values + 0.5",
        "points = values + 1",
        ("evaluate/accuracy/test_tapered.py::test_the_largest_spread_is_allowed_and_no_larger",),
    ),
    Twin(
        "pure epsilon is converted by half of what randomised response loses",
        "laws/bounded_range.py",
        "(ball(exact) / 2).tanh()",
        "(ball(exact) / 4).tanh()",
        ("laws/test_bounded_range.py::test_randomised_response_attains_it_and_never_exceeds_it",),
    ),
    Twin(
        "a goal is promised to an answer that decides which cells are published",
        "report/losses.py",
        "if any(isinstance(each.cells, SelectCells) for each in groupings):",
        "if False:",
        (
            "report/test_evaluation.py::"
            "test_an_answer_that_decides_which_cells_are_published_is_not_promised_the_goal",
        ),
    ),
    Twin(
        "two budgets of one name are compared",
        "evaluate/variants.py",
        'name = f"{text(factor)}{_BUDGET}"',
        'name = f"{float(factor):g}{_BUDGET}"',
        ("evaluate/test_variants.py::test_no_two_ways_have_one_name",),
    ),
    Twin(
        "ways that are alike are told apart by the last digits of a float",
        "report/errors.py",
        "alike = [name for name in alike if _are_alike(numbers[name], least)]",
        "alike = [name for name in alike if numbers[name] == least]",
        ("report/test_ties.py::test_one_that_is_least_in_both_is_no_way_from_one_to_the_other",),
    ),
)
