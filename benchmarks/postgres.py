"""Time the scan of a release on PostgreSQL beside DuckDB: pushed down to the server, and streamed.

    python benchmarks/postgres.py [--rows 1000000] [--write]

County by three-digit industry, a count and three totals. DuckDB reads a Parquet file; PostgreSQL
scans a table where it is (pushed down), or gives the rows of a view, which are copied and then
scanned by the local DuckDB (streamed); beside them stands the GROUP BY that somebody would write on
PostgreSQL. Each turn opens the source anew and ends with the exact cells in the local DuckDB, which
must be the same. The server is one of our own, in a temporary folder, with its usual settings but
for fsync. With `--write` the table is kept in `benchmarks/postgres.md`. Needs PostgreSQL.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from goals import Goal, goals_table, page_by
from machine import load, machine

from perrecord import Split
from perrecord.lab.audit.doors import server
from perrecord.lab.synth import business
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.queries.query import Query
from perrecord.tables.keys import Keys
from perrecord.tables.table import table

RESULTS = Path(__file__).resolve().parent / "postgres.md"
TURNS = 5
MOST_TIMES_PLAIN = 3
DUCKDB, PUSHED, STREAMED, PLAIN = (
    "DuckDB, from Parquet",
    "PostgreSQL, pushed down",
    "PostgreSQL, streamed",
    "PostgreSQL's own GROUP BY",
)
COLUMNS = "county text, naics text, emp bigint, payann bigint, payqtr1 bigint"
BY_HAND = """
SELECT county, substr(naics, 1, 3) AS naics3, count(*), sum(emp), sum(payann), sum(payqtr1)
FROM est GROUP BY county, naics3
"""
ROLES: dict[str, Any] = {
    "dimensions": {"county": "county", "naics3": "substr(naics, 1, 3)"},
    "measures": ["emp", "payann", "payqtr1"],
}


def query() -> Query:
    """Return the count and three split totals of every industry and county that there may be."""
    scheme = Split(emp=50, payann=2500, payqtr1=625)
    keys = Keys.from_dict({"county": ["01001"], "naics3": ["111"]})
    asked = Query().group_by("county", "naics3", keys=keys).count(rho="0.1")
    for measure in ROLES["measures"]:
        asked = asked.sum(measure, split=scheme, rho="0.1")
    return asked


def cells_of(source: str, **options: str) -> tuple[int, ...]:
    """Open a source, scan it, and return how many cells there are and what they add up to."""
    with table(source, **ROLES, **options) as opened:
        planned = plan(query(), opened.schema)
        with scanned(planned, opened) as cells:
            values = [f"sum(_perrecord_value{place})" for place in range(4)]
            sql = f"SELECT count(*), {', '.join(values)} FROM {cells[0].relation} AS cells"  # noqa: S608
            (row,) = next(iter(opened.engine.local(sql))).to_pylist()
    return tuple(int(each) for each in row.values())


def by_hand(address: str) -> tuple[int, ...]:
    """Return the same from the GROUP BY that somebody would write, its rows fetched."""
    with psycopg.connect(address) as connection:
        rows = connection.execute(BY_HAND, binary=True).fetchall()
    return len(rows), *(int(sum(row[place] for row in rows)) for place in range(2, 6))


def prepare(folder: Path, rows: int, address: str) -> Path:
    """Make the establishments, as a Parquet file and as a table with a view of it."""
    path = folder / "est.parquet"
    business(rows, path)
    text = folder / "est.csv"
    names = ", ".join(each.split()[0] for each in COLUMNS.split(", "))
    duckdb.read_parquet(str(path)).project(names).write_csv(str(text), header=False)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE est ({COLUMNS})")
        with (
            text.open("rb") as lines,
            connection.cursor().copy("COPY est FROM STDIN (FORMAT csv)") as copy,
        ):
            while block := lines.read(1 << 20):
                copy.write(block)
        connection.execute("CREATE VIEW seen AS SELECT * FROM est")
        connection.execute("VACUUM ANALYZE est")
    return path


def measure(ways: dict[str, Callable[[], tuple[int, ...]]]) -> dict[str, list[float]]:
    """Return the seconds of each way, taking turns; all must find the same cells."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    wanted = ways[DUCKDB]()
    for number in range(TURNS):
        for name, way in ways.items():
            start = time.perf_counter()
            found = way()
            taken[name].append(time.perf_counter() - start)
            if found != wanted:
                sys.exit(f"{name} found other cells than {DUCKDB}")
        print(f"turn {number + 1} of {TURNS}", file=sys.stderr)
    return taken


def report(rows: int) -> tuple[str, list[Goal]]:
    """Return the table as Markdown, and the goals."""
    before, programs = load(), server.programs()
    if programs is None:
        sys.exit("no PostgreSQL found; install it: sudo apt-get install postgresql")
    with tempfile.TemporaryDirectory() as folder, server.running(programs) as address:
        path = prepare(Path(folder), rows, address)
        taken = measure(
            {
                DUCKDB: lambda: cells_of(str(path)),
                PUSHED: lambda: cells_of(address, relation="est"),
                STREAMED: lambda: cells_of(address, relation="seen"),
                PLAIN: lambda: by_hand(address),
            }
        )
    middle = {name: statistics.median(times) for name, times in taken.items()}
    goals = [
        Goal(
            f"pushed down at most {MOST_TIMES_PLAIN} times PostgreSQL's own GROUP BY",
            f"{middle[PUSHED] / middle[PLAIN]:.2f} times",
            middle[PUSHED] <= MOST_TIMES_PLAIN * middle[PLAIN],
        ),
        Goal(
            "pushed down faster than streamed",
            f"{middle[STREAMED] / middle[PUSHED]:.1f} times faster",
            middle[PUSHED] < middle[STREAMED],
        ),
    ]
    lines = [
        "# PostgreSQL beside DuckDB",
        "",
        f"{rows:,} establishments by county and three-digit industry, a count and three totals,",
        f"from opening the source to the exact cells. {TURNS} turns; medians of the clock.",
        "",
        f"{machine()}.",
        "",
        "| scan | s | least | most | times DuckDB |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {name} | {middle[name]:.2f} | {min(times):.2f} | {max(times):.2f} "
            f"| {middle[name] / middle[DUCKDB]:.1f} |"
            for name, times in taken.items()
        ),
        "",
        *goals_table(goals),
        "",
        f"Load of the machine before the run: {before}.",
        "",
    ]
    return "\n".join(lines), goals


if __name__ == "__main__":
    page_by(report, RESULTS, __doc__, option="rows", usually=1_000_000, meaning="establishments")
