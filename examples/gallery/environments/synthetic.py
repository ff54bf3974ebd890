"""Rows by private-pgm (mbi), from noisy tables that arrive as JSON; it sees nothing else."""

import json
import os
import sys
import warnings

warnings.simplefilter("ignore")
os.environ["JAX_ENABLE_X64"] = "1"

import numpy as np  # noqa: E402
from mbi import Domain, LinearMeasurement, estimation  # noqa: E402

asked = json.load(sys.stdin)
domain = Domain(asked["columns"], asked["sizes"])
tables = [
    LinearMeasurement(np.array(each["counts"], float), tuple(each["of"]), stddev=asked["deviation"])
    for each in asked["tables"]
]
model = estimation.MirrorDescent().estimate(domain, tables, iters=asked["steps"])
rows = model.synthetic_data()
found = rows.to_dict()
json.dump({name: np.asarray(found[name]).tolist() for name in asked["columns"]}, sys.stdout)
