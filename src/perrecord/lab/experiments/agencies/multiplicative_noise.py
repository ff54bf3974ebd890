"""EZS noise: what the Census Bureau has used for County Business Patterns since 2007.

Evans, Zayatz and Slanta (1998): all values of an establishment are multiplied by 1 + d or 1 - d,
where d is drawn between two numbers well away from 0. All establishments of a firm go in the same
direction, and both directions are equally likely. A total is the sum of what was multiplied;
counts are published as they are.

There is no formal guarantee. A cell of one establishment shows its value to within d at most, so
anybody who knows the largest d knows an interval around it, and releases with fresh noise could be
averaged. The agency's d is secret; the 10 % to 20 % used here are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError, listing
from perrecord.lab.experiments.agencies.cell_sizes import Floats
from perrecord.lab.experiments.agencies.magnitudes import unit_codes

RECORDS = "records"
"""The column that says how many records a cell holds."""


@dataclass(frozen=True, slots=True)
class Distortion:
    """How far values are moved: a share between `least` and `most`.

    Its density falls in a straight line from its highest at `least` to none at `most`. Together
    with its mirror image below 1 this ramp is the split distribution of the literature.
    """

    least: float = 0.10
    most: float = 0.20

    def __post_init__(self) -> None:
        if not 0 < self.least < self.most < 1:
            raise InputError(
                f"values are moved by {self.least} to {self.most}; expected 0 < least < most < 1, "
                "such as 0.10 and 0.20."
            )

    def draw(self, count: int, source: np.random.Generator) -> Floats:
        """Return so many shares."""
        return np.asarray(self.most - (self.most - self.least) * np.sqrt(1 - source.random(count)))


_USUAL = Distortion()


def noisy_totals(
    records: pa.Table,
    cells: Sequence[str],
    measures: Sequence[str],
    *,
    unit: str,
    seed: int,
    distortion: Distortion = _USUAL,
) -> pa.Table:
    """Return a row for each cell: its key, `records`, and true and noisy total of every measure.

    The noisy total of `emp` is called `emp_noisy`. `unit` is the column of the firm; a record
    without one is a firm of its own. All measures of a record are multiplied by the same number,
    so ratios within a cell of one establishment survive. A value that is null counts as 0.

    >>> shops = pa.table({"town": ["A", "A", "B"], "firm": [1, 2, 1], "emp": [10, 20, 100]})
    >>> found = noisy_totals(shops, ["town"], ["emp"], unit="firm", seed=1)
    >>> found.column_names, found["emp"].to_pylist()
    (['town', 'records', 'emp', 'emp_noisy'], [30, 100])
    """
    _check(records, cells, measures, unit)
    source = np.random.default_rng(seed)
    factors = _factors(records[unit], distortion, source)
    # Dictionaries may differ from chunk to chunk, which grouping does not take.
    columns = {name: records[name] for name in cells}
    plain = pa.table(columns).unify_dictionaries()
    for name in measures:
        values = pc.fill_null(records[name], 0)
        plain = plain.append_column(name, values)
        noisy = factors * values.to_numpy().astype(np.float64)
        plain = plain.append_column(noisy_column(name), pa.array(noisy))
    sums = [(each, "sum") for name in measures for each in (name, noisy_column(name))]
    grouped = plain.group_by(list(cells), use_threads=False).aggregate([([], "count_all"), *sums])
    names = [*cells, "count_all", *(f"{name}_sum" for name, _ in sums)]
    return grouped.select(names).rename_columns([*cells, RECORDS, *(name for name, _ in sums)])


def _factors(units: pa.ChunkedArray, distortion: Distortion, source: np.random.Generator) -> Floats:
    """Return what each record is multiplied by: its own share, in the direction of its unit."""
    codes = unit_codes(units)
    upward = source.integers(0, 2, int(codes.max(initial=-1)) + 1).astype(bool)[codes]
    shares = distortion.draw(len(codes), source)
    return np.where(upward, 1 + shares, 1 - shares)


def noisy_column(name: str) -> str:
    """Return the column of a measure's noisy totals."""
    return f"{name}_noisy"


def _check(records: pa.Table, cells: Sequence[str], measures: Sequence[str], unit: str) -> None:
    missing = [name for name in (*cells, *measures, unit) if name not in records.column_names]
    if missing:
        raise InputError(
            f"the records have no column {listing(missing)}; they have "
            f"{listing(records.column_names)}."
        )
    if not cells or not measures:
        raise InputError("name at least one column of cells and one measure.")
