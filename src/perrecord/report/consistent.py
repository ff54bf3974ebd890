"""The section on tables that add up: errors before and after they are fitted."""

from perrecord.evaluate.evaluation import Evaluation
from perrecord.report.figure import ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.page import Section

_TITLE = "What does it buy that tables add up?"


def after_fitting(found: Evaluation) -> Section | None:
    """Return the section on errors after fitting, by table; None where nothing is fitted."""
    rows = found.fitted.to_pylist()
    if not rows:
        return None
    shown = ShownTable(
        "Errors of the median cell as published and in the consistent columns, by level",
        ("table", "level", "answer", "cells", "published", "consistent", "standard errors"),
        tuple(
            (
                row["table"],
                row["level"],
                row["answer"],
                amount(row["cells"]),
                percent(row["before"]),
                percent(row["after"]),
                _times(row["standard_error_ratio"]),
            )
            for row in rows
        ),
    )
    return Section(
        _TITLE,
        _finding(rows),
        text=(
            "Fitting is least squares over all tables that estimate the same number; it costs no "
            "privacy. Standard errors are those of the consistent column as a multiple of the "
            "published one's, in the median cell: they are public. Consistent columns are taken "
            "to err as the normal law does. Where noise decides which cells are published, all "
            "cells of the data are counted.",
        ),
        tables=(shown,),
    )


def _finding(rows: list[dict[str, object]]) -> str:
    known = [row for row in rows if row["standard_error_ratio"] is not None]
    if not known:
        return "Nothing could be fitted: perrecord check says why."
    least, most = (
        pick(known, key=lambda row: float(str(row["standard_error_ratio"]))) for pick in (min, max)
    )
    if len(known) == 1 or least["standard_error_ratio"] == most["standard_error_ratio"]:
        return f"Fitted so that tables add up, standard errors are {_of(least)}."
    return (
        f"Fitted so that tables add up, standard errors are between {_of(least)} and {_of(most)}."
    )


def _of(row: dict[str, object]) -> str:
    ratio = _times(row["standard_error_ratio"])
    return f"{ratio} of the published ones in {row['table']}.{row['answer']}"


def _times(ratio: object) -> str:
    return "none" if ratio is None else percent(float(str(ratio)))
