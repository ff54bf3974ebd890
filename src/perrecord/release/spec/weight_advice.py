"""Weighted tables: answers that look unweighted by mistake, and means that would be none (T36)."""

from collections.abc import Iterator

from perrecord.release.spec.models import Spec
from perrecord.release.spec.names import Found
from perrecord.release.spec.problems import Path
from perrecord.release.spec.questions import AnswerEntry
from perrecord.tables.weights import weighted_name

OTHER_WEIGHTS = (
    " In a table that declares weight: {column: w, largest: 100}, a weighted total is sum: "
    "weighted_emp, a weighted number of records sum: w, and a weighted mean the one divided by the "
    "other, in derived. Different values have no weighted number."
)
"""What to type where an answer that takes no weight has one."""


def weight_advice(spec: Spec) -> Iterator[Found]:
    """Yield the counts and totals of a weighted table that leave the weight out."""
    if spec.weight is None:
        return
    weight = spec.weight.column
    for place, query in enumerate(spec.queries):
        for name, answer in (query.answers or {}).items():
            here: Path = ("queries", place, "answers", name)
            if answer.count == "records":
                yield (
                    (*here, "count"),
                    f"records are counted without their weight {weight!r}; their weighted number "
                    f"is sum: {weight}.",
                )
            elif answer.sum in spec.measures:
                yield (
                    (*here, "sum"),
                    f"values are added up without their weight {weight!r}; the weighted total is "
                    f"sum: {weighted_name(str(answer.sum))}.",
                )


def check_weighted(answer: AnswerEntry, path: Path, spec: Spec) -> Iterator[Found]:
    """Yield a mean or quantile of products with the weight: it would estimate nothing."""
    if spec.weight is None:
        return
    products = {weighted_name(name): name for name in spec.measures}
    for form in ("average", "median", "quantile"):
        measure = getattr(answer, form)
        if measure not in products:
            continue
        if form == "average":
            yield (
                (*path, form),
                f"the mean of {measure!r} over records is not a weighted mean. Ask for sum: "
                f"{measure} and sum: {spec.weight.column}, and divide the one by the other in "
                "derived.",
            )
        else:
            yield (
                (*path, form),
                f"a quantile of {measure!r} is not a weighted quantile. Ask for that of "
                f"{products[measure]!r}, with weight: {{measure: {spec.weight.column}, at: 1}} and "
                "for at the weight of a record that is to lose the amount.",
            )
