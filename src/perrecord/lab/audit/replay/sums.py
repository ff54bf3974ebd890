"""What adds up, recomputed from the published files: dense least squares over all leaves.

Consistent columns, tables that follow and derived numbers are a function of the published unbiased
columns and of public facts alone: which sectors there are, what they begin with, where they lie.
Nothing of the library is used here but the names that the audit itself gave.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from perrecord.lab.audit.random_sums import COUNT, NAME, RATIO, SHARE, TOTAL
from perrecord.lab.audit.random_tables import REGIONS, SECTORS, TRUTHS, VALUES

_ENDINGS = ("_consistent", "_consistent_nonnegative", "_consistent_whole")
_FAR = 3
"""Within so many standard errors of 0 nothing is divided by."""

_TIMES = 10
"""Twice what is negative, on each of at most five levels."""

Leaf = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Rows:
    """A published table, and which leaves each of its rows holds, as bits."""

    name: str
    rows: Sequence[Mapping[str, Any]]
    held: Sequence[int]
    is_asked: bool


def sums_checked(files: Mapping[str, bytes], spec: Mapping[str, Any]) -> tuple[int, str | None]:
    """Return how many numbers were recomputed, and what is wrong with one, if anything is."""
    asked = [each for each in spec["queries"] if each["name"].startswith(NAME)]
    processed = spec["post_processing"]
    columns = {each["name"]: each.get("group_by", []) for each in asked}
    leaves = list(_leaves({name for level in columns.values() for name in level}))
    tables = [_read(files, name, level, leaves, True) for name, level in columns.items()]
    for name, entry in processed.get("follow", {}).items():
        by = [entry["by"]] if isinstance(entry["by"], str) else entry["by"]
        # A coarser key without sectors is in the total and in what is published, and in no table
        # that is added up from sectors.
        is_summed = by not in ([], *columns.values())
        tables.append(_read(files, name, by, leaves, False, sectors=is_summed))
    recomputed = 0
    for answer in (COUNT, TOTAL):
        measured = tables
        if processed.get("consistent") is None:  # what follows is the sum of one table
            source = f"{NAME}0"
            measured = [each for each in tables if not each.is_asked or each.name == source]
        fault = (
            _fit_fault(measured, answer, len(leaves))
            or _sum_fault(measured, answer)
            or _sign_fault(measured, answer)
        )
        if fault is not None:
            return recomputed, fault
        recomputed += sum(len(each.rows) for each in measured)
    return recomputed, _derived_fault(tables)


def _leaves(columns: set[str]) -> Iterator[Leaf]:
    """Yield the finest cells: sectors, and keys of coarser levels that hold no sector."""
    every: list[dict[str, Any]] = [
        {
            "sector": sector,
            "head": None if sector is None else sector[:1],
            "region": None if sector is None else REGIONS.get(sector, (None, None))[0],
        }
        for sector in SECTORS
    ]
    for name in ("head", "region"):
        if name in columns:
            known = [leaf[name] for leaf in every]
            every += [{name: value} for value in VALUES[name] if value not in known]
    for leaf in every:
        yield from ({**leaf, "big": big} for big in TRUTHS)


def _read(
    files: Mapping[str, bytes],
    name: str,
    level: Sequence[str],
    leaves: Sequence[Leaf],
    asked: bool,
    *,
    sectors: bool = False,
) -> _Rows:
    rows = pq.read_table(pa.BufferReader(files[f"tables/{name}.parquet"])).to_pylist()
    held = [
        sum(
            1 << place
            for place, leaf in enumerate(leaves)
            if all(column in leaf and leaf[column] == row[column] for column in level)
            if not sectors or "sector" in leaf
        )
        for row in rows
    ]
    return _Rows(name, rows, held, asked)


def _fit_fault(tables: Sequence[_Rows], answer: str, leaves: int) -> str | None:
    """Return where a published number is not the least squares fit of the published answers."""
    rows = [
        (each, row, held) for each in tables for row, held in zip(each.rows, each.held, strict=True)
    ]
    design = np.array([[held >> bit & 1 for bit in range(leaves)] for _, _, held in rows], float)
    errors = np.array([row[f"{answer}_se"] if each.is_asked else np.inf for each, row, _ in rows])
    values = np.array([float(row[answer]) if each.is_asked else 0.0 for each, row, _ in rows])
    solving: npt.NDArray[np.float64] = design @ np.linalg.pinv(design / errors[:, None]) / errors
    fitted = solving @ values
    fitted += solving @ (values - fitted)  # what floats lost beside giants
    least = np.sqrt(((solving * np.where(errors < np.inf, errors, 0)) ** 2).sum(axis=1))
    most = float(errors[np.isfinite(errors)].max())
    near = 1e-3 * (leaves + most) + 1e-12 * float(np.abs(values).max())
    for (each, row, _), value, error in zip(rows, fitted, least, strict=True):
        column = f"{answer}_consistent"
        if column not in row:
            continue
        if row[column] is None or abs(float(row[column]) - value) > near:
            return f"{each.name}.{column}: it does not follow from what is published"
        if row[f"{column}_se"] < error * (1 - 1e-6):
            return f"{each.name}.{column}_se: it is too small"
        if each.is_asked and row[f"{column}_se"] > row[f"{answer}_se"] * (1 + 1e-6):
            return f"{each.name}.{column}_se: it is more than the answer's own"
    return None


def _sum_fault(tables: Sequence[_Rows], answer: str) -> str | None:
    """Return where printed numbers do not add up, to the last digit."""
    for above in tables:
        for below in tables:
            for ending in _ENDINGS:
                column = f"{answer}{ending}"
                if column not in above.rows[0] or column not in below.rows[0] or above is below:
                    continue
                for row, held in zip(above.rows, above.held, strict=True):
                    inside = [
                        (part, bits)
                        for part, bits in zip(below.rows, below.held, strict=True)
                        if bits and bits & ~held == 0
                    ]
                    total = sum((Decimal(part[column]) for part, _ in inside), Decimal(0))
                    if (
                        held
                        and sum(bits for _, bits in inside) == held != 0
                        and total != row[column]
                    ):
                        return f"{above.name}.{column}: it is not the sum of {below.name}"
    return None


def _sign_fault(tables: Sequence[_Rows], answer: str) -> str | None:
    """Return where numbers that are never negative lie farther off than negative ones explain.

    What is taken from a negative number goes to its siblings, and on to what is below them, level
    by level: no table moves by more than a few times what is negative anywhere.
    """
    plain, signed = f"{answer}_consistent", f"{answer}_consistent_nonnegative"
    shown = [each for each in tables if {plain, signed} <= each.rows[0].keys()]
    numbers = [[(float(row[plain]), float(row[signed])) for row in each.rows] for each in shown]
    negative = sum(max(-fitted, 0.0) for every in numbers for fitted, _ in every)
    for each, every in zip(shown, numbers, strict=True):
        if min(sign for _, sign in every) < 0:
            return f"{each.name}.{signed}: it is negative"
        moved = sum(abs(sign - fitted) for fitted, sign in every)
        rounded = 1e-3 * len(every) + 1e-6 * sum(abs(fitted) for fitted, _ in every)
        if moved > _TIMES * negative + rounded:
            return f"{each.name}.{signed}: it moved farther than negative numbers explain"
    return None


def _derived_fault(tables: Sequence[_Rows]) -> str | None:
    """Return where a derived number, or its error, is not what the published ones make."""
    every = [row for each in tables for row in each.rows if each.is_asked and not _keys(each)]
    for each in tables:
        for row in each.rows if each.is_asked else ():
            pairs = [
                (RATIO, row, TOTAL, row, COUNT),
                *((SHARE, row, COUNT, one, COUNT) for one in every),
            ]
            for name, one, above, two, below in pairs:
                if one is two and above == below:
                    continue  # a number divided by itself has no noise
                number, divisor = float(one[above]), float(two[below])
                errors = one[f"{above}_se"], two[f"{below}_se"]
                value = number / divisor if divisor else None
                if not _is_near(row[name], value):
                    return f"{each.name}.{name}: it does not follow from what is published"
                if value is None or abs(divisor) <= _FAR * errors[1]:
                    continue
                spread = float(np.hypot(errors[0], value * errors[1])) / abs(divisor)
                if not _is_near(row[f"{name}_se"], spread):
                    return f"{each.name}.{name}_se: it does not follow from what is published"
    return None


def _keys(table: _Rows) -> set[str]:
    return {"sector", "head", "region", "big"} & set(table.rows[0])


def _is_near(found: float | None, value: float | None) -> bool:
    if found is None or value is None:
        return found is value
    return abs(found - value) <= 1e-9 * abs(value)
