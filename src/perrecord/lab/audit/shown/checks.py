"""Every text that a release shows, and the check that recomputes its figures."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from perrecord.lab.audit.shown import (
    changes,
    doctor,
    evaluated,
    ledger_commands,
    policy_command,
    previewed,
    tables,
    tuned,
)
from perrecord.lab.audit.shown.document import Json, Row
from perrecord.lab.audit.shown.evaluated_words import sentences
from perrecord.lab.audit.shown.evaluation import ExpectedEvaluation
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.methodology import check_methodology
from perrecord.lab.audit.shown.numerals import Expected
from perrecord.lab.audit.shown.tuned import ExpectedTuning


@dataclass
class ShownRelease:
    """One release as people see it, and what its figures follow from."""

    folder: Path
    spec: Json
    rows: Sequence[Sequence[Mapping[str, Any]]]
    """Those of the source; of changes, of both periods."""
    document: Json
    records: tuple[Row, ...]
    """Hypothetical records, which `perrecord policy` was asked about."""
    examples: Mapping[str, Row]
    evaluation: ExpectedEvaluation
    shown: Mapping[str, str]
    """By command or file: `policy 0`, `policy 0 --json`, `check`, `methodology.md`, ..."""
    tuned: ExpectedTuning | None = None

    @cached_property
    def sentences(self) -> Mapping[str, Sequence[Expected]]:
        """The numbers of what `evaluate` says."""
        return sentences(self.evaluation, self.examples, self.document)

    @cached_property
    def entries(self) -> list[Json]:
        """The entries of the ledger."""
        found: list[Json] = json.loads(self.shown["ledger --json"])["entries"]
        return found

    @cached_property
    def files(self) -> list[str]:
        """The files of the release."""
        return tables.files_of(self.folder)


def check(findings: Comparisons, release: ShownRelease, names: Iterable[str] | None = None) -> None:
    """Compare every figure of a release, or those of some of its texts, with what it should be."""
    for name in release.shown if names is None else names:
        _CHECKS[_kind(name)](findings, release, name, release.shown[name])


def _kind(name: str) -> str:
    word, _, form = name.partition(" ")
    if word.startswith("tables/"):
        return "csv" if word.endswith(".csv") else "table"
    return f"{word} --json" if form.endswith("--json") else word


def _policy_json(findings: Comparisons, release: ShownRelease, name: str, text: str) -> None:
    (found,) = json.loads(text)["records"]
    record = release.records[int(name.split()[1])]
    policy_command.check_json(findings, release.document, record, found)


def _policy(findings: Comparisons, release: ShownRelease, name: str, text: str) -> None:
    record = release.records[int(name.split()[1])]
    policy_command.check_words(findings, release.document, record, text)


def _sides(release: ShownRelease, name: str) -> tuple[Row, Row]:
    place = int(name.split()[1])
    return release.records[place], list(release.examples.values())[place]


def _change_json(findings: Comparisons, release: ShownRelease, name: str, text: str) -> None:
    found = json.loads(text)["change"]
    changes.check_json(findings, release.document, *_sides(release, name), found)


def _change(findings: Comparisons, release: ShownRelease, name: str, text: str) -> None:
    changes.check_words(findings, release.document, *_sides(release, name), text)


def _policy_document(findings: Comparisons, release: ShownRelease, _: str, text: str) -> None:
    changes.check_document(findings, release.document | json.loads(text), release.examples)


def _table(findings: Comparisons, release: ShownRelease, name: str, text: str) -> None:
    rows = json.loads(text)
    table = name.removeprefix("tables/")
    tables.check_table(findings, release.document, release.spec, table, rows)


def _csv(findings: Comparisons, release: ShownRelease, name: str, text: str) -> None:
    tables.check_csv(findings, json.loads(release.shown[name.removesuffix(".csv")]), text)


def _confided(text: str) -> Json:
    found: Json = json.loads(text)["CONFIDENTIAL"]
    return found


def _tuned(release: ShownRelease) -> ExpectedTuning:
    assert release.tuned is not None  # noqa: S101 - its texts are there
    return release.tuned


Check = Callable[[Comparisons, ShownRelease, str, str], None]
_CHECKS: Mapping[str, Check] = {
    "policy": _policy,
    "policy --json": _policy_json,
    "change": _change,
    "change --json": _change_json,
    "policy.json": _policy_document,
    "check": lambda f, r, _, text: ledger_commands.check_check_words(
        f, r.document, r.examples, text
    ),
    "check --json": lambda f, r, _, text: ledger_commands.check_check_json(
        f, r.document, r.examples, json.loads(text)
    ),
    "ledger": lambda f, r, _, text: ledger_commands.check_ledger_words(
        f, r.document, r.entries, text
    ),
    "ledger --json": lambda f, r, _, text: ledger_commands.check_ledger_json(
        f, r.document, r.records, json.loads(text)
    ),
    "release": lambda f, r, _, text: ledger_commands.check_release_words(
        f, r.entries, r.files, text
    ),
    "release --json": lambda f, r, _, text: ledger_commands.check_release(
        f, r.entries, r.files, json.loads(text)
    ),
    "preview": lambda f, r, _, text: previewed.check_preview(f, r.document, r.examples, text),
    "doctor": lambda f, r, _, text: doctor.check_words(f, r.evaluation, r.rows, text),
    "doctor --json": lambda f, r, _, text: doctor.check_json(
        f, r.evaluation, r.rows, json.loads(text)
    ),
    "methodology.md": lambda f, r, _, text: check_methodology(
        f, r.document, r.spec, r.examples, text
    ),
    "manifest.json": lambda f, r, _, text: tables.check_manifest(f, r.folder, r.entries, text),
    "table": _table,
    "csv": _csv,
    "evaluate": lambda f, r, _, text: evaluated.check_words(f, r.sentences, text),
    "evaluate --json": lambda f, r, _, text: evaluated.check_json(
        f, r.evaluation, r.examples, r.document, _confided(text)
    ),
    "report.html": lambda f, r, _, text: evaluated.check_report(f, r.evaluation, r.sentences, text),
    "tune": lambda f, r, _, text: tuned.check_words(f, _tuned(r), text),
    "tune --json": lambda f, r, _, text: tuned.check_json(f, _tuned(r), _confided(text)),
    "tuning.html": lambda f, r, _, text: tuned.check_report(f, _tuned(r), text),
}
"""What recomputes the figures of each kind of text."""
