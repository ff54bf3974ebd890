"""Ways to choose from: declared splits, finer and coarser ones, a taper; others beside them.

What is open to choice are totals and averages that are split or tapered as written: unbiased ones.
A clamp as written stays, and so do parts that differ.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from perrecord.evaluate.variants import covers, measure_of
from perrecord.policy.split import Scheme, Split
from perrecord.queries.answers import Answer
from perrecord.queries.methods import (
    Clamping,
    Method,
    Splitting,
    Taper,
    Tapering,
    leaves,
    tree_of,
)
from perrecord.queries.query import Query

SCALES = tuple(Fraction(2) ** power for power in range(-5, 3))
CLAMPS = tuple(Fraction(4) ** power for power in range(7))
"""Clamps are tried at so many times the written threshold or taper."""

AS_WRITTEN, SPLIT, TAPER, HEAVY, CLAMP = "as written", "split", "taper", "taper, nu = 3", "clamp"


@dataclass(frozen=True, slots=True)
class Clamp:
    """Bounds that values are cut to."""

    low: Fraction
    high: Fraction


TotalMethod = Scheme | Taper | Clamp
"""How a total is made private, whatever it costs."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way for each measure whose totals are open to choice; those without one keep theirs."""

    name: str
    ways: tuple[tuple[str, TotalMethod], ...] = ()
    kind: str = AS_WRITTEN

    @property
    def is_biased(self) -> bool:
        """Whether totals become too low: what no goal of an unbiased table asks for."""
        return self.kind == CLAMP

    @property
    def is_for_comparison(self) -> bool:
        """Whether it is shown and never chosen: it has a bias, or more numbers far from the truth.

        Noise with nu = 3 may reach a goal at a smaller loss, and errs by more where it misses it.
        """
        return self.is_biased or self.kind == HEAVY

    @property
    def schemes(self) -> tuple[tuple[str, Scheme], ...]:
        """The splitting schemes among the ways."""
        return tuple(
            (measure, way) for measure, way in self.ways if not isinstance(way, Taper | Clamp)
        )

    def applied(self, query: Query) -> Query:
        """Return the query with the ways of what is open to choice replaced; amounts stay."""
        answers = tuple(map(self._applied, query.answers))
        return replace(query, answers=answers)

    def _applied(self, answer: Answer) -> Answer:
        way = dict(self.ways).get(measure_of(answer)) if is_open(answer) else None
        return answer if way is None else answer.mapped(lambda method: _by(way, method))


WRITTEN = Candidate(AS_WRITTEN)


def is_open(answer: Answer) -> bool:
    """Tell whether another way may stand in place of an answer's own."""
    methods = [step.methods for step in answer.measurements[:1]]
    return not answer.is_blurred and any(isinstance(each, Splitting | Tapering) for each in methods)


def _by(way: TotalMethod, method: Method) -> Method:
    match way, method:
        case Taper(), Splitting():
            # Any amount will do: it is scaled. A large one might leave next to no noise.
            return Tapering(min(method.amount, Fraction(1)), way)
        case Taper(nu=3), Tapering():
            return Tapering(method.amount, Taper(dict(method.taper.sizes), nu=3))
        case Clamp(), Splitting() | Tapering():
            return Clamping(method.amount, way.low, way.high)
        case Taper() | Clamp(), _:
            return method
        case _, Tapering():
            return Splitting(method.amount, way)
        case _:
            return method.with_scheme(way)


def candidates(
    declared: Mapping[str, Scheme],
    answers: Iterable[Answer],
    resolutions: Mapping[str, Fraction],
) -> tuple[Candidate, ...]:
    """Return the ways as written, splits at eight scales in two ways, tapers, and clamps.

    Jointly split, a record has as many pieces as its largest measure asks for, in every total.
    Measure by measure, each total splits by its own threshold alone, so that a large payroll costs
    nothing in the total of employment. By exact accounting thresholds make no difference, and they
    stay. The goal decides how much noise a taper has, so one of nu = 7 is all there is to try;
    its size only says what the amount is counted at. For comparison alone there are everything
    tapered with nu = 3, and clamps at 1, 4, ..., 4,096 times the threshold.
    """
    open_to_choice = [each for each in answers if is_open(each)]
    by_pieces = sorted({measure_of(each) for each in open_to_choice if not each.is_tight})
    split = splits(declared, by_pieces, resolutions)
    sizes = _sizes(open_to_choice)
    every: list[Candidate] = [*split]
    if any(each.scheme is not None for each in open_to_choice):
        every.append(Candidate("tapered", _tapers(sizes, 7), TAPER))
    if not all(_is_heavy(each) for each in open_to_choice):
        every.append(Candidate("tapered, nu = 3", _tapers(sizes, 3), HEAVY))
    if sizes:
        for scale in CLAMPS:
            bounds = tuple((name, Clamp(-scale * s, scale * s)) for name, s in sizes.items())
            every.append(Candidate(f"clamped{_shown(scale)}", bounds, CLAMP))
    return tuple(every)


def _tapers(sizes: Mapping[str, Fraction], nu: int) -> tuple[tuple[str, TotalMethod], ...]:
    return tuple((name, Taper({name: size}, nu=nu)) for name, size in sizes.items())


def _is_heavy(answer: Answer) -> bool:
    """Tell whether an answer as written is tapered with nu = 3."""
    method = answer.measurements[0].methods
    return isinstance(method, Tapering) and method.taper.nu == 3


def _sizes(answers: Iterable[Answer]) -> dict[str, Fraction]:
    """Return, for each measure, the least threshold or taper that it has as written."""
    found: dict[str, Fraction] = {}
    for answer in answers:
        measure = measure_of(answer)
        for leaf in leaves(tree_of(answer.measurements[0].methods)):
            size = leaf.method.sensitivity(measure)
            found[measure] = min(size, found.get(measure, size))
    return found


def splits(
    declared: Mapping[str, Scheme], measures: Iterable[str], resolutions: Mapping[str, Fraction]
) -> tuple[Candidate, ...]:
    """Return the schemes as written, and each declared one at eight scales, in two ways.

    >>> every = splits({"fine": Split(emp=10, pay=500)}, ["emp", "pay"], {"emp": 1, "pay": 1})
    >>> [each.name for each in every][:4]
    ['as written', 'fine / 32', 'fine / 32, measure by measure', 'fine / 16']
    """
    wanted = sorted(set(measures))
    found: dict[tuple[tuple[str, TotalMethod], ...], Candidate] = {(): WRITTEN}
    for name, scheme in declared.items():
        covered = [each for each in wanted if covers(scheme, each)]
        if not covered:
            continue
        for scale in SCALES:
            sized = _mapped(scheme, _times(scale, resolutions))
            jointly = tuple((measure, sized) for measure in covered)
            alone = tuple((each, _mapped(sized, _only(each))) for each in covered)
            for ways, ending in ((jointly, ""), (alone, ", measure by measure")):
                shown = f"{name}{_shown(scale)}{ending}"
                found.setdefault(ways, Candidate(shown, ways, SPLIT))
    return tuple(found.values())


def _mapped(scheme: Scheme, change: Callable[[str, Fraction], Fraction | None]) -> Scheme:
    """Return a scheme with its thresholds changed; those that become None are left out."""
    if isinstance(scheme, Split):
        changed = {name: change(name, threshold) for name, threshold in scheme.thresholds}
        return Split({name: each for name, each in changed.items() if each is not None})
    return type(scheme)(scheme.cases.map(lambda inner: _mapped(inner, change)))


def _times(
    scale: Fraction, resolutions: Mapping[str, Fraction]
) -> Callable[[str, Fraction], Fraction]:
    """Return the nearest multiple of the resolution to a threshold at another scale, above 0."""

    def sized(name: str, threshold: Fraction) -> Fraction:
        return max(round(threshold * scale / resolutions[name]), 1) * resolutions[name]

    return sized


def _only(measure: str) -> Callable[[str, Fraction], Fraction | None]:
    return lambda name, threshold: threshold if name == measure else None


def _shown(scale: Fraction) -> str:
    if scale == 1:
        return ""
    return f" × {scale}" if scale > 1 else f" / {1 / scale}"
