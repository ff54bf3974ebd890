"""Numbers that follow from published ones, by the formulas of a spec (T33)."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from perrecord.mechanisms.answers import Answers
from perrecord.queries.noise_plan import different_keys
from perrecord.release.spec import Workload
from perrecord.released.derived import Computed, Uncertain, uncertain

BESIDE = {
    "_se": "standard error of {0} by the delta method; empty where it divides by what may be 0",
    "_low": "lower end of the confidence interval of {0}; empty where there is none",
    "_high": "upper end of the confidence interval of {0}; empty where there is none",
}
"""What the columns beside a derived number hold, by the endings of their names."""


def computed(
    workload: Workload, table: str, answers: Answers, every: Mapping[str, Answers]
) -> Iterator[Computed]:
    """Yield the derived numbers of a table; `every` has the other tables that formulas read."""
    for number in workload.derived:
        if table not in number.tables:
            continue
        # A number of the table itself, by its full name, is the same number, noise and all.
        own = {f"{other}.{name}": name for other, name in number.others if other == table}
        formula = number.formula.renamed(own)
        given = {name: uncertain(answers.column(name)) for name in number.plain.union(own.values())}
        for other, name in number.others:
            if other == table:
                continue
            rows = _rows(answers.keys, every[other].keys)
            found = uncertain(every[other].column(name))
            given[f"{other}.{name}"] = Uncertain(_at(found.values, rows), _at(found.errors, rows))
        yield Computed(number.name, formula, given)


def words(workload: Workload, quoted: Callable[[str], str]) -> str | None:
    """Return what is derived, for the methodology; None if nothing is."""
    if not workload.derived:
        return None
    shown = "; ".join(f"{quoted(each.name)} = {each.formula}" for each in workload.derived)
    return (
        f"Some columns follow from published numbers, at no cost: {shown}. Their standard errors "
        "are by the delta method, their intervals Fieller's with normal quantiles, which are "
        "approximate for noise of other laws; where a denominator cannot be told from 0 there "
        "are none."
    )


def _rows(keys: pa.Table, others: pa.Table) -> npt.NDArray[np.intp]:
    """Return for each key the row of another table that its columns name; -1 if there is none."""
    if not others.num_columns:
        return np.zeros(keys.num_rows, dtype=np.intp)
    names = others.column_names
    places = {tuple(row.values()): place for place, row in enumerate(others.to_pylist())}
    rows, which = different_keys(keys.select(names))
    found = [places.get(tuple(row.values()), -1) for row in rows]
    return np.asarray(np.array(found, dtype=np.intp)[which])


def _at(values: npt.NDArray[np.float64], rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    return np.asarray(np.append(values, np.nan)[rows])
