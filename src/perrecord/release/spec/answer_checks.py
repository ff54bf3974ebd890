"""What one answer of a spec says against the rest of it, and against itself."""

from collections.abc import Iterator

from perrecord.errors import listing
from perrecord.release.spec.models import Spec
from perrecord.release.spec.names import Found, grid_problem, null_cases, one_of, refer
from perrecord.release.spec.problems import Path
from perrecord.release.spec.questions import AnswerEntry, CandidatesEntry, MethodEntry

_FORMS = ("count", "count_distinct", "sum", "average", "median", "quantile")
_TAKES = {
    "level": ("quantile",),
    "candidates": ("median", "quantile"),
    "split": ("sum", "average"),
    "clamp": ("sum", "average"),
    "accounting": ("sum", "average"),
    "parts": ("sum",),
}
_MOST_CANDIDATES = 10_000


def check_answer(answer: AnswerEntry, path: Path, spec: Spec) -> Iterator[Found]:
    """Yield what is wrong with one answer."""
    given = [form for form in _FORMS if getattr(answer, form) is not None]
    if len(given) != 1:
        yield from one_of(path, answer, _FORMS)
        return
    form = given[0]
    for option, takers in _TAKES.items():
        if getattr(answer, option) is not None and form not in takers:
            yield (*path, option), f"{option} goes with {' and '.join(takers)}, not with {form}."
    if answer.parts is None:
        yield from one_of(path, answer, ("rho", "epsilon"))
    for currency in ("rho", "epsilon"):
        amount = getattr(answer, currency)
        if amount is not None and answer.parts is not None:
            yield (*path, currency), "the parts carry their own amounts; leave it out here."
        elif amount is not None and len(amount) == 2 and form != "average":
            yield (
                (*path, currency),
                "two amounts are for an average, its total and its count; give one.",
            )
    if form in ("count", "count_distinct"):
        yield from _check_counted(answer, form, path, spec)
        return
    measure: str = getattr(answer, form)
    yield from refer((*path, form), "measure", measure, spec.measures)
    if form in ("median", "quantile"):
        yield from _check_quantile(answer, form, path)
    elif answer.parts is None:
        yield from _check_method(answer, measure, path, spec)
    else:
        yield from _check_answer_parts(answer, measure, path, spec)


def _check_counted(answer: AnswerEntry, form: str, path: Path, spec: Spec) -> Iterator[Found]:
    roles = [role for role in (spec.id, spec.unit) if role is not None]
    measures = list(spec.measures) if form == "count" else []
    name: str = getattr(answer, form)
    if form == "count" and name == "records":
        return
    known = list(dict.fromkeys([*spec.dimensions, *roles, *measures]))
    found = list(refer((*path, form), "column", name, known))
    advice = " To count records write count: records." if form == "count" else ""
    yield from ((place, message + advice) for place, message in found)


def _check_quantile(answer: AnswerEntry, form: str, path: Path) -> Iterator[Found]:
    if form == "quantile" and (answer.level is None or not 0 <= answer.level <= 1):
        yield (
            (*path, "level"),
            "a quantile needs a level from 0 to 1, such as level: 0.9.",
        )
    if answer.candidates is None:
        yield (
            path,
            f"a {form} needs candidates, the public numbers to choose from, such as "
            "{from: 0, to: 1000, step: 10}.",
        )
    else:
        yield from check_candidates(answer.candidates, (*path, "candidates"))


def check_candidates(entry: CandidatesEntry, path: Path) -> Iterator[Found]:
    """Yield what is wrong with the candidates of a quantile."""
    ends = (entry.first, entry.to, entry.step)
    if entry.values is not None:
        if any(each is not None for each in ends):
            yield path, "expected a list, or from, to and step; found both."
        return
    if entry.first is None or entry.to is None or entry.step is None:
        yield path, "expected a list of numbers, or all of from, to and step."
        return
    number = (entry.to - entry.first) // entry.step + 1
    if not 1 <= number <= _MOST_CANDIDATES:
        yield (
            path,
            f"from, to and step give {max(number, 0):,} candidates; expected 1 to "
            f"{_MOST_CANDIDATES:,}.",
        )


def _check_answer_parts(
    answer: AnswerEntry, measure: str, path: Path, spec: Spec
) -> Iterator[Found]:
    parts = answer.parts
    if parts is None:
        return
    if answer.split is not None or answer.clamp is not None or answer.accounting is not None:
        yield path, "the parts carry their own methods; leave split, clamp and accounting out."
    here = (*path, "parts")
    yield from refer((*here, "by"), "dimension", parts.by, spec.dimensions)
    yield from null_cases((*here, "cases"), parts.cases, parts.by)
    methods = [((*here, "cases", case), method) for case, method in parts.cases.items()]
    if parts.default is not None:
        methods.append(((*here, "default"), parts.default))
    for place, method in methods:
        yield from one_of(place, method, ("rho", "epsilon"))
        yield from _check_method(method, measure, place, spec)


def _check_method(
    method: AnswerEntry | MethodEntry, measure: str, path: Path, spec: Spec
) -> Iterator[Found]:
    if (method.split is None) == (method.clamp is None):
        found = "neither" if method.split is None else "both"
        yield (
            path,
            f"a total needs one of split, the name of a splitting scheme, and clamp, two bounds; "
            f"found {found}.",
        )
        return
    if method.split is not None:
        yield from refer((*path, "split"), "split", method.split, spec.splits)
        entry = spec.splits.get(method.split)
        has = [measure] if entry is None or not entry.thresholds else list(entry.thresholds)
        if measure in spec.measures and measure not in has:
            yield (
                (*path, "split"),
                f"the split {method.split!r} has no threshold for {measure!r}. It has "
                f"{listing(has)}.",
            )
    for bound in method.clamp or ():
        yield from grid_problem((*path, "clamp"), "bound", bound, measure, spec)
    if method.clamp is not None and method.accounting is not None:
        yield (*path, "accounting"), "accounting is for splits; a clamped total has one price."
