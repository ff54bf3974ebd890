"""Twins of the session, the command line, and what only the curator may see."""

from tests.twins.twin import Twin

_LINKED = "lab/audit/test_doors_linked.py"

TWINS = (
    Twin(
        "a change is that of the last period alone where a value is missing now",
        "tables/linking.py",
        "f\"CASE WHEN count({value}) > 0 THEN {' - '.join(sides)} END\"",
        "f\"CASE WHEN count({value}) > 1 THEN {' - '.join(sides)} END\"",
        (f"{_LINKED}::test_changes_are_those_of_the_rows_as_they_were_spelled[Arrow]",),
    ),
    Twin(
        "the last of two periods does not count in a snapshot",
        "tables/snapshots.py",
        "    for each in (this, last):\n        mixed.update(framed(each.encode()))",
        "    for each in (this, this):\n        mixed.update(framed(each.encode()))",
        (
            f"{_LINKED}::test_changes_are_those_of_the_rows_as_they_were_spelled[Arrow]",
            f"{_LINKED}::test_changes_are_those_of_the_rows_as_they_were_spelled[Parquet]",
        ),
    ),
    Twin(
        "a categorical column of Polars is taken for its first text",
        "tables/snapshots.py",
        "each.dictionary.cast(pa.large_string()).take(each.indices)",
        "each.dictionary.cast(pa.large_string()).take(pc.multiply(each.indices, 0))",
        ("tables/test_snapshots.py::test_a_categorical_column_of_polars_is_what_it_holds",),
    ),
    Twin(
        "a session answers before it charges",
        "session.py",
        "        return run(planned, self._table, charge=charge)\n",
        "        answers = run(planned, self._table)\n        charge()\n        return answers\n",
        ("test_session.py::test_a_charge_is_never_given_back",),
    ),
    Twin(
        "a rollup is paid for whole and answered with its first table",
        "session.py",
        "        if len(planned.groupings) > 1:\n",
        "        if not planned.groupings:\n",
        ("test_session.py::test_several_groupings_are_no_one_table",),
    ),
    Twin(
        "a mistyped option of SQL text is said in Python's words",
        "session.py",
        "            check_known(options)\n",
        "",
        ("test_session.py::test_a_mistyped_option_is_said_in_our_words",),
    ),
    Twin(
        "a mechanism on rows runs before it is charged",
        "mechanisms/rows.py",
        "        charge()\n"
        "        result = sealed(_FAILED, lambda: _withheld(planned.mechanism, given))\n",
        "        result = sealed(_FAILED, lambda: _withheld(planned.mechanism, given))\n"
        "        charge()\n",
        ("test_session.py::test_any_mechanism_goes_through_the_same_door",),
    ),
    Twin(
        "a session does not say what its names mean",
        "session.py",
        "return meanings_in(self._table.schema, policy)",
        "return {}",
        ("test_session.py::test_a_name_means_the_same_in_every_session_of_a_ledger",),
    ),
    Twin(
        "a session charges all data as one snapshot",
        "session.py",
        "        check_unchanged(origin)\n        return self._snapshot",
        '        check_unchanged(origin)\n        return "data"',
        ("test_session.py::test_a_session_says_which_data_it_asked",),
    ),
    Twin(
        "a session charges a changed file as the file it was",
        "session.py",
        "        check_unchanged(origin)\n        return self._snapshot",
        "        return self._snapshot",
        ("test_session.py::test_a_file_that_changes_under_a_session_is_noticed",),
    ),
    Twin(
        "an answer is charged though its file changed while it was read",
        "session.py",
        "        check_unchanged(origin)\n",
        "",
        ("test_session.py::test_a_file_that_changes_under_a_session_is_noticed",),
    ),
    Twin(
        "a table that is read anew by each query needs no name for its state",
        "tables/snapshots.py",
        "        case Elsewhere() if name is None:\n",
        "        case Elsewhere() if False:\n",
        ("test_session.py::test_a_table_that_is_read_anew_by_each_query_needs_a_name",),
    ),
    Twin(
        "a query that cannot be run is previewed as if it could",
        "session.py",
        "        check_plan(planned)\n        return planned",
        "        return planned",
        ("test_session.py::test_what_cannot_be_run_is_refused_before_it_is_charged",),
    ),
    Twin(
        "a session promises what was spent and not its budget",
        "session.py",
        "return self._ledger.part(self._period).budget\n",
        "return self._ledger.part(self._period).spent.total()\n",
        ("test_session.py::test_a_query_is_charged_and_answered",),
    ),
    Twin(
        "a lost ledger is made anew",
        "session.py",
        "    elif new:\n",
        "    elif new or not Path(ledger).exists():\n",
        ("test_session.py::test_a_lost_ledger_is_not_made_again",),
    ),
    Twin(
        "a table of confidential results carries no mark",
        "evaluate/confidential.py",
        'file.write(f"# {HEADER}\\n".encode())',
        "pass",
        ("evaluate/test_confidential.py::test_a_new_folder_is_closed_and_marked",),
    ),
    Twin(
        "confidential files may be read by others",
        "evaluate/confidential.py",
        "0o644 if self.is_public else 0o600",
        "0o644",
        ("evaluate/test_confidential.py::test_a_new_folder_is_closed_and_marked",),
    ),
    Twin(
        "confidential results go to a folder that others may read",
        "evaluate/confidential.py",
        "if HAS_MODES and mode & 0o077:",
        "if False:",
        ("evaluate/test_confidential.py::test_an_open_folder_a_release_and_a_file_are_refused",),
    ),
    Twin(
        "realised losses are twice what they are",
        "evaluate/losses/changes.py",
        "        return currency.cost(scale, step)\n",
        "        return 2 * currency.cost(scale, step)\n",
        (
            "evaluate/losses/test_realised.py"
            "::test_the_realised_loss_is_the_divergence_of_the_released_numbers",
        ),
    ),
    Twin(
        "an error that nobody foresaw is shown while data is open",
        "cli/command.py",
        "        if isinstance(error, OSError) and error.errno is not None:\n            raise\n",
        "        raise\n",
        ("cli/test_errors.py::test_while_data_is_open_an_unforeseen_error_is_withheld",),
    ),
    Twin(
        "a refusal ends like a success",
        "cli/command.py",
        "code = FAULT if isinstance(error, InternalError) else REFUSED",
        "code = FAULT if isinstance(error, InternalError) else 0",
        ("cli/test_release.py::test_without_a_ledger_it_says_how_to_make_one",),
    ),
    Twin(
        "confidential results are shown without a mark",
        "cli/confidential.py",
        "    if not is_public:\n        show(",
        "    if is_public:\n        show(",
        ("cli/test_evaluate.py::test_the_report_is_private_marked_and_free",),
    ),
    Twin(
        "a picture lets its title be markup",
        "report/drawing.py",
        "<title>{escape(plain(title))}</title>",
        "<title>{plain(title)}</title>",
        ("report/test_drawing.py::test_the_title_is_in_the_picture_and_harmless",),
    ),
    Twin(
        "a report lets names be markup",
        "report/page.py",
        "autoescape=True,",
        "autoescape=False,",
        ("report/test_page.py::test_hostile_texts_change_no_element",),
    ),
)
