"""Twins of the ledger: what was charged, durably, and never more than the budget (T4)."""

from tests.twins.twin import Twin

TWINS = (
    Twin(
        "a comparison made before another charge is trusted after it",
        "accounting/ledger.py",
        "if compared_at != seen.last:",
        "if compared_at is None:",
        (
            "accounting/test_concurrency.py::test_what_was_compared_before_another_charge_is_not_trusted",
        ),
    ),
    Twin(
        "the budget is compared at the smallest record",
        "accounting/refusals.py",
        "if total.is_below(budget):",
        "if total.minimum() <= budget.minimum():",
        ("accounting/test_ledger.py::test_a_charge_is_accepted_up_to_the_budget_and_not_beyond",),
    ),
    Twin(
        "each charge is held against the whole budget",
        "accounting/refusals.py",
        "total = spent + policy\n",
        "total = policy\n",
        ("accounting/test_ledger.py::test_a_charge_is_accepted_up_to_the_budget_and_not_beyond",),
    ),
    Twin(
        "a name may change its meaning",
        "accounting/entries.py",
        "if then != given.get(name):",
        "if False:",
        ("release/test_release.py::test_a_name_keeps_its_meaning_for_as_long_as_the_ledger_lasts",),
    ),
    Twin(
        "a charge without a seal is given back",
        "accounting/budget.py",
        "    counted: dict[int, tuple[Policy, int]] = {}\n    for entry in entries:\n"
        "        if isinstance(entry, Charge):\n",
        "    counted: dict[int, tuple[Policy, int]] = {}\n    entries = list(entries)\n"
        "    sealed = {each.charge for each in entries if hasattr(each, 'digests')}\n"
        "    for entry in entries:\n"
        "        if isinstance(entry, Charge) and entry.number in sealed:\n",
        ("test_session.py::test_a_charge_is_never_given_back",),
    ),
    Twin(
        "equal charges count once",
        "accounting/budget.py",
        "sums.extend([policy] * count if policy.slots else [policy * count])",
        "sums.extend([policy])",
        ("accounting/test_ledger.py::test_equal_charges_each_count_also_after_opening",),
    ),
    Twin(
        "a notebook takes the name of a ledger for markup",
        "accounting/opened.py",
        "{html.escape(chr(10).join(lines))}",
        "{chr(10).join(lines)}",
        ("accounting/test_ledger.py::test_it_shows_itself",),
    ),
    Twin(
        "the budget is checked against what this process last saw as spent",
        "accounting/ledger.py",
        "        with writing(self._path) as connection:\n"
        "            seen = self._refreshed(connection)\n"
        "            part = seen.parts.part(",
        "        before = self._seen.parts\n"
        "        with writing(self._path) as connection:\n"
        "            now = self._refreshed(connection)\n"
        "            seen = Seen(now.count, now.last, before)\n"
        "            part = seen.parts.part(",
        ("accounting/test_concurrency.py::test_a_check_outside_the_transaction_is_caught",),
    ),
    Twin(
        "an identity that was charged is charged again",
        "accounting/ledger.py",
        "        fields = charge_fields(\n            policy,\n            label,\n",
        "        identity = identity and f'{identity} {secrets.token_hex(4)}'\n"
        "        fields = charge_fields(\n            policy,\n            label,\n",
        ("accounting/test_ledger.py::test_an_identity_is_charged_once",),
    ),
    Twin(
        "another policy passes under an identity that was charged",
        "accounting/budget.py",
        "if earlier.policy != policy:",
        "if False:",
        ("accounting/test_ledger.py::test_an_identity_is_charged_once",),
    ),
    Twin(
        "other data passes under an identity that was charged",
        "accounting/budget.py",
        "if earlier.snapshot != snapshot:",
        "if False:",
        ("accounting/test_snapshots.py::test_a_retry_on_other_data_is_refused",),
    ),
    Twin(
        "a charge forgets its snapshot",
        "accounting/entries.py",
        '        "snapshot": snapshot,\n',
        '        "snapshot": "data",\n',
        (
            "accounting/test_snapshots.py"
            "::test_a_farm_that_became_a_mine_is_not_charged_in_two_disjoint_parts",
        ),
    ),
    Twin(
        "two snapshots are added as functions of one record",
        "accounting/budget.py",
        "    if len(after.sums) == 1:\n",
        "    if after.sums:\n",
        (
            "accounting/test_snapshots.py"
            "::test_a_farm_that_became_a_mine_is_not_charged_in_two_disjoint_parts",
            "accounting/test_snapshots.py"
            "::test_no_history_of_a_record_loses_more_than_the_budget_of_any_of_its_values",
        ),
    ),
    Twin(
        "a second snapshot counts with its largest loss, and the first does not",
        "accounting/budget.py",
        "    compared = after.compared()\n    if compared is None",
        "    first = next(iter(after.sums))\n"
        "    rest = {own: each for own, each in after.sums.items() if own != first}\n"
        "    others = Spent(after.zero, rest).largest()\n"
        "    compared = None if others is None else after.sums[first] + others\n"
        "    if compared is None",
        (
            "accounting/test_snapshots.py::test_a_loss_without_a_limit_stays_on_one_snapshot",
            "accounting/test_snapshots.py"
            "::test_no_history_of_a_record_loses_more_than_the_budget_of_any_of_its_values",
        ),
    ),
    Twin(
        "charges that name no snapshot are taken for one",
        "accounting/budget.py",
        "own = entry.number if entry.snapshot is None else entry.snapshot",
        'own = entry.snapshot or ""',
        (
            "accounting/test_snapshots.py"
            "::test_charges_that_name_no_snapshot_may_have_been_made_on_any",
        ),
    ),
    Twin(
        "records without a case are left out of the largest loss",
        "policy/extremes.py",
        "total += max(map(most, (*part.table.values(), part.default)))",
        "total += max(map(most, part.table.values()))",
        ("accounting/test_snapshots.py::test_records_without_a_case_have_no_largest_loss",),
    ),
    Twin(
        "key selections of parts of the records pass on two snapshots",
        "accounting/budget.py",
        "if None in losses or any(guard or slot.split is not None for guard, slot in runs):",
        "if None in losses:",
        ("accounting/test_snapshots.py::test_key_selections_on_two_snapshots",),
    ),
    Twin(
        "other digests pass for those that were sealed",
        "accounting/ledger.py",
        'if dict(earlier.digests) != fields["digests"]:',
        "if False:",
        ("accounting/test_ledger.py::test_the_life_of_a_release",),
    ),
    Twin(
        "a charge is published without a seal",
        "accounting/ledger.py",
        "if rows.seal_of(self._path, connection, charge) is None:",
        "if False:",
        ("accounting/test_ledger.py::test_the_life_of_a_release",),
    ),
    Twin(
        "an older copy of the ledger is taken for the ledger",
        "accounting/opened.py",
        "rows.still_there(self._path, connection, seen.count, seen.last)",
        "pass",
        (
            "accounting/test_tampering.py::test_an_older_copy_is_found_by_a_process_that_has_seen_more",
        ),
    ),
    Twin(
        "an entry need not follow the one before",
        "accounting/rows.py",
        'if previous is not None and fields["previous"] != previous:',
        "if False:",
        ("accounting/test_tampering.py::test_a_change_by_hand_is_found",),
    ),
    Twin(
        "an entry's hash is not checked",
        "accounting/rows.py",
        "if digest(row.written) != row.hash:",
        "if False:",
        ("accounting/test_tampering.py::test_a_change_by_hand_is_found",),
    ),
    Twin(
        "entries may be missing at the end",
        "accounting/rows.py",
        "if head(path, connection) != (count, last):",
        "if False:",
        ("accounting/test_tampering.py::test_a_change_by_hand_is_found",),
    ),
    Twin(
        "a commit does not wait for the disk",
        "accounting/storage.py",
        '("synchronous", "EXTRA", 3),',
        '("synchronous", "OFF", 0),',
        ("accounting/test_ledger.py::test_the_settings_are_read_back",),
    ),
    Twin(
        "a charge takes its lock only when it writes",
        "accounting/storage.py",
        '            connection.execute("BEGIN IMMEDIATE")\n            break',
        '            connection.execute("BEGIN")\n            break',
        ("accounting/test_concurrency.py::test_threads_share_one_ledger",),
    ),
    Twin(
        "a new ledger takes the place of one that appeared meanwhile",
        "accounting/storage.py",
        "os.link(temporary, path)",
        "os.replace(temporary, path)",
        ("accounting/test_ledger.py::test_a_ledger_that_appears_meanwhile_is_not_overwritten",),
    ),
    Twin(
        "everybody may read the ledger",
        "accounting/storage.py",
        "os.close(descriptor)\n    except",
        "os.fchmod(descriptor, 0o644)\n        os.close(descriptor)\n    except",
        ("accounting/test_ledger.py::test_the_file_is_for_its_owner_alone",),
    ),
    Twin(
        "a budget over several schemes is that of the first",
        "accounting/budget.py",
        "total = Policy.largest(*options) if len(options) > 1 else options[0]",
        "total = options[0]",
        ("accounting/test_budget.py::test_amounts_that_add_up_to_the_total_fit",),
    ),
    Twin(
        "a charge is compared with the part of another period",
        "accounting/ledger.py",
        "            part = seen.parts.part(self._path, period)\n            earlier",
        "            part = seen.parts.part(self._path, period)\n"
        "            part = next(iter(seen.parts.by_period.values()))\n            earlier",
        (
            "accounting/test_periods.py::test_each_period_is_compared_with_its_own_part",
            "accounting/test_periods.py::test_no_history_loses_more_than_the_parts_of_its_values",
        ),
    ),
    Twin(
        "every period has the part of the first",
        "accounting/parts.py",
        "period: BudgetPart(period, budget, Spent(zero, {}, period), {})",
        "period: BudgetPart(period, next(iter(budgets.values())), Spent(zero, {}, period), {})",
        (
            "accounting/test_periods.py::test_each_period_is_compared_with_its_own_part",
            "accounting/test_periods.py::test_no_history_loses_more_than_the_parts_of_its_values",
        ),
    ),
    Twin(
        "a retry passes for one of another period",
        "accounting/budget.py",
        "if earlier.period != period:",
        "if False:",
        ("accounting/test_periods.py::test_a_retry_is_charged_once_and_never_for_another_period",),
    ),
    Twin(
        "other data passes under a period that was charged",
        "accounting/parts.py",
        "if before and snapshot not in before and revision is None:",
        "if False:",
        (
            "accounting/test_periods.py"
            "::test_other_data_under_a_period_is_refused_unless_it_is_a_revision",
            "release/test_series.py"
            "::test_another_file_under_the_same_period_is_refused_unless_it_is_a_revision",
        ),
    ),
    Twin(
        "a charge to a period that is none counts nowhere",
        "accounting/parts.py",
        "                if entry.period not in self.by_period:\n"
        "                    raise LedgerError(",
        "                if entry.period not in self.by_period:\n"
        "                    continue\n                    raise LedgerError(",
        (
            "accounting/test_periods.py"
            "::test_a_charge_to_a_period_that_is_none_is_no_entry_of_the_ledger",
        ),
    ),
    Twin(
        "the shares of revisions may add up to anything",
        "accounting/revisions.py",
        "if share is None or share > left:",
        "if share is None:",
        (
            "accounting/test_periods.py"
            "::test_a_revision_of_growing_losses_needs_a_share_for_each_snapshot",
            "accounting/test_periods.py::test_no_history_loses_more_than_the_parts_of_its_values",
        ),
    ),
    Twin(
        "the share of a revision is that of the smallest record",
        "accounting/revisions.py",
        "        if policy.is_below(budget * ratio):\n            return ratio\n",
        "        return ratio\n",
        ("accounting/test_periods.py::test_farms_and_mines_have_no_shares",),
    ),
)
