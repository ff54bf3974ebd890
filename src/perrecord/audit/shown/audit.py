"""The figures audit: random releases, random records, every figure recomputed."""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from perrecord.audit import random_specs, random_tables
from perrecord.audit.figures import Figures, number
from perrecord.audit.random_tables import VALUES
from perrecord.audit.shown.commands import check_check, check_ledger, check_policy, text_of
from perrecord.audit.shown.document import Json, Row
from perrecord.audit.shown.files import check_manifest, check_methodology, check_tables
from perrecord.audit.shown.findings import Findings

Command = Callable[..., str]
"""Runs `perrecord` with some arguments and returns what it printed; raises if that failed."""

_RECORDS_OF_A_TABLE = 12
_DIMENSIONS = ("sector", "code", "big", "region", "opened")
_EXAMPLES = ("a small one", "a large one")
_MOST = Fraction(1_000_000)
_STEPS = {
    "emp": Fraction(1),
    "pay": Fraction(1, 2),
    "rent": Fraction(1, 10),
    "load": Fraction(1000),
}


@dataclass(frozen=True, slots=True)
class Published:
    """One release as people see it: its folder, its records, and what the commands print."""

    folder: Path
    document: Json
    records: tuple[Row, ...]
    examples: Mapping[str, Row]
    printed: Mapping[str, str]
    """By command: `policy 0`, `policy 0 --json`, `check`, `check --json`, `ledger`, ..."""


def figures(releases: int, records: int, seed: int, command: Command, watch: Any) -> Figures:
    """Return what was recomputed of so many random releases, with so many records each."""
    findings = Findings()
    for index in range(releases):
        findings.where = f"seed {seed}, release {index}"
        with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as name:
            random = Random(f"{seed} {index}")  # noqa: S311 - random specs, no noise
            compare(findings, published(random, Path(name), records, command))
        watch(index + 1)
    told = [("releases", number(releases)), ("records of each", number(records))]
    return findings.figures([*told, ("seed", str(seed))])


def published(random: Random, folder: Path, records: int, command: Command) -> Published:
    """Return a random release, made by the commands in a folder."""
    selects = random.random() < 0.3
    spec = random_specs.spec(random, selects=selects)
    examples = {name: record(random, large=name == _EXAMPLES[1]) for name in _EXAMPLES}
    spec["examples"] = [
        {"name": name, **{key: _given(value) for key, value in each.items()}}
        for name, each in examples.items()
    ]
    if not selects and random.random() < 0.5:
        spec["queries"] = [_wide(query) for query in spec["queries"]]
    rows = random_tables.rows(random, _RECORDS_OF_A_TABLE, extreme=False)
    path = random_specs.write(folder / "release", spec, rows)
    out, ledger = folder / "out", path.parent / random_specs.LEDGER
    command("ledger", "create", path)
    check = {"check": command("check", path), "check --json": command("check", path, "--json")}
    command("release", path, "--out", out, "--quiet")
    every = tuple(record(random, large=random.random() < 0.5) for _ in range(records))
    printed = {f"ledger{form}": command("ledger", "show", ledger, *form.split()) for form in _FORMS}
    for place, each in enumerate(every):
        fields = [f"--record={name}={text_of(value)}" for name, value in each.items()]
        for form in _FORMS:
            printed[f"policy {place}{form}"] = command("policy", out, *fields, *form.split())
    document = json.loads((out / "policy.json").read_text("utf-8"))
    return Published(out, document, every, examples, {**check, **printed})


_FORMS = ("", " --json")


def record(random: Random, *, large: bool) -> dict[str, Any]:
    """Return a random record on the grids of the random specs; the head follows from the sector."""
    most = 10 ** random.choice([3, 5, 7]) if large else 60
    found: dict[str, Any] = {name: random.choice(VALUES[name]) for name in _DIMENSIONS}
    found = {name: None if value == "" else value for name, value in found.items()}
    found["head"] = None if found["sector"] is None else found["sector"][:1]
    for name, step in _STEPS.items():
        size = step * random.randrange(-most // 4, most)
        within = max(-_MOST, min(size, _MOST))  # what some of the specs cut values to
        found[name] = None if random.random() < 0.1 else within
    return found


def _wide(query: Json) -> Json:
    """Return a query of counts and totals alone, with noise of more than ten steps (T19)."""
    kept = [each for each in query["answers"].values() if {"sum", "average"} & each.keys()]
    currency = next(key for each in query["answers"].values() for key in _amounts(each))
    answers = [{"count": "records", currency: 0.001}, *(_cheap(each) for each in kept)]
    named = {f"a{place}": answer for place, answer in enumerate(answers)}
    return {**{key: value for key, value in query.items() if key != "where"}, "answers": named}


def _amounts(answer: Any) -> list[str]:
    """Return the currencies of an answer and of its parts."""
    inner = [key for each in answer.values() if isinstance(each, dict) for key in _amounts(each)]
    return [key for key in ("rho", "epsilon") if key in answer] + inner


def _cheap(answer: Any) -> Any:
    if not isinstance(answer, dict):
        return answer
    return {
        key: 0.001 if key in ("rho", "epsilon") else _cheap(value) for key, value in answer.items()
    }


def _given(value: Any) -> Any:
    """Return a value as a spec has it."""
    return text_of(value) if isinstance(value, Fraction) else value


def compare(findings: Findings, release: Published) -> None:
    """Compare every figure of a release with what policy.json gives."""
    document, printed = release.document, release.printed
    for place, each in enumerate(release.records):
        (found,) = json.loads(printed[f"policy {place} --json"])["records"]
        check_policy(findings, document, each, found, printed[f"policy {place}"])
    check = json.loads(printed["check --json"])
    check_check(findings, document, release.examples, check, printed["check"])
    ledger = json.loads(printed["ledger --json"])
    check_ledger(findings, document, list(release.records), ledger, printed["ledger"])
    check_manifest(findings, release.folder)
    check_methodology(findings, release.folder, document, release.examples)
    check_tables(findings, release.folder, document)
