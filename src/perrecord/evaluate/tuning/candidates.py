"""Splitting schemes to choose from: those that are declared, finer, coarser, measure by measure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from perrecord.evaluate.variants import covers
from perrecord.policy.split import Scheme, Split

SCALES = tuple(Fraction(2) ** power for power in range(-5, 3))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A scheme for each measure that is split; measures without one keep theirs."""

    name: str
    schemes: tuple[tuple[str, Scheme], ...] = ()

    def scheme(self, measure: str) -> Scheme | None:
        """Return the scheme of a measure's totals."""
        return dict(self.schemes).get(measure)


WRITTEN = Candidate("as written")


def candidates(
    declared: Mapping[str, Scheme], measures: Iterable[str], resolutions: Mapping[str, Fraction]
) -> tuple[Candidate, ...]:
    """Return the schemes as written, and each declared one at eight scales, in two ways.

    Jointly, a record has as many pieces as its largest measure asks for, in every total. Measure by
    measure, each total splits by its own threshold alone, so that a large payroll costs nothing in
    the total of employment.

    >>> every = candidates({"fine": Split(emp=10, pay=500)}, ["emp", "pay"], {"emp": 1, "pay": 1})
    >>> [each.name for each in every][:4]
    ['as written', 'fine / 32', 'fine / 32, measure by measure', 'fine / 16']
    """
    wanted = sorted(set(measures))
    found: dict[tuple[tuple[str, Scheme], ...], Candidate] = {(): WRITTEN}
    for name, scheme in declared.items():
        covered = [each for each in wanted if covers(scheme, each)]
        if not covered:
            continue
        for scale in SCALES:
            sized = _mapped(scheme, _times(scale, resolutions))
            jointly = tuple((measure, sized) for measure in covered)
            alone = tuple((each, _mapped(sized, _only(each))) for each in covered)
            for schemes, ending in ((jointly, ""), (alone, ", measure by measure")):
                found.setdefault(schemes, Candidate(f"{name}{_shown(scale)}{ending}", schemes))
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
