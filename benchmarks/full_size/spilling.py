"""A grouping that needs more memory than it may use: it spills, and the answers are the same."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from full_size.contenders import FINEST
from full_size.measuring import Cost, measured
from full_size.same_answers import is_same
from full_size.workload import (
    ANSWERS,
    command,
    create_ledger,
    key_columns,
    spec_text,
    table_name,
)


@dataclass(frozen=True, slots=True)
class Spilling:
    """One release without a limit and one within it."""

    rows: int
    limit: str
    free: Cost
    limited: Cost
    is_same: bool
    """Whether both published the same numbers; amounts are so large that noise is 0."""


def measure(folder: Path, rows: int, scratch: Path, limit: str) -> Spilling:
    """Release the finest level with its different firms, without a limit and with one."""
    costs, tables = [], []
    for name, memory_limit in (("free", None), ("limited", limit)):
        out, spill = scratch / f"spill_{name}", scratch / f"spilled_{name}"
        out.mkdir()
        spill.mkdir()
        spec = out / "release.yaml"
        spec.write_text(
            spec_text(
                folder,
                levels=(FINEST,),
                is_exact=True,
                counts_firms=True,
                memory_limit=memory_limit,
                spill_folder=spill,
            )
        )
        create_ledger(spec)
        given = [command(), "release", spec, "--out", out / "published", "--quiet"]
        costs.append(measured(given, watch=spill))
        tables.append(out / "published" / "tables" / f"{table_name(FINEST)}.parquet")
        print(f"spilling, {name}: {costs[-1].wall:.1f} s", file=sys.stderr)
    columns = [*key_columns(FINEST), "firms", *ANSWERS]
    same = is_same(tables[0], tables[1], columns)
    for path in scratch.glob("spill*"):
        shutil.rmtree(path)
    return Spilling(rows, limit, costs[0], costs[1], same)
