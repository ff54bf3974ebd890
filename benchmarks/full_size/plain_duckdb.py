"""The same tables from plain DuckDB, without privacy: `python plain_duckdb.py HOW FOLDER OUT`.

HOW is `occupied` (one query per level, cells that have records) or `every-key` (the same, joined
to the key set); with `-rolled-up` behind it, only the finest level is read from the file, and the
others are added up from it.
"""

import json
import sys
import time
from pathlib import Path

import duckdb
from workload import LEVELS, THRESHOLDS, key_columns, table_name

FINEST = max(LEVELS)


def main() -> None:
    """Write a Parquet file per level; print the seconds it took, without starting Python."""
    how, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    is_rolled_up = how.endswith("-rolled-up")
    began = time.perf_counter()
    out.mkdir()
    connection = duckdb.connect()
    source = f"read_parquet('{folder / 'est.parquet'}')"
    if is_rolled_up:
        connection.execute(f"CREATE TABLE finest AS {_grouped(FINEST, source)}")
    for level in LEVELS:
        if not is_rolled_up:
            cells = _grouped(level, source)
        else:
            cells = "FROM finest" if level == FINEST else _rolled_up(level)
        if how.startswith("every-key"):
            cells = _every_key(level, cells, folder)
        path = out / f"{table_name(level)}.parquet"
        connection.execute(f"COPY ({cells}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    print(json.dumps({"inside": time.perf_counter() - began}))


def _grouped(level: int, source: str) -> str:
    prefix = f", substr(naics, 1, {level}) AS naics{level}" if level else ""
    return (
        f"SELECT county{prefix}, count(*) AS establishments, {_sums()} "  # noqa: S608
        f"FROM {source} GROUP BY {', '.join(key_columns(level))}"
    )


def _rolled_up(level: int) -> str:
    prefix = f", substr(naics{FINEST}, 1, {level}) AS naics{level}" if level else ""
    return (
        f"SELECT county{prefix}, CAST(sum(establishments) AS BIGINT) AS establishments, "  # noqa: S608
        f"{_sums()} FROM finest GROUP BY {', '.join(key_columns(level))}"
    )


def _every_key(level: int, cells: str, folder: Path) -> str:
    keys = f"read_csv('{folder / 'counties.csv'}', all_varchar = true) AS counties"
    if level:
        keys += f", read_csv('{folder / f'industries{level}.csv'}', all_varchar = true) AS codes"
    names = ", ".join(key_columns(level))
    values = ", ".join(f"coalesce({name}, 0) AS {name}" for name in ("establishments", *THRESHOLDS))
    return (
        f"SELECT {names}, {values} FROM (SELECT {names} FROM {keys}) AS keys "  # noqa: S608
        f"LEFT JOIN ({cells}) AS cells USING ({names})"
    )


def _sums() -> str:
    return ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in THRESHOLDS)


if __name__ == "__main__":
    main()
