"""Time a private query beside plain DuckDB's own GROUP BY joined to the same keys.

    python benchmarks/query.py [--rows 1000000] [--write]

County by three-digit industry, a count and three totals, from Parquet. Both sides are warm (each
has answered once), both give an Arrow table with a row for every key, and they take turns in one
process, so that a slow spell of the machine meets both. Peak memory is measured in processes of
their own. With `--write` the table is kept in `benchmarks/query.md`.
"""

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import pyarrow as pa
from goals import Goal, end_with, goals_table

from perrecord import Split
from perrecord.lab.synth import business
from perrecord.lab.synth.industries import industry_codes
from perrecord.lab.synth.places import county_codes
from perrecord.mechanisms.run import answer
from perrecord.queries.query import Query
from perrecord.tables.keys import Keys
from perrecord.tables.table import Table, table

RESULTS = Path(__file__).resolve().parent / "query.md"
TURNS = 9
MOST_TIMES_SLOWER = 3
MOST_MEMORY_MB = 500

PLAIN = """
SELECT keys.county, keys.naics3, coalesce(n, 0) AS n, coalesce(emp, 0) AS emp,
       coalesce(payann, 0) AS payann, coalesce(payqtr1, 0) AS payqtr1
FROM keys LEFT JOIN (
    SELECT county, substr(naics, 1, 3) AS naics3, count(*) AS n, sum(emp) AS emp,
           sum(payann) AS payann, sum(payqtr1) AS payqtr1
    FROM est GROUP BY county, naics3
) AS cells USING (county, naics3)
"""


def keys() -> Keys:
    """Return every county with every three-digit industry."""
    industries = {code[:3] for code in industry_codes()}
    return Keys.from_dict({"county": county_codes(), "naics3": industries})


def query(public: Keys) -> Query:
    """Return the count and three split totals, for every key."""
    scheme = Split(emp=50, payann=2500, payqtr1=625)
    return (
        Query("est")
        .group_by("county", "naics3", keys=public)
        .count(rho="0.1")
        .sum("emp", split=scheme, rho="0.1")
        .sum("payann", split=scheme, rho="0.1")
        .sum("payqtr1", split=scheme, rho="0.1")
    )


def opened(path: Path) -> Table:
    """Open the establishments, with their roles."""
    return table(
        str(path),
        name="est",
        id="id",
        unit="firm",
        dimensions={"county": "county", "naics3": "substr(naics, 1, 3)"},
        measures=["emp", "payann", "payqtr1"],
    )


def connected(path: Path, public: Keys) -> duckdb.DuckDBPyConnection:
    """Return plain DuckDB with the same file and the same keys."""
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW est AS SELECT * FROM read_parquet('{path}')")  # noqa: S608
    connection.register("keys", public.table)
    return connection


def seconds(action: object) -> float:
    """Return how long one call takes."""
    began = time.perf_counter()
    action()  # type: ignore[operator]
    return time.perf_counter() - began


def measure(path: Path) -> tuple[list[float], list[float]]:
    """Return the times of both sides, which take turns."""
    public = keys()
    asked = query(public)
    ours: list[float] = []
    plain: list[float] = []
    connection = connected(path, public)
    with opened(path) as est:

        def run_plain() -> pa.Table:
            return connection.sql(PLAIN).to_arrow_table()

        def run_ours() -> pa.Table:
            return answer(est, asked)[0].table

        if {run_ours().num_rows, run_plain().num_rows} != {len(public)}:
            sys.exit("the two sides do not give the same rows")
        for _ in range(TURNS):
            plain.append(seconds(run_plain))
            ours.append(seconds(run_ours))
    return ours, plain


def peak_memory(path: Path, side: str) -> float:
    """Return the peak memory in MB of a process that answers once on one side."""
    shown = subprocess.run(  # noqa: S603 - this very script
        [sys.executable, __file__, "--side", side, "--path", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return float(shown)


def answer_once(path: Path, side: str) -> float:
    """Answer once on one side; return this process's peak memory in MB."""
    public = keys()
    if side == "plain":
        connected(path, public).sql(PLAIN).to_arrow_table()
    else:
        with opened(path) as est:
            answer(est, query(public))[0].table  # noqa: B018
    # getrusage would count the parent that this process was forked from.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        print(answer_once(given.path, given.side))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "est.parquet"
        business(given.rows, path)
        ours, plain = measure(path)
        memory = {side: peak_memory(path, side) for side in ("plain", "ours")}
    ratio = statistics.median(a / b for a, b in zip(ours, plain, strict=True))
    above = memory["ours"] - memory["plain"]
    goals = [
        Goal(
            f"at most {MOST_TIMES_SLOWER} times the time of plain DuckDB, median over turns",
            f"{ratio:.2f}",
            ratio <= MOST_TIMES_SLOWER,
        ),
        Goal(
            f"at most {MOST_MEMORY_MB} MB of memory above it",
            f"{above:.0f} MB",
            above <= MOST_MEMORY_MB,
        ),
    ]
    lines = [
        "# A private query beside plain DuckDB",
        "",
        f"{given.rows:,} rows of Parquet, {len(keys()):,} keys (county by three-digit industry), a "
        f"count and three totals; {TURNS} turns, Python {platform.python_version()}, "
        f"DuckDB {duckdb.__version__}. Made by `python benchmarks/query.py --write`.",
        "",
        "| | median seconds | least | peak MB |",
        "|---|---|---|---|",
        f"| perrecord | {statistics.median(ours):.3f} | {min(ours):.3f} | {memory['ours']:.0f} |",
        f"| plain DuckDB | {statistics.median(plain):.3f} | {min(plain):.3f} "
        f"| {memory['plain']:.0f} |",
        "",
        *goals_table(goals),
    ]
    print("\n".join(lines), flush=True)
    if given.write:
        RESULTS.write_text("\n".join(lines) + "\n")
    end_with(goals)


if __name__ == "__main__":
    main()
