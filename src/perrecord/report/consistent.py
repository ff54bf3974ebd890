"""The section on tables that add up: errors before and after they are fitted, and what follows."""

from typing import Any

from perrecord.evaluate.evaluation import Evaluation
from perrecord.report.figure import ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.page import Section

_TITLE = "What does making tables add up buy?"
_FOLLOWING = "How accurate are tables that follow?"


def after_fitting(found: Evaluation) -> Section | None:
    """Return the section on errors after fitting, by table; None where nothing is fitted."""
    rows = [row for row in found.fitted.to_pylist() if row["follows"] is None]
    following = [row for row in found.fitted.to_pylist() if row["follows"] is not None]
    if not rows and not following:
        return None
    if not rows:
        finding = _finding_following(following)
        return Section(_FOLLOWING, finding, tables=(_summed(following),))
    shown = ShownTable(
        "Errors of the median cell as published and in the consistent columns, by level",
        ("table", "level", "answer", "cells", "published", "consistent", "standard errors"),
        tuple(_row(row) for row in rows),
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
        tables=(shown, *([_summed(following)] if following else [])),
    )


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["table"],
        row["level"],
        row["answer"],
        amount(row["cells"]),
        percent(row["before"]),
        percent(row["after"]),
        _times(row["standard_error_ratio"]),
    )


def _summed(rows: list[dict[str, Any]]) -> ShownTable:
    return ShownTable(
        "Errors of the median cell of tables that follow, as sums of published cells and as they "
        "are published",
        ("table", "level", "answer", "cells", "sums", "follows", "standard errors", "from"),
        tuple((*_row(row), row["follows"]) for row in rows),
    )


def _finding_following(rows: list[dict[str, Any]]) -> str:
    first = rows[0]
    return (
        f"Tables that follow err as the sums that they are: {first['table']}.{first['answer']} by "
        f"{percent(first['after'])} in the median cell."
    )


def _finding(rows: list[dict[str, Any]]) -> str:
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
