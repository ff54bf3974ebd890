"""Keys and cells that noise selects: published as often, and with such values, as the law says."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from perrecord.lab.audit.utility.laws import OwnLaw, counts_chance, gaussian
from perrecord.lab.audit.utility.worlds import ChanceTest, World
from perrecord.policy.split import Split
from perrecord.queries.groupings import SelectCells, SelectKeys
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys

_THRESHOLD, _LEAST = 6, 3
_PIECES = "CAST(sum(greatest(1, coalesce((abs(emp) + 5) // 6, 0))) AS BIGINT)"


def selection_tests(world: World, seed: int) -> Iterator[ChanceTest]:
    """Yield the tests of keys that are found in the data, and of cells kept of a domain."""
    cells: Any = SelectKeys(rho="0.1", threshold=_THRESHOLD, split=Split(emp=6), rows_as="rows")
    found = world.answers(lambda q: q.count(name="n", rho=1), seed, cells)
    pieces = dict(enumerate(world.truth(_PIECES)))
    published = _published(found.table, "rows")
    yield from _tests("key selection", pieces, published, _THRESHOLD, gaussian(5))
    # As many cells again are declared and hold no record.
    domain = Domain(Keys.from_dict({"cell": range(2 * world.cells)}))
    cells = SelectCells(domain, answer="kept", at_least=_LEAST)
    found = world.answers(lambda q: q.count(name="kept", rho="0.25"), seed, cells)
    counts = dict(enumerate([*world.truth("count(*)"), *[0] * world.cells]))
    published = _published(found.table, "kept")
    yield from _tests("cells of a domain", counts, published, _LEAST, gaussian(2))


def _published(found: Any, name: str) -> dict[int, int]:
    keys, values = found["cell"].to_pylist(), found[name].to_pylist()
    return dict(zip(keys, values, strict=True))


def _tests(
    what: str, exact: Mapping[int, int], published: Mapping[int, int], least: int, law: OwnLaw
) -> Iterator[ChanceTest]:
    """Yield for each exact number whether its noisy one is withheld or published as it should."""
    fault = None
    if not published.keys() <= exact.keys() or min(published.values(), default=least) < least:
        fault = "a key was published that does not exist, or does not reach the threshold"
    yield ChanceTest(f"{what}: its keys", 1.0, fault)
    for number in sorted(set(exact.values())):
        keys = [key for key, each in exact.items() if each == number]
        noise = np.array([published[key] - number for key in keys if key in published], int)
        start = least - number
        withheld = max(0.0, 1 - law.tail(start))
        seen = np.bincount(noise - start, minlength=law.reach + 1 - start)
        chances = law.chances[max(0, start + law.reach) :]
        if len(seen) > len(chances) or start < -law.reach:
            yield ChanceTest(f"{what} of {number}", 0.0)
            continue
        counts = [len(keys) - len(noise), *seen.tolist()]
        yield ChanceTest(f"{what} of {number}", counts_chance(counts, [withheld, *chances]))
