"""The page that sets what the paper says beside what we measure, claim by claim."""

from collections import Counter
from collections.abc import Sequence

from perrecord.lab.experiments.experiment import Experiment, Verdict
from perrecord.report.figure import ShownTable
from perrecord.report.page import Page, Section

_VERDICTS: tuple[tuple[Verdict, str], ...] = (
    ("holds", "hold"),
    ("holds with a condition", "hold with a condition"),
    ("does not hold", "do not hold"),
)


def findings_page(found: Sequence[Experiment], *, quick: bool, made: str = "") -> Page:
    """Return the page of several experiments: their claims first, then each with its figures."""
    lead = [
        "The experiments of the paper (Seeman, Sexton, Pujol and Machanavajjhala: Privately "
        "Answering Queries on Skewed Data via Per Record Differential Privacy), reproduced with "
        "perrecord on synthetic and public data. Nothing on this page is confidential."
    ]
    if quick:
        lead.append(
            "This is the quick form, on small tables: its numbers show that everything runs, not "
            "what the full form finds."
        )
    return Page(
        "The paper, figure by figure",
        tuple(lead),
        tuple(_counted(found)),
        (_claims(found), *map(_section, found)),
        made,
    )


def _counted(found: Sequence[Experiment]) -> list[str]:
    claims = [claim for each in found for claim in each.claims]
    counts = Counter(claim.verdict for claim in claims)
    shown = [f"{counts[verdict]} {words}" for verdict, words in _VERDICTS if counts[verdict]]
    findings = [f"Of {len(claims)} claims of the paper, {', '.join(shown)}."] if claims else []
    return findings + [each.figures[0].finding for each in found if each.figures]


def _claims(found: Sequence[Experiment]) -> Section:
    """Return a table for each experiment, the verdict first, so that a telephone shows it."""
    heads = ("verdict", "the paper says", "we measure")
    return Section(
        "What the paper says, and what we measure",
        tables=tuple(
            ShownTable(
                each.title,
                heads,
                tuple((claim.verdict, claim.paper, claim.measured) for claim in each.claims),
                may_fold=False,
            )
            for each in found
            if each.claims
        ),
    )


def _section(found: Experiment) -> Section:
    return Section(found.title, text=found.text, figures=found.figures)
