"""One level in OpenDP's Polars interface, under zCDP: `opendp_polars.py FOLDER LEVEL ROWS OUT`.

Run by the Python of OpenDP's own environment. The same count and totals for every key, each at its
own rho; where we split records, OpenDP clamps them to the threshold. Keys are read from Parquet, as
its documentation recommends: keys in memory are serialised again for each step of its calibration.
"""

import json
import math
import sys
import time
from pathlib import Path

import opendp.prelude as dp
import polars as pl
from workload import COUNT_RHO, RHOS, THRESHOLDS, key_columns, table_name


def main() -> None:
    """Write the level's Parquet file; print the seconds it took, without starting Python."""
    folder, level, rows, out = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    dp.enable_features("contrib")
    began = time.perf_counter()
    Path(out).mkdir()
    by = key_columns(level)
    prefix = [pl.col("naics").cast(pl.String).str.slice(0, level).alias(by[1])] if level else []
    measures = pl.col(*THRESHOLDS).cast(pl.Int64)
    data = pl.scan_parquet(folder / "est.parquet")
    # A hair more than the sum, for the rounding of scales to floats.
    total = (float(COUNT_RHO) + sum(map(float, RHOS.values()))) * (1 + 1e-9)
    context = dp.Context.compositor(
        data=data.select(pl.col("county").cast(pl.String), *prefix, measures),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=total),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=by, max_length=rows)],
    )
    answers = [dp.len(scale=_scale(1, COUNT_RHO), signed=True).alias("establishments")]
    for measure, threshold in THRESHOLDS.items():
        clamped = pl.col(measure).fill_null(0).dp
        answers.append(clamped.sum((0, threshold), scale=_scale(threshold, RHOS[measure])))
    query = context.query().group_by(by).agg(*answers).with_keys(_keys(folder, level, Path(out)))
    released = query.release().collect()
    released.write_parquet(Path(out) / f"{table_name(level)}.parquet", compression="zstd")
    print(json.dumps({"inside": time.perf_counter() - began}))


def _scale(sensitivity: int, rho: str) -> float:
    return sensitivity / math.sqrt(2 * float(rho))


def _keys(folder: Path, level: int, out: Path) -> pl.LazyFrame:
    keys = pl.scan_csv(folder / "counties.csv", infer_schema=False)
    if level:
        codes = pl.scan_csv(folder / f"industries{level}.csv", infer_schema=False)
        keys = keys.join(codes, how="cross")
    path = out / "keys.parquet"
    keys.sink_parquet(path)
    return pl.scan_parquet(path)


if __name__ == "__main__":
    main()
