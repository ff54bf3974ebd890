"""Twins of the studio: who is let in, whose text is overwritten, what is taken for public."""

from tests.twins.twin import Twin

SERVER, DOORS, WORKBENCH, EDITS, RELEASING, CHOOSING = (
    "studio/test_server.py",
    "studio/test_doors.py",
    "studio/test_workbench.py",
    "studio/test_edits.py",
    "studio/test_releasing.py",
    "studio/test_choosing.py",
)

TWINS = (
    Twin(
        "the studio answers to any name of this machine",
        "studio/server.py",
        'if headers.getlist("host") != [self.access.host]:',
        'if headers.get("host") is None:',
        (f"{SERVER}::test_another_host_is_refused",),
    ),
    Twin(
        "the studio takes forms of other sites",
        "studio/server.py",
        'if origin not in (None, own) or (request.method != "GET" and origin != own):',
        "if False:",
        (f"{SERVER}::test_a_form_of_another_origin_is_refused",),
    ),
    Twin(
        "the studio's token can be used again",
        "studio/server.py",
        "        self.token = None\n",
        "",
        (f"{SERVER}::test_the_token_is_good_for_one_entry",),
    ),
    Twin(
        "the studio answers whoever asks",
        "studio/server.py",
        'if request.url.path != "/enter" and not self.access.knows(request.cookies.get(COOKIE)):',
        "if False:",
        (f"{SERVER}::test_without_the_cookie_nothing_is_answered",),
    ),
    Twin(
        "the studio writes over what somebody else has saved",
        "studio/spec_file.py",
        "if self.read() != before:",
        "if False:",
        (
            f"{WORKBENCH}::test_a_change_in_the_last_instant_is_not_overwritten",
            f"{WORKBENCH}::test_a_file_is_compared_before_it_is_written",
        ),
    ),
    Twin(
        "a choice of the studio runs over the same one made in the file",
        "studio/workbench.py",
        'if before.get(name, "") != current(answer).get(name)]',
        "if False]",
        (f"{WORKBENCH}::test_two_changes_of_one_number_are_both_shown",),
    ),
    Twin(
        "what the studio writes is not read back",
        "studio/edits.py",
        'is_right = parse_document(made, "").value == _expected(text, change)',
        "is_right = True",
        (f"{EDITS}::test_a_change_that_would_say_something_else_is_refused",),
    ),
    Twin(
        "the studio takes the source itself for public data",
        "studio/doors.py",
        "if given in {each.resolve() for each in loaded.source_files}:",
        "if False:",
        (f"{SERVER}::test_the_source_itself_is_not_taken_for_public",),
    ),
    Twin(
        "the studio shows errors of amounts that were chosen before",
        "studio/facts.py",
        "if last is None or last[0] != facts.text:",
        "if last is None:",
        (f"{SERVER}::test_errors_by_size_are_the_librarys",),
    ),
    Twin(
        "cells that were counted serve a plan that counts others",
        "evaluate/accuracy/truths.py",
        "if planned.schema != self.schema or _bare(planned.scans) != self.scans:",
        "if False:",
        (
            "evaluate/accuracy/test_counted.py::test_cells_serve_plans_that_count_the_same_and_no_others",
        ),
    ),
    Twin(
        "the studio counts confidential records without being asked to",
        "studio/doors.py",
        'return self.kind != "none"',
        "return True",
        (f"{DOORS}::test_no_value_of_a_record_is_answered_logged_or_written[closed]",),
    ),
    Twin(
        "panels of the studio that rest on confidential records carry no mark",
        "studio/doors.py",
        'return HEADER if self.kind == "confidential" else ""',
        'return ""',
        (f"{DOORS}::test_no_value_of_a_record_is_answered_logged_or_written[confidential]",),
    ),
    Twin(
        "the studio reads values of confidential records without being asked to",
        "studio/workbench.py",
        "values=DataValues(door) if door.has_data else None,",
        "values=DataValues(door),",
        (
            f"{DOORS}::test_no_value_of_a_record_is_answered_logged_or_written[closed]",
            f"{SERVER}::test_without_a_door_there_are_no_values",
        ),
    ),
    Twin(
        "what a change costs is kept for records of other sizes",
        "evaluate/losses/record_sizes.py",
        "if before is None or before[0] != sized:",
        "if before is None:",
        ("evaluate/test_evaluation.py::test_what_was_kept_of_other_plans_changes_no_figure",),
    ),
    Twin(
        "records that the studio draws are those of the source",
        "studio/doors.py",
        "return open_table(loaded, drawn_table(loaded, self.rows))",
        "return open_table(loaded)",
        (f"{DOORS}::test_drawn_records_have_the_columns_and_keys_of_the_spec",),
    ),
    Twin(
        "an error that the studio shows may quote a record",
        "studio/server.py",
        'words = f"{type(error).__name__}: an unexpected error. What it said is withheld."',
        "words = str(error)",
        (f"{SERVER}::test_an_error_that_nobody_foresaw_is_withheld",),
    ),
    Twin(
        "what is known of an answer serves it at other amounts",
        "evaluate/accuracy/truths.py",
        "(grouping.query, columns, charged.answer) in apart_from",
        "any(each[2].name == charged.answer.name for each in apart_from)",
        ("evaluate/accuracy/test_counted.py::test_answers_that_are_known_are_left_out",),
    ),
    Twin(
        "a yes in the studio is good for any number of releases",
        "studio/releasing.py",
        "            asked, self.question = self.question, None\n",
        "            asked = self.question\n",
        (f"{RELEASING}::test_nothing_is_released_by_a_link_a_guess_or_another_site",),
    ),
    Twin(
        "any yes releases what the studio has asked for",
        "studio/releasing.py",
        "if asked is None or not secrets.compare_digest(token.encode(), asked.token.encode()):",
        "if asked is None:",
        (f"{RELEASING}::test_nothing_is_released_by_a_link_a_guess_or_another_site",),
    ),
    Twin(
        "the studio releases another spec than it has asked about",
        "studio/releasing.py",
        "        if facts.text != asked.text:\n            return False\n",
        "",
        (f"{RELEASING}::test_what_has_changed_since_is_asked_again",),
    ),
    Twin(
        "the studio charges where it has said that it would not, or otherwise",
        "studio/releasing.py",
        "return self._question(asked.kind, asked.out, facts).ledger == asked.ledger",
        "return True",
        (f"{RELEASING}::test_what_has_changed_since_is_asked_again",),
    ),
    Twin(
        "a link releases",
        "studio/choosing.py",
        'Route(address, answer, methods=["POST"])',
        'Route(address, answer, methods=["GET", "POST"])',
        (f"{RELEASING}::test_nothing_is_released_by_a_link_a_guess_or_another_site",),
    ),
    Twin(
        "values that were found for another text are taken",
        "studio/choosing.py",
        "if found is None or found.text != facts.text:",
        "if found is None:",
        (f"{CHOOSING}::test_what_was_found_is_what_tune_finds",),
    ),
    Twin(
        "medians that were counted serve others with another weight",
        "evaluate/accuracy/quantiles.py",
        "return query, choice.level, choice.bucket, choice.aggregate",
        "return query, choice.level, choice.bucket",
        (
            "evaluate/accuracy/test_counted.py::"
            "test_quantiles_that_are_known_serve_plans_that_ask_for_the_same_alone",
        ),
    ),
)
