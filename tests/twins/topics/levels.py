"""Twins of base and changes: two linked periods, and levels that are added up."""

from tests.twins.twin import Twin

LINKING, ADDED = "tables/linking.py", "release/accumulating.py"
LINKED, SERIES = "tables/test_linking.py", "cli/test_series.py"
REPLAYED = "lab/audit/test_linked.py"

TWINS = (
    Twin(
        "changes are those from this period to the last",
        LINKING,
        '_SIDES = {"this": ">", "last": "<"}',
        '_SIDES = {"this": "<", "last": ">"}',
        (f"{LINKED}::test_each_id_has_its_change_or_two_records_if_it_moved",),
    ),
    Twin(
        "exits are dropped",
        LINKING,
        "SELECT {selected or '1 AS _perrecord_one'} FROM ({changes}) AS changes\"",
        "SELECT {selected or '1 AS _perrecord_one'} FROM ({changes}) AS changes WHERE {ID} IN "
        '(SELECT {ID} FROM ({rows}) AS kept WHERE {SIGN} > 0)"',
        (f"{LINKED}::test_changes_added_to_the_last_levels_are_those_of_this_period_exactly",),
    ),
    Twin(
        "rows of one id are one record wherever they are",
        "tables/records.py",
        "    groups = list(schema.grouped_rows)\n    if schema.unit",
        "    groups = [each for each in schema.grouped_rows if each in names]\n    if schema.unit",
        (f"{LINKED}::test_each_id_has_its_change_or_two_records_if_it_moved",),
    ),
    Twin(
        "what is no number on one side is no change",
        LINKING,
        "CASE WHEN count({value}) > 0 THEN",
        "CASE WHEN count({value}) = count(*) THEN",
        (
            f"{LINKED}::test_changes_added_to_the_last_levels_are_those_of_this_period_exactly",
            f"{REPLAYED}::test_no_record_of_a_table_of_changes_loses_more_than_its_policy_says",
        ),
    ),
    Twin(
        "a record that was not there last period counts as one step",
        LINKING,
        "THEN {value} END), {dialect.literal(0)})",
        "THEN {value} END), CAST({1 if sign == '<' else 0} AS BIGINT))",
        (f"{LINKED}::test_the_engine_links_as_python_does",),
    ),
    Twin(
        "a value may be so large that a difference overflows",
        LINKING,
        "LARGEST_LINKED = 2**62 - 1",
        "LARGEST_LINKED = 2**63 - 1",
        (f"{LINKED}::test_a_change_of_the_largest_values_is_a_64_bit_integer",),
    ),
    Twin(
        "several rows of one period share an id",
        LINKING,
        "copies > 1",
        "copies > 9",
        (f"{LINKED}::test_ids_that_name_no_single_row_are_refused_and_not_quoted",),
    ),
    Twin(
        "rows without an id are one record",
        LINKING,
        'wrong = (f"{ID} IS NULL",',
        'wrong = ("1 = 0",',
        (f"{LINKED}::test_ids_that_name_no_single_row_are_refused_and_not_quoted",),
    ),
    Twin(
        "a release does not look whether ids can be linked",
        "release/publish.py",
        "        check_links(table)\n",
        "",
        ("release/test_linked_release.py::test_ids_that_cannot_be_linked_cost_nothing",),
    ),
    Twin(
        "periods that change places are the same data",
        "tables/snapshots.py",
        "    for each in (this, last):\n        mixed.update(framed(each.encode()))",
        "    for each in sorted((this, last)):\n        mixed.update(framed(each.encode()))",
        (f"{LINKED}::test_snapshots_cover_both_periods_and_their_order",),
    ),
    Twin(
        "the name of one period stands for the file of the other",
        "tables/snapshots.py",
        "if name is None or any(isinstance(each, Files) for each in origin.sides):",
        "if name is None:",
        (f"{LINKED}::test_a_name_does_not_stand_for_a_file_beside_it",),
    ),
    Twin(
        "changes are added up in any order of their periods",
        "release/accumulating.py",
        "(place and places[place - 1] >= places[place])",
        "(place and places[place - 1] == places[place])",
        (f"{SERIES}::test_folders_of_a_ledger_with_periods_follow_each_other",),
    ),
    Twin(
        "levels and changes are added up whatever counts in them",
        "release/accumulating.py",
        "if rule is not None and rule != one:",
        "if rule is None:",
        (f"{SERIES}::test_a_base_that_left_out_giants_is_no_level_of_their_changes",),
    ),
    Twin(
        "the identity of a release forgets the period before",
        "release/spec/load.py",
        "return (*self.own_files, *(() if self.last is None else matching_files(self.last)))",
        "return self.own_files",
        ("release/test_linked_release.py::test_another_period_before_is_another_release",),
    ),
    Twin(
        "a change and its level have one name in a ledger",
        "tables/schema.py",
        'change = "change from the period before: " if self.is_linked else ""',
        'change = ""',
        (f"{LINKED}::test_one_name_has_one_meaning_in_a_ledger",),
    ),
    Twin(
        "a change on the page is cut to what a row may hold",
        LINKING,
        "    return _reaching(measure, 2 * measure.largest)",
        "    return _reaching(measure, measure.largest)",
        (f"{LINKED}::test_a_change_of_the_largest_values_is_a_64_bit_integer",),
    ),
    Twin(
        "bounds of a blurred total of changes are published",
        "queries/methods/tapering.py",
        "if roles.is_linked and not self.is_signed:",
        "if False:",
        (f"{LINKED}::test_a_blurred_total_of_changes_has_no_bounds",),
    ),
    Twin(
        "errors of levels are those of the base alone",
        "released/derived.py",
        "        variances += (float(factor) * given[name].errors) ** 2",
        "        variances = np.maximum(variances, (float(factor) * given[name].errors) ** 2)",
        (
            f"{SERIES}::test_levels_changes_and_growth_are_those_of_the_published_numbers",
            "release/test_levels.py::test_levels_and_changes_have_the_errors_of_the_theory",
        ),
    ),
    Twin(
        "a level forgets the changes before its own",
        ADDED,
        "    level = Linear(tuple((name, _ONE) for name in sorted(names)))",
        '    level = Linear(tuple((name, _ONE) for name in sorted({"p0", names[-1]})))',
        (f"{SERIES}::test_levels_changes_and_growth_are_those_of_the_published_numbers",),
    ),
    Twin(
        "changes are added to the level of another measure",
        ADDED,
        "if not _is_level_of(base, change.change_of):",
        "if not base.definition:",
        (f"{SERIES}::test_a_number_of_another_measure_is_not_added",),
    ),
    Twin(
        "a total of cut changes is added to levels",
        "release/described.py",
        'return None if bounds else f"{answer.kind} of {column}"',
        'return f"{answer.kind} of {column}"',
        ("release/test_linked_release.py::test_only_what_adds_up_says_which_level_it_changes",),
    ),
    Twin(
        "one release of changes is added twice",
        ADDED,
        "if folder.charge in charges[:place]:",
        "if folder.charge in charges[:0]:",
        (f"{SERIES}::test_what_is_no_series_is_refused_or_left_out",),
    ),
)
