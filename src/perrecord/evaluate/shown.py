"""An evaluation as a panel of a notebook: what records lose, and errors by size of cell."""

from typing import TYPE_CHECKING

from perrecord.evaluate.accuracy.within import within_column
from perrecord.evaluate.confidential import HEADER
from perrecord.exact import text
from perrecord.panels import panel

if TYPE_CHECKING:
    from perrecord.evaluate.evaluation import Evaluation

_SHARES = {"half lose at most": "0.5", "99 % at most": "0.99", "everybody at most": "1"}


def evaluation_panel(found: "Evaluation") -> str:
    """Return the panel, marked as confidential."""
    names = [each.name for each in found.variants]
    limit = found.limits[0] if found.limits else None
    answers: dict[tuple[str, str], list[tuple[str, int, str, str]]] = {}
    for row in found.by_size.to_pylist():
        within = None if limit is None else row[within_column(limit)]
        shown = row["size"], row["cells"], _percent(row["median_relative_error"]), _percent(within)
        answers.setdefault((row["table"], row["answer"]), []).append(shown)
    return panel(
        "evaluation",
        mark=HEADER,
        shares=list(_SHARES),
        losses=[
            (name, [f"{each.quantile(share):.4g}" for share in _SHARES.values()])
            for name, each in zip(names, found.compared, strict=True)
        ],
        answers=[(*key, rows) for key, rows in answers.items()],
        limit="–" if limit is None else f"{text(100 * limit)} %",
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g} %"
