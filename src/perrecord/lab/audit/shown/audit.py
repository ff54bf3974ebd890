"""The figures audit: random releases, random records, every figure recomputed."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import yaml

from perrecord.errors import InternalError
from perrecord.lab.audit import (
    random_blurs,
    random_series,
    random_specs,
    random_tables,
    random_tapers,
)
from perrecord.lab.audit.changes import CHANGE_KIND, KINDS
from perrecord.lab.audit.figures import Figures, number
from perrecord.lab.audit.random_tables import VALUES
from perrecord.lab.audit.shown.altered import alterations
from perrecord.lab.audit.shown.checks import ShownRelease, check
from perrecord.lab.audit.shown.declared import measures_of, records_of, with_derived
from perrecord.lab.audit.shown.document import Json, Row
from perrecord.lab.audit.shown.evaluation import ExpectedEvaluation
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.previewed import previewed
from perrecord.lab.audit.shown.tables import rows_of
from perrecord.lab.audit.shown.tuned import ExpectedTuning
from perrecord.lab.audit.shown.variants import ExpectedVariant, as_clamped, variants

Command = Callable[..., str]
"""Runs `perrecord` with some arguments and returns what it printed; raises if that failed."""

_RECORDS_OF_A_TABLE = 24
_DIMENSIONS = ("sector", "code", "big", "region", "opened")
_EXAMPLES = ("a small one", "a large one")
_MOST = Fraction(1_000_000)
_FORMS = ("", " --json")
_BUDGET = "2"
_GOALS = ("50% for 60% of cells", "200% for 80% of cells", "1000% for 50% of cells")
_EVALUATED = 3
"""One release in so many is evaluated and tuned, too."""
_TAPERED = 2
"""One in so many has tapered answers."""
_BLURRED = (0, 1)
"""Those of `_EVALUATED` that have blurred totals, too."""
_WEIGHED = (0, 2)
"""Those that have weighted quantiles."""
_SURVEYS, _CHANGES = (1, 4), (2, 3)
"""Of five, those that are of a survey, with weights and derived measures, and of changes."""
_KINDS = 5


@dataclass(frozen=True, slots=True)
class Kinds:
    """What a random release has beside the rest, each from a seed of its own."""

    tapers: Random | None = None
    blurs: Random | None = None
    weights: Random | None = None
    surveys: Random | None = None
    changes: Random | None = None

    @classmethod
    def of(cls, seed: int, index: int) -> "Kinds":
        """Return what one release of a run has; what is random otherwise is the same without it."""

        def own(name: str, *, is_drawn: bool) -> Random | None:
            return Random(f"{name} {seed} {index}") if is_drawn else None  # noqa: S311 - no noise

        return cls(
            own("tapers", is_drawn=index % _TAPERED != 0),
            own("blurs", is_drawn=index % _EVALUATED in _BLURRED),
            own("weights", is_drawn=index % _EVALUATED in _WEIGHED),
            own("surveys", is_drawn=index % _KINDS in _SURVEYS),
            own("changes", is_drawn=index % _KINDS in _CHANGES),
        )


def figures(
    releases: int, records: int, altered: int, seed: int, command: Command, watch: Any
) -> Figures:
    """Return what was recomputed of so many random releases, with so many records each.

    So many figures of each text are altered by a little; each must be noticed.
    """
    findings, blind = Comparisons(), Blind()
    for index in range(releases):
        findings.where = f"seed {seed}, release {index}"
        with tempfile.TemporaryDirectory(prefix="perrecord-audit-") as name:
            random = Random(f"{seed} {index}")  # noqa: S311 - random specs, no noise
            release = published(
                random,
                Path(name),
                records,
                command,
                Kinds.of(seed, index),
                is_evaluated=index % _EVALUATED == 0,
            )
            check(findings, release)
            blind.look(release, random, altered, findings.where)
        watch(index + 1)
    told = [("releases", number(releases)), ("records of each", number(records))]
    told += [("figures altered by a little", number(sum(blind.tried.values())))]
    told += [("of them not noticed", number(len(blind.missed))), ("seed", str(seed))]
    found = findings.figures(told)
    return replace(found, failures=(*found.failures, *blind.missed[:20]))


@dataclass(slots=True)
class Blind:
    """Figures that were altered, by kind of text, and those that nothing noticed."""

    tried: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    noticed: set[str] = field(default_factory=set)
    """The kinds of figures that an alteration was noticed by."""

    def look(self, release: ShownRelease, random: Random, most: int, where: str) -> None:
        """Alter so many figures of each text of a release, and check it each time."""
        for name, text in release.shown.items():
            for each in alterations(name, text, random, most, _bare(release.spec, name)):
                self.tried[name.partition(" ")[0]] += 1
                found = Comparisons()
                changed = replace(release, shown={**release.shown, name: each.text})
                try:
                    check(found, changed, [name])
                except (LookupError, ValueError, TypeError):
                    continue  # what cannot be read any more is noticed
                self.noticed |= set(found.wrong)
                if not found.wrong:
                    self.missed.append(f"{where}: altered and not noticed: {each.where}")


def _bare(spec: Json, name: str) -> list[str]:
    """Return the blurred totals of a table that has no more of them than noisy numbers."""
    table = name.removeprefix("tables/")
    return [
        answer
        for query in spec["queries"]
        if table == query["name"] or table.startswith(f"{query['name']}_")
        for answer, each in query["answers"].items()
        if isinstance(each.get("blur"), dict)
    ]


def published(
    random: Random,
    folder: Path,
    records: int,
    command: Command,
    kinds: Kinds | None = None,
    *,
    is_evaluated: bool = False,
) -> ShownRelease:
    """Return a random release of some kinds, made by the commands in a folder."""
    kinds = kinds or Kinds()
    selects = random.random() < 0.3
    spec = _spec(random, kinds, selects=selects)
    examples = {name: record(random, spec, large=name == _EXAMPLES[1]) for name in _EXAMPLES}
    spec["examples"] = [
        {"name": name, **{key: _given(value) for key, value in _typed(spec, each)}}
        for name, each in examples.items()
    ]
    if not selects and random.random() < 0.5:
        spec["queries"] = [_wide(query) for query in spec["queries"]]
    rows = random_tables.rows(random, _RECORDS_OF_A_TABLE, extreme=False)
    last: list[Any] | None = None
    if kinds.changes is not None:
        rows, last = random_series.moving_pairs_of(kinds.changes, rows)
    path = random_specs.write(folder / "release", spec, rows, last)
    out, ledger = folder / "out", path.parent / random_specs.LEDGER
    shown = {"preview": previewed(path, folder)}
    command("ledger", "create", path)
    for form in _FORMS:
        shown[f"check{form}"] = command("check", path, *form.split())
    for form in _FORMS:
        shown[f"release{form}"] = command("release", path, "--out", out, "--quiet", *form.split())
    for form in _FORMS:
        options = form.split()
        shown[f"ledger{form}"] = command("ledger", "show", ledger, *options)
        shown[f"doctor{form}"] = command("doctor", path, "--confidential", *options)
    every = tuple(record(random, spec, large=random.random() < 0.5) for _ in range(records))
    for place, each in enumerate(every):
        fields = [f"--record={name}={text_of(value)}" for name, value in _typed(spec, each)]
        for form in _FORMS:
            shown[f"policy {place}{form}"] = command("policy", out, *fields, *form.split())
    for place, (each, other) in enumerate(zip(every, examples.values(), strict=False)):
        fields = [f"--record={name}={text_of(value)}" for name, value in _typed(spec, each)]
        fields += [f"--change={name}={text_of(value)}" for name, value in _typed(spec, other)]
        for form in _FORMS:
            shown[f"change {place}{form}"] = command("policy", out, *fields, *form.split())
    for name in ("methodology.md", "manifest.json"):
        shown[name] = (out / name).read_text("utf-8")
    for file in sorted((out / "tables").glob("*.parquet")):
        shown[f"tables/{file.stem}"] = rows_of(file)
        if file.with_suffix(".csv").exists():
            shown[f"tables/{file.stem}.csv"] = file.with_suffix(".csv").read_text("utf-8")
    document = json.loads((out / "policy.json").read_text("utf-8"))
    shown["policy.json"] = json.dumps({"changes": document["changes"]})
    charge = _charger(path, command)
    evaluation = evaluated(spec, records_of(spec, rows, last), charge)
    sides = (rows,) if last is None else (rows, last)
    release = ShownRelease(out, spec, sides, document, every, examples, evaluation, shown)
    return _evaluated(random, release, path, command, charge) if is_evaluated else release


def _spec(random: Random, kinds: Kinds, *, selects: bool) -> Json:
    spec = random_specs.spec(random, selects=selects)
    if kinds.tapers is not None:
        spec = random_tapers.tapered_spec(kinds.tapers, spec)
    if kinds.blurs is not None:
        spec = random_blurs.blurred_spec(kinds.blurs, spec)
    if kinds.weights is not None:
        spec = random_series.weighed_quantiles(kinds.weights, spec)
    if kinds.surveys is not None:
        spec = random_series.weighed_spec(kinds.surveys, spec)
    return spec if kinds.changes is None else random_series.changes_spec(kinds.changes, spec)


def _charger(path: Path, command: Command) -> Callable[[Json], Json]:
    """Return what tells the charge of a spec that has the same source."""

    def charge(spec: Json) -> Json:
        other = path.with_name("variant.yaml")
        written = as_clamped(spec) | {"budget": _covering(spec), "ledger": "variant.ledger"}
        other.write_text(json.dumps(written), encoding="utf-8")
        found: Json = json.loads(command("check", other, "--json"))["charge"]["policy"]
        return found

    return charge


def _covering(spec: Json) -> Json:
    """Return the budget of a spec with more weighted quantiles than it asks for: none is refused.

    A variant may double what they cost; its charge does not depend on the budget.
    """
    currency = "rho" if "rho" in spec["budget"] else "epsilon"
    listed = {
        (each["weight"]["measure"], each["weight"]["at"], str(each[currency]))
        for query in spec["queries"]
        for each in query["answers"].values()
        if "weight" in each
    }
    weights = [
        {"measure": measure, "at": at, currency: amount, "times": 9}
        for measure, at, amount in sorted(listed)
    ]
    return {**spec["budget"], "weights": weights} if weights else spec["budget"]


def evaluated(
    spec: Json, records: Sequence[Row], charge: Callable[[Json], Json]
) -> ExpectedEvaluation:
    """Return what evaluating a spec must give."""
    other = {**spec, "accounting": "exact" if spec["accounting"] == "split" else "split"}
    return ExpectedEvaluation(
        spec,
        records,
        lambda: variants(spec, records, [_BUDGET], charge),
        lambda: ExpectedVariant("otherwise", "", other, charge(other), records),
    )


def _evaluated(
    random: Random,
    release: ShownRelease,
    path: Path,
    command: Command,
    charge: Callable[[Json], Json],
) -> ShownRelease:
    """Return the release with what `evaluate` and `tune` show of it, unless they refuse."""
    shown, folder = dict(release.shown), release.folder.parent
    form = random.choice(_FORMS)
    options = ("--out", folder / "evaluation", "--quiet", "--budget", _BUDGET, *form.split())
    try:
        shown[f"evaluate{form}"] = command("evaluate", path, *options)
    except InternalError:  # no record of the source has a declared key
        return release
    shown["report.html"] = (folder / "evaluation" / "report.html").read_text("utf-8")
    form, goal = random.choice(_FORMS), random.choice(_GOALS)
    options = ("--out", folder / "tuning", "--quiet", "--goal", goal, *form.split())
    try:
        printed = command("tune", path, *options)
    except InternalError:  # epsilon, a goal out of reach, nothing to tune
        return replace(release, shown=shown)
    if "taper:" in (folder / "tuning" / "tuned.yaml").read_text("utf-8"):
        # By hand tapered noise is not recomputed: the amounts are, with the splits as written.
        printed = command("tune", path, *options, "--keep-thresholds")
    shown[f"tune{form}"] = printed
    shown["tuning.html"] = (folder / "tuning" / "tuning.html").read_text("utf-8")
    spec = yaml.safe_load((folder / "tuning" / "tuned.yaml").read_text("utf-8"))
    within, share = (Fraction(each) / 100 for each in _percents(goal))
    found = ExpectedTuning(release.evaluation, within, share, spec, charge(spec), release.examples)
    return replace(release, shown=shown, tuned=found)


def _percents(goal: str) -> Iterable[str]:
    return (each.removesuffix("%") for each in goal.split() if each.endswith("%"))


def record(random: Random, spec: Json, *, large: bool) -> dict[str, Any]:
    """Return a random record on the grids of a spec; the head follows from the sector."""
    most = 10 ** random.choice([3, 5, 7]) if large else 60
    found: dict[str, Any] = {name: random.choice(VALUES[name]) for name in _DIMENSIONS}
    found = {name: None if value == "" else value for name, value in found.items()}
    found["head"] = None if found["sector"] is None else found["sector"][:1]
    if CHANGE_KIND in spec["dimensions"]:
        found[CHANGE_KIND] = random.choice(KINDS)
    for name, each in measures_of(spec).items():
        if _follows(spec, name):
            continue
        size, limit = each.step * random.randrange(-most // 4, most), min(_MOST, each.largest)
        within = max(-limit, min(size, limit))  # what some of the specs cut values to
        found[name] = None if random.random() < 0.1 else within
    return found if _is_linked(spec) else with_derived(spec, found)


def _is_linked(spec: Json) -> bool:
    return isinstance(spec["source"], dict)


def _follows(spec: Json, name: str) -> bool:
    """Tell whether a field of a record is computed from others; of changes none is."""
    measure = measures_of(spec).get(name)
    return measure is not None and measure.is_derived and not _is_linked(spec)


def _typed(spec: Json, each: Row) -> list[tuple[str, Any]]:
    """Return the fields of a record that are typed in."""
    return [(name, value) for name, value in each.items() if not _follows(spec, name)]


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


def text_of(value: Any) -> str:
    """Return a value as it is typed for --record; nothing for a missing one."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case Fraction(denominator=1):
            return str(value.numerator)
        case Fraction():
            return f"{float(value)!r}"
        case _:
            return str(value)
