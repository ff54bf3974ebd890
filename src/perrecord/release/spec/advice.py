"""What is allowed but looks wrong: hints for the author, none of which reads a row."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from perrecord.exact import text
from perrecord.policy.policy import Policy
from perrecord.queries.aggregates import Rows
from perrecord.release.spec.build import Workload
from perrecord.release.spec.candidate_advice import candidate_advice
from perrecord.release.spec.consistent_advice import consistent_advice
from perrecord.release.spec.load import LoadedSpec
from perrecord.release.spec.models import Spec, SplitEntry
from perrecord.release.spec.names import Found
from perrecord.release.spec.problems import Path as Place
from perrecord.release.spec.questions import MethodEntry
from perrecord.release.spec.weight_advice import weight_advice

_MOST_FIGURES = 4
_MUCH = 10
_MUCH_DELTA = Fraction(1, 1000)
_REST = Fraction(1, 1000)

_Priced = tuple[Place, tuple[Fraction, ...] | None]


def warnings_of(loaded: LoadedSpec, workload: Workload | None = None) -> tuple[str, ...]:
    """Return hints about a spec, each with its file, line and path; with its workload, all of them.

    They are hints: a number with many figures may well be public, and only its author knows.
    """
    spec = loaded.spec
    found = [
        *_data_derived(spec),
        *_inferred_keys(loaded),
        *_large_amounts(spec),
        *candidate_advice(spec),
        *_clamps(spec),
        *weight_advice(spec),
        *([] if workload is None else _no_rest(workload)),
        *([] if workload is None else consistent_advice(workload)),
        *([] if workload is None else _paid_twice(workload)),
    ]
    document = loaded.document
    found.sort(key=lambda each: document.line(document.followed(each[0])))
    return tuple(dict.fromkeys(document.located(path, message) for path, message in found))


# -- numbers that look computed from the data -------------------------------------------------


def figures(number: Fraction) -> int:
    """Return how many figures a number takes, without zeros at either end.

    >>> figures(Fraction("1234567.89")), figures(Fraction(250000)), figures(Fraction("0.001"))
    (9, 2, 1)
    """
    return len(text(abs(number)).replace(".", "").replace("/", "").strip("0")) or 1


def _data_derived(spec: Spec) -> Iterator[Found]:
    public = "; it must be public and fixed before the data is read, as a rounder number would be."
    for name, entry in spec.splits.items():
        for path, threshold in _thresholds(entry, ("splits", name)):
            if figures(threshold) > _MOST_FIGURES:
                yield path, f"the threshold {text(threshold)} looks computed from data{public}"
    for path, method in _methods(spec):
        for bound in method.clamp or ():
            if figures(bound) > _MOST_FIGURES:
                here = (*path, "clamp")
                yield here, f"the bound {text(bound)} looks computed from data{public}"
    for path, size in _sizes(spec):
        if figures(size) > _MOST_FIGURES:
            yield path, f"the size {text(size)} looks computed from data{public}"


def _sizes(spec: Spec) -> Iterator[tuple[Place, Fraction]]:
    """Yield the sizes that answers are tapered at."""
    for name, entry in spec.tapers.items():
        yield from ((("tapers", name, "sizes", measure), at) for measure, at in entry.sizes.items())
    for place, tapered in enumerate(spec.budget.tapers):
        yield ("budget", "tapers", place, "at"), tapered.at
    for place, weighed in enumerate(spec.budget.weights):
        yield ("budget", "weights", place, "at"), weighed.at
    for path, method in _methods(spec):
        if isinstance(method.taper, Fraction):
            yield (*path, "taper"), method.taper


def _thresholds(entry: SplitEntry, path: Place) -> Iterator[tuple[Place, Fraction]]:
    for name, threshold in (entry.thresholds or {}).items():
        yield (*path, "thresholds", name), threshold
    for case, inner in (entry.cases or {}).items():
        yield from _thresholds(inner, (*path, "cases", case))
    if entry.default is not None:
        yield from _thresholds(entry.default, (*path, "default"))


def _inferred_keys(loaded: LoadedSpec) -> Iterator[Found]:
    source = loaded.source
    if not isinstance(source, Path):
        return
    files = loaded.source_files
    for name, entry in loaded.spec.keys.items():
        if entry.file is None:
            continue
        path, here = loaded.resolve(entry.file).resolve(), ("keys", name, "file")
        if (
            path not in files
            and path.stem == source.stem
            and path.parent == source.parent.resolve()
        ):
            yield (
                here,
                f"{path.name!r} lies beside the source and is named like it; keys must come from a "
                "public list, not from the data.",
            )


# -- prices -----------------------------------------------------------------------------------


def _large_amounts(spec: Spec) -> Iterator[Found]:
    for path, amount in _amounts(spec):
        if amount is not None and sum(amount) > _MUCH:
            yield (
                path,
                f"{text(sum(amount, Fraction(0)))} protects nobody: above {_MUCH} a record's "
                "presence can be told from its absence almost surely.",
            )
    deltas: list[tuple[Place, Fraction | None]] = [
        (("keys", name, "select", "delta"), entry.select.delta)
        for name, entry in spec.keys.items()
        if entry.select is not None
    ]
    deltas += [
        (("budget", "selections", place, "delta"), each.delta)
        for place, each in enumerate(spec.budget.selections)
    ]
    for path, delta in deltas:
        if delta is not None and delta > _MUCH_DELTA:
            yield (
                path,
                f"a delta of {text(delta)} reveals the key of one lone record in "
                f"{round(1 / delta):,}; 1e-6 or less is usual.",
            )


def _amounts(spec: Spec) -> Iterator[_Priced]:
    for currency in ("rho", "epsilon"):
        total: Fraction | None = getattr(spec.budget, currency)
        yield ("budget", currency), None if total is None else (total,)
        for place, tapered in enumerate(spec.budget.tapers):
            each: Fraction | None = getattr(tapered, currency)
            allowed = None if each is None else (each * tapered.times,)
            yield ("budget", "tapers", place), allowed
        for place, weighed in enumerate(spec.budget.weights):
            own: Fraction | None = getattr(weighed, currency)
            yield ("budget", "weights", place), None if own is None else (own * weighed.times,)
        for place, query in enumerate(spec.queries):
            for name, amount in (getattr(query, currency) or {}).items():
                yield ("queries", place, currency, name), amount
            for name, answer in (query.answers or {}).items():
                yield ("queries", place, "answers", name, currency), getattr(answer, currency)
    for path, method in _methods(spec):
        amount = method.rho or method.epsilon
        yield path, None if amount is None else (amount,)


def _no_rest(workload: Workload) -> Iterator[Found]:
    budget, policy = workload.budget, workload.policy
    if not policy.is_below(budget):
        yield (
            ("budget",),
            "the queries cost some record more than the budget allows, or a key selection has no "
            "slot in it; the release will be refused.",
        )
        return
    rest = _REST * budget.minimum()
    more = Policy.constant(**budget.currency.amount(rest))
    if not (policy + more).is_below(budget):
        yield (
            ("budget",),
            "the queries use the whole budget; nothing is left for another release of this data.",
        )


def _paid_twice(workload: Workload) -> Iterator[Found]:
    """Yield averages that could be had for nothing from a total and a count of the same table."""
    for place, named in enumerate(workload.queries):
        single = [each for each in named.query.answers if each.is_additive]
        totals = {each.steps[0].measure: each.name for each in reversed(single)}
        counts = {each.measurements[0].aggregate: each.name for each in reversed(single)}
        for average in named.query.answers:
            if len(average.measurements) < 2:
                continue
            total, count = average.measurements
            known = counts.get(count.aggregate) or counts.get(Rows())
            if total.measure in totals and known is not None:
                yield (
                    ("queries", place, "answers", average.name),
                    f"an average pays for a total and a count of its own, and this table publishes "
                    f"both: derived: {{{average.name}: {totals[total.measure]} / {known}}} costs "
                    f"nothing, if every record has {total.measure!r}.",
                )


# -- methods ----------------------------------------------------------------------------------


def _methods(spec: Spec) -> Iterator[tuple[Place, MethodEntry]]:
    """Yield the method of every total and mean, and of every part, with its place."""
    for place, query in enumerate(spec.queries):
        for name, bounds in (query.clamp or {}).items():
            yield ("queries", place, "clamp", name), MethodEntry(clamp=bounds)
        for name, taper in (query.taper or {}).items():
            yield ("queries", place, "taper", name), MethodEntry(taper=taper)
        for name, answer in (query.answers or {}).items():
            here: Place = ("queries", place, "answers", name)
            yield here, MethodEntry(split=answer.split, clamp=answer.clamp, taper=answer.taper)
            if answer.parts is not None:
                yield from (
                    ((*here, "parts", "cases", case), method)
                    for case, method in answer.parts.cases.items()
                )
                if answer.parts.default is not None:
                    yield (*here, "parts", "default"), answer.parts.default


def _clamps(spec: Spec) -> Iterator[Found]:
    known = {
        path[-1] for name, entry in spec.splits.items() for path, _ in _thresholds(entry, (name,))
    }
    for place, query in enumerate(spec.queries):
        for name, answer in (query.answers or {}).items():
            measure = answer.sum or answer.average
            if answer.clamp is not None and measure not in known:
                yield (
                    ("queries", place, "answers", name, "clamp"),
                    f"{measure!r} is cut off at the bounds and no split is declared for it; where "
                    "values lie beyond them the answer is biased, with a split it is not.",
                )
