"""Ways to publish an exact number, one on every marked line; mypy --strict finds each of them.

Nothing in it is run. The comment gives the kind of mistake in mypy's words. Lines without one are
how it is done.
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa

from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.mechanisms.additive import draw, estimate, noisy
from perrecord.mechanisms.selection import keys_reaching
from perrecord.queries.cells import Cells, Counts, Occupied
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.noise_plan import NoisePlan
from perrecord.released.columns import Chosen, Estimate
from perrecord.released.numbers import Integers, added, floats, to_arrow


def estimates(exact: Confidential[Integers], keys: pa.Table, noise: NoisePlan) -> None:
    """Numbers of a column: noise is added, or they are refused, however they were got."""
    laws, which = noise.laws(keys)
    drawn = draw(laws[0], len(which), None)
    estimate("n", exact, keys, noise, None)
    Estimate("n", noisy(exact, drawn), noise.step, laws, which)
    Estimate("n", exact, noise.step, laws, which)  # error: arg-type
    Estimate("n", revealed(exact), noise.step, laws, which)  # error: arg-type
    Estimate("n", added(revealed(exact), drawn), noise.step, laws, which)  # error: arg-type
    Estimate("n", exact._content, noise.step, laws, which)  # error: arg-type
    estimate("n", revealed(exact), keys, noise, None)  # error: arg-type
    noisy(revealed(exact), drawn)  # error: arg-type


def choices(counts: Counts, occupied: Occupied, asked: SelectKeys, keys: pa.Table) -> None:
    """Candidates and keys that noise did not choose."""
    Chosen("q", (), counts.buckets)  # error: arg-type
    Chosen("q", (), revealed(counts.buckets))  # error: arg-type
    keys_reaching(asked, keys, occupied.numbers)  # error: arg-type
    keys_reaching(asked, keys, revealed(occupied.numbers))  # error: arg-type
    occupied.keys.to_pydict()  # error: attr-defined
    occupied.keys.filter(True)  # error: attr-defined


def computed(exact: Confidential[Integers], drawn: Integers) -> None:
    """Whatever would give plain numbers; `exact + drawn` is refused when it is run."""
    exact + 1  # error: operator
    2 * exact  # error: operator
    exact[0]  # error: index
    len(exact)  # error: arg-type
    int(exact)  # error: call-overload
    float(exact)  # error: arg-type
    list(exact)  # error: call-overload
    sum(exact)  # error: call-overload
    np.add(exact, drawn)  # error: call-overload
    np.sum(exact)  # error: call-overload
    added(exact, drawn)  # error: arg-type
    floats(exact)  # error: arg-type
    to_arrow(exact, Fraction(1))  # error: arg-type
    exact.tolist()  # error: attr-defined


def read(cells: Cells, drawn: Integers) -> None:
    """Whatever the cells of a scan give."""
    numbers = cells.numbers([], [], None)
    wrong: dict[object, Integers] = numbers  # error: assignment
    wrong.clear()
    added(cells.occupied([], cells.scan.aggregates[0]).numbers, drawn)  # error: arg-type


class Shown(Confidential[Integers]):  # error: misc
    """A kind of its own that could show what it holds."""
