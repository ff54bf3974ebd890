"""What there is to say of medians and quantiles beside relative errors, which true zeros lack."""

from perrecord.evaluate.evaluation import Evaluation
from perrecord.report.figure import ShownTable
from perrecord.report.numbers import amount, percent


def quantile_tables(found: Evaluation) -> tuple[ShownTable, ...]:
    """Return a table of the quantiles of every variant, in units; none if there is no quantile."""
    rows = found.quantiles.to_pylist()
    if not rows:
        return ()
    shown = ShownTable(
        "Medians and quantiles in units, cells whose true quantile is 0 included: the chance that "
        "the answer is a quantile of the true values, and errors of the median cell",
        (
            "variant",
            "table",
            "answer",
            "candidates",
            "cells",
            "without values",
            "chance of a quantile",
            "expected error",
            f"{percent(float(found.confidence))} error",
            "error without noise",
        ),
        tuple(
            (
                row["variant"],
                row["table"],
                row["answer"],
                amount(row["candidates"]),
                amount(row["cells"]),
                amount(row["without_values"]),
                percent(row["chance_of_a_quantile"]),
                amount(row["median_expected_error"]),
                amount(row["median_reach"]),
                amount(row["median_without_noise"]),
            )
            for row in rows
        ),
    )
    return (shown,)
