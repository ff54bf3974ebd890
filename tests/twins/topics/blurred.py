"""Twins of blurred answers on their way: sizes, squares, noise, intervals, documents."""

from tests.twins.twin import Twin

OWN, PUBLIC = "release/test_blurred.py", "release/test_public_scale.py"
RELEASED = "released/blurred.py"

TWINS = (
    Twin(
        "a public scale is ignored",
        "queries/noise_plan.py",
        "return laws, numbers[widening.positions(keys)]",
        "return laws, 0 * numbers[widening.positions(keys)] + numbers[-1]",
        (f"{PUBLIC}::test_noise_of_a_cell_grows_with_its_public_size",),
    ),
    Twin(
        "public sizes narrow the noise below what is charged for",
        "queries/noise_plan.py",
        "laws = tuple(self.law(student_scale(least.size + each, least.nu)) for each in every)",
        "laws = tuple(self.law(student_scale(each or least.size, least.nu)) for each in every)",
        (f"{PUBLIC}::test_noise_of_a_cell_grows_with_its_public_size",),
    ),
    Twin(
        "public sizes stand in the order of the file",
        "tables/sizes.py",
        "sizes = in_order(rows, len(grouped))[shown]",
        "sizes = rows[shown]",
        (f"{PUBLIC}::test_noise_of_a_cell_grows_with_its_public_size",),
    ),
    Twin(
        "of two sizes of a key one is taken",
        "tables/sizes.py",
        "if len(self.keys) < table.num_rows:",
        "if False:",
        (f"{PUBLIC}::test_a_scale_that_does_not_fit_is_refused",),
    ),
    Twin(
        "what is in a scale does not decide which release it is",
        "release/spec/load.py",
        "for each in [*keys, *lookups, *scales])",
        "for each in [*keys, *lookups])",
        (f"{PUBLIC}::test_what_is_in_the_scale_decides_which_release_it_is",),
    ),
    Twin(
        "squares are of all records, whoever passes the filter",
        "queries/scan.py",
        "f\"{''.join(parts.joins)}{condition}\"",
        "f\"{''.join(parts.joins)}{condition if len(scan.aggregates) == 1 else ''}\"",
        (f"{OWN}::test_squares_of_records_that_a_filter_leaves_out_are_left_out",),
    ),
    Twin(
        "the mixed part of a square is counted once",
        "queries/aggregates.py",
        "return (1, 2 * ROOT, ROOT**2)[part.power]",
        "return (1, ROOT, ROOT**2)[part.power]",
        (f"{OWN}::test_squares_beyond_128_bits_are_exact",),
    ),
    Twin(
        "squares are added up as floats",
        "tables/dialects/duckdb.py",
        "ELSE CAST({value} AS HUGEINT) * {value} END)",
        "ELSE CAST(CAST({value} AS DOUBLE) * {value} AS HUGEINT) END)",
        (f"{OWN}::test_squares_beyond_64_bits_are_exact",),
    ),
    Twin(
        "squares are added up in 64 bits whatever their size",
        "tables/dialects/duckdb.py",
        "_ROOT = 3_037_000_499",
        "_ROOT = 9_037_000_499",
        (f"{OWN}::test_squares_beyond_64_bits_are_exact",),
    ),
    Twin(
        "squares of the whole table widen every cell",
        "queries/cells.py",
        "        return tally.sums()\n",
        "        if isinstance(aggregate, SquareTotal):\n"
        "            tally._numbers[:] = tally._numbers.sum()\n"
        "        return tally.sums()\n",
        (f"{OWN}::test_squares_are_those_of_the_cell_on_the_grid",),
    ),
    Twin(
        "giants widen no noise",
        "queries/cells.py",
        "if giants is not None and isinstance(aggregate, SquareTotal):",
        "if False:",
        (f"{OWN}::test_squares_beyond_128_bits_are_exact",),
    ),
    Twin(
        "giants of one sign are not counted",
        "queries/values.py",
        "OR {value} <= {dialect.literal(-GIANT)})",
        "OR {value} <= {dialect.literal(-(2**63 - 1))})",
        (f"{OWN}::test_records_are_giants_from_one_size_on_and_are_scanned_by_themselves",),
    ),
    Twin(
        "giants that a filter leaves out widen the noise",
        "queries/scan.py",
        'condition = f" WHERE {has_giant(scan.only, dialect)}{passes}"',
        'condition = f" WHERE {has_giant(scan.only, dialect)}"',
        (f"{OWN}::test_records_are_giants_from_one_size_on_and_are_scanned_by_themselves",),
    ),
    Twin(
        "noise of a cell grows with the squares of the next",
        "mechanisms/additive.py",
        "law.spread, growth, revealed(squares),",
        "law.spread, growth, revealed(squares)[::-1],",
        (f"{OWN}::test_noise_grows_with_the_records_of_the_cell",),
    ),
    Twin(
        "noise does not grow with the records",
        "mechanisms/additive.py",
        "growth = law.nu * method.by**2",
        "growth = method.by**2 / 10**9",
        (f"{OWN}::test_noise_grows_with_the_records_of_the_cell",),
    ),
    Twin(
        "a blurred total is published with a standard error",
        RELEASED,
        "        low, high = self._ends(confidence)\n        shown",
        '        yield "_se", pa.nulls(len(self.numbers), pa.float64())\n'
        "        low, high = self._ends(confidence)\n        shown",
        (f"{OWN}::test_no_standard_error_is_published",),
    ),
    Twin(
        "signed values have intervals",
        RELEASED,
        "if confidence is None or self.is_signed:",
        "if confidence is None:",
        (f"{OWN}::test_no_standard_error_is_published",),
    ),
    Twin(
        "the lower end leaves out half a step",
        RELEASED,
        "below, above = floats(self.numbers) - 0.5,",
        "below, above = floats(self.numbers),",
        (f"{OWN}::test_what_stands_beside_follows_from_the_number_alone",),
    ),
    Twin(
        "the upper end leaves out that noise grows",
        RELEASED,
        "(above + root) / q)",
        "above + root)",
        (f"{OWN}::test_intervals_cover_cells_of_one_of_two_and_of_many",),
    ),
    Twin(
        "intervals of little confidence are as narrow as the law",
        RELEASED,
        "level = max(confidence_level(confidence), LEAST_CONFIDENCE)",
        "level = confidence_level(confidence)",
        (f"{OWN}::test_less_confidence_than_the_proof_holds_for_is_not_used",),
    ),
    Twin(
        "there is an upper end whatever the noise",
        RELEASED,
        "if q <= 0:",
        "if q < -(10**9):",
        (f"{OWN}::test_there_is_no_upper_end_where_noise_may_be_as_large_as_the_total",),
    ),
    Twin(
        "the type of a column shows how wide its noise was",
        "released/numbers.py",
        "return numbers.astype(kind, copy=False)",
        "return numbers",
        (f"{OWN}::test_the_kind_of_a_column_depends_on_its_numbers_alone",),
    ),
    Twin(
        "blurred totals are fitted as if their noise were public",
        "queries/hierarchies/families.py",
        "if any(step.blurred is not None for step in answer.measurements):",
        "if False:",
        (f"{OWN}::test_a_blurred_answer_is_not_made_consistent_or_derived_from",),
    ),
    Twin(
        "a unit's squares are left out of what it loses",
        "evaluate/losses/realised.py",
        'inner.append(f"sum({value} * {value}) AS q{place}")',
        'inner.append(f"0 * sum({value}) AS q{place}")',
        (f"{OWN}::test_realised_losses_are_those_of_blurred_noise",),
    ),
    Twin(
        "words take a confidential standard error for none at all",
        "release/processing/status.py",
        "Uncertain(values, bounds.to_numpy(False))",
        "Uncertain(values, 0 * values)",
        ("release/test_blurred.py::test_words_follow_from_the_published_bound",),
    ),
    Twin(
        "signed totals are floored",
        "released/blurred.py",
        "return None if self.is_signed else NoisyColumn",
        "return NoisyColumn",
        ("release/test_blurred.py::test_words_follow_from_the_published_bound",),
    ),
    Twin(
        "tuning moves blurred totals",
        "queries/answers/answer.py",
        "return any(step.blurred is not None or step.widening is not None for step in steps)",
        "return False and bool(steps)",
        ("evaluate/tuning/test_blurred.py::test_blurred_totals_keep_their_amounts",),
    ),
    Twin(
        "tuning forgets what the sizes of cells add to their noise",
        "evaluate/tuning/needs.py",
        "            most = most - float(more)\n",
        "",
        (
            "evaluate/tuning/test_blurred.py"
            "::test_a_goal_that_names_a_blurred_total_is_just_reached",
        ),
    ),
    Twin(
        "errors of blurred totals are those of cells without records",
        "evaluate/accuracy/truths.py",
        "DiscreteStudent(least.spread + more, least.nu) for more in different",
        "DiscreteStudent(least.spread, least.nu) for more in different",
        (
            "lab/audit/test_figures.py"
            "::test_errors_of_blurred_totals_are_recomputed_from_their_records",
        ),
    ),
    Twin(
        "the audit draws blurred noise of a cell without records",
        "lab/audit/replay/redrawn.py",
        'self.recount.squares(step.measure or "", cell)',
        'self.recount.squares(step.measure or "", [])',
        (
            "lab/audit/test_replay_blurred.py"
            "::test_blurred_totals_follow_from_records_prices_and_bits",
        ),
    ),
)
