"""Whole releases in which numbers follow from others: what is asked for, and what it means.

Several tables of the same numbers are fitted, added up, rounded, floored, graded and divided.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.lab.audit.changes import KINDS
from perrecord.lab.audit.utility.beside import (
    CONFIDENCE,
    DerivedMeaning,
    Level,
    MeantRelease,
    adds_up,
    compared,
)
from perrecord.lab.audit.utility.exactly import Found
from perrecord.lab.audit.utility.files import LOOKUPS, listed_keys, released
from perrecord.lab.audit.utility.levels import level_checks
from perrecord.lab.audit.utility.questions import AMOUNT, TAPERED, AnswerMeaning
from perrecord.lab.audit.utility.subjects import (
    LEVELS,
    TAPER,
    Answer,
    AuditedSubject,
    changes,
    survey,
    total,
)
from perrecord.lab.audit.utility.tables import FINE, VALUES

_BY = "0.0000000001"
"""Of a million employees, noise is a ten-thousandth, and beyond 0.1 with a chance of 1e-12."""
_KEYS: dict[str, list[Any]] = {
    "sector": VALUES["sector"],
    "code": VALUES["code"],
    "head": [each and each[0] for each in VALUES["sector"]],
    "region": ["North", "south", None],
    "change_kind": list(KINDS),
}
"""Every value of a column and, of coarser ones, no other: only so do tables add up."""
_BUDGET: dict[str, Any] = {
    "rho": 10000 * AMOUNT,
    "splits": ["plain"],
    "tapers": [
        {"measure": FINE, "at": 1, "rho": TAPERED, "times": 9},
        {"measure": FINE, "at": 1, "rho": TAPERED, "times": 9, "blur": _BY},
    ],
    "weights": [
        {"measure": "w", "at": 2, "rho": AMOUNT, "times": 9},
        {"measure": "emp", "at": 2, "rho": AMOUNT, "times": 9},
    ],
}


def combined_checks(random: Random, seed: int) -> Iterator[Found]:
    """Yield for every number of a release's files whether it is what plain SQL says."""
    subject = survey(random) if random.random() < 0.6 else changes(random)
    with TemporaryDirectory(prefix="perrecord-audit-") as name:
        folder = Path(name)
        for file, table in subject.files.items():
            pq.write_table(table, folder / file)
        spec, meant = _asked(random, subject, folder)
        out = released(folder, spec, seed)
        yield from compared(out, meant)
        if subject.is_signed and meant.where is None:
            yield from level_checks(subject.connection, out, spec, LEVELS, seed + 1)


def _asked(
    random: Random, subject: AuditedSubject, folder: Path
) -> tuple[dict[str, Any], MeantRelease]:
    """Return a random spec of several tables about the same numbers, and what it means."""
    where = random.choice([None, None, *subject.filters])
    answers = _answers(random, subject, where)
    parent, column = random.choice(["head", "region"]), subject.column
    first = random.choice([("sector",), ("sector", column)])
    others = ((), (parent,), (parent, column), (column,), ("sector",))
    chosen = [first, *random.sample([each for each in others if each != first], 2)]
    asked = {each: answers | _scaled(random, subject, folder, each) for each in chosen}
    levels = {
        _name(level): Level(level, {name: meaning for name, (_, meaning) in every.items()})
        for level, every in asked.items()
    }
    processed = _processed(random, subject, first, parent, answers)
    derived = _derived(random, subject.names, levels)
    processed["round"] |= {name: random.choice([0, 1]) for name in derived}
    for name, entry in processed.get("follow", {}).items():
        every = levels[_name(first)].answers
        summed = {each: meaning for each, meaning in every.items() if adds_up(meaning)}
        levels[name] = Level(tuple(entry["by"]), summed, follows=True)
    products = {
        _name(level): {"product": [f"each_{name}" for name in level]}
        for level in chosen
        if len(level) > 1
    }
    spec = {
        "title": "An audit",
        "table": "records",
        **subject.settings,
        "lookups": LOOKUPS,
        "keys": {**listed_keys(folder, _KEYS), **products},
        "budget": _BUDGET if not subject.is_signed else {**_BUDGET, "weights": []},
        "ledger": "audit.ledger",
        "queries": [_query(level, where, every) for level, every in asked.items()],
        "derived": {name: number.formula for name, number in derived.items()},
        "post_processing": processed,
        "outputs": {"csv": True, "confidence": CONFIDENCE},
    }
    return spec, MeantRelease(subject.connection, where, _KEYS, levels, derived, processed)


def _answers(random: Random, subject: AuditedSubject, where: str | None) -> dict[str, Answer]:
    """Return those that formulas name, some others, and sometimes a blurred total."""
    names = ["n", "emp", "jobs", "number"]
    more = [name for name in subject.answers if name not in names]
    names += random.sample(more, random.randrange(1, 4))
    answers = {name: subject.answers[name] for name in names}
    if random.random() < 0.6:
        is_signed = subject.is_signed or where != "emp IS NULL OR emp > 0"
        kind = "blurred, signed" if is_signed else "blurred"
        meaning = total(kind, subject.value)
        answers["blurred"] = {**TAPER, "blur": {"by": _BY, "signed": is_signed}}, meaning
    return answers


def _scaled(
    random: Random, subject: AuditedSubject, folder: Path, level: tuple[str, ...]
) -> dict[str, Answer]:
    """Return sometimes, of the table by sector, a total that is blurred by public sizes."""
    if level != ("sector",) or random.random() < 0.5:
        return {}
    sizes = [random.choice([0, 5, 100000]) for _ in _KEYS["sector"]]
    pq.write_table(pa.table({"sector": _KEYS["sector"], "size": sizes}), folder / "sizes.parquet")
    blur = {"by": _BY, "scale": "sizes.parquet"}
    return {"scaled": ({**TAPER, "blur": blur}, total("blurred by a scale", subject.value))}


def _name(level: Sequence[str]) -> str:
    return "_".join(("by", *level)) if level else "nation"


def _query(
    level: Sequence[str], where: str | None, answers: Mapping[str, Answer]
) -> dict[str, Any]:
    keys = _name(level) if len(level) > 1 else f"each_{''.join(level)}"
    return {
        "name": _name(level),
        **({} if where is None else {"where": where}),
        **({"group_by": list(level), "keys": keys} if level else {}),
        "answers": {name: asked for name, (asked, _) in answers.items()},
    }


def _processed(
    random: Random,
    subject: AuditedSubject,
    first: tuple[str, ...],
    parent: str,
    answers: Mapping[str, Answer],
) -> dict[str, Any]:
    """Return what is added: rounded, floored and fitted columns, words, and tables that follow."""
    places = {name: random.choice([-1, 0, 1]) for name in random.sample(list(answers), 3)}
    found: dict[str, Any] = {
        "round": places,
        "status": {"reliable": "0.000002", "caution": "0.00001"},
    }
    if not subject.is_signed:
        found["floor_at_zero"] = True
    if random.random() < 0.8:
        found["consistent"] = {name: random.random() < 0.5 for name in ("nonnegative", "whole")}
        found["consistent"]["nonnegative"] &= not subject.is_signed
    if random.random() < 0.6:
        found["follow"] = {"everything": {"from": _name(first), "by": []}}
        if parent == "head":
            found["follow"]["heads"] = {"from": _name(first), "by": ["head"]}
    return found


def _derived(
    random: Random, names: Mapping[str, str], levels: Mapping[str, Level]
) -> dict[str, DerivedMeaning]:
    """Return random formulas over the answers, with the two aggregates that each divides."""
    sums = {name: AnswerMeaning("derived", f"coalesce({sql}, 0)") for name, sql in names.items()}
    n, emp, jobs, number = (sums[name] for name in ("n", "emp", "jobs", "number"))
    gap = AnswerMeaning("derived", f"{emp.sql} - 2 * count(*) + 0.5", Fraction(1, 2))
    found = {
        "per": DerivedMeaning("jobs / number", jobs, number),
        "each": DerivedMeaning("number / n", number, n),
        "gap": DerivedMeaning("emp - 2 * n + 0.5", gap),
        "quarter": DerivedMeaning("-emp / 4", AnswerMeaning("derived", f"-0.25 * {emp.sql}")),
        "mixed": DerivedMeaning(
            "emp / (2 * n - emp)", emp, AnswerMeaning("derived", f"2 * count(*) - {emp.sql}")
        ),
    }
    for other in ("nation", "by_sector"):
        if other in levels:
            found[f"of_{other}"] = DerivedMeaning(f"emp / {other}.emp", emp, emp, other)
    return {name: found[name] for name in random.sample(list(found), 3)}
