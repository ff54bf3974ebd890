"""One count at one level in Tumult Analytics, under zCDP: `tumult_analytics.py FOLDER LEVEL OUT`.

Run by the Python of Tumult Analytics' own environment, on Spark within that process tree. A count
is the cheapest of the four answers; the totals cost as much or more.
"""

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from tmlt.analytics import AddOneRow, KeySet, QueryBuilder, RhoZCDPBudget, Session
from workload import COUNT_RHO, key_columns, table_name


def main() -> None:
    """Write the level's Parquet files; print the seconds it took, without starting Spark."""
    folder, level, out = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
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
    data = spark.read.parquet(str(folder / "est.parquet")).select("county", *prefix)
    session = Session.from_dataframe(
        privacy_budget=RhoZCDPBudget(float(COUNT_RHO)),
        source_id="est",
        dataframe=data,
        protected_change=AddOneRow(),
    )
    keys = {"county": _values(folder / "counties.csv")}
    if level:
        keys[by[1]] = _values(folder / f"industries{level}.csv")
    query = QueryBuilder("est").groupby(KeySet.from_dict(keys)).count(name="establishments")
    answer = session.evaluate(query, RhoZCDPBudget(float(COUNT_RHO)))
    answer.write.option("compression", "zstd").parquet(str(out / f"{table_name(level)}.parquet"))
    print(json.dumps({"inside": time.perf_counter() - began}))


def _values(path: Path) -> list[str]:
    return [line.strip('"') for line in path.read_text().splitlines()[1:]]


if __name__ == "__main__":
    main()
