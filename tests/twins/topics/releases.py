"""Twins of a release: charge, compute, seal, publish, and the documents."""

from tests.twins.twin import Twin

CORRECTIONS = "release/test_corrections.py"

TWINS = (
    Twin(
        "a release is published before it is sealed",
        "release/publish.py",
        'return self._publish(charge, self._seal(charge), "made")',
        "sealed = staging.digests(self.staged)\n"
        "        staging.publish(self.staged, sealed, self.target)\n"
        "        seal = self._seal(charge)\n"
        "        self.ledger.publish(charge, place=str(self.target))\n"
        '        return Outcome(self.target, charge, seal, "made")',
        (
            "release/test_release.py"
            "::test_before_the_seal_a_retry_draws_fresh_noise_under_the_same_charge[seal]",
        ),
    ),
    Twin(
        "a sealed release is computed again",
        "release/publish.py",
        'if state in ("sealed", "published"):',
        'if state == "published":',
        ("release/test_release.py::test_after_the_seal_a_retry_publishes_what_was_sealed",),
    ),
    Twin(
        "data that changes while it is read is not noticed",
        "release/publish.py",
        "if identity_of(self.loaded, self.ledger.secret, self.snapshot) != self.identity:",
        "if False:",
        ("release/test_release.py::test_data_that_changes_while_it_is_read_is_not_charged",),
    ),
    Twin(
        "a ledger from a backup draws new noise for a release that was seen",
        "release/publish.py",
        'if state == "unknown" and self._is_whole():',
        "if False:",
        (
            "release/test_release.py::test_a_ledger_restored_from_a_backup_does_not_draw_noise_again",
        ),
    ),
    Twin(
        "a release is charged after its noise was drawn",
        "release/publish.py",
        "make, charge=pay, watch=self.watch, _bits=bits)\n",
        "make, watch=self.watch, _bits=bits)\n        pay()\n",
        (
            "release/test_release.py"
            "::test_before_the_seal_a_retry_draws_fresh_noise_under_the_same_charge[released_table]",
        ),
    ),
    Twin(
        "files are copied to their place one by one",
        "release/staging.py",
        'partial = out.parent / f".{out.name}.{sealed.name[:12]}.partial"',
        "partial = out",
        ("release/test_release.py::test_a_publication_cut_short_leaves_nothing_in_its_place",),
    ),
    Twin(
        "others may read what is staged",
        "release/staging.py",
        "folder.mkdir(mode=0o700, parents=True)",
        "folder.mkdir(mode=0o755, parents=True)",
        ("release/test_release.py::test_after_the_seal_a_retry_publishes_what_was_sealed",),
    ),
    Twin(
        "what was copied is not compared with the seal",
        "release/staging.py",
        "if digests(partial) != wanted:",
        "if False:",
        ("release/test_release.py::test_a_copy_that_is_not_what_was_sealed_is_not_published",),
    ),
    Twin(
        "changed data are the same release",
        "release/identity.py",
        "files += _source_files(loaded)",
        "files += []",
        ("release/test_release.py::test_changed_data_or_a_changed_spec_is_another_release",),
    ),
    Twin(
        "a release charges all data as one snapshot",
        "release/publish.py",
        "            snapshot=self.identity.snapshot,\n",
        '            snapshot="data",\n',
        ("release/test_release.py::test_other_data_are_another_snapshot_of_the_ledger",),
    ),
    Twin(
        "files of keys are part of the snapshot",
        "release/identity.py",
        "_state(loaded, digests[len(loaded.public_files) :], secret)",
        "_state(loaded, digests, secret)",
        ("release/test_release.py::test_other_keys_are_another_release",),
    ),
    Twin(
        "changed keys are the same release",
        "release/identity.py",
        "files = [*loaded.public_files]",
        "files: list[Path] = []",
        ("release/test_release.py::test_other_keys_are_another_release",),
    ),
    Twin(
        "text of an exported table becomes a formula",
        "release/exporting/workbook.py",
        "sheet.write_string(row, place, _fitting(value))",
        "sheet.write_formula(row, place, _fitting(value))",
        ("release/test_exporting.py::test_a_workbook_holds_every_table_and_no_formula",),
    ),
    Twin(
        "names of codes are read from the source itself",
        "release/spec/labels.py",
        "if any(each.samefile(path) for each in loaded.source_files):",
        "if False:",
        ("release/test_labels.py::test_mistakes_of_the_entry_are_shown_at_its_line",),
    ),
    Twin(
        "a log quotes what an error says",
        "cli/logs.py",
        '_LOG.error("%s ends: %s", command, type(error).__name__)',
        '_LOG.error("%s ends: %s", command, repr(error.__context__ or error))',
        ("cli/test_logs.py::test_a_log_tells_what_was_done_and_nothing_of_the_data",),
    ),
    Twin(
        "two processes make one release at once",
        "systems.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)",
        ("release/test_release.py::test_one_release_is_made_by_one_process_at_a_time",),
    ),
    Twin(
        "a link among sealed files is followed",
        "release/staging.py",
        "if path.is_symlink():",
        "if False:",
        ("release/test_release.py::test_a_link_among_sealed_files_is_refused",),
    ),
    Twin(
        "keys are read from the data",
        "release/spec/pieces.py",
        "if any(each.samefile(path) for each in loaded.source_files):",
        "if False:",
        ("release/test_spec.py::test_keys_are_not_read_from_the_source_itself",),
    ),
    Twin(
        "the identity is a plain hash of the data",
        "release/identity.py",
        "    mixed = hmac.new(secret, digestmod=sha256)\n",
        '    secret = b"perrecord"\n    mixed = hmac.new(secret, digestmod=sha256)\n',
        ("release/test_release.py::test_the_identity_of_a_release_is_known_to_its_ledger_alone",),
    ),
    Twin(
        "the published delta is rounded down",
        "release/curves.py",
        "Context(prec=12, rounding=ROUND_CEILING)",
        'Context(prec=12, rounding="ROUND_FLOOR")',
        ("release/test_published.py::test_a_curve_is_never_below_the_law_and_hardly_above",),
    ),
    Twin(
        "the manifest says where the spec was",
        "release/publish.py",
        "release_files(workload, tables, public, Paid(charge.hash))",
        'release_files(workload, tables, public, Paid(f"{charge.hash} {self.loaded.path}"))',
        ("release/test_release.py::test_no_file_of_a_release_says_where_it_was_made",),
    ),
    Twin(
        "the page lets names be markup",
        "release/page.py",
        "autoescape=True,",
        "autoescape=False,",
        ("release/test_policy_page.py::test_the_markup_has_no_handlers_styles_or_addresses",),
    ),
    Twin(
        "a name can end the page's data",
        "release/page.py",
        'written.replace("<", "\\\\u003c").replace',
        "written.replace",
        ("release/test_policy_page.py::test_the_data_is_plain_ascii_without_markup",),
    ),
    Twin(
        "values of dimensions are numbers that the page's script rounds",
        "release/page_data.py",
        "return _tag(part)",
        "return part",
        (
            "release/test_policy_page.py::"
            "test_no_number_of_the_data_is_one_that_a_script_would_round",
            "release/test_policy_page.py::test_the_data_say_what_the_document_says",
        ),
    ),
    Twin(
        "a policy is read back from its own text",
        "cli/policy.py",
        "published.total.document()",
        "__import__('json').loads(published.total.to_json())",
        ("surface/test_source.py::test_nothing_is_parsed_back_from_its_own_text",),
    ),
    Twin(
        "a database is read after the charge",
        "release/publish.py",
        "        check_text(table)  # and a database that cannot be read costs no budget\n",
        "        self._charge(workload)\n        check_text(table)\n",
        ("release/test_release.py::test_a_database_that_cannot_be_read_costs_no_budget",),
    ),
    Twin(
        "noisy numbers are published beside the tables",
        "release/publish.py",
        "if not name.startswith(_NUMBERS)",
        "if name != _RENDERING",
        (f"{CORRECTIONS}::test_numbers_are_sealed_and_never_published",),
    ),
    Twin(
        "numbers are shown anew that are not what was sealed",
        "release/publish.py",
        'their charge is the one they had."""\n        self._check_sealed(seal)\n',
        'their charge is the one they had."""\n',
        (f"{CORRECTIONS}::test_numbers_that_are_lost_or_changed_are_not_shown",),
    ),
    Twin(
        "a correction draws fresh noise under the old charge",
        "release/publish.py",
        '        if state in ("sealed", "published"):\n',
        '        if state == "published":\n            state = "charged"\n'
        '        if state == "sealed":\n',
        (f"{CORRECTIONS}::test_a_correction_shows_the_same_numbers_at_no_charge",),
    ),
    Twin(
        "kept numbers are given the noise of another plan",
        "mechanisms/kept.py",
        "if [_noise(part) for column in columns for part in column.parts] != then:",
        "if len([part for column in columns for part in column.parts]) != len(then):",
        ("mechanisms/test_kept.py::test_numbers_never_get_other_noise_than_they_were_drawn_with",),
    ),
    Twin(
        "a threshold is only shown",
        "release/spec/models.py",
        "    splits: Mapping[str, SplitForm] = Field(default_factory=dict)",
        "    splits: Annotated[Mapping[str, SplitForm], SHOWN] = Field(default_factory=dict)",
        (f"{CORRECTIONS}::test_what_decides_a_number_is_another_release",),
    ),
    Twin(
        "the period does not decide which release it is",
        "release/spec/models.py",
        "    period: PeriodName | None = None\n",
        "    period: Annotated[PeriodName | None, SHOWN] = None\n",
        ("release/test_series.py::test_the_same_data_in_another_period_is_another_release",),
    ),
    Twin(
        "what was charged in earlier periods is left out",
        "release/series.py",
        "own + sum(loss for _, loss in before),",
        "own + sum(loss for period, loss in before if period == self.period),",
        ("release/test_series.py::test_two_years_are_charged_to_their_parts_and_add_up",),
    ),
    Twin(
        "policies of earlier periods are evaluated whatever their names meant",
        "release/series.py",
        "if each not in schema.fields or charge.meanings.get(each) != schema.meaning(each)",
        "if each not in schema.fields",
        (
            "release/test_series.py"
            "::test_what_was_charged_while_a_name_meant_something_else_is_not_counted",
        ),
    ),
    Twin(
        "a revision that is shown anew is one if the spec says so",
        "release/series.py",
        "revision = until.revision and (revision or until.revision)",
        "pass",
        ("release/test_series.py::test_the_ledger_knows_whether_data_was_revised",),
    ),
    Twin(
        "a corrected release counts what was charged after it",
        "release/series.py",
        "if until is not None and each.number >= until.number:",
        "if False:",
        (
            "release/test_series.py"
            "::test_a_corrected_release_knows_what_was_charged_before_it_and_no_more",
        ),
    ),
)
