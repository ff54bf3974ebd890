"""Policy losses as distribution functions: a line for each threshold, a panel for each rho."""

import pyarrow as pa

from perrecord.lab.experiments.univariate.settings import labelled
from perrecord.report.charts import Panels, shares
from perrecord.report.theme import ChartSpec, Width


def loss_lines(table: pa.Table, width: Width) -> ChartSpec:
    """Return the picture of what `distribution_rows` gives."""
    return shares(
        labelled(table),
        width,
        colour="split at",
        x_title="Policy loss P(r)",
        y_title="Share of records",
        panels=Panels(column="budget"),
    )
