"""The same tables from Polars' streaming engine, without privacy: `plain_polars.py HOW FOLDER OUT`.

HOW is as in plain_duckdb.py.
"""

import json
import sys
import time
from pathlib import Path

import polars as pl
from workload import ANSWERS, LEVELS, THRESHOLDS, key_columns, table_name

FINEST = max(LEVELS)


def main() -> None:
    """Write a Parquet file per level; print the seconds it took, without starting Python."""
    how, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    is_rolled_up = how.endswith("-rolled-up")
    began = time.perf_counter()
    out.mkdir()
    source = pl.scan_parquet(folder / "est.parquet").with_columns(
        pl.col("county", "naics").cast(pl.String)
    )
    if is_rolled_up:
        finest = _grouped(FINEST, source).collect(engine="streaming").lazy()
    for level in LEVELS:
        if not is_rolled_up:
            cells = _grouped(level, source)
        else:
            cells = finest if level == FINEST else _rolled_up(level, finest)
        if how.startswith("every-key"):
            cells = _every_key(level, cells, folder)
        path = out / f"{table_name(level)}.parquet"
        cells.sink_parquet(path, compression="zstd", engine="streaming")
    print(json.dumps({"inside": time.perf_counter() - began}))


def _grouped(level: int, source: pl.LazyFrame) -> pl.LazyFrame:
    keys = ["county", pl.col("naics").str.slice(0, level).alias(f"naics{level}")]
    count = pl.len().cast(pl.Int64).alias("establishments")
    sums = pl.col(*THRESHOLDS).cast(pl.Int64).sum()
    return source.group_by(keys if level else "county").agg(count, sums)


def _rolled_up(level: int, finest: pl.LazyFrame) -> pl.LazyFrame:
    keys = ["county", pl.col(f"naics{FINEST}").str.slice(0, level).alias(f"naics{level}")]
    return finest.group_by(keys if level else "county").agg(pl.col(*ANSWERS).sum())


def _every_key(level: int, cells: pl.LazyFrame, folder: Path) -> pl.LazyFrame:
    keys = pl.scan_csv(folder / "counties.csv", infer_schema=False)
    if level:
        codes = pl.scan_csv(folder / f"industries{level}.csv", infer_schema=False)
        keys = keys.join(codes, how="cross")
    joined = keys.join(cells, on=key_columns(level), how="left")
    return joined.with_columns(pl.col(*ANSWERS).fill_null(0))


if __name__ == "__main__":
    main()
