"""One answer of one level in Tumult Analytics, under zCDP.

    tumult_analytics.py FOLDER LEVEL count|total OUT

Run by the Python of Tumult Analytics' own environment, on Spark in processes of its own. The total
is of employment, clamped to the threshold at which we split.
"""

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from tmlt.analytics import AddOneRow, KeySet, QueryBuilder, RhoZCDPBudget, Session
from workload import COUNT_RHO, RHOS, THRESHOLDS, key_columns, table_name


def main() -> None:
    """Write the level's Parquet files; print the seconds it took, without starting Spark."""
    folder, level, answer, out = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    out.mkdir()
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "8g",
        "spark.sql.warehouse.dir": str(out / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={out}",
    }
    builder = SparkSession.builder.master("local[*]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    began = time.perf_counter()
    by = key_columns(level)
    prefix = [sql.substring("naics", 1, level).alias(by[1])] if level else []
    measure = sql.col("emp").cast("long").alias("emp")
    rho = RhoZCDPBudget(float(COUNT_RHO if answer == "count" else RHOS["emp"]))
    session = Session.from_dataframe(
        privacy_budget=rho,
        source_id="est",
        dataframe=spark.read.parquet(str(folder / "est.parquet")).select(
            "county", *prefix, *([measure] if answer == "total" else [])
        ),
        protected_change=AddOneRow(),
    )
    keys = {"county": _values(folder / "counties.csv")}
    if level:
        keys[by[1]] = _values(folder / f"industries{level}.csv")
    grouped = QueryBuilder("est").groupby(KeySet.from_dict(keys))
    query = grouped.count() if answer == "count" else grouped.sum("emp", 0, THRESHOLDS["emp"])
    released = session.evaluate(query, rho)
    released.write.option("compression", "zstd").parquet(str(out / f"{table_name(level)}.parquet"))
    print(json.dumps({"inside": time.perf_counter() - began}))


def _values(path: Path) -> list[str]:
    return [line.strip('"') for line in path.read_text().splitlines()[1:]]


if __name__ == "__main__":
    main()
