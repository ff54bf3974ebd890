"""The utility audit: nothing but the noise stands between an answer and its meaning in SQL."""

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

from perrecord.errors import InputError
from perrecord.lab.audit.figures import Figures, FiguresTable, number
from perrecord.lab.audit.utility.additive import additive_cases, additive_tests
from perrecord.lab.audit.utility.averages import AVERAGES, average_tests
from perrecord.lab.audit.utility.combined import combined_checks
from perrecord.lab.audit.utility.exactly import exact_checks
from perrecord.lab.audit.utility.files import file_checks
from perrecord.lab.audit.utility.laws import FALSE_ALARM
from perrecord.lab.audit.utility.quantiles import QUANTILES, quantile_tests
from perrecord.lab.audit.utility.selections import selection_tests
from perrecord.lab.audit.utility.worlds import ChanceTest, World

QUESTIONS = 4
"""So many questions are asked of each random table."""
_RELEASED_EVERY = 10
_MOST_FAILURES = 20
_SLOW = 10
"""Quantiles, averages and selections look at one in so many cells: they are compared in Python."""


def utility_audit(
    tables: int, cells: int, seed: int, step: Callable[[str], None] = lambda _: None
) -> Figures:
    """Compare exact answers of so many tables, and the noise of so many cells; return figures."""
    if tables < 1 or cells < _SLOW:
        raise InputError(
            f"{tables} tables and {cells} cells were asked for; expected at least one table, and "
            f"{_SLOW} cells."
        )
    kinds: Counter[str] = Counter()
    failures: list[str] = []
    releases = in_files = 0
    for place in range(tables):
        step(f"table {place + 1:,} of {tables:,}")
        random = Random(f"perrecord utility {seed} {place}")  # noqa: S311 - to be repeated
        tapers = Random(f"perrecord utility tapers {seed} {place}")  # noqa: S311 - the same
        where = f"seed {seed}, table {place}"
        try:
            checks = list(exact_checks(random, QUESTIONS, place))
            if place % _RELEASED_EVERY == 0:
                own = Random(f"perrecord utility combined {seed} {place}")  # noqa: S311 - the same
                written = [*file_checks(random, tapers, place), *combined_checks(own, place)]
                checks += written
                releases += 2
                in_files += len(written)
        except Exception as error:  # whatever the data, nothing here may fail
            failures.append(f"{where}: {type(error).__name__}: {error}")
            continue
        kinds.update(kind for kind, _ in checks)
        failures += [f"{where}, {kind}: {fault}" for kind, fault in checks if fault is not None]
        if len(failures) >= _MOST_FAILURES:
            break
    tests = list(noise_tests(cells, seed, step))
    failures += noise_failures(tests)
    figures = (
        ("random tables", number(tables)),
        ("published numbers compared with plain SQL, noise vanishing", number(kinds.total())),
        ("of them in CSV and Parquet files of whole releases", number(in_files)),
        ("whole releases", number(releases)),
        ("cells with real noise", number(cells)),
        ("tests of noise, standard errors and intervals", number(len(tests))),
        ("chance of a false alarm, over all tests", f"{FALSE_ALARM:g}"),
        ("least p-value", f"{min((each.chance for each in tests), default=1.0):.2g}"),
        ("failures", number(len(failures))),
        ("seed", str(seed)),
    )
    compared = tuple((kind, number(count)) for kind, count in sorted(kinds.items()))
    by_kind = FiguresTable("Numbers that equal their SQL, by kind", ("kind", "numbers"), compared)
    shown = tuple((each.what, f"{each.chance:.2g}", each.fault or "") for each in tests)
    by_test = FiguresTable("Tests of distributions", ("test", "p-value", "fault"), shown)
    return Figures("utility", figures, (by_kind, by_test), tuple(failures[:_MOST_FAILURES]))


def noise_tests(cells: int, seed: int, step: Callable[[str], None]) -> Iterator[ChanceTest]:
    """Yield every test of an answer with real noise."""
    world, fewer = World.of(cells), World.of(cells // _SLOW)
    for case in additive_cases():
        step(case.name)
        yield from additive_tests(world, case, seed)
    for average in AVERAGES:
        step(average.name)
        yield from average_tests(fewer, average, seed)
    for quantile in QUANTILES:
        step(quantile.name)
        yield from quantile_tests(fewer, quantile, seed)
    step("keys that noise selects")
    yield from selection_tests(fewer, seed)


def noise_failures(tests: list[ChanceTest]) -> list[str]:
    """Return what is wrong for certain, or too unlikely for one test among so many."""
    least = FALSE_ALARM / max(len(tests), 1)
    found = [f"{each.what}: {each.fault}" for each in tests if each.fault is not None]
    return found + [
        f"{each.what}: as odd as this once in {1 / max(each.chance, 1e-300):.3g} times"
        for each in tests
        if each.chance < least
    ]
