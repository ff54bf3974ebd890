"""Counts and totals by Tumult Analytics, of rows that arrive as an Arrow stream."""

import json
import os
import sys
import warnings

import pyarrow as pa
import sympy
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, QueryBuilder, RhoZCDPBudget, Session
from tmlt.core.utils.exact_number import ExactNumber

warnings.simplefilter("ignore")
os.environ["PYSPARK_PYTHON"] = sys.executable
asked = json.loads(sys.stdin.buffer.readline())
rows = pa.ipc.open_stream(sys.stdin.buffer).read_all()
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.log.level", "OFF")
    .getOrCreate()
)
rho = RhoZCDPBudget(ExactNumber(sympy.Rational(asked["rho"])))
session = Session.from_dataframe(
    rho, "rows", spark.createDataFrame(rows.to_pandas()), protected_change=AddOneRow()
)
keys = KeySet.from_dict({"industry": asked["industries"]})
query = QueryBuilder("rows").groupby(keys).sum("employees", 0, asked["threshold"], name="employees")
found = session.evaluate(query, rho).toPandas()
print(json.dumps({row.industry: int(row.employees) for row in found.itertuples()}))
