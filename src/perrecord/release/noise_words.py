"""What the methodology says of numbers and noise: their laws, biases, intervals and the budget."""

from collections.abc import Iterator

from perrecord.exact import text
from perrecord.policy.blurring import BlurredEpsilon, BlurredRho
from perrecord.policy.document import growths
from perrecord.policy.tapering import TaperedEpsilon, TaperedRho
from perrecord.release.document import PublishedPolicy
from perrecord.release.markdown import inline
from perrecord.release.processing import steps_of
from perrecord.release.processing.deriving import words as derived_words
from perrecord.release.spec import Workload
from perrecord.released.columns import FEW

_BEYOND = {3: 420, 7: 7}
"""Of a million numbers with Student noise, about how many lie beyond ten standard deviations."""


def noise_section(workload: Workload, published: PublishedPolicy) -> Iterator[str]:
    """Return the lines of the section."""
    yield "## Numbers and noise"
    yield ""
    grown = {term.growth for term in growths(workload.policy.form)}
    students = TaperedRho | TaperedEpsilon | BlurredRho | BlurredEpsilon
    nus = sorted({each.nu for each in grown if isinstance(each, students)})
    law = "law that the policy states" if nus else "discrete Gaussian or discrete Laplace law"
    yield (
        f"Sums are exact integers; the noise is drawn from the exact {law} with the operating "
        "system's randomness. It has mean 0, so counts and totals of split records are "
        "unbiased. A total of cut values estimates the total of the cut values, not of the "
        "values themselves; averages are ratios and so only nearly unbiased; a quantile is one "
        "of its candidates, most likely one that has no more than its share of the values "
        "below and above it, and in a cell with few records nearly any of them; where cells "
        "are published because an answer is large, that answer is too large on average."
    )
    yield ""
    if nus:
        beyond = " and ".join(f"with nu = {nu} about {_BEYOND[nu]} in a million" for nu in nus)
        yield (
            "The noise of tapered answers is drawn from the exact discrete Student law, whose "
            "spread and nu the policy states; it too has mean 0, and more values far out than "
            f"Gaussian noise: {beyond} lie beyond ten standard deviations. What a large record "
            "loses by being in the data grows slowly with its size. That does not hide its "
            "value, which can be estimated as closely as the noise allows."
        )
        yield ""
    yield from (line for each in _blurring(workload) for line in (each, ""))
    yield from (line for each in _weighing(workload) for line in (each, ""))
    yield from (line for step in steps_of(workload) for line in (step.words(inline), ""))
    derived = derived_words(workload, inline)
    yield from () if derived is None else (derived, "")
    yield from (line for each in _averages(workload) for line in (each, ""))
    if workload.outputs.intervals:
        yield _intervals(workload)
        yield ""
    series = published.series
    where = "the same ledger" if series is None else f"{inline(series.period)} of the same ledger"
    yield f"All releases charged to {where} stay below this budget, for every possible record:"
    yield ""
    yield "```"
    yield workload.budget.describe()
    yield "```"


def _blurring(workload: Workload) -> Iterator[str]:
    asked = [each for named in workload.queries for each in named.query.answers]
    steps = [step for answer in asked for step in answer.measurements]
    if any(step.widening is not None for step in steps):
        yield (
            "Where a total is blurred by a public size, the noise of a cell has the spread A + nu "
            "by^2 size^2, what is added to A being rounded up to two digits. Standard errors are "
            "those of the cell. The policy counts on A alone, which is the least: records of cells "
            "with a size lose less."
        )
    if any(step.blurred is not None for step in steps):
        yield (
            "Where a total is blurred by its own records, the noise of a cell has the spread A "
            "+ nu by^2 Q, Q being the sum of the squared values of its records (T28). It has "
            "mean 0. Its size is confidential: no standard error is published. Ends of "
            "intervals follow from the noisy number and the policy alone, and so does the "
            "column that ends in `_sd_at_most`, which bounds the standard deviation with the "
            "same confidence; both hold where no value is negative. Noise in different cells is "
            "independent, so that it averages out in sums of many."
        )


def _weighing(workload: Workload) -> Iterator[str]:
    asked = [each for named in workload.queries for each in named.query.answers]
    if any(step.weight is not None for answer in asked for step in answer.choices):
        yield (
            "In a weighted quantile a record counts as often as its weight says: at most its share "
            "of the weight lies below and above it. Weights below 0 count as 0; a record without "
            "a weight, or without a value, is left out. What a record loses by it grows with its "
            "weight, in the end in proportion (T37)."
        )


def _averages(workload: Workload) -> Iterator[str]:
    asked = [each for named in workload.queries for each in named.query.answers]
    if any("_few_records" in each.beside for each in asked):
        yield (
            "An average is its noisy total divided by its noisy count, which is taken as at "
            f"least 1. Where the noisy count is below 1, or below {FEW} standard errors of its "
            "noise, the column that ends in `_few_records` is true: the cell may hold few "
            "records or none, and the average says little. Standard errors of averages are by "
            "the delta method, which fails there."
        )


def _intervals(workload: Workload) -> str:
    return (
        f"Confidence intervals hold with {text(workload.outputs.confidence * 100)} % "
        "probability or more for what is estimated in the sense above, by the exact law of the "
        "noise; those of averages by the laws of total and count together, for cells that hold "
        "a value. Where noise does not tell the count from 0 an average has no interval and "
        "its ends are empty, unless its values were cut to bounds, which are then its ends. "
        "Intervals of the answer by which cells are chosen, and of what is derived from it, do not "
        "hold given that a cell was published."
    )
