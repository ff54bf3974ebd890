"""The benchmarks are programs: what they import lies beside them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
